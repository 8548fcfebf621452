import RelayCluster
internal import RelayCore
import RelayIO
import RelaySystem
import RelayWire

// What an operator asks of a node of a directory.

@available(macOS 15, iOS 18, *)
extension DirectoryRelay {
    /// How long an operator waits until what was asked has come about: whoever asks on a control socket waits 12 s.
    private static let patience = Duration.seconds(8)

    /// What `boardrelay space ls` shows.
    private func report() -> SpacesReport {
        let (members, told, failed) = (members.withLock { $0 }, directory.told(), failed.withLock { $0 })
        return SpacesReport(
            address: door.address,
            Set(members.keys).union(told.spaces).map { space in
                let member = members[space], owner = member?.owner
                let servedAt = servedAt(space, told), node = member?.node
                let isServed = owner != nil || told.owners[space] != nil || !told.isComplete
                return .init(
                    space, owner?.engine.censusNow(), servedAt: owner == nil ? servedAt : nil,
                    problem: failed[space] ?? node?.report().stopped ?? node?.hindrance ?? (isServed ? nil : "no node serves it now"))
            })
    }

    func answers(_ options: WhiteboardRelay.Options) -> ControlAnswers {
        let ofDoor = door.control.answer
        return ControlAnswers(
            answer: { @Sendable [weak self] request in
                guard let self else { return nil }
                switch request {
                case .about, .status, .usage: return ofDoor(request)
                case .reload: return options.reload()
                case .spaces: return report()
                case .addSpace(let text):
                    return inTurn { relay throws(RelayServerError) in try await relay.add(try SharedRelay.name(text)) }
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

    /// This node owns the space before the directory tells others of it. So the log begins with this node's folder.
    private func add(_ space: SpaceName) async throws(RelayServerError) {
        let told = directory.told()
        guard !told.spaces.contains(space) else { throw RelayServerError(text: "space \(space) is there already") }
        guard told.isComplete else { throw RelayServerError(text: "the directory cannot be read now: its log says why") }
        guard told.spaces.count < SpaceDirectory.spacesMax else {
            throw RelayServerError(text: "the directory has \(SpaceDirectory.spacesMax) spaces, and may have no more")
        }
        let owned = members.withLock { $0.values.count { $0.owner != nil } }
        guard owned < spacesMax else {
            throw RelayServerError(
                text: "this node owns \(owned) spaces, and may own no more (max-spaces): add space \(space) at another node")
        }
        let result = Mutex<Result<Void, RelayServerError>>(.failure(RelayServerError(text: "the relay is ending")))
        await then(space) { relay in
            do throws(RelayServerError) {
                try await relay.addNow(space)
                result.withLock { $0 = .success(()) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }.value
        try result.withLock { $0 }.get()
        door.engine.auditNow("operator added space \(space)")
    }

    private func addNow(_ space: SpaceName) async throws(RelayServerError) {
        guard members.withLock({ $0[space] == nil }) else { throw RelayServerError(text: "space \(space) is there already") }
        let isNew = try make(space), id = String(SystemEntropy.word(), radix: 36)
        if try self.id(of: space) != nil {
            throw RelayServerError(
                text: "\(folderOf(space)) is of an earlier space of this name: remove it, or its file 'id' if the data is wanted")
        }
        do throws(RelayServerError) {
            let member = try await open(space, id, leavesLog: true, isNew: true)
            guard await Self.holds({ member.owner != nil }) else {
                throw RelayServerError(
                    text: "this node does not come to own space \(space): the servers of NATS do not answer, or its log has more to say")
            }
        } catch {
            await undo(space, id, isNew: isNew)
            throw error
        }
        switch await directory.add(space, id: id) {
        case .done: return
        case .refused(let text):
            await undo(space, id, isNew: isNew)
            throw RelayServerError(text: text)
        case .unknown:
            throw RelayServerError(text: "no answer came: 'boardrelay space ls' at another relay tells whether space \(space) was added")
        }
    }

    /// The space was not added. Somebody else may have added one of that name.
    private func undo(_ space: SpaceName, _ id: String, isNew: Bool) async {
        await close(space)
        if isNew { try? remove(space) } else { try? keep(nil, of: space) }
        try? await directory.removeLog(of: space, id: id)
        await directory.followIfThere(space)
    }

    /// Ends a space at all nodes, and removes its log when none of them follows it, or some are too slow.
    private func removeSpace(_ space: SpaceName) async throws(RelayServerError) {
        let id = try await directory.remove(space)
        _ = await Self.holds { [directory, members] in
            let isHere = members.withLock { $0[space] != nil }, isUsed = await directory.isUsed(space)
            return !isHere && !isUsed && !directory.told().spaces.contains(space)
        }
        try await directory.removeLog(of: space, id: id)
        door.engine.auditNow("operator removed space \(space), with all that it has kept")
    }

    /// Another node says that it owns the space when this returns.
    private func drain(_ space: SpaceName) async throws(RelayServerError) {
        guard let member = members.withLock({ $0[space] }), member.owner != nil else {
            let told = directory.told()
            guard told.spaces.contains(space) else { throw RelayServerError(text: "the directory has no space \(space)") }
            throw RelayServerError(
                text: "this node does not own space \(space)" + (servedAt(space, told).map { ": it is served at \($0)" } ?? ""))
        }
        try await directory.drain(space)
        await member.node.beginToResign()
        let isOwned = await Self.holds { [directory] in
            member.owner == nil && (member.whereabouts != .unknown || directory.told().owners[space] != nil)
        }
        guard isOwned else { throw RelayServerError(text: "space \(space) was given away, and no other node says that it owns it") }
        door.engine.auditNow("operator moved space \(space) to another node")
    }

    private static func holds(_ condition: () async -> Bool) async -> Bool {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            if await condition() { return true }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return await condition()
    }
}
