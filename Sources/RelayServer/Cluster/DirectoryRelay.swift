import RelayCluster
internal import RelayCore
import RelayIO
import RelayWire

/// One node of a directory: it follows each space that the directory has, and serves those that it owns, behind one port.
///
/// The port is a door's, as with `SharedRelay`. It hands a connection to the space that its login names, or says where another node serves
/// that. Calls are safe from anywhere.
@available(macOS 15, iOS 18, *)
package final class DirectoryRelay: Sendable {
    package let door: WhiteboardRelay
    private let directory: DirectoryNode
    private let members = Mutex<[SpaceName: SpaceMember]>([:])
    /// Spaces that this node cannot even follow, and why.
    private let failed = Mutex<[SpaceName: String]>([:])
    private let controls = Mutex<[ControlServer]>([])
    private let duties = Mutex<Task<Void, Never>?>(nil)
    private let doorOptions: Mutex<WhiteboardRelay.Options>
    private let optionsOf: Mutex<SharedRelay.SpaceOptions>
    private let make: SharedRelay.Making
    private let remove: SharedRelay.Removing
    private let log: SpaceLogOptions
    private let spacesMax: Int
    private let place: RelayPlace
    private let folder: SharedFolder
    private let turns = OperatorTurns()

    /// A space that a node owns takes a thread.
    package static let ownedMax = SharedRelay.spacesMax
    /// One whose folder could not be had is tried again after so long.
    private static let retry = Duration.seconds(10)
    /// How long a node that begins a space may take to own it, and one that gives it away until another one does.
    private static let patience = Duration.seconds(8)

    private init(
        _ door: WhiteboardRelay, _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions, spacesMax: Int,
        _ optionsOf: @escaping SharedRelay.SpaceOptions, _ make: @escaping SharedRelay.Making, _ remove: @escaping SharedRelay.Removing,
        _ place: RelayPlace, _ folder: SharedFolder
    ) {
        (self.door, self.log, self.spacesMax, self.place, self.folder) = (door, log, spacesMax, place, folder)
        (self.make, self.remove) = (make, remove)
        (doorOptions, self.optionsOf) = (Mutex(options), Mutex(optionsOf))
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
    ///   - make: called for one that is followed; says whether there was nothing of it.
    ///   - remove: called for one that was removed.
    package static func start(
        _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions, in folder: String, spacesMax: Int,
        spaces: @Sendable () throws(RelayServerError) -> (names: [SpaceName], others: [String]),
        optionsOf: @escaping SharedRelay.SpaceOptions, make: @escaping SharedRelay.Making, remove: @escaping SharedRelay.Removing
    ) async throws(RelayServerError) -> DirectoryRelay {
        let (shared, place) = (SharedFolder(), RelayPlace())
        try await shared.lock(folder, options.waitsForFolder)
        do throws(RelayServerError) {
            let (names, others) = try spaces()
            for other in others { options.log(LogLine(.warning, "\(other) is no space, and is left alone")) }
            // What cannot be used is told before anything is served.
            _ = try optionsOf(try SharedRelay.name(names.first?.text ?? "main"), spacesMax)
            let part = RelayPart.door(to: [], elsewhere: [:])
            let door = try await WhiteboardRelay.start(ofDoor(options, spacesMax), permit: { _ in }, as: part)
            place.opens(at: door.address)
            let relay = DirectoryRelay(door, options, log, spacesMax: spacesMax, optionsOf, make, remove, place, shared)
            do {
                let controls = try WhiteboardRelay.controls(options, door.address, relay.answers(options))
                relay.controls.withLock { $0 = controls }
            } catch {
                await door.stop()
                throw RelayServerError(text: "\(error)")
            }
            await relay.begin(left: names)
            return relay
        } catch {
            await shared.close()
            throw error
        }
    }

    private func begin(left: [SpaceName]) async {
        let duties = directory.duties
        self.duties.withLock { $0 = Task { [weak self] in for await duty in duties { await self?.carryOut(duty) } } }
        await directory.begin { [weak self] in
            var (owns, ready): (Set<SpaceName>, Set<SpaceName>) = ([], [])
            for (space, member) in self?.members.withLock({ $0 }) ?? [:] {
                let report = member.node.report()
                switch report.role {
                case "owner", "alone", "takingOver": owns.insert(space)
                case "standby" where report.stopped == nil && report.storedPosition == report.position && report.log != nil:
                    ready.insert(space)
                default: break
                }
            }
            return (owns, ready)
        }
        // A folder that the directory does not know is kept: somebody may have restored it.
        if !left.isEmpty {
            Task { [weak self] in
                try? await Task.sleep(for: Self.retry)
                guard let self else { return }
                let known = Set(directory.told().spaces)
                for space in left where !known.contains(space) && members.withLock({ $0[space] == nil }) {
                    say(.warning, "space \(space) has a folder, and is not in the directory: 'boardrelay space add \(space)' puts it there")
                }
            }
        }
    }

    // MARK: - What the directory tells

    private func carryOut(_ duty: DirectoryNode.Duty) async {
        switch duty {
        case .follow(let space): await follow(space)
        case .erase(let space): await erase(space)
        case .hesitate(let space, let hesitation): await members.withLock { $0[space] }?.node.hesitate(hesitation)
        case .giveAway(let space):
            guard let member = members.withLock({ $0[space] }) else { return }
            say(.info, "space \(space) goes to another node, which owns fewer")
            Task { await member.node.resign() }
        case .changed: await lead()
        }
    }

    private func follow(_ space: SpaceName) async {
        guard members.withLock({ $0[space] == nil }) else { return }
        do throws(RelayServerError) {
            _ = try make(space)
            try await open(space)
        } catch {
            let isNew = failed.withLock { $0.updateValue(error.text, forKey: space) != error.text }
            if isNew { say(.error, "space \(space) cannot be followed: \(error)") }
            Task { [weak self] in
                try? await Task.sleep(for: Self.retry)
                guard let self, directory.told().spaces.contains(space) else { return }
                await follow(space)
            }
        }
    }

    @discardableResult
    private func open(_ space: SpaceName) async throws(RelayServerError) -> SpaceMember {
        var own = log
        own.space = space.text
        let member = try await SpaceMember.open(try options(of: space), own, behind: place)
        members.withLock { $0[space] = member }
        failed.withLock { $0[space] = nil }
        await tellNodes()
        await member.begin { [weak self] in
            await self?.lead()
            self?.directory.look()
        }
        return member
    }

    private func close(_ space: SpaceName) async {
        guard let member = members.withLock({ $0.removeValue(forKey: space) }) else { return }
        await member.stop()
        await tellNodes()
        await lead()
    }

    private func erase(_ space: SpaceName) async {
        failed.withLock { $0[space] = nil }
        await close(space)
        do throws(RelayServerError) {
            try remove(space)
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
            guard let self else { return ([:], [], [:]) }
            var (engines, elsewhere): ([String: Engine], [String: Whereabouts]) = ([:], [:])
            let (members, told) = (members.withLock { $0 }, directory.told())
            for (space, member) in members {
                if let owner = member.owner { engines[space.text] = owner.engine } else { elsewhere[space.text] = member.whereabouts }
            }
            for space in told.spaces where engines[space.text] == nil && (elsewhere[space.text] ?? .unknown) == .unknown {
                elsewhere[space.text] = LoggedAddress.whereabouts(of: told.owners[space].flatMap { $0 }, own: log.address)
            }
            return (engines, [], elsewhere)
        }
    }

    private func say(_ level: LogLine.Level, _ text: String) { doorOptions.withLock { $0.log }(LogLine(level, text)) }

    // MARK: - Settings, and the end

    /// It keeps nothing, and lets nobody in.
    private static func ofDoor(_ options: WhiteboardRelay.Options, _ spacesMax: Int) -> WhiteboardRelay.Options {
        SharedRelay.ofDoor(options, spacesMax)
    }

    private func options(of space: SpaceName) throws(RelayServerError) -> WhiteboardRelay.Options {
        try SharedRelay.options(of: space, spacesMax, door.tls, optionsOf.withLock { $0 }, doorOptions.withLock { $0 })
    }

    /// Lets other options hold: those of the door, and of each space. Waits for the engines.
    ///
    /// - Throws: what cannot be used, and of which space; then nothing has changed.
    package func apply(_ options: WhiteboardRelay.Options, optionsOf: @escaping SharedRelay.SpaceOptions) throws(RelayServerError) {
        let members = members.withLock { $0.sorted { $0.key < $1.key } }
        for (space, _) in members {
            do throws(RelayServerError) { _ = try optionsOf(space, spacesMax) } catch {
                throw RelayServerError(text: "space \(space): \(error)")
            }
        }
        try door.apply(Self.ofDoor(options, spacesMax))
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

    /// The relay of a space that this node owns.
    package subscript(space: SpaceName) -> WhiteboardRelay? { members.withLock { $0[space] }?.owner }

    /// Those that this node follows or owns, in order of name.
    package var names: [SpaceName] { members.withLock { $0.keys.sorted() } }

    package func announced(as name: String?) {
        door.announced(as: name)
        for member in members.withLock({ Array($0.values) }) { member.owner?.announced(as: name) }
    }

    /// Gives each space to another node first, then ends.
    package func stop() async {
        for control in controls.withLock({ $0 }) { control.close() }
        await directory.end()
        await duties.withLock { $0 }?.value
        await withTaskGroup(of: Void.self) { group in
            for member in members.withLock({ Array($0.values) }) { group.addTask { await member.stop() } }
        }
        await door.stop()
        await folder.close()
    }

    // MARK: - The operator

    /// What `boardrelay space ls` shows.
    private func report() -> SpacesReport {
        let (members, told, failed) = (members.withLock { $0 }, directory.told(), failed.withLock { $0 })
        return SpacesReport(
            address: door.address,
            Set(members.keys).union(told.spaces).map { space in
                let member = members[space], owner = member?.owner
                var servedAt = told.owners[space].flatMap { $0 }
                if case .at(let address)? = member?.whereabouts { servedAt = address }
                let isServed = owner != nil || told.owners[space] != nil || servedAt != nil
                return .init(
                    space, owner?.engine.censusNow(), servedAt: owner == nil ? servedAt : nil,
                    problem: failed[space] ?? member?.node.hindrance ?? (isServed ? nil : "no node serves it now"))
            })
    }

    private func answers(_ options: WhiteboardRelay.Options) -> ControlAnswers {
        let ofDoor = door.control.answer
        return ControlAnswers(
            answer: { @Sendable [weak self] request in
                guard let self else { return nil }
                switch request {
                case .about, .status, .usage: return ofDoor(request)
                case .reload: return options.reload()
                case .spaces: return report()
                case .addSpace(let text): return inTurn { relay throws(RelayServerError) in try await relay.add(try SharedRelay.name(text)) }
                case .removeSpace(let text):
                    return inTurn { relay throws(RelayServerError) in try await relay.removeSpace(try SharedRelay.name(text)) }
                case .drainSpace(let text):
                    return inTurn { relay throws(RelayServerError) in try await relay.drain(try SharedRelay.name(text)) }
                case .keys, .rotate, .backup: return ControlRefusal(SharedRelay.whichSpace)
                }
            },
            backup: { @Sendable send in Backup.refuse(SharedRelay.whichSpace, by: send) },
            space: { @Sendable [weak self] text in
                guard let name = try? SpaceName(text), let member = self?.members.withLock({ $0[name] }) else { return nil }
                return member.answers { ofDoor(.status) as? Status }
            })
    }

    private func inTurn(_ body: @escaping @Sendable (DirectoryRelay) async throws(RelayServerError) -> Void) -> any JSONObject {
        turns.wait { () throws(RelayServerError) in try await body(self) }.map { ControlRefusal($0.text) } ?? report()
    }

    /// This node owns the space before the directory tells others of it: what its folder has, the log has then.
    package func add(_ space: SpaceName) async throws(RelayServerError) {
        let told = directory.told()
        guard !told.spaces.contains(space) else { throw RelayServerError(text: "space \(space) is there already") }
        guard told.spaces.count < SpaceDirectory.spacesMax else {
            throw RelayServerError(text: "the directory has \(SpaceDirectory.spacesMax) spaces, and may have no more")
        }
        let owned = members.withLock { $0.values.count { $0.owner != nil } }
        guard owned < spacesMax else {
            throw RelayServerError(
                text: "this node owns \(owned) spaces, and may own no more (max-spaces): add space \(space) at another node")
        }
        let isNew = try make(space)
        do throws(RelayServerError) {
            let member = try await open(space)
            guard await Self.holds({ member.owner != nil }) else {
                throw RelayServerError(
                    text: "this node does not come to own space \(space): the log cannot be reached, or another node has it")
            }
            try await directory.write(space, isRemoved: false)
        } catch {
            await close(space)
            if isNew { try? remove(space) }
            throw error
        }
        door.engine.auditNow("operator added space \(space)")
    }

    package func removeSpace(_ space: SpaceName) async throws(RelayServerError) {
        guard directory.told().spaces.contains(space) else { throw RelayServerError(text: "the directory has no space \(space)") }
        try await directory.write(space, isRemoved: true)
        // Each node hears it, and removes its folder; then nobody asks for the log any more.
        guard await Self.holds({ self.members.withLock { $0[space] == nil } && !self.directory.told().spaces.contains(space) }) else {
            throw RelayServerError(text: "space \(space) is removed from the directory, and this node has not left it yet: its log is left")
        }
        try await directory.removeLog(of: space)
        door.engine.auditNow("operator removed space \(space), with all that it has kept")
    }

    /// Another node owns the space when this returns.
    package func drain(_ space: SpaceName) async throws(RelayServerError) {
        guard let member = members.withLock({ $0[space] }), member.owner != nil else {
            throw RelayServerError(text: "this node does not own space \(space)")
        }
        try await directory.drain(space)
        await member.node.resign()
        guard await Self.holds({ member.owner == nil && member.whereabouts != .unknown || self.directory.told().owners[space] != nil }) else {
            throw RelayServerError(text: "space \(space) was given away, and no other node says that it owns it")
        }
        door.engine.auditNow("operator moved space \(space) to another node")
    }

    private static func holds(_ condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            if condition() { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return condition()
    }
}
