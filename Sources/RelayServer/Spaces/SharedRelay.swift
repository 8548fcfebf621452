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
    /// Makes the folder of a new space, or removes one.
    package typealias Change = @Sendable (_ space: SpaceName) throws(RelayServerError) -> Void

    package var address: RelayAddress { door.address }
    package let door: WhiteboardRelay
    private let spaces = Mutex<[SpaceName: WhiteboardRelay]>([:])
    private let controls = Mutex<[ControlServer]>([])
    private let optionsOf: Mutex<SpaceOptions>
    private let folder: SharedFolder?
    /// Spaces are added and removed one after the other, by a thread that may wait.
    private let turns = DispatchQueue(label: "boardrelay.spaces")

    /// A space takes a thread, and two descriptors of its journal.
    package static let spacesMax = 64

    private init(_ door: WhiteboardRelay, _ optionsOf: @escaping SpaceOptions, _ folder: SharedFolder?) {
        (self.door, self.optionsOf, self.folder) = (door, Mutex(optionsOf), folder)
    }

    /// Starts the spaces, then opens the door.
    ///
    /// - Parameters:
    ///   - options: of the door: port, TLS, names, log, control sockets. It stores nothing.
    ///   - folder: that of all spaces. A lock keeps other relays out of it, which `options.waitsForFolder` may wait for.
    ///   - spaces: tells which there are.
    ///   - optionsOf: their storage, access and bounds.
    ///   - make: called for one that is added.
    ///   - remove: called for one that was removed.
    package static func start(
        _ options: WhiteboardRelay.Options, in folder: String? = nil, spaces: @Sendable () throws(RelayServerError) -> [SpaceName],
        optionsOf: @escaping SpaceOptions, make: @escaping Change = { _ in }, remove: @escaping Change = { _ in }
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
        _ options: WhiteboardRelay.Options, _ folder: SharedFolder?, _ spaces: () throws(RelayServerError) -> [SpaceName],
        _ optionsOf: @escaping SpaceOptions, _ make: @escaping Change, _ remove: @escaping Change
    ) async throws(RelayServerError) -> SharedRelay {
        let names = try spaces()
        guard names.count <= spacesMax else {
            throw RelayServerError(text: "a relay has at most \(spacesMax) spaces, here are \(names.count)")
        }
        let door = try await WhiteboardRelay.start(ofDoor(options, names.count), permit: { _ in }, as: .door(to: []))
        let shared = SharedRelay(door, optionsOf, folder)
        do throws(RelayServerError) {
            for name in names { try await shared.begin(name, count: names.count) }
            let answers = shared.answers(options, make, remove)
            let controls: [ControlServer]
            do {
                controls = try WhiteboardRelay.controls(options, door.address, answers)
            } catch {
                throw RelayServerError(text: "\(error)")
            }
            shared.controls.withLock { $0 = controls }
        } catch {
            await shared.stop()
            throw error
        }
        await shared.lead()
        return shared
    }

    /// In order of name.
    package var names: [SpaceName] { spaces.withLock { $0.keys.sorted() } }

    package subscript(name: SpaceName) -> WhiteboardRelay? { spaces.withLock { $0[name] } }

    private func begin(_ name: SpaceName, count: Int) async throws(RelayServerError) {
        let options = try options(of: name, count)
        let relay: WhiteboardRelay
        do throws(RelayServerError) {
            relay = try await WhiteboardRelay.start(options, permit: { _ in }, as: .space(name.text), behind: door.address)
        } catch {
            throw RelayServerError(text: "space \(name): \(error)")
        }
        spaces.withLock { $0[name] = relay }
    }

    private func options(of name: SpaceName, _ count: Int) throws(RelayServerError) -> WhiteboardRelay.Options {
        var options = try optionsOf.withLock { $0 }(name, count)
        (options.web.tls, options.web.space, options.sharers) = (door.tls, name.text, count + 1)
        let log = options.log
        options.log = { @Sendable line in
            var line = line
            line.text = "space \(name): \(line.text)"
            log(line)
        }
        return options
    }

    private func lead() async {
        let engines = Dictionary(uniqueKeysWithValues: spaces.withLock { $0.map { ($0.key.text, $0.value.engine) } })
        await door.engine.leadTo(engines)
    }

    /// Serves one more space; those that are there get their shares of memory anew.
    ///
    /// - Throws: when there is one of that name, or it cannot start; then all is as before.
    package func add(_ name: SpaceName) async throws(RelayServerError) {
        let count = spaces.withLock { $0[name] == nil ? $0.count + 1 : 0 }
        guard count > 0 else { throw RelayServerError(text: "space \(name) is there already") }
        guard count <= Self.spacesMax else { throw RelayServerError(text: "this relay has \(Self.spacesMax) spaces, and may have no more") }
        try apply(count: count)
        do throws(RelayServerError) {
            try await begin(name, count: count)
        } catch {
            try? apply(count: count - 1)
            throw error
        }
        await lead()
    }

    /// Ends a space: its clients are told, and its queues drain for up to 5 s. Its data stays.
    ///
    /// - Throws: when there is none of that name.
    package func remove(_ name: SpaceName) async throws(RelayServerError) {
        guard let relay = spaces.withLock({ $0.removeValue(forKey: name) }) else {
            throw RelayServerError(text: "this relay has no space \(name)")
        }
        await lead()
        await relay.stop()
        try apply(count: spaces.withLock(\.count))
    }

    /// Lets other options hold: those of the door, and of each space.
    ///
    /// - Throws: what cannot be used, and of which space; those before it have theirs already.
    package func apply(_ options: WhiteboardRelay.Options, optionsOf: @escaping SpaceOptions) throws(RelayServerError) {
        let names = names
        for name in names { _ = try optionsOf(name, names.count) }
        try door.apply(Self.ofDoor(options, names.count))
        self.optionsOf.withLock { $0 = optionsOf }
        try apply(count: names.count)
    }

    /// Browsers may ask for it by this name from now on: see `WhiteboardRelay.announced(as:)`.
    package func announced(as name: String?) {
        for relay in [door] + spaces.withLock({ Array($0.values) }) { relay.announced(as: name) }
    }

    /// It keeps nothing, and lets nobody in.
    private static func ofDoor(_ options: WhiteboardRelay.Options, _ count: Int) -> WhiteboardRelay.Options {
        var door = options
        (door.storage, door.access, door.sharers) = (.inMemory, .open, count + 1)
        door.hub = Configuration(memory: 16 << 20)
        door.hub.connectionsMax = options.hub.connectionsMax
        return door
    }

    private func apply(count: Int) throws(RelayServerError) {
        for (name, relay) in spaces.withLock({ $0.sorted { $0.key < $1.key } }) {
            do throws(RelayServerError) {
                try relay.apply(try options(of: name, count))
            } catch {
                throw RelayServerError(text: "space \(name): \(error)")
            }
        }
    }

    /// Ends the door and all spaces at once, as `WhiteboardRelay.stop` does.
    package func stop() async {
        for control in controls.withLock({ $0 }) { control.close() }
        await withTaskGroup(of: Void.self) { group in
            for relay in [door] + spaces.withLock({ Array($0.values) }) { group.addTask { await relay.stop() } }
        }
        await folder?.close()
    }

    // MARK: - The operator

    private func answers(_ options: WhiteboardRelay.Options, _ make: @escaping Change, _ remove: @escaping Change) -> ControlAnswers {
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
                        try make(name)
                        try await relay.add(name)
                        relay.door.engine.auditNow("operator added space \(name)")
                    }
                case .removeSpace(let text):
                    return inTurn { relay throws(RelayServerError) in
                        let name = try Self.name(text)
                        try await relay.remove(name)
                        try remove(name)
                        relay.door.engine.auditNow("operator removed space \(name), with all that it has kept")
                    }
                case .keys, .rotate, .backup: return ControlRefusal(Self.whichSpace)
                }
            },
            backup: { @Sendable send in Backup.refuse(Self.whichSpace, by: send) },
            space: { @Sendable [weak self] text in
                guard let name = try? SpaceName(text), let relay = self?[name] else { return nil }
                return relay.control
            })
    }

    private static let whichSpace = "this relay has spaces: --space NAME says which is meant, 'boardrelay space ls' lists them"

    private static func name(_ text: String) throws(RelayServerError) -> SpaceName {
        do throws(WireError) { return try SpaceName(text) } catch { throw RelayServerError(text: error.text) }
    }

    /// On the thread of a control socket, which may wait.
    private func inTurn(_ body: @escaping @Sendable (SharedRelay) async throws(RelayServerError) -> Void) -> any JSONObject {
        turns.sync {
            let done = DispatchSemaphore(value: 0), failure = Mutex<RelayServerError?>(nil)
            Task {
                do throws(RelayServerError) { try await body(self) } catch { failure.withLock { $0 = error } }
                done.signal()
            }
            done.wait()
            return failure.withLock { $0 }.map { ControlRefusal($0.text) } ?? SpacesReport(self)
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
        package private(set) var storageFailure: String?

        package init() {}

        @available(macOS 15, iOS 18, *)
        init(_ name: SpaceName, _ census: Census) {
            self.name = name.text
            (connections, users) = (census.connections, census.users)
            (boards, boardBytes, storageFailure) = (census.boards, census.boardBytes, census.storageFailure)
        }

        package mutating func fields(_ json: inout JSONFields) {
            json("boardBytes", &boardBytes)
            json("boards", &boards)
            json("connections", &connections)
            json("name", &name)
            json("storageFailure", &storageFailure)
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
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("spaces", &spaces)
    }
}
