import RelayTestKit
import Testing

@testable import RelayJournal
@testable import RelayStorage

/// What is written is not copied on its way.
@Suite struct PiecesTests {
    private let large = [UInt8](repeating: 7, count: 32_768)

    /// Where an array's bytes are in memory.
    private func place(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } }

    @Test("small arrays become one, large ones stay what they are, in their order")
    func append() {
        var pieces = Pieces([1, 2])
        pieces.append([3])
        pieces.append(large)
        pieces.append([4])
        pieces.append([5, 6])
        #expect(
            pieces.arrays == [[1, 2, 3], large, [4, 5, 6]] && pieces.count == large.count + 6 && place(pieces.arrays[1]) == place(large))
        #expect(pieces.joined == [1, 2, 3] + large + [4, 5, 6])
        pieces.append([UInt8](repeating: 1, count: Pieces.sharedBytesMin - 1))
        #expect(pieces.arrays.count == 3)
        pieces.append([UInt8](repeating: 1, count: Pieces.sharedBytesMin))
        #expect(pieces.arrays.count == 4)
    }

    @Test("a journal record and a record of a board's file have the value itself in them, and read as they were written")
    func records() throws {
        var batch = JournalBatch()
        batch.add([JournalEntry(key: [1], value: large), JournalEntry(key: [2], value: [9])], .change, sequence: 5, mark: 3)
        #expect(batch.pieces.arrays.contains { place($0) == place(large) })
        let bytes = batch.pieces.joined
        let head = try #require(bytes.withUnsafeBytes { RecordHead.read($0, at: 0, mark: 3) })
        #expect(head.end == bytes.count && head.sequence == 5 && head.isFirst && head.isKnown)

        var file = Pieces()
        BoardFileRecord.append(large, mark: 3, to: &file)
        #expect(file.arrays.contains { place($0) == place(large) })
        let body = file.joined.withUnsafeBytes { bytes -> Range<Int>? in
            if case .body(let range) = BoardFileRecord.read(bytes, at: 0, mark: 3) { range } else { nil }
        }
        #expect(body == BoardFileRecord.headBytes..<(BoardFileRecord.headBytes + large.count))
    }

    @Test("an entry holds its payload once, copied from where it was received")
    func entry() {
        let put = BoardPut(key: [1], isText: false, customType: nil, payload: [])
        var change = StoredChange(
            board: 1, offset: 2, epoch: BoardEpoch.ID(start: 1, incarnation: 1), lastUnretained: 0, author: [1], instance: 0, number: 0,
            wallMilliseconds: 0, kind: .put(put))
        let sent = large.withUnsafeBytes { change.entry(sequence: 3, index: 0, payload: $0) }
        change.kind = .put(BoardPut(key: [1], isText: false, customType: nil, payload: large))
        let whole = change.entry(sequence: 3, index: 0)
        #expect(sent == whole)
        change.kind = .part(upload: 1, number: 1, payload: [])
        #expect(large.withUnsafeBytes { change.entry(sequence: 3, index: 0, payload: $0) }.value?.suffix(large.count) == large[...])
        change.kind = .clear
        #expect(large.withUnsafeBytes { change.entry(sequence: 3, index: 0, payload: $0) } == change.entry(sequence: 3, index: 0))
    }
}
