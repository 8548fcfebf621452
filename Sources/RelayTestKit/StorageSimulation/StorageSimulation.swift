internal import RelayCore
internal import RelayJournal
internal import RelayWire

/// A hub on a disk that is slow, fails and comes back, with users who write the same metadata and want the same locks,
/// and a relay that dies and is started again from what was durable. A model beside it decides independently what each
/// change must lead to, and what may be seen.
package final class StorageSimulation {
    package let seed: UInt64
    private var random: SeededGenerator
    private var driver: HubDriver
    private var users: [StorageUser] = []
    private var start: UInt32 = 1_000
    /// With every change that was accepted.
    private var applied = StorageModel()
    /// What is durable: all that anybody may see.
    private var durable = StorageModel()
    /// Accepted and not durable, oldest first.
    private var waiting: [StorageModel] = []
    private var isReadOnly = false
    private var lastFencing: UInt64 = 0
    private var steps = 0
    package private(set) var done = Tally()

    /// What has happened, to see that a run was worth something.
    package struct Tally: Sendable, Equatable {
        package var changes = 0
        package var refusals = 0
        package var undone = 0
        package var acquisitions = 0
        package var failures = 0
        package var restarts = 0
        package init() {}

        package static func += (left: inout Tally, right: Tally) {
            left.changes += right.changes
            left.refusals += right.refusals
            left.undone += right.undone
            left.acquisitions += right.acquisitions
            left.failures += right.failures
            left.restarts += right.restarts
        }
    }

    package init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.metadataCallsPerSecond = 1_000_000
        configuration.metadataCallsBurst = 1_000_000
        configuration.limits.requestsPerSecond = 1_000_000
        configuration.requestsBurst = 1_000_000
        driver = HubDriver(configuration: configuration, start: start)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        logIn()
    }

    private func logIn() {
        users = (0..<4).map { StorageUser(TestClient(driver, "user-\($0)", presenceTimeoutMs: 300_000)) }
        for user in users { user.client.subscribe("lesson", features: ["metadata", "locks"]) }
        readAll()
    }

    /// - Throws: the first broken promise, with the command that replays it.
    package func run(steps count: Int) throws {
        do {
            while steps < count {
                steps += 1
                try step()
                readAll()
                try check()
            }
        } catch let broken as BrokenPromise {
            throw BrokenPromise(
                "seed \(seed), step \(steps): \(broken.description)\nreplay: BOARDRELAY_STORAGE_SEED=\(seed) swift test --filter SimulationTests")
        }
    }

    // MARK: - Steps

    private func step() throws {
        let user = users[Int.random(in: 0..<users.count, using: &random)]
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<14: try write(user)
        case 14..<18: try remove(user)
        case 18..<26: try lock(user)
        case 26..<35: persist(Int.random(in: 1...4, using: &random))
        case 35..<37: persist(.max)
        case 37: fail()
        case 38:
            if isReadOnly {
                driver.handle(.storageRecovered)
                isReadOnly = false
            }
        default: if random.chance(1, in: 3) { restart() }
        }
    }

    private func write(_ user: StorageUser) throws {
        let keys = ["a", "b", "c"].shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
        var revisions: [String: UInt64] = [:]
        for key in keys where random.chance(1, in: 2) {
            // What the user was shown, or what is accepted meanwhile, or nonsense.
            revisions[key] = [user.picture.revisions[key] ?? 0, applied.revisions[key] ?? 0, 99].randomElement(using: &random)!
        }
        let major = random.chance(1, in: 4) ? [user.picture.majorRevision, applied.majorRevision].randomElement(using: &random) : nil
        let mustExist = random.chance(1, in: 5)
        let lock = random.chance(1, in: 4) ? "pen" : nil
        let values = keys.map { (key: $0, value: "\(steps) " + String(repeating: "x", count: Int.random(in: 0...40, using: &random))) }

        var next = applied
        let holds = revisions.allSatisfy { (applied.revisions[$0.key] ?? 0) == $0.value } && (major == nil || major == applied.majorRevision)
            && (lock == nil || applied.owner == user.client.user) && (!mustExist || keys.allSatisfy { applied.values[$0] != nil })
        next.majorRevision += 1
        for (key, value) in values { (next.values[key], next.revisions[key]) = (value, next.majorRevision) }
        try submit(user, holds ? next : nil) {
            user.client.sendSet("lesson", values, revisions: revisions, majorRevision: major, lock: lock, update: mustExist)
        }
    }

    private func remove(_ user: StorageUser) throws {
        let keys: [String]? = random.chance(1, in: 4) ? nil : [["a", "b", "c"].randomElement(using: &random)!]
        let removed = keys ?? applied.values.keys.sorted()
        var next = applied
        next.majorRevision += 1
        for key in removed { (next.values[key], next.revisions[key]) = (nil, nil) }
        if keys == nil, removed.isEmpty { return }
        let holds = removed.allSatisfy { applied.values[$0] != nil }
        try submit(user, holds ? next : nil) {
            let id = user.client.nextRequest()
            driver.send(
                .json(.removeMetadata, RemoveMetadataRequest(
                    id: id, TestClient.owner("lesson"), items: keys?.map { .init(key: try! Name($0)) })), from: user.client.id)
            return id
        }
    }

    private func lock(_ user: StorageUser) throws {
        let name = user.client.user
        var next = applied
        func send(_ type: FrameType, owner: String? = nil) -> UInt32 {
            let id = user.client.nextRequest()
            driver.send(
                .json(type, LockRequest(
                    id: id, kind: .message, channel: try! Name("lesson"), lock: try! Name("pen"), owner: owner.map { try! Name($0) })),
                from: user.client.id)
            return id
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            guard !applied.isLockThere else { return }
            next.isLockThere = true
            try submit(user, next) {
                let id = user.client.nextRequest()
                driver.send(
                    .json(.setLock, SetLockRequest(id: id, kind: .message, channel: try! Name("lesson"), lock: try! Name("pen"), ttlMs: 300_000)),
                    from: user.client.id)
                return id
            }
        case 1...2:
            next.owner = name
            let holds = applied.isLockThere && (applied.owner == nil || applied.owner == name)
            try submit(user, holds ? next : nil, isAcquisition: true) { user.client.sendAcquire("lesson", "pen") }
        case 3:
            next.owner = nil
            try submit(user, applied.owner == name ? next : nil) { send(.releaseLock) }
        case 4:
            let other = users.randomElement(using: &random)!.client.user
            next.owner = nil
            try submit(user, applied.owner == other ? next : nil) { send(.revokeLock, owner: other) }
        default:
            guard random.chance(1, in: 4) else { return }
            next.isLockThere = false
            next.owner = nil
            try submit(user, applied.isLockThere ? next : nil) { send(.removeLock) }
        }
    }

    /// Sends a change that the model expects to lead to `next`, or to be refused.
    private func submit(_ user: StorageUser, _ next: StorageModel?, isAcquisition: Bool = false, _ send: () -> UInt32) throws {
        let before = driver.unpersisted.count
        let id = send()
        let isAccepted = driver.unpersisted.count > before
        guard isAccepted == (next != nil && !isReadOnly) else {
            throw BrokenPromise("[MD5, LK3, SG2] \(user.client.user)'s change is \(isAccepted ? "accepted" : "refused") against the model \(applied)")
        }
        user.asked[id] = .init(isAccepted: isAccepted, isAcquisition: isAcquisition, place: waitingBase + waiting.count)
        guard isAccepted, let next else {
            done.refusals += 1
            return
        }
        done.changes += 1
        applied = next
        waiting.append(next)
    }

    /// Changes that have left `waiting`.
    private var waitingBase = 0
    private var undoneFrom: [ClosedRange<Int>] = []

    private func persist(_ count: Int) {
        // The start number is a record without a change of the model.
        while let first = driver.unpersisted.first, first.entries.allSatisfy({ $0.key.first == UInt8(ascii: "S") }) { driver.persist(1) }
        let count = min(count, waiting.count)
        guard count > 0 else { return }
        driver.persist(count)
        durable = waiting[count - 1]
        waiting.removeFirst(count)
        waitingBase += count
    }

    private func fail() {
        guard !isReadOnly else { return }
        done.failures += 1
        done.undone += waiting.count
        if !waiting.isEmpty { undoneFrom.append(waitingBase...(waitingBase + waiting.count - 1)) }
        waitingBase += waiting.count
        waiting = []
        applied = durable
        isReadOnly = true
        driver.failStorage()
    }

    private func restart() {
        done.restarts += 1
        start += 1
        waitingBase += waiting.count
        waiting = []
        applied = durable
        isReadOnly = false
        driver = driver.restarted(start: start)
        logIn()
    }

    // MARK: - What is seen

    private func readAll() {
        for user in users { user.read() }
    }

    private func check() throws {
        for user in users {
            let picture = user.picture
            guard picture.values == durable.values, picture.revisions == durable.revisions, picture.majorRevision == durable.majorRevision else {
                throw BrokenPromise("[SG1] \(user.client.user) was shown \(picture), durable is \(durable)")
            }
            guard user.isLockThere == durable.isLockThere, user.owner == durable.owner else {
                throw BrokenPromise("[SG1] \(user.client.user) was shown owner \(user.owner ?? "-"), durable is \(durable)")
            }
        }
        // What became durable at once is judged in the order in which it was accepted, whoever asked.
        let outcomes = users.flatMap { user in user.outcomes.map { (user: user, id: $0.key, outcome: $0.value, place: user.asked[$0.key]?.place ?? 0) } }
        for (user, id, outcome, _) in outcomes.sorted(by: { ($0.place, $0.id) < ($1.place, $1.id) }) {
            user.outcomes[id] = nil
            try judge(user, id, outcome)
        }
        for (user, asked) in users.flatMap({ user in user.asked.map { (user, $0.value) } }) where !asked.isAccepted || asked.place < waitingBase {
            throw BrokenPromise("[SG1] \(user.client.user) was not answered about a change that is decided")
        }
    }

    private func judge(_ user: StorageUser, _ id: UInt32, _ outcome: StorageUser.Outcome) throws {
        guard let asked = user.asked.removeValue(forKey: id) else { return }
        let isUndone = undoneFrom.contains { $0.contains(asked.place) }
        switch outcome {
        case .refused(let code):
            guard !asked.isAccepted || (isUndone && code == .storageFailed) else {
                throw BrokenPromise("[SG1] an accepted change of \(user.client.user) was refused with \(code.name)")
            }
        case .answered(let fencing):
            guard asked.isAccepted, !isUndone, asked.place < waitingBase else {
                throw BrokenPromise("[SG1] a change of \(user.client.user) was answered before it was durable")
            }
            guard asked.isAcquisition else { return }
            done.acquisitions += 1
            guard let fencing, fencing > lastFencing else { throw BrokenPromise("[LK3] fencing \(fencing ?? 0) after \(lastFencing)") }
            lastFencing = fencing
        }
    }
}

/// One set of metadata and one lock, as they must be.
struct StorageModel: Equatable {
    var majorRevision: UInt64 = 0
    var values: [String: String] = [:]
    var revisions: [String: UInt64] = [:]
    var isLockThere = false
    var owner: String?
}

/// A user, and what the relay has told it.
final class StorageUser {
    struct Asked {
        var isAccepted: Bool
        var isAcquisition: Bool
        /// Of the change among all that were accepted.
        var place: Int
    }

    enum Outcome { case answered(fencing: UInt64?), refused(ErrorCode) }

    let client: TestClient
    var picture = MetadataPicture()
    var isLockThere = false
    var owner: String?
    var asked: [UInt32: Asked] = [:]
    var outcomes: [UInt32: Outcome] = [:]

    init(_ client: TestClient) { self.client = client }

    func read() {
        let frames = client.others + client.frames()
        client.others = []
        for frame in frames {
            switch FrameType(rawValue: frame.type) {
            case .metadata?:
                let (head, values) = TestClient.text(MetadataEventHead.self, frame)
                picture.take(head, values, isContinued: false)
            case .locks?:
                let event = TestClient.decode(LocksEvent.self, frame.body)
                isLockThere = event.event != .removed && !event.locks.isEmpty
                owner = isLockThere ? event.locks.first?.owner?.text : nil
            case .answer?:
                struct Answer: Decodable {
                    var id: UInt32
                    var fencing: UInt64?
                }
                let answer = TestClient.decode(Answer.self, frame.body)
                outcomes[answer.id] = .answered(fencing: answer.fencing)
            case .error?:
                let error = TestClient.decode(ErrorBody.self, frame.body)
                if let id = error.id { outcomes[id] = .refused(error.code) }
            default: break
            }
        }
    }
}
