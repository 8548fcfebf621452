import BoardFormat
import CResources

/// The program's built-in lesson: what each user draws, and when.
struct DemoLesson {
    struct Person {
        /// As others see it.
        let name: String
        let color: BoardColor
        /// From the beginning of the lesson to the first stroke.
        let begins: Duration
        let board: RecordedBoard

        var user: String { name.lowercased() }
    }

    let people: [Person]

    /// What is drawn with a speed of 1 takes so long to look at before it is cleared, and so long until it begins anew.
    static let pauseAtEnd = Duration.seconds(5), pauseAfterClear = Duration.seconds(1)

    private static let colors: [BoardColor] = [0x1B1B_1BFF, 0xD62F_2FFF, 0x2F6F_D6FF, 0x2E8B_57FF].map(BoardColor.init(rgba:))
    private static let width = 220

    /// - Parameter recording: a board for each person, named for it; all their times count from one beginning.
    init(_ recording: Recording) {
        people = recording.boards.enumerated().map { number, board in
            Person(
                name: board.name, color: Self.colors[number % Self.colors.count],
                begins: .milliseconds(board.strokes[0].start ?? 0), board: board)
        }
    }

    static func embedded() -> DemoLesson {
        guard let file = resource_file_named("lesson.ndjson")?.pointee else { preconditionFailure("no lesson.ndjson in resources.c") }
        do {
            return DemoLesson(try Recording(ndjson: Array(UnsafeBufferPointer(start: file.bytes, count: file.count))))
        } catch {
            preconditionFailure("lesson.ndjson, \(error)")
        }
    }

    /// What one of them sends; the ids of its strokes differ from those of every other round.
    func plan(_ person: Person, round: Int, speed: Double) throws(BoardError) -> ReplayPlan {
        try ReplayPlan(
            [person.board],
            .init(speed: speed, idPrefix: "demo\(round).\(person.user)-", color: person.color, width: Self.width, isKept: true))
    }
}
