import RelayWire

/// How much readers that catch up are given before others have their turn, and what they have asked the disk for. [HI2]
struct CatchUpTurns {
    /// Bytes that they may still be given in this turn.
    private var budget = Int.max
    /// Those that wait for the next one.
    private var waiting: [Connection.Index] = []
    /// Reads of boards that have not been answered, by token.
    private var readings: [UInt64: Membership.Index] = [:]

    /// - Returns: whether there is something left for a connection in this turn; else it waits for the next one.
    mutating func mayGive(to connection: Connection.Index) -> Bool {
        if budget <= 0 { waiting.insertOnce(connection) }
        return budget > 0
    }

    mutating func gave(_ bytes: Int) { budget -= bytes }

    /// A new turn.
    ///
    /// - Returns: those that waited for it.
    mutating func begin(bytes: Int) -> [Connection.Index] {
        budget = bytes
        defer { waiting = [] }
        return waiting
    }

    var someWait: Bool { !waiting.isEmpty }

    mutating func asked(_ token: UInt64, for membership: Membership.Index) { readings[token] = membership }

    mutating func answered(_ token: UInt64) -> Membership.Index? { readings.removeValue(forKey: token) }
}
