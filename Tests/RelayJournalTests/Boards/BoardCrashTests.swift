import RelayJournal
import RelayPrimitives
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// The machine stops at any call on the files.
@Suite struct BoardCrashTests {
    @Test(
        "[SG4, BL1] wherever a crash falls, the boards have what was told durable, nothing in part, and go on",
        arguments: BoardHistoryTests.seeds(1))
    func crashes(seed: UInt64) throws {
        let storage = SimulatedStorage(seed: seed)
        let run = try BoardRun(storage, seed: seed)
        run.dropsOneIn = 1
        var dice = SplitMix64(seed: seed ^ 0xC4A5)
        var tally = (opened: 0, pending: 0, compacting: 0)
        var broken: String?
        storage.afterChange = { storage in
            guard broken == nil, dice.chance(1, in: 3) else { return }
            let crash: SimulatedDisk.Crash = [.takesAll, .takesNothing, .init(seed: dice.next())][Int.random(in: 0..<3, using: &dice)]
            do {
                try Self.check(storage.crashed(crash), run, &dice)
                tally.opened += 1
                if !run.pending.isEmpty { tally.pending += 1 }
                if storage.disk.list.filter({ $0.hasPrefix("board-") }).count > run.model.boards.count { tally.compacting += 1 }
            } catch {
                broken = "\(error), crash \(crash) after \(storage.calls.suffix(3))"
            }
        }
        for batch in 0..<60 {
            try run.act()
            try run.step(Int.random(in: 0...4, using: &run.dice))
            if run.dice.chance(1, in: 30) { run.wait(90_000) }
            if let broken { throw Broken("batch \(batch): \(broken). BOARDRELAY_BOARDS_SEED=\(seed) replays it") }
        }
        print("board crashes: seed \(seed), \(storage.calls.count) calls, \(run.store.counters.compactions) compactions, \(tally)")
        #expect(tally.opened > 50 && tally.pending > 10 && tally.compacting > 5, "\(tally)")
    }

    @Test("[SG4, BL9] a board that was dropped stays dropped, with its bytes, wherever a crash falls", arguments: [true, false])
    func drop(isSaved: Bool) throws {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.apply([(1, BoardBench.put("a", [1, 2, 3]))])
        if isSaved { try bench.store.checkpoint() }
        try bench.apply([(1, .drop)])
        var left: [SimulatedDisk] = [bench.storage.disk]
        bench.storage.afterChange = { left.append($0.disk) }
        try bench.store.checkpoint()
        bench.storage.afterChange = nil
        #expect(left.count >= 4 && bench.boardFiles.isEmpty)
        for disk in left {
            for crash in [SimulatedDisk.Crash.takesAll, .takesNothing] {
                let again = try BoardBench(SimulatedStorage(disk.afterCrash(crash)))
                #expect(again.recovery == BoardRecovery() && again.boardFiles.isEmpty)
            }
        }
    }

    @Test("[SG4, BL1] a checkpoint while a board is being loaded keeps the changes that wait for it")
    func checkpointWhileLoading() throws {
        let bench = try BoardBench()
        try bench.create(1)
        for number in 0..<5 { try bench.apply([(1, BoardBench.put("k\(number)", [1]))]) }
        bench.wall += bench.settings.idleMilliseconds + 1
        try bench.work()
        #expect(bench.store.loadedBoards == 0 && bench.store.unsavedBytes > 0)
        try bench.apply([(1, BoardBench.put("late", [2]))])
        try bench.store.checkpoint()
        #expect(bench.store.unsavedBytes > 0)
        let again = try bench.reopened(bench.storage.crashed(.takesAll))
        #expect(again.recovery.boards.map(\.records) == [6] && again.recovery.lines.isEmpty)
        #expect(try again.read(isFresh: true).items.map(\.short).last == "late@6")
    }

    /// Opens what a crash has left, crashes the opening too, and uses what is there then.
    private static func check(_ storage: SimulatedStorage, _ run: BoardRun<SimulatedStorage>, _ dice: inout SplitMix64) throws {
        var storage = storage
        if dice.chance(1, in: 2) {
            let moment = Int.random(in: 1...12, using: &dice)
            var changes = 0
            var second: SimulatedDisk?
            storage.afterChange = { storage in
                changes += 1
                if changes == moment { second = storage.disk }
            }
            _ = try run.copy(on: storage)
            storage.afterChange = nil
            if let second { storage = SimulatedStorage(second.afterCrash(.init(seed: dice.next()))) }
        }
        let copy = try run.copy(on: storage)
        try copy.verify()
        try copy.act()
        try copy.step(3)
        try copy.verify()
    }
}
