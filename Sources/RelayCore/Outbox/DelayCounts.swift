import RelayPrimitives

/// How long readers' queues took to empty, counted by size.
public struct DelayCounts: Sendable, Hashable, Codable {
    /// Upper bounds in seconds, rising; what took longer than all of them is counted behind the last.
    public static let bounds: [Double] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5]

    /// Times between a bound and the one before it.
    public private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// Of all times, in seconds.
    public private(set) var seconds = 0.0

    package init() {}

    mutating func observe(_ time: Duration) {
        let value = Double(time.nanoseconds) / 1e9
        var index = 0
        while index < Self.bounds.count, value > Self.bounds[index] { index += 1 }
        counts[index] += 1
        seconds += value
    }
}

/// What the outbox counts of the hub's `Counters`.
struct OutboxCounts {
    var packetsQueued: UInt64 = 0
    var packetsShedSlow: UInt64 = 0
    var packetsShedExpired: UInt64 = 0
    var packetsShedReader: UInt64 = 0
    var packetsDiscarded: UInt64 = 0
    var delays = DelayCounts()
}
