internal import Dispatch
internal import RelayCore
import RelayIO
import RelayWire

/// Several relays in one process, the *spaces*, behind one port. [SE16]
///
/// Each has a hub, an engine and a thread, a data folder, keys, users, boards and bounds of its own. The *door* has the port: it serves the
/// page, reads first frames, and hands a connection to the space that its login names. Calls are safe from anywhere.
@available(macOS 15, iOS 18, *)
package final class SharedRelay: Sendable {
    /// What each space is run with, one of so many.
    package typealias SpaceOptions = @Sendable (_ space: SpaceName, _ count: Int) throws(RelayServerError) -> WhiteboardRelay.Options
    package typealias Making = @Sendable (_ space: SpaceName) throws(RelayServerError) -> Bool
    package typealias Removing = @Sendable (_ space: SpaceName) throws(RelayServerError) -> Void

    package var address: RelayAddress { door.address }
    package let door: WhiteboardRelay
    private let spaces: Mutex<Spaces>
    private let controls = Mutex<[ControlServer]>([])
    private let doorOptions: Mutex<WhiteboardRelay.Options>
    private let optionsOf: Mutex<SpaceOptions>
    private let place: RelayPlace
    private let folder: SharedFolder?
    /// Spaces are added, removed and set one after the other, by a thread that may wait.
    private let turns = OperatorTurns()

    private struct Spaces {
        var running: [SpaceName: WhiteboardRelay] = [:]
        /// Those that did not start, and why. Who logs in there comes back.
        var failed: [SpaceName: String] = [:]

        var count: Int { running.count + failed.count }
        var engines: [String: Engine] { Dictionary(uniqueKeysWithValues: running.map { ($0.key.text, $0.value.engine) }) }
    }

    /// A space takes a thread, and two descriptors of its journal.
    package static let spacesMax = 64

    private init(
        _ door: WhiteboardRelay, _ options: WhiteboardRelay.Options, _ spaces: Spaces, _ optionsOf: @escaping SpaceOptions,
        _ place: RelayPlace, _ folder: SharedFolder?
    ) {
        (self.door, self.place, self.folder) = (door, place, folder)
        (doorOptions, self.spaces, self.optionsOf) = (Mutex(options), Mutex(spaces), Mutex(optionsOf))
    }

    /// Starts the spaces, then opens the door. A space that does not start is told in the log, and the others serve.
    ///
    /// - Parameters:
    ///   - options: of the door: port, TLS, names, log, control sockets. It stores nothing.
    ///   - folder: that of all spaces. A lock keeps other relays out of it, which `options.waitsForFolder` may wait for.
    ///   - spaces: tells which there are, and what else stands where only spaces should.
    ///   - optionsOf: their storage, access and bounds.
    ///   - make: called for one that is added; says whether there was nothing of it.
    ///   - remove: called for one that was removed.
    package static func start(
        _ options: WhiteboardRelay.Options, in folder: String? = nil,
        spaces: @Sendable () throws(RelayServerError) -> (names: [SpaceName], others: [String]),
        optionsOf: @escaping SpaceOptions, make: @escaping Making = { _ in true }, remove: @escaping Removing = { _ in }
    ) async throws(RelayServerError) -> SharedRelay {
        let shared = folder.map { _ in SharedFolder() }
        if let shared, let folder { try await shared.lock(folder, options.waitsForFolder) }
        do throws(RelayServerError) {
            return try await start(options, shared, spaces, optionsOf, make, remove)
        } catch {
            await shared?.close()
            throw error
        }
    }

    private static func start(
        _ options: WhiteboardRelay.Options, _ folder: SharedFolder?,
        _ spaces: () throws(RelayServerError) -> (names: [SpaceName], others: [String]),
        _ optionsOf: @escaping SpaceOptions, _ make: @escaping Making, _ remove: @escaping Removing
    ) async throws(RelayServerError) -> SharedRelay {
        let (names, others) = try spaces()
        for other in others { options.log(LogLine(.warning, "\(other) is no space, and is left alone")) }
        guard names.count <= spacesMax else {
            throw RelayServerError(text: "a relay has at most \(spacesMax) spaces, here are \(names.count)")
        }
        let tls = WhiteboardRelay.shownWeb(options, try options.tls?.identity()).tls
        let place = RelayPlace()
        var begun = Spaces()
        for name in names {
            do throws(RelayServerError) {
                begun.running[name] = try await begin(Self.options(of: name, names.count, tls, optionsOf, options), name, place)
            } catch {
                begun.failed[name] = error.text
                options.log(LogLine(.error, "space \(name) does not start: \(error)"))
            }
        }
        let spaces = begun
        do throws(RelayServerError) {
            let door = try await WhiteboardRelay.start(ofDoor(options, names.count), permit: { _ in }, as: .door(to: [])) { engine in
                await engine.lead(to: spaces.engines, failed: Set(spaces.failed.keys.map(\.text)))
            }
            place.opens(at: door.address)
            let shared = SharedRelay(door, options, spaces, optionsOf, place, folder)
            shared.setDoorOptions(options)
            do {
                let controls = try WhiteboardRelay.controls(options, door.address, shared.answers(options, make, remove))
                shared.controls.withLock { $0 = controls }
            } catch {
                await door.stop()
                throw RelayServerError(text: "\(error)")
            }
            return shared
        } catch {
            for relay in spaces.running.values { await relay.stop() }
            throw error
        }
    }

    /// Those that serve, in order of name.
    package var names: [SpaceName] { spaces.withLock { $0.running.keys.sorted() } }

    package subscript(name: SpaceName) -> WhiteboardRelay? { spaces.withLock { $0.running[name] } }

    var failed: [SpaceName: String] { spaces.withLock(\.failed) }

    private static func begin(
        _ options: WhiteboardRelay.Options, _ name: SpaceName, _ place: RelayPlace
    ) async throws(RelayServerError) -> WhiteboardRelay {
        try await WhiteboardRelay.start(options, permit: { _ in }, as: .space(name.text), behind: place)
    }

    /// - Parameter door: has the log, and the progress of a start.
    static func options(
        of name: SpaceName, _ count: Int, _ tls: TLSReport?, _ optionsOf: SpaceOptions, _ door: WhiteboardRelay.Options
    ) throws(RelayServerError) -> WhiteboardRelay.Options {
        var options = try optionsOf(name, count)
        (options.web.tls, options.web.space, options.sharers, options.didRead) = (tls, name.text, count + 1, door.didRead)
        options.log = { @Sendable line in
            var line = line
            line.space = name.text
            door.log(line)
        }
        return options
    }

    private func options(of name: SpaceName, _ count: Int) throws(RelayServerError) -> WhiteboardRelay.Options {
        try Self.options(of: name, count, door.tls, optionsOf.withLock { $0 }, doorOptions.withLock { $0 })
    }

    private func lead() async {
        let (engines, failed) = spaces.withLock { ($0.engines, Set($0.failed.keys.map(\.text))) }
        await door.engine.lead(to: engines, failed: failed)
    }

    /// Serves one more space, or one that did not start; those that are there get their shares anew.
    ///
    /// - Throws: when there is one of that name, or it cannot start; then all is as before.
    package func add(_ name: SpaceName) async throws(RelayServerError) {
        guard self[name] == nil else { throw RelayServerError(text: "space \(name) is there already") }
        let count = spaces.withLock { $0.failed[name] == nil ? $0.count + 1 : $0.count }
        guard count <= Self.spacesMax else { throw RelayServerError(text: "this relay has \(Self.spacesMax) spaces, and may have no more") }
        let relay = try await Self.begin(options(of: name, count), name, place)
        spaces.withLock { ($0.running[name], $0.failed[name]) = (relay, nil) }
        share(count)
        await lead()
    }

    /// Ends a space: its clients are told, and its queues drain for up to 5 s. Its data stays.
    ///
    /// - Throws: when there is none of that name.
    package func remove(_ name: SpaceName) async throws(RelayServerError) {
        let (relay, isKnown) = spaces.withLock { spaces in
            let (relay, failure) = (spaces.running.removeValue(forKey: name), spaces.failed.removeValue(forKey: name))
            return (relay, relay != nil || failure != nil)
        }
        guard isKnown else { throw RelayServerError(text: "this relay has no space \(name)") }
        await lead()
        await relay?.stop()
        share(spaces.withLock(\.count))
    }

    /// Lets other options hold: those of the door, and of each space. Waits for the engines.
    ///
    /// - Throws: the setting that cannot be used, and its space. Nothing has changed then.
    package func apply(_ options: WhiteboardRelay.Options, optionsOf: @escaping SpaceOptions) throws(RelayServerError) {
        let result = turns.queue.sync { () -> Result<Void, RelayServerError> in
            let count = spaces.withLock(\.count)
            do throws(RelayServerError) {
                for name in names {
                    do throws(RelayServerError) { _ = try optionsOf(name, count) } catch {
                        throw RelayServerError(text: "space \(name): \(error)")
                    }
                }
                try door.apply(Self.ofDoor(options, count))
            } catch {
                return .failure(error)
            }
            setDoorOptions(options)
            self.optionsOf.withLock { $0 = optionsOf }
            share(count)
            return .success(())
        }
        try result.get()
    }

    /// The log stays that of the start, and the progress of the start is over.
    private func setDoorOptions(_ new: WhiteboardRelay.Options) {
        doorOptions.withLock { options in
            let log = options.log
            options = new
            (options.log, options.didRead) = (log, { @Sendable _ in })
        }
    }

    /// Each gets its part of what so many share. One whose options cannot be used keeps those that it has.
    private func share(_ count: Int) {
        let options = doorOptions.withLock { $0 }
        do throws(RelayServerError) { try door.apply(Self.ofDoor(options, count)) } catch {
            options.log(LogLine(.error, "the door keeps its settings: \(error)"))
        }
        for (name, relay) in spaces.withLock({ $0.running.sorted { $0.key < $1.key } }) {
            do throws(RelayServerError) { try relay.apply(try self.options(of: name, count)) } catch {
                options.log(LogLine(.error, "space \(name) keeps its settings: \(error)"))
            }
        }
    }

    /// Browsers may ask for it by this name from now on: see `WhiteboardRelay.announced(as:)`.
    package func announced(as name: String?) {
        for relay in [door] + spaces.withLock({ Array($0.running.values) }) { relay.announced(as: name) }
    }

    /// It keeps nothing, and lets nobody in.
    static func ofDoor(_ options: WhiteboardRelay.Options, _ count: Int) -> WhiteboardRelay.Options {
        var door = options
        (door.storage, door.access, door.sharers) = (.inMemory, .open, count + 1)
        door.hub = Configuration(memory: 16 << 20)
        door.hub.connectionsMax = options.hub.connectionsMax
        return door
    }

    /// Ends the door and all spaces at once, as `WhiteboardRelay.stop` does.
    package func stop() async {
        for control in controls.withLock({ $0 }) { control.close() }
        await withTaskGroup(of: Void.self) { group in
            for relay in [door] + spaces.withLock({ Array($0.running.values) }) { group.addTask { await relay.stop() } }
        }
        await folder?.close()
    }

    // MARK: - The operator

    private func answers(_ options: WhiteboardRelay.Options, _ make: @escaping Making, _ remove: @escaping Removing) -> ControlAnswers {
        let ofDoor = door.control.answer
        return ControlAnswers(
            answer: { @Sendable [weak self] request in
                guard let self else { return nil }
                switch request {
                case .about, .status, .usage: return ofDoor(request)
                case .reload: return options.reload()
                case .spaces: return SpacesReport(self)
                case .addSpace(let text):
                    return inTurn { relay throws(RelayServerError) in
                        let name = try Self.name(text)
                        guard relay[name] == nil else { throw RelayServerError(text: "space \(name) is there already") }
                        let isNew = try make(name)
                        do throws(RelayServerError) {
                            try await relay.add(name)
                        } catch {
                            if isNew { try? remove(name) }
                            throw error
                        }
                        relay.door.engine.auditNow("operator added space \(name)")
                    }
                case .removeSpace(let text):
                    return inTurn { relay throws(RelayServerError) in
                        let name = try Self.name(text)
                        try await relay.remove(name)
                        try remove(name)
                        relay.door.engine.auditNow("operator removed space \(name), with all that it has kept")
                    }
                case .drainSpace: return ControlRefusal("this relay has no other nodes: 'serve --spaces --log' has")
                case .keys, .rotate, .backup: return ControlRefusal(Self.whichSpace)
                }
            },
            backup: { @Sendable send in Backup.refuse(Self.whichSpace, by: send) },
            space: { @Sendable [weak self] text in
                guard let name = try? SpaceName(text), let relay = self?[name] else { return nil }
                return relay.control
            })
    }

    static let whichSpace = "this relay has spaces: --space NAME says which is meant, 'boardrelay space ls' lists them"

    static func name(_ text: String) throws(RelayServerError) -> SpaceName {
        do throws(WireError) { return try SpaceName(text) } catch { throw RelayServerError(text: error.text) }
    }

    private func inTurn(_ body: @escaping @Sendable (SharedRelay) async throws(RelayServerError) -> Void) -> any JSONObject {
        turns.wait { () throws(RelayServerError) in try await body(self) }.map { ControlRefusal($0.text) } ?? SpacesReport(self)
    }
}

/// What operators ask of several spaces is done one after the other, by a thread that may wait.
@available(macOS 15, iOS 18, *)
struct OperatorTurns: Sendable {
    let queue = DispatchQueue(label: "boardrelay.spaces")

    /// On the thread of a control socket.
    ///
    /// - Returns: what has failed.
    func wait(_ body: @escaping @Sendable () async throws(RelayServerError) -> Void) -> RelayServerError? {
        queue.sync {
            let done = DispatchSemaphore(value: 0), failure = Mutex<RelayServerError?>(nil)
            Task {
                do throws(RelayServerError) { try await body() } catch { failure.withLock { $0 = error } }
                done.signal()
            }
            done.wait()
            return failure.withLock { $0 }
        }
    }
}

/// What `boardrelay space ls --json` prints.
package struct SpacesReport: JSONObject, Sendable {
    package struct Space: JSONObject, Sendable {
        package private(set) var name = ""
        package private(set) var connections = 0
        package private(set) var users = 0
        package private(set) var boards = 0
        package private(set) var boardBytes = 0
        /// What is wrong with it, as a sentence.
        package private(set) var problem: String?
        /// Of one with a log: whether this node serves it; then where another one does, as that says.
        package private(set) var isOwned: Bool?
        package private(set) var servedAt: String?

        package init() {}

        init(_ name: SpaceName, _ census: Census) {
            self.name = name.text
            (connections, users) = (census.connections, census.users)
            (boards, boardBytes) = (census.boards, census.boardBytes)
            problem = census.storageFailure.map { "nothing can be stored: \($0)" }
        }

        init(_ name: SpaceName, failure: String) { (self.name, problem) = (name.text, "does not start: \(failure)") }

        /// Of one with a log.
        init(_ name: SpaceName, _ census: Census?, servedAt: String?, problem: String?) {
            self.init()
            if let census { self = Space(name, census) } else { self.name = name.text }
            (isOwned, self.servedAt, self.problem) = (census != nil, servedAt, self.problem ?? problem)
        }

        package mutating func fields(_ json: inout JSONFields) {
            json("boardBytes", &boardBytes)
            json("boards", &boards)
            json("connections", &connections)
            json("isOwned", &isOwned)
            json("name", &name)
            json("problem", &problem)
            json("servedAt", &servedAt)
            json("users", &users)
        }
    }

    /// Where the relay listens.
    package private(set) var address = ""
    package private(set) var spaces: [Space] = []

    package init() {}

    @available(macOS 15, iOS 18, *)
    init(_ relay: SharedRelay) {
        address = relay.address.description
        spaces = relay.names.compactMap { name in relay[name].map { Space(name, $0.engine.censusNow()) } }
        spaces += relay.failed.map { Space($0.key, failure: $0.value) }
        spaces.sort { $0.name < $1.name }
    }

    init(address: RelayAddress, _ spaces: [Space]) {
        self.address = address.description
        self.spaces = spaces.sorted { $0.name < $1.name }
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("spaces", &spaces)
    }
}
