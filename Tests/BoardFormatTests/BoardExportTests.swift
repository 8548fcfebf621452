import RelayPrimitives
import Foundation
import Testing

@testable import BoardFormat

@Suite("an exported board")
struct BoardExportTests {
    static let records = [
        WhiteboardRecord(key: "title", customType: "title", payload: .text("{\"text\":\"Ink\",\"v\":1}")),
        WhiteboardRecord(key: "s 1", payload: .text("line\nfeed \"é\" \u{1}\u{2028}\r")),
        WhiteboardRecord(key: "photo", customType: "ünder", payload: .bytes([0, 255, 128, 7])),
    ]
    static let document =
        "{\"format\":\"board\",\"records\":[\n"
        + #"{"customType":"title","key":"title","text":"{\"text\":\"Ink\",\"v\":1}"}"# + "\n"
        + #",{"key":"s 1","text":"line\nfeed \"é\" \u0001"# + "\u{2028}" + #"\r"}"# + "\n"
        + #",{"base64":"AP+ABw==","customType":"ünder","key":"photo"}"# + "\n"
        + "],\"version\":1}\n"

    static func write(_ records: [WhiteboardRecord]) throws -> [UInt8] {
        var writer = BoardExportWriter()
        var document = writer.head()
        for record in records { document += try writer.line(record) }
        return document + writer.tail()
    }

    static func read(_ pieces: [[UInt8]], recordBytesMax: Int = BoardLimits.recordBytesMax) throws(BoardExportError) -> [WhiteboardRecord] {
        var reader = BoardExportReader(recordBytesMax: recordBytesMax)
        var records: [WhiteboardRecord] = []
        for piece in pieces { try reader.read(piece, into: &records) }
        try reader.finish()
        return records
    }

    @Test("the same records are the same bytes, one record a line")
    func written() throws {
        #expect(text(try Self.write(Self.records)) == Self.document)
        #expect(text(try Self.write([])) == "{\"format\":\"board\",\"records\":[\n],\"version\":1}\n")
        #expect(try BoardFields(reading: bytes(Self.document)).array("records").count == 3, "as a whole it is one JSON document")
    }

    @Test("the example of the page is read, and written again as it is")
    func page() throws {
        let page = try String(contentsOf: Files.packageRoot.appending(path: "docs/board-format.md"), encoding: .utf8)
        let start = try #require(page.range(of: "```text\n"))
        let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
        let example = bytes(String(page[start.upperBound..<end.lowerBound]))
        let records = try Self.read([example])
        #expect(records.count == 2)
        #expect(text(try Self.write(records)) == text(example))
    }

    @Test("what was written is read as it was, however it is cut")
    func cuts() throws {
        let document = bytes(Self.document)
        for cut in 0...document.count {
            #expect(try Self.read([Array(document[..<cut]), Array(document[cut...])]) == Self.records)
        }
        #expect(try Self.read(document.map { [$0] }) == Self.records)
        #expect(try Self.read([try Self.write([])]) == [])
        #expect(try Self.read([bytes(Self.document.replacing("\n", with: "\r\n"))]) == Self.records, "an editor or git may have put CR LF")
    }

    @Test("a document that ends early is refused, wherever it ends")
    func ends() throws {
        let document = bytes(Self.document)
        // Only the very last line feed may be missing.
        for count in 0..<(document.count - 1) {
            #expect(throws: BoardExportError.self, "\(count) bytes") { try Self.read([Array(document.prefix(count))]) }
        }
        #expect(try Self.read([document.dropLast()]) == Self.records)
    }

    @Test(
        "what is wrong is told with its line",
        arguments: [
            (0, "{\"records\":[", "line 1: {\"format\":\"board\",\"records\":[ is expected"),
            (1, "", "line 2: a record is expected"),
            (1, ",{\"key\":\"a\",\"text\":\"b\"}", "line 2: the first record has no comma"),
            (2, "{\"key\":\"a\",\"text\":\"b\"}", "line 3: a comma is expected"),
            (2, ",{\"key\":\"title\",\"text\":\"b\"}", "line 3: key title stands on line 2 already"),
            (2, ",{\"key\":\"a\",\"text\":\"b\"},", "line 3: JSON, byte 22: nothing may follow the object"),
            (2, ",{\"key\":\"a\",\"text\":\"b\"", "line 3: JSON, byte 21"),
            (2, ",{\"key\":\"a\"}", "line 3: field text, or base64, is missing"),
            (2, ",{\"text\":\"a\"}", "line 3: field key is missing"),
            (2, ",{\"key\":\"a\",\"text\":\"\"}", "line 3: field text: a record has at least 1 byte"),
            (2, ",{\"base64\":\"AA==\",\"key\":\"a\",\"text\":\"b\"}", "line 3: field base64: a record has text or base64, not both"),
            (2, ",{\"base64\":\"AB==\",\"key\":\"a\"}", "line 3: field base64: base64 with padding"),
            (2, ",{\"base64\":\"AA\",\"key\":\"a\"}", "line 3: field base64: base64 with padding"),
            (2, ",{\"key\":\"a\",\"sender\":\"x\",\"text\":\"b\"}", "line 3: field sender: a record has"),
            (2, ",{\"key\":\"_a\",\"text\":\"b\"}", "line 3: field key: a key does not start with _"),
            (2, ",{\"key\":\"a/b\",\"text\":\"b\"}", "line 3: field key: a key has none of"),
            (2, ",{\"key\":\"é\",\"text\":\"b\"}", "line 3: field key: a key is made of ASCII"),
            (2, ",{\"key\":\"\",\"text\":\"b\"}", "line 3: field key is within 1…64, here it is 0"),
            (2, ",{\"customType\":\"\",\"key\":\"a\",\"text\":\"b\"}", "line 3: field customType is within 1…32"),
            (2, ",{\"key\":7,\"text\":\"b\"}", "line 3: field key is a string"),
            (4, "],\"version\":2}", "line 5: ],\"version\":1} is expected"),
            (4, "],\"version\":1}\n{}", "line 6: nothing may follow the board"),
        ] as [(Int, String, String)])
    func problems(line: Int, text: String, problem: String) throws {
        var lines = Self.document.split(separator: "\n").map(String.init)
        lines[line] = text
        let error = #expect(throws: BoardExportError.self) { try Self.read([bytes(lines.joined(separator: "\n") + "\n")]) }
        #expect("\(try #require(error))".hasPrefix(problem), "\(error!)")
    }

    @Test("a record of the largest size is read, one byte more and an endless line are refused")
    func sizes() throws {
        func record(_ count: Int) -> WhiteboardRecord {
            WhiteboardRecord(key: "k", customType: "ab", payload: .bytes(Array(repeating: 1, count: count)))
        }
        let largest = try Self.write([record(98)])
        #expect(try Self.read([largest], recordBytesMax: 100) == [record(98)])
        let error = #expect(throws: BoardExportError.self) { try Self.read([try Self.write([record(99)])], recordBytesMax: 100) }
        #expect(error?.description == "line 2: at most 100 bytes are allowed, here are 101")
        var reader = BoardExportReader(recordBytesMax: 100)
        var records: [WhiteboardRecord] = []
        try reader.read(bytes(BoardExport.head + "\n"), into: &records)
        let piece = [UInt8](repeating: 0x20, count: 1_000)
        var taken = 0
        let endless = #expect(throws: BoardExportError.self) {
            while true {
                try reader.read(piece, into: &records)
                taken += piece.count
            }
        }
        #expect(endless?.description.hasPrefix("line 2: the line has more than 4696 bytes") == true && taken == 4_000)
    }

    @Test("a writer refuses what a reader would", arguments: ["", "_a", " a", "a*", "\u{7F}", String(repeating: "x", count: 65)])
    func refusedByTheWriter(key: String) {
        var writer = BoardExportWriter()
        #expect(throws: BoardError.self) { try writer.line(WhiteboardRecord(key: key, payload: .text("x"))) }
        #expect(throws: BoardError.self) { try writer.line(WhiteboardRecord(key: "k", payload: .bytes([]))) }
    }

    @Test("base64 of every length and byte comes back, and only its one form is read")
    func base64() {
        for count in 0...300 {
            let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 197) }
            #expect(Base64.decode(Base64.encode(data)) == data)
        }
        #expect(text(Base64.encode(bytes("foob"))) == "Zm9vYg==" && text(Base64.encode(bytes("fooba"))) == "Zm9vYmE=")
        for wrong in ["Zm9vYh==", "Zm9vYmF=", "Zm9v====", "====", "Zg==Zg==", "Zm 9", "Zm9", "Zg=x", "Zm9-"] {
            #expect(Base64.decode(bytes(wrong)) == nil, "\(wrong)")
        }
    }

    @Test("a real board comes back, and is exported again as it was")
    func realBoard() throws {
        let plan = try ReplayPlan(Files.drawings(Files.longStrokes).boards, .init(idPrefix: "s"))
        let records = try plan.drawing.map { stroke throws in try stroke.record() }
        #expect(records.contains { $0.payload.count > BoardLimits.messageBytesMax }, "each stroke is one record, however long")
        let document = try Self.write(records)
        let read = try Self.read([document])
        #expect(read == records)
        #expect(try Self.write(read) == document)
        for (record, stroke) in zip(read, plan.drawing) {
            let message = try BoardMessage.decode(
                customType: record.customType, payload: record.payload.bytes, bytesMax: BoardLimits.recordBytesMax)
            #expect(record.key == stroke.id.text && message == .stroke(StrokePart(stroke)))
        }
    }
}
