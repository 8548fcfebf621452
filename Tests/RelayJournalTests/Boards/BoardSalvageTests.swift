import RelayJournal
import RelayStorage
import RelayPrimitives
import RelayTestKit
import RelayTesting
import Testing

/// What is saved of a folder that a relay does not start on.
@Suite struct BoardSalvageTests {
    @Test("[SG4] what is saved after any crash is what a start finds, and goes on", arguments: BoardHistoryTests.seeds(2))
    func afterCrashes(seed: UInt64) throws {
        let storage = SimulatedStorage(seed: seed)
        let run = try BoardRun(storage, seed: seed)
        var dice = SplitMix64(seed: seed ^ 0x5A1F)
        var saved = 0
        for batch in 0..<120 {
            try run.act()
            try run.step(Int.random(in: 0...4, using: &run.dice))
            if run.dice.chance(1, in: 30) { run.wait(90_000) }
            guard dice.chance(1, in: 4) else { continue }
            let crash: SimulatedDisk.Crash = [.takesAll, .takesNothing, .init(seed: dice.next())][Int.random(in: 0..<3, using: &dice)]
            do {
                let copy = try run.copy(on: Self.saved(storage.crashed(crash)))
                try copy.verify()
                for _ in 0..<5 { try copy.act() }
                try copy.verify()
            } catch {
                throw Broken("batch \(batch), crash \(crash): \(error). BOARDRELAY_BOARDS_SEED=\(seed) replays it")
            }
            saved += 1
        }
        #expect(saved > 10)
    }

    enum Loss: CaseIterable { case all, allAndAnchor, emptied, first, last, anchor }

    @Test(
        "[SG4] a journal that is missing, or lacks a part, is not opened beside boards, nothing is touched, and the boards are saved whole",
        arguments: BoardHistoryTests.seeds(2) + [153_058_723_881_371, 264_453_323_183_947], Loss.allCases)
    func losses(seed: UInt64, loss: Loss) throws {
        let run = try BoardRun(SimulatedStorage(seed: seed), seed: seed, segmentBytes: 2048)
        run.dropsOneIn = 2
        for _ in 0..<60 {
            try run.act()
            try run.step(Int.random(in: 0...4, using: &run.dice))
        }
        // In the files is all of it, and in the journal what a checkpoint has left; or some stands in both.
        if run.dice.chance(1, in: 2) { run.close() }
        var disk = run.storage.disk
        let segments = disk.list.filter { $0.hasPrefix("journal-") }
        switch loss {
        case .all, .allAndAnchor:
            for file in segments { disk.remove(file) }
            if loss == .allAndAnchor { disk.remove("journal.anchor") }
        case .emptied: for file in segments { disk.truncate(file, to: 0) }
        case .first: disk.remove(segments[0])
        case .last: disk.remove(segments[segments.count - 1])
        case .anchor: disk.write([0xFF], to: "journal.anchor", at: 20)
        }
        disk = disk.afterCrash(.takesNothing)
        let old = SimulatedStorage(disk)
        #expect(throws: JournalError.self) { try Journal.open(old, run.journalSettings) }
        #expect(old.calls.allSatisfy { [.list, .size, .read].contains($0.operation) })
        let found = try Self.contents(Self.saved(SimulatedStorage(disk)))
        var expected: [[UInt8]: [[UInt8]: [UInt8]]] = [:]
        for (id, board) in run.model.boards where !board.live.isEmpty {
            expected[Array("board \(id)".utf8)] = board.live.mapValues(\.payload)
        }
        // A board that has ended may come back without a record. Once its file has gone its end may stand in the last segment alone:
        // without that it comes back with what earlier ones have of it.
        let saved = found.records.filter { !$0.value.isEmpty }
        let living = Set(run.model.boards.keys.map { Array("board \($0)".utf8) })
        let ended = saved.keys.filter { !living.contains($0) }
        #expect(loss == .last || ended.isEmpty, "seed \(seed)")
        #expect(saved.filter { living.contains($0.key) } == expected, "seed \(seed)")
        #expect(!ended.isEmpty || found.userBytes == run.model.userBytes, "seed \(seed)")
    }

    @Test("[SG4] a journal that ends before what a board's file proves is not opened; a change that was never durable is cut, and told")
    func provenByBoard() throws {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.store.checkpoint()
        let segment = try #require(bench.storage.disk.list.first { $0.hasPrefix("journal-") })
        let before = try #require(bench.storage.disk.size(of: segment))
        try bench.apply([(1, BoardBench.put("a", [1, 2, 3]))])
        var disk = bench.storage.disk
        disk.truncate(segment, to: before)
        let file = try #require(bench.boardFiles.first)
        try DamageTests.isRefused(disk, .endsBeforeBoard(at: 1, file: file, change: 2))
        disk.remove("journal.anchor")
        try DamageTests.isRefused(disk, .endsBeforeBoard(at: 1, file: file, change: 2))
        let saved = try Self.contents(Self.saved(SimulatedStorage(disk.afterCrash(.takesNothing))))
        #expect(saved.records == [Array("board".utf8): [Array("a".utf8): [1, 2, 3]]])

        // The power went while the journal was written: the board has nothing of it.
        let put = StoredChange(board: 1, offset: 2, epoch: .init(start: 1, incarnation: 1), author: [], wallMilliseconds: 1, kind: .clear)
        try bench.journal.append([JournalRecord(sequence: 3, entries: [put.entry(sequence: 3, index: 0)])])
        disk = bench.storage.disk
        disk.truncate(segment, to: try #require(disk.size(of: segment)) - 1)
        let opened = try Journal.open(SimulatedStorage(disk.afterCrash(.takesNothing)), JournalSettings(mark: 5))
        #expect(opened.report.lastSequence == 2 && opened.report.lines.contains { $0.contains("unfinished changes were cut") })
    }

    @Test("[SG4] no file of a board goes because another one, or the journal, is damaged; nor one of another journal")
    func keptAside() throws {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.apply([(1, BoardBench.put("a", [1, 2, 3]))])
        bench.store.close()
        bench.journal.close()
        let file = try #require(bench.boardFiles.first), other = "board-0000000000000001-00000009.log"
        let bytes = try #require(bench.storage.disk.contents(file))
        var named = bench.storage.disk
        named.create(other)
        named.write(bytes, to: other, at: 0)
        // Beside the file that the journal names, whole, it is what a crash has left.
        #expect(try bench.reopened(SimulatedStorage(named.afterCrash(.takesNothing))).storage.disk.list.contains(file))
        var short = named
        short.truncate(file, to: bytes.count - 1)
        var foreign = bench.storage.disk
        let stray = "board-0000000000000007-00000001.log"
        let strangers = try BoardBench(SimulatedStorage(), mark: 9)
        try strangers.create(7)
        foreign.create(stray)
        foreign.write(try #require(strangers.storage.disk.contents(stray)), to: stray, at: 0)
        for (disk, kept) in [(named, nil), (short, other), (foreign, stray)] {
            let again = try bench.reopened(SimulatedStorage(disk.afterCrash(.takesNothing)))
            let aside = again.storage.disk.list.filter { $0.hasPrefix("quarantine-") && $0.hasSuffix("-0.bin") }
            #expect(aside == (kept.map { ["quarantine-\($0)-0.bin"] } ?? []))
            #expect(aside.allSatisfy { again.storage.disk.contents($0) == disk.contents(kept ?? "") })
            #expect(again.recovery.lines.contains { $0.contains("kept as") } == (kept != nil))
        }
    }

    @Test("[SG4] what a board's file has behind its checkpoint is kept aside when the journal may not have it")
    func tailKeptAside() throws {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.store.checkpoint()
        let file = try #require(bench.boardFiles.first), covered = try #require(bench.storage.disk.size(of: file))
        try bench.apply([(1, BoardBench.put("a", [1, 2, 3]))])
        let tail = try #require(bench.storage.disk.contents(file)).dropFirst(covered)
        for isWhole in [true, false] {
            let storage = bench.storage.crashed(.takesNothing)
            let opened = try Journal.open(storage, JournalSettings(mark: 5))
            let store = BoardStore(journal: opened.journal, storage: storage)
            _ = try store.recover(entries: opened.entries, isWhole: isWhole)
            #expect(storage.disk.contents("quarantine-\(file)-\(covered).bin") == (isWhole ? nil : Array(tail)))
        }
    }

    // MARK: - Saving

    /// Into a folder of its own, which a crash then leaves.
    static func saved(_ old: SimulatedStorage) throws -> SimulatedStorage {
        let new = SimulatedStorage()
        _ = try Salvage(old).write(to: new, JournalSettings(mark: 77), start: 0)
        guard old.calls.allSatisfy({ [.list, .size, .read].contains($0.operation) }) else { throw Broken("the old folder was changed") }
        return new.crashed(.takesAll)
    }

    /// Payloads of each board by its name and their key, as a relay reads them.
    private static func contents(
        _ storage: SimulatedStorage
    ) throws -> (records: [[UInt8]: [[UInt8]: [UInt8]]], userBytes: [[UInt8]: Int]) {
        let opened = try Journal.open(storage, JournalSettings(mark: 5))
        let store = BoardStore(journal: opened.journal, storage: storage)
        let recovery = try store.recover(entries: opened.entries.filter { StoredChange.isBoardEntry($0.key) })
        guard recovery.lines.isEmpty else { throw Broken("\(recovery.lines)") }
        var records: [[UInt8]: [[UInt8]: [UInt8]]] = [:]
        for board in recovery.boards {
            store.read(BoardRead(token: 1, board: board.board, above: 0, bytesMax: .max / 2, isFresh: true))
            while try store.step(wall: 0) {}
            guard let block = store.takeBlocks().first, block.outcome == .read else { throw Broken("board \(board) cannot be read") }
            records[board.name] = [:]
            for item in block.items {
                guard case .record(let put, _, _) = item.content else { throw Broken("\(item)") }
                records[board.name]?[put.key, default: []] += put.payload
            }
        }
        return (records, recovery.userBytes)
    }

    @Test("a board that ended has no name any more: another one of that name is saved")
    func nameOfAnEndedBoard() throws {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.apply([(1, BoardBench.put("old", [1]))])
        try bench.store.checkpoint()
        try bench.apply([(1, .drop)])
        try bench.create(5)
        try bench.apply([(5, BoardBench.put("new", [2]))])
        for crash in [SimulatedDisk.Crash.takesAll, .takesNothing] {
            let report = try Salvage(bench.storage.crashed(crash)).write(to: SimulatedStorage(), JournalSettings(mark: 77), start: 0)
            #expect(report.boards.map(\.board) == [5])
        }
        #expect(try bench.reopened(bench.storage.crashed(.takesNothing)).recovery.boards.map(\.board) == [5], "as a start has it")
    }
}
