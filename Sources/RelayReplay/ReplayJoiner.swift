import BoardFormat
import RelayClient
import RelayConsole
import RelayIO
import RelayWire

/// One who enters the board at some moment of a replay, reads it from the beginning and stays to the end: it must hold
/// the same strokes then as everybody else.
final class ReplayJoiner: Sendable {
    enum Entry: String, Sendable, CaseIterable { case before, halfway, after }

    /// What it held at the end.
    struct Seen: Sendable, Equatable {
        var joined: Entry
        var strokes: Int
        var digest: BoardDigest
        /// Whether all had come in time.
        var isComplete = true
    }

    private struct Book {
        var board: KeptBoard
        var hasCaughtUp = false
        /// Of the last stroke, once all are durable.
        var target: UInt64?

        var isComplete: Bool { hasCaughtUp && target.map { board.newest >= $0 } ?? false }
    }

    let client: WhiteboardClient
    private let entry: Entry
    private let book: Mutex<Book>

    /// Nobody sees it.
    ///
    /// - Parameter keys: those of the replay's records; what else is on the board may change meanwhile.
    static func enter(_ client: WhiteboardClient, _ entry: Entry, channel: String, keys: Set<String>) async throws -> ReplayJoiner {
        try await client.subscribe(channel, features: [.messages], quiet: true, since: .beginning)
        return ReplayJoiner(client, entry, KeptBoard(channel) { keys.contains($0) })
    }

    private init(_ client: WhiteboardClient, _ entry: Entry, _ board: KeptBoard) {
        self.client = client
        self.entry = entry
        book = Mutex(Book(board: board))
    }

    /// Reads until everything is here, or the client is closed by others.
    func watch() async {
        for await event in client.told {
            let isComplete = book.withLock { book in
                book.board.note(event)
                if case .caughtUp = event { book.hasCaughtUp = true }
                return book.isComplete
            }
            if isComplete { await client.close() }
        }
    }

    /// Every stroke is durable, the last one at `offset`.
    func sendersAreDone(_ offset: UInt64) async {
        let isComplete = book.withLock { book in
            book.target = offset
            return book.isComplete
        }
        if isComplete { await client.close() }
    }

    func finish() -> Seen {
        book.withLock { Seen(joined: entry, strokes: $0.board.count, digest: $0.board.digest, isComplete: $0.isComplete) }
    }
}

/// Whether every reader of the board holds what was drawn.
struct ReplayBoards: Sendable, Equatable {
    /// Of the strokes that are durable.
    var drawn: BoardDigest
    var seen: [ReplayJoiner.Seen]

    /// What is counted.
    var unit = "strokes"

    var areEqual: Bool {
        seen.count == ReplayJoiner.Entry.allCases.count
            && seen.allSatisfy { $0.isComplete && $0.digest == drawn && $0.strokes == drawn.records }
    }

    var lines: [(String, String)] {
        if areEqual {
            return [
                ("boards", "\(Printable.count(drawn.records)) \(unit) for readers who joined before, half-way and after the end, digest \(drawn)")
            ]
        }
        return [("boards", "NOT EQUAL: \(Printable.count(drawn.records)) \(unit) were drawn, digest \(drawn)")]
            + seen.map { seen in
                (
                    "",
                    "- joined \(seen.joined.rawValue): \(Printable.count(seen.strokes)) \(unit), digest \(seen.digest)\(seen.isComplete ? "" : ", not all had come in time")"
                )
            }
    }

    var json: JSONValue {
        [
            "equal": .bool(areEqual), "strokes": .integer(drawn.records), "digest": .string("\(drawn)"),
            "joined": .array(
                seen.map {
                    [
                        "when": .string($0.joined.rawValue), "strokes": .integer($0.strokes), "digest": .string("\($0.digest)"),
                        "complete": .bool($0.isComplete),
                    ]
                }),
        ]
    }
}
