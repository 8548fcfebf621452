/// A stream channel that was joined.
public struct StreamChannel: Sendable {
    let core: ClientCore
    let name: Name

    /// Whom to hear in a topic.
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

    /// What a selection is, and what could not be added to it.
    public struct Selection: Sendable, Equatable {
        /// Whether everybody is heard, now and later.
        public var all: Bool
        /// Those listed, or what the request was about.
        public var users: [String]
        /// Users that the relay did not add or remove, each with the reason.
        public var failed: [TopicFailure]

        /// As a test or a preview makes one.
        public init(all: Bool, users: [String], failed: [TopicFailure] = []) { (self.all, self.users, self.failed) = (all, users, failed) }
    }

    private func topic(_ topic: String) throws(RelayError) -> TopicID { TopicID(channel: name, topic: try checkedName(topic)) }

    /// Begins to publish in a topic.
    ///
    /// - Parameters:
    ///   - meta: told to subscribers, at most 256 bytes.
    ///   - lifetime: how old a packet may become before a slow reader's link, 50…1,000 ms; 1 s if `nil`.
    /// - Throws: `notJoined`, `notPermitted`, `notPresent` for a quiet member, `badRequest` for another lifetime, `tooLarge`,
    ///   `limitReached`, `channelFull`, `badName`, `outcomeUnknown`, or why the relay was not reached.
    public func joinTopic(
        _ topic: String, qos: TopicQoS = .ordered, priority: TopicPriority = .normal, meta: String = "", lifetime: Duration? = nil
    ) async throws(RelayError) {
        let milliseconds = lifetime.map { Int($0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000) }
        let options = TopicOptions(qos: qos, priority: priority, meta: meta, lifetimeMilliseconds: milliseconds)
        _ = try await core.ask(.joinTopic(try self.topic(topic), options))
    }

    /// Ends publishing in a topic.
    /// 
    /// - Throws: `topicNotJoined`, `badName`, or why the relay was not reached.
    public func leaveTopic(_ topic: String) async throws(RelayError) { _ = try await core.ask(.leaveTopic(try self.topic(topic))) }

    /// Hears users in a topic; adds to what is heard already.
    ///
    /// - Throws: `notJoined`, `limitReached` over 64 users, `badName`, or why the relay was not reached.
    @discardableResult
    public func subscribeTopic(_ topic: String, users: Users = .all) async throws(RelayError) -> Selection {
        try await selection(.subscribeTopic(try self.topic(topic), users: users.list))
    }

    /// Takes users away; `.all` the whole selection.
    ///
    /// - Throws: `notJoined`, `limitReached` over 64 users, `badName`, or why the relay was not reached.
    @discardableResult
    public func unsubscribeTopic(_ topic: String, users: Users = .all) async throws(RelayError) -> Selection {
        try await selection(.unsubscribeTopic(try self.topic(topic), users: users.list))
    }

    /// The listed users; with `all` all present publishers.
    ///
    /// - Throws: `notJoined`, `badName`, or why the relay was not reached.
    public func subscribedUsers(_ topic: String) async throws(RelayError) -> Selection {
        let id = try self.topic(topic)
        var found = Selection(all: false, users: [], failed: [])
        var next: Name?
        repeat {
            guard case .users(let all, let users, let following) = try await core.ask(.subscribedUsers(id, after: next)) else {
                throw .wrongAnswer
            }
            found.all = all
            found.users += users.map(\.text)
            next = following
        } while next != nil
        return found
    }

    private func selection(_ request: ClientRequest) async throws(RelayError) -> Selection {
        guard case .topicUsers(let all, let users, let failed) = try await core.ask(request) else { throw .wrongAnswer }
        return Selection(all: all, users: users, failed: failed)
    }

    /// Publishes a packet; it has its place in the order, among messages too, when this returns.
    ///
    /// - Parameters:
    ///   - slot: "latest wins": a slow reader gets the newest of a slot only.
    ///   - senderTime: the sender's own clock, passed on untouched.
    /// - Throws: `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`; nothing was sent then.
    public func send(
        _ payload: Payload, topic: String, slot: UInt32? = nil, senderTime: UInt32? = nil, echo: Bool = false
    ) throws(RelayError) {
        let id = try self.topic(topic)
        try core.act { (machine, now) throws(RelayError) in
            try machine.sendPacket(payload, id, slot: slot, senderTime: senderTime, echo: echo, at: now)
        }
    }

    /// Leaves the channel and all its topics.
    ///
    /// - Throws: `notJoined`, or why the relay was not reached.
    public func leave() async throws(RelayError) { _ = try await core.ask(.leave(name)) }
}

/// Presence and states of one channel.
public struct Presence: Sendable {
    let core: ClientCore
    let channel: ChannelReference

    /// Members in order of user id.
    public struct Page: Sendable, Equatable {
        /// At most 100, fewer if they have long states.
        public var members: [Member]
        /// Of all members, not of this page.
        public var total: Int
        /// Give it as `after` to read on; `nil` at the end.
        public var next: String?

        /// As a test or a preview makes one.
        public init(members: [Member], total: Int, next: String? = nil) { (self.members, self.total, self.next) = (members, total, next) }
    }

    private func id() throws(RelayError) -> ChannelID {
        switch channel {
        case .message(let name): ChannelID(kind: .message, channel: try checkedName(name))
        case .stream(let name): ChannelID(kind: .stream, channel: try checkedName(name))
        }
    }

    /// A page of the members, in order of user id.
    ///
    /// - Parameter limit: 1…100.
    /// - Throws: `badRequest` for another limit, `notPermitted`, `badName`, or why the relay was not reached.
    public func users(after: String? = nil, limit: Int? = nil) async throws(RelayError) -> Page {
        var start: Name?
        if let after { start = try checkedName(after) }
        guard case .members(let total, let members, let next) = try await core.ask(.who(try id(), after: start, limit: limit)) else {
            throw .wrongAnswer
        }
        return Page(members: members, total: total, next: next?.text)
    }

    /// Creates or replaces states of this user in the channel.
    ///
    /// - Throws: `limitReached`, `tooLarge`, `notPresent` for a quiet member, `notPermitted`, `badName`, or why the relay was not reached.
    public func setStates(_ states: [String: String]) async throws(RelayError) { _ = try await core.ask(.setStates(try id(), states)) }

    /// Removes states of this user in the channel.
    ///
    /// - Parameter keys: `nil` for all.
    /// - Throws: `notPresent` for a quiet member, `notPermitted`, `badName`, or why the relay was not reached.
    public func removeStates(_ keys: [String]? = nil) async throws(RelayError) {
        var names: [Name]?
        if let keys {
            names = []
            for key in keys { names!.append(try checkedName(key)) }
        }
        _ = try await core.ask(.removeStates(try id(), names))
    }

    /// The states of a user in this channel; empty for an absent user.
    ///
    /// - Throws: `notPermitted`, `badName`, or why the relay was not reached.
    public func states(of user: String) async throws(RelayError) -> [String: String] {
        guard case .states(let states) = try await core.ask(.getStates(try id(), try checkedName(user))) else { throw .wrongAnswer }
        return states
    }
}
