import BoardFormat
import RelayClient
import RelayClientCore
import RelayPrimitives
import RelayWire
import Testing

@testable import RelayConsole
@testable import RelayCore
@testable import RelayReplay
@testable import boardrelay

/// The item of a channel's metadata as the relay itself keeps it, with its conditions and its bound.
private struct Shelf {
    private var stored = MetadataSet()
    private let key = try! Name(ReplayStore.key)

    var value: String? { stored.items[key].map { String(decoding: $0.value, as: UTF8.self) } }
    var revision: UInt64 { stored.items[key]?.revision ?? 0 }

    /// - Parameter revision: `nil` writes over anything.
    mutating func write(_ value: String, over revision: UInt64?) throws(RelayError) -> UInt64 {
        do {
            let item = MetadataSetItem(value: Array(value.utf8), revision: 0)
            let change = try stored.writing([key: item], mustExist: false, .init(revisions: revision.map { [key: $0] } ?? [:]))
            stored.apply(change)
            return change.majorRevision
        } catch {
            throw RelayError(error)
        }
    }
}

extension BoardSaver {
    /// Does one step.
    ///
    /// - Returns: whether there was one.
    fileprivate mutating func turn(_ shelf: inout Shelf) throws -> Bool {
        switch next() {
        case .rest, .ended: return false
        case .read: try read(shelf.value, revision: shelf.revision)
        case .write(let value, let over):
            do throws(RelayError) {
                wrote(revision: try shelf.write(value, over: over))
            } catch {
                _ = refused(error)
            }
        }
        return true
    }

    /// Everything that can be done; it comes to an end.
    fileprivate mutating func run(_ shelf: inout Shelf) throws {
        for _ in 0..<1_000 where try !turn(&shelf) { return }
        throw RelayError(.timedOut, "it goes on for ever")
    }

    fileprivate mutating func accept(_ strokes: some Sequence<Int>) { for stroke in strokes { settled(stroke, isAccepted: true) } }
}

/// Made-up but repeatable numbers.
private struct SplitMix64 {
    var state: UInt64

    mutating func roll(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }
}

@Suite("saving a board over the revision seen last")
struct BoardSaverTests {
    func plan(_ strokes: Int, id: String = "s", points: Int = 2) throws -> ReplayPlan {
        let stroke = RecordedStroke(start: nil, columns: [], points: (0..<points).map { BoardPoint(x: $0 * 100, y: 100) })
        return try ReplayPlan([RecordedBoard(name: "b", strokes: Array(repeating: stroke, count: strokes))], .init(idPrefix: id))
    }

    private func ids(_ shelf: Shelf) throws -> [String] {
        try (shelf.value ?? "").split(separator: #""id":""#).dropFirst().map { String(try #require($0.split(separator: "\"").first)) }
    }

    @Test(
        "[MD4] of a board that is too large the same stroke is the last stored, and the same size refused, however many are written at once",
        arguments: [1, 2, 7, 60, 1_000])
    func tooLarge(together: Int) throws {
        let lesson = try Samples.lessonTooLarge()
        let plan = try ReplayPlan(lesson.recording().boards, .init(idPrefix: "00000000-0001-8000-8000-", idDigits: 12))
        #expect(plan.strokes == lesson.strokes)
        var shelf = Shelf()
        var saver = BoardSaver(plan)
        for first in stride(from: 0, to: lesson.strokes, by: together) {
            saver.accept(first..<min(first + together, lesson.strokes))
            try saver.run(&shelf)
        }
        let end = try #require(saver.end)
        #expect(end.lastStored == lesson.kept - 1 && end.refused == lesson.kept && end.error.code == .tooLarge)
        #expect(end.error.limit == 65_536 && end.error.actual == lesson.over)
        #expect(saver.stored == lesson.kept && shelf.value?.utf8.count == lesson.bytes && saver.board.json.count == lesson.bytes)
        #expect(try ids(shelf) == plan.drawing.prefix(lesson.kept).map(\.id.text), "what was stored stays, in order")
        #expect(saver.next() == .ended)
        if together == 1 { #expect(saver.saves == lesson.kept, "one write for each stroke") }
    }

    @Test(
        "[MD5] several who save at once lose nothing of each other, whatever the order of their reads and writes",
        arguments: 1...50 as ClosedRange<UInt64>)
    func atOnce(seed: UInt64) throws {
        var dice = SplitMix64(state: seed)
        var shelf = Shelf()
        let plans = try ["a", "b", "c"].map { try plan(20, id: $0) }
        var savers = plans.map { BoardSaver($0) }
        var accepted = [0, 0, 0]
        var notes = 0
        for _ in 0..<1_000 {
            let who = dice.roll(4)
            guard who < 3 else {
                // An app of another kind, with elements of its own.
                guard dice.roll(10) == 0 else { continue }
                var board = try SavedBoard(json: Array((shelf.value ?? "[]").utf8))
                board.append(SavedStroke(try plan(1, id: "n\(notes)-").drawing[0]))
                notes += 1
                _ = try shelf.write(String(decoding: board.json, as: UTF8.self), over: shelf.revision)
                continue
            }
            if accepted[who] < 20, dice.roll(3) == 0 {
                savers[who].settled(accepted[who], isAccepted: true)
                accepted[who] += 1
            }
            _ = try savers[who].turn(&shelf)
        }
        for who in 0..<3 {
            savers[who].accept(accepted[who]..<20)
            try savers[who].run(&shelf)
        }
        let found = try ids(shelf)
        #expect(found.count == 60 + notes && Set(found).count == found.count)
        for (plan, id) in zip(plans, ["a", "b", "c"]) { #expect(found.filter { $0.hasPrefix(id) } == plan.drawing.map(\.id.text)) }
        #expect(savers.allSatisfy { $0.stored == 20 && $0.end == nil })
        #expect(savers.reduce(0) { $0 + $1.conflicts } > 0, "they did get into each other's way")
    }

    @Test("[SE11] a write whose answer was lost is stored once, whether it had happened or not", arguments: [true, false])
    func answerLost(happened: Bool) throws {
        var shelf = Shelf()
        var saver = BoardSaver(try plan(3))
        saver.accept(0..<2)
        #expect(try saver.turn(&shelf))
        guard case .write(let value, let over) = saver.next() else { throw RelayError(.badRequest, "no write") }
        if happened { _ = try shelf.write(value, over: over) }
        #expect(saver.refused(RelayError(.outcomeUnknown, "")) == .zero)
        #expect(saver.next() == .read, "what became of it is looked up, not guessed")
        saver.accept([2])
        try saver.run(&shelf)
        #expect(try ids(shelf) == ["s0", "s1", "s2"])
        #expect(saver.stored == 3 && saver.conflicts == 0)
    }

    @Test("[RT7] what the relay has no time for is written again after the time it says, with what came meanwhile")
    func later() throws {
        var shelf = Shelf()
        var saver = BoardSaver(try plan(2))
        #expect(saver.refused(RelayError(.rateLimited, "", retryAfter: .milliseconds(7))) == .milliseconds(7))
        #expect(try saver.turn(&shelf))
        saver.accept([0])
        guard case .write(_, over: 0) = saver.next() else { throw RelayError(.badRequest, "no write") }
        #expect(saver.refused(RelayError(.busy, "", retryAfter: .milliseconds(9))) == .milliseconds(9))
        saver.accept([1])
        try saver.run(&shelf)
        #expect(try ids(shelf) == ["s0", "s1"])
        #expect(saver.saves == 1 && saver.end == nil)
    }

    @Test("strokes are saved in the order of drawing, when all their messages are accepted; one that was refused is left out")
    func order() throws {
        var shelf = Shelf()
        var saver = BoardSaver(try plan(5))
        for (stroke, isAccepted) in [(4, true), (2, true), (1, false)] { saver.settled(stroke, isAccepted: isAccepted) }
        try saver.run(&shelf)
        #expect(shelf.revision == 0, "the first one may still be accepted")
        saver.settled(0, isAccepted: true)
        try saver.run(&shelf)
        #expect(try ids(shelf) == ["s0", "s2"])
        saver.settled(3, isAccepted: true)
        try saver.run(&shelf)
        #expect(try ids(shelf) == ["s0", "s2", "s3", "s4"])

        let long = try plan(2, points: 8_000)
        let parts = long.steps.filter { $0.lane == .message && $0.stroke == 0 }.count
        #expect(parts == 2)
        for second in [true, false] {
            var shelf = Shelf()
            var saver = BoardSaver(long)
            saver.settled(0, isAccepted: true)
            try saver.run(&shelf)
            #expect(shelf.revision == 0, "half of it is accepted")
            saver.settled(0, isAccepted: second)
            #expect((saver.next() == .rest) == !second)
        }
    }

    @Test("what somebody took away meanwhile stays away, and its room is used; without that, a stroke that is too large is the end")
    func cleared() throws {
        var shelf = Shelf()
        var saver = BoardSaver(try plan(5, points: 1_600))
        saver.accept(0..<4)
        try saver.run(&shelf)
        #expect(saver.stored == 4 && saver.end == nil)
        _ = try shelf.write("[]", over: nil)
        saver.accept([4])
        guard case .write(let value, over: _) = saver.next() else { throw RelayError(.badRequest, "no write") }
        // A client refuses this by itself, and knows nothing of revisions.
        #expect(value.utf8.count + ReplayStore.key.utf8.count > 65_536)
        _ = saver.refused(RelayError(.tooLarge, "", limit: 65_536, actual: value.utf8.count + 5))
        try saver.run(&shelf)
        #expect(saver.end == nil && saver.stored == 1)
        #expect(try ids(shelf) == ["s4"])

        let large = try plan(1, id: "x", points: 8_000)
        var full = BoardSaver(large)
        full.accept(large.steps.filter { $0.lane == .message }.map(\.stroke))
        try full.run(&shelf)
        #expect(full.end?.error.code == .tooLarge && full.end?.refused == 0 && full.end?.lastStored == nil)
        #expect(try ids(shelf) == ["s4"])
    }

    @Test("a value that is no board is not written over; any other refusal ends the saving and is named")
    func ends() throws {
        var shelf = Shelf()
        _ = try shelf.write("precious", over: 0)
        var saver = BoardSaver(try plan(1))
        #expect(throws: BoardError.self) { try saver.run(&shelf) }
        var other = BoardSaver(try plan(2))
        var empty = Shelf()
        other.accept([0])
        try other.run(&empty)
        other.accept([1])
        guard case .write = other.next() else { throw RelayError(.badRequest, "no write") }
        let error = RelayError(.storageFull, "no room", limit: 5, actual: 6)
        #expect(other.refused(error) == .zero)
        #expect(other.next() == .ended && other.end == .init(lastStored: 0, refused: 1, error: error))
    }
}
