import RelayClient
import RelayConsole

/// Removes boards that nobody has used for long. Which these are, the relay says, and says again when it removes one.
struct BoardPruning: Sendable {
    let client: WhiteboardClient
    let address: String
    let unused: Duration
    let owner: String?
    let isDryRun: Bool
    let asks: Bool
    let json: Bool

    /// Removals under way: what the relay takes off its disk together costs it one round.
    private static let underWayMax = 64

    private enum Outcome { case removed, kept(String), failed(String) }

    func run() async throws -> ExitCode {
        let found = try await Waiting.during("Waiting for the list of boards") { try await client.boards(unusedFor: unused).of(owner) }
        guard !found.isEmpty else {
            Console.note("No board is unused for \(Printable.span(unused)).")
            return .ok
        }
        guard !isDryRun else {
            if json { for board in found { try tell("unused", board) } } else { try BoardOrder.used.sorted(found).list(json: false) }
            Console.note("\(boards(found)) would be removed; nothing was.")
            return .ok
        }
        if asks {
            // No data: it is what the question is about.
            for line in BoardOrder.used.sorted(found).table { Console.note(line) }
            guard Question.isYes("Remove \(found.count == 1 ? "it" : "all \(Printable.count(found.count))") for good?") else {
                Console.note("Nothing was removed.")
                return .failed
            }
        }
        return try await remove(found)
    }

    private func remove(_ found: [BoardInfo]) async throws -> ExitCode {
        let progress = Progress(), waiting = Waiting("Waiting until the relay's disk holds nothing of them")
        defer {
            waiting.end()
            progress.end()
        }
        var (done, removed, failed) = (0, [BoardInfo](), 0)
        try await withThrowingTaskGroup(of: (BoardInfo, Outcome).self) { group in
            var rest = found[...]
            func next() { if let board = rest.popFirst() { group.addTask { (board, try await remove(board)) } } }
            for _ in 0..<Self.underWayMax { next() }
            while let (board, outcome) = try await group.next() {
                done += 1
                waiting.end()
                switch outcome {
                case .removed:
                    removed.append(board)
                    try tell("removed", board)
                case .kept(let why): Console.note("\(board.channel) stays: \(why).")
                case .failed(let why):
                    failed += 1
                    Console.note("\(board.channel) is not removed: \(Printable.escaped(why))")
                }
                progress.show(Double(done) / Double(found.count), "\(Printable.count(done)) of \(boards(found))")
                next()
            }
        }
        progress.end()
        Console.note("\(address): \(boards(removed)) went, from the relay's disk, too.")
        return failed == 0 ? .ok : .failed
    }

    private func remove(_ board: BoardInfo) async throws -> Outcome {
        while true {
            do throws(RelayError) {
                try await client.removeBoard(board.channel, ifUnusedFor: unused)
                return .removed
            } catch {
                guard !error.isTheEnd else { throw error }
                switch error.code {
                case .boardInUse: return .kept("somebody has used it meanwhile")
                case .boardNotFound: return .kept("it is gone already")
                case .rateLimited, .busy, .limitReached: try await Task.sleep(for: error.retryAfter ?? .seconds(1))
                default: return .failed("\(error.text) (\(error.name))")
                }
            }
        }
    }

    private func boards(_ boards: [BoardInfo]) -> String {
        "\(Printable.count(boards.count, "board")), \(Printable.size(boards.reduce(0) { $0 + $1.fileBytes }))"
    }

    private func tell(_ type: String, _ board: BoardInfo) throws {
        guard json else {
            let used = Console.localTime(wallMilliseconds: board.usedMilliseconds)
            return try Console.print("\(board.channel)  \(Printable.size(board.fileBytes))  last used \(used)")
        }
        try Console.print(JSONValue.object([["type": .string(type)], board.fields, ["relay": .string(address)]]).line)
    }
}
