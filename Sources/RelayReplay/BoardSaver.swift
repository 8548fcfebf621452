import BoardFormat
import RelayClient

/// Saves a drawing as existing whiteboard apps do: the whole board as one value, written anew after each stroke, but only
/// over the revision that was seen last. What others wrote meanwhile is read, and stands in the next write.
///
/// It decides and does nothing: `next` says what to ask the relay, `read`, `wrote` and `refused` take the answer.
struct BoardSaver: Sendable {
    enum Step: Equatable {
        case read
        case write(value: String, over: UInt64)
        /// Nothing to save until another stroke is settled.
        case rest
        case ended
    }

    /// Why nothing more is saved.
    struct End: Sendable, Equatable {
        /// The last of the own strokes that is stored, as its place in the drawing; `nil` if none is.
        var lastStored: Int?
        /// The one that could not be stored; `nil` if there was none yet.
        var refused: Int?
        var error: RelayError
    }

    private enum State {
        /// What is stored must be read. With `refusedOver` a write over that revision was too large: it is the end if
        /// that is still the newest, for a client refuses a value over the limit without asking.
        case unread(refusedOver: (revision: UInt64, error: RelayError)?)
        case ready(over: UInt64)
        case writing(over: UInt64, board: SavedBoard, count: Int)
        case ended(End)
    }

    private var state = State.unread(refusedOver: nil)
    private let strokes: [SavedStroke]
    /// How many messages of each stroke have no answer yet.
    private var unsettled: [Int]
    private var isRefused: [Bool]
    /// The first stroke whose messages are not all answered: strokes are saved in the order in which they were drawn.
    private var frontier = 0
    /// Accepted, not stored.
    private var waiting: ArraySlice<Int> = []
    /// How many strokes the next write may add at most: set when more were too large.
    private var addedMax: Int?
    private var lastStored: Int?

    /// As it was read or written last.
    private(set) var board = SavedBoard()
    private(set) var revision: UInt64 = 0
    /// Writes that were accepted.
    private(set) var saves = 0
    /// Writes that found another revision than the one seen last.
    private(set) var conflicts = 0

    /// How many of the own strokes that board has: somebody may have taken some away.
    var stored: Int { strokes.count { board.contains($0.id) } }

    var end: End? {
        guard case .ended(let end) = state else { return nil }
        return end
    }

    init(_ plan: ReplayPlan) {
        strokes = plan.drawing.map(SavedStroke.init)
        unsettled = plan.drawing.map { _ in 0 }
        isRefused = plan.drawing.map { _ in false }
        for step in plan.steps where step.lane == .message { unsettled[step.stroke] += 1 }
    }

    /// One message of a stroke was answered. A stroke of which one was refused is not saved.
    mutating func settled(_ stroke: Int, isAccepted: Bool) {
        unsettled[stroke] -= 1
        if !isAccepted { isRefused[stroke] = true }
        while frontier < strokes.count, unsettled[frontier] == 0 {
            if !isRefused[frontier] { waiting.append(frontier) }
            frontier += 1
        }
    }

    /// What to do now; a write has to be answered before this is asked again.
    mutating func next() -> Step {
        switch state {
        case .unread: return .read
        case .ended: return .ended
        case .writing: preconditionFailure("a write that was not answered")
        case .ready(let over):
            guard !waiting.isEmpty else { return .rest }
            let count = min(waiting.count, addedMax ?? .max)
            var next = board
            for stroke in waiting.prefix(count) { next.append(strokes[stroke]) }
            state = .writing(over: over, board: next, count: count)
            return .write(value: String(decoding: next.json, as: UTF8.self), over: over)
        }
    }

    /// - Parameters:
    ///   - value: what is stored, if anything is.
    ///   - revision: of it; 0 if there is none.
    /// - Throws: when it is no board; it must not be written over then.
    mutating func read(_ value: String?, revision: UInt64) throws(BoardError) {
        guard case .unread(let refusedOver) = state else { preconditionFailure("an answer to a read that was not asked for") }
        board = try value.map { value throws(BoardError) in try SavedBoard(json: Array(value.utf8)) } ?? SavedBoard()
        self.revision = revision
        // A write whose answer was lost with the link has happened after all.
        while let stroke = waiting.first, board.contains(strokes[stroke].id) { store(1) }
        if let refusedOver, refusedOver.revision == revision { return finish(refusedOver.error) }
        state = .ready(over: revision)
    }

    mutating func wrote(revision: UInt64) {
        guard case .writing(over: _, let board, let count) = state else {
            preconditionFailure("an answer to a write that was not asked for")
        }
        self.board = board
        self.revision = revision
        saves += 1
        store(count)
        addedMax = nil
        state = .ready(over: revision)
    }

    private mutating func store(_ count: Int) {
        lastStored = waiting[waiting.startIndex + count - 1]
        waiting.removeFirst(count)
    }

    /// - Returns: how long to wait before `next`.
    mutating func refused(_ error: RelayError) -> Duration {
        if error.code == .rateLimited || error.code == .busy {
            if case .writing(let over, board: _, count: _) = state { state = .ready(over: over) }
            return error.retryAfter ?? .milliseconds(100)
        }
        switch (state, error.code) {
        case (.writing, .revisionMismatch):
            conflicts += 1
            state = .unread(refusedOver: nil)
        case (.writing, .outcomeUnknown), (.unread, .outcomeUnknown): state = .unread(refusedOver: nil)
        case (.writing(let over, board: _, let count), .tooLarge):
            if count > 1 {
                addedMax = fitting(count, error)
                state = .ready(over: over)
            } else {
                state = .unread(refusedOver: (over, error))
            }
        case (.writing, _), (.unread, _), (.ready, _), (.ended, _): finish(error)
        }
        return .zero
    }

    /// How many of these strokes are not too large by what the refusal says; at least one, so that what is refused in the
    /// end is one stroke, and the same one however many were written together.
    private func fitting(_ count: Int, _ error: RelayError) -> Int {
        var kept = count
        var over = (error.actual ?? 0) - (error.limit ?? 0)
        repeat {
            kept -= 1
            over -= strokes[waiting[waiting.startIndex + kept]].json.count + 1
        } while kept > 1 && over > 0
        return kept
    }

    private mutating func finish(_ error: RelayError) {
        state = .ended(End(lastStored: lastStored, refused: waiting.first, error: error))
    }
}
