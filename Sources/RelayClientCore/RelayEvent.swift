import RelayWire

/// What readers of events get: messages and packets of all channels, in the relay's order.
///
/// What has a present value is told by readers of that: `lockStates()`, `publishedTopics()`, `permissions()`, `joinCodes()`, `contents()`.
public enum RelayEvent: Equatable, Sendable {
    /// A message of an open channel.
    case message(Message)
    /// Records of a board, many at a time, while a channel catches up from the beginning or after a reset.
    case board(BoardBatch)
    /// All records of a board were removed.
    case cleared(BoardCleared)
    /// A packet of a topic that is followed.
    case packet(Packet)
    /// A message to this user alone.
    case direct(DirectMessage)
    /// Who is in a channel, or their states, changed.
    case presence(PresenceChange)
    /// Packets of others that will not come.
    case packetsLost(PacketsLost)
    /// Messages of others that will not come.
    case messagesMissed(MessagesMissed)
    /// All that a channel keeps has come, after `open` or after a break: up to the offset `head`. From here on comes what is sent.
    case caughtUp(channel: String, head: UInt64)
    /// Something that no call waits for was refused, or has failed.
    case refused(Problem)
    /// How the client stands with its relay.
    case link(LinkState)
}

extension RelayEvent {
    /// What apps are told of an event; `nil`: nothing, or a present value.
    package init?(_ event: ClientEvent) {
        switch event {
        case .message(let message): self = .message(message)
        case .board(let batch): self = .board(batch)
        case .cleared(let cleared): self = .cleared(cleared)
        case .packet(let packet): self = .packet(packet)
        case .direct(let direct): self = .direct(direct)
        case .presence(let change): self = .presence(change)
        case .packetsLost(let lost): self = .packetsLost(lost)
        case .messagesMissed(let missed): self = .messagesMissed(missed)
        case .caughtUp(let channel, let head): self = .caughtUp(channel: channel, head: head)
        case .link(let state): self = .link(state)
        case .refused, .packetsDropped, .joinCodeEnded, .accessExpiring:
            guard let problem = event.problem else { return nil }
            self = .refused(problem)
        case .topics, .metadata, .locks, .accessChanged, .channelMode: return nil
        }
    }
}

extension ClientEvent {
    /// What readers of problems get of it.
    package var problem: Problem? {
        switch self {
        case .refused(let problem): return problem
        case .packetsDropped(let dropped):
            var problem = Problem(subject: .packets, channel: dropped.channel, topic: dropped.topic, error: dropped.error)
            problem.count = dropped.dropped
            return problem
        case .joinCodeEnded(let end): return Problem(subject: .joinCode, error: end.error)
        case .accessExpiring(let time):
            return Problem(subject: .token, error: RelayError(.accessExpired, "the token ends in \(time): renew it"))
        default: return nil
        }
    }
}

extension PacketsDropped {
    fileprivate var error: RelayError {
        switch reason {
        case .overRate: RelayError(.rateLimited, "packets were dropped: they came faster than the relay lets them")
        case .linkDown: RelayError(.notConnected, "packets were dropped: the link was down for too long")
        case .topicNotJoined: RelayError(.topicNotJoined, "packets were dropped: the topic was left")
        case .closed: RelayError(.clientClosed, "packets were dropped: the client was closed")
        }
    }
}

extension JoinCodeEnd {
    fileprivate var error: RelayError {
        switch self {
        case .expired: RelayError(.codeWrong, "the join code has expired")
        case .wrongTries: RelayError(.rateLimited, "the join code has ended: too many wrong tries")
        case .keyChanged: RelayError(.keyChanged, "the join code has ended: the key is another one")
        case .notPermitted: RelayError(.notPermitted, "the join code has ended: this client may not offer one any more")
        case .other: RelayError(.codeWrong, "the join code has ended")
        }
    }
}
