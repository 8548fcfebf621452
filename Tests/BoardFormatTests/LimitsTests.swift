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
            BoardLimits.ids,
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

    @Test("one more than a list or text may hold is refused by the writer, too")
    func oneOver() throws {
        let id = try ElementID("x")
        for message in [
            BoardMessage.erase(Array(repeating: id, count: 401)), .erase([]), .move([id], dx: 1_000_000_001, dy: 0),
            .title(String(repeating: "x", count: 257)),
            .text(BoardText(id: id, z: 0, x: 0, y: 0, size: 99, text: "x")),
            .text(BoardText(id: id, z: 0, x: 0, y: 0, size: 100, text: String(repeating: "x", count: 4_097))),
        ] {
            #expect(throws: BoardError.self) { try message.encoded() }
        }
    }
}
