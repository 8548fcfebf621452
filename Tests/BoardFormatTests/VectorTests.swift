import Foundation
import RelayPrimitives
import Testing

@testable import BoardFormat

struct BoardVector: CustomTestStringConvertible, Sendable {
    var name: String
    var kind: String
    var reader: String
    var payload: String
    var testDescription: String { name }

    static let all: [BoardVector] = {
        let file = Files.packageRoot.appending(path: "docs/vectors/board.tsv")
        let rows = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return rows.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { row in
            let cells = row.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return BoardVector(name: cells[0], kind: cells[1], reader: cells[2], payload: cells[3])
        }
    }()

    /// Reads the payload and writes it again.
    func rewritten() throws(BoardError) -> [UInt8] {
        if kind == BoardWords.pointsTopic { return try PointPacket.decode(bytes(payload)).encoded() }
        guard let message = try BoardMessage.decode(customType: kind, payload: bytes(payload)) else { return [] }
        return try message.encoded()
    }
}

@Suite("the board format's vectors")
struct VectorTests {
    @Test("there are rows of every kind and for every error but the one that needs a large file")
    func complete() {
        #expect(Set(BoardVector.all.map(\.kind)) == ["stroke", "text", "image", "title", "erase", "move", "points"])
        #expect(
            Set(BoardVector.all.map(\.reader)) == [
                "ok", "reads", "badJSON", "missingField", "wrongType", "outOfRange", "badValue", "unsupportedVersion",
            ])
    }

    @Test("a reader makes of each payload what its row says", arguments: BoardVector.all)
    func reads(vector: BoardVector) {
        do throws(BoardError) {
            let again = try vector.rewritten()
            switch vector.reader {
            case "ok": #expect(text(again) == vector.payload)
            case "reads": #expect(text(again) != vector.payload && !again.isEmpty)
            default: Issue.record("\(vector.name) was read, \(vector.reader) was expected")
            }
        } catch {
            #expect(error.name == vector.reader, "\(error)")
        }
    }

    @Test("what is written is read as the same", arguments: BoardVector.all.filter { $0.reader == "reads" })
    func canonical(vector: BoardVector) throws {
        let once = try vector.rewritten()
        let again = BoardVector(name: "", kind: vector.kind, reader: "ok", payload: text(once))
        #expect(try again.rewritten() == once)
    }

    @Test("no payload that is cut short or has one byte changed traps", arguments: BoardVector.all)
    func damaged(vector: BoardVector) {
        let whole = bytes(vector.payload)
        func feed(_ payload: [UInt8]) {
            _ = try? BoardMessage.decode(customType: vector.kind, payload: payload)
            _ = try? PointPacket.decode(payload)
        }
        for cut in 0..<max(whole.count, 1) { feed(Array(whole.prefix(cut))) }
        var dice = SplitMix64(seed: UInt64(whole.count))
        // Three bytes for each place: all that structure is made of, in all places, would take a debug build eleven seconds.
        let marks: [UInt8] = [0, 0x22, 0x2D, 0x39, 0x5B, 0x5D, 0x7B, 0x7D, 0x80, 0xFF]
        for position in whole.indices {
            var payload = whole
            for byte: UInt8 in [marks.randomElement(using: &dice)!, marks[position % marks.count], .random(in: 0...255, using: &dice)] {
                payload[position] = byte
                feed(payload)
            }
        }
    }

    @Test("the examples of the page are read", arguments: ["docs/board-format.md"])
    func examples(path: String) throws {
        let page = try String(contentsOf: Files.packageRoot.appending(path: path), encoding: .utf8)
        // Lines of recordings, and what pages tell each other, are no board's.
        let others = ["\"board\"", "\"view\"", "\"laser\""]
        let lines = page.split(separator: "\n").filter { line in line.hasPrefix("    {") && !others.contains { line.contains($0) } }
            .map { String($0.dropFirst(4)) }
        #expect(lines.count == 9)
        for line in lines {
            let isVector = BoardVector.all.contains { $0.payload == line && $0.reader == "ok" }
            let isPacket = (try? PointPacket.decode(bytes(line)))?.first == 2
            #expect(isVector || isPacket, "\(line)")
        }
        #expect(page.contains("That is 106 bytes of payload") && lines.contains { $0.utf8.count == 106 })
    }
}
