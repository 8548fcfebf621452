import Testing

@testable import BoardFormat

@Suite("shapes")
struct StrokeShapeTests {
    private static func stroke(_ shape: StrokeShape, _ from: (Int, Int), _ to: (Int, Int)) throws -> Stroke {
        let points = shape.points(
            from: BoardPoint(x: from.0, y: from.1), to: BoardPoint(x: to.0, y: to.1), width: 300)
        return Stroke(id: try ElementID("a1"), z: 2, color: BoardColor(rgba: 0x1B1B_1BFF), points: points, shape: shape)
    }

    @Test("the points of each shape are those of its row")
    func vectors() throws {
        for (name, stroke) in [
            ("shape-line", try Self.stroke(.line, (0, 0), (300, -400))),
            ("shape-arrow", try Self.stroke(.arrow, (1_000, 1_000), (11_000, 1_000))),
            ("shape-rectangle", try Self.stroke(.rectangle, (0, 0), (500, -300))),
            ("shape-ellipse", try Self.stroke(.ellipse, (1_000, 500), (-1_000, 0))),
            ("shape-of-no-size", try Self.stroke(.arrow, (5, 5), (5, 5))),
        ] {
            let row = BoardVector.all.first { $0.name == name }
            #expect(row?.payload == text(try BoardMessage.stroke(StrokePart(stroke)).encoded()), "\(name)")
            #expect(stroke.points.count == stroke.shape?.points)
        }
    }

    @Test("an ellipse touches its box and is the same seen from each side")
    func ellipse() throws {
        let points = try Self.stroke(.ellipse, (-1_001, 10), (1_000, 511)).points
        #expect((points[0].x, points[32].x, points[16].y, points[48].y) == (1_000, -1_001, 511, 10))
        #expect(points[0] == points[64])
        for step in 0...32 { #expect(points[step].x == points[64 - step].x) }
    }

    @Test("an arrow's barbs are as long as the line's width asks for, and never more than half of the arrow")
    func barbs() throws {
        for (length, barb) in [(100_000, 1_800), (1_000, 500), (3, 2)] {
            let points = try Self.stroke(.arrow, (0, 0), (0, length)).points
            for end in [points[2], points[4]] {
                let (dx, dy) = (Double(end.x), Double(end.y) - Double(length))
                #expect(abs((dx * dx + dy * dy).squareRoot() - Double(barb)) <= 1)
            }
            #expect(points[2].x == -points[4].x && points[2].y == points[4].y && points[1] == points[3])
        }
    }

    @Test("shapes at the edges of the board stay on it")
    func edges() throws {
        for shape in StrokeShape.allCases {
            let stroke = try Self.stroke(shape, (-1_000_000_000, 1_000_000_000), (1_000_000_000, -1_000_000_000))
            let again = try BoardMessage.decode(customType: "stroke", payload: BoardMessage.stroke(StrokePart(stroke)).encoded())
            #expect(again == .stroke(StrokePart(stroke)))
        }
    }

    @Test("a writer refuses points that are not those of the shape, as a reader does")
    func refused() throws {
        var stroke = try Self.stroke(.rectangle, (0, 0), (1, 1))
        stroke.columns = .pressure
        #expect(throws: BoardError.badValue(field: "shape", problem: "a shape has cols xy, here it is xyp")) { try stroke.record() }
        stroke.columns = []
        stroke.points.removeLast()
        #expect(throws: BoardError.badValue(field: "shape", problem: "rectangle has 5 points, here are 4")) { try stroke.payloads() }
        let packet = PointPacket(
            id: stroke.id, first: 0, color: .black, width: 1, columns: .time, points: stroke.points, shape: .arrow)
        #expect(throws: BoardError.self) { try packet.encoded() }
    }
}
