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
    /// Of `serve`, of its settings file, and of the environment.
    static let serveOptions: [Option] = [
        .value("--config", as: "FILE", default: "$BOARDRELAY_CONFIG", help: "Settings file."),
        .value("--host", as: "HOST", default: "every interface", help: "Address to listen on."),
        .value("--port", as: "PORT", default: "7420", help: "Port to listen on; 0 takes a free one."),
        .value(
            "--data-dir", as: "DIR", default: "$STATE_DIRECTORY, else ~/.local/share/boardrelay/data",
            help: "Folder for boards, metadata, locks and keys."),
        .flag("--wait-for-folder", help: "Waits while another relay has the data folder, and serves when that has ended."),
        .flag("--no-announce", help: "Does not tell the network of this relay. Without it 'boardrelay find' finds it."),
        .flag("--in-memory", help: "Keeps nothing on disk."),
        .flag(
            "--spaces",
            help: """
                Serves several relays on one port: the spaces that 'boardrelay space add' has made. Each has a folder in the data \
                folder.
                """),
        .value(
            "--log", as: "SERVERS",
            help: """
                Servers of NATS, such as nats://a:4222,tls://b: relays of one space follow the log there, and one of them serves. With \
                --spaces it has a log of each space. See docs/cluster.md.
                """),
        .value(
            "--max-spaces", as: "N",
            help: "With --log and --spaces: how many spaces this relay serves at once, 1…64, which share its memory; 16 unless given."),
        .value("--log-login-file", as: "FILE", help: "USER:PASSWORD or a token for these servers, in a file that only this user can read."),
        .value(
            "--log-secret-file", as: "FILE",
            help: "Secret that seals the relay's keys in the log, the same at all relays of the space: 32…1024 bytes. With --auth key."),
        .value("--space", as: "NAME", help: "With --log or --leave-log: which space this relay is a part of; main unless named."),
        .value(
            "--reached-at", as: "ADDRESS",
            help: "With --log: where clients reach this relay, such as relay://192.168.1.5:7420. The other relays send them there."),
        .choice(
            "--orphan", as: "MODE", of: ServeSettings.Orphan.self,
            help: """
                With --log, when the log cannot be reached for 10 s: stop (default: nobody is served), or serve (messages that are not \
                retained and live points go on, and nothing is stored).
                """),
        .flag(
            "--leave-log",
            help: "Without --log: the data folder leaves the log of its space for good, and is served alone. With its --log-secret-file."),
        .choice(
            "--auth", as: "MODE", of: ServeSettings.Auth.self, default: .key,
            help: "Who may connect: key (anyone with the join or host key), token, or open (anyone, with all rights)."),
        .choice(
            "--pupils", as: "WHAT", of: ServeSettings.Pupils.self, default: .draw,
            help: "What the join key allows: draw, view, or revise (draw, and change what others drew)."),
        .list(
            "--token-secret-file", as: "[ID=]FILE",
            help: """
                Secret that signs tokens: 32…1024 bytes, a trailing newline ignored. Several secrets need an id each. With --auth \
                key, tokens work besides keys.
                """),
        .value(
            "--token-audience", as: "NAME", default: "only tokens without one",
            help: "Accepts only tokens that name this audience (aud)."),
        .value(
            "--tls-certificate", as: "FILE",
            help: "Certificate in PEM, behind it those that it stands on. The port then speaks TLS. 'boardrelay tls new' makes one."),
        .value("--tls-key", as: "FILE", help: "Its key in PEM, without a password."),
        .flag("--allow-plain", help: "With --tls-certificate: lets clients in without TLS, too."),
        .list("--host-name", as: "NAME[:PORT]", help: "Another name that browsers may use for this relay, such as a proxy's."),
        .list("--allow-origin", as: "ORIGIN", help: "Lets pages from this origin connect, such as http://localhost:5173."),
        .list(
            "--trusted-proxy", as: "ADDRESS",
            help: "Address of a proxy with TLS that names the client in X-Forwarded-For."),
        .value(
            "--operator-token-file", as: "FILE",
            help: "Token for /metrics from other machines: 16…1024 visible ASCII characters."),
        .value(
            "--flush", as: "MODE", default: "adaptive",
            help: "When queued bytes are written: adaptive, immediate, or a tick of 1ms…100ms."),
        .choice(
            "--log-level", as: "LEVEL", of: ServeSettings.Level.self, default: .info,
            help: "debug, info, warning or error. Audit lines appear at every level, but not at a terminal."),
        .choice(
            "--log-format", as: "FORMAT", of: ServeSettings.LogFormat.self, default: .text,
            help: "text, or json: each line is an object with time, level and text."),
        .value(
            "--control", as: "PATH", default: "control.sock in the data folder",
            help: "Unix socket for 'boardrelay status', 'key' and 'reload'."),
        .value(
            "--memory", as: "SIZE", default: "half of the machine's or control group's, at most 1GiB",
            help: "Memory for what the relay holds, at least 16MiB."),
        .value("--max-connections", as: "N", default: "12000", help: "Connections at once."),
        .value("--max-channels", as: "N", default: "10000", help: "Channels of each kind at once."),
        .value("--max-history", as: "N", default: "1000", help: "Messages that a channel keeps; 0 keeps none."),
        .value("--history-age", as: "TIME", default: "10m", help: "How long a channel keeps them, at most 10m."),
        .value("--message-rate", as: "N", default: "60", help: "Messages a second from one user in one channel."),
        .value("--packet-rate", as: "N", default: "200", help: "Packets a second from one user in one topic."),
        .value(
            "--metadata-rate", as: "N", default: "10", help: "Metadata calls a second from one user; channels and users count apart."),
        .value("--max-board-bytes", as: "SIZE", default: "256MiB", help: "Limit for one board, such as 64MB."),
        .value(
            "--max-boards-bytes", as: "SIZE", default: "4GiB",
            help: """
                Limit for all boards, at most their size at startup plus half the free space, in memory 256MiB. 0 disables boards.
                """),
        .value(
            "--expire-boards", as: "TIME", default: "never",
            help: "Removes boards that nobody has changed for this long, at least 1m, or never."),
        .value("--max-channel-users", as: "N", default: "1000", help: "Users in one stream channel."),
    ]
}

/// What `serve` is told, by its command line, the environment and a settings file.
@available(macOS 15, iOS 18, *)
struct ServeSettings: Sendable {
    enum Auth: String, CaseIterable { case key, token, open }
    enum Pupils: String, CaseIterable {
        case draw, view, revise

        var role: Role {
            switch self {
            case .draw: .editor
            case .view: .reader
            case .revise: .coeditor
            }
        }
    }
    enum Level: String, CaseIterable { case debug, info, warning, error }
    enum LogFormat: String, CaseIterable { case text, json }

    let arguments: Arguments
    let options: WhiteboardRelay.Options
    let level: LogLine.Level
    let logsJSON: Bool
    /// The data folder; `nil`: nothing is kept on disk.
    let folder: String?
    /// It has spaces.
    let isShared: Bool
    let waitsForFolder: Bool
    /// Its space has a log, or each of its spaces.
    let log: SpaceLogOptions?
    /// With a log: so many spaces it owns at most.
    let spacesMax: Int

    enum Orphan: String, CaseIterable, Sendable { case stop, serve }

    /// Those that hold after a restart only; the rates, because clients were told them.
    static let needRestart: Set<String> = [
        "--host", "--port", "--log", "--log-login-file", "--log-secret-file", "--space", "--reached-at", "--orphan", "--leave-log", "--max-spaces",
        "--wait-for-folder", "--no-announce", "--data-dir", "--in-memory", "--spaces", "--auth", "--flush", "--log-format", "--control",
        "--message-rate", "--packet-rate", "--metadata-rate",
    ]

    /// Reads the settings file and the environment beneath a command line, and looks at all of it.
    ///
    /// - Throws: `UsageError`: what cannot be used, and where it stands; `Failure`: of the settings file itself.
    init(_ given: Arguments) throws {
        let environment = ProcessInfo.processInfo.environment
        var arguments = given
        try arguments.fill(from: try Self.path(given, environment).map(Self.file), environment)
        try arguments.prefer("--in-memory", "--data-dir")
        level = LogLine.Level(rawValue: (try arguments.choice("--log-level", of: Level.self) ?? .info).rawValue)!
        logsJSON = try arguments.choice("--log-format", of: LogFormat.self) == .json
        let port = UInt16(try arguments.integer("--port", in: 0...65_535) ?? Int(RelayAddress.defaultPort))
        var options = WhiteboardRelay.Options(host: arguments.value("--host"), port: port, flush: try Self.flush(arguments))
        let folder = arguments.flag("--in-memory") ? nil : arguments.value("--data-dir") ?? WhiteboardRelay.Storage.defaultFolder
        isShared = arguments.flag("--spaces")
        if isShared { try Self.checkShared(arguments) }
        if let folder { options.storage = .folder(folder) }
        waitsForFolder = arguments.flag("--wait-for-folder")
        if waitsForFolder, folder == nil { throw arguments.wrong("--wait-for-folder", "does not go with --in-memory") }
        log = try Self.log(arguments)
        if arguments.value("--max-spaces") != nil, log == nil || !isShared {
            throw arguments.wrong("--max-spaces", "goes with --log and --spaces")
        }
        spacesMax = try arguments.integer("--max-spaces", in: 1...DirectoryRelay.ownedMax) ?? 16
        options.leavesLog = try Self.leftLog(arguments)
        options.access = try Self.access(arguments)
        options.web = try Self.web(arguments)
        options.tls = try Self.tls(arguments)
        options.controlSocket = arguments.value("--control") ?? ControlSocket.path(folder: folder, port: port)
        options.groupSocket = ControlSocket.path(ofService: environment["RUNTIME_DIRECTORY"])
        // So that commands of this user find it by its address, wherever it keeps its data.
        options.isAskedByPort = true
        options.hub = Configuration(memory: try Self.memory(arguments))
        try Self.setBounds(of: &options.hub, arguments)
        (self.arguments, self.options, self.folder) = (arguments, options, folder)
    }

    /// Whether the log is to be JSON, as far as that can be told of settings that cannot be used.
    static func logsJSON(_ words: [String], _ environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        func last(_ option: String) -> String? {
            let attached = words.last { $0.hasPrefix("\(option)=") }.map { String($0.dropFirst(option.utf8.count + 1)) }
            let place = words.dropLast().lastIndex(of: option)
            return place.map { words[$0 + 1] } ?? attached
        }
        func set(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let format = last("--log-format") ?? set("BOARDRELAY_LOG_FORMAT") { return format == LogFormat.json.rawValue }
        var info = stat()
        // A pipe is read once.
        guard let path = last("--config") ?? set("BOARDRELAY_CONFIG"), stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG,
            info.st_size <= SettingsFile.bytesMax, let bytes = try? FileContents.read(path)
        else { return false }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        // Each by itself: another one may be what is wrong.
        let settings = lines.compactMap { try? SettingsFile(String($0), path: path).lines.first }
        return settings.last { $0.name == "log-format" }?.value == LogFormat.json.rawValue
    }

    /// Where the settings file is, if there is one.
    static func path(_ given: Arguments, _ environment: [String: String]) -> String? {
        given.value("--config") ?? environment["BOARDRELAY_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    static func file(_ path: String) throws -> SettingsFile {
        guard path != "-" else { throw UsageError("a settings file is read again: it cannot be standard input") }
        let bytes = try FileContents.read(path)
        guard bytes.count <= SettingsFile.bytesMax else {
            throw UsageError("\(path) has \(bytes.count) bytes, a settings file at most \(SettingsFile.bytesMax)")
        }
        return try SettingsFile(String(decoding: bytes, as: UTF8.self), path: path)
    }

    /// The space's log, if it has one.
    private static func log(_ arguments: Arguments) throws -> SpaceLogOptions? {
        guard let servers = arguments.value("--log") else {
            let ofLeaving: Set = arguments.flag("--leave-log") ? ["--log-secret-file", "--space"] : []
            for name in ["--log-login-file", "--log-secret-file", "--orphan", "--reached-at", "--space"]
            where arguments.value(name) != nil && !ofLeaving.contains(name) {
                throw arguments.wrong(name, "goes with --log")
            }
            return nil
        }
        if arguments.flag("--leave-log") { throw arguments.wrong("--leave-log", "does not go with --log") }
        if arguments.flag("--in-memory") { throw arguments.wrong("--log", "does not go with --in-memory") }
        if arguments.flag("--spaces"), arguments.value("--space") != nil {
            throw arguments.wrong("--space", "does not go with --spaces: each has its own name")
        }
        let login = try arguments.value("--log-login-file").map { path in
            try used("--log-login-file", arguments) { try Arguments.secret(in: path) }
        }
        let secret = try logSecret(arguments)
        let hasKeys = try arguments.choice("--auth", of: Auth.self) ?? .key == .key
        if !hasKeys, secret != nil { throw arguments.wrong("--log-secret-file", "goes with --auth key") }
        if hasKeys, secret == nil { throw UsageError("--log with --auth key wants what seals the keys: option --log-secret-file") }
        let space = try logSpace(arguments)
        var log: SpaceLogOptions
        do throws(RelayServerError) {
            log = SpaceLogOptions(space: space, servers: try LogServers(servers, login: login))
        } catch {
            throw arguments.wrong("--log", error.text)
        }
        log.secret = secret
        log.goesOnAlone = try arguments.choice("--orphan", of: Orphan.self) == .serve
        if let text = arguments.value("--reached-at") {
            guard let address = RelayAddress(text) else { throw arguments.wrong("--reached-at", "is no address of a relay") }
            let hasTLS = arguments.value("--tls-certificate") != nil
            guard (address.protection != .plain) == hasTLS else {
                throw arguments.wrong("--reached-at", "begins with \(hasTLS ? "relays" : "relay")://, as this relay's TLS is")
            }
            log.address = address
        }
        return log
    }

    private static func leftLog(_ arguments: Arguments) throws -> LeftLog? {
        guard arguments.flag("--leave-log") else { return nil }
        for name in ["--in-memory", "--spaces"] where arguments.flag(name) {
            throw arguments.wrong("--leave-log", "does not go with \(name)")
        }
        return LeftLog(space: try logSpace(arguments), secret: try logSecret(arguments))
    }

    private static func logSpace(_ arguments: Arguments) throws -> String {
        do throws(WireError) {
            return try SpaceName(arguments.value("--space") ?? "main").text
        } catch {
            throw arguments.wrong("--space", "cannot be used: \(error.text)")
        }
    }

    private static func logSecret(_ arguments: Arguments) throws -> [UInt8]? {
        try arguments.value("--log-secret-file").map { path in
            try used("--log-secret-file", arguments) {
                let bytes = try TokenSecrets.bytes(in: path), bound = Limits.tokenSecretBytes
                guard bound.contains(bytes.count) else {
                    throw Failure("\(path) has \(bytes.count) bytes, a secret has \(bound.lowerBound)…\(bound.upperBound)")
                }
                return bytes
            }
        }
    }

    /// Browsers, proxies, and readers of the numbers.
    private static func web(_ arguments: Arguments) throws -> WhiteboardRelay.Web {
        var web = WhiteboardRelay.Web()
        web.hostNames = arguments.values("--host-name")
        web.origins = arguments.values("--allow-origin")
        web.trustedProxies = arguments.values("--trusted-proxy")
        if let path = arguments.value("--operator-token-file") {
            web.operatorToken = try used("--operator-token-file", arguments) { try Arguments.secret(in: path) }
        }
        do throws(RelayServerError) {
            try web.validate()
        } catch {
            throw UsageError(error.text)
        }
        return web
    }

    private static func tls(_ arguments: Arguments) throws -> WhiteboardRelay.TLS? {
        let allowsPlain = arguments.flag("--allow-plain")
        switch (arguments.value("--tls-certificate"), arguments.value("--tls-key")) {
        case (let certificate?, let key?):
            let tls = WhiteboardRelay.TLS(certificatePath: certificate, keyPath: key, allowsPlain: allowsPlain)
            do throws(RelayServerError) { try tls.validate() } catch { throw UsageError(error.text) }
            return tls
        case (nil, nil):
            if allowsPlain { throw arguments.wrong("--allow-plain", "goes with --tls-certificate") }
            return nil
        case (_?, nil): throw arguments.wrong("--tls-certificate", "goes with --tls-key")
        case (nil, _?): throw arguments.wrong("--tls-key", "goes with --tls-certificate")
        }
    }

    /// - Parameter count: of the spaces that share it.
    static func memory(_ arguments: Arguments, sharedBy count: Int = 1) throws(UsageError) -> Int {
        let memory = (try arguments.size("--memory") ?? max(16 << 20, min(1 << 30, SystemMemory.bytes / 2))) / count
        guard memory >= 16 << 20 else { 
            throw arguments.wrong("--memory", "is at least \(16 * count)MiB" + (count > 1 ? " for \(count) spaces" : ""))
        }
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
            guard age <= hub.channelLinger else {
                throw arguments.wrong("--history-age", "is at most \(Printable.span(hub.channelLinger))")
            }
            hub.historyAge = age
        }
        if let bytes = try arguments.size("--max-boards-bytes") { hub.boardBytesTotalMax = bytes }
        if let bytes = try arguments.size("--max-board-bytes") {
            guard bytes > 0 else { throw arguments.wrong("--max-board-bytes", "is at least 1; '--max-boards-bytes 0' keeps no boards") }
            hub.boardBytesMax = bytes
        }
        if arguments.value("--expire-boards") != "never", let age = try arguments.duration("--expire-boards") {
            guard age >= .seconds(60) else { throw arguments.wrong("--expire-boards", "is at least 1m") }
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
    ///
    /// - Parameter space: the audience of its tokens.
    static func access(_ arguments: Arguments, of space: SpaceName? = nil) throws -> WhiteboardRelay.Access {
        let mode = try arguments.choice("--auth", of: Auth.self) ?? .key
        let files = arguments.values("--token-secret-file")
        let pupils = try arguments.choice("--pupils", of: Pupils.self)
        if mode != .key, pupils != nil { throw arguments.wrong("--pupils", "goes with --auth key") }
        if mode == .open, !files.isEmpty { throw arguments.wrong("--token-secret-file", "does not go with --auth open") }
        if mode == .token, files.isEmpty { throw UsageError("--auth token wants what signs tokens: option --token-secret-file") }
        if files.isEmpty, arguments.value("--token-audience") != nil {
            throw arguments.wrong("--token-audience", "goes with --token-secret-file")
        }
        let rules =
            files.isEmpty
            ? nil
            : try used("--token-secret-file", arguments) {
                try TokenSecrets.rules(try TokenSecrets.read(files), audience: space?.text ?? arguments.value("--token-audience"))
            }
        switch mode {
        case .open: return .open
        case .token: return .tokens(rules!)
        case .key: return .keys(join: (pupils ?? .draw).role, tokens: rules)
        }
    }

    /// What a file that a setting names is used for.
    ///
    /// - Throws: `UsageError` that names the setting and the file.
    private static func used<Value>(_ name: String, _ arguments: Arguments, _ body: () throws -> Value) throws(UsageError) -> Value {
        do { return try body() } catch { throw arguments.wrong(name, "cannot be used: \(error)") }
    }

    /// When queued bytes are written.
    static func flush(_ arguments: Arguments) throws(UsageError) -> FlushPolicy.Mode {
        switch arguments.value("--flush") {
        case nil, "adaptive": return .adaptive
        case "immediate": return .immediate
        case let text?:
            guard let tick = Duration(text: text), (Duration.milliseconds(1)...(.milliseconds(100))).contains(tick) else {
                throw arguments.wrong("--flush", "wants adaptive, immediate or a tick of 1ms…100ms, not \(Printable.quoted(text))")
            }
            return .every(tick)
        }
    }
}
