@testable import RelayCore
import RelayStorage
import RelayWire
import Testing

@Suite struct BoardShelfTests {
    @Test("[SG3] a board that was written to in a burst keeps no room for the next one, when that is in its file or taken back")
    func room() throws {
        var shelf = BoardShelf(bytesMax: 1 << 20)
        let user = try Name("alice")
        let board = shelf.insert(ShelvedBoard(name: user, generation: 1, summary: BoardSummary(board: 1, name: Array("alice".utf8))))
        func burst(from first: UInt64) {
            for offset in first..<first + 100 {
                shelf.append(PendingRecord(offset: offset, bytes: 66, user: user, change: .put([1])), to: board, from: .local)
            }
        }
        burst(from: 1)
        var summary = shelf[board].summary
        summary.head = 100
        shelf.isWritten(summary, board)
        #expect(shelf[board].pending.isEmpty && shelf[board].pending.capacity <= 8)
        burst(from: 101)
        shelf.takeBack(from: 101, board)
        #expect(shelf[board].pending.isEmpty && shelf[board].pending.capacity <= 8 && shelf.usage.bytes(of: user) == 0)
    }
}
