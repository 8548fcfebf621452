import RelayWire

/// Who sends what to whom: what a `LoadGenerator` does to a relay.
package struct Load: Sendable {
    package enum Lane: Sendable { case stream, message }

    /// A user with a connection of its own.
    package struct Member: Sendable {
        var readsPackets = false
        var readsMessages = false
        var stalls = false
    }

    /// Something that a member sends, again and again.
    package struct Source: Sendable {
        var member: Int
        var lane: Lane
        var bytes: Int
        var perSecond = 0.0
        /// Each is a record of its own on the channel's board.
        var isRetained = false
    }

    package enum Pace: Sendable {
        /// By the sources' rates, whatever becomes of it.
        case open
        /// So far ahead of the mean reader at most, and as fast as that goes.
        case window(messages: Int, bytes: Int)
        /// As a recording says.
        case listed([Schedule.Send])
    }

    package var members: [Member]
    package var sources: [Source]
    package var pace: Pace
    /// Lets the sources warm up before anything is measured, in seconds.
    package var warmup: Double
    /// Measured, in seconds.
    package var seconds: Double
    package var seed: UInt64

    /// Names on the wire.
    static let channel = "bench", topic = "points"

    /// Users who stop reading after a third of the measured time, until it is over.
    package var stalling: Int? { members.firstIndex { $0.stalls } }

    func expects(_ reader: Int, _ source: Int) -> Bool {
        let source = sources[source]
        guard source.member != reader else { return false }
        return source.lane == .stream ? members[reader].readsPackets : members[reader].readsMessages
    }

    /// The most that one member sends in a second, of packets and of messages.
    package func perSecondMax(_ lane: Lane) -> Double {
        switch pace {
        case .open: return sources.filter { $0.lane == lane }.map(\.perSecond).max() ?? 0
        case .window: return sources.contains { $0.lane == lane } ? .infinity : 0
        case .listed(let sends):
            var most = 0, first = 0
            let times = sends.filter { sources[$0.source].lane == lane }.map(\.at)
            for (index, time) in times.enumerated() {
                while times[first] + 1_000_000_000 < time { first += 1 }
                most = max(most, index - first + 1)
            }
            return Double(most)
        }
    }
}

/// What stands at the front of every payload, in this machine's byte order: only the generator reads it.
///
///     due, nanoseconds u64 | source u32 | number u32
enum Stamp {
    static let bytes = 16

    static func write(_ due: UInt64, _ source: Int, _ number: UInt32, at place: UnsafeMutableRawPointer) {
        place.storeBytes(of: due, as: UInt64.self)
        place.storeBytes(of: UInt32(source), toByteOffset: 8, as: UInt32.self)
        place.storeBytes(of: number, toByteOffset: 12, as: UInt32.self)
    }
}
