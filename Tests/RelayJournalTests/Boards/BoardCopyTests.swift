import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// A copy of journal and boards has the state of the moment in which it began, whatever happens while it is read.
@Suite struct BoardCopyTests {
    private static let secret = "what ann drew"

    private static func holders(_ disk: SimulatedDisk) -> [String] {
        disk.list.filter { String(decoding: disk.contents($0)!, as: UTF8.self).contains(secret) }
    }

    /// Small files, so that compaction has something to do; two boards with checkpoints and changes behind them, and one without.
    private static func bench() throws -> BoardBench {
        var settings = BoardSettings()
        (settings.compactionBytes, settings.stepBytes) = (200, 100)
        let bench = try BoardBench(SimulatedStorage(), settings)
        for board in [1, 2] as [UInt64] {
            try bench.create(board)
            for number in 0..<8 { try bench.apply([(board, BoardBench.put("k\(number % 3)", Array("\(secret) \(number)".utf8)))]) }
        }
        try bench.store.checkpoint()
        for board in [1, 2] as [UInt64] { try bench.apply([(board, BoardBench.put("late", [UInt8(board)]))]) }
        try bench.create(3)
        try bench.apply([(3, BoardBench.put("new", [3]))])
        return bench
    }

    private static func state(_ bench: BoardBench) throws -> [[String]] {
        try bench.recovery.boards.map { board in
            try bench.read(board.board, isFresh: true).items.map { item in
                guard case .record(let put, _, _) = item.content else { return item.short }
                return "\(item.short) \(put.payload)"
            }
        }
    }

    /// A disk with the copy, read with a step of something else before each piece.
    private static func copied(_ copy: StoreCopy, _ bench: BoardBench, piece: Int = 64, before: (Int) throws -> Void) throws
        -> SimulatedDisk
    {
        var disk = SimulatedDisk(), pieces = 0
        for file in copy.files {
            disk.create(file.name)
            var offset = 0
            while offset < file.byteCount {
                try before(pieces)
                pieces += 1
                let bytes = try bench.store.readCopy(of: file, at: offset, bytesMax: piece)
                disk.write(bytes, to: file.name, at: offset)
                offset += bytes.count
            }
        }
        disk.create(copy.anchorFile)
        disk.write(copy.anchor, to: copy.anchorFile, at: 0)
        return disk
    }

    private static func erase(_ bench: BoardBench) {
        bench.store.erase(StoreErasure(token: 5, boards: [1: [Array("ann".utf8): 1000]], marks: []))
    }

    /// What happens while a copy is read: draws, compacts, ends boards, erases.
    private static func disturb(_ bench: BoardBench, _ number: Int) throws {
        bench.wall += 1
        switch number {
        case 1: try bench.apply([(2, .drop)])
        case 3: try bench.apply([(1, .clear)], author: "bob")
        case 4: try bench.store.checkpoint()
        case 6: erase(bench)
        default:
            try bench.apply([(1, BoardBench.put("x", [UInt8](repeating: UInt8(number & 255), count: 40)))], author: "bob")
            _ = try bench.store.step(wall: bench.wall)
            _ = try bench.journal.compactStep(bytesMax: 200)
        }
    }

    @Test("[SG4] a copy read during writes, a checkpoint, compaction, an erasure and the end of a board is the state of its first moment")
    func consistent() throws {
        let bench = try Self.bench()
        let expected = try Self.state(bench.reopened(bench.storage.crashed(.takesNothing)))
        #expect(expected.count == 3 && expected.joined().count == 9)
        let disk = try Self.copied(bench.store.beginCopy(), bench) { try Self.disturb(bench, $0) }
        bench.store.endCopy()
        try bench.work()
        #expect(bench.boardFiles.count == 2, "board 2 is gone, and so is what compaction has replaced")
        let again = try bench.reopened(SimulatedStorage(disk))
        #expect(try Self.state(again) == expected && again.recovery.lines.isEmpty)
    }

    @Test("[AC14] an erasure that is begun during a copy is answered when the copy has what is to go, and then nothing of it is left")
    func erases() throws {
        let bench = try Self.bench()
        try bench.apply(["k0", "k1", "k2"].map { (1, .remove(key: Array($0.utf8))) }, author: "host")
        try bench.apply(["k0", "k1", "k2"].map { (2, .remove(key: Array($0.utf8))) }, author: "host")
        let copy = bench.store.beginCopy()
        bench.store.erase(StoreErasure(token: 5, boards: [1: [Array("ann".utf8): 1000], 2: [Array("ann".utf8): 1000]], marks: []))
        // It rests instead of asking again and again.
        try bench.work()
        #expect(try !bench.store.step(wall: bench.wall) && !bench.journal.compactStep(bytesMax: 100_000))
        #expect(bench.store.takeErased().isEmpty && Self.holders(bench.storage.disk).count == 3 && bench.store.bytesHeld > 0)
        var isAnswered = false
        _ = try Self.copied(copy, bench) { _ in
            try bench.work()
            if !bench.store.takeErased().isEmpty { isAnswered = true }
            #expect(!isAnswered)
        }
        try bench.work()
        #expect(bench.store.takeErased().map(\.failure) == [nil] && Self.holders(bench.storage.disk).isEmpty)
        #expect(bench.store.bytesHeld == 0)
    }

    @Test("a copy that is given up lets go what it has held, journal and boards")
    func givenUp() throws {
        let bench = try Self.bench()
        _ = bench.store.beginCopy()
        try bench.apply([(1, .drop), (2, .drop)])
        try bench.store.checkpoint()
        #expect(bench.boardFiles.count == 3 && bench.store.bytesHeld > 0)
        bench.store.endCopy()
        #expect(bench.boardFiles.count == 1 && bench.store.bytesHeld == 0)
    }

    @Test("[SG4] a crash at any moment of a copy, with an erasure beside it, leaves the folder whole", arguments: [1, 2] as [UInt64])
    func crashes(seed: UInt64) throws {
        let bench = try Self.bench()
        var disks: [(SimulatedDisk, applied: UInt64)] = []
        bench.storage.afterChange = { disks.append(($0.disk, bench.journal.lastSequence)) }
        _ = try Self.copied(bench.store.beginCopy(), bench) { try Self.disturb(bench, $0) }
        try bench.work()
        bench.store.endCopy()
        try bench.work()
        bench.storage.afterChange = nil
        #expect(disks.count > 100)
        for (disk, applied) in stride(from: Int(seed) * 3, to: disks.count, by: 9).map({ disks[$0] }) {
            for crash in [SimulatedDisk.Crash.takesAll, .takesNothing, .init(seed: seed)] {
                let again = try bench.reopened(SimulatedStorage(disk.afterCrash(crash)))
                #expect(again.journal.lastSequence >= applied && again.recovery.lines.isEmpty)
            }
        }
    }

    @Test("a file that is shorter than it was ends the copy with its name and lengths")
    func cut() throws {
        let bench = try Self.bench()
        let file = try #require(bench.store.beginCopy().files.last)
        try bench.storage.truncate(file.name, to: 20)
        #expect(try bench.store.readCopy(of: file, at: 0, bytesMax: 1000).count == 20)
        let error = #expect(throws: StorageError.self) { try bench.store.readCopy(of: file, at: 20, bytesMax: 1000) }
        #expect(error?.description == "read \(file.name): it ends at 20 and had \(file.byteCount) bytes")
    }
}
