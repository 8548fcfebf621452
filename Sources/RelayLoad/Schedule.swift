import RelayPrimitives

/// What is to be sent when, whatever becomes of it: a source that is late sends at once what it owes, and the time at
/// which that was due is what its latency is counted from.
package struct Schedule: Sendable {
    package struct Send: Sendable, Equatable {
        /// Nanoseconds since the start.
        var at: UInt64
        var source: Int
        /// Of its payload.
        var bytes: Int
    }

    /// Sends so often, so much.
    struct Source: Sendable, Equatable {
        var perSecond: Double
        var bytes: Int
    }

    /// A heap: the earliest is first.
    private var turns: [Turn] = []
    private var listed: [Send] = []
    /// Of the next one that is listed.
    private var place = 0

    private struct Turn {
        var send: Send
        var phase: Double
        var period: Double
        var number = 0.0

        func isBefore(_ other: Turn) -> Bool { (send.at, send.source) < (other.send.at, other.send.source) }
    }

    /// For ever, each source with a phase of its own.
    ///
    /// - Parameter seed: what the phases are drawn from.
    init(_ sources: [Source], seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        turns = sources.enumerated().map { number, source in
            let period = 1e9 / source.perSecond
            let phase = Double.random(in: 0..<1, using: &dice) * period
            return Turn(send: Send(at: UInt64(phase), source: number, bytes: source.bytes), phase: phase, period: period)
        }
        // What is sorted is a heap, too.
        turns.sort { $0.isBefore($1) }
    }

    /// Once, in the order of their times.
    init(listed sends: [Send]) { listed = sends }

    /// What is due next; `nil` at the end.
    var next: Send? { turns.first?.send ?? (place < listed.count ? listed[place] : nil) }

    /// Goes on behind `next`.
    mutating func advance() {
        guard !turns.isEmpty else { return place += 1 }
        turns[0].number += 1
        turns[0].send.at = UInt64(turns[0].phase + turns[0].number * turns[0].period)
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < turns.count && turns[child].isBefore(turns[least]) { least = child }
            guard least != parent else { return }
            turns.swapAt(parent, least)
            parent = least
        }
    }
}
