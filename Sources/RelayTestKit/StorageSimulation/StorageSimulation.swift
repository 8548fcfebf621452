internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

/// A hub on a disk that is slow, fails and comes back, with users who write the same metadata, want and wait for the same
/// locks, break off and come again, and a relay that dies and is started again from what was durable. A model beside it
/// decides independently what each request must lead to; every frame that a user gets must be the one that it says, in
/// its order, and at its moment.
///
/// Like `Simulation`, everything follows from the seed.
package final class StorageSimulation {
    package let seed: UInt64
    var random: SplitMix64
    var moderationRandom: SplitMix64
    var driver: HubDriver
    let users: [StorageUser]
    /// With every change that was accepted.
    var applied = StorageModel()
    /// What is durable: all that anybody may see.
    var durable = StorageModel()
    /// Accepted and not durable, oldest first.
    var waiting: [AcceptedChange] = []
    /// Changes that were ever accepted, over restarts too.
    var place = 0
    var lines: [String: LockLine] = [:]
    var lastTimer = 0
    /// Fencing numbers that were shown, by the place of their acquisition.
    var fencings: [Int: UInt64] = [:]
    var isReadOnly = false
    private var start: UInt32 = 1_000
    private var weights: [Int] = []
    private(set) var steps = 0
    package internal(set) var done = Tally()
    /// Told what happens, line by line, when a seed is looked into.
    let trace: ((String) -> Void)?

    /// What has happened, to see that a run was worth something.
    package struct Tally: Sendable, Equatable {
        package var changes = 0
        package var refusals = 0
        package var undone = 0
        package var full = 0
        package var tooLarge = 0
        package var acquisitions = 0
        package var waits = 0
        package var waitsGranted = 0
        package var waitsOver = 0
        package var expiries = 0
        package var failures = 0
        package var restarts = 0
        package var resumptions = 0
        package var decisions = 0
        package init() {}

        /// What is worth nothing when it is 0.
        package var counts: [Int] {
            [
                changes, refusals, undone, full, tooLarge, acquisitions, waits, waitsGranted, waitsOver, expiries, failures, restarts,
                resumptions, decisions,
            ]
        }

        package static func += (left: inout Tally, right: Tally) {
            left.changes += right.changes
            left.refusals += right.refusals
            left.undone += right.undone
            left.full += right.full
            left.tooLarge += right.tooLarge
            left.acquisitions += right.acquisitions
            left.waits += right.waits
            left.waitsGranted += right.waitsGranted
            left.waitsOver += right.waitsOver
            left.expiries += right.expiries
            left.failures += right.failures
            left.restarts += right.restarts
            left.resumptions += right.resumptions
            left.decisions += right.decisions
        }
    }

    static let channels = ["lesson", "stream:lesson"]
    static let sets = channels + ["user:user-0"]
    static let locks = ["lesson/brush", "lesson/pen", "stream:lesson/pen"]
    static let keys = ["a", "b", "c"]

    package init(seed: UInt64, trace: ((String) -> Void)? = nil) {
        self.seed = seed
        self.trace = trace
        moderationRandom = SplitMix64(seed: ~seed)
        var random = SplitMix64(seed: seed)
        var configuration = Configuration()
        configuration.isJournaled = true
        // Rates are another matter.
        configuration.metadataCallsPerSecond = 1_000_000
        configuration.metadataCallsBurst = 1_000_000
        configuration.limits.requestsPerSecond = 1_000_000
        configuration.requestsBurst = 1_000_000
        // Some sessions end soon after their connection: their locks must not.
        users =
            (0..<4).map { StorageUser("user-\($0)", presenceTimeoutMs: $0 < 2 ? 5_000 : 300_000) }
            + [StorageUser("user-3", device: "b", presenceTimeoutMs: 300_000)]
        weights = Action.allCases.map { random.chance(1, in: 8) ? 0 : Int.random(in: 1...10, using: &random) * $0.usualWeight }
        // Without these nothing goes on. Some disks are slow, so that much is under way when they fail.
        for action in [Action.write, .setLock, .acquire, .logIn, .recover] {
            weights[Action.allCases.firstIndex(of: action)!] += 20
        }
        weights[Action.allCases.firstIndex(of: .persist)!] += 3
        self.random = random
        driver = HubDriver(configuration: configuration, start: start).restarted(start: start)
        waiting = [AcceptedChange(after: applied)]
        for user in users { logIn(user) }
    }

    /// - Throws: the first broken promise, with the command that replays it.
    package func run(steps count: Int) throws {
        do {
            while steps < count {
                steps += 1
                try step()
                maybeModerate()
                try check()
            }
        } catch let broken as BrokenPromise {
            throw BrokenPromise(
                "seed \(seed), step \(steps): \(broken.description)\nreplay: BOARDRELAY_STORAGE_SEED=\(seed) swift test --filter SimulationTests"
            )
        }
    }

    // MARK: - Steps

    enum Action: CaseIterable {
        case write, remove, fill, setLock, acquire, release, revoke, removeLock, ask
        case cut, logOut, logIn, pass, persist, persistAll, fail, recover, restart

        var usualWeight: Int {
            switch self {
            case .write: 14
            case .remove: 4
            case .fill, .revoke, .ask, .logOut, .fail, .restart: 1
            case .setLock, .removeLock, .cut: 3
            case .acquire: 14
            case .release: 5
            case .logIn, .recover: 5
            case .pass: 8
            case .persist: 12
            case .persistAll: 3
            }
        }
    }

    private func step() throws {
        var rest = Int.random(in: 0..<weights.reduce(0, +), using: &random)
        var action = Action.persist
        for (candidate, weight) in zip(Action.allCases, weights) {
            rest -= weight
            guard rest < 0 else { continue }
            action = candidate
            break
        }
        let user = who(action)
        trace?("\(steps) \(driver.now.instant.nanoseconds / 1_000_000) \(action) \(user.name)\(user.client == nil ? ", away" : "")")
        switch action {
        case .pass: try pass(.milliseconds(Int.random(in: 1...(random.chance(1, in: 4) ? 20_000 : 900), using: &random)))
        case .persist: persist(Int.random(in: 1...4, using: &random))
        case .persistAll: persist(.max)
        case .fail: fail()
        case .recover:
            driver.handle(.storageRecovered)
            isReadOnly = false
        case .restart: if random.chance(1, in: 3) { restart() }
        case .logIn: logIn(user)
        case .cut: cut(user)
        case .logOut: try logOut(user)
        case .write, .remove, .fill, .setLock, .acquire, .release, .revoke, .removeLock, .ask:
            guard let client = user.client else { return }
            switch action {
            case .write: write(user, client)
            case .remove: remove(user, client)
            case .fill: fill(user, client)
            case .ask: try ask(client)
            default: changeLock(action, user, client)
            }
        }
    }

    /// Those who are there ask; mostly those who are not come in.
    private func who(_ action: Action) -> StorageUser {
        let owners = users.filter { user in applied.locks.values.contains { $0.owner == user.name } }
        if action == .release, random.chance(1, in: 2), let owner = owners.randomElement(using: &random) { return owner }
        let isThere = action != .logIn || random.chance(1, in: 8)
        return users.filter { ($0.client != nil) == isThere }.randomElement(using: &random) ?? users.randomElement(using: &random)!
    }

    // MARK: - Changes

    /// A change is accepted: judged, not shown.
    func accept(
        _ asker: Asker?, _ told: Told?, lock: String? = nil, waiters: [Waiter] = [], _ change: (inout StorageModel) -> Void
    ) {
        place += 1
        done.changes += 1
        change(&applied)
        waiting.append(AcceptedChange(after: applied, told: told, asker: asker, lock: lock, waiters: waiters))
    }

    /// What changes nothing is answered behind what it rests on.
    func answerInOrder(_ asker: Asker) {
        guard !waiting.isEmpty else { return asker.user.expected.append(.answer(asker.id, asker.answer)) }
        waiting.append(AcceptedChange(after: applied, isRecord: false, asker: asker))
    }

    /// Whether a request is refused, for one of these reasons or because nothing can be stored.
    func isRefused(_ user: StorageUser, _ id: UInt32, _ problems: Set<ErrorCode>, limit: Int? = nil, actual: Int? = nil) -> Bool {
        let codes = isReadOnly ? problems.union([.storageFailed]) : problems
        guard !codes.isEmpty else { return false }
        refuse(Asker(user: user, client: user.client!, id: id), .refused(id, codes, limit: limit, actual: actual))
        return true
    }

    /// Behind the changes that it was judged by.
    func refuse(_ asker: Asker, _ refusal: Told) {
        done.refusals += 1
        guard !waiting.isEmpty else { return asker.user.expected.append(refusal) }
        waiting.append(AcceptedChange(after: applied, isRecord: false, asker: asker, refusal: refusal))
    }

    // MARK: - The disk

    func persist(_ count: Int) {
        var rest = min(count, waiting.count { $0.isRecord })
        guard rest > 0, !isReadOnly else { return }
        driver.persist(rest)
        var erased: [Asker] = []
        while let change = waiting.first, rest > 0 || !change.isRecord {
            waiting.removeFirst()
            if change.isRecord { rest -= 1 }
            reveal(change)
            if let asker = change.asker, asker.waitsForErasure, change.refusal == nil { erased.append(asker) }
        }
        // The disk is asked when all of it is durable, once. [AC14]
        for asker in erased where asker.isThere { asker.user.expected.append(.answer(asker.id, asker.answer)) }
    }

    /// The answer, then the event to everybody, then those who waited for what is no more.
    private func reveal(_ change: AcceptedChange) {
        durable = change.after
        if let asker = change.asker, asker.isThere, change.refusal != nil || !asker.waitsForErasure {
            asker.user.expected.append(change.refusal ?? .answer(asker.id, asker.answer))
        }
        if let told = change.told {
            for user in users where user.client != nil { user.expected.append(told) }
        }
        for waiter in change.waiters where waiter.asker.isThere {
            waiter.asker.user.expected.append(.refused(waiter.asker.id, [.lockNotFound]))
        }
    }

    private func fail() {
        guard !isReadOnly else { return }
        let undone = waiting
        done.failures += 1
        done.undone += undone.count
        waiting = []
        applied = durable
        isReadOnly = true
        driver.failStorage()
        for change in undone {
            if let asker = change.asker, asker.isThere { asker.user.expected.append(.refused(asker.id, [.storageFailed])) }
        }
        undoLocks(undone)
    }

    /// Nothing is left but what was durable.
    private func restart() {
        done.restarts += 1
        start += 1
        driver = driver.restarted(start: start)
        applied = durable
        waiting = [AcceptedChange(after: applied)]
        isReadOnly = false
        lines = [:]
        for user in users {
            user.client = nil
            user.expected = []
        }
        for name in Self.locks { startClock(name) }
    }
}
