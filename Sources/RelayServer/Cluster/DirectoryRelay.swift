import RelayCluster
internal import RelayCore
import RelayIO
import RelaySystem
import RelayWire

/// One node of a directory: it follows each space that the directory has, and serves those that it owns, behind one port.
///
/// The port is a door's, as with `SharedRelay`. It hands a connection to the space that its login names, or says where another node serves
/// that. Calls are safe from anywhere.
@available(macOS 15, iOS 18, *)
package final class DirectoryRelay: Sendable {
    package let door: WhiteboardRelay
    let directory: DirectoryNode
    let members = Mutex<[SpaceName: SpaceMember]>([:])
    /// Spaces that this node cannot even follow, and why.
    let failed = Mutex<[SpaceName: String]>([:])
    private let controls = Mutex<[ControlServer]>([])
    private let duties = Mutex<Task<Void, Never>?>(nil)
    /// What is under way for each space: one thing after the other.
    private let work = Mutex<[SpaceName: Task<Void, Never>]>([:])
    private let doorOptions: Mutex<WhiteboardRelay.Options>
    private let optionsOf: Mutex<SharedRelay.SpaceOptions>
    let folderOf: @Sendable (SpaceName) -> String
    let make: SharedRelay.Making
    let remove: SharedRelay.Removing
    private let log: SpaceLogOptions
    private let isEnding = Mutex(false)
    private let places: OwnedPlaces
    let spacesMax: Int
    private let place: RelayPlace
    private let folder: SharedFolder
    let turns = OperatorTurns()

    /// A space that a node owns takes a thread.
    package static let ownedMax = SharedRelay.spacesMax
    /// One whose folder could not be had is tried again after so long.
    private static let retry = Duration.seconds(10)

    private init(
        _ door: WhiteboardRelay, _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions, spacesMax: Int,
        _ optionsOf: @escaping SharedRelay.SpaceOptions, _ folderOf: @escaping @Sendable (SpaceName) -> String,
        _ make: @escaping SharedRelay.Making, _ remove: @escaping SharedRelay.Removing, _ place: RelayPlace, _ folder: SharedFolder
    ) {
        (self.door, self.log, self.spacesMax, self.place, self.folder) = (door, log, spacesMax, place, folder)
        (self.folderOf, self.make, self.remove) = (folderOf, make, remove)
        (doorOptions, self.optionsOf) = (Mutex(options), Mutex(optionsOf))
        places = OwnedPlaces(max: spacesMax)
        directory = DirectoryNode(log, spacesMax: spacesMax, log: options.log)
    }

    /// Opens the door, and asks the directory which spaces there are.
    ///
    /// - Parameters:
    ///   - options: of the door: port, TLS, names, log, control sockets. It stores nothing.
    ///   - log: of each space, but for its name.
    ///   - folder: that of all spaces. A lock keeps other relays out of it.
    ///   - spacesMax: so many spaces it owns at most, which share the memory.
    ///   - spaces: tells which have a folder, and what else stands there.
    ///   - optionsOf: their storage, access and bounds.
    ///   - folderOf: the folder of one, with all that this node keeps of it.
    ///   - make: called for one that is followed; says whether there was nothing of it.
    ///   - remove: called for one that was removed.
    package static func start(
        _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions, in folder: String, spacesMax: Int,
        spaces: @escaping @Sendable () throws(RelayServerError) -> (names: [SpaceName], others: [String]),
        optionsOf: @escaping SharedRelay.SpaceOptions, folderOf: @escaping @Sendable (SpaceName) -> String,
        make: @escaping SharedRelay.Making, remove: @escaping SharedRelay.Removing
    ) async throws(RelayServerError) -> DirectoryRelay {
        let (shared, place) = (SharedFolder(), RelayPlace())
        try await shared.lock(folder, options.waitsForFolder)
        do throws(RelayServerError) {
            let (names, others) = try spaces()
            for other in others { options.log(LogLine(.warning, "\(other) is no space, and is left alone")) }
            // What cannot be used is told before anything is served.
            _ = try optionsOf(try SharedRelay.name(names.first?.text ?? "main"), spacesMax)
            let part = RelayPart.door(to: [], knowsAll: false)
            let door = try await WhiteboardRelay.start(SharedRelay.ofDoor(options, spacesMax), permit: { _ in }, as: part)
            place.opens(at: door.address)
            let relay = DirectoryRelay(door, options, log, spacesMax: spacesMax, optionsOf, folderOf, make, remove, place, shared)
            do {
                let controls = try WhiteboardRelay.controls(options, door.address, relay.answers(options))
                relay.controls.withLock { $0 = controls }
            } catch {
                await door.stop()
                throw RelayServerError(text: "\(error)")
            }
            await relay.begin(left: names, present: spaces)
            return relay
        } catch {
            await shared.close()
            throw error
        }
    }

    /// - Parameter present: tells which spaces have a folder.
    private func begin(
        left: [SpaceName], present: @escaping @Sendable () throws(RelayServerError) -> (names: [SpaceName], others: [String])
    ) async {
        let duties = directory.duties
        self.duties.withLock { $0 = Task { [weak self] in for await duty in duties { await self?.carryOut(duty) } } }
        await directory.begin { [weak self] in
            var facts = DirectoryNode.Facts()
            for (space, member) in self?.members.withLock({ $0 }) ?? [:] {
                if member.node.owns { facts.owns.insert(space) }
                if member.node.isCaughtUp { facts.ready.insert(space) }
                if member.isUnfit { facts.unfit.insert(space) }
            }
            return facts
        }
        // A folder that the directory does not know is kept: somebody may have restored it.
        if !left.isEmpty {
            Task { [weak self] in
                repeat { try? await Task.sleep(for: Self.retry) } while self?.directory.told().isComplete == false
                guard let self else { return }
                let known = Set(directory.told().spaces), there = Set((try? present().names) ?? [])
                for space in left where !known.contains(space) && there.contains(space) && members.withLock({ $0[space] == nil }) {
                    say(.warning, "\(folderOf(space)) is left alone: the directory has no space \(space). 'boardrelay space add' adds it")
                }
            }
        }
    }

    // MARK: - What the directory tells

    private func carryOut(_ duty: DirectoryNode.Duty) async {
        switch duty {
        case .follow(let space, let id): then(space) { relay in await relay.follow(space, id) }
        case .erase(let space, let id): then(space) { relay in await relay.erase(space, id) }
        case .hesitate(let space, let hesitation): await members.withLock { $0[space] }?.node.hesitate(hesitation)
        case .giveAway(let space):
            guard let member = members.withLock({ $0[space] }) else { return }
            say(.info, "space \(space) goes to another node: this one owns more")
            await member.node.beginToResign()
        case .changed: await lead()
        }
    }

    /// A space that takes its time holds no other one up.
    @discardableResult
    func then(_ space: SpaceName, _ body: @escaping @Sendable (DirectoryRelay) async -> Void) -> Task<Void, Never> {
        work.withLock { work in
            let task = Task { [weak self, before = work[space]] in
                await before?.value
                if let self, !isEnding.withLock({ $0 }) { await body(self) }
            }
            work[space] = task
            return task
        }
    }

    private func follow(_ space: SpaceName, _ id: String) async {
        guard members.withLock({ $0[space] == nil }) else { return }
        do throws(RelayServerError) {
            _ = try make(space)
            let own = try self.id(of: space)
            if let own, own != id {
                throw RelayServerError(
                    text: "its folder is of another space of this name, which was removed: remove \(folderOf(space)) if nobody wants it")
            }
            // What was put there by hand is where the log begins.
            try await open(space, id, leavesLog: own == nil)
        } catch {
            let isNew = failed.withLock { $0.updateValue(error.text, forKey: space) != error.text }
            if isNew { say(.error, "space \(space) cannot be followed: \(error)") }
            Task { [weak self] in
                try? await Task.sleep(for: Self.retry)
                await self?.directory.followAgain(space, id)
            }
        }
    }

    // The file `id` of a folder names the space that the data is of. Only that space's removal removes the folder.

    private func idPath(_ space: SpaceName) -> String { folderOf(space) + "/id" }

    func id(of space: SpaceName) throws(RelayServerError) -> String? {
        do throws(PrivateFile.Failure) {
            let bytes = try PrivateFile.read(idPath(space), bytesMax: SpaceDirectory.idBytesMax) ?? []
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    func keep(_ id: String?, of space: SpaceName) throws(RelayServerError) {
        guard try self.id(of: space) != id else { return }
        do throws(PrivateFile.Failure) {
            try PrivateFile.replace(idPath(space), content: Array((id ?? "").utf8))
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    @discardableResult
    func open(
        _ space: SpaceName, _ id: String, leavesLog: Bool, isNew: Bool = false
    ) async throws(RelayServerError) -> SpaceMember {
        var own = log
        (own.space, own.stream, own.makesStream, own.isOneOfMany) = (space.text, DirectoryNode.stream(of: space, id: id), isNew, true)
        own.places = places
        let member = try await SpaceMember.open(try options(of: space), own, behind: place, leavesLog: leavesLog)
        do throws(RelayServerError) { try keep(id, of: space) } catch {
            await member.stop(handsOver: false)
            throw error
        }
        members.withLock { $0[space] = member }
        failed.withLock { $0[space] = nil }
        await tellNodes()
        await member.begin(hesitation: isNew ? .zero : await directory.hesitation(of: space)) { [weak self] in
            await self?.lead()
            self?.directory.look()
        }
        return member
    }

    /// Nobody is told to take it.
    func close(_ space: SpaceName) async {
        guard let member = members.withLock({ $0[space] }) else { return }
        await member.stop(handsOver: false)
        members.withLock { $0[space] = nil }
        await tellNodes()
        await lead()
    }

    private func erase(_ space: SpaceName, _ id: String) async {
        failed.withLock { $0[space] = nil }
        let hadAnother = members.withLock { $0[space] }?.node.report().stopped
        await close(space)
        do throws(RelayServerError) {
            guard try self.id(of: space) == id else { return }
            guard let hadAnother else {
                say(.info, "space \(space) is removed, and its folder")
                return try remove(space)
            }
            // What it has was never the space's.
            try keep(nil, of: space)
            say(.warning, "space \(space) is removed, and \(folderOf(space)) is left: \(hadAnother)")
        } catch {
            say(.error, "\(error)")
        }
    }

    private func tellNodes() async {
        let nodes = members.withLock { members in
            members.sorted { $0.key < $1.key }.map { (space: Optional($0.key.text), node: $0.value.node) }
        }
        await door.engine.tell(of: nodes)
    }

    private func lead() async {
        await door.engine.lead { [weak self] in
            guard let self else { return ([:], [:], false) }
            var (engines, elsewhere): ([String: Engine], [String: Whereabouts]) = ([:], [:])
            let (members, told) = (members.withLock { $0 }, directory.told())
            for (space, member) in members {
                if let owner = member.owner { engines[space.text] = owner.engine }
            }
            for space in Set(members.keys).union(told.spaces) where engines[space.text] == nil {
                elsewhere[space.text] = LoggedAddress.whereabouts(of: servedAt(space, told), own: log.address)
            }
            return (engines, elsewhere, told.isComplete)
        }
    }

    /// Where another node serves it: as its log says, if that node is there, or as the directory says.
    func servedAt(_ space: SpaceName, _ told: DirectoryNode.Shown) -> String? {
        if case .at(let address)? = members.withLock({ $0[space] })?.whereabouts, told.addresses.contains(address) || !told.isComplete {
            return address
        }
        return told.owners[space].flatMap { $0 }
    }

    private func say(_ level: LogLine.Level, _ text: String) { doorOptions.withLock { $0.log }(LogLine(level, text)) }

    // MARK: - Settings, and the end

    private func options(of space: SpaceName) throws(RelayServerError) -> WhiteboardRelay.Options {
        try SharedRelay.options(of: space, spacesMax, door.tls, optionsOf.withLock { $0 }, doorOptions.withLock { $0 })
    }

    /// Lets other options hold: those of the door, and of each space. Waits for the engines.
    ///
    /// - Throws: the setting that cannot be used, and its space. Nothing has changed then.
    package func apply(_ options: WhiteboardRelay.Options, optionsOf: @escaping SharedRelay.SpaceOptions) throws(RelayServerError) {
        let members = members.withLock { $0.sorted { $0.key < $1.key } }
        for (space, _) in members {
            do throws(RelayServerError) { _ = try optionsOf(space, spacesMax) } catch {
                throw RelayServerError(text: "space \(space): \(error)")
            }
        }
        try door.apply(SharedRelay.ofDoor(options, spacesMax))
        doorOptions.withLock { old in
            let log = old.log
            old = options
            (old.log, old.didRead) = (log, { @Sendable _ in })
        }
        self.optionsOf.withLock { $0 = optionsOf }
        for (space, member) in members {
            do throws(RelayServerError) { try member.apply(try self.options(of: space)) } catch {
                say(.error, "space \(space) keeps its settings: \(error)")
            }
        }
    }

    /// Those that this node follows or owns, in order of name.
    package var names: [SpaceName] { members.withLock { $0.keys.sorted() } }

    package func announced(as name: String?) {
        door.announced(as: name)
        for member in members.withLock({ Array($0.values) }) { member.owner?.announced(as: name) }
    }

    /// Gives each space to another node first, then ends.
    package func stop() async {
        for control in controls.withLock({ $0 }) { control.close() }
        isEnding.withLock { $0 = true }
        for member in members.withLock({ Array($0.values) }) { await member.node.beginToResign() }
        await directory.end()
        await duties.withLock { $0 }?.value
        for task in work.withLock({ Array($0.values) }) { await task.value }
        await withTaskGroup(of: Void.self) { group in
            for member in members.withLock({ Array($0.values) }) { group.addTask { await member.stop() } }
        }
        await door.stop()
        await folder.close()
    }
}
