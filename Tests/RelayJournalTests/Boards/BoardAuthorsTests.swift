import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// Who wrote what is on a board.
@Suite struct BoardAuthorsTests {
    private func ask(_ bench: BoardBench, _ key: String, keysMax: Int = 0, board: UInt64 = 1) throws -> BoardAuthors? {
        bench.store.readAuthors(BoardAuthorsRead(token: 5, board: board, keys: [Array(key.utf8)], keysMax: keysMax))
        try bench.work()
        return bench.store.takeAuthors().first
    }

    private func author(_ bench: BoardBench, _ key: String) throws -> String? {
        switch try ask(bench, key)?.outcome {
        case .each(let authors)?: return authors[0].map { String(decoding: $0, as: UTF8.self) }
        // Of an empty board it is all.
        case .all(let table)? where table.count == 0: return nil
        default: throw Broken("not the answer about one key")
        }
    }

    private func written() throws -> BoardBench {
        let bench = try BoardBench()
        try bench.create(1)
        for (key, user) in [("a", "ann"), ("b", "bob"), ("c", "ann")] { try bench.apply([(1, BoardBench.put(key, [1]))], author: user) }
        return bench
    }

    @Test(
        "[BL10] the author of a key is that of its newest record; without a record it has none, and an undone clear brings back whose it was"
    )
    func newest() throws {
        let bench = try written()
        #expect(try author(bench, "a") == "ann" && author(bench, "b") == "bob" && author(bench, "none") == nil)
        try bench.apply([(1, BoardBench.put("a", [2]))], author: "bob")
        try bench.apply([(1, .remove(key: Array("b".utf8)))], author: "ann")
        #expect(try author(bench, "a") == "bob" && author(bench, "b") == nil)
        try bench.apply([(1, .clear)], author: "mod")
        #expect(try author(bench, "a") == nil && author(bench, "c") == nil)
        try bench.apply([(1, BoardBench.put("c", [3]))], author: "cid")
        try bench.apply([(1, .undo(clear: 6, count: 2))], author: "mod")
        #expect(try author(bench, "a") == "bob" && author(bench, "c") == "cid" && author(bench, "b") == nil)
        #expect(try ask(bench.reopened(), "a") == ask(bench, "a"))
    }

    @Test("[BL10] a board with few keys tells of all, one key more and it tells of the one; both say up to which change")
    func bounds() throws {
        let bench = try written().reopened()
        guard case .all(let table)? = try ask(bench, "a", keysMax: 3)?.outcome else { throw Broken("not of all") }
        #expect(table.count == 3 && table[Array("b".utf8)] == Array("bob".utf8) && table[Array("none".utf8)] == nil)
        #expect(try ask(bench, "a", keysMax: 2)?.outcome == .each([Array("ann".utf8)]))
        #expect(try ask(bench, "a", keysMax: 2)?.through == 3 && ask(bench, "a", keysMax: 3)?.through == 3)
    }

    @Test("[BL10] a file that cannot be read, a board that is not there and one that goes while it is read are told as such")
    func failures() throws {
        let bench = try written().reopened()
        bench.storage.faults = [.init(1...Int.max, of: .read)]
        guard case .failed? = try ask(bench, "a")?.outcome else { throw Broken("not told as failed") }
        bench.storage.faults = []
        #expect(try ask(bench, "a")?.outcome == .each([Array("ann".utf8)]))
        #expect(try ask(bench, "a", board: 9)?.outcome == .gone)
        let next = try bench.reopened()
        next.store.readAuthors(BoardAuthorsRead(token: 6, board: 1, keys: [Array("a".utf8)], keysMax: 0))
        try next.apply([(1, .drop)])
        try next.work()
        #expect(next.store.takeAuthors().map(\.outcome) == [.gone], "its end had been written before the file was read")
    }
}
