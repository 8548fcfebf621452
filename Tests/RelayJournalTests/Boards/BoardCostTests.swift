@testable import RelayJournal
@testable import RelayStorage
import RelayTestKit
import RelayTesting
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
        #expect(bench.store.boards[1]?.unsaved.capacity == 0, "nor does the memory keep room for them")
    }

    @Test("a checkpoint comes when boards that have left the memory have so many records: a start reads no more of them again")
    func checkpointsOfBoardsInNoUse() throws {
        var settings = BoardSettings()
        settings.checkpointRecords = 50
        let bench = try BoardBench(SimulatedStorage(), settings)
        for board in 1...3 as ClosedRange<UInt64> {
            try bench.create(board)
            try bench.apply((0..<20).map { (board, BoardBench.put("k\($0)", [1])) })
        }
        try bench.work()
        #expect(bench.store.counters.checkpoints == 0, "all are in the memory")
        bench.wall += bench.settings.idleMilliseconds + 1
        #expect(try bench.store.step(wall: bench.wall) && bench.store.step(wall: bench.wall))
        #expect(bench.store.loadedBoards == 1 && bench.store.counters.checkpoints == 0)
        try bench.work()
        #expect(bench.store.loadedBoards == 0 && bench.store.counters.checkpoints == 1 && bench.store.unsavedBytes == 0)
        let again = try bench.reopened()
        #expect(again.count(.read, "board-") == 0 && again.store.boards.count == 3)
    }

    @Test("a change of a large board in no use is read for and applied: no checkpoint would free it before")
    func changeOfLargeBoard() throws {
        var settings = BoardSettings()
        (settings.checkpointRecords, settings.stepBytes) = (10, 500)
        let bench = try BoardBench(SimulatedStorage(), settings)
        try bench.create(1)
        try bench.apply((0..<20).map { (1, BoardBench.put("k\($0)", [1])) })
        bench.wall += settings.idleMilliseconds + 1
        try bench.work()
        #expect(bench.store.loadedBoards == 0 && bench.store.unsavedBytes == 0)
        bench.wall += settings.checkpointPauseMilliseconds
        try bench.apply([(1, BoardBench.put("k", [2]))])
        try bench.work()
        #expect(bench.store.loadedBoards == 1 && bench.store.boards[1]?.summary.records == 21)
        #expect(bench.store.counters.checkpoints == 1)
    }

    @Test("20,000 records are loaded and read in as many reads as they have pieces of 256 KiB, and a board in no use takes no memory")
    func manyRecords() throws {
        let bench = try BoardBench()
        try bench.create(1)
        let payload = [UInt8](repeating: 7, count: 250)
        for first in stride(from: 0, to: 20_000, by: 200) {
            try bench.apply((first..<(first + 200)).map { (1, BoardBench.put("key-\($0)", payload)) })
        }
        #expect(bench.store.loadedBoards == 1)
        // Keys have 5 to 9 bytes.
        #expect((20_000 * 60...20_000 * 80).contains(bench.store.indexBytes), "\(bench.store.indexBytes / 20_000) bytes a record")
        bench.wall += bench.settings.idleMilliseconds + 1
        try bench.work()
        #expect(bench.store.loadedBoards == 0 && bench.store.indexBytes == 0)
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

    /// Boards of 20 records each.
    private static func boards(_ count: UInt64, indexBytesMax: Int) throws -> BoardBench {
        var settings = BoardSettings()
        settings.indexBytesMax = indexBytesMax
        let bench = try BoardBench(SimulatedStorage(), settings)
        for board in 1...count {
            try bench.create(board)
            try bench.apply((0..<20).map { (board, BoardBench.put("k\($0)", [UInt8](repeating: 1, count: 50))) })
        }
        return bench
    }

    @Test("memory of boards is bounded: beyond it the one that was used longest ago leaves, after a stay, and others wait for it")
    func memoryIsFull() throws {
        let bench = try Self.boards(3, indexBytesMax: 5_000), settings = bench.settings
        let one = bench.store.indexBytes / 3
        #expect(bench.store.loadedBoards == 3 && one * 2 <= settings.indexBytesMax && one * 3 > settings.indexBytesMax)
        try bench.work()
        #expect(bench.store.loadedBoards == 3, "they came just now")
        bench.wall += settings.stayMilliseconds
        try bench.apply([(1, BoardBench.put("k0", [2]))])
        try bench.work()
        #expect(bench.store.loadedBoards == 2)
        // The second has left: whoever asks for it waits until another has been there for a while.
        bench.store.read(BoardRead(token: 7, board: 2, above: 0, bytesMax: 1 << 20, isFresh: true))
        bench.wall += settings.stayMilliseconds
        try bench.work()
        #expect(bench.store.takeBlocks().map(\.token) == [7])
        #expect(bench.store.loadedBoards == 2)
    }

    @Test("a board that needs more than all the memory of boards is read when no other is there")
    func boardIsLargerThanMemory() throws {
        let bench = try Self.boards(2, indexBytesMax: 100), settings = bench.settings
        let both = bench.store.indexBytes
        for round in 1...4 as ClosedRange<UInt64> {
            bench.store.read(BoardRead(token: round, board: 1 + round % 2, above: 0, bytesMax: 1 << 20, isFresh: true))
            bench.wall += settings.stayMilliseconds
            var most = 0
            while try bench.store.step(wall: bench.wall) { most = max(most, bench.store.indexBytes) }
            #expect((1..<both).contains(most), "never two of them")
            #expect(bench.store.takeBlocks().map(\.token) == [round])
            #expect(bench.store.loadedBoards == 1)
        }
    }

    @Test("[SG2] while nothing can be written boards make room for those that are read")
    func roomAfterFailure() throws {
        let bench = try Self.boards(2, indexBytesMax: 100), settings = bench.settings
        try bench.work()
        bench.wall += settings.stayMilliseconds
        try bench.work()
        #expect(bench.store.loadedBoards == 1)
        for board in 1...2 as ClosedRange<UInt64> {
            bench.store.read(BoardRead(token: board, board: board, above: 0, bytesMax: 1 << 20, isFresh: true))
            bench.wall += settings.stayMilliseconds
            // As the relay does then: it takes no other step.
            while try bench.store.loadStep(wall: bench.wall) {}
            #expect(bench.store.takeBlocks().map(\.token) == [board])
        }
    }

    @Test("[SG4] boards that a start has to read are read one after the other, however little memory there is")
    func recoveryWithoutRoom() throws {
        let bench = try Self.boards(3, indexBytesMax: 1 << 20)
        bench.store.close()
        bench.journal.close()
        var disk = bench.storage.disk
        for file in bench.boardFiles { disk.truncate(file, to: disk.size(of: file)! - 30) }
        var settings = BoardSettings()
        settings.indexBytesMax = 1
        let again = try bench.reopened(SimulatedStorage(disk.afterCrash(.takesNothing)), settings)
        #expect(again.recovery.boards.map(\.records) == [19, 19, 19] && again.store.loadedBoards == 0)
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
