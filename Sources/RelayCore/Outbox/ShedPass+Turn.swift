import RelayWire

// Which of the packets that are held for a reader may leave, because it takes so many; which wait, and which go. [DL11]

extension ShedPass {
    /// Superseded slots go; then packets without a slot, until the rest is what the reader takes now. If that does not do, senders take
    /// turns with the newest of their slots: what is left waits. What stands before a message cannot wait, and leaves on credit or goes.
    ///
    /// - Parameter limiter: there is something that it has not enough for.
    mutating func takeTurn(_ limiter: inout ReaderLimiter) {
        isTurn = true
        for index in superseded(amongHeld: true) { shed(index, .readerLimit) }
        var left = held
        let indices = heldIndices
        for rank in UInt8(0)...3 {
            for index in indices where !limiter.has(left) && isLeft(index, rank: rank, withSlot: false) {
                left.remove(shed(index, .readerLimit))
            }
        }
        guard limiter.has(left) else { return serveSenders(&limiter) }
        limiter.take(left)
        for index in heldIndices { letGo(index) }
    }

    private var heldIndices: [Int] {
        frames.indices.filter { frames[$0].packet.map { $0.isHeld && $0.reason == nil } == true }
    }

    private mutating func serveSenders(_ limiter: inout ReaderLimiter) {
        let left = heldIndices
        for isUrgent in [true, false] {
            let lines = lines(of: left.filter { frames[$0].packet!.isUrgent == isUrgent }, behind: limiter.lastServed)
            for round in 0..<(lines.map(\.count).max() ?? 0) {
                for line in lines where round < line.count {
                    let index = line[round]
                    if limiter.serve(frames[index].packet!.mark.sender, bytes: frames[index].bytes, onCredit: isUrgent) {
                        letGo(index)
                    } else if isUrgent {
                        shed(index, .readerLimit)
                    } else {
                        return limiter.waits(for: frames[index].bytes)
                    }
                }
            }
        }
    }

    /// Each sender's packets in their order; first the sender whose handle follows the one that was served last.
    private func lines(of indices: [Int], behind last: UInt32) -> [[Int]] {
        let bySender = Dictionary(grouping: indices) { frames[$0].packet!.mark.sender }
        let senders = bySender.keys.sorted()
        return (senders.filter { $0 > last } + senders.filter { $0 <= last }).map { bySender[$0]! }
    }
}
