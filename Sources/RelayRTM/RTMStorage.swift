import RelayClient

/// Metadata of channels and users. A write is answered when it is durable.
public final class RTMStorage: Sendable {
    let kit: RTMClientKit
    init(kit: RTMClientKit) { self.kit = kit }

    typealias Options = (time: Bool, user: Bool)
    enum Change: String { case set, update, remove }

    /// An empty set, to be filled and given to a write.
    public func createMetadata() -> RTMMetadata? { RTMMetadata() }

    /// Creates or replaces items, all or none.
    @discardableResult
    public func setChannelMetadata(
        channelName: String, channelType: RTMChannelType, data: RTMMetadata, options: RTMMetadataOptions?, lock: String?
    ) async -> RTMAnswer<RTMCommonResponse> { await write(.set, channelName, channelType, data.values, options?.values, lock) }

    /// Replaces items that exist, all or none.
    @discardableResult
    public func updateChannelMetadata(
        channelName: String, channelType: RTMChannelType, data: RTMMetadata, options: RTMMetadataOptions?, lock: String?
    ) async -> RTMAnswer<RTMCommonResponse> { await write(.update, channelName, channelType, data.values, options?.values, lock) }

    /// Removes the items named in `data`; without any all.
    @discardableResult
    public func removeChannelMetadata(
        channelName: String, channelType: RTMChannelType, data: RTMMetadata, options: RTMMetadataOptions?, lock: String?
    ) async -> RTMAnswer<RTMCommonResponse> { await write(.remove, channelName, channelType, data.values, options?.values, lock) }

    /// The whole set.
    @discardableResult
    public func getChannelMetadata(channelName: String, channelType: RTMChannelType) async -> RTMAnswer<RTMGetMetadataResponse> {
        await kit.ask("getChannelMetadata", .storage) { client in
            RTMGetMetadataResponse(try await client.metadata(of: channelType.metadata(channelName)).get())
        }
    }

    /// Creates or replaces items of a user, all or none.
    @discardableResult
    public func setUserMetadata(userId: String, data: RTMMetadata, options: RTMMetadataOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await write(.set, userId, nil, data.values, options?.values, nil)
    }

    /// Replaces items of a user that exist, all or none.
    @discardableResult
    public func updateUserMetadata(userId: String, data: RTMMetadata, options: RTMMetadataOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await write(.update, userId, nil, data.values, options?.values, nil)
    }

    /// Removes the items named in `data`; without any all.
    @discardableResult
    public func removeUserMetadata(userId: String, data: RTMMetadata, options: RTMMetadataOptions?) async -> RTMAnswer<RTMCommonResponse> {
        await write(.remove, userId, nil, data.values, options?.values, nil)
    }

    /// The whole set of a user, there or not.
    @discardableResult
    public func getUserMetadata(userId: String) async -> RTMAnswer<RTMGetMetadataResponse> {
        await kit.ask("getUserMetadata", .storage) { client in RTMGetMetadataResponse(try await client.metadata(of: .user(userId)).get()) }
    }

    /// Receives a user's metadata as storage events, beginning with a snapshot.
    @discardableResult
    public func subscribeUserMetadata(userId: String) async -> RTMAnswer<RTMCommonResponse> {
        await kit.call("subscribeUserMetadata", .userMetadata) { client in try await client.metadata(of: .user(userId)).follow() }
    }

    /// Ends that.
    @discardableResult
    public func unsubscribeUserMetadata(userId: String) async -> RTMAnswer<RTMCommonResponse> {
        await kit.call("unsubscribeUserMetadata", .userMetadata) { client in try await client.metadata(of: .user(userId)).unfollow() }
    }

    /// All changes; without a `type` of channel `name` is a user.
    func write(
        _ change: Change, _ name: String, _ type: RTMChannelType?, _ data: RTMMetadata.Values, _ options: Options?, _ lock: String?
    ) async -> RTMAnswer<RTMCommonResponse> {
        await kit.call("\(change.rawValue)\(type == nil ? "User" : "Channel")Metadata", .storage) { client in
            let metadata = try client.metadata(of: type?.metadata(name) ?? .user(name))
            let (texts, revisions, major) = (data.texts, try data.revisions(), try data.major())
            let lock = lock?.isEmpty == false ? lock : nil
            let (user, time) = (options?.user ?? false, options?.time ?? false)
            switch change {
            case .set:
                try await metadata.set(texts, revisions: revisions, majorRevision: major, lock: lock, recordsUser: user, recordsTime: time)
            case .update:
                try await metadata.update(
                    texts, revisions: revisions, majorRevision: major, lock: lock, recordsUser: user, recordsTime: time)
            case .remove where texts.isEmpty: try await metadata.removeAll(majorRevision: major, lock: lock)
            case .remove: try await metadata.remove(texts.keys.sorted(), revisions: revisions, majorRevision: major, lock: lock)
            }
        }
    }
}

extension RTMChannelType {
    fileprivate func metadata(_ name: String) throws -> MetadataReference {
        switch self {
        case .message: .message(name)
        case .stream: .stream(name)
        case .user, .none: throw RTMErrorInfo(.invalidChannelType, "a channel is of type message or stream")
        }
    }
}
