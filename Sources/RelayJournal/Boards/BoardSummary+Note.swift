import RelayStorage

extension BoardSummary {
    /// What a change says besides what it does to records.
    mutating func note(_ change: StoredChange) {
        switch change.kind {
        case .part, .drop: return
        case .create(let name): self.name = name
        case .put, .remove, .clear, .undo:
            head = change.offset
            if let last = epochs.last, last.id == change.epoch {
                epochs[epochs.count - 1].last = change.offset
            } else {
                epochs.append(BoardEpoch(id: change.epoch, last: change.offset))
                if epochs.count > Self.epochsMax { epochs.removeFirst() }
            }
        }
        lastUnretained = change.lastUnretained
        wallMilliseconds = change.wallMilliseconds
    }
}
