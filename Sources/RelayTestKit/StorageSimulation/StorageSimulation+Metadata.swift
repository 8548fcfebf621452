internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// Requests about metadata, and what they must lead to.

extension StorageSimulation {
    private func model(_ set: String) -> MetadataModel { applied.sets[set] ?? MetadataModel() }

    func write(_ user: StorageUser, _ client: TestClient) {
        let set = Self.sets.randomElement(using: &random)!
        let before = model(set), shown = durable.sets[set] ?? MetadataModel()
        let keys = Self.keys.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
        var revisions: [String: UInt64] = [:]
        for key in keys where random.chance(1, in: 2) {
            // What was shown, or what is accepted meanwhile, or nonsense.
            revisions[key] = [shown.items[key]?.revision ?? 0, before.items[key]?.revision ?? 0, 99_999].randomElement(using: &random)!
        }
        let major = random.chance(1, in: 4) ? [shown.majorRevision, before.majorRevision].randomElement(using: &random) : nil
        let mustExist = random.chance(1, in: 5)
        let lock = !set.hasPrefix("user:") && random.chance(1, in: 4) ? ["pen", "brush"].randomElement(using: &random) : nil
        let record = random.chance(1, in: 2)
        let values = keys.map { (key: $0, value: "\(place) é " + String(repeating: "x", count: Int.random(in: 0...40, using: &random))) }

        var problems = lockProblems(lock, set, user)
        if revisions.contains(where: { (before.items[$0.key]?.revision ?? 0) != $0.value }) { problems.insert(.revisionMismatch) }
        if let major, major != before.majorRevision { problems.insert(.revisionMismatch) }
        if mustExist, keys.contains(where: { before.items[$0] == nil }) { problems.insert(.itemNotFound) }
        if written(values, into: before, nil, nil).byteCount > Limits.metadataBytesMax { problems.insert(.tooLarge) }
        let id = client.sendSet(
            set, values, revisions: revisions, majorRevision: major, lock: lock, record: record, update: mustExist)
        guard !isRefused(user, id, problems) else { return }
        acceptWrite(user, client, id, set, values, record: record)
    }

    private func lockProblems(_ lock: String?, _ set: String, _ user: StorageUser) -> Set<ErrorCode> {
        guard let lock else { return [] }
        guard let state = applied.locks["\(set)/\(lock)"] else { return [.lockNotFound] }
        return state.owner == user.name ? [] : [.lockNotHeld]
    }

    private func written(_ values: [(key: String, value: String)], into before: MetadataModel, _ author: String?, _ time: UInt64?)
        -> MetadataModel
    {
        var after = before
        after.majorRevision += 1
        for (key, value) in values { after.items[key] = ItemModel(value: value, revision: after.majorRevision, author: author, time: time) }
        return after
    }

    private func acceptWrite(
        _ user: StorageUser, _ client: TestClient, _ id: UInt32, _ set: String, _ values: [(key: String, value: String)],
        record: Bool = false
    ) {
        let after = written(values, into: model(set), record ? user.user : nil, record ? driver.now.wallMilliseconds : nil)
        let changed = after.items.filter { item in values.contains { $0.key == item.key } }
        accept(
            Asker(user: user, client: client, id: id, answer: .majorRevision(after.majorRevision)),
            .metadata(set, isSnapshot: false, majorRevision: after.majorRevision, items: changed)
        ) { $0.sets[set] = after }
    }

    func remove(_ user: StorageUser, _ client: TestClient) {
        let set = Self.sets.randomElement(using: &random)!
        let before = model(set)
        let keys: [String]? = random.chance(1, in: 3) ? nil : [Self.keys.randomElement(using: &random)!]
        let removed = Set(keys ?? Array(before.items.keys))
        let id = client.nextRequest()
        driver.send(
            .json(.removeMetadata, RemoveMetadataRequest(id: id, TestClient.owner(set), items: keys?.map { .init(key: try! Name($0)) })),
            from: client.id)
        var asker = Asker(user: user, client: client, id: id, answer: .majorRevision(before.majorRevision))
        guard !removed.isEmpty else { return answerInOrder(asker) }
        let isThere = removed.allSatisfy { before.items[$0] != nil }
        guard !isRefused(user, id, isThere ? [] : [.itemNotFound]) else { return }
        asker.answer = .majorRevision(before.majorRevision + 1)
        accept(asker, .metadata(set, isSnapshot: false, majorRevision: before.majorRevision + 1, items: [:], removed: removed)) { model in
            model.sets[set]!.majorRevision += 1
            for key in removed { model.sets[set]!.items[key] = nil }
        }
    }

    /// A set that becomes exactly full, or would be full by one byte too much. [MD4]
    func fill(_ user: StorageUser, _ client: TestClient) {
        let set = Self.sets.randomElement(using: &random)!, key = Self.keys.randomElement(using: &random)!
        var others = model(set)
        others.items[key] = nil
        let room = Limits.metadataBytesMax - others.byteCount - key.utf8.count
        guard room >= 2 else { return }
        let isOver = random.chance(1, in: 2)
        // Bytes count, not characters.
        let values = [(key: key, value: "é" + String(repeating: "y", count: room - 2 + (isOver ? 1 : 0)))]
        let id = client.sendSet(set, values)
        guard !isOver else {
            done.tooLarge += 1
            _ = isRefused(
                user, id, [.tooLarge], limit: isReadOnly ? nil : Limits.metadataBytesMax,
                actual: isReadOnly ? nil : Limits.metadataBytesMax + 1)
            return
        }
        guard !isRefused(user, id, []) else { return }
        done.full += 1
        acceptWrite(user, client, id, set, values)
    }

    /// Pages show what is durable, too.
    func ask(_ client: TestClient) throws {
        let set = Self.sets.randomElement(using: &random)!, channel = Self.channels.randomElement(using: &random)!
        let picture = client.metadata(set), model = durable.sets[set] ?? MetadataModel()
        guard let picture, picture.majorRevision == model.majorRevision, picture.values == model.items.mapValues(\.value),
            picture.revisions == model.items.mapValues(\.revision)
        else { throw BrokenPromise("[SG1] a page shows \(set) at \(picture?.majorRevision ?? 0), durable is \(model)") }
        let bytes = picture.values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= Limits.metadataBytesMax else { throw BrokenPromise("[MD4] a page of \(set) shows \(bytes) bytes") }
        try match(shown(client.locks(channel)), durable.locks(of: channel), "getLocks of \(channel)")
    }
}
