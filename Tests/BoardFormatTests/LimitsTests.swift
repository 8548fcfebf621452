import Foundation
import Testing

@testable import BoardFormat

@Suite("the board format's limits")
struct LimitsTests {
    @Test("the page says the same numbers")
    func page() throws {
        let page = try String(contentsOf: Files.packageRoot.appending(path: "docs/board-format.md"), encoding: .utf8)
        func grouped(_ number: Int) -> String {
            var text = ""
            for (index, digit) in String(abs(number)).reversed().enumerated() {
                if index > 0, index.isMultiple(of: 3) { text = "," + text }
                text = String(digit) + text
            }
            return (number < 0 ? "−" : "") + text
        }
        for range in [
            BoardLimits.coordinate, BoardLimits.width, BoardLimits.textSize, BoardLimits.pressure, BoardLimits.time,
            BoardLimits.z, BoardLimits.pointIndex, BoardLimits.idBytes, BoardLimits.textBytes, BoardLimits.titleBytes,
            BoardLimits.ids, BoardLimits.side, BoardLimits.imagePixels, BoardLimits.imageBytes,
            BoardLimits.descriptionBytes,
        ] {
            #expect(page.contains("\(grouped(range.lowerBound))…\(grouped(range.upperBound))"), "\(range)")
        }
        #expect(page.contains("**\(grouped(BoardLimits.recordBytesMax)) bytes**"))
        #expect(page.contains("**32,768 bytes**") && page.contains("**1,024 bytes**") && page.contains("at most 256"))
        #expect(page.contains("nesting deeper than \(BoardLimits.depthMax)"))
    }

    @Test("the largest erase, text and title fit into one message")
    func largestFit() throws {
        let id = try ElementID(String(repeating: "x", count: 64))
        let ids = Array(repeating: id, count: 400)
        let worst = String(repeating: "\u{1}", count: 4_096)
        for message in [
            BoardMessage.erase(ids), .move(ids, dx: -1_000_000_000, dy: -1_000_000_000),
            .text(BoardText(id: id, z: BoardLimits.z.lowerBound, x: -1_000_000_000, y: 0, size: 1_000_000, text: worst)),
            .title(String(repeating: "\u{1}", count: 256)),
        ] {
            let payload = try message.encoded()
            #expect(payload.count + message.customType.utf8.count <= BoardLimits.messageBytesMax)
            #expect(try BoardMessage.decode(customType: message.customType, payload: payload) == message)
        }
    }

    @Test("a text of the largest size fits into a message, unless most of it is escaped: then it is a record")
    func largestText() throws {
        var large = BoardText(id: try ElementID("x"), z: 0, x: 0, y: 0, size: 100, text: String(repeating: "é", count: 8_192))
        #expect(try BoardMessage.decode(customType: "text", payload: BoardMessage.text(large).encoded()) == .text(large))
        large.text = String(repeating: "\u{1}", count: 16_384)
        #expect(throws: BoardError.tooLarge(limit: 32_768, actual: 98_383)) { try BoardMessage.text(large).encoded() }
        #expect(try Self.read(large.record()) == .text(large))
        large.text += "x"
        #expect(throws: BoardError.outOfRange(field: "text", limit: 1...16_384, actual: 16_385)) { try large.record() }
    }

    @Test("an image of 1 MiB is a record, and one byte more is refused by writer and reader")
    func largestImage() throws {
        var image = try BoardImageTests.image()
        image.data += Array(repeating: 0, count: BoardLimits.imageBytes.upperBound - image.data.count)
        let record = try image.record()
        #expect(try Self.read(record) == .image(image))
        #expect(throws: BoardError.self) { try BoardMessage.image(image).encoded() }
        image.data.append(0)
        #expect(throws: BoardError.outOfRange(field: "data", limit: 1...1_048_576, actual: 1_048_577)) { try image.record() }
        let over = text(record.payload.bytes).replacing("AA==\"", with: "AAAA\"")
        #expect(throws: BoardError.outOfRange(field: "data", limit: 1...1_048_576, actual: 1_048_578)) {
            _ = try BoardMessage.decode(customType: "image", payload: bytes(over), bytesMax: BoardLimits.recordBytesMax)
        }
    }

    static func read(_ record: WhiteboardRecord) throws -> BoardMessage? {
        try BoardMessage.decode(
            customType: record.customType, payload: record.payload.bytes, bytesMax: BoardLimits.recordBytesMax)
    }

    @Test("one more than a list or text may hold is refused by the writer, too")
    func oneOver() throws {
        let id = try ElementID("x")
        for message in [
            BoardMessage.erase(Array(repeating: id, count: 401)), .erase([]), .move([id], dx: 1_000_000_001, dy: 0),
            .title(String(repeating: "x", count: 257)),
            .text(BoardText(id: id, z: 0, x: 0, y: 0, size: 99, text: "x")),
            .text(BoardText(id: id, z: 0, x: 0, y: 0, size: 100, text: String(repeating: "x", count: 16_385))),
            .text(BoardText(id: id, z: 0, x: 0, y: 0, size: 100, text: "x", paper: .black)),
            .text(BoardText(id: id, z: 0, x: 0, y: 0, size: 100, text: "x", width: 99)),
        ] {
            #expect(throws: BoardError.self) { try message.encoded() }
        }
    }
}
