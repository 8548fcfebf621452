import Foundation
import RelayConsole
import RelayCore
import RelayIO
import RelayRights
import RelayServer
import RelayWire

extension Command {
    static let serve = Command(
        name: "serve",
        summary: "runs a relay until Ctrl-C",
        options: [
            .value("--host", as: "HOST", help: "The address to listen on; every interface if not given."),
            .value("--port", as: "PORT", help: "7420 if not given; 0 lets the system choose."),
            .value("--data-dir", as: "DIR", help: "Where boards, metadata and locks are kept; $STATE_DIRECTORY or \(RelayServer.Storage.defaultFolder) if not given."),
            .flag("--in-memory", help: "Keeps nothing on disk: boards, metadata and locks are gone when the relay ends."),
            .value("--auth", as: "MODE", help: "key (the default): who has the join key or the host key; token: who has a token; open: everybody who can reach the port."),
            .value("--pupils", as: "WHAT", help: "What the join key lets do: draw (the default) or view."),
            .list("--token-secret-file", as: "[ID=]FILE", help: "What signs tokens, 32…1024 bytes, with an id if there are several; taken besides keys, too."),
            .value("--token-audience", as: "NAME", help: "Only tokens for this audience (aud) are taken."),
            .list("--host-name", as: "NAME[:PORT]", help: "A name by which browsers may ask for it besides this machine's own names and addresses, as a proxy's."),
            .list("--allow-origin", as: "ORIGIN", help: "Pages of this origin, such as http://localhost:5173, may connect, too."),
            .list("--trusted-proxy", as: "ADDRESS", help: "A proxy that says who asks (X-Forwarded-For) and speaks TLS for it."),
            .value("--operator-token-file", as: "FILE", help: "What lets read /metrics from other machines (Authorization: Bearer …); without it only this one may."),
            .value("--flush", as: "MODE", help: "When queued bytes are written: adaptive (the default), immediate, or a tick such as 2ms."),
            .value("--log-level", as: "LEVEL", help: "debug, info (the default), warning or error. What moderators do is logged at each, but not on a terminal."),
            .value("--control", as: "PATH", help: "The Unix socket on which 'boardrelay status' asks."),
            .value("--max-connections", as: "N", help: "12000 if not given."),
            .value("--max-channels", as: "N", help: "Of each kind; 10000 if not given."),
            .value("--max-history", as: "N", help: "Messages that a channel keeps for who comes later; 1000 if not given, 0: none."),
            .value("--history-age", as: "TIME", help: "How long it keeps them; 10m if not given, at most that."),
            .value("--message-rate", as: "N", help: "Messages a second of one user in one channel; 60 if not given."),
            .value("--packet-rate", as: "N", help: "Packets a second of one user in one topic; 200 if not given."),
            .value("--metadata-rate", as: "N", help: "Metadata calls a second of one user, of channels and of users each; 10 if not given."),
            .value("--max-board-bytes", as: "SIZE", help: "Of what one board keeps, such as 64MB; 256MiB if not given."),
            .value("--max-boards-bytes", as: "SIZE", help: "Of all boards together; 4GiB if not given; never more than they have at the start and half of what is free then. 0: no boards."),
            .value("--expire-boards", as: "TIME", help: "Removes boards that nobody has changed for so long, such as 90d; never if not given."),
            .value("--max-channel-users", as: "N", help: "In one stream channel; 1000 if not given."),
        ],
        notes: [
            "Prints the addresses under which others reach it, one a line, and again when they change; the log goes to standard error. On a terminal it shows a QR code, too: scanned, it opens the whiteboard in a browser.",
            "The key h shows the host's address until another key is pressed, at most for 30 s; the key c shows the code again, alone on the screen. Both are for a terminal and a relay with keys.",
            "A terminal may be projected: what moderators do is not told there. '2>relay.log' keeps it, and shows neither the code nor the host's address.",
            "The same port has the whiteboard at /, the client in JavaScript at /relay-client.js, who is connected at /status, and /healthz, /readyz and /metrics.",
            "Boards, metadata of channels and users, and locks outlive the relay, in the data folder, which one relay at a time may have. Other messages, packets, presence and states do not.",
            "Ctrl-C, SIGTERM or a closed terminal: clients are told, what is queued for them gets up to 5 s to leave, and the exit code is 0. A second Ctrl-C or SIGTERM ends it at once.",
        ],
        examples: [
            .init("boardrelay serve", "On every interface, port 7420."),
            .init("boardrelay serve --data-dir ./board", "Keeps boards, metadata and locks in that folder."),
            .init("boardrelay serve --in-memory --host 127.0.0.1 --port 0 --log-level debug", "For this machine alone, on a free port."),
        ],
        run: serve)

    private enum Auth: String, CaseIterable { case key, token, open }
    private enum Pupils: String, CaseIterable { case draw, view }
    private enum Level: String, CaseIterable { case debug, info, warning, error }

    private static func serve(_ arguments: Arguments) async throws -> ExitCode {
        try arguments.exclude("--in-memory", "--data-dir")
        let level = LogLine.Level(rawValue: (try arguments.choice("--log-level", of: Level.self) ?? .info).rawValue)!
        let port = UInt16(try arguments.integer("--port", in: 0...65_535) ?? Int(RelayAddress.defaultPort))
        var options = RelayServer.Options(host: arguments.value("--host"), port: port, flush: try flush(arguments))
        let folder = arguments.flag("--in-memory") ? nil : arguments.value("--data-dir") ?? RelayServer.Storage.defaultFolder
        if let folder { options.storage = .folder(folder) }
        options.access = try access(arguments)
        options.web = try web(arguments)
        options.controlSocket = arguments.value("--control") ?? ControlSocket.path(folder: folder, port: port)
        // So that commands of this user find it by its address, wherever it keeps its data.
        options.isAskedByPort = true
        try setBounds(of: &options.hub, arguments)
        let view = HostView()
        let log = ServeLog(level: level, say: view.note)
        options.log = log.write
        let (rotations, rotated) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        options.keysChanged = { @Sendable in rotated.yield() }

        let signals = Signals()
        let server = try await startRelay(options)
        let bound = RelayAddress(host: options.host ?? "::", port: server.address.port)
        let screen = ServeScreen(
            log: log, view: view, addresses: { @Sendable in Interfaces.reachable(bound) },
            entrance: { @Sendable [options] in Entrance(options, server) })
        for address in screen.addresses() { try? Console.print("\(address)") }
        log.note(
            "boardrelay \(Program.version) listens. \(screen.entrance().rule) "
                + (folder.map { "Boards, metadata and locks are kept in \($0)." } ?? "Nothing is kept on disk."))
        let keyboard = server.keys == nil ? nil : Keyboard(screen.pressed)
        log.note("Ctrl-C ends it." + (keyboard == nil ? "" : " Press h for the host's address, c for the code again."))
        screen.show()
        let watch = NetworkWatch { @Sendable _ in screen.networkChanged() }
        let rotation = Task { for await _ in rotations { screen.keysChanged() } }
        let manager = ServiceManager(socket: ProcessInfo.processInfo.environment["NOTIFY_SOCKET"])
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
        log.note("Ending: \(Signals.words(signal)). Clients are told, queues get 5 s. Ctrl-C again ends it at once.")
        await server.stop()
        return .ok
    }

    /// - Throws: `Failure`, with what helps where somebody else has the port or the data folder.
    static func startRelay(_ options: RelayServer.Options) async throws(Failure) -> RelayServer {
        do throws(RelayServerError) {
            return try await RelayServer.start(options)
        } catch {
            let port = options.port == RelayAddress.defaultPort ? "" : " --port \(options.port)"
            let hint = ". Another relay may be running: 'boardrelay status\(port)' tells. '--port 0' takes a port that is free."
            throw Failure("the relay cannot start: \(error)\(error.isAddressInUse ? hint : other(on: options.storage))")
        }
    }

    /// Who has the data folder, if a relay answers there.
    private static func other(on storage: RelayServer.Storage) -> String {
        guard case .folder(let folder) = storage, let status = try? RelayServer.status(controlSocket: ControlSocket.path(inFolder: folder)),
            let port = RelayAddress(status.address)?.port
        else { return "" }
        return ". That is a relay on port \(port), pid \(status.pid): 'boardrelay status --port \(port)' tells more."
    }

    /// Browsers, proxies, and who reads the numbers.
    private static func web(_ arguments: Arguments) throws -> RelayServer.Web {
        var web = RelayServer.Web()
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
    private static func access(_ arguments: Arguments) throws -> RelayServer.Access {
        let mode = try arguments.choice("--auth", of: Auth.self) ?? .key
        let files = arguments.values("--token-secret-file")
        let pupils = try arguments.choice("--pupils", of: Pupils.self)
        if mode != .key, pupils != nil { throw UsageError("option --pupils goes with --auth key") }
        if mode == .open, !files.isEmpty { throw UsageError("option --token-secret-file does not go with --auth open") }
        if mode == .token, files.isEmpty { throw UsageError("--auth token wants what signs tokens: option --token-secret-file") }
        if files.isEmpty, arguments.value("--token-audience") != nil { throw UsageError("option --token-audience goes with --token-secret-file") }
        let rules = files.isEmpty ? nil : try TokenSecrets.rules(try TokenSecrets.read(files), audience: arguments.value("--token-audience"))
        switch mode {
        case .open: return .open
        case .token: return .tokens(rules!)
        case .key: return .keys(join: pupils == .view ? .reader : .editor, tokens: rules)
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
            return .every(milliseconds: Int(tick / .milliseconds(1)))
        }
    }
}
