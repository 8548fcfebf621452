import RelayPrimitives
import RelayStorage

// What a journal should have and has not: then it is not opened, and nothing in its folder is touched.

extension Opening {
    /// What the anchor counts on. Without one, in a folder of an older version, nothing is known of what is missing at an end.
    mutating func noteAnchored() {
        guard let anchor else { return }
        for number in Set([anchor.oldest, anchor.newest]) {
            // Its header was durable before the anchor named it.
            let isThere = found.contains { $0.number == number && $0.size >= SegmentHeader.byteCount }
            if !isThere { missing.append(JournalFile.segment(number)) }
        }
        missing = Set(missing).inOrder()
    }

    /// Why the journal is not all that was durable, if so.
    func loss(lastSequence: UInt64) throws(JournalError) -> JournalError? {
        if isAnchorDamaged { return .anchorDamaged }
        if let file = missing.first { return .segmentMissing(file: file) }
        if let anchor, lastSequence < anchor.lastSequence { return .endsEarly(at: lastSequence, durable: anchor.lastSequence) }
        return try storing { () throws(StorageError) in try boardAhead(of: lastSequence) }
    }

    /// A board's file receives what the journal has made durable, and nothing else: so its changes prove how far the journal went.
    ///
    /// What a checkpoint covers is in the journal by its word. What stands behind, and files that no checkpoint names, are read.
    private func boardAhead(of lastSequence: UInt64) throws(StorageError) -> JournalError? {
        for file in try storage.list().inOrder() {
            guard let (board, generation) = BoardFile.parse(file) else { continue }
            let covered = checkpoint(of: board).flatMap { $0.generation == generation ? $0.length : nil }
            var reader = BoardFileReader(
                file: file, board: board, mark: covered == nil ? nil : mark, from: covered ?? 0, to: try storage.size(of: file))
            while !reader.isAtEnd {
                let changes = try reader.step(storage, bytesMax: BoardSettings().stepBytes).changes
                if let newest = changes.map(\.change.sequence).max(), newest > lastSequence {
                    return .endsBeforeBoard(at: lastSequence, file: file, change: newest)
                }
            }
        }
        return nil
    }

    func checkpoint(of board: UInt64) -> BoardCheckpoint? {
        let key = BoardForm.checkpointKey(board)
        return values[key].flatMap { BoardCheckpoint(key: key, value: $0) }
    }
}
