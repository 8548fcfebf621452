import RelayWire
import Testing

@testable import RelayClientCore

/// A board that a test tells what happens.
private struct ToldBoard {
    var view = BoardView()

    /// Read up to offset 9.
    init(isRead: Bool = true, _ before: (inout ToldBoard) -> Void = { _ in }) {
        _ = view.begin(isWhole: true)
        before(&self)
        if isRead { caughtUp(9) }
    }

    @discardableResult
    mutating func record(_ key: String, _ offset: UInt64, _ text: String?) -> [BoardChange] {
        view.take(
            .message(
                Message(
                    channel: "lesson", sender: "bob", offset: offset, wallMilliseconds: 0, key: key, isRetained: true,
                    payload: text.map { .text($0) } ?? .bytes([]))))
    }

    @discardableResult
    mutating func caughtUp(_ head: UInt64) -> [BoardChange] { view.take(.caughtUp(channel: "lesson", head: head)) }

    @discardableResult
    mutating func missed(_ extent: MessagesMissed.Extent) -> [BoardChange] {
        view.take(.messagesMissed(MessagesMissed(channel: "lesson", extent: extent)))
    }

    /// An own record that is on its way.
    mutating func send(_ key: String, _ text: String? = "own") -> BoardView.Own {
        view.sent([text.map { RecordChange(key: key, payload: .text($0)) } ?? RecordChange(removing: key)], author: "me")
    }

    /// Sent, accepted and stored at an offset.
    @discardableResult
    mutating func write(_ key: String, _ offset: UInt64) -> [BoardChange] {
        let own = send(key)
        view.accepted(own, last: offset)
        return stored(own, offset)
    }

    @discardableResult
    mutating func stored(_ own: BoardView.Own, _ offset: UInt64, receipt: UInt64 = 1, isCatchingUp: Bool = false) -> [BoardChange] {
        view.stored(own, last: offset, receipt: receipt, isCatchingUp: isCatchingUp)
    }

    var shown: [String: String] { Dictionary(view.records.map { ($0.key, $0.payload?.text ?? "?") }) { $1 } }
}

@Suite struct BoardViewTests {
    @Test("[BL5] an offset at which an own record was accepted and not stored is another's after a restart: what comes behind it counts")
    func restart() {
        var board = ToldBoard()
        let there = board.send("there")
        let gone = board.send("gone")
        for own in [there, gone] { board.view.accepted(own, last: 100) }
        board.record("there", 95, "theirs")
        board.stored(there, 93)
        board.view.ended(gone)
        #expect(board.shown == ["there": "theirs"])
    }

    @Test("[BL3] an own record answered behind a reading, or during it, is not shown unless it is above what was read")
    func reading() {
        var board = ToldBoard { board in
            board.record("read", 4, "x")
            board.write("removed meanwhile", 5)
        }
        #expect(board.shown == ["read": "x"])
        #expect(board.write("superseded", 9) == [])
        guard case .records(let records, progress: nil, receipt: 1?)? = board.write("new", 10).first else {
            return #expect(Bool(false), "an own record is told once it is stored")
        }
        #expect(records.map { [$0.key, "\($0.offset ?? 0)", $0.author, "\($0.isPending)"] } == [["new", "10", "me", "false"]])
        #expect(board.shown == ["read": "x", "new": "own"])
    }

    @Test("[MS3] of an own record and another's of the same key the later counts, whichever is heard of first")
    func later() {
        var board = ToldBoard()
        board.write("mine", 12)
        #expect(board.record("mine", 11, "theirs") == [], "what is superseded is no change")
        let late = board.send("theirs")
        board.record("theirs", 14, "theirs")
        #expect(board.stored(late, 13) == [])
        board.write("kept", 16)
        board.record("kept", 15, nil)
        #expect(board.shown == ["mine": "own", "theirs": "theirs", "kept": "own"])
        let removed = board.send("removed")
        board.record("removed", 18, nil)
        board.stored(removed, 17)
        #expect(board.shown["removed"] == nil, "its removal was later")
    }

    @Test("[MS3] an own removal that is stored while older messages are still to come stays one, until they have come")
    func removedAhead() {
        for passed in [30, 31] as [UInt64] {
            var board = ToldBoard { $0.record("a", 5, "theirs") }
            board.stored(board.send("a", nil), 30, isCatchingUp: true)
            // Of an own record that is refused it is none.
            board.view.ended(board.send("a"))
            #expect(board.record("a", 20, "older") == [] && board.shown == [:])
            if passed == 30 { board.caughtUp(30) } else { board.record("other", 31, "x") }
            #expect(!board.view.knows("a"), "what is removed, and removes nothing more, is forgotten")
            board.record("a", 40, "later")
            #expect(board.shown["a"] == "later")
        }
    }

    @Test("[BL6, BL4] cleared takes away what is below it, whenever that is heard of; reset everything")
    func cleared() {
        var board = ToldBoard()
        board.write("below", 10)
        board.write("above", 13)
        let clearing = BoardCleared(channel: "lesson", offset: 12, user: "host", wallMilliseconds: 1)
        #expect(board.view.take(.cleared(clearing)) == [.cleared(clearing)])
        board.write("late", 11)
        #expect(board.shown == ["above": "own"])
        #expect(board.missed(.range(1...2)) == [.missed(1...2)])
        #expect(board.shown == ["above": "own"] && board.view.isComplete)
        #expect(board.missed(.reset) == [.reset])
        #expect(board.shown == [:] && !board.view.isComplete)
        board.record("again", 1, "x")
        board.caughtUp(1)
        #expect(board.shown == ["again": "x"] && board.view.isComplete)
    }

    @Test(
        "[BL3, BL4] own records of before a reset are not shown for it: none of the old numbering is, and one behind it is when it is stored"
    )
    func reset() {
        var board = ToldBoard(isRead: false)
        let behind = board.send("behind")
        let among = board.send("among")
        for own in [behind, among] { board.view.accepted(own, last: 15) }
        board.missed(.reset)
        #expect(board.shown == ["behind": "own", "among": "own"], "what is on its way is shown")
        #expect(board.stored(behind, 20) == [] && board.stored(among, 17, receipt: 2) == [])
        let changes = board.caughtUp(18)
        guard changes.count == 2, case .records(_, _, receipt: 1?) = changes[1] else { return #expect(Bool(false), "\(changes)") }
        #expect(board.shown == ["behind": "own"])
    }

    @Test("[BL6, BL4] an own record that is on its way, which cleared hid, is shown again behind a reset: offsets are others")
    func clearedBeforeReset() {
        var board = ToldBoard()
        let mine = board.send("mine")
        board.view.accepted(mine, last: 11)
        _ = board.view.take(.cleared(BoardCleared(channel: "lesson", offset: 12, user: "host", wallMilliseconds: 1)))
        #expect(board.shown == [:])
        board.missed(.reset)
        #expect(board.shown == ["mine": "own"])
    }

    @Test("an own record is shown at once, the newest of its key on top, and goes when it is refused; a removal is one, too")
    func own() {
        var board = ToldBoard { $0.record("a", 1, "theirs") }
        let first = board.send("a", "1")
        let second = board.send("a", "2")
        #expect(board.shown == ["a": "2"] && board.view.records["a"]?.isPending == true)
        board.view.ended(second)
        #expect(board.shown == ["a": "1"])
        board.view.ended(first)
        #expect(board.shown == ["a": "theirs"] && board.view.records["a"]?.isPending == false)
        let removal = board.send("a", nil)
        #expect(board.shown == [:])
        board.view.ended(removal)
        #expect(board.shown == ["a": "theirs"])
    }

    @Test("what is left begins anew; what was sent goes on")
    func leaving() {
        var board = ToldBoard { $0.record("a", 1, "theirs") }
        let mine = board.send("b")
        board.view = board.view.onlyOwn()
        #expect(board.shown == ["b": "own"] && !board.view.isBegun)
        board.view.ended(mine)
        #expect(board.shown == [:])
    }

    /// Where a dictionary has what it holds: copies that share it have the same.
    private static func storage(_ group: [String: BoardRecord]) -> UInt { unsafeBitCast(group, to: UInt.self) }

    @Test("a picture of 20,000 records shares them with the board: a change copies one group, and each reader is told its own keys")
    func pictures() {
        var board = ToldBoard()
        for number in 0..<20_000 { board.record("\(number)", UInt64(10 + number), "x") }
        let first = board.view.picture(for: 1)
        #expect(first.records.count == 20_000 && first.changed.count == 20_000 && first.isComplete)
        for number in 0..<100 {
            let before = board.view.records
            board.record("\(number)", UInt64(30_000 + number), "y")
            let copied = board.view.records.groups.filter { group in !before.groups.contains { Self.storage($0) == Self.storage(group) } }
            #expect(copied.count == 1 && copied[0].count <= 100, "\(copied.map(\.count)) records were copied for one change")
            #expect(board.view.picture(for: 1).changed == ["\(number)"])
        }
        #expect(first.records["0"]?.payload?.text == "x" && board.shown["0"] == "y", "a picture that was taken stays as it is")
        #expect(board.view.picture(for: 2).changed.count == 20_000, "another reader begins with all")
        #expect(board.view.picture(for: 1).changed == [])
        board.record("0", 40_000, nil)
        #expect(board.view.picture(for: 1).changed == ["0"] && board.view.picture(for: 2).changed == ["0"])
        board.view.forget(reader: 2)
        #expect(board.view.picture(for: 2).changed.count == 19_999)
    }
}
