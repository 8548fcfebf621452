import BoardFormat
import RelayClient
import RelayConsole
import RelayIO

extension Command {
    package static let replay = Command(
        name: "replay",
        summary: "draws a recorded lesson on a channel",
        arguments: [.init(name: "FILE", help: "What record wrote, or strokes, one a line (docs/board-format.md); - for standard input.")],
        options: [
            .value("--channel", as: "CHANNEL", help: "Where to draw. Required."),
            .value("--speed", as: "X", help: "Speed of the drawing, 0.01…10000, or max: as fast as the rates allow. Default: 1."),
            .value("--max-pause", as: "TIME", help: "Cuts longer pauses to this, in the recording's time; off keeps them. Default: 10s."),
            .value("--board", as: "BOARD", help: "Draws only this board of the file. Default: all, one after the other."),
            .flag("--boards-as-users", help: "Draws all boards at once, each as a user of its own: USER-1, USER-2, …"),
            .value("--users", as: "N", help: "With --boards-as-users: draws only the first N boards."),
            .flag("--verify", help: "Watches with a second connection, and exits with 1 unless the relay kept every promise."),
            .flag("--retain", help: "Keeps each finished stroke for good, as one record under its id. What record wrote says itself what is kept."),
            .choice("--store", as: "WHERE", of: ReplayStoreKind.self, help: "metadata: also saves the whole board as item 'board' of the channel's metadata."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            Points go as packets on topic 'points', one packet for each 16 ms. A finished stroke goes as a message with custom type \
            'stroke', in several messages if it is over 32,768 bytes.
            """,
            """
            --verify: every message arrived once, in order, byte for byte; no packet arrived before anything sent earlier; packets \
            delivered + reported lost = accepted. With --retain, three readers that join before, half-way and after the end must hold \
            the same strokes. Records of what record wrote are judged by those readers alone: a reader that catches up with a change \
            set gets the newest of each key.
            """,
            """
            What record wrote wants an empty board. One user writes all records and messages, in their order; for each device that \
            sent packets another user sends them: USER-1, USER-2, … A clear takes the host key. Lines that say that the recorder missed \
            something play as nothing.
            """,
            """
            --store metadata: a save replaces only the revision seen last. After another user's change, replay reads the board and \
            adds its stroke. It ends with exit code 1 when the metadata would exceed 65,536 bytes; saved strokes stay. An item 'board' \
            that is no JSON array stays, and replay does not begin.
            """,
            """
            The summary counts messages, packets, refusals, drops and losses, and gives the round trip from sending a message to its \
            acceptance. Any refusal makes the exit code 1.
            """,
        ],
        examples: [
            .init(
                "boardrelay replay lesson.ndjson --channel lesson --speed 10 --max-pause 1s",
                "Ten times as quick, no pause over 0.1 s on the clock."),
            .init("boardrelay replay lesson.ndjson --channel test --speed max --verify", "Checks a relay in seconds."),
            .init(
                "boardrelay replay lesson.ndjson --channel lesson --retain",
                "A board that stays: 'boardrelay board export lesson --format svg'."),
            .init("boardrelay replay drawings.ndjson --channel party --boards-as-users --users 30", "Thirty people on one board."),
            .init(
                "boardrelay replay lesson.ndjson --channel lesson --store metadata",
                "'boardrelay meta get lesson board' has the board then."),
        ],
        run: replay)

    private static func replay(_ arguments: Arguments) async throws -> ExitCode {
        let job = try ReplayJob(arguments)
        let file = arguments.positional[0]
        let plans: [(user: String, plan: ReplayPlan)]
        do {
            let reading = Waiting("Reading \(Printable.escaped(file))")
            defer { reading.end() }
            let bytes = try FileContents.read(file)
            if RecordedLesson.begins(bytes) {
                plans = try job.plans(RecordedLesson(ndjson: bytes))
            } else {
                plans = try job.plans(Recording(ndjson: bytes))
            }
        } catch let error as RecordingError {
            throw Failure("\(Printable.quoted(file)), \(error)")
        }
        let run = ReplayRun(
            arguments: arguments, channel: job.channel, plans: plans, verifies: job.verifies, retains: job.retains, store: job.store)
        let summary = try await run.run(file: file)
        if arguments.flag("--json") {
            try Console.print(summary.json.line)
        } else {
            for line in summary.lines { try Console.print(line) }
        }
        return summary.isGood ? .ok : .failed
    }
}

/// What a replay was asked for.
struct ReplayJob {
    var channel: String
    var speed: Double?
    var pauseMax: Duration?
    var board: String?
    /// How many boards are drawn at once, each by its own user; `nil`: one user draws them all.
    var boardsAtOnce: Int?
    var verifies: Bool
    var retains: Bool
    var store: ReplayStoreKind?
    var user: String

    init(_ arguments: Arguments) throws(UsageError) {
        guard let channel = try arguments.name("--channel") else { throw UsageError("option --channel is missing: --channel CHANNEL") }
        self.channel = channel
        speed = arguments.value("--speed") == "max" ? nil : try arguments.speed(orWord: "max")
        pauseMax = arguments.value("--max-pause") == "off" ? nil : try arguments.duration("--max-pause") ?? .seconds(10)
        board = arguments.value("--board")
        try arguments.exclude("--board", "--boards-as-users")
        let users = try arguments.integer("--users", in: 1...1_000)
        if users != nil, !arguments.flag("--boards-as-users") { throw UsageError("option --users wants --boards-as-users") }
        boardsAtOnce = arguments.flag("--boards-as-users") ? users ?? .max : nil
        verifies = arguments.flag("--verify")
        retains = arguments.flag("--retain")
        store = try arguments.choice("--store")
        user = try arguments.user()
    }

    /// Who plays what of a recorded lesson: one user the board, and one the packets of each device.
    func plans(_ lesson: RecordedLesson) throws -> [(user: String, plan: ReplayPlan)] {
        let unfit = [
            ("--boards-as-users", boardsAtOnce != nil), ("--retain", retains), ("--store", store != nil),
            ("--board", board.map { !$0.utf8.elementsEqual(lesson.board.utf8) } ?? false),
        ]
        if let option = unfit.first(where: \.1)?.0 {
            throw Failure(
                "option \(option) does not fit a recorded lesson of the board \(Printable.quoted(lesson.board))", exitCode: .usage)
        }
        if !lesson.isWhole { Console.note("The recording was cut off: it has no end.") }
        let cast = ReplayPlan.lesson(lesson, ReplayPlan.Options(speed: speed, pauseMax: pauseMax, idPrefix: ""))
        guard cast.board.messages > 0 || !cast.pens.isEmpty else { throw Failure("nothing happens in the recording") }
        return [(user, cast.board)] + cast.pens.enumerated().map { ("\(user)-\($0 + 1)", $1) }
    }

    /// Which user draws what. Colours differ by user; ids of strokes differ from those of any other replay.
    func plans(_ recording: Recording, run: UInt64 = .random(in: 0...UInt64.max)) throws(Failure) -> [(user: String, plan: ReplayPlan)] {
        if !recording.repairs.isEmpty {
            let repairs = recording.repairs
            Console.note(
                "Repaired: \(repairs.timesJumped) times that jumped, \(repairs.timesBackwards) that ran backwards, \(repairs.valuesCut) values out of range."
            )
        }
        var boards = recording.boards
        if let board {
            boards = boards.filter { $0.name.utf8.elementsEqual(board.utf8) }
            guard !boards.isEmpty else {
                let names = recording.boards.prefix(10).map { Printable.escaped($0.name) }.joined(separator: ", ")
                throw Failure(
                    "there is no board \(Printable.quoted(board)) in the file; there are \(names)\(recording.boards.count > 10 ? ", …" : "")"
                )
            }
        }
        guard !boards.isEmpty else { throw Failure("the file has no strokes") }
        let groups = boardsAtOnce.map { boards.prefix($0).map { [$0] } } ?? [boards]
        var plans: [(user: String, plan: ReplayPlan)] = []
        for (number, group) in groups.enumerated() {
            let ids = ids(run, user: number + 1)
            let options = ReplayPlan.Options(
                speed: speed, pauseMax: pauseMax, idPrefix: ids.prefix, idDigits: ids.digits,
                color: Self.colors[number % Self.colors.count], isKept: retains)
            do {
                plans.append((boardsAtOnce == nil ? user : "\(user)-\(number + 1)", try ReplayPlan(group, options)))
            } catch {
                throw Failure("board \(Printable.quoted(group[0].name)) cannot be drawn: \(error)")
            }
        }
        return plans
    }

    /// How the ids of a user's strokes begin, and how many digits of the stroke's number follow.
    private func ids(_ run: UInt64, user: Int) -> (prefix: String, digits: Int) {
        func hex(_ value: UInt64, _ digits: Int) -> String {
            let text = String(value % (1 << UInt64(4 * digits)), radix: 16)
            return String(repeating: "0", count: digits - text.utf8.count) + text
        }
        // Existing apps, whose form the store has, name strokes by UUID: version 8 leaves all other bits to its author.
        if store == .metadata { return ("\(hex(run, 8))-\(hex(UInt64(user), 4))-8\(hex(run >> 32, 3))-8\(hex(run >> 44, 3))-", 12) }
        return ("r\(hex(run, 8)).\(user)-", 1)
    }

    private static let colors: [BoardColor] = [
        0x1B1B_1BFF, 0xD62F_2FFF, 0x2F6F_D6FF, 0x2E8B_57FF, 0xC77C_0EFF, 0x7B3F_B5FF, 0x0E8A_93FF, 0xB03A_7EFF,
    ]
    .map(BoardColor.init(rgba:))
}
