internal import RelayCore
internal import RelayTesting
internal import RelayWire

// What is seen, held against what must be.

extension StorageSimulation {
    /// Everything that was to be shown has been, and nothing else.
    func check() throws {
        for user in users { try read(user) }
        let records = waiting.count { $0.isRecord }
        guard driver.unpersisted.count == records else {
            throw BrokenPromise("[MD5, LK3, LK4, LK5, SG2] \(driver.unpersisted.count) changes are accepted, \(records) are in the model")
        }
        try checkDecisions()
        let bytes = applied.sets.values.map(\.byteCount)
        let census = driver.hub.census()
        let items = applied.sets.values.reduce(0) { $0 + $1.items.count }
        guard census.metadataBytes == bytes.reduce(0, +) + items * Limits.metadataItemOverheadBytes,
            bytes.allSatisfy({ $0 <= Limits.metadataBytesMax })
        else {
            throw BrokenPromise("[MD4] the relay counts \(census.metadataBytes) bytes, the sets have \(bytes) in \(items) items")
        }
    }

    func read(_ user: StorageUser) throws {
        guard let client = user.client else { return }
        let frames = client.others + client.frames()
        client.others = []
        var pages: (head: MetadataEventHead, values: [[UInt8]])?
        for frame in frames {
            switch FrameType(rawValue: frame.type) {
            case .metadata?:
                let (head, values) = TestClient.text(MetadataEventHead.self, frame)
                // A large event comes in pieces. [MD7]
                var event = pages ?? (head, [])
                if pages != nil {
                    event.head.items += head.items
                    event.head.removed = (event.head.removed ?? []) + (head.removed ?? [])
                }
                event.values += values
                pages = head.more == true ? event : nil
                if head.more != true { try take(told(event.head, event.values), user) }
            case .locks?:
                let event = TestClient.decode(LocksEvent.self, frame.body)
                try takeLocks(event, user)
            case .answer?:
                try takeAnswer(frame, user)
            case .error?:
                try takeError(TestClient.decode(ErrorBody.self, frame.body), user)
            case .ping?, .pong?, .restored?, .topics?, .closing?: break
            default: throw BrokenPromise("\(user.name) got a frame of type \(frame.type)")
            }
        }
        guard user.expected.isEmpty else {
            throw BrokenPromise("[SG1, LK4, LK5] \(user.name) was not shown \(user.expected[0])")
        }
    }

    private func next(_ user: StorageUser, _ got: @autoclosure () -> String) throws -> Told {
        guard !user.expected.isEmpty else {
            throw BrokenPromise("[SG1] \(user.name) was shown what is not durable or did not happen: \(got())")
        }
        return user.expected.removeFirst()
    }

    private func take(_ got: Told, _ user: StorageUser) throws {
        let expected = try next(user, "\(got)")
        guard got == expected else { throw BrokenPromise("[MD7, SG1] \(user.name) was shown \(got) and not \(expected)") }
    }

    private func told(_ head: MetadataEventHead, _ values: [[UInt8]]) -> Told {
        let set = head.user.map { "user:\($0)" } ?? channel(head.channel ?? 0)
        var items: [String: ItemModel] = [:]
        for (item, value) in zip(head.items, values) {
            items[item.key.text] = ItemModel(
                value: String(decoding: value, as: UTF8.self), revision: item.revision, author: item.author?.text, time: item.time)
        }
        return .metadata(
            set, isSnapshot: head.event == .snapshot, majorRevision: head.majorRevision, items: items,
            removed: Set((head.removed ?? []).map(\.text)))
    }

    private func channel(_ handle: UInt32) -> String {
        Self.channels.first { driver.hub.handle(of: TestClient.channel($0)) == handle } ?? "handle \(handle)"
    }

    // MARK: - Locks

    func shown(_ locks: [LockDetail]) -> [String: LockDetail] { Dictionary(uniqueKeysWithValues: locks.map { ($0.lock, $0) }) }

    private func takeLocks(_ event: LocksEvent, _ user: StorageUser) throws {
        let expected = try next(user, "\(event)")
        let name = channel(event.channel)
        guard case .locks(let channel, let kind, let locks, let former) = expected, channel == name, kind == event.event,
            former == event.user.map({ StorageUser.name(of: $0.text, event.device) })
        else { throw BrokenPromise("[LK8, SG1] \(user.name) was shown \(event) of \(name) and not \(expected)") }
        try match(shown(event.locks), locks, "\(event.event.rawValue), shown to \(user.name)")
        for detail in event.locks {
            let lock = "\(channel)/\(detail.lock)", before = user.owners[lock]
            user.owners[lock] = event.event == .removed ? nil : detail.holder
            guard before == nil || detail.holder == nil || detail.holder == before else {
                throw BrokenPromise("[LK1] \(user.name) was shown \(lock) with \(detail.owner!) while \(before!) had it")
            }
        }
    }

    func match(_ got: [String: LockDetail], _ expected: [String: LockModel], _ what: String) throws {
        guard got.keys.sorted() == expected.keys.sorted() else {
            throw BrokenPromise("[LK8, SG1] \(what): locks \(got.keys.sorted()) and not \(expected.keys.sorted())")
        }
        for (name, lock) in expected {
            let same = got[name]!.ttl == .milliseconds(lock.ttlMs) && got[name]!.holder == lock.owner
            guard same, (got[name]!.fencing == nil) == (lock.owner == nil)
            else {
                throw BrokenPromise("[LK8, SG1] \(what): \(got[name]!) and not \(lock)")
            }
            if let fencing = got[name]!.fencing { try checkFencing(fencing, at: lock.grant) }
        }
    }

    /// The number of one acquisition is the same wherever it is shown, and in order with those of all others. [LK3]
    private func checkFencing(_ fencing: UInt64, at place: Int) throws {
        if let known = fencings[place] {
            guard known == fencing else { throw BrokenPromise("[LK3] one acquisition has fencing \(known) and \(fencing)") }
            return
        }
        if let other = fencings.first(where: { ($0.key < place) != ($0.value < fencing) }) {
            throw BrokenPromise("[LK3] acquisition \(place) has fencing \(fencing), acquisition \(other.key) has \(other.value)")
        }
        fencings[place] = fencing
    }

    // MARK: - Answers

    private struct AnyAnswer: JSONObject {
        var id: UInt32 = 0
        var fencing: UInt64?
        var majorRevision: UInt64?

        mutating func fields(_ json: inout JSONFields) {
            json("fencing", &fencing)
            json("id", &id)
            json("majorRevision", &majorRevision)
        }
    }

    private func takeAnswer(_ frame: Frame, _ user: StorageUser) throws {
        let got = TestClient.decode(AnyAnswer.self, frame.body)
        let expected = try next(user, "\(got)")
        guard case .answer(let id, let answer) = expected, id == got.id else {
            throw BrokenPromise("[SG1, LK4] \(user.name) was answered \(got) and not \(expected)")
        }
        switch answer {
        case .empty: break
        case .majorRevision(let revision):
            guard got.majorRevision == revision else { throw BrokenPromise("[MD3] \(user.name) was answered \(got) and not \(expected)") }
        case .fencing(let place):
            guard let fencing = got.fencing else { throw BrokenPromise("[LK3] \(user.name) was answered \(got)") }
            try checkFencing(fencing, at: place)
        }
    }

    private func takeError(_ got: ErrorBody, _ user: StorageUser) throws {
        let expected = try next(user, "\(got)")
        guard case .refused(let id, let codes, let limit, let actual) = expected, id == got.id, codes.contains(got.code),
            limit == nil || got.limit == limit.map(UInt64.init), actual == nil || got.actual == actual.map(UInt64.init)
        else { throw BrokenPromise("[MD4, MD5, MD6, LK4, SG2] \(user.name) was refused \(got.name), \(got.text), and not \(expected)") }
    }
}

extension LockDetail {
    /// As `StorageUser.name`.
    fileprivate var holder: String? { owner.map { StorageUser.name(of: $0, ownerDevice) } }
}
