import Foundation
import RelayClient

extension RTMClientKit {
    /// Receives a message channel. `option` of `nil` is the defaults: messages and presence. Calling again changes what is received.
    @discardableResult
    public func subscribe(channelName: String, option: RTMSubscribeOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await subscribe(channelName, (option ?? RTMSubscribeOptions()).values)
    }

    func subscribe(_ channel: String, _ wanted: (features: Set<Feature>, isQuiet: Bool, since: Since?)) async -> RTMAnswer<
        RTMCommonResponse
    > {
        await call("subscribe", .channel) { client in
            try await client.subscribe(channel, features: wanted.features, quiet: wanted.isQuiet, since: wanted.since)
        }
    }

    /// Ends receiving a message channel and being seen in it.
    @discardableResult
    public func unsubscribe(_ channelName: String) async -> RTMAnswer<RTMCommonResponse> {
        await call("unsubscribe", .channel) { client in try await client.unsubscribe(channelName) }
    }

    /// Publishes text; no subscription is needed. It comes back when the relay has accepted it, to one user when that app has it.
    @discardableResult
    public func publish(channelName: String, message: String, option: RTMPublishOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await publish(Result { try send(.text(message), to: channelName, (option ?? RTMPublishOptions()).values) })
    }

    /// Publishes bytes, as text.
    @discardableResult
    public func publish(channelName: String, data: Data, option: RTMPublishOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await publish(Result { try send(.bytes(Array(data)), to: channelName, (option ?? RTMPublishOptions()).values) })
    }

    enum Sent { case message(Receipt), direct(DirectReceipt) }

    typealias Publishing = (channelType: RTMChannelType, customType: String?, storeInHistory: Bool)

    /// Has its place in the order when it returns.
    func send(_ payload: Payload, to name: String, _ options: Publishing) throws -> Sent {
        let client = try client(), typeBytes = options.customType?.utf8.count ?? 0
        guard typeBytes <= Limits.customTypeBytesMax else {
            throw RTMErrorInfo(.channelInvalidCustomType, "a custom type has at most \(Limits.customTypeBytesMax) bytes, not \(typeBytes)")
        }
        switch options.channelType {
        case .message:
            return .message(try client.send(payload, to: name, customType: options.customType, storeInHistory: options.storeInHistory))
        case .user: return .direct(try client.send(payload, toUser: name, customType: options.customType))
        case .stream: throw RTMErrorInfo(.invalidChannelType, "a stream channel is published to by topic: publishTopicMessage")
        case .none: throw RTMErrorInfo(.invalidChannelType, "a channel type is needed: message or user")
        }
    }

    func publish(_ sent: Result<Sent, any Error>) async -> RTMAnswer<RTMCommonResponse> {
        await attempt("publish", .publish) {
            switch try sent.get() {
            case .message(let receipt): _ = try await receipt.accepted
            case .direct(let receipt): try await receipt.acknowledged()
            }
            return RTMCommonResponse()
        }
    }
}

extension RTMChannelType {
    /// The channel of this kind.
    ///
    /// - Throws: `invalidChannelType` for `user` and `none`.
    func channel(_ name: String) throws -> ChannelReference {
        switch self {
        case .message: .message(name)
        case .stream: .stream(name)
        case .user, .none: throw RTMErrorInfo(.invalidChannelType, "a channel is of type message or stream")
        }
    }
}
