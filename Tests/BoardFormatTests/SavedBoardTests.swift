import Foundation
import Testing

@testable import BoardFormat

@Suite("a board as one value")
struct SavedBoardTests {
    func stroke(_ id: String, width: Int = 300, _ places: [(Int, Int)]) throws -> SavedStroke {
        try SavedStroke(
            Stroke(
                id: ElementID(id), z: 1, color: .black, width: width,
                points: places.map { BoardPoint(x: $0.0, y: $0.1, pressure: 0, time: 0) }))
    }

    @Test("places and widths are px, with as many digits as they need")
    func form() throws {
        let saved = try stroke("s1", width: 305, [(1_000, 2_000), (1_050, -1), (-12_345, 7), (0, 1_000_000_000)])
        #expect(
            text(saved.json)
                == ##"{"color":"#000000FF","id":"s1","lineWidth":3.05,"points":[[10,20],[10.5,-0.01],[-123.45,0.07],[0,10000000]]}"##)
    }

    @Test("what is there stays byte for byte, whatever it is, and new strokes come behind it")
    func others() throws {
        let new = try stroke("new", [(100, 100)])
        for (there, joined) in [
            ("[]", "[NEW]"), (" [ ] \n", " [ NEW]"), ("[1]", "[1,NEW]"), ("[ null , {\"id\":7} ]\r\n", "[ null , {\"id\":7} ,NEW]"),
            (#"[{"id":"s\u0031", "x":[1.50e2]}]"#, #"[{"id":"s\u0031", "x":[1.50e2]},NEW]"#),
        ] {
            var board = try SavedBoard(json: bytes(there))
            #expect(board.contains(try ElementID("s1")) == there.contains("0031"))
            #expect(!board.contains(new.id))
            board.append(new)
            #expect(text(board.json) == joined.replacingOccurrences(of: "NEW", with: text(new.json)))
            #expect(board.contains(new.id))
            #expect(try SavedBoard(json: board.json) == board, "what was written is read as the same")
        }
    }

    @Test("what is no array is refused", arguments: ["", "{}", "[", "[1", "[1,]", "[]]", "7", "null", "[\"\u{1}\"]", "\u{FEFF}[]"])
    func refused(there: String) {
        #expect(throws: BoardError.self) { try SavedBoard(json: bytes(there)) }
    }

    @Test("a whole lesson that fits has exactly the bytes that existing apps need, and every place as it was recorded")
    func lesson() throws {
        let (name, strokes, size) = Files.lesson
        let recording = try Files.drawings(name)
        let plan = try ReplayPlan(recording.boards, .init(idPrefix: "00000000-0001-8000-8000-", idDigits: 12))
        var board = SavedBoard()
        for stroke in plan.drawing { board.append(SavedStroke(stroke)) }
        #expect(board.count == strokes && board.json.count == size)
        let read = try #require(try JSONSerialization.jsonObject(with: Data(board.json)) as? [[String: Any]])
        #expect(
            read.map { $0["id"] as? String } == plan.drawing.map(\.id.text)
                && read.allSatisfy { UUID(uuidString: $0["id"] as? String ?? "") != nil })
        for (saved, drawn) in zip(read, recording.boards[0].strokes) {
            let places = try #require(saved["points"] as? [[Double]])
            #expect(
                places.map { [Int(($0[0] * 100).rounded()), Int(($0[1] * 100).rounded())] } == drawn.points.map { [Int($0.x), Int($0.y)] })
        }
    }

    @Test("each step of a plan knows its stroke, and the drawing is what its messages say", arguments: ["three-boards", "pencil"])
    func drawing(name: String) throws {
        let plan = try ReplayPlan(Files.sample(name).boards, .init(idPrefix: "s"))
        #expect(plan.drawing.count == plan.strokes && Set(plan.steps.map(\.stroke)) == Set(plan.drawing.indices))
        for step in plan.steps {
            switch step.lane {
            case .packet: #expect(try PointPacket.decode(step.payload).id == plan.drawing[step.stroke].id)
            case .message:
                #expect(
                    try BoardMessage.decode(customType: "stroke", payload: step.payload) == .stroke(StrokePart(plan.drawing[step.stroke])))
            }
        }
    }
}
