/// What a replay sends, and when: a schedule that follows from the recording alone.
///
/// The points that fall into one frame of 16 ms are one packet (more, where they do not fit), which leaves when the
/// frame is over; the finished stroke follows its last packet at once as one message (more, over 32,768 bytes).
package struct ReplayPlan: Equatable, Sendable {
    package struct Options: Equatable, Sendable {
        /// How much quicker than recorded; `nil`: everything at once, for the rates to pace.
        package var speed: Double?
        /// Longest pause between strokes and between two points of one, in the recording's time; `nil`: as recorded.
        package var pauseMax: Duration?
        /// Begins the id of each stroke: it makes the ids of this replay differ from those of others.
        package var idPrefix: String
        /// The stroke's number, which ends its id, has at least so many digits.
        package var idDigits: Int
        /// Layer of the first stroke; the others lie above it, in order.
        package var firstLayer: Int
        package var color: BoardColor
        package var width: Int
        /// Each stroke is the one record that keeps it, however long; otherwise as many messages as it takes.
        package var isKept: Bool

        package init(
            speed: Double? = 1, pauseMax: Duration? = nil, idPrefix: String, idDigits: Int = 1, firstLayer: Int = 1,
            color: BoardColor = .black, width: Int = 300, isKept: Bool = false
        ) {
            self.speed = speed
            self.pauseMax = pauseMax
            self.idPrefix = idPrefix
            self.idDigits = idDigits
            self.firstLayer = firstLayer
            self.color = color
            self.width = width
            self.isKept = isKept
        }
    }

    package enum Lane: Equatable, Sendable {
        /// A packet on topic `points`.
        case packet
        /// A message with custom type `stroke`.
        case message
    }

    package struct Step: Equatable, Sendable {
        /// Since the start of the replay; never less than the step before.
        package var at: Duration
        package var lane: Lane
        /// Of which it is a part, as its place in `drawing`; of a lesson's step how many of its lane came before it.
        package var stroke: Int
        /// UTF-8; of a lesson's step what `lesson` says in place of it.
        package var payload: [UInt8] = []
        /// What it does in place of drawing a stroke.
        package var lesson: LessonStep?
    }

    /// What a step of a recorded lesson does.
    package enum LessonStep: Equatable, Sendable {
        /// One large record, or a change set: records that are written, or removed where there is `nil`.
        case changes([Change])
        case message(WhiteboardRecord.Payload, customType: String?, key: String?)
        case packet(WhiteboardRecord.Payload, topic: String)
        case clear
        /// `nil` removes the item.
        case paper(String?)
    }

    /// What becomes of a key.
    package struct Change: Equatable, Sendable {
        package var key: String
        package var record: WhiteboardRecord?

        /// Writes a record.
        package init(_ record: WhiteboardRecord) { (key, self.record) = (record.key, record) }

        /// Removes the record of a key.
        package init(removing key: String) { self.key = key }
    }

    package internal(set) var steps: [Step] = []
    /// What has been drawn when all steps are done.
    package private(set) var drawing: [Stroke] = []
    /// How many there are of what is counted: strokes, or a lesson's messages.
    package var strokes: Int { isLesson ? messages : drawing.count }
    package private(set) var points = 0
    package internal(set) var messages = 0
    /// Whether it plays what a recorder wrote.
    package let isLesson: Bool
    /// Keys of the records that it writes or removes.
    package internal(set) var keys: Set<String> = []
    /// On which its packets go.
    package internal(set) var topics: Set<String> = [BoardWords.pointsTopic]
    /// From the start to the last step.
    package var duration: Duration { steps.last?.at ?? .zero }
    package var packets: Int { steps.count - messages }

    /// Whether this step is the last message of its stroke.
    package func endsStroke(_ place: Int) -> Bool {
        steps[place].lane == .message && (isLesson || place + 1 == steps.count || steps[place + 1].lane == .packet)
    }

    /// Plans the boards one after the other on one channel.
    ///
    /// - Throws: what `Stroke.payloads` throws for a stroke that the format cannot hold.
    package init(_ boards: [RecordedBoard], _ options: Options) throws(BoardError) {
        isLesson = false
        var pencil = Pencil(options)
        for (number, board) in boards.enumerated() {
            if number > 0 { pencil.pause(milliseconds: ReplayTimes.betweenBoards) }
            var lastEnd: Int?
            for recorded in board.strokes {
                if let lastEnd {
                    pencil.pause(milliseconds: recorded.start.map { $0 - lastEnd } ?? ReplayTimes.betweenStrokes)
                }
                try draw(recorded, with: &pencil, options)
                let length = recorded.columns.contains(.time) ? Int(recorded.points.last?.time ?? 0) : 0
                lastEnd = (recorded.start ?? lastEnd ?? 0) + length
            }
        }
    }

    /// Without steps.
    init(isLesson: Bool) { self.isLesson = isLesson }

    private mutating func draw(
        _ recorded: RecordedStroke, with pencil: inout Pencil, _ options: Options
    ) throws(BoardError) {
        let number = String(strokes)
        let id = try ElementID(options.idPrefix + String(repeating: "0", count: max(0, options.idDigits - number.utf8.count)) + number)
        let stroke = Stroke(
            id: id, z: options.firstLayer + strokes, color: options.color, width: options.width,
            columns: recorded.columns, points: recorded.points)
        for run in pencil.frames(of: recorded) {
            let packet = PointPacket(
                id: id, first: run.points.lowerBound, color: options.color, width: options.width,
                columns: recorded.columns, points: Array(recorded.points[run.points]))
            for payload in try packet.payloads() {
                steps.append(Step(at: run.leaves, lane: .packet, stroke: strokes, payload: payload))
            }
        }
        let finished = steps.last?.at ?? .zero
        for payload in options.isKept ? [try stroke.record().payload.bytes] : try stroke.payloads() {
            steps.append(Step(at: finished, lane: .message, stroke: strokes, payload: payload))
            messages += 1
        }
        drawing.append(stroke)
        if options.isKept { keys.insert(id.text) }
        points += recorded.points.count
    }
}

/// Times that a replay makes up, in ms of the recording's time.
enum ReplayTimes {
    /// One packet carries what was drawn in this time, as shown: not divided by the speed.
    static let frame = Duration.milliseconds(16)
    /// From point to point where the recording has no clock: 125 a second.
    static let betweenPoints = 8
    /// From stroke to stroke where the recording has no clock.
    static let betweenStrokes = 400
    static let betweenBoards = 1_000
}

/// Where the replay's clock stands.
struct Pencil {
    /// In nanoseconds of the replay.
    private var now: Int64 = 0
    private let speed: Double?
    private let pauseMax: Double?

    struct Run {
        var leaves: Duration
        var points: Range<Int>
    }

    init(_ options: ReplayPlan.Options) {
        if let speed = options.speed { precondition(speed > 0, "a replay runs forwards") }
        speed = options.speed
        pauseMax = options.pauseMax.map { Double($0.components.seconds) * 1_000 + Double($0.components.attoseconds) / 1e15 }
    }

    /// Lets recorded time pass; none, if it is negative.
    mutating func pause(milliseconds: Int) {
        guard let speed else { return }
        let capped = min(max(Double(milliseconds), 0), pauseMax ?? .infinity)
        // Far more than any replay takes, and far from overflowing: about 100 years.
        now = min(now + Int64(min(capped * 1_000_000 / speed, 3e18)), 3_000_000_000_000_000_000)
    }

    /// Draws a stroke: the runs of points that fall into one frame each.
    ///
    /// The last run leaves at most one frame after the stroke's end, and the next stroke's first run a whole frame
    /// after its beginning: so nothing overtakes.
    mutating func frames(of stroke: RecordedStroke) -> [Run] {
        let frame = ReplayTimes.frame.components.attoseconds / 1_000_000_000
        let begin = now
        let hasClock = stroke.columns.contains(.time)
        var runs: [Run] = []
        var current: Int64 = 0
        var start = 0
        for index in stroke.points.indices {
            if index > 0 {
                pause(
                    milliseconds: hasClock
                        ? Int(stroke.points[index].time - stroke.points[index - 1].time) : ReplayTimes.betweenPoints)
            }
            let number = (now - begin) / frame
            if number != current, index > start {
                runs.append(Run(leaves: leaves(begin + (current + 1) * frame), points: start..<index))
                start = index
            }
            current = number
        }
        runs.append(Run(leaves: leaves(begin + (current + 1) * frame), points: start..<stroke.points.count))
        return runs
    }

    /// What leaves now.
    var leaving: Duration { leaves(now) }

    private func leaves(_ nanoseconds: Int64) -> Duration { speed == nil ? .zero : .nanoseconds(nanoseconds) }
}
