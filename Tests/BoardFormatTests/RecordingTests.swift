import Testing

@testable import BoardFormat

@Suite("recordings")
struct RecordingTests {
    @Test("places are rounded to 1/100 px, halves away from zero; pressure to 1/255")
    func rounding() throws {
        let recording = try Recording(#"{"board":"b","stroke":0,"t0":0,"points":[[0.005,-0.005,0,0.5],[12.345,-1.994,7.5,1]]}"#)
        #expect(
            recording.boards[0].strokes[0].points == [
                BoardPoint(x: 1, y: -1, pressure: 128, time: 0), BoardPoint(x: 1235, y: -199, pressure: 255, time: 8),
            ])
        #expect(recording.repairs.isEmpty)
    }

    @Test("a column is there for all points of a stroke or for none")
    func columns() throws {
        let recording = try Recording(
            #"{"board":"b","points":[[0,0,null],[1,1,null]]}"#,
            #"{"board":"b","points":[[0,0,0,0.1],[1,1,5]]}"#,
            #"{"board":"b","points":[[0,0,null,0.1],[1,1,5,0.2]]}"#,
            #"{"board":"b","points":[[0,0],[1,1]]}"#)
        #expect(recording.boards[0].strokes.map(\.columns) == [[], .time, .pressure, []])
        #expect(recording.boards[0].strokes.allSatisfy { $0.start == nil })
    }

    @Test("clocks that run backwards or jump are repaired and counted")
    func clocks() throws {
        let recording = try Recording(#"{"board":"b","points":[[0,0,50],[0,0,40],[0,0,45],[0,0,300000000000],[0,0,300000000001]]}"#)
        #expect(recording.boards[0].strokes[0].points.map(\.time) == [0, 0, 5, 10_005, 10_006])
        #expect(recording.repairs == .init(timesBackwards: 1, timesJumped: 1, valuesCut: 0))
    }

    @Test("what no board can hold becomes the edge of what it can")
    func wild() throws {
        let recording = try Recording(#"{"board":"b","t0":1e999,"points":[[1e999,-1e30,-1e999,7],[0,0,1e999,-7],[0,0,1e999,0]]}"#)
        let stroke = recording.boards[0].strokes[0]
        #expect(stroke.points[0] == BoardPoint(x: 1_000_000_000, y: -1_000_000_000, pressure: 255, time: 0))
        #expect(stroke.points[1].pressure == 0)
        #expect(recording.repairs.valuesCut == 5)
        #expect(throws: Never.self) { try ReplayPlan(recording.boards, .init(idPrefix: "s")) }
    }

    @Test("boards keep the order of the file, even when their strokes are mixed")
    func order() throws {
        let recording = try Recording(
            #"{"board":"b","points":[[1,0]]}"#, "", #"{"board":"a","points":[[2,0]]}"#, " \r", #"{"board":"b","points":[[3,0]]}"#)
        #expect(recording.boards.map(\.name) == ["b", "a"])
        #expect(recording.boards[0].strokes.map { $0.points[0].x } == [100, 300])
    }

    @Test(
        "a line that is no recording is named",
        arguments: [
            "x", "{", "{}", #"{"board":1,"points":[[0,0]]}"#, #"{"board":"b"}"#, #"{"board":"b","points":[]}"#,
            #"{"board":"b","points":[[0]]}"#, #"{"board":"b","points":[[0,0,0,0,0]]}"#, #"{"board":"b","points":[[null,0]]}"#,
            #"{"board":"b","points":[["1",0]]}"#, #"{"board":"b","points":[1]}"#, #"{"board":"b","t0":"x","points":[[0,0]]}"#,
        ])
    func badLines(line: String) {
        do throws(RecordingError) {
            _ = try Recording(ndjson: bytes(#"{"board":"b","points":[[0,0]]}"# + "\n" + line))
            Issue.record("it was read")
        } catch {
            #expect(error.line == 2)
            #expect(error.description.hasPrefix("line 2: "))
        }
    }

    @Test("the boards with broken clocks load: equal times stay, a jump of nine years is one of ten seconds")
    func brokenClocks() throws {
        let recording = try Files.sample("broken-clocks")
        #expect(recording.repairs == .init(timesBackwards: 0, timesJumped: 2, valuesCut: 0))
        func times(_ name: String) throws -> [Int32] {
            try #require(recording.boards.first { $0.name == name }).strokes[0].points.prefix(3).map(\.time)
        }
        #expect(try times("97705-dupe-time") == [0, 0, 39])
        #expect(try times("97705-low-time") == [0, 10_000, 10_039])
        #expect(try times("97705-wild-point") == [0, 0, 10_000])
        let wild = try #require(recording.boards.first { $0.name == "97705-wild-point" }).strokes[0].points[0]
        #expect(wild.x == 100_000 && wild.y == 100_000)
    }

    @Test("every recorded stroke survives being written and read", arguments: Files.allDrawings)
    func roundTrip(name: String) throws {
        let recording = try Files.drawings(name)
        var over = 0
        for board in recording.boards {
            for (number, recorded) in board.strokes.enumerated() {
                let stroke = Stroke(
                    id: try ElementID("s\(number)"), z: number, columns: recorded.columns, points: recorded.points)
                let parts = try stroke.payloads().map { payload in
                    #expect(payload.count + 6 <= 32_768)
                    return try BoardMessage.decode(customType: "stroke", payload: payload)
                }
                if parts.count > 1 { over += 1 }
                #expect(
                    Stroke.joining(
                        parts.compactMap { if case .stroke(let part) = $0 { part } else { nil } }) == stroke)
            }
        }
        // Other strokes that are over 32 KiB elsewhere fit into one message in the compact form.
        #expect(over == (name == Files.longStrokes ? 1 : 0))
    }

    @Test("strokes over 32 KB in a plain form are cut at points, to any size", arguments: [32_768, 8_192, 1_024])
    func longStrokes(bytesMax: Int) throws {
        let board = try Files.drawings(Files.longStrokes).boards[0]
        for recorded in board.strokes {
            let stroke = Stroke(id: try ElementID("long"), z: 1, columns: recorded.columns, points: recorded.points)
            let payloads = try stroke.payloads(bytesMax: bytesMax)
            #expect(payloads.allSatisfy { $0.count + 6 <= bytesMax })
            let parts = try payloads.compactMap { payload -> StrokePart? in
                guard case .stroke(let part) = try BoardMessage.decode(customType: "stroke", payload: payload) else { return nil }
                return part
            }
            #expect(Stroke.joining(parts) == stroke)
        }
    }
}
