import Foundation
import RelayClient

/// What became of a call: one of the two.
public typealias RTMAnswer<Response> = (Response?, RTMErrorInfo?)

/// Told what became of a call, on the main actor.
public typealias RTMBlock<Response> = (Response?, RTMErrorInfo?) -> Void
/// Told whether a call was done.
public typealias RTMOperationBlock = RTMBlock<RTMCommonResponse>
/// Told what became of a topic's subscription.
public typealias RTMTopicSubscriptionBlock = RTMBlock<RTMTopicSubscriptionResponse>
/// Told whom this client hears in a topic.
public typealias RTMGetTopicSubscribedUsersBlock = RTMBlock<RTMGetTopicSubscribedUsersResponse>
/// Told what a set of metadata is.
public typealias RTMGetMetadataBlock = RTMBlock<RTMGetMetadataResponse>
/// Told which locks a channel has.
public typealias RTMGetLocksBlock = RTMBlock<RTMGetLocksResponse>
/// Told who is in a channel.
public typealias RTMGetOnlineUsersBlock = RTMBlock<RTMGetOnlineUsersResponse>
/// Told where a user is.
public typealias RTMGetUserChannelsBlock = RTMBlock<RTMGetUserChannelsResponse>
/// Told which states a user has.
public typealias RTMPresenceGetStateBlock = RTMBlock<RTMPresenceGetStateResponse>
/// As `RTMGetOnlineUsersBlock`, by its oldest name.
public typealias RTMWhoNowBlock = RTMGetOnlineUsersBlock
/// As `RTMGetUserChannelsBlock`, by its oldest name.
public typealias RTMWhereNowBlock = RTMGetUserChannelsBlock
/// As `RTMGetOnlineUsersResponse`, by its oldest name.
public typealias RTMWhoNowResponse = RTMGetOnlineUsersResponse
/// As `RTMGetUserChannelsResponse`, by its oldest name.
public typealias RTMWhereNowResponse = RTMGetUserChannelsResponse
/// As `RTMGetOnlineUsersOptions`, by its oldest name.
public typealias RTMPresenceOptions = RTMGetOnlineUsersOptions

// Every call once more, for those who do not await. What is published is sent at once. Of other calls the main actor takes one
// behind the other, and each takes its place in the relay's order before it suspends: so they keep the order in which they were made.

private func run<Response>(_ block: RTMBlock<Response>?, _ call: @escaping @MainActor () async -> RTMAnswer<Response>) {
    // Safe: called once, on the main actor.
    nonisolated(unsafe) let block = block
    Task { @MainActor in
        let (response, error) = await call()
        block?(response, error)
    }
}

extension RTMClientKit {
    /// As `login(_:)`.
    public func login(_ token: String?, completion: RTMOperationBlock? = nil) { run(completion) { await self.login(token) } }
    /// As `logout()`.
    public func logout(_ completion: RTMOperationBlock? = nil) { run(completion) { await self.logout() } }
    /// As `renewToken(_:)`.
    public func renewToken(_ token: String, completion: RTMOperationBlock? = nil) { run(completion) { await self.renewToken(token) } }
    /// As `subscribe(channelName:option:)`.
    public func subscribe(channelName: String, option: RTMSubscribeOptions?, completion: RTMOperationBlock? = nil) {
        let values = (option ?? RTMSubscribeOptions()).values
        run(completion) { await self.subscribe(channelName, values) }
    }
    /// As `unsubscribe(_:)`.
    public func unsubscribe(_ channelName: String, completion: RTMOperationBlock? = nil) {
        run(completion) { await self.unsubscribe(channelName) }
    }
    /// As `publish(channelName:message:option:)`.
    public func publish(channelName: String, message: String, option: RTMPublishOptions?, completion: RTMOperationBlock? = nil) {
        let sent = Result { try send(.text(message), to: channelName, (option ?? RTMPublishOptions()).values) }
        run(completion) { await self.publish(sent) }
    }
    /// As `publish(channelName:data:option:)`.
    public func publish(channelName: String, data: Data, option: RTMPublishOptions?, completion: RTMOperationBlock? = nil) {
        let sent = Result { try send(.bytes(Array(data)), to: channelName, (option ?? RTMPublishOptions()).values) }
        run(completion) { await self.publish(sent) }
    }
}

extension RTMStreamChannel {
    /// As `join(_:)`.
    public func join(_ option: RTMJoinChannelOption, completion: RTMOperationBlock? = nil) {
        let values = option.values
        run(completion) { await self.join(values) }
    }
    /// As `leave()`.
    public func leave(_ completion: RTMOperationBlock? = nil) { run(completion) { await self.leave() } }
    /// As `renewToken(_:)`.
    public func renewToken(_ token: String, completion: RTMOperationBlock? = nil) { run(completion) { await self.renewToken(token) } }
    /// As `joinTopic(_:option:)`.
    public func joinTopic(_ topic: String, option: RTMJoinTopicOption?, completion: RTMOperationBlock? = nil) {
        let values = (option ?? RTMJoinTopicOption()).values
        run(completion) { await self.joinTopic(topic, values) }
    }
    /// As `leaveTopic(_:)`.
    public func leaveTopic(_ topic: String, completion: RTMOperationBlock? = nil) { run(completion) { await self.leaveTopic(topic) } }
    /// As `subscribeTopic(_:option:)`.
    public func subscribeTopic(_ topic: String, option: RTMTopicOption?, completion: RTMTopicSubscriptionBlock? = nil) {
        let users = option?.values ?? .all
        run(completion) { await self.subscribeTopic(topic, users) }
    }
    /// As `unsubscribeTopic(_:option:)`.
    public func unsubscribeTopic(_ topic: String, option: RTMTopicOption?, completion: RTMOperationBlock? = nil) {
        let users = option?.values ?? .all
        run(completion) { await self.unsubscribeTopic(topic, users) }
    }
    /// As `publishTopicMessage(topic:message:option:)`.
    public func publishTopicMessage(topic: String, message: String, option: RTMTopicMessageOptions?, completion: RTMOperationBlock? = nil) {
        let sent = Result { try send(.text(message), topic: topic, (option ?? RTMTopicMessageOptions()).values) }
        run(completion) { await self.publish(sent) }
    }
    /// As `publishTopicMessage(topic:data:option:)`.
    public func publishTopicMessage(topic: String, data: Data, option: RTMTopicMessageOptions?, completion: RTMOperationBlock? = nil) {
        let sent = Result { try send(.bytes(Array(data)), topic: topic, (option ?? RTMTopicMessageOptions()).values) }
        run(completion) { await self.publish(sent) }
    }
    /// As `getSubscribedUserList(_:)`.
    public func getSubscribedUserList(_ topic: String, completion: RTMGetTopicSubscribedUsersBlock? = nil) {
        run(completion) { await self.getSubscribedUserList(topic) }
    }
}

extension RTMStorage {
    private func write(
        _ change: Change, _ name: String, _ type: RTMChannelType?, _ data: RTMMetadata, _ options: RTMMetadataOptions?, _ lock: String?,
        _ completion: RTMOperationBlock?
    ) {
        let (values, options) = (data.values, options?.values)
        run(completion) { await self.write(change, name, type, values, options, lock) }
    }

    /// As `setChannelMetadata(channelName:channelType:data:options:lock:)`.
    public func setChannelMetadata(
        channelName: String, channelType: RTMChannelType, data: RTMMetadata, options: RTMMetadataOptions?, lock: String?,
        completion: RTMOperationBlock? = nil
    ) { write(.set, channelName, channelType, data, options, lock, completion) }
    /// As `updateChannelMetadata(channelName:channelType:data:options:lock:)`.
    public func updateChannelMetadata(
        channelName: String, channelType: RTMChannelType, data: RTMMetadata, options: RTMMetadataOptions?, lock: String?,
        completion: RTMOperationBlock? = nil
    ) { write(.update, channelName, channelType, data, options, lock, completion) }
    /// As `removeChannelMetadata(channelName:channelType:data:options:lock:)`.
    public func removeChannelMetadata(
        channelName: String, channelType: RTMChannelType, data: RTMMetadata, options: RTMMetadataOptions?, lock: String?,
        completion: RTMOperationBlock? = nil
    ) { write(.remove, channelName, channelType, data, options, lock, completion) }
    /// As `getChannelMetadata(channelName:channelType:)`.
    public func getChannelMetadata(channelName: String, channelType: RTMChannelType, completion: RTMGetMetadataBlock? = nil) {
        run(completion) { await self.getChannelMetadata(channelName: channelName, channelType: channelType) }
    }
    /// As `setUserMetadata(userId:data:options:)`.
    public func setUserMetadata(
        userId: String, data: RTMMetadata, options: RTMMetadataOptions?, completion: RTMOperationBlock? = nil
    ) { write(.set, userId, nil, data, options, nil, completion) }
    /// As `updateUserMetadata(userId:data:options:)`.
    public func updateUserMetadata(
        userId: String, data: RTMMetadata, options: RTMMetadataOptions?, completion: RTMOperationBlock? = nil
    ) { write(.update, userId, nil, data, options, nil, completion) }
    /// As `removeUserMetadata(userId:data:options:)`.
    public func removeUserMetadata(
        userId: String, data: RTMMetadata, options: RTMMetadataOptions?, completion: RTMOperationBlock? = nil
    ) { write(.remove, userId, nil, data, options, nil, completion) }
    /// As `getUserMetadata(userId:)`.
    public func getUserMetadata(userId: String, completion: RTMGetMetadataBlock? = nil) {
        run(completion) { await self.getUserMetadata(userId: userId) }
    }
    /// As `subscribeUserMetadata(userId:)`.
    public func subscribeUserMetadata(userId: String, completion: RTMOperationBlock? = nil) {
        run(completion) { await self.subscribeUserMetadata(userId: userId) }
    }
    /// As `unsubscribeUserMetadata(userId:)`.
    public func unsubscribeUserMetadata(userId: String, completion: RTMOperationBlock? = nil) {
        run(completion) { await self.unsubscribeUserMetadata(userId: userId) }
    }
}

extension RTMPresence {
    /// As `getOnlineUser(channelName:channelType:options:)`.
    public func getOnlineUser(
        channelName: String, channelType: RTMChannelType, options: RTMGetOnlineUsersOptions?,
        completion: RTMGetOnlineUsersBlock? = nil
    ) {
        let values = (options ?? RTMGetOnlineUsersOptions()).values
        run(completion) { await self.getOnlineUser(channelName, channelType, values) }
    }
    /// As `getOnlineUser(channelName:channelType:options:)`, by its oldest name.
    public func whoNow(
        channelName: String, channelType: RTMChannelType, options: RTMPresenceOptions?, completion: RTMWhoNowBlock? = nil
    ) { getOnlineUser(channelName: channelName, channelType: channelType, options: options, completion: completion) }
    /// As `getUserChannels(userId:)`, by its oldest name.
    public func whereNow(userId: String, completion: RTMWhereNowBlock? = nil) { getUserChannels(userId: userId, completion: completion) }
    /// As `setState(channelName:channelType:items:)`.
    public func setState(
        channelName: String, channelType: RTMChannelType, items: [RTMStateItem], completion: RTMOperationBlock? = nil
    ) { setState(channelName: channelName, channelType: channelType, items: items.byKey, completion: completion) }
    /// As `getUserChannels(userId:)`.
    public func getUserChannels(userId: String, completion: RTMGetUserChannelsBlock? = nil) {
        run(completion) { await self.getUserChannels(userId: userId) }
    }
    /// As `setState(channelName:channelType:items:)`.
    public func setState(channelName: String, channelType: RTMChannelType, items: [String: String], completion: RTMOperationBlock? = nil) {
        run(completion) { await self.setState(channelName: channelName, channelType: channelType, items: items) }
    }
    /// As `removeState(channelName:channelType:keys:)`.
    public func removeState(channelName: String, channelType: RTMChannelType, keys: [String], completion: RTMOperationBlock? = nil) {
        run(completion) { await self.removeState(channelName: channelName, channelType: channelType, keys: keys) }
    }
    /// As `getState(channelName:channelType:userId:)`.
    public func getState(channelName: String, channelType: RTMChannelType, userId: String, completion: RTMPresenceGetStateBlock? = nil) {
        run(completion) { await self.getState(channelName: channelName, channelType: channelType, userId: userId) }
    }
}

extension RTMLock {
    /// As `setLock(channelName:channelType:lockName:ttl:)`.
    public func setLock(
        channelName: String, channelType: RTMChannelType, lockName: String, ttl: Int32, completion: RTMOperationBlock? = nil
    ) {
        run(completion) { await self.setLock(channelName: channelName, channelType: channelType, lockName: lockName, ttl: ttl) }
    }
    /// As `removeLock(channelName:channelType:lockName:)`.
    public func removeLock(channelName: String, channelType: RTMChannelType, lockName: String, completion: RTMOperationBlock? = nil) {
        run(completion) { await self.removeLock(channelName: channelName, channelType: channelType, lockName: lockName) }
    }
    /// As `acquireLock(channelName:channelType:lockName:retry:)`.
    public func acquireLock(
        channelName: String, channelType: RTMChannelType, lockName: String, retry: Bool, completion: RTMOperationBlock? = nil
    ) {
        run(completion) { await self.acquireLock(channelName: channelName, channelType: channelType, lockName: lockName, retry: retry) }
    }
    /// As `releaseLock(channelName:channelType:lockName:)`.
    public func releaseLock(channelName: String, channelType: RTMChannelType, lockName: String, completion: RTMOperationBlock? = nil) {
        run(completion) { await self.releaseLock(channelName: channelName, channelType: channelType, lockName: lockName) }
    }
    /// As `revokeLock(channelName:channelType:lockName:userId:)`.
    public func revokeLock(
        channelName: String, channelType: RTMChannelType, lockName: String, userId: String, completion: RTMOperationBlock? = nil
    ) {
        run(completion) { await self.revokeLock(channelName: channelName, channelType: channelType, lockName: lockName, userId: userId) }
    }
    /// As `getLocks(channelName:channelType:)`.
    public func getLocks(channelName: String, channelType: RTMChannelType, completion: RTMGetLocksBlock? = nil) {
        run(completion) { await self.getLocks(channelName: channelName, channelType: channelType) }
    }
}
