internal import Dispatch
@_exported public import RelayCore
@_exported public import RelayIO
import RelayJournal
@_exported public import RelayRights
import RelayStorage
import RelaySystem
@_exported public import RelayTokens
import RelayWire

/// A relay in this process: for the daemon, for apps that host a board, for integration tests.
///
///     let server = try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open))
///     … connect clients to server.address …
///     await server.stop()
///
/// All of it runs on one serial queue of its own. Calls are safe from anywhere.
@available(macOS 15, iOS 18, *)
public final class WhiteboardRelay: Sendable {
    /// Where it listens.
    public typealias Address = RelayAddress

    /// Where what outlives a restart is kept.
    public enum Storage: Sendable, Equatable {
        /// Nowhere: all is gone with the relay.
        case inMemory
        /// In a folder for this user alone, made if it does not exist. A lock keeps other relays out of it.
        ///
        /// Changes of metadata and locks are shown when they are durable there, and survive a crash at any moment.
        case folder(String)
    }

    /// Who may come in.
    public enum Access: Sendable {
        /// Anyone who can reach the port may do everything.
        case open
        /// Anyone with one of the relay's two keys. They stand in its data folder, or are drawn at its start; `WhiteboardRelay.keys`
        /// tells them. The host key is a moderator's, the join key gives the role `join`.
        ///
        /// - Parameter tokens: a token that these rules take lets in, too.
        case keys(join: Role = .editor, tokens: TokenRules? = nil)
        /// Anyone with a token.
        case tokens(TokenRules)

        var mode: String {
            switch self {
            case .open: "open"
            case .keys: "keys"
            case .tokens: "tokens"
            }
        }
    }

    /// How a relay runs.
    public struct Options: Sendable {
        /// The address to listen on; `nil` for every interface, IPv4 and IPv6.
        public var host: String?
        /// 0 lets the system choose; `WhiteboardRelay.address` tells which.
        public var port: UInt16
        /// Where what outlives a restart is kept.
        public var storage: Storage
        /// Who may come in.
        public var access: Access
        /// Limits, rates and times. Unless it is given, what is held in memory is bounded to 256 MiB.
        public var hub: Configuration
        /// When queued bytes go to their sockets.
        public var flush: FlushPolicy.Mode
        /// Path of a Unix socket on which the operator asks (`boardrelay status`, `boardrelay key`), 0600; `nil` for none.
        public var controlSocket: String?
        /// Path of one more, on which the group of this process may ask, too.
        package var groupSocket: String?
        /// How it meets browsers.
        public var web = Web()
        /// TLS of its own; `nil`: none.
        public var tls: TLS?
        /// Whether it is asked on another one, too, whose path follows from the port: see `defaultControlSocket(port:)`.
        public var isAskedByPort: Bool
        /// Called on the relay's queue for each log line; must return at once. Those with `auditedAt` say what moderators did, and who
        /// changes the keys.
        public var log: @Sendable (LogLine) -> Void
        /// Relays of this process that share its descriptors.
        package var sharers = 1
        /// Called when keys were drawn anew and count; must return at once.
        package var keysChanged: @Sendable () -> Void = {}
        /// Asked on the control socket to read its settings again; may wait for the relay.
        package var reload: @Sendable () -> any JSONObject = { ControlRefusal("this relay has no settings to read again") }
        /// Called once with who has the data folder, such as "pid 4711", if somebody has: the start then waits until that process has
        /// ended. `nil`: such a folder is an error.
        package var waitsForFolder: (@Sendable (_ holder: String) -> Void)?
        /// The log that a folder of a space leaves at this start; `nil`: such a folder is an error.
        package var leavesLog: LeftLog?
        /// Called with the bytes of the data folder that were read, until all of it is.
        package var didRead: @Sendable (_ bytes: Int) -> Void = { _ in }

        /// The relay on this machine alone, on the usual port, unless told otherwise.
        public init(
            host: String? = "127.0.0.1", port: UInt16 = RelayAddress.defaultPort, storage: Storage = .inMemory, access: Access = .open,
            hub: Configuration = .init(memory: 256 * 1024 * 1024), flush: FlushPolicy.Mode = .adaptive, controlSocket: String? = nil,
            isAskedByPort: Bool = false, log: @escaping @Sendable (LogLine) -> Void = { _ in }
        ) {
            self.host = host
            self.port = port
            self.storage = storage
            self.access = access
            self.hub = hub
            self.flush = flush
            self.controlSocket = controlSocket
            self.isAskedByPort = isAskedByPort
            self.log = log
        }
    }

    /// Where it listens, with the port that the system chose if it was asked to.
    public var address: RelayAddress { place.address }
    private let place: RelayPlace
    let engine: Engine
    /// What answers on a control socket.
    let control: ControlAnswers
    private let controls: [ControlServer]
    private let journal: JournalWriter
    private let gate: Gate
    /// Of a space its door has it.
    private let watch: NetworkWatch?
    /// Where it keeps what outlives a restart; `nil`: nowhere.
    private let folder: String?
    /// Names and proxies that count.
    private let web: Mutex<Web>

    /// Boards of a relay that keeps nothing on disk may have so many bytes, together.
    private static let boardBytesInMemoryMax = 256 * 1024 * 1024

    /// Starts a relay; it serves when this returns.
    ///
    /// - Throws: `RelayServerError`, for example when the port is in use; the text names address and port.
    public static func start(_ options: Options = .init()) async throws(RelayServerError) -> WhiteboardRelay {
        try await start(options, permit: { _ in })
    }

    /// - Parameters:
    ///   - permit: asked before each call on the data folder's files.
    ///   - echoBytesMax: WebSockets send back what they get, messages of so many bytes at most: for tests against other people's clients.
    ///   - part: a door has no control sockets, and a space no port either.
    ///   - door: where a space will be reached.
    ///   - ownership: of a space with a log, whose folder is open.
    ///   - prepare: called before it listens.
    static func start(
        _ options: Options, permit: @escaping FolderStorage.Permit, echoBytesMax: Int? = nil, as part: RelayPart = .whole,
        behind door: RelayPlace? = nil, owning ownership: Ownership? = nil, prepare: (Engine) async -> Void = { _ in }
    ) async throws(RelayServerError) -> WhiteboardRelay {
        let identity = try options.tls?.identity()
        let shown = shownWeb(options, identity)
        let web = try WebSite(shown, echoBytesMax: echoBytesMax)
        var configuration = withDescriptors(options)
        var path: String?
        if case .folder(let folder) = options.storage { path = folder }
        let journal = ownership?.journal ?? JournalWriter(path: path, indexBytesMax: configuration.boardIndexBytesMax, permit: permit)
        let (opened, start) = if let ownership { (ownership.opened, ownership.start) } else { try await open(journal, options) }
        configuration.isJournaled = path != nil
        configuration.part = part
        // Nobody logs in to an echo.
        if echoBytesMax != nil { configuration.loginTimeout = .seconds(3_600) }
        configuration.boardBytesTotalMax = boardBytesTotalMax(
            configuration, stored: opened.boards.reduce(0) { $0 + $1.bytes }, folder: path)
        let gate: Gate
        do throws(RelayServerError) {
            gate = try Gate(options.access, folder: path, changed: options.keysChanged)
        } catch {
            if ownership == nil { await journal.close() }
            throw error
        }
        let engine = Engine(
            configuration: configuration, start: start, access: gate.rules, flush: FlushPolicy(options.flush), web: web, log: options.log)
        do {
            if let ownership { try await engine.own(ownership) }
            await engine.restore(opened, from: journal)
            // The start number is durable before anybody sees it: offsets of two starts must never be mistaken.
            if let failure = await journal.flush() { throw RelayServerError(text: failure) }
            let place = door ?? RelayPlace()
            await prepare(engine)
            if door == nil { place.opens(at: try await listen(options, engine, identity)) } else { try await engine.startBehindDoor() }
            let shownWeb = Mutex(shown)
            let control = answers(options, place, engine, journal, gate, shownWeb)
            let controls = part == .whole ? try controls(options, place.address, control) : []
            // By new addresses browsers may ask, too.
            let watch =
                door != nil ? nil
                : NetworkWatch(queue: engine.executor.queue) { @Sendable [weak engine] _ in engine?.assumeIsolated { $0.networkChanged() } }
            return WhiteboardRelay(
                place: place, engine: engine, control: control, controls: controls, journal: journal, gate: gate, watch: watch,
                folder: path, web: shownWeb)
        } catch {
            await engine.stop()
            if ownership == nil { await journal.close() }
            var failure = RelayServerError(text: "\(error)")
            failure.isAddressInUse = (error as? SocketAddress.Failure)?.isAddressInUse ?? false
            throw failure
        }
    }

    /// What the folder has, and the number of this start, which stands there when it returns.
    private static func open(
        _ journal: JournalWriter, _ options: Options
    ) async throws(RelayServerError) -> (opened: JournalWriter.Opened, start: UInt32) {
        var opened = try await journal.open(waits: options.waitsForFolder, progress: options.didRead)
        do throws(RelayServerError) {
            if opened.entries.contains(where: { JournalWriter.isOfLog($0.key) }) {
                guard let left = options.leavesLog else {
                    throw RelayServerError(
                        text: "the folder is of a space with a log: serve it with --log; with --leave-log it leaves the log")
                }
                // A secret that is wrong leaves the log's keys where they are.
                let sealed = opened.entries.first { $0.key == LoggedKeys.key }?.value
                if case .folder(let folder) = options.storage { try left.takeKeys(sealed, into: folder) }
                try await journal.leaveLog(&opened)
            }
            let start = try nextStart(after: opened.start)
            try await journal.note(start: start)
            return (opened, start)
        } catch {
            await journal.close()
            throw error
        }
    }

    private static func listen(_ options: Options, _ engine: Engine, _ identity: TLSIdentity?) async throws -> RelayAddress {
        let bound = try await engine.start(host: options.host, port: options.port, tls: identity)
        var address = RelayAddress(
            host: options.host ?? bound.host, port: bound.port, protection: identity.map { .pinned($0.certificate.pin) } ?? .plain)
        address.isLasting = options.port != 0
        return address
    }

    /// How it meets browsers, with what others must know of its certificate.
    static func shownWeb(_ options: Options, _ identity: TLSIdentity?) -> Web {
        var web = options.web
        // A space has its door's.
        if let identity { web.tls = TLSReport(identity.certificate, allowsPlain: options.tls?.allowsPlain ?? false) }
        return web
    }

    /// What the operator is answered.
    private static func answers(
        _ options: Options, _ place: RelayPlace, _ engine: Engine, _ journal: JournalWriter, _ gate: Gate, _ web: Mutex<Web>
    ) -> ControlAnswers {
        let started = SystemClock.monotonicNanoseconds()
        let answer: @Sendable (ControlRequest) -> (any JSONObject)? = { [weak engine] request in
            guard let engine else { return nil }
            let address = place.address
            switch request {
            case .about: return RelayAbout(address, web.withLock { $0.tls })
            case .status: return Status(address: address, since: started, census: engine.censusNow(), journal: journal.statusNow())
            case .usage: return SystemProcess.usage()
            case .keys: return gate.control(address, web.withLock { $0 })
            case .rotate(let kinds, let endsSessions):
                return gate.rotate(kinds, endsSessions: endsSessions, engine, address, web.withLock { $0 })
            case .reload: return options.reload()
            case .backup: preconditionFailure("a backup is no answer of one line")
            case .spaces, .addSpace, .removeSpace, .drainSpace: return ControlRefusal("this relay has no spaces: 'serve --spaces' has")
            }
        }
        let backup: @Sendable (([UInt8]) -> Bool) -> Void = { [weak engine] send in
            guard let engine else { return }
            var backup = Backup(of: journal)
            engine.auditNow("operator \(backup.send(by: send))")
        }
        return ControlAnswers(answer: answer, backup: backup)
    }

    /// The sockets on which the operator asks.
    static func controls(_ options: Options, _ address: RelayAddress, _ answers: ControlAnswers) throws -> [ControlServer] {
        func control(_ path: String, isForGroup: Bool = false) throws -> ControlServer {
            try ControlServer(path: path, isForGroup: isForGroup, answers)
        }
        var controls = try options.controlSocket.map { [try control($0)] } ?? []
        if let path = options.groupSocket { controls.append(try control(path, isForGroup: true)) }
        let byPort = defaultControlSocket(port: address.port)
        guard options.isAskedByPort, byPort != options.controlSocket else { return controls }
        do {
            controls.append(try control(byPort))
        } catch {
            options.log(LogLine(.warning, "commands on this machine do not find this relay by its port: \(error)"))
        }
        return controls
    }

    /// Descriptors of the journal, boards, sockets and what else must be there, and those of connections that one turn accepts before it
    /// closes others for them. [SE5]
    static let descriptorsKept = 128

    /// Of memory, for one connection with TLS: 13.4 KB were measured.
    private static let tlsConnectionBytes = 16 * 1024

    static func connectionsMax(configured: Int, descriptors: Int) -> Int { min(configured, max(16, descriptors - descriptorsKept)) }

    /// What is configured, with as many connections as the system has descriptors for.
    private static func withDescriptors(_ options: Options) -> Configuration {
        var configuration = options.hub
        let descriptors = SystemDescriptors.raise()
        // With TLS a connection has three: its own, and a pair to the engine; and what OpenSSL keeps of it.
        let each = (options.tls == nil ? 1 : 3) * options.sharers
        if options.tls != nil {
            configuration.connectionsMax = min(configuration.connectionsMax, configuration.sessionMemoryMax / tlsConnectionBytes)
        }
        let configured = configuration.connectionsMax
        configuration.connectionsMax = connectionsMax(configured: configuration.connectionsMax, descriptors: descriptors / each)
        if configuration.connectionsMax < configured, options.sharers == 1 {
            let text = "the system allows \(descriptors) descriptors: at most \(configuration.connectionsMax) connections"
            options.log(LogLine(.warning, text + ", not \(configured)"))
        }
        SystemDescriptors.makeRoom(for: configuration.connectionsMax * each + descriptorsKept)
        return configuration
    }

    /// What boards have is theirs, at the next start, too.
    static func boardBytesTotalMax(configured: Int, stored: Int, free: Int) -> Int { min(configured, stored + free / 2) }

    /// Half of the free space stays for other users of the disk. [BL7]
    private static func boardBytesTotalMax(_ configuration: Configuration, stored: Int, folder: String?) -> Int {
        let configured = configuration.boardBytesTotalMax
        guard let folder else { return min(configured, boardBytesInMemoryMax) }
        return SystemVolume.freeBytes(of: folder).map { boardBytesTotalMax(configured: configured, stored: stored, free: $0) } ?? configured
    }

    /// Greater than that of every earlier relay of this process and folder: a relay that is started again within the second must not
    /// take offsets of the one before for its own.
    ///
    /// - Parameter stored: of the last relay in the same folder.
    /// - Throws: when there is no greater one.
    private static func nextStart(after stored: UInt32) throws(RelayServerError) -> UInt32 {
        try lastStart.withLock { (last) throws(RelayServerError) in
            let previous = max(last, stored)
            guard let next = startNumber(after: previous, wallMilliseconds: SystemClock.wallMilliseconds()) else {
                throw RelayServerError(text: "no start number is greater than the stored one, \(previous)")
            }
            last = next
            return next
        }
    }

    /// Unix seconds, so that a folder put back from a copy does not repeat numbers; the next number where those are not greater. The
    /// clock counts up to 2097: one that is wrong by a century leaves 268 million numbers to starts to come.
    static func startNumber(after previous: UInt32, wallMilliseconds: UInt64) -> UInt32? {
        guard previous < .max else { return nil }
        return max(previous + 1, min(UInt32(clamping: wallMilliseconds / 1000), 0xF000_0000))
    }

    private static let lastStart = Mutex(UInt32(0))

    private init(
        place: RelayPlace, engine: Engine, control: ControlAnswers, controls: [ControlServer], journal: JournalWriter, gate: Gate,
        watch: NetworkWatch?, folder: String?, web: Mutex<Web>
    ) {
        self.place = place
        self.engine = engine
        self.control = control
        self.controls = controls
        self.journal = journal
        self.gate = gate
        self.watch = watch
        self.folder = folder
        self.web = web
    }

    /// Lets other options hold while it runs: bounds, rates and times, names, origins, proxies, the operators' token, secrets of tokens,
    /// the role of the join key, and keys that were replaced in the data folder. Whoever is in stays. Where it listens, its storage, the
    /// mode of access, its sockets and when it flushes are as at the start; so is the memory for indexes of boards in use.
    ///
    /// Waits for the engine's queue: not to be called on it.
    ///
    /// - Throws: when something of it cannot be used; then nothing has changed.
    package func apply(_ options: Options) throws(RelayServerError) {
        let identity = try options.tls?.identity()
        let shown = Self.shownWeb(options, identity)
        let web = try WebSite(shown)
        guard (shown.tls == nil) == (tls == nil) else {
            throw RelayServerError(text: "a relay speaks TLS from its start on, or not at all: restart it")
        }
        var configuration = Self.withDescriptors(options)
        let stored = engine.censusNow().boardBytes
        configuration.boardBytesTotalMax = Self.boardBytesTotalMax(configuration, stored: stored, folder: folder)
        if options.web.space != nil, options.access.mode != gate.mode {
            options.log(LogLine(.warning, "its mode of access changes at its next start"))
        } else {
            try gate.apply(options.access, engine)
        }
        engine.applyNow(configuration, web, identity)
        self.web.withLock { web in
            let name = web.announcedName
            web = shown
            web.announcedName = name
        }
    }

    /// What others must know of its TLS now; `nil`: it speaks none itself.
    package var tls: TLSReport? { web.withLock { $0.tls } }

    /// Browsers may ask for it by this name from now on, `boardrelay.local`, and by no other that it was announced by.
    package func announced(as name: String?) {
        web.withLock { $0.announcedName = name }
        engine.enter { $0.announced(name) }
    }

    /// Tells every client, gives queues up to 5 s to drain, closes all connections, the port and the data folder.
    ///
    /// Calling again waits for the same end. A server that is dropped without it goes on until the process ends.
    public func stop() async {
        watch?.cancel()
        for control in controls { control.close() }
        await engine.stop()
        // The folder of a space with a log outlives each ownership.
        if await engine.ownership == nil { await journal.close() }
    }

    /// The relay's keys; `nil` unless it was started with `Access.keys`.
    public var keys: AccessKeys? { gate.keys }

    /// Generates new keys. A user who logged in with an old key stays, but needs the new key to come back.
    ///
    /// - Parameter endsSessions: every session of the old one is closed with `keyChanged`.
    /// - Throws: when the relay has no keys, or they cannot be kept; then the old ones hold.
    @discardableResult
    public func rotateKeys(_ kinds: Set<AccessKeys.Kind> = [.join, .host], endsSessions: Bool = false) async throws(RelayServerError)
        -> AccessKeys
    {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<AccessKeys, RelayServerError>, Never>) in
            // It writes a file, and waits for the engine: not on a thread that others want.
            DispatchQueue.global().async { [gate, engine] in
                do throws(RelayServerError) {
                    continuation.resume(returning: .success(try gate.rotate(kinds, endsSessions: endsSessions, engine)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Everything counted, at one moment.
    public func census() async -> Census { await engine.census() }

    /// How the journal is; `nil` in memory, and after `stop`.
    public func journalStatus() async -> JournalStatus? { await journal.status() }
}
