import Foundation
import RelayClient

extension RTMClientKit {
    /// Receives a message channel. `option` of `nil` is the defaults: messages and presence. Calling again changes what is received.
    @discardableResult
    public func subscribe(channelName: String, option: RTMSubscribeOptions?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await subscribe(channelName, (option ?? RTMSubscribeOptions()).values)
    }

    func subscribe(_ channel: String, _ wanted: (features: Set<Feature>, isQuiet: Bool, since: Since?)) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await call("subscribe", .channel) { client in
            try await client.subscribe(channel, features: wanted.features, quiet: wanted.isQuiet, since: wanted.since)
        }
    }

    /// Ends receiving a message channel and being seen in it.
    @discardableResult
    public func unsubscribe(_ channelName: String) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await call("unsubscribe", .channel) { client in try await client.unsubscribe(channelName) }
    }

    /// Publishes text; no subscription is needed. It comes back when the relay has accepted it, to one user when that app has it.
    @discardableResult
    public func publish(channelName: String, message: String, option: RTMPublishOptions?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await publish(channelName, .text(message), (option ?? RTMPublishOptions()).values)
    }

    /// Publishes bytes, as text.
    @discardableResult
    public func publish(channelName: String, data: Data, option: RTMPublishOptions?) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await publish(channelName, .bytes(Array(data)), (option ?? RTMPublishOptions()).values)
    }

    func publish(
        _ name: String, _ payload: Payload, _ options: (channelType: RTMChannelType, customType: String?, storeInHistory: Bool)
    ) async -> (RTMCommonResponse?, RTMErrorInfo?) {
        await call("publish", .publish) { client in
            switch options.channelType {
            case .message:
                _ = try await client.send(payload, to: name, customType: options.customType, storeInHistory: options.storeInHistory).value
            case .user: _ = try await client.send(payload, toUser: name, customType: options.customType).value
            case .stream: throw RTMErrorInfo(.invalidChannelType, "a stream channel is published to by topic: publishTopicMessage")
            case .none: throw RTMErrorInfo(.invalidChannelType, "a channel type is needed: message or user")
            }
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
