import RelayPrimitives
import Testing

@testable import BoardFormat

@Suite("strokes")
struct StrokeTests {
    static func stroke(points: Int, columns: PointColumns = []) throws -> Stroke {
        var dice = SplitMix64(seed: 7)
        return Stroke(
            id: try ElementID("s1"), z: 1, columns: columns,
            points: (0..<points).map { _ in
                BoardPoint(x: .random(in: -99_999...99_999, using: &dice), y: .random(in: -99_999...99_999, using: &dice))
            })
    }

    @Test("a stroke of 32,768 bytes with its custom type is one message, one byte more makes two")
    func bothSidesOfTheBound() throws {
        let stroke = try Self.stroke(points: 500)
        let whole = try stroke.payloads()[0].count + 6
        #expect(try stroke.payloads(bytesMax: whole).count == 1)
        #expect(try stroke.payloads(bytesMax: whole - 1).count == 2)

        // Filled up with points that lie on one another: four bytes each.
        var large = try Self.stroke(points: 2_000)
        large.points.append(BoardPoint(x: 0, y: 0))
        let room = 32_768 - (try large.payloads()[0].count + 6)
        large.points.append(contentsOf: Array(repeating: BoardPoint(x: 0, y: 0), count: room / 4))
        #expect(try large.payloads().count == 1)
        #expect(throws: Never.self) { try BoardMessage.stroke(StrokePart(large)).encoded() }
        large.points.append(BoardPoint(x: 0, y: 0))
        let parts = try large.payloads()
        #expect(parts.count == 2 && parts[0].count + 6 <= 32_768)
        #expect(throws: BoardError.self) { try BoardMessage.stroke(StrokePart(large)).encoded() }
    }

    @Test("parts are whole lines that give the stroke again", arguments: [200, 300, 1_000, 5_000])
    func splits(bytesMax: Int) throws {
        let stroke = try Self.stroke(points: 777)
        let payloads = try stroke.payloads(bytesMax: bytesMax)
        let parts = try payloads.map { payload in
            guard case .stroke(let part) = try BoardMessage.decode(customType: "stroke", payload: payload) else {
                throw BoardError.missingField("")
            }
            return part
        }
        #expect(payloads.allSatisfy { $0.count + 6 <= bytesMax })
        #expect(parts.allSatisfy { $0.stroke.points.count >= 2 })
        #expect(Stroke.joining(parts) == stroke)
        #expect(Stroke.joining(parts.dropLast()) == nil)
        #expect(Stroke.joining(parts.reversed()) == nil)
    }

    @Test("a stroke of more than 256 parts is refused")
    func tooManyParts() throws {
        let stroke = try Self.stroke(points: 6_000)
        #expect(throws: BoardError.outOfRange(field: "parts", limit: 1...256, actual: 257)) {
            try stroke.payloads(bytesMax: 200)
        }
    }

    @Test("a writer moves values to the nearest end of their range, and time never runs backwards")
    func clamps() throws {
        let point = BoardPoint(x: .max, y: .min, pressure: 999, time: -5)
        #expect(point == BoardPoint(x: 1_000_000_000, y: -1_000_000_000, pressure: 255, time: 0))
        let stroke = Stroke(
            id: try ElementID("s"), z: 0, columns: .time,
            points: [9, 4, 12].map { BoardPoint(x: 0, y: 0, time: $0) })
        #expect(text(try stroke.payloads()[0]).contains("[0,0,9,0,0,0,0,0,3]"))
        #expect(throws: BoardError.outOfRange(field: "width", limit: BoardLimits.width, actual: 0)) {
            try Stroke(id: ElementID("s"), z: 0, width: 0, points: [point]).payloads()
        }
        #expect(throws: BoardError.badValue(field: "points", problem: "at least one point is expected")) {
            try Stroke(id: ElementID("s"), z: 0, points: []).payloads()
        }
    }

    @Test("a message of an unknown type is skipped, one that is too large is refused unread")
    func unknownAndTooLarge() throws {
        #expect(try BoardMessage.decode(customType: "poll", payload: [0xFF]) == nil)
        #expect(try BoardMessage.decode(customType: nil, payload: bytes("{}")) == nil)
        let large = [UInt8](repeating: 0x20, count: 32_764)
        #expect(throws: BoardError.tooLarge(limit: 32_768, actual: 32_769)) {
            try BoardMessage.decode(customType: "title", payload: large)
        }
        #expect(throws: BoardError.tooLarge(limit: 1_024, actual: 1_025)) {
            try PointPacket.decode([UInt8](repeating: 0x20, count: 1_025))
        }
        #expect(throws: BoardError.badJSON("JSON, byte 1024: one object is expected")) {
            try PointPacket.decode([UInt8](repeating: 0x20, count: 1_024))
        }
    }

    @Test("points that do not fit into one packet are cut into several that go on counting")
    func packets() throws {
        let stroke = try Self.stroke(points: 400)
        let packet = PointPacket(
            id: stroke.id, first: 10, color: stroke.color, width: stroke.width, columns: [], points: stroke.points)
        #expect(throws: BoardError.self) { try packet.encoded() }
        let read = try packet.payloads().map { try PointPacket.decode($0) }
        #expect(read.count > 1)
        #expect(read.flatMap(\.points) == stroke.points)
        #expect(read.map(\.first) == read.indices.map { 10 + read[..<$0].map(\.points.count).reduce(0, +) })
    }

    @Test("random structure never traps the reader and what it reads it can write")
    func fuzz() {
        var dice = SplitMix64(seed: 99)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"cols\"", "\"xy\"", "\"points\"", "1", "-", "0", "9007199254740991", "\"v\"",
            "\"ids\"", "\\u", "\"", "null", "true", " ", "1e", ".5", "\u{feff}", "-9007199254740991",
        ]
        for _ in 0..<5_000 {
            let payload = bytes((0..<Int.random(in: 1...30, using: &dice)).map { _ in pieces.randomElement(using: &dice)! }.joined())
            for kind in ["stroke", "text", "title", "erase", "move"] {
                if let message = try? BoardMessage.decode(customType: kind, payload: payload) {
                    #expect(throws: Never.self) { try message.encoded() }
                }
            }
        }
    }
}
