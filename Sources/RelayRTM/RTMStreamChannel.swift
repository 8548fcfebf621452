import Foundation
import RelayClient

/// A stream channel: packets by topic, lossy on purpose.
public final class RTMStreamChannel: Sendable {
    let kit: RTMClientKit
    private let name: String
    private let joined = Lock<(channel: StreamChannel, features: Set<Feature>, isQuiet: Bool)?>(nil)

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
    public func join(_ option: RTMJoinChannelOption) async -> (RTMCommonResponse?, RTMErrorInfo?) { await join(option.values) }

    func join(_ wanted: (features: Set<Feature>, isQuiet: Bool, token: String?)) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await kit.call("join", .channel) { client in
            let token = self.kit.settings.key == nil && wanted.token?.isEmpty == false ? wanted.token : nil
            let channel = try await client.join(self.name, features: wanted.features, quiet: wanted.isQuiet, token: token)
            self.joined.withLock { $0 = (channel, wanted.features, wanted.isQuiet) }
        }
    }

    /// Leaves the channel and all its topics.
    @discardableResult
    public func leave() async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await kit.call("leave", .channel) { _ in
            // Left from here on: what is asked for before the answer comes is refused.
            guard let (channel, _, _) = self.joined.withLock({ $0.take() }) else { throw self.notJoined("leave") }
            try await channel.leave()
        }
    }

    /// Goes on with another token of this channel's own.
    @discardableResult
    public func renewToken(_ token: String) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        guard let (_, features, isQuiet) = joined.withLock({ $0 }) else { return (nil, notJoined("renewToken")) }
        return await join((features, isQuiet, token))
    }

    /// Begins to publish in a topic; `option` of `nil` is ordered, of normal priority.
    @discardableResult
    public func joinTopic(_ topic: String, option: RTMJoinTopicOption?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await joinTopic(topic, (option ?? RTMJoinTopicOption()).values)
    }

    func joinTopic(_ topic: String, _ wanted: (qos: TopicQoS, priority: TopicPriority, meta: String)) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await on("joinTopic", .topic) { channel in
            try await channel.joinTopic(topic, qos: wanted.qos, priority: wanted.priority, meta: wanted.meta)
        }
    }

    /// Ends publishing in a topic.
    @discardableResult
    public func leaveTopic(_ topic: String) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await on("leaveTopic", .topic) { channel in try await channel.leaveTopic(topic) }
    }

    /// Hears more users in a topic; without a list everybody, now and later.
    @discardableResult
    public func subscribeTopic(_ topic: String, option: RTMTopicOption?) async -> (RTMTopicSubscriptionResponse?, RTMErrorInfo?) {
        await subscribeTopic(topic, option?.values ?? .all)
    }

    func subscribeTopic(_ topic: String, _ users: StreamChannel.Users) async -> (RTMTopicSubscriptionResponse?, RTMErrorInfo?) {
        await on("subscribeTopic", .topic) { channel in RTMTopicSubscriptionResponse(try await channel.subscribeTopic(topic, users: users)) }
    }

    /// Hears users no more; without a list nobody.
    @discardableResult
    public func unsubscribeTopic(_ topic: String, option: RTMTopicOption?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await unsubscribeTopic(topic, option?.values ?? .all)
    }

    func unsubscribeTopic(_ topic: String, _ users: StreamChannel.Users) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await on("unsubscribeTopic", .topic) { channel in
            if let failure = try await channel.unsubscribeTopic(topic, users: users).failed.first {
                throw RelayError(failure.code, "\(failure.user) was not listed")
            }
        }
    }

    /// Publishes text in a joined topic, at most 1,024 bytes. It has its place in the order when this returns.
    @discardableResult
    public func publishTopicMessage(topic: String, message: String, option: RTMTopicMessageOptions?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await publish(Result { try send(.text(message), topic: topic, (option ?? RTMTopicMessageOptions()).values) })
    }

    /// Publishes bytes, as text.
    @discardableResult
    public func publishTopicMessage(topic: String, data: Data, option: RTMTopicMessageOptions?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await publish(Result { try send(.bytes(Array(data)), topic: topic, (option ?? RTMTopicMessageOptions()).values) })
    }

    /// Has its place in the order when it returns.
    func send(_ payload: Payload, topic: String, _ options: (customType: String, slot: UInt32?)) throws {
        _ = try kit.client()
        guard let channel = joined.withLock({ $0?.channel }) else { throw notJoined("publishTopicMessage") }
        guard options.customType.isEmpty else { throw RTMErrorInfo(.channelInvalidCustomType, "packets carry no custom type: put it into the payload") }
        try channel.send(payload, topic: topic, slot: options.slot)
    }

    func publish(_ sent: Result<Void, any Error>) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await kit.attempt("publishTopicMessage", .packet) {
            try sent.get()
            return RTMCommonResponse()
        }
    }

    /// Whom this client hears in a topic: those listed, or everybody who publishes now.
    @discardableResult
    public func getSubscribedUserList(_ topic: String) async -> (RTMGetTopicSubscribedUsersResponse?, RTMErrorInfo?) {
        await on("getSubscribedUserList", .topic) { channel in
            RTMGetTopicSubscribedUsersResponse(users: try await channel.subscribedUsers(topic).users)
        }
    }

    private func notJoined(_ operation: String) -> RTMErrorInfo {
        RTMErrorInfo(.channelNotJoined, "the stream channel \(name) is not joined", operation: operation)
    }

    private func on<Response>(
        _ operation: String, _ area: RTMArea, _ body: (StreamChannel) async throws -> Response
    ) async -> (Response?, RTMErrorInfo?) {
        await kit.ask(operation, area) { _ in
            guard let channel = self.joined.withLock({ $0?.channel }) else { throw self.notJoined(operation) }
            return try await body(channel)
        }
    }

    private func on(
        _ operation: String, _ area: RTMArea, _ body: (StreamChannel) async throws -> Void
    ) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await on(operation, area) { channel in
            try await body(channel)
            return RTMCommonResponse()
        }
    }
}
