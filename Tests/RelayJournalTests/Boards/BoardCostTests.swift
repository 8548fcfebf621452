import RelayJournal
import RelayTestKit
import Testing

/// What boards cost: calls on files, and memory.
@Suite struct BoardCostTests {
    @Test("a batch over 3 boards is 3 writes and no sync, their checkpoint a sync each and one batch of the journal")
    func calls() throws {
        let bench = try BoardBench()
        for board in 1...3 as ClosedRange<UInt64> { try bench.create(board) }
        try bench.store.checkpoint()
        let writes = bench.count(.write, "board-"), syncs = bench.count(.sync), batches = bench.count(.write, "journal-")
        try bench.apply((0..<30).map { (UInt64($0 % 3 + 1), BoardBench.put("k\($0)", [1, 2])) })
        #expect(bench.count(.write, "board-") == writes + 3 && bench.count(.sync, "board-") == 3)
        #expect(bench.count(.sync) == syncs + 1 && bench.count(.write, "journal-") == batches + 1)
        let folders = bench.count(.syncFolder)
        try bench.store.checkpoint()
        #expect(bench.count(.sync, "board-") == 3 + 3 && bench.count(.sync) == syncs + 1 + 3 + 1)
        #expect(bench.count(.write, "journal-") == batches + 2 && bench.count(.syncFolder) == folders)
        let calls = bench.storage.calls.count
        try bench.store.checkpoint()
        #expect(bench.storage.calls.count == calls, "nothing has changed")
    }

    @Test("a checkpoint comes when the changes that only the journal holds exceed a bound, and frees it of them")
    func checkpoints() throws {
        var settings = BoardSettings()
        settings.checkpointBytes = 1000
        let bench = try BoardBench(SimulatedStorage(), settings)
        try bench.create(1)
        while bench.store.unsavedBytes <= 1000 {
            #expect(try !bench.store.step(wall: bench.wall))
            try bench.apply([(1, BoardBench.put("k", [1]))])
        }
        #expect(try bench.store.step(wall: bench.wall))
        #expect(bench.store.counters.checkpoints == 1 && bench.store.unsavedBytes == 0 && bench.journal.size.liveEntries == 2)
    }

    @Test("20,000 records are loaded and read in as many reads as they have pieces of 256 KiB, and a board in no use takes no memory")
    func manyRecords() throws {
        let bench = try BoardBench()
        try bench.create(1)
        let payload = [UInt8](repeating: 7, count: 250)
        for first in stride(from: 0, to: 20_000, by: 200) {
            try bench.apply((first..<(first + 200)).map { (1, BoardBench.put("key-\($0)", payload)) })
        }
        #expect(bench.store.loadedBoards == 1 && bench.store.indexedRecords == 20_000)
        bench.wall += bench.settings.idleMilliseconds + 1
        try bench.work()
        #expect(bench.store.loadedBoards == 0 && bench.store.indexedRecords == 0)
        bench.store.close()
        bench.journal.close()

        let again = try bench.reopened()
        let size = try #require(again.storage.disk.size(of: again.boardFiles[0]))
        #expect(again.count(.read, "board-") == 0 && again.store.loadedBoards == 0, "at the start no board is read")
        var items = 0, blocks = 0
        var above: UInt64 = 0
        repeat {
            let block = try again.read(above: above, bytesMax: 150_000, isFresh: true)
            #expect(!block.items.isEmpty && again.storage.calls.last?.operation == .read)
            items += block.items.count
            blocks += 1
            above = block.through
        } while above < 20_000
        let pieces = size / (256 * 1024) + 1
        let reads = again.count(.read, "board-")
        print("boards: \(size) bytes, \(items) records in \(blocks) blocks, \(reads) reads")
        #expect(items == 20_000 && reads <= pieces + 1 + blocks)
    }

    @Test("what boards take of the memory is bounded: beyond it those that are not used leave early, the one in use stays")
    func memoryIsFull() throws {
        var settings = BoardSettings()
        settings.indexedRecordsMax = 50
        let bench = try BoardBench(SimulatedStorage(), settings)
        for board in 1...3 as ClosedRange<UInt64> {
            bench.wall += settings.idleMillisecondsWhenFull
            try bench.create(board)
            try bench.apply((0..<20).map { (board, BoardBench.put("k\($0)", [1])) })
        }
        #expect(bench.store.loadedBoards == 3 && bench.store.indexedRecords == 60)
        try bench.work()
        #expect(bench.store.loadedBoards == 2 && bench.store.indexedRecords == 40)
        #expect(try bench.read(1, isFresh: true).items.count == 20)
    }

    @Test("a board that is being loaded takes changes meanwhile, and whoever waits for it is served before others")
    func whileLoading() throws {
        var settings = BoardSettings()
        settings.stepBytes = 2000
        let bench = try BoardBench(SimulatedStorage(), settings)
        for board in 1...2 as ClosedRange<UInt64> {
            try bench.create(board)
            for number in 0..<60 { try bench.apply([(board, BoardBench.put("k\(number)", [UInt8](repeating: 1, count: 100)))]) }
        }
        bench.store.close()
        bench.journal.close()
        let again = try bench.reopened()
        _ = again.store.takeReport()
        try again.apply([(1, BoardBench.put("k0", [1])), (2, BoardBench.put("k0", [1]))])
        #expect(again.store.takeReport().isEmpty, "the sums are not known yet")
        again.store.read(BoardRead(token: 5, board: 2, above: 60, bytesMax: 10, isFresh: false))
        var steps = 0
        while again.store.takeBlocks().isEmpty {
            #expect(try again.store.step(wall: again.wall))
            steps += 1
            let reads = again.count(.read, "board-0000000000000001")
            #expect(reads == 0)
        }
        #expect(steps > 3)
        #expect(again.store.takeReport().boards.map(\.board) == [2])
        try again.work()
        let report = again.store.takeReport()
        #expect(report.boards.map(\.board) == [1] && report.boards[0].records == 60 && report.boards[0].bytes == 60 * 167 - 10 - 99)
    }
}
