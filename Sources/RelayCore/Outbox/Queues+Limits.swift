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
        let mustPass = isBefore(connection, held), isDue = limiters[limiter].nextTurn(at: now) <= now
        guard mustPass || isDue else { return nil }
        var pass = shedPass(connection, at: milliseconds, urgent: mustPass ? urgency(connection) : [])
        if isDue { limiters[limiter].beginRound(at: now) }
        pass.takeTurn(&limiters[limiter], isDue: isDue)
        limiters[limiter].holds(pass.held)
        if pass.isNeeded || mustPass { rebuild(connection, .sheddable, fates: pass.fates, telling: pass.lost) }
        return pass
    }

    /// Whether a packet that is held stands before something that is not.
    private func isBefore(_ connection: Connection.Index, _ held: PacketSum) -> Bool {
        let segments = self[connection].segments
        return (segments.heldFrom..<segments.count).reduce(0) { $0 + segments[$1].bytes } < held.bytes
    }

    /// Of each packet that is held, in order, whether it stands before a frame that it may not come behind.
    private mutating func urgency(_ connection: Connection.Index) -> [Bool] {
        let first = self[connection].segments.firstHeld
        var walk = walk(connection, .all, from: first)
        var frames: [QueuedFrame] = []
        while let frame = next(&walk) { frames.append(frame) }
        var isEverybody = false
        var senders: Set<UInt32> = []
        var urgent: [Bool] = []
        for frame in frames.reversed() {
            if frame.kind == .held {
                urgent.append(isEverybody || senders.contains(chunks[frame.chunk].packet(at: frame.position).sender))
            } else {
                switch packetsBefore(frame) {
                case .nobody: break
                case .sender(let sender): senders.insert(sender)
                case .everybody: isEverybody = true
                }
            }
        }
        return urgent.reversed()
    }

    /// Whose packets may not come behind a frame: those of a message's publisher, in whose order they stand; as it is with most others,
    /// everybody's. Names, and what a reader is told of its own messages and of lost packets, say nothing of those that wait.
    private enum Senders { case nobody, sender(UInt32), everybody }

    private func packetsBefore(_ frame: QueuedFrame) -> Senders {
        switch FrameType(rawValue: frame.head.type) {
        case .packet, .lost, .accepted, .stored, .credit, .userNamed: return .nobody
        case .deliver:
            var (flags, body) = (frame.head.flags, chunks[frame.chunk].body(frame.head, at: frame.position))
            guard (try? Extensions.take(from: &body, &flags)) != nil, let message = try? DeliverFrame(flags: flags, body: body) else {
                preconditionFailure("no message at \(frame.position)")
            }
            return .sender(message.publisher)
        default: return .everybody
        }
    }
}
