import RelayWire

/// All that catch up, how much they are given before others have their turn, and what they have asked the disk for. [HI2]
struct CatchUps {
    private var catchUps = Slab<CatchUp>(vacant: CatchUp())
    /// Bytes that may still be given in this turn.
    private var budget = Int.max
    /// Connections that wait for the next one.
    private var waiting: [Connection.Index] = []
    /// Reads of boards that have not been answered, by token.
    private var readings: [UInt64: CatchUp.Index] = [:]

    @inline(__always)
    subscript(index: CatchUp.Index) -> CatchUp {
        unsafeAddress { UnsafePointer(catchUps.address(index)) }
        unsafeMutableAddress { catchUps.address(index) }
    }

    mutating func insert(_ catchUp: CatchUp) -> CatchUp.Index { catchUps.insert(catchUp) }

    mutating func remove(_ index: CatchUp.Index) { catchUps.remove(index) }

    // MARK: - Turns

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

    // MARK: - Readings

    /// - Returns: how many parts the reader has of the record that follows.
    mutating func ask(_ token: UInt64, for index: CatchUp.Index) -> UInt16 {
        readings[token] = index
        return self[index].asked(token)
    }

    /// - Returns: the one that still waits for this answer.
    mutating func answered(_ token: UInt64) -> CatchUp.Index? {
        guard let index = readings.removeValue(forKey: token), self[index].awaits(token) else { return nil }
        return index
    }
}
