/// A named flow of packets in a channel, which must be fresh: live points, pointers.
public struct Topic: Sendable {
    let channel: Channel
    let id: TopicID

    private var client: WhiteboardClient { channel.client }

    /// Its name.
    public var name: String { id.topic.text }

    /// Whom to follow.
    public enum Users: Sendable, Equatable {
        /// Everybody, now and later.
        case all
        /// These, when they come; at most 64.
        case only([String])

        var list: [String]? {
            switch self {
            case .all: nil
            case .only(let users): users
            }
        }
    }

    /// Whom a client follows, and what could not be added to that.
    public struct Selection: Sendable, Equatable {
        /// Whether everybody is followed, now and later.
        public var all: Bool
        /// Those listed, or what the call was about.
        public var users: [String]
        /// Users that the relay did not add or remove, by id, with the reason.
        public var failed: [String: ErrorCode]

        package init(all: Bool, users: [String] = [], failed: [String: ErrorCode] = [:]) {
            (self.all, self.users, self.failed) = (all, users, failed)
        }
    }

    /// Topics are in the stream channel of the name, which the first use of one joins.
    private func enter(_ call: CallOptions) async throws(RelayError) {
        guard client.core.act({ readable, _ in readable.entersTopics(id.channel) }) else { return }
        _ = try await client.core.ask(.join(id.channel, features: [], quiet: false, token: nil), call)
    }

    // MARK: - Publishing

    /// Begins to publish packets.
    ///
    /// - Parameters:
    ///   - meta: what this user says about its stay in the topic, at most 256 bytes.
    ///   - lifetime: how old a packet may become before a slow reader's link, 50…1,000 ms; 1 s if `nil`.
    /// - Throws: `notPermitted`, `badRequest` for another lifetime, `tooLarge`, `limitReached`, `channelFull`, `outcomeUnknown`, or why
    ///   the relay was not reached.
    public func startPublishing(
        priority: TopicPriority = .normal, meta: String = "", lifetime: Duration? = nil, call: CallOptions = .init()
    ) async throws(RelayError) -> TopicPublisher {
        try await enter(call)
        let options = TopicOptions(qos: .ordered, priority: priority, meta: meta, lifetimeMilliseconds: lifetime?.milliseconds)
        _ = try await client.core.ask(.joinTopic(id, options), call)
        return TopicPublisher(client: client, id: id)
    }

    // MARK: - Reading

    /// Every packet from now on, and what is lost in the place of others. The topic is followed while the reader is open.
    public func packets(from users: Users = .all) -> Events<PacketEvent> {
        let (id, channel) = (id, channel)
        let (name, topic) = (id.channel.text, id.topic.text)
        let wanted = users.list.map(Set.init)
        let events: Events<PacketEvent> = client.events(channel: name, topic: topic) { client, reader in
            Topic(channel: channel, id: id).letGo(reader, client)
        } _: { item in
            switch item.content {
            case .event(.packet(let packet)):
                let isMeant = packet.channel == name && packet.topic == topic && wanted?.contains(packet.publisher) ?? true
                return isMeant ? .packet(packet) : nil
            case .event(.packetsLost(let lost)):
                return lost.only { $0.channel == name && $0.topic == topic && wanted?.contains($0.publisher) ?? true }.map(PacketEvent.lost)
            default: return nil
            }
        }
        let follower = events.reader.id
        client.core.act { readable, _ in readable.follow(id, follower) }
        Task { [client] in
            do throws(RelayError) { try await follow(users) } catch {
                client.core.act { readable, _ in readable.finish(follower, error) }
            }
        }
        return events
    }

    private func follow(_ users: Users) async throws(RelayError) {
        let call = CallOptions(timeout: .unbounded)
        try await enter(call)
        _ = try await client.core.ask(.subscribeTopic(id, users: users.list), call)
    }

    private func letGo(_ follower: ReaderFeed.ID, _ client: WhiteboardClient) {
        let (channel, id) = (channel, id)
        guard client.core.act({ readable, _ in readable.unfollow(id, follower) }) else { return }
        Task { try? await channel.end(.unsubscribeTopic(id, users: nil), .init()) }
    }

    /// Has the packets of users among `events()`, until `unfollow`; adds to whom it follows already.
    ///
    /// - Returns: whom it follows; `failed` has those that were over 64, or whose ids are none.
    /// - Throws: `notPermitted`, `channelFull`, `limitReached` over 50 topics or 100 channels, or why the relay was not reached.
    @discardableResult
    public func follow(from users: Users = .all, call: CallOptions = .init()) async throws(RelayError) -> Selection {
        client.core.act { readable, _ in readable.follow(id, 0) }
        do throws(RelayError) {
            try await enter(call)
            guard
                case .topicUsers(let all, let users, let failed) = try await client.core.ask(.subscribeTopic(id, users: users.list), call)
            else { throw .wrongAnswer }
            return Selection(all: all, users: users, failed: failed)
        } catch {
            client.core.act { readable, _ in _ = readable.unfollow(id, 0) }
            throw error
        }
    }

    /// Ends `follow`; readers of packets go on.
    ///
    /// - Throws: why the relay was not reached; the client unfollows as soon as it is.
    public func unfollow(call: CallOptions = .init()) async throws(RelayError) {
        guard client.core.act({ readable, _ in readable.unfollow(id, 0) }) else { return }
        try await channel.end(.unsubscribeTopic(id, users: nil), call)
    }

    /// The users whom this client follows; with `all` all present publishers.
    ///
    /// - Throws: `notJoined`, or why the relay was not reached.
    public func followed(call: CallOptions = .init()) async throws(RelayError) -> Selection {
        var found = Selection(all: false)
        var next: Name?
        repeat {
            guard case .users(let all, let users, let following) = try await client.core.ask(.subscribedUsers(id, after: next), call) else {
                throw .wrongAnswer
            }
            found.all = all
            found.users += users.map(\.text)
            next = following
        } while next != nil
        return found
    }
}

/// What a reader of packets gets.
public enum PacketEvent: Sendable, Equatable {
    /// A packet.
    case packet(Packet)
    /// Packets that will not come.
    case lost(PacketsLost)
}

/// A topic in which this client publishes.
public struct TopicPublisher: Sendable {
    let client: WhiteboardClient
    let id: TopicID

    /// Whether it still publishes: a freeze, or another role, ends that, and `startPublishing` begins it again.
    public var isOpen: Bool { client.core.read { $0.machine.publishes(in: id) } }

    /// Publishes a packet; it has its place in the order, among messages too, when this returns.
    ///
    /// - Parameters:
    ///   - payload: at most 1,024 bytes.
    ///   - slot: "latest wins": a slow reader gets the newest of a slot only.
    ///   - senderTime: the sender's own clock, passed on untouched.
    ///   - echo: whether this client receives it as well, if it follows itself.
    /// - Throws: `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`; nothing was sent then.
    public func send(_ payload: Payload, slot: UInt32? = nil, senderTime: UInt32? = nil, echo: Bool = false) throws(RelayError) {
        try client.core.act { (readable, now) throws(RelayError) in
            try readable.machine.sendPacket(payload, id, slot: slot, senderTime: senderTime, echo: echo, at: now)
        }
    }

    /// Ends publishing.
    ///
    /// - Throws: `topicNotJoined`, or why the relay was not reached; the client stops as soon as it is.
    public func stop(call: CallOptions = .init()) async throws(RelayError) { _ = try await client.core.ask(.leaveTopic(id), call) }
}
