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
        options: [
            .value("--host", as: "HOST", help: "Address to listen on. Default: every interface."),
            .value("--port", as: "PORT", help: "Port to listen on; 0 takes a free one. Default: 7420."),
            .value(
                "--data-dir", as: "DIR",
                help:
                    "Folder for boards, metadata, locks and keys. Default: $STATE_DIRECTORY, else \(WhiteboardRelay.Storage.defaultFolder)."
            ),
            .flag("--in-memory", help: "Keeps nothing on disk."),
            .value(
                "--auth", as: "MODE",
                help: "Who may connect: key (default; anyone with the join or host key), token, or open (anyone, with all rights)."),
            .value(
                "--pupils", as: "WHAT",
                help: "What the join key allows: draw (default), view, or revise (draw, and change what others drew)."),
            .list(
                "--token-secret-file", as: "[ID=]FILE",
                help: """
                    Secret that signs tokens: 32…1024 bytes, a trailing newline ignored. Several secrets need an id each. With --auth \
                    key, tokens work besides keys.
                    """),
            .value(
                "--token-audience", as: "NAME",
                help: "Accepts only tokens that name this audience (aud). Default: only tokens without one."),
            .list("--host-name", as: "NAME[:PORT]", help: "Another name that browsers may use for this relay, such as a proxy's."),
            .list("--allow-origin", as: "ORIGIN", help: "Lets pages from this origin connect, such as http://localhost:5173."),
            .list(
                "--trusted-proxy", as: "ADDRESS",
                help: "Address of a proxy with TLS that names the client in X-Forwarded-For."),
            .value(
                "--operator-token-file", as: "FILE",
                help: "Token for /metrics from other machines: 16…1024 visible ASCII characters."),
            .value("--flush", as: "MODE", help: "When queued bytes are written: adaptive (default), immediate, or a tick of 1ms…100ms."),
            .value(
                "--log-level", as: "LEVEL",
                help: "debug, info (default), warning or error. Audit lines appear at every level, but not at a terminal."),
            .value(
                "--control", as: "PATH",
                help: "Unix socket for 'boardrelay status' and 'boardrelay key'. Default: control.sock in the data folder."),
            .value(
                "--memory", as: "SIZE",
                help: "Memory for what the relay holds, at least 16MiB. Default: half of the machine's or control group's, at most 1GiB."),
            .value("--max-connections", as: "N", help: "Connections at once. Default: 12000."),
            .value("--max-channels", as: "N", help: "Channels of each kind at once. Default: 10000."),
            .value("--max-history", as: "N", help: "Messages that a channel keeps; 0 keeps none. Default: 1000."),
            .value("--history-age", as: "TIME", help: "How long a channel keeps them, at most 10m. Default: 10m."),
            .value("--message-rate", as: "N", help: "Messages a second from one user in one channel. Default: 60."),
            .value("--packet-rate", as: "N", help: "Packets a second from one user in one topic. Default: 200."),
            .value("--metadata-rate", as: "N", help: "Metadata calls a second from one user; channels and users count apart. Default: 10."),
            .value("--max-board-bytes", as: "SIZE", help: "Limit for one board, such as 64MB. Default: 256MiB."),
            .value(
                "--max-boards-bytes", as: "SIZE",
                help: """
                    Limit for all boards, at most their size at startup plus half the free space, in memory 256MiB. Default: 4GiB. 0 \
                    disables boards.
                    """),
            .value(
                "--expire-boards", as: "TIME",
                help: "Removes boards that nobody has changed for this long, at least 1m. Default: never."),
            .value("--max-channel-users", as: "N", help: "Users in one stream channel. Default: 1000."),
        ],
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
            time can use a data folder.
            """,
            """
            Ctrl-C, SIGTERM or closing the terminal ends the relay: clients are told, queues get up to 5 s to drain, and the exit code \
            is 0. A second Ctrl-C or SIGTERM ends it at once.
            """,
        ],
        examples: [
            .init("boardrelay serve", "On every interface, port 7420."),
            .init("boardrelay serve --data-dir ./board", "Keeps boards, metadata and locks in that folder."),
            .init("boardrelay serve --in-memory --host 127.0.0.1 --port 0 --log-level debug", "For this machine alone, on a free port."),
        ],
        run: serve)

    private enum Auth: String, CaseIterable { case key, token, open }
    private enum Pupils: String, CaseIterable {
        case draw, view, revise

        var role: Role {
            switch self {
            case .draw: .editor
            case .view: .reader
            case .revise: .coeditor
            }
        }
    }
    private enum Level: String, CaseIterable { case debug, info, warning, error }

    private static func serve(_ arguments: Arguments) async throws -> ExitCode {
        try arguments.exclude("--in-memory", "--data-dir")
        let level = LogLine.Level(rawValue: (try arguments.choice("--log-level", of: Level.self) ?? .info).rawValue)!
        let port = UInt16(try arguments.integer("--port", in: 0...65_535) ?? Int(RelayAddress.defaultPort))
        var options = WhiteboardRelay.Options(host: arguments.value("--host"), port: port, flush: try flush(arguments))
        let folder = arguments.flag("--in-memory") ? nil : arguments.value("--data-dir") ?? WhiteboardRelay.Storage.defaultFolder
        if let folder { options.storage = .folder(folder) }
        options.access = try access(arguments)
        options.web = try web(arguments)
        options.controlSocket = arguments.value("--control") ?? ControlSocket.path(folder: folder, port: port)
        // So that commands of this user find it by its address, wherever it keeps its data.
        options.isAskedByPort = true
        options.hub = Configuration(memory: try memory(arguments))
        try setBounds(of: &options.hub, arguments)
        let view = HostView()
        let log = ServeLog(level: level, say: view.note)
        options.log = log.write
        let (rotations, rotated) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        options.keysChanged = { @Sendable in rotated.yield() }

        SystemMemory.keepLittle()
        let signals = Signals()
        let manager = ServiceManager(socket: ProcessInfo.processInfo.environment["NOTIFY_SOCKET"])
        let server = try await startRelay(options, manager)
        let bound = RelayAddress(host: options.host ?? "::", port: server.address.port)
        let screen = ServeScreen(
            log: log, view: view, addresses: { @Sendable in Interfaces.reachable(bound) },
            entrance: { @Sendable [options] in Entrance(options, server) })
        for address in screen.addresses() { try? Console.print("\(address)") }
        log.note(
            "boardrelay \(Program.version) listens. \(screen.entrance().rule) "
                + (folder.map { "Boards, metadata and locks are kept in \($0)." } ?? "Nothing is kept on disk."))
        let keyboard = server.keys == nil ? nil : Keyboard(screen.pressed)
        await keyboard?.ready()
        // Nobody presses a key in front of a service.
        if manager == nil {
            let code = screen.entrance().hasCode(screen.addresses()) ? ", c for the code again" : ""
            log.note("Ctrl-C ends it." + (keyboard == nil ? "" : " Press h for the host's address\(code)."))
        }
        screen.show()
        let watch = NetworkWatch { @Sendable _ in screen.networkChanged() }
        let rotation = Task { for await _ in rotations { screen.keysChanged() } }
        manager?.tellReady()
        let lonely = Task {
            try await Task.sleep(for: .seconds(120))
            guard await server.census().counters.sessionsOpened == 0 else { return }
            log.note(Entrance.hint(port: bound.port))
            screen.show()
        }
        let signal = await signals.first()
        lonely.cancel()
        rotation.cancel()
        watch.cancel()
        keyboard?.close()
        view.hide()
        manager?.tellStopping()
        log.note(
            "Ending: \(Signals.words(signal)). Clients are told, queues get 5 s." + (manager == nil ? " Ctrl-C again ends it at once." : "")
        )
        await server.stop()
        return .ok
    }

    /// - Throws: `Failure`, with what helps where somebody else has the port or the data folder.
    static func startRelay(_ options: WhiteboardRelay.Options, _ manager: ServiceManager? = nil) async throws(Failure) -> WhiteboardRelay {
        let progress = ReadProgress()
        defer { progress.clear() }
        var options = options
        options.didRead = { @Sendable bytes in
            manager?.tellReading()
            progress.show(bytes)
        }
        do throws(RelayServerError) {
            return try await WhiteboardRelay.start(options)
        } catch {
            let port = options.port == RelayAddress.defaultPort ? "" : " --port \(options.port)"
            let hint = ". Another relay may be running: 'boardrelay status\(port)' tells. '--port 0' takes a port that is free."
            throw Failure("the relay cannot start: \(error)\(error.isAddressInUse ? hint : other(on: options.storage))")
        }
    }

    /// The relay that has the data folder, if one answers there.
    private static func other(on storage: WhiteboardRelay.Storage) -> String {
        guard case .folder(let folder) = storage,
            let status = try? WhiteboardRelay.status(controlSocket: ControlSocket.path(inFolder: folder)),
            let port = RelayAddress(status.address)?.port
        else { return "" }
        return ". That is a relay on port \(port), pid \(status.pid): 'boardrelay status --port \(port)' tells more."
    }

    /// Browsers, proxies, and readers of the numbers.
    private static func web(_ arguments: Arguments) throws -> WhiteboardRelay.Web {
        var web = WhiteboardRelay.Web()
        web.hostNames = arguments.values("--host-name")
        web.origins = arguments.values("--allow-origin")
        web.trustedProxies = arguments.values("--trusted-proxy")
        if let path = arguments.value("--operator-token-file") { web.operatorToken = try Arguments.secret(in: path) }
        do throws(RelayServerError) {
            try web.validate()
        } catch {
            throw UsageError(error.text)
        }
        return web
    }

    private static func memory(_ arguments: Arguments) throws(UsageError) -> Int {
        let memory = try arguments.size("--memory") ?? max(16 << 20, min(1 << 30, SystemMemory.bytes / 2))
        guard memory >= 16 << 20 else { throw UsageError("option --memory is at least 16MiB") }
        return memory
    }

    /// What the options say of the relay's bounds; the others stay.
    static func setBounds(of hub: inout Configuration, _ arguments: Arguments) throws(UsageError) {
        let bound = 1...1_000_000
        if let most = try arguments.integer("--max-connections", in: bound) { hub.connectionsMax = most }
        if let most = try arguments.integer("--max-channels", in: bound) { hub.channelsMax = most }
        if let most = try arguments.integer("--max-channel-users", in: bound) { hub.streamChannelUsersMax = most }
        if let most = try arguments.integer("--max-history", in: 0...1_000_000) { hub.historyMessagesMax = most }
        if let age = try arguments.duration("--history-age") {
            guard age <= hub.channelLinger else { throw UsageError("option --history-age is at most \(Printable.span(hub.channelLinger))") }
            hub.historyAge = age
        }
        if let bytes = try arguments.size("--max-boards-bytes") { hub.boardBytesTotalMax = bytes }
        if let bytes = try arguments.size("--max-board-bytes") {
            guard bytes > 0 else { throw UsageError("option --max-board-bytes is at least 1; '--max-boards-bytes 0' keeps no boards") }
            hub.boardBytesMax = bytes
        }
        if let age = try arguments.duration("--expire-boards") {
            guard age >= .seconds(60) else { throw UsageError("option --expire-boards is at least 1m") }
            hub.boardExpiry = age
        }
        if let rate = try arguments.integer("--message-rate", in: bound) { hub.limits.messagesPerSecond = rate }
        if let rate = try arguments.integer("--packet-rate", in: bound) { hub.limits.packetsPerSecond = rate }
        if let rate = try arguments.integer("--metadata-rate", in: bound) {
            hub.metadataCallsPerSecond = rate
            hub.metadataCallsBurst = 2 * rate
            hub.limits.requestsPerSecond = max(hub.limits.requestsPerSecond, 4 * rate)
            hub.requestsBurst = max(hub.requestsBurst, 4 * rate)
        }
    }

    /// Who may come in.
    private static func access(_ arguments: Arguments) throws -> WhiteboardRelay.Access {
        let mode = try arguments.choice("--auth", of: Auth.self) ?? .key
        let files = arguments.values("--token-secret-file")
        let pupils = try arguments.choice("--pupils", of: Pupils.self)
        if mode != .key, pupils != nil { throw UsageError("option --pupils goes with --auth key") }
        if mode == .open, !files.isEmpty { throw UsageError("option --token-secret-file does not go with --auth open") }
        if mode == .token, files.isEmpty { throw UsageError("--auth token wants what signs tokens: option --token-secret-file") }
        if files.isEmpty, arguments.value("--token-audience") != nil {
            throw UsageError("option --token-audience goes with --token-secret-file")
        }
        let rules =
            files.isEmpty ? nil : try TokenSecrets.rules(try TokenSecrets.read(files), audience: arguments.value("--token-audience"))
        switch mode {
        case .open: return .open
        case .token: return .tokens(rules!)
        case .key: return .keys(join: (pupils ?? .draw).role, tokens: rules)
        }
    }

    /// When queued bytes are written.
    static func flush(_ arguments: Arguments) throws(UsageError) -> FlushPolicy.Mode {
        switch arguments.value("--flush") {
        case nil, "adaptive": return .adaptive
        case "immediate": return .immediate
        case let text?:
            guard let tick = Duration(text: text), (Duration.milliseconds(1)...(.milliseconds(100))).contains(tick) else {
                throw UsageError("option --flush wants adaptive, immediate or a tick of 1ms…100ms, not \(Printable.quoted(text))")
            }
            return .every(tick)
        }
    }
}
