import Testing

@testable import BoardFormat

@Suite("recorded lessons")
struct RecordedLessonTests {
    static let device = "00a1b2c3d4e5f607"

    static func record(_ key: String, _ text: String = "{}") -> WhiteboardRecord {
        WhiteboardRecord(key: key, customType: "stroke", payload: .text(text))
    }

    /// One event of each kind, and a change set.
    static let events: [LessonEvent] = [
        LessonEvent(at: 0, .begin(time: 1_763_683_200_000)),
        LessonEvent(at: 0, .paper("ruled")),
        LessonEvent(at: 0, .record(record("a"), by: "ada")),
        LessonEvent(at: 0, .record(WhiteboardRecord(key: "b", payload: .bytes([0, 255])), by: "ben")),
        LessonEvent(at: 10, .packet(.text("p\n\"é"), topic: "points", by: "ben", device: device)),
        LessonEvent(at: 12, .packet(.text("c"), topic: "cursors", by: "ada", device: device)),
        LessonEvent(at: 20, .record(record("c", "{\"v\":1}"), by: "ben"), more: true),
        LessonEvent(at: 20, .removal(key: "a", by: "ben")),
        LessonEvent(at: 21, .left(topic: "points", by: "ben", device: device)),
        LessonEvent(at: 30, .message(.text("m"), customType: "erase", key: nil, by: "ada")),
        LessonEvent(at: 31, .message(.bytes([1]), customType: nil, key: "k", by: "ada")),
        LessonEvent(at: 40, .broken),
        LessonEvent(at: 50, .missed(.packets, count: 7)),
        LessonEvent(at: 50, .missed(.messages, count: nil)),
        LessonEvent(at: 50, .reset),
        LessonEvent(at: 60, .clear(by: "ada")),
        LessonEvent(at: 61, .paper(nil)),
        LessonEvent(at: 70, .end),
    ]

    static func file(_ events: [LessonEvent]) -> [UInt8] { events.flatMap { $0.line(board: "lesson") + [0x0A] } }

    @Test("what is written is read as it was, one line an event, with keys in their order")
    func roundTrip() throws {
        let file = Self.file(Self.events)
        let lesson = try RecordedLesson(ndjson: file)
        #expect(lesson.events == Self.events && lesson.board == "lesson" && lesson.isWhole)
        let strokes = bytes("{\"board\":\"b\",\"points\":[[1,2.5]]}\n")
        #expect(RecordedLesson.begins(file) && RecordedLesson.begins(bytes("\r\n \t\n") + file) && !RecordedLesson.begins(strokes + file))
        #expect(![[], bytes(" \n"), bytes("{\n") + file].contains { RecordedLesson.begins($0) })
        #expect(
            text(Self.events[6].line(board: "lesson"))
                == #"{"at":20,"board":"lesson","by":"ben","customType":"stroke","event":"record","key":"c","more":true,"text":"{\"v\":1}"}"#)
        #expect(text(Self.events[3].line(board: "l")) == #"{"at":0,"base64":"AP8=","board":"l","by":"ben","event":"record","key":"b"}"#)
    }

    @Test("a recorder that was stopped while it wrote leaves a lesson that is not whole, wherever it was cut")
    func cut() throws {
        let file = Self.file(Self.events)
        let first = Self.events[0].line(board: "lesson").count
        for count in first...file.count - 2 {
            let lesson = try RecordedLesson(ndjson: Array(file.prefix(count)))
            #expect(!lesson.isWhole && Self.events.starts(with: lesson.events))
        }
    }

    @Test("unknown events and fields of newer recorders are passed over")
    func newer() throws {
        let lines = [
            #"{"at":0,"board":"b","event":"begin","time":1,"v":1,"by":{"a":1}}"#, #"{"at":3,"event":"applause"}"#,
            #"{"at":4,"board":"b","event":"end","why":null}"#, "",
        ]
        #expect(try RecordedLesson(ndjson: bytes(lines.joined(separator: "\r\n"))).events.map(\.at) == [0, 4])
    }

    @Test(
        "a line that breaks a rule is named",
        arguments: [
            (#"{"at":1,"board":"b","event":"clear"}"#, "line 2: field by is missing"),
            (#"{"at":1,"board":"c","by":"a","event":"clear"}"#, "line 2: field board: a recorded lesson is of one board"),
            (#"{"at":1,"board":"b","event":"begin","time":1,"v":1}"#, "line 2: field event: a recorded lesson begins once"),
            (#"{"at":-1,"board":"b","event":"end"}"#, "line 2: field at is within 0…9007199254740991, here it is -1"),
            (#"{"at":1,"board":"b","event":"record","by":"a","key":"/","text":"x"}"#, "line 2: field key: a key has none of * / \\"),
            (#"{"at":1,"board":"b","event":"record","by":"a","key":"k","text":""}"#, "line 2: field text: a record has at least 1 byte of payload"),
            (#"{"at":1,"board":"b","event":"packet","by":"a","topic":"points","text":"x"}"#, "line 2: field device is missing"),
            (#"{"at":1,"board":"b","event":"missed","what":"all"}"#, "line 2: field what: messages or packets is expected"),
            (#"{"at":1,"board":"b","event":"end","more":1}"#, "line 2: field more is true or false"),
            (#"{"board":"b","points":[[1,2]]}"#, "line 2: field at is missing"), ("{", "line 2: "),
        ])
    func refused(line: String, problem: String) {
        let lines = [#"{"at":0,"board":"b","event":"begin","time":1,"v":1}"#, line, #"{"at":0,"board":"b","event":"end"}"#, ""]
        #expect {
            try RecordedLesson(ndjson: bytes(lines.joined(separator: "\n")))
        } throws: { "\($0)".hasPrefix(problem) }
    }

    @Test("time does not run backwards, nothing follows the end, and nothing comes before the beginning")
    func order() {
        let (begin, end) = (Self.events[0], LessonEvent(at: 5, .end))
        for events in [[begin, LessonEvent(at: 6, .broken), end], [begin, end, LessonEvent(at: 5, .broken)], [end]] {
            #expect(throws: RecordingError.self) { try RecordedLesson(ndjson: Self.file(events)) }
        }
        var newer = text(Self.file([begin]))
        newer.replace("\"v\":1", with: "\"v\":2")
        #expect(throws: RecordingError(line: 1, problem: .unsupportedVersion(limit: 1, actual: 2))) {
            try RecordedLesson(ndjson: bytes(newer))
        }
    }

    // MARK: - Played

    static func cast(_ events: [LessonEvent], speed: Double? = 1, pauseMax: Duration? = nil) throws -> ReplayPlan.Cast {
        ReplayPlan.lesson(
            try RecordedLesson(ndjson: file(events)), ReplayPlan.Options(speed: speed, pauseMax: pauseMax, idPrefix: ""))
    }

    @Test("a set of more changes than one may have, as of an undone clear, is played as several [BL11]")
    func largeSet() throws {
        let lines = (0..<5_000).map { LessonEvent(at: 10, .record(Self.record("k\($0)"), by: "ada"), more: $0 < 4_999) }
        let sets = try Self.cast([Self.events[0]] + lines).board.steps.map { step in
            if case .changes(let changes) = step.lesson { changes.count } else { 0 }
        }
        #expect(sets == [4_096, 904])
    }

    @Test("one user plays the board, change sets as such, and one each device that sent packets")
    func cast() throws {
        let cast = try Self.cast(Self.events, speed: 2)
        #expect(
            cast.board.steps.map(\.lesson) == [
                .paper("ruled"),
                .changes([.init(Self.record("a")), .init(WhiteboardRecord(key: "b", payload: .bytes([0, 255])))]),
                .changes([.init(Self.record("c", "{\"v\":1}")), .init(removing: "a")]),
                .message(.text("m"), customType: "erase", key: nil), .message(.bytes([1]), customType: nil, key: "k"),
                .clear, .clear, .paper(nil),
            ])
        #expect(cast.board.steps.map(\.at) == [0, 0, 10, 15, 15.5, 25, 30, 30.5].map { .milliseconds($0) })
        #expect(cast.board.keys == ["a", "b", "c"] && cast.board.topics.isEmpty && cast.board.strokes == 8)
        let arriving = cast.board.steps.flatMap(\.arriving).filter { $0 != [0, 255] }
        #expect(arriving.map { text($0) } == ["{}", "{\"v\":1}", "", "m", text([1])])
        #expect(cast.pens.map(\.topics) == [["points"], ["cursors"]])
        #expect(cast.pens.map { $0.steps.map(\.at) } == [[.milliseconds(5)], [.milliseconds(6)]])
        #expect(cast.pens[1].steps[0].arriving.isEmpty, "a witness looks at points")
    }

    @Test("what stood at the start goes in large change sets, and what is too large for one by itself, in its place")
    func start() throws {
        let large = Self.record("l", String(repeating: "x", count: 40_000))
        var records = (0..<600).map { Self.record("k\($0)") }
        records.insert(large, at: 550)
        let steps = try Self.cast([Self.events[0]] + records.map { LessonEvent(at: 0, .record($0, by: "a")) }).board.steps
        #expect(
            steps.map { step in if case .changes(let changes)? = step.lesson { changes.count } else { 0 } } == [512, 38, 1, 50])
        #expect(steps.allSatisfy { $0.at == .zero })
    }

    @Test("the longest pause holds")
    func pause() throws {
        let events = [Self.events[0], LessonEvent(at: 60_000, .clear(by: "a")), LessonEvent(at: 60_500, .clear(by: "a"))]
        #expect(try Self.cast(events, pauseMax: .seconds(1)).board.steps.map(\.at) == [.seconds(1), .seconds(1.5)])
    }
}
