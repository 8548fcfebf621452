/// What the outbox counts of the hub's `Counters`.
struct OutboxCounts {
    var packetsQueued: UInt64 = 0
    var packetsShedSlow: UInt64 = 0
    var packetsShedExpired: UInt64 = 0
    var packetsShedReader: UInt64 = 0
    var packetsDiscarded: UInt64 = 0
    var delays = DelayCounts()
}
