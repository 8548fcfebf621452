/// A stream channel that was joined, apart from the message channel of its name.
package struct StreamChannel: Sendable {
    let client: WhiteboardClient
    let name: Name

    package typealias Users = Topic.Users
    package typealias Selection = Topic.Selection

    private func topic(_ topic: String) throws(RelayError) -> TopicID { TopicID(channel: name, topic: try checkedName(topic)) }

    /// Begins to publish in a topic.
    ///
    /// - Parameters:
    ///   - meta: told to subscribers, at most 256 bytes.
    ///   - lifetime: how old a packet may become before a slow reader's link, 50…1,000 ms; 1 s if `nil`.
    /// - Throws: `notJoined`, `notPermitted`, `notPresent` for a quiet member, `badRequest` for another lifetime, `tooLarge`,
    ///   `limitReached`, `channelFull`, `badName`, `outcomeUnknown`, or why the relay was not reached.
    package func joinTopic(
        _ topic: String, qos: TopicQoS = .ordered, priority: TopicPriority = .normal, meta: String = "", lifetime: Duration? = nil
    ) async throws(RelayError) {
        let milliseconds = lifetime?.milliseconds
        let options = TopicOptions(qos: qos, priority: priority, meta: meta, lifetimeMilliseconds: milliseconds)
        _ = try await client.core.ask(.joinTopic(try self.topic(topic), options))
    }

    /// Ends publishing in a topic.
    ///
    /// - Throws: `topicNotJoined`, `badName`, or why the relay was not reached.
    package func leaveTopic(_ topic: String) async throws(RelayError) { _ = try await client.core.ask(.leaveTopic(try self.topic(topic))) }

    /// Hears users in a topic; adds to what is heard already.
    ///
    /// - Throws: `notJoined`, `limitReached` over 64 users, `badName`, or why the relay was not reached.
    @discardableResult
    package func subscribeTopic(_ topic: String, users: Users = .all) async throws(RelayError) -> Selection {
        try await selection(.subscribeTopic(try self.topic(topic), users: users.list))
    }

    /// Takes users away; `.all` the whole selection.
    ///
    /// - Throws: `notJoined`, `limitReached` over 64 users, `badName`, or why the relay was not reached.
    @discardableResult
    package func unsubscribeTopic(_ topic: String, users: Users = .all) async throws(RelayError) -> Selection {
        try await selection(.unsubscribeTopic(try self.topic(topic), users: users.list))
    }

    /// The listed users; with `all` all present publishers.
    ///
    /// - Throws: `notJoined`, `badName`, or why the relay was not reached.
    package func subscribedUsers(_ topic: String) async throws(RelayError) -> Selection {
        try await client.channel(name.text).topic(topic).followed()
    }

    private func selection(_ request: ClientRequest) async throws(RelayError) -> Selection {
        guard case .topicUsers(let all, let users, let failed) = try await client.core.ask(request) else { throw .wrongAnswer }
        return Selection(all: all, users: users, failed: failed)
    }

    /// Publishes a packet; it has its place in the order, among messages too, when this returns.
    ///
    /// - Parameters:
    ///   - slot: "latest wins": a slow reader gets the newest of a slot only.
    ///   - senderTime: the sender's own clock, passed on untouched.
    /// - Throws: `topicNotJoined`, `tooLarge`, `unsentFull`, `clientClosed`; nothing was sent then.
    package func send(
        _ payload: Payload, topic: String, slot: UInt32? = nil, senderTime: UInt32? = nil, echo: Bool = false
    ) throws(RelayError) {
        let id = try self.topic(topic)
        try client.core.act { (readable, now) throws(RelayError) in
            try readable.machine.sendPacket(payload, id, slot: slot, senderTime: senderTime, echo: echo, at: now)
        }
    }

    /// Leaves the channel and all its topics.
    ///
    /// - Throws: `notJoined`, or why the relay was not reached.
    package func leave() async throws(RelayError) { _ = try await client.core.ask(.leave(name)) }
}
