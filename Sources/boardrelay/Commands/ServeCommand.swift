#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayCore
import RelayIO
import RelayRights
import RelayServer
import RelaySystem
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let serve = Command(
        name: "serve",
        summary: "runs a relay until Ctrl-C",
        options: serveOptions,
        notes: [
            """
            Prints the addresses that others can use, one a line, and again when they change. The log goes to standard error. A \
            terminal also shows a QR code that opens the whiteboard.
            """,
            "At a terminal, unless the relay is open, h shows the host's address until the next key or for 30 s, and c shows the QR code again.",
            """
            A terminal shows no audit lines, because it may be projected. '2>relay.log' keeps them, and shows neither the code nor the \
            host's address.
            """,
            "The same port serves the whiteboard at /, the JavaScript client at /relay-client.js, /status, /healthz, /readyz and /metrics.",
            """
            Boards, metadata and locks survive a restart; other messages, packets, presence and states do not. Only one relay at a \
            time can use a data folder. With --wait-for-folder a second one stands by: it does not listen until the first has ended, \
            then reads its settings again and serves. See docs/cluster.md.
            """,
            """
            Ctrl-C, SIGTERM or closing the terminal ends the relay: clients are told, queues get up to 5 s to drain, and the exit code \
            is 0. A second Ctrl-C or SIGTERM ends it at once.
            """,
            """
            Each option can stand in a settings file as 'name = value', without its dashes, and in the environment: $BOARDRELAY_PORT is --port. \
            The command line wins over the environment, that over the file. 'boardrelay config' shows all, 'boardrelay reload' reads them \
            again; without a terminal SIGHUP does, too.
            """,
        ],
        examples: [
            .init("boardrelay serve", "On every interface, port 7420."),
            .init("boardrelay serve --data-dir ./board", "Keeps boards, metadata and locks in that folder."),
            .init("boardrelay serve --data-dir ./board --port 7421 --wait-for-folder", "Serves once the relay on that folder has ended."),
            .init("boardrelay serve --in-memory --host 127.0.0.1 --port 0 --log-level debug", "For this machine alone, on a free port."),
        ],
        run: serve)

    private static func serve(_ given: Arguments) async throws -> ExitCode {
        let settings = try ServeSettings(given)
        var options = settings.options
        let view = HostView()
        let log = ServeLog(level: settings.level, isJSON: settings.logsJSON, say: view.note)
        options.log = log.write
        let (rotations, rotated) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        options.keysChanged = { @Sendable in rotated.yield() }
        let reload = ServeReload(given, settings, log)
        options.reload = reload.answer

        SystemMemory.keepLittle()
        let signals = Signals(hangup: Signals.hasTerminal ? nil : reload.bySignal)
        let manager = ServiceManager(socket: ProcessInfo.processInfo.environment["NOTIFY_SOCKET"])
        let signal = Task { await signals.first() }
        let wait = settings.waitsForFolder ? FolderWait(log, manager, signal) : nil
        guard let server = try await start(settings, options, log, manager, wait) else {
            log.note("Ending: \(Signals.words(await signal.value)).")
            return .ok
        }
        reload.begins(server)
        // Files of tokens and certificates may have changed since this process has read them.
        if wait?.hasWaited == true { reload.bySignal() }
        let bound = RelayAddress(host: options.host ?? "::", port: server.address.port)
        let screen = ServeScreen(
            log: log, view: view, ways: { @Sendable in Ways(Interfaces.reachable(bound), server.relay.tls) },
            entrance: { @Sendable in Entrance(reload.options, server.cluster?.owner ?? server.relay, isShared: settings.isShared) })
        for link in screen.ways().links { try? Console.print(KeyText.link(link)) }
        if let note = server.relay.tls.flatMap({ Ways.note($0) }) { log.note(note) }
        log.note(
            "boardrelay \(Program.version) listens. \(screen.entrance().rule) "
                + (settings.folder.map { "Boards, metadata and locks are kept in \($0)." } ?? "Nothing is kept on disk."))
        if let note = server.note(settings) { log.note(note) }
        let keyboard = server.relay.keys == nil ? nil : Keyboard(screen.pressed)
        await keyboard?.ready()
        // Nobody presses a key in front of a service.
        if manager == nil {
            let code = screen.entrance().hasCode(screen.ways()) ? ", c for the code again" : ""
            log.note("Ctrl-C ends it." + (keyboard == nil ? "" : " Press h for the host's address\(code)."))
        }
        if settings.log == nil { screen.show() }
        let watch = NetworkWatch { @Sendable _ in screen.networkChanged() }
        let rotation = Task { for await _ in rotations { screen.keysChanged() } }
        let announcement = Announcement(settings, server, log)
        manager?.tellReady()
        let lonely = Task {
            try await Task.sleep(for: .seconds(120))
            guard await server.isUnused() else { return }
            log.note(Entrance.hint(port: bound.port))
            screen.show()
        }
        let number = await signal.value
        lonely.cancel()
        rotation.cancel()
        watch.cancel()
        keyboard?.close()
        view.hide()
        manager?.tellStopping()
        log.note(
            "Ending: \(Signals.words(number)). Clients are told, queues get 5 s." + (manager == nil ? " Ctrl-C again ends it at once." : "")
        )
        await announcement?.close()
        await server.stop()
        return .ok
    }
}
