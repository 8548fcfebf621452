import RelayPrimitives
import RelayWire

// Which of the packets that are held for a reader may leave, because it takes so many; which wait, and which go. [DL11]

extension ShedPass {
    /// Superseded slots go; then packets without a slot, until the rest is what the reader takes now. If that does not do, senders take
    /// turns with the newest of their slots: what is left waits, behind all other frames. What cannot wait leaves on credit, or goes.
    ///
    /// - Parameters:
    ///   - limiter: there is something that it has not enough for.
    ///   - isDue: whether it is the reader's turn; else only what cannot wait is chosen from.
    mutating func takeTurn(_ limiter: inout ReaderLimiter, isDue: Bool) {
        isTurn = true
        for index in superseded(amongHeld: true) { shed(index, .readerLimit) }
        var indices = frames.indices.filter { index in
            frames[index].packet.map { $0.isHeld && $0.reason == nil && (isDue || $0.isUrgent) } == true
        }
        var sum = PacketSum()
        for index in indices { sum.add(frames[index].bytes) }
        for rank in UInt8(0)...3 {
            for index in indices where !limiter.has(sum) && isLeft(index, rank: rank, withSlot: false) {
                sum.remove(shed(index, .readerLimit))
            }
        }
        indices.removeAll { frames[$0].packet!.reason != nil }
        guard limiter.has(sum) else { return serveSenders(indices, &limiter) }
        limiter.take(sum)
        for index in indices { letGo(index) }
    }

    private mutating func serveSenders(_ indices: [Int], _ limiter: inout ReaderLimiter) {
        for isUrgent in [true, false] {
            let lines = lines(of: indices.filter { frames[$0].packet!.isUrgent == isUrgent }, behind: limiter.lastServed)
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
        let senders = bySender.keys.inOrder()
        return (senders.filter { $0 > last } + senders.filter { $0 <= last }).map { bySender[$0]! }
    }
}
