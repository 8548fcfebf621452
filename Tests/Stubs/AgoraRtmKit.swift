// Of the hosted SDK just what `Tests/Moving/Hosted.swift` uses, as Swift sees it: signatures and nothing else, taken from the
// vendor's public reference: each group names its page. Classes are Objective-C's there, so each call stands twice, with a
// completion handler and async, and options are objects.

import Foundation

// Config, client, login: https://doc.shengwang.cn/api-ref/rtm2/swift/toc-configuration/configuration
// Delegate: https://doc.shengwang.cn/doc/rtm2/swift/user-guide/message/add-event-listener
open class AgoraRtmClientConfig: NSObject {
    public init(appId: String, userId: String) {}
    open var presenceTimeout: UInt32 = 0
}

public protocol AgoraRtmClientDelegate: NSObjectProtocol {
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent)
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent)
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTopicEvent event: AgoraRtmTopicEvent)
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent)
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent)
    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent)
    func rtmKit(
        _ kit: AgoraRtmClientKit, channel channelName: String, connectionChangedToState state: AgoraRtmClientConnectionState,
        reason: AgoraRtmClientConnectionChangeReason)
    func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?)
}

/// They are optional in Objective-C.
extension AgoraRtmClientDelegate {
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTopicEvent event: AgoraRtmTopicEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {}
    public func rtmKit(
        _ kit: AgoraRtmClientKit, channel channelName: String, connectionChangedToState state: AgoraRtmClientConnectionState,
        reason: AgoraRtmClientConnectionChangeReason
    ) {}
    public func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?) {}
}

open class AgoraRtmClientKit: NSObject {
    public init(_ config: AgoraRtmClientConfig, delegate: (any AgoraRtmClientDelegate)?) throws {}
    open func addDelegate(_ delegate: any AgoraRtmClientDelegate) {}
    open func removeDelegate(_ delegate: any AgoraRtmClientDelegate) {}
    open func login(_ token: String?, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func login(_ token: String?) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    open func logout(_ completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func logout() async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    open func renewToken(_ token: String, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func renewToken(_ token: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func destroy() -> AgoraRtmErrorCode { fatalError() }
    open func getStorage() -> AgoraRtmStorage? { fatalError() }
    open func getPresence() -> AgoraRtmPresence? { fatalError() }
    open func getLock() -> AgoraRtmLock? { fatalError() }

    // https://doc.shengwang.cn/api-ref/rtm2/swift/toc-channel/channel
    open func subscribe(channelName: String, option: AgoraRtmSubscribeOptions?, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func subscribe(channelName: String, option: AgoraRtmSubscribeOptions?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    open func unsubscribe(_ channelName: String, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func unsubscribe(_ channelName: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    open func createStreamChannel(_ channelName: String) throws -> AgoraRtmStreamChannel { fatalError() }

    // https://doc.shengwang.cn/api-ref/rtm2/swift/toc-message/message
    open func publish(channelName: String, message: String, option: AgoraRtmPublishOptions?, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func publish(channelName: String, message: String, option: AgoraRtmPublishOptions?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    open func publish(channelName: String, data: Data, option: AgoraRtmPublishOptions?, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func publish(channelName: String, data: Data, option: AgoraRtmPublishOptions?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
}

public typealias AgoraRtmOperationBlock = (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) -> Void
open class AgoraRtmCommonResponse: NSObject {}
open class AgoraRtmErrorInfo: NSError, @unchecked Sendable {
    open var errorCode: AgoraRtmErrorCode { fatalError() }
    open var reason: String { fatalError() }
    open var operation: String { fatalError() }
}

// Options, stream channels and topics: https://doc.shengwang.cn/api-ref/rtm2/swift/toc-channel/channel and
// https://doc.shengwang.cn/api-ref/rtm2/swift/toc-topic/topic
open class AgoraRtmSubscribeOptions: NSObject { open var features: AgoraRtmSubscribeChannelFeature = [] }
public struct AgoraRtmSubscribeChannelFeature: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let presence = Self(rawValue: 1), metadata = Self(rawValue: 2), message = Self(rawValue: 4), lock = Self(rawValue: 8),
        beQuiet = Self(rawValue: 16)
}
open class AgoraRtmPublishOptions: NSObject { open var channelType = AgoraRtmChannelType.message; open var customType = "" }
open class AgoraRtmJoinChannelOption: NSObject { open var token: String?; open var features: AgoraRtmJoinChannelFeature = [] }
public struct AgoraRtmJoinChannelFeature: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let presence = Self(rawValue: 1), metadata = Self(rawValue: 2), lock = Self(rawValue: 4), beQuiet = Self(rawValue: 8)
}
open class AgoraRtmJoinTopicOption: NSObject {
    open var qos = AgoraRtmMessageQos.ordered; open var priority = AgoraRtmMessagePriority.normal; open var meta: String?
}
open class AgoraRtmTopicOption: NSObject { open var users: [String]? }
open class AgoraRtmTopicMessageOptions: NSObject { open var customType = "" }

open class AgoraRtmStreamChannel: NSObject {
    open func join(_ option: AgoraRtmJoinChannelOption, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func join(_ option: AgoraRtmJoinChannelOption) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        fatalError()
    }
    open func leave(_ completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func leave() async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func joinTopic(_ topic: String, option: AgoraRtmJoinTopicOption?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func leaveTopic(_ topic: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func subscribeTopic(_ topic: String, option: AgoraRtmTopicOption?) async -> (
        AgoraRtmTopicSubscriptionResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func unsubscribeTopic(_ topic: String, option: AgoraRtmTopicOption?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    open func publishTopicMessage(
        topic: String, message: String, option: AgoraRtmTopicMessageOptions?, completion: AgoraRtmOperationBlock? = nil
    ) {}
    @discardableResult open func publishTopicMessage(topic: String, message: String, option: AgoraRtmTopicMessageOptions?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func publishTopicMessage(topic: String, data: Data, option: AgoraRtmTopicMessageOptions?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func getSubscribedUserList(_ topic: String) async -> (
        AgoraRtmGetTopicSubscribedUsersResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    open func getChannelName() -> String { fatalError() }
    @discardableResult open func destroy() -> AgoraRtmErrorCode { fatalError() }
}
open class AgoraRtmTopicSubscriptionResponse: NSObject { open var succeedUsers: [String] = []; open var failedUsers: [String] = [] }
open class AgoraRtmGetTopicSubscribedUsersResponse: NSObject { open var users: [String] = [] }

// Metadata: https://doc.shengwang.cn/api-ref/rtm2/swift/toc-storage/storage
open class AgoraRtmMetadataItem: NSObject {
    open var key = "", value = "", authorUserId = ""
    open var revision: Int64 = -1
    open var updateTs: UInt64 = 0
}
/// An `NSObject` there; Swift cannot declare that its `init` may fail, as Objective-C's does.
open class AgoraRtmMetadata {
    public init?() {}
    open var majorRevision: Int64 = -1
    open var items: [AgoraRtmMetadataItem]?
}
open class AgoraRtmMetadataOptions: NSObject { open var recordTs = false, recordUserId = false }
open class AgoraRtmGetMetadataResponse: NSObject { open var data: AgoraRtmMetadata? }
open class AgoraRtmStorage: NSObject {
    @discardableResult open func setChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func updateChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func removeChannelMetadata(
        channelName: String, channelType: AgoraRtmChannelType, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?, lock: String?
    ) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func getChannelMetadata(channelName: String, channelType: AgoraRtmChannelType) async -> (
        AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func setUserMetadata(userId: String, data: AgoraRtmMetadata, options: AgoraRtmMetadataOptions?) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func getUserMetadata(userId: String) async -> (AgoraRtmGetMetadataResponse?, AgoraRtmErrorInfo?) {
        fatalError()
    }
    open func subscribeUserMetadata(userId: String, completion: AgoraRtmOperationBlock? = nil) {}
    @discardableResult open func subscribeUserMetadata(userId: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        fatalError()
    }
}

// https://doc.shengwang.cn/api-ref/rtm2/swift/toc-presence/presence
open class AgoraRtmUserState: NSObject { open var userId = ""; open var states: [String: String] = [:] }
open class AgoraRtmGetOnlineUsersOptions: NSObject { open var includeUserId = true, includeState = false; open var page = "" }
open class AgoraRtmGetOnlineUsersResponse: NSObject {
    open var totalOccupancy: Int32 = 0; open var userStateList: [AgoraRtmUserState] = []; open var nextPage: String?
}
open class AgoraRtmChannelInfo: NSObject { open var channelName = ""; open var channelType = AgoraRtmChannelType.none }
open class AgoraRtmGetUserChannelsResponse: NSObject { open var totalChannel: Int32 = 0; open var channels: [AgoraRtmChannelInfo] = [] }
open class AgoraRtmPresenceGetStateResponse: NSObject { open var state: AgoraRtmUserState { fatalError() } }
open class AgoraRtmPresence: NSObject {
    @discardableResult open func getOnlineUsers(
        channelName: String, channelType: AgoraRtmChannelType, options: AgoraRtmGetOnlineUsersOptions?
    ) async -> (AgoraRtmGetOnlineUsersResponse?, AgoraRtmErrorInfo?) { fatalError() }
    @discardableResult open func getUserChannels(userId: String) async -> (AgoraRtmGetUserChannelsResponse?, AgoraRtmErrorInfo?) {
        fatalError()
    }
    open func setState(
        channelName: String, channelType: AgoraRtmChannelType, items: [String: String], completion: AgoraRtmOperationBlock? = nil
    ) {}
    @discardableResult open func setState(channelName: String, channelType: AgoraRtmChannelType, items: [String: String]) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func removeState(channelName: String, channelType: AgoraRtmChannelType, keys: [String]) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func getState(channelName: String, channelType: AgoraRtmChannelType, userId: String) async -> (
        AgoraRtmPresenceGetStateResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
}

// https://doc.shengwang.cn/api-ref/rtm2/swift/toc-lock/lock
open class AgoraRtmLockDetail: NSObject { open var lockName = "", owner = ""; open var ttl: Int32 = 0 }
open class AgoraRtmGetLocksResponse: NSObject { open var lockDetailList: [AgoraRtmLockDetail] = [] }
open class AgoraRtmLock: NSObject {
    @discardableResult open func setLock(channelName: String, channelType: AgoraRtmChannelType, lockName: String, ttl: Int32) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func acquireLock(channelName: String, channelType: AgoraRtmChannelType, lockName: String, retry: Bool) async
        -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?)
    { fatalError() }
    @discardableResult open func releaseLock(channelName: String, channelType: AgoraRtmChannelType, lockName: String) async -> (
        AgoraRtmCommonResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
    @discardableResult open func getLocks(channelName: String, channelType: AgoraRtmChannelType) async -> (
        AgoraRtmGetLocksResponse?, AgoraRtmErrorInfo?
    ) { fatalError() }
}

// What the delegate is told: https://doc.shengwang.cn/doc/rtm2/swift/user-guide/message/add-event-listener
open class AgoraRtmMessage: NSObject { open var rawData: Data?; open var stringData: String? }
open class AgoraRtmMessageEvent: NSObject {
    open var channelType = AgoraRtmChannelType.none
    open var channelName = "", channelTopic = "", publisher = ""
    open var message: AgoraRtmMessage { fatalError() }
    open var customType: String?
    open var timestamp: UInt64 = 0
}
open class AgoraRtmPresenceIntervalInfo: NSObject {
    open var joinUserList: [String] = [], leaveUserList: [String] = [], timeoutUserList: [String] = [];
    open var userStateList: [AgoraRtmUserState] = []
}
open class AgoraRtmPresenceEvent: NSObject {
    open var type = AgoraRtmPresenceEventType.none
    open var channelType = AgoraRtmChannelType.none
    open var channelName = ""
    open var publisher: String?
    open var states: [String: String] = [:]
    open var interval: AgoraRtmPresenceIntervalInfo?
    open var snapshot: [AgoraRtmUserState] = []
}
open class AgoraRtmPublisherInfo: NSObject { open var publisherUserId = ""; open var publisherMeta: String? }
open class AgoraRtmTopicInfo: NSObject { open var topic = ""; open var publishers: [AgoraRtmPublisherInfo] = [] }
open class AgoraRtmTopicEvent: NSObject {
    open var type = AgoraRtmTopicEventType.none
    open var channelName = "", publisher = ""
    open var topicInfos: [AgoraRtmTopicInfo] = []
}
open class AgoraRtmStorageEvent: NSObject {
    open var channelType = AgoraRtmChannelType.none
    open var storageType = AgoraRtmStorageType.none
    open var eventType = AgoraRtmStorageEventType.none
    open var target = ""
    open var data: AgoraRtmMetadata { fatalError() }
}
open class AgoraRtmLockEvent: NSObject {
    open var channelType = AgoraRtmChannelType.none
    open var eventType = AgoraRtmLockEventType.none
    open var channelName = ""
    open var lockDetailList: [AgoraRtmLockDetail] = []
}
open class AgoraRtmLinkStateEvent: NSObject {
    open var currentState = AgoraRtmLinkState.idle, previousState = AgoraRtmLinkState.idle
    open var operation = AgoraRtmLinkOperation.login
    open var reason: String?
    open var isResumed = false
}

// Enumerations stand on the pages of what uses them; numbers of errors: https://docs.agora.io/en/signaling/reference/error-codes
public enum AgoraRtmChannelType: Int, Sendable { case none, message, stream, user }
public enum AgoraRtmMessageQos: Int, Sendable { case unordered, ordered }
public enum AgoraRtmMessagePriority: Int, Sendable { case highest = 0, high = 1, normal = 4, low = 8 }
public enum AgoraRtmPresenceEventType: Int, Sendable {
    case none, snapshot, interval, remoteJoinChannel, remoteLeaveChannel, remoteConnectionTimeout, remoteStateChanged, errorOutOfService
}
public enum AgoraRtmTopicEventType: Int, Sendable { case none, snapshot, remoteJoinTopic, remoteLeaveTopic }
public enum AgoraRtmStorageType: Int, Sendable { case none, user, channel }
public enum AgoraRtmStorageEventType: Int, Sendable { case none, snapshot, set, update, remove }
public enum AgoraRtmLockEventType: Int, Sendable { case none, snapshot, lockSet, lockRemoved, lockAcquired, lockReleased, lockExpired }
public enum AgoraRtmClientConnectionState: Int, Sendable { case disconnected = 1, connecting, connected, reconnecting, failed }
public enum AgoraRtmClientConnectionChangeReason: Int, Sendable {
    case changedConnecting = 0, changedTokenExpired = 9, changedSameUidLogin = 19
}
public enum AgoraRtmLinkState: Int, Sendable { case idle, connecting, connected, disconnected, suspended, failed }
public enum AgoraRtmLinkOperation: Int, Sendable {
    case login, logout, join, leave, serverReject, autoReconnect, reconnected, heartbeatTimeout
}
public enum AgoraRtmErrorCode: Int, Sendable {
    case ok = 0, notLogin = -10002, channelReceiverOffline = -11033, storageOutdatedRevision = -12014, lockAcquireFailed = -14007
}
