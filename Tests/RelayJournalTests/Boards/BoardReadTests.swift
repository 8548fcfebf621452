import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// What readers of a board are given.
@Suite struct BoardReadTests {
    private let clear: [(board: UInt64, kind: StoredChange.Kind)] = [(1, .clear)]

    private func bench(_ settings: BoardSettings = BoardSettings()) throws -> BoardBench {
        let bench = try BoardBench(SimulatedStorage(), settings)
        try bench.create(1)
        return bench
    }

    private func put(_ bench: BoardBench, _ keys: String...) throws {
        for key in keys { try bench.apply([(1, BoardBench.put(key, [1, 2, 3]))]) }
    }

    private func remove(_ bench: BoardBench, _ keys: String...) throws {
        for key in keys { try bench.apply([(1, .remove(key: Array(key.utf8)))]) }
    }

    @Test("[BL3] who was away is told of removals, who is new is not")
    func removals() throws {
        let bench = try bench()
        try put(bench, "a", "b", "c")
        try remove(bench, "b")
        try put(bench, "a")
        #expect(try bench.read(above: 2).items.map(\.short) == ["c@3", "-b@4", "a@5"])
        #expect(try bench.read(above: 0, isFresh: true).items.map(\.short) == ["c@3", "a@5"])
        try put(bench, "b")
        #expect(try bench.read(above: 3).items.map(\.short) == ["a@5", "b@6"], "a key that is written again needs no removal")
        try remove(bench, "c")
        let block = try bench.read(above: 5, bytesMax: 1, isFresh: true)
        #expect(block.items.map(\.short) == ["b@6"] && block.through == 7, "nothing for a new reader follows: all is read")
    }

    @Test("[HI2] a record counts 320 bytes in a block besides what it has: what it takes in memory")
    func tiny() throws {
        let bench = try bench()
        for first in stride(from: 0, to: 2_000, by: 100) {
            try bench.apply((first..<first + 100).map { (1, BoardBench.put("\($0)", [])) })
        }
        let block = try bench.read(bytesMax: 64 * 1024)
        #expect(block.items.count == 203 && block.through == 203)
        #expect((60 * 1024...68 * 1024).contains(block.memoryBytes), "\(block.memoryBytes)")
        // Author, key and payload are arrays of their own.
        #expect(MemoryLayout<BoardBlock.Item>.stride + 3 * 48 <= 320, "\(MemoryLayout<BoardBlock.Item>.stride)")
        #expect(try bench.read(above: 203, bytesMax: 64 * 1024).items.first?.offset == 204)
    }

    @Test("[BL6] a clear stands for what was before it, and what an undo brings back has new offsets, its author and its time")
    func clearAndUndo() throws {
        let bench = try bench()
        try put(bench, "a", "b", "c", "d")
        try bench.apply([(1, .clear)], author: "mod")
        #expect(bench.store.takeReport().boards[0].clear == BoardSummary.Clear(offset: 5, wallMilliseconds: bench.wall, records: 4))
        try put(bench, "b")
        try remove(bench, "c")
        #expect(try bench.read(above: 1).items.map(\.short) == ["clear@5", "b@6", "-c@7"])
        bench.wall += bench.settings.undoMilliseconds
        try bench.apply([(1, .undo(clear: 5, count: 4))], author: "mod")
        // 4 offsets end at 12: a, b, c, d.
        let block = try bench.read(above: 1)
        #expect(block.items.map(\.short) == ["clear@5", "b@6", "-c@7", "a@9", "d@12"] && block.through == 12)
        #expect(block.items[3].author == Array("ann".utf8) && block.items[3].wallMilliseconds == 1_000_000)
        #expect(bench.store.takeReport().boards[0].clear == nil)
        #expect(try bench.reopened().read(above: 1).items == block.items)
    }

    @Test("[BL6] 11 minutes after a clear what it took away is gone, in memory and at the next compaction")
    func undoEnds() throws {
        var settings = BoardSettings()
        settings.compactionBytes = 100
        settings.idleMilliseconds = .max / 2
        let bench = try bench(settings)
        try put(bench, "a", "b", "c", "d", "e", "f")
        try bench.apply(clear)
        try bench.work()
        #expect(bench.store.counters.compactions == 0, "it can be undone")
        bench.wall += settings.undoMilliseconds + settings.undoGraceMilliseconds + 1
        try bench.work()
        #expect(bench.store.counters.compactions == 1)
        #expect(try bench.read().items.map(\.short) == ["clear@7"])
        #expect(bench.store.takeReport().boards[0].clear == nil)
    }

    @Test("[BL4] of removals the newest are known: a reader from below begins anew, unless a clear says as much")
    func floor() throws {
        var settings = BoardSettings()
        settings.markersMax = 2
        let bench = try bench(settings)
        try put(bench, "a", "b", "c", "d")
        try remove(bench, "a", "b")
        #expect(try bench.read(above: 1).outcome == .read)
        try remove(bench, "c")
        #expect(bench.store.takeReport().boards[0].markerFloor == 5)
        #expect(try bench.read(above: 4).outcome == .belowFloor)
        #expect(try bench.read(above: 5).items.map(\.short) == ["-b@6", "-c@7"])
        #expect(try bench.read(above: 4, isFresh: true).items.map(\.short) == [])
        let again = try bench.reopened()
        #expect(try again.read(above: 4).outcome == .belowFloor && again.recovery.boards[0].markerFloor == 5)
        try bench.apply(clear)
        #expect(try bench.read(above: 4).items.map(\.short) == ["clear@8"])
    }

    @Test("[BL4] a removal is known for 7 days")
    func markersAge() throws {
        var settings = BoardSettings()
        settings.idleMilliseconds = .max / 2
        let bench = try bench(settings)
        try put(bench, "a")
        try remove(bench, "a")
        bench.wall += settings.markerMilliseconds
        try bench.work()
        #expect(try bench.read(above: 1).items.map(\.short) == ["-a@2"])
        bench.wall += 1
        try bench.work()
        #expect(try bench.read(above: 1).outcome == .belowFloor)
    }

    @Test("[BL8] the parts of a large drawing are one record, given in as many answers as it takes")
    func parts() throws {
        let bench = try bench()
        try put(bench, "a")
        for number in 1...3 {
            try bench.apply([(1, .part(upload: 9, number: UInt16(number), payload: [UInt8](repeating: UInt8(number), count: 100)))])
        }
        #expect(try bench.read().items.map(\.short) == ["a@1"], "until a record names them they are nothing")
        #expect(bench.store.takeReport().boards[0].bytes == 1 + 3 + 64)
        try bench.apply([(1, .put(BoardPut(key: [120], isText: false, customType: [7], payload: [], upload: 9, parts: 3)))])
        try put(bench, "b")
        #expect(bench.store.takeReport().boards[0].bytes == 68 + 68 + 300 + 2 + 64)
        let first = try bench.read(bytesMax: 4 + 2 * 102 + 3 * 320)
        #expect(first.items.map(\.short) == ["a@1", "x@2.1", "x@2.2"] && first.through == 1)
        let second = try bench.read(above: 1, partsKnown: 2, bytesMax: 1)
        #expect(second.items.map(\.short) == ["x@2.3"] && second.through == 2)
        guard case .record(let part, _, 3) = second.items[0].content else { throw Broken("no part") }
        #expect(part.customType == [7] && part.payload == [UInt8](repeating: 3, count: 100))
        #expect(try bench.read(above: 1, partsKnown: 3).items.map(\.short) == ["b@3"])
        try put(bench, "x")
        #expect(
            try bench.read(above: 1, partsKnown: 2).items.map(\.short) == ["b@3", "x@4"], "what was known of it does not count for another")
    }

    @Test("[BL9] a board that is dropped is gone, with its file and its bytes")
    func drop() throws {
        let bench = try bench()
        try put(bench, "a")
        try bench.create(2)
        try bench.apply([(1, .drop), (2, BoardBench.put("a", [1]))])
        let report = bench.store.takeReport()
        #expect(report.dropped == [1] && report.boards.map(\.board) == [2] && report.userBytes == [Array("ann".utf8): 66])
        #expect(try bench.read(1).outcome == .gone)
        try bench.store.checkpoint()
        #expect(bench.boardFiles.count == 1)
        let again = try bench.reopened()
        #expect(again.recovery.boards.map(\.board) == [2] && again.recovery.userBytes == [Array("ann".utf8): 66])
    }

    @Test("[BL5] a board remembers its last 64 epochs, and how far each is durable")
    func epochs() throws {
        let storage = SimulatedStorage()
        let journal = try Journal.open(storage, JournalSettings(mark: 5)).journal
        let store = BoardStore(journal: journal, storage: storage)
        _ = try store.recover(entries: [])
        for start in 0..<70 as Range<UInt32> {
            var change = StoredChange(
                board: 1, offset: UInt64(start) * 2, epoch: BoardEpoch.ID(start: start, incarnation: 1), lastUnretained: UInt64(start),
                author: [65],
                wallMilliseconds: 1,
                kind: start == 0 ? .create(name: [66]) : .put(BoardPut(key: [67], isText: true, customType: nil, payload: [68])))
            var records = [
                JournalRecord(sequence: UInt64(start) * 2 + 1, entries: [change.entry(sequence: UInt64(start) * 2 + 1, index: 0)])
            ]
            try journal.append(records)
            try store.apply(records)
            guard start > 0 else { continue }
            change.offset += 1
            records = [JournalRecord(sequence: UInt64(start) * 2 + 2, entries: [change.entry(sequence: UInt64(start) * 2 + 2, index: 0)])]
            try journal.append(records)
            try store.apply(records)
        }
        store.close()
        journal.close()
        let last = storage.restarted()
        let opened = try Journal.open(last, JournalSettings(mark: 5))
        let board = try BoardStore(journal: opened.journal, storage: last).recover(entries: opened.entries).boards[0]
        #expect(
            board.epochs.map(\.id.start) == Array(6..<70) && board.epochs.last?.last == 139 && board.lastUnretained == 69
                && board.head == 139)
    }
}
