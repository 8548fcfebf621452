import RelayPrimitives
public import RelayRights
import RelayWire

/// What this client may do in a channel, and what moderators set there.
public struct Permissions: Equatable, Sendable {
    /// `nil` before the first login.
    public var rights: Rights?
    /// Known while the client is in the channel.
    public var modes: Set<ChannelMode>

    package init(rights: Rights?, modes: Set<ChannelMode>) { (self.rights, self.modes) = (rights, modes) }
}

// What is newest of a channel beside its board, its users and its metadata.

extension ReadableMachine {
    /// What is newest follows each event that has something of it.
    mutating func note(_ event: ClientEvent) {
        switch event {
        case .topics(let change): channels[change.channel]?.take(change)
        case .joinCodeEnded: joinCode.set(nil)
        // A code is its session's.
        case .link(.connected(resumed: false)): if joinCode.value != nil { joinCode.set(nil) }
        case .channelMode: lookAtPermissions(always: true)
        default: break
        }
    }

    // MARK: - Permissions

    /// Whoever has asked for them is told of the next.
    package mutating func watchPermissions(_ channel: String) {
        watchesPermissions = true
        if channels[channel]?.permissions == nil { channels[channel, default: ChannelView()].permissions = Newest(present(channel)) }
    }

    package func permissions(_ channel: String) -> Permissions { channels[channel]?.permissions?.value ?? present(channel) }

    private func present(_ channel: String) -> Permissions {
        Permissions(rights: machine.access?.rights(on: channel), modes: modes(channel))
    }

    /// - Parameter always: modes have changed, or channels were left.
    mutating func lookAtPermissions(always: Bool = false) {
        guard always || machine.access != accessSeen else { return }
        accessSeen = machine.access
        for (channel, view) in channels {
            let present = present(channel)
            if let known = view.permissions, known.value != present { channels[channel]!.permissions!.set(present) }
        }
    }

    // MARK: - Standings

    package func locksStanding(_ channel: String) -> Standing { standing(channel, \.locks.version) }
    package func publishedStanding(_ channel: String) -> Standing { standing(channel, \.published.version) }
    package func permissionsStanding(_ channel: String) -> Standing { standing(channel) { $0.permissions?.version ?? 0 } }
    package var joinCodeStanding: Standing { Standing(version: joinCode.version, stay: 0, isOver: machine.isClosed) }

    package func locks(_ channel: String) -> [String: LockDetail] { channels[channel]?.locks.value ?? [:] }
    package func published(_ channel: String) -> [PublishedTopic] { channels[channel]?.published.value ?? [] }

    // MARK: - Join codes

    package var offeredJoinCode: OfferedCode? { joinCode.value }

    /// Asks for a code for newcomers, or withdraws it: what the relay answers is the newest.
    package mutating func requestJoinCode(_ request: ClientRequest, token: ClientToken, at now: Instant) throws(RelayError) {
        try machine.request(request, token: token, at: now)
        follow(token, .joinCode)
    }
}

extension ChannelView {
    /// The locks as a change leaves them.
    mutating func take(_ change: LocksChange) {
        var locks = change.kind == .snapshot ? [:] : locks.value
        for lock in change.locks { locks[lock.lock] = change.kind == .removed ? nil : lock }
        self.locks.set(locks)
    }

    /// Who publishes, as a change leaves it, in order of topic, user and device.
    mutating func take(_ change: TopicsChange) {
        func isOne(_ one: PublishedTopic, _ other: PublishedTopic) -> Bool {
            (one.topic, one.user, one.device) == (other.topic, other.user, other.device)
        }
        var published = change.kind == .snapshot ? [] : published.value
        published.removeAll { known in change.publishers.contains { isOne($0, known) } }
        if change.kind != .left { published += change.publishers }
        self.published.set(published.inOrder { ($0.topic, $0.user, $0.device) < ($1.topic, $1.user, $1.device) })
    }
}
