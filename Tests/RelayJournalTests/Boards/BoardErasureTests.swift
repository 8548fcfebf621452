import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// What was removed from boards is in no file, and in no record of the journal, when an erasure has ended.
@Suite struct BoardErasureTests {
    private static let secret = "what ann drew"
    private static let ann = Array("ann".utf8)

    private static func holders(_ disk: SimulatedDisk) -> [String] {
        disk.list.filter { String(decoding: disk.contents($0)!, as: UTF8.self).contains(secret) }
    }

    private static func drawn(_ key: String) -> StoredChange.Kind { BoardBench.put(key, Array("\(secret) \(key)".utf8)) }

    /// Of ann: two records that were removed, one that bob replaced, one that a clear took away, a part that waits. Of bob: two records.
    private static func bench() throws -> BoardBench {
        let bench = try BoardBench()
        try bench.create(1)
        try bench.apply([(1, drawn("cleared"))])
        try bench.apply([(1, BoardBench.put("b0", [0]))], author: "bob")
        try bench.apply([(1, .clear)], author: "bob")
        for key in ["a1", "a2", "taken"] { try bench.apply([(1, drawn(key))]) }
        try bench.store.checkpoint()
        try bench.apply([(1, BoardBench.put("taken", [1]))], author: "bob")
        try bench.apply([(1, BoardBench.put("b1", [2]))], author: "bob")
        try bench.apply([(1, .part(upload: 77, number: 1, payload: Array(secret.utf8)))])
        try bench.apply(["a1", "a2", "cleared"].map { (1, .remove(key: Array($0.utf8))) }, author: "host")
        return bench
    }

    private static func erase(_ bench: BoardBench, boards: [UInt64] = [1]) throws -> String? {
        let answer = try answer(bench, boards: boards)
        return answer.failure ?? answer.boards.values.first
    }

    private static func answer(_ bench: BoardBench, boards: [UInt64] = [1]) throws -> StoreErased {
        bench.store.erase(
            StoreErasure(
                token: 5, boards: Dictionary(uniqueKeysWithValues: boards.map { ($0, [ann: 100]) }),
                marks: [.init(key: [69, 1]), .init(key: [69, 2], user: ann)]))
        for _ in 0..<10_000 {
            if let answer = bench.store.takeErased().first { return answer }
            _ = try bench.store.step(wall: bench.wall)
        }
        throw Broken("no answer")
    }

    private static func check(_ bench: BoardBench) throws {
        #expect(try bench.read(isFresh: true).items.map(\.short).filter { !$0.hasPrefix("a") } == ["taken@7", "b1@8"])
        let found = try found(bench)
        #expect(found.keys.isEmpty)
    }

    private static func found(_ bench: BoardBench, through: UInt64 = .max, max: Int = 100) throws -> (keys: [String], isInFile: Bool) {
        bench.store.findRecords(StoredRecordsRead(token: 6, board: 1, users: [ann: through], recordsMax: max))
        for _ in 0..<10_000 {
            if let answer = bench.store.takeRecords().first, case .found(let found, let users) = answer.outcome {
                return (found.map { String(decoding: $0.key, as: UTF8.self) }, users == [ann])
            }
            _ = try bench.store.step(wall: bench.wall)
        }
        throw Broken("no answer")
    }

    @Test("[AC14] removed, replaced and cleared records and parts are in no file then; others' records and the markers of removals are")
    func erases() throws {
        let bench = try Self.bench()
        #expect(Self.holders(bench.storage.disk).count == 2, "the journal and the board's file")
        #expect(try Self.erase(bench) == nil)
        #expect(Self.holders(bench.storage.disk).isEmpty)
        for crash in [SimulatedDisk.Crash.takesAll, .takesNothing] {
            #expect(Self.holders(bench.storage.disk.afterCrash(crash)).isEmpty)
            let again = try bench.reopened(bench.storage.crashed(crash))
            try Self.check(again)
            #expect(again.recovery.lines.isEmpty && again.recovery.userBytes[Self.ann] == nil)
            #expect(try again.read(above: 6).items.map(\.short) == ["taken@7", "b1@8", "-a1@9", "-a2@10", "-cleared@11"])
        }
        let again = try bench.reopened()
        #expect(try Self.found(again).isInFile == false)
        try again.apply([(1, .undo(clear: 3, count: 2))], author: "bob")
        #expect(try again.read(isFresh: true).items.map(\.short) == ["taken@7", "b1@8", "b0@13"], "what others drew comes back")
    }

    @Test(
        "[AC14, SG4] wherever a crash falls, only what was removed is gone, and the erasure can be asked for again",
        arguments: [1, 2] as [UInt64])
    func crashes(seed: UInt64) throws {
        let bench = try Self.bench()
        var disks: [SimulatedDisk] = []
        bench.storage.afterChange = { disks.append($0.disk) }
        #expect(try Self.erase(bench) == nil)
        bench.storage.afterChange = nil
        #expect(disks.count > 10)
        for disk in disks {
            for crash in [SimulatedDisk.Crash.takesAll, .takesNothing, .init(seed: seed)] {
                let again = try bench.reopened(SimulatedStorage(disk.afterCrash(crash)))
                try Self.check(again)
                #expect(try Self.erase(again) == nil)
                #expect(Self.holders(again.storage.disk.afterCrash(.takesAll)).isEmpty)
                try Self.check(again.reopened(again.storage.crashed(.takesAll)))
            }
        }
    }

    @Test("[BL9] a board that was dropped is in no file then, whether a checkpoint knew it or not", arguments: [true, false])
    func dropped(isSaved: Bool) throws {
        let bench = try Self.bench()
        if isSaved { try bench.store.checkpoint() }
        try bench.create(2)
        try bench.apply([(2, BoardBench.put("other", [9]))])
        try bench.apply([(1, .drop)])
        #expect(try Self.erase(bench, boards: []) == nil)
        #expect(Self.holders(bench.storage.disk.afterCrash(.takesAll)).isEmpty && Self.holders(bench.storage.disk).isEmpty)
        let again = try bench.reopened(bench.storage.crashed(.takesAll))
        #expect(again.recovery.boards.map(\.board) == [2])
    }

    @Test("[AC14] whose records a board has is told, with those that an undone clear would bring back, up to a change and a number")
    func finds() throws {
        let bench = try BoardBench()
        try bench.create(1)
        for key in ["c1", "c2"] { try bench.apply([(1, Self.drawn(key))]) }
        try bench.apply([(1, .clear)], author: "bob")
        try bench.apply([(1, BoardBench.put("c2", [1]))], author: "bob")
        for key in ["a1", "a2", "a3"] { try bench.apply([(1, Self.drawn(key))]) }
        #expect(try Self.found(bench).keys == ["c1", "a1", "a2", "a3"])
        #expect(try Self.found(bench, through: 7).keys == ["c1", "a1", "a2"] && Self.found(bench, max: 2).keys == ["c1", "a1"])
        // Cleared since: it is the record's own change that counts.
        #expect(try Self.found(bench, through: 3).keys == ["c1"] && Self.found(bench, through: 0).keys.isEmpty)
        bench.store.findRecords(StoredRecordsRead(token: 8, board: 9, users: [Self.ann: .max], recordsMax: 1))
        #expect(bench.store.takeRecords() == [StoredRecords(token: 8, outcome: .gone)])
    }

    @Test("[AC14] a file that cannot be written anew is told, and stays as it was; so is a quarantine, which the log names")
    func fails() throws {
        let bench = try Self.bench()
        let created = bench.count(.create)
        bench.storage.faults = [.init((created + 1)...(created + 3), of: .create)]
        let answer = try Self.answer(bench)
        #expect(
            answer.failure == nil && answer.boards[1]?.contains("cannot be written anew") == true
                && !Self.holders(bench.storage.disk).isEmpty)
        #expect(answer.marks == [[69, 1]], "the request of ann is not done, the other one is")
        bench.storage.faults = []
        bench.storage.disk.list.forEach { #expect(!$0.hasPrefix("quarantine-")) }
        try bench.storage.create("quarantine-0000000000000001-64.bin")
        #expect(try Self.erase(bench) == nil && Self.holders(bench.storage.disk).isEmpty)
        #expect(bench.store.takeLines().contains { $0.hasPrefix("quarantine-0000000000000001-64.bin keeps damaged bytes") })
    }

    @Test("[AC14, AC18] what a user has begun on another board stays; a mark of a board waits for that board alone")
    func perBoard() throws {
        let bench = try BoardBench()
        for board in [1, 2] as [UInt64] {
            try bench.create(board)
            try bench.apply([(board, Self.drawn("a"))])
            try bench.apply([(board, .part(upload: 70 + board, number: 1, payload: Array(Self.secret.utf8)))])
        }
        let created = bench.count(.create)
        bench.storage.faults = [.init((created + 1)...(created + 3), of: .create)]
        let marks = [StoreErasure.Mark(key: [69, 1], user: Self.ann, board: 1), .init(key: [69, 2], user: Self.ann, board: 2)]
        bench.store.erase(StoreErasure(token: 5, boards: [1: [Self.ann: 100], 2: [Array("bob".utf8): 100]], marks: marks))
        try bench.work()
        let answer = bench.store.takeErased()
        #expect(answer.map(\.marks) == [[[69, 2]]] && answer.first?.boards.keys.map { $0 } == [1])
        let whole = BoardPut(key: Array("big".utf8), isText: false, customType: nil, payload: [], upload: 72, parts: 2)
        try bench.apply([(2, .part(upload: 72, number: 2, payload: [1])), (2, .put(whole))])
        #expect(try bench.read(2, isFresh: true).items.contains { $0.short.hasPrefix("big") })
    }

    @Test("[AC14] an erasure while another one is under way is refused, and the first one goes on")
    func another() throws {
        let bench = try Self.bench()
        bench.store.erase(StoreErasure(token: 4, boards: [1: [Self.ann: 100]]))
        bench.store.erase(StoreErasure(token: 5))
        #expect(bench.store.takeErased() == [StoreErased(token: 5, failure: "another erasure is under way")])
        try bench.work()
        #expect(bench.store.takeErased() == [StoreErased(token: 4)])
    }

    @Test("[AC14] while an erasure goes on, changes are checkpointed, and boards that nobody uses are let go of")
    func upkeep() throws {
        var settings = BoardSettings()
        (settings.checkpointBytes, settings.stepBytes) = (1_000, 100)
        let bench = try BoardBench(SimulatedStorage(), settings)
        for board in [1, 2] as [UInt64] { try bench.create(board) }
        for number in 0..<50 { try bench.apply([(1, Self.drawn("a\(number)"))]) }
        try bench.store.checkpoint()
        bench.store.erase(StoreErasure(token: 4, boards: [1: [Self.ann: 100]]))
        for _ in 0..<3 { _ = try bench.store.step(wall: bench.wall) }
        try bench.apply([(2, BoardBench.put("b", [UInt8](repeating: 1, count: 2_000)))])
        bench.wall += settings.idleMilliseconds + 1
        for _ in 0..<2 { _ = try bench.store.step(wall: bench.wall) }
        #expect(bench.store.unsavedBytes == 0 && bench.store.loadedBoards == 1 && bench.store.takeErased().isEmpty)
        try bench.work()
        #expect(bench.store.takeErased() == [StoreErased(token: 4)])
    }
}
