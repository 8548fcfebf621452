import RelayJournal
import RelayPrimitives
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// The disk does not work for a while, or is full, and the machine stops and starts.
@Suite struct BoardFaultTests {
    struct Tally {
        var failures = 0, retries = 0, crashes = 0, restarts = 0, failedSyncs = 0, timesFull = 0
    }

    static let regressions: [UInt64] = [
        69_783_914_086_855  // the journal's sync of the folder failed, and with it a new board's name that a later one did not bring back
    ]

    @Test("[SG4, BL1] through failures, full disks, crashes and restarts boards lose nothing durable and take nothing twice")
    func chaos() throws {
        var tally = Tally()
        let seeds = Self.regressions + BoardHistoryTests.seeds(6)
        for seed in seeds {
            do {
                let run = try BoardRun(SimulatedStorage(seed: seed), seed: seed)
                run.hasFaults = true
                for _ in 0..<150 { try step(run, &tally) }
                run.storage.faults = []
                run.storage.capacity = .max
                if run.store.failure != nil || run.journal.failure != nil { try run.recoverFromFailure() }
                try run.verify()
                try run.restart(run.storage.crashed(.takesAll))
                try run.verify()
            } catch { throw Broken("\(error). BOARDRELAY_BOARDS_SEED=\(seed) replays it") }
        }
        print("board chaos: \(seeds.count) seeds, \(tally)")
        if seeds.count >= 7 {
            #expect(tally.failures > 20 && tally.retries > 10 && tally.crashes > 5 && tally.restarts > 5, "\(tally)")
            #expect(tally.failedSyncs > 0 && tally.timesFull > 0, "\(tally)")
        }
    }

    private func step(_ run: BoardRun<SimulatedStorage>, _ tally: inout Tally) throws {
        if run.store.failure != nil || run.journal.failure != nil {
            // Most of what is there can be read all the same; it is looked at when the disk works again.
            if run.dice.chance(1, in: 3) {
                run.storage.faults = []
                run.storage.capacity = .max
            }
            switch Int.random(in: 0..<8, using: &run.dice) {
            case 0: return try crash(run, &tally)
            case 1: return try restart(run, &tally)
            default:
                do {
                    try run.recoverFromFailure()
                    tally.retries += 1
                    return try run.verifyIfQuiet()
                } catch is JournalError { return tally.failures += 1 }
            }
        }
        switch Int.random(in: 0..<40, using: &run.dice) {
        case 0: try crash(run, &tally)
        case 1: try restart(run, &tally)
        case 2...4:
            let first = run.storage.calls.count + Int.random(in: 1...12, using: &run.dice)
            run.storage.faults = [.init(first...(first + Int.random(in: 0...4, using: &run.dice)))]
        case 5: run.storage.capacity = run.storage.disk.byteCount + Int.random(in: 0...2500, using: &run.dice)
        case 6: run.storage.capacity = .max
        case 7: run.wait(90_000)
        default:
            do {
                try run.act()
                try run.step(Int.random(in: 0...5, using: &run.dice))
                run.noteReport()
            } catch JournalError.storage(let error) {
                tally.failures += 1
                if error.operation == .sync { tally.failedSyncs += 1 }
                if error.code == SimulatedStorage.noSpace { tally.timesFull += 1 }
            }
        }
    }

    private func crash(_ run: BoardRun<SimulatedStorage>, _ tally: inout Tally) throws {
        tally.crashes += 1
        try run.restart(run.storage.crashed(.init(seed: run.dice.next())))
        try run.verify()
    }

    private func restart(_ run: BoardRun<SimulatedStorage>, _ tally: inout Tally) throws {
        tally.restarts += 1
        if run.dice.chance(1, in: 2) { run.close() }
        try run.restart(run.storage.restarted())
        try run.verify()
    }

    @Test("[SG4, BL1] whichever call fails, once or thrice, a board has what was durable, and has it once", arguments: [1, 3])
    func anyCall(width: Int) throws {
        for number in stride(from: 1, to: 5_000, by: width) where Moments.isTried(number / width) {
            let storage = SimulatedStorage(seed: UInt64(number))
            let run = try BoardRun(storage, seed: 11)
            run.hasFaults = true
            let first = storage.calls.count + number
            storage.faults = [.init(first...(first + width - 1))]
            do {
                for _ in 0..<16 {
                    do {
                        try run.act()
                        try run.step(4)
                    } catch is JournalError {
                        for _ in 0..<5 where run.store.failure != nil || run.journal.failure != nil {
                            do { try run.recoverFromFailure() } catch is JournalError {}
                        }
                    }
                }
                storage.faults = []
                try run.verify()
                try run.restart(storage.crashed(.init(seed: UInt64(number))))
                try run.verify()
            } catch { throw Broken("call \(number), width \(width): \(error)") }
            guard !storage.failedCalls.isEmpty else { return #expect(number > 60) }
        }
    }

    @Test("[SG4, BL1] whichever call of a compaction fails, and stops the machine then, all is there")
    func compaction() throws {
        var settings = BoardSettings()
        settings.compactionBytes = 500
        settings.stepBytes = 400
        var number = 0, failures = 0
        repeat {
            number += 1
            let bench = try BoardBench(SimulatedStorage(seed: UInt64(number)), settings)
            try bench.create(1)
            for value in 0..<30 as Range<UInt8> {
                try bench.apply([(1, BoardBench.put("k\(value % 7)", [UInt8](repeating: value, count: 40)))])
            }
            let items = try bench.read(isFresh: true).items
            let first = bench.storage.calls.count + number
            bench.storage.faults = [.init(first...first)]
            do { try bench.work() } catch is JournalError { failures += 1 }
            for crash in [SimulatedDisk.Crash.takesAll, .takesNothing, .init(seed: UInt64(number))] {
                let again = try bench.reopened(bench.storage.crashed(crash))
                let found = try again.read(isFresh: true).items
                #expect(again.recovery.lines.isEmpty && found == items, "call \(number), \(crash): \(again.recovery.lines)")
            }
            if bench.storage.failedCalls.isEmpty {
                #expect(
                    bench.store.counters.compactions == 1 && number > 8 && failures > 0,
                    "\(bench.store.counters), \(number) calls, \(failures) failures")
                return
            }
        } while number < 1000
    }
}
