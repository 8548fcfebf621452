import RelayPrimitives
import RelayWire

// Readers that have said what they take: their packets are held until they may leave. [DL11]

extension Queues {
    /// Packets that may wait for a reader, in bytes: the relay's bound or its own, whichever is lower. [DL4]
    func packetBytesMax(of connection: Connection.Index) -> Int {
        min(packetBacklogBytesMax, self[connection].limiter.map { limiters[$0].waitingBytes } ?? .max)
    }

    /// What it takes from now on; what is held already is judged anew.
    ///
    /// - Parameter packetFrameBytesMax: of the largest packet there is.
    mutating func limit(_ connection: Connection.Index, _ limits: ReaderLimits, packetFrameBytesMax: Int, at now: Instant) {
        let old = self[connection].limiter
        guard limits != ReaderLimits() else {
            guard let old else { return }
            self[connection].segments.letGo(limiters[old].held.bytes)
            limiters.remove(old)
            self[connection].limiter = nil
            return
        }
        var limiter = ReaderLimiter(limits, packetFrameBytesMax: packetFrameBytesMax, at: now)
        guard let old else { return self[connection].limiter = limiters.insert(limiter) }
        limiter.holds(limiters[old].held)
        limiter.wakesAt = limiters[old].wakesAt
        limiters[old] = limiter
    }

    /// - Returns: whether the queue refers to the chunk once more.
    mutating func hold(_ segment: Segment, for connection: Connection.Index, _ limiter: ReaderLimiter.Index) -> Bool {
        var held = segment
        held.kind = .held
        limiters[limiter].hold(segment.bytes)
        return append(held, to: connection)
    }

    /// Lets go what the reader takes now: all of it where it stands, or what is chosen when its turn has come.
    ///
    /// - Returns: what was chosen, if something was.
    mutating func letGo(
        _ connection: Connection.Index, _ limiter: ReaderLimiter.Index, at now: Instant, _ milliseconds: UInt32
    ) -> ShedPass? {
        limiters[limiter].refill(at: now)
        let held = limiters[limiter].held
        guard !limiters[limiter].has(held) else {
            limiters[limiter].take(held)
            limiters[limiter].holds(PacketSum())
            self[connection].segments.letGo(held.bytes)
            return nil
        }
        guard isPassed(connection, held) || limiters[limiter].nextTurn(at: now) <= now else { return nil }
        var pass = shedPass(connection, at: milliseconds)
        limiters[limiter].beginTurn(at: now)
        pass.takeTurn(&limiters[limiter])
        limiters[limiter].holds(pass.held)
        if pass.isNeeded { rebuild(connection, .sheddable, fates: pass.fates, telling: pass.lost) }
        return pass
    }

    /// Whether something stands behind packets that are held: they cannot wait.
    private func isPassed(_ connection: Connection.Index, _ held: PacketSum) -> Bool {
        let segments = self[connection].segments
        return (segments.heldFrom..<segments.count).reduce(0) { $0 + segments[$1].bytes } < held.bytes
    }
}
