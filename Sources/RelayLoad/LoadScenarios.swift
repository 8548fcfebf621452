import BoardFormat

extension Load {
    /// Publishers that only publish, subscribers that only read.
    package static func fan(
        _ lane: Lane, publishers: Int, subscribers: Int, bytes: Int, perSecond: Double = 0, pace: Pace = .open, _ times: Times
    ) -> Load {
        Load(
            members: Array(repeating: Member(), count: publishers)
                + Array(repeating: Member(readsPackets: lane == .stream, readsMessages: lane == .message), count: subscribers),
            sources: (0..<publishers).map { Source(member: $0, lane: lane, bytes: bytes, perSecond: perSecond) }, pace: pace, times)
    }

    /// A board whose users all draw: each gets what all the others send.
    package static func board(_ lane: Lane, users: Int, bytes: Int, perSecond: Double, stalling: Bool = false, _ times: Times) -> Load {
        var member = Member(readsPackets: lane == .stream, readsMessages: lane == .message)
        var members = Array(repeating: member, count: users)
        member.stalls = true
        if stalling { members.append(member) }
        return Load(
            members: members, sources: (0..<users).map { Source(member: $0, lane: lane, bytes: bytes, perSecond: perSecond) }, pace: .open,
            times)
    }

    /// A class of which everybody draws at once: points as they are drawn, and every 2 s a stroke that is kept.
    package static func classroom(users: Int, _ times: Times) -> Load {
        Load(
            members: Array(repeating: Member(readsPackets: true, readsMessages: true), count: users),
            sources: (0..<users).map { Source(member: $0, lane: .stream, bytes: 120, perSecond: 60) }
                + (0..<users).map { Source(member: $0, lane: .message, bytes: 2_000, perSecond: 0.5, isRetained: true) },
            pace: .open, times)
    }

    /// Many who read and one who sends when it is told to.
    package static func audience(_ readers: Int, bytes: Int, _ times: Times) -> Load {
        Load(
            members: Array(repeating: Member(readsMessages: true), count: readers) + [Member()],
            sources: [Source(member: readers, lane: .message, bytes: bytes)], pace: .open, times)
    }

    /// One draws what was recorded, in its sizes and at its times; the others watch.
    package static func lesson(_ plan: ReplayPlan, viewers: Int, _ times: Times) -> Load {
        let end = UInt64((times.warmup + times.seconds) * 1e9)
        let sends = plan.steps.compactMap { step -> Schedule.Send? in
            let at = UInt64(max(0, step.at / .nanoseconds(1)))
            return at < end ? Schedule.Send(at: at, source: step.lane == .packet ? 0 : 1, bytes: max(Stamp.bytes, step.payload.count)) : nil
        }
        return Load(
            members: [Member()] + Array(repeating: Member(readsPackets: true, readsMessages: true), count: viewers),
            sources: [
                Source(member: 0, lane: .stream, bytes: Stamp.bytes),
                Source(member: 0, lane: .message, bytes: Stamp.bytes, isRetained: true),
            ],
            pace: .listed(sends), times)
    }

    /// What is the same in every scenario, in seconds.
    package struct Times: Sendable {
        package var warmup: Double
        package var seconds: Double
        package var seed: UInt64

        package init(warmup: Double, seconds: Double, seed: UInt64) { (self.warmup, self.seconds, self.seed) = (warmup, seconds, seed) }
    }

    package init(members: [Member], sources: [Source], pace: Pace, _ times: Times) {
        self.init(members: members, sources: sources, pace: pace, warmup: times.warmup, seconds: times.seconds, seed: times.seed)
    }

    /// What may be under way to the mean reader where a load goes as fast as it can: no more than half of the packets that a
    /// relay keeps for one reader, so that none is shed for what the load itself piles up. [DL4]
    package static let window = Pace.window(messages: 512, bytes: 128 * 1024)
}
