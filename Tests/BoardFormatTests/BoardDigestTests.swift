import Testing

@testable import BoardFormat

@Suite("a board's digest")
struct BoardDigestTests {
    static let stroke = WhiteboardRecord(key: "s1", customType: "stroke", payload: .text("{\"v\":1}"))
    static let title = WhiteboardRecord(key: "title", customType: "title", payload: .text("é"))
    static let photo = WhiteboardRecord(key: "p", payload: .bytes(Array(0..<17)))

    @Test("it is what the page's arithmetic gives")
    func vectors() {
        // Computed by docs/examples/board_digest.py.
        #expect(BoardDigest().description == "00000000000000000000000000000000")
        #expect(BoardDigest([Self.stroke]).description == "b22491af89c4f6f11c79c143257c93e9")
        #expect(BoardDigest([Self.title]).description == "7d8cf421b6d8b8ed3f76b60f10a67e90")
        #expect(BoardDigest([Self.photo]).description == "e7e591b18349ce509494387b2939bd5a")
        #expect(BoardDigest([Self.stroke, Self.title, Self.photo]).description == "17971782c3e77e2ef084afcd5f5ccfd3")
    }

    @Test("the order of the records does not matter, and one that is taken away was never there")
    func order() {
        let records = [Self.stroke, Self.title, Self.photo]
        var digest = BoardDigest(records.reversed())
        #expect(digest == BoardDigest(records) && digest.records == 3)
        digest.remove(Self.title)
        #expect(digest == BoardDigest([Self.photo, Self.stroke]))
        digest.insert(WhiteboardRecord(key: "title", customType: "title", payload: .text("è")))
        #expect(digest != BoardDigest(records))
    }

    @Test("whatever differs in one record, by one bit or by where one field ends, shows")
    func differences() {
        var seen: Set<BoardDigest> = []
        var count = 0
        func add(_ record: WhiteboardRecord) {
            seen.insert(BoardDigest([record]))
            count += 1
        }
        let payload = [UInt8](repeating: 0, count: 40)
        for length in 1...40 { add(WhiteboardRecord(key: "k", payload: .bytes(Array(payload.prefix(length))))) }
        for bit in 0..<320 {
            var changed = payload
            changed[bit / 8] ^= 1 << (bit % 8)
            add(WhiteboardRecord(key: "k", payload: .bytes(changed)))
        }
        for (key, type) in [("kt", nil), ("k", "t"), ("kt", "t"), ("k", "tt")] as [(String, String?)] {
            add(WhiteboardRecord(key: key, customType: type, payload: .text("x")))
            add(WhiteboardRecord(key: key, customType: type, payload: .bytes([0x78])))
            add(WhiteboardRecord(key: key, customType: type, payload: .text("tx")))
        }
        #expect(seen.count == count)
    }

    @Test("two boards that swapped what their keys hold differ")
    func swapped() {
        func record(_ key: String, _ text: String) -> WhiteboardRecord { WhiteboardRecord(key: key, payload: .text(text)) }
        #expect(BoardDigest([record("a", "1"), record("b", "2")]) != BoardDigest([record("a", "2"), record("b", "1")]))
    }
}
