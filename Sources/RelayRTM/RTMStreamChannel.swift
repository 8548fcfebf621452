import Foundation
import RelayClient

/// A stream channel: packets by topic, lossy on purpose.
public final class RTMStreamChannel: Sendable {
    let kit: RTMClientKit
    private let name: String

    private struct Stay {
        var channel: StreamChannel
        var features: Set<Feature>
        var isQuiet: Bool
        /// Number of the login in which it was joined: over with it.
        var login: UInt64
    }

    private struct State {
        var stay: Stay?
        /// How often `join` and `leave` were called, and how many joins wait for their answer.
        var joins = 0, leaves = 0, joining = 0
    }

    private let state = Mutex(State())

    init(kit: RTMClientKit, name: String) { (self.kit, self.name) = (kit, name) }

    /// Name of the channel.
    public func getChannelName() -> String { name }

    /// Leaves.
    @discardableResult
    public func destroy() -> RTMErrorCode {
        leave()
        return .ok
    }

    /// Joins; others see it. Calling again changes what is received.
    @discardableResult
    public func join(_ option: RTMJoinChannelOption) async -> RTMAnswer<RTMCommonResponse> { await join(option.values) }

    func join(_ wanted: (features: Set<Feature>, isQuiet: Bool, token: String?)) async -> RTMAnswer<RTMCommonResponse> {
        await kit.attempt("join", .channel) {
            let (client, login) = try self.kit.session()
            let token = self.kit.settings.key == nil && wanted.token?.isEmpty == false ? wanted.token : nil
            let (join, leaves) = self.state.withLock { state in
                state.joins += 1
                state.joining += 1
                return (state.joins, state.leaves)
            }
            defer { self.state.withLock { $0.joining -= 1 } }
            let channel = try await client.join(self.name, features: wanted.features, quiet: wanted.isQuiet, token: token)
            let (isWanted, isLast) = self.state.withLock { state in
                if state.leaves == leaves {
                    state.stay = Stay(channel: channel, features: wanted.features, isQuiet: wanted.isQuiet, login: login)
                }
                return (state.leaves == leaves, state.joins == join)
            }
            guard isWanted else {
                // A later join stays, or leaves for itself.
                if isLast { try await channel.leave() }
                throw RTMErrorInfo(.channelJoinFailed, "left before the join was answered")
            }
            return RTMCommonResponse()
        }
    }

    /// Leaves the channel and all its topics, or ends a join that is under way.
    @discardableResult
    public func leave() async -> RTMAnswer<RTMCommonResponse> {
        await kit.attempt("leave", .channel) {
            let login = try self.kit.session().login
            // Left from here on: what is asked for before the answer comes is refused.
            let (stay, isJoining) = self.state.withLock { state in
                state.leaves += 1
                return (state.stay.take(), state.joining > 0)
            }
            guard let stay, stay.login == login else {
                if isJoining { return RTMCommonResponse() }
                throw self.notJoined("leave")
            }
            try await stay.channel.leave()
            return RTMCommonResponse()
        }
    }

    /// Goes on with another token of this channel's own.
    @discardableResult
    public func renewToken(_ token: String) async -> RTMAnswer<RTMCommonResponse> {
        let found = await kit.attempt("renewToken", .channel) { try self.stay("renewToken") }
        guard let stay = found.0 else { return (nil, found.1) }
        return await join((stay.features, stay.isQuiet, token))
    }

    /// Begins to publish in a topic; `option` of `nil` is ordered, of normal priority.
    @discardableResult
    public func joinTopic(_ topic: String, option: RTMJoinTopicOption?) async -> RTMAnswer<RTMCommonResponse> {
        await joinTopic(topic, (option ?? RTMJoinTopicOption()).values)
    }

    func joinTopic(_ topic: String, _ wanted: (qos: TopicQoS, priority: TopicPriority, meta: String)) async -> RTMAnswer<RTMCommonResponse>
    {
        await on("joinTopic", .topic) { channel in
            try await channel.joinTopic(topic, qos: wanted.qos, priority: wanted.priority, meta: wanted.meta)
        }
    }

    /// Ends publishing in a topic.
    @discardableResult
    public func leaveTopic(_ topic: String) async -> RTMAnswer<RTMCommonResponse> {
        await on("leaveTopic", .topic) { channel in try await channel.leaveTopic(topic) }
    }

    /// Hears more users in a topic, at most 64; without a list everybody, now and later.
    @discardableResult
    public func subscribeTopic(_ topic: String, option: RTMTopicOption?) async -> RTMAnswer<RTMTopicSubscriptionResponse> {
        await subscribeTopic(topic, option?.values ?? .all)
    }

    func subscribeTopic(_ topic: String, _ users: StreamChannel.Users) async -> RTMAnswer<RTMTopicSubscriptionResponse> {
        await on("subscribeTopic", .topic) { channel in
            switch users {
            case .only(let list) where list.isEmpty:
                throw RTMErrorInfo(.channelInvalidUserList, "users is an empty list, which is nobody: nil is everybody")
            case .only(let list) where list.count > Limits.listedUsersMax:
                let text = "a list has at most \(Limits.listedUsersMax) users, not \(list.count): nil is everybody"
                throw RTMErrorInfo(.channelExceedTopicUserLimitation, text)
            case .only: return RTMTopicSubscriptionResponse(try await channel.subscribeTopic(topic, users: users))
            case .all:
                try await channel.subscribeTopic(topic, users: users)
                // They are heard, whether it can be told who they are or not.
                let users = try? await channel.subscribedUsers(topic)
                return users.map { RTMTopicSubscriptionResponse($0) } ?? RTMTopicSubscriptionResponse()
            }
        }
    }

    /// Stops hearing the listed users; without a list all users. Fails if none of the listed users was heard.
    @discardableResult
    public func unsubscribeTopic(_ topic: String, option: RTMTopicOption?) async -> RTMAnswer<RTMCommonResponse> {
        await unsubscribeTopic(topic, option?.values ?? .all)
    }

    func unsubscribeTopic(_ topic: String, _ users: StreamChannel.Users) async -> RTMAnswer<RTMCommonResponse> {
        await on("unsubscribeTopic", .topic) { channel in
            let failed = try await channel.unsubscribeTopic(topic, users: users).failed
            var asked: Set<String> = []
            if case .only(let users) = users { asked = Set(users) }
            guard let failure = failed.min(by: { $0.key < $1.key }), asked.isSubset(of: failed.keys) else { return }
            throw RelayError(failure.value, "\(failure.key) was not listed")
        }
    }

    /// Publishes text in a joined topic, at most 1,024 bytes. It has its place in the order when this returns.
    @discardableResult
    public func publishTopicMessage(topic: String, message: String, option: RTMTopicMessageOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await publish(Result { try send(.text(message), topic: topic, (option ?? RTMTopicMessageOptions()).values) })
    }

    /// Publishes bytes, as text.
    @discardableResult
    public func publishTopicMessage(topic: String, data: Data, option: RTMTopicMessageOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await publish(Result { try send(.bytes(Array(data)), topic: topic, (option ?? RTMTopicMessageOptions()).values) })
    }

    /// Has its place in the order when it returns.
    func send(_ payload: Payload, topic: String, _ options: (customType: String, slot: UInt32?)) throws {
        let channel = try stay("publishTopicMessage").channel
        guard options.customType.isEmpty else {
            throw RTMErrorInfo(.channelInvalidCustomType, "packets carry no custom type: put it into the payload")
        }
        try channel.send(payload, topic: topic, slot: options.slot)
    }

    func publish(_ sent: Result<Void, any Error>) async -> RTMAnswer<RTMCommonResponse> {
        await kit.attempt("publishTopicMessage", .packet) {
            try sent.get()
            return RTMCommonResponse()
        }
    }

    /// The users that this client hears in a topic: the listed ones, or all present publishers.
    @discardableResult
    public func getSubscribedUserList(_ topic: String) async -> RTMAnswer<RTMGetTopicSubscribedUsersResponse> {
        await on("getSubscribedUserList", .topic) { channel in
            let users = try await channel.subscribedUsers(topic).users
            return RTMGetTopicSubscribedUsersResponse.with { $0.users = users }
        }
    }

    private func notJoined(_ operation: String) -> RTMErrorInfo {
        RTMErrorInfo(.channelNotJoined, "the stream channel \(name) is not joined", operation: operation)
    }

    private func stay(_ operation: String) throws -> Stay {
        let login = try kit.session().login
        guard let stay = state.withLock({ $0.stay }), stay.login == login else { throw notJoined(operation) }
        return stay
    }

    private func on<Response>(
        _ operation: String, _ area: RTMArea, _ body: (StreamChannel) async throws -> Response
    ) async -> RTMAnswer<Response> {
        await kit.attempt(operation, area) { try await body(try self.stay(operation).channel) }
    }

    private func on(
        _ operation: String, _ area: RTMArea, _ body: (StreamChannel) async throws -> Void
    ) async -> RTMAnswer<RTMCommonResponse> {
        await on(operation, area) { channel in
            try await body(channel)
            return RTMCommonResponse()
        }
    }
}
