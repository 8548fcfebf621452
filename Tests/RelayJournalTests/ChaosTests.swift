import Foundation
import RelayJournal
import RelayPrimitives
import RelayTestKit
import RelayTesting
import Testing

/// Everything that can happen to a journal, one after the other, as dice will have it.
@Suite struct ChaosTests {
    static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["BOARDRELAY_CHAOS_SEED"].flatMap(UInt64.init) { return [seed] }
        let base = environment["BOARDRELAY_SEED_BASE"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
        return Seeds.fresh(count: environment["BOARDRELAY_SEEDS"].flatMap(Int.init) ?? 12, from: base)
    }

    @Test("[SG4] through failures, full disks, crashes and restarts nothing durable is lost and nothing given up comes back")
    func chaos() throws {
        var total = Chaos.Tally()
        let seeds = Self.seeds
        for seed in seeds {
            do {
                var chaos = try Chaos(seed: seed)
                for _ in 0..<150 { try chaos.step() }
                try chaos.end()
                total += chaos.done
            } catch { throw Broken("\(error). BOARDRELAY_CHAOS_SEED=\(seed) replays it") }
        }
        print("journal chaos: \(seeds.count) seeds, \(total)")
        if seeds.count >= 12 {
            #expect(
                total.failures > 0 && total.recoveries > 0 && total.crashes > 0 && total.restarts > 0 && total.failedOpenings > 0,
                "\(total)")
            #expect(total.compactions > 0 && total.timesFull > 0, "\(total)")
        }
    }
}

struct Chaos {
    struct Tally {
        var batches = 0, failures = 0, recoveries = 0, timesFull = 0, crashes = 0, restarts = 0, failedOpenings = 0, compactions = 0

        static func += (sum: inout Tally, more: Tally) {
            sum.batches += more.batches
            sum.failures += more.failures
            sum.recoveries += more.recoveries
            sum.timesFull += more.timesFull
            sum.crashes += more.crashes
            sum.restarts += more.restarts
            sum.failedOpenings += more.failedOpenings
            sum.compactions += more.compactions
        }
    }

    private(set) var done = Tally()
    private let run: JournalRun
    private var dice: SplitMix64

    init(seed: UInt64) throws {
        dice = SplitMix64(seed: seed)
        run = try JournalRun(SimulatedStorage(seed: seed), seed: seed, segmentBytes: [300, 1024, 4096][Int(seed % 3)])
    }

    mutating func step() throws {
        if run.journal.failure != nil { return try answerFailure() }
        switch Int.random(in: 0..<40, using: &dice) {
        case 0: try crash()
        case 1: try restart(orderly: dice.chance(1, in: 2))
        case 2, 3: breakSoon()
        case 4: run.storage.capacity = run.storage.disk.byteCount + Int.random(in: 0...1500, using: &dice)
        case 5: run.storage.capacity = .max
        case 6..<16: try failing { run in try run.compact(steps: 3) }
        default: try failing { run in try run.append() }
        }
    }

    mutating func end() throws {
        run.storage.faults = []
        run.storage.capacity = .max
        if run.journal.failure != nil { try run.recover() }
        try run.append()
        try run.verify(.takesAll)
    }

    private mutating func failing(_ body: (JournalRun) throws -> Void) throws {
        let compactions = run.journal.counters.compactions
        do {
            try body(run)
            done.batches += 1
        } catch JournalError.storage(let error) {
            done.failures += 1
            if error.code == SimulatedStorage.noSpace { done.timesFull += 1 }
        }
        done.compactions += run.journal.counters.compactions - compactions
    }

    private mutating func breakSoon() {
        let first = run.storage.calls.count + Int.random(in: 1...6, using: &dice)
        run.storage.faults = [.init(first...(first + Int.random(in: 0...4, using: &dice)))]
    }

    private mutating func answerFailure() throws {
        if dice.chance(1, in: 3) { run.storage.capacity = .max }
        switch Int.random(in: 0..<8, using: &dice) {
        case 0: try crash()
        case 1: try restart(orderly: dice.chance(1, in: 2))
        default:
            do {
                try run.recover()
                done.recoveries += 1
            } catch is JournalError { done.failures += 1 }
        }
    }

    /// The disk may still not work, or be full, when the machine is up again.
    private mutating func crash() throws {
        done.crashes += 1
        let next = run.storage.crashed(.init(seed: dice.next()))
        next.capacity = run.storage.capacity
        if dice.chance(1, in: 3) { next.faults = [.init(1...Int.random(in: 1...20, using: &dice))] }
        do { return try run.reopen(next) } catch is JournalError { done.failedOpenings += 1 }
        try run.reopen(next.crashed(.init(seed: dice.next())))
    }

    private mutating func restart(orderly: Bool) throws {
        done.restarts += 1
        if orderly { run.journal.close() }
        try run.reopen(run.storage.restarted())
    }
}
