import RelayRTM
import Foundation

/// An app of the kind that moves: a whiteboard with live points, contacts, an auction, a chat. `Hosted22.swift` and `Moved22.swift`
/// are the same file before and after the move; a test compiles both and counts the lines that differ.
class LessonModel: NSObject, AgoraRtmClientDelegate {
    var agoraRtmKit: AgoraRtmClientKit?
    var streamChannel: AgoraRtmStreamChannel?
    var users: [AgoraRtmUserState] = []
    var lines: [String] = []
    var majorRevision: Int64 = 0
    var connectionState: AgoraRtmClientConnectionState = .disconnected
    var waiting: [AgoraRtmOperationBlock] = []
    let channel = "lesson"

    // MARK: - Coming and going

    func enter(userId: String, token: String, rtcToken: String) async -> Bool {
        do {
            let config = AgoraRtmClientConfig(host: "192.168.1.5", key: "your_key", userId: userId)
            config.presenceTimeout = 30
            let kit = try AgoraRtmClientKit(config, delegate: self)
            agoraRtmKit = kit
            streamChannel = try kit.createStreamChannel(channel)
        } catch {
            print("not made: \(error)")
            return false
        }
        if let (_, error) = await agoraRtmKit?.login(token), let error {
            print("login: \(error.operation) \(error.errorCode.rawValue) \(error.reason)")
            return false
        }
        let subOptions: AgoraRtmSubscribeOptions = AgoraRtmSubscribeOptions()
        subOptions.features = [.message, .presence, .metadata, .lock]
        if let (response, error) = await agoraRtmKit?.subscribe(channelName: channel, option: subOptions) {
            guard response != nil, error == nil else { return false }
        }
        let joinOption = AgoraRtmJoinChannelOption()
        joinOption.features = [.presence]
        joinOption.token = rtcToken
        guard let (_, joinError) = await streamChannel?.join(joinOption), joinError == nil else { return false }
        let publishTopicOptions = AgoraRtmJoinTopicOption()
        publishTopicOptions.priority = .high
        publishTopicOptions.qos = .ordered
        for topic in ["points", "erase"] {
            if let (_, error) = await streamChannel?.joinTopic(topic, option: publishTopicOptions), error != nil { return false }
            if let (response, _) = await streamChannel?.subscribeTopic(topic, option: nil) { print(response?.succeedUsers ?? []) }
        }
        return true
    }

    func leave() async {
        await streamChannel?.leaveTopic("points")
        await streamChannel?.leave()
        await agoraRtmKit?.unsubscribe(channel)
        streamChannel?.destroy()
    }

    func logout() {
        agoraRtmKit?.logout()
        agoraRtmKit?.destroy()
    }

    func newcomer(_ user: String) async {
        let option = AgoraRtmTopicOption()
        option.users = [user]
        let (response, error) = await streamChannel?.subscribeTopic("points", option: option) ?? (nil, nil)
        if let response, error == nil { print(response.succeedUsers, response.failedUsers) }
        if let (list, _) = await streamChannel?.getSubscribedUserList("points") { print(list?.users ?? []) }
        await streamChannel?.unsubscribeTopic("points", option: option)
    }

    // MARK: - Drawing

    func point(_ x: Int, _ y: Int) async {
        await streamChannel?.publishTopicMessage(topic: "points", message: "\(x),\(y)", option: nil)
        streamChannel?.publishTopicMessage(topic: "points", message: "\(x),\(y)", option: nil) { _, error in
            if let error { print(error.reason) }
        }
    }

    func draw(_ drawing: Data) async {
        let pubOptions = AgoraRtmPublishOptions()
        pubOptions.channelType = .message
        pubOptions.customType = "drawing"
        let (_, error) = await agoraRtmKit!.publish(channelName: channel, data: drawing, option: pubOptions)
        if error?.errorCode == .notLogin { print("log in first") }
    }

    func say(_ text: String, to user: String) {
        let options = AgoraRtmPublishOptions()
        options.channelType = .user
        agoraRtmKit?.publish(channelName: user, message: text, option: options) { [weak self] response, errorInfo in
            if errorInfo == nil {
                self?.lines.append(text)
            } else if errorInfo?.errorCode == .channelReceiverOffline {
                self?.lines.append("\(user) is away: \(errorInfo!.localizedDescription)")
            }
        }
    }

    // MARK: - Storage, presence, locks

    func bid(_ amount: Int) async -> Bool {
        guard let metadata = AgoraRtmMetadata() else { return false }
        let item: AgoraRtmMetadataItem = AgoraRtmMetadataItem()
        item.key = "bid"
        item.value = "\(amount)"
        metadata.items = [item]
        metadata.majorRevision = majorRevision
        let options = AgoraRtmMetadataOptions()
        options.recordTs = true
        options.recordUserId = true
        let answer = await agoraRtmKit?.getStorage()?.setChannelMetadata(
            channelName: channel, channelType: .message, data: metadata, options: options, lock: nil)
        guard let error = answer?.1 else { return true }
        if error.errorCode == .storageOutdatedRevision { print("somebody was first") }
        return false
    }

    func load() async {
        if let (response, error) = await agoraRtmKit?.getStorage()?.getChannelMetadata(channelName: channel, channelType: .message) {
            guard error == nil, let data = response?.data else { return }
            majorRevision = data.majorRevision
            for item in data.items ?? [] { print(item.key, item.value, item.revision, item.authorUserId, item.updateTs) }
        }
        guard let all = AgoraRtmMetadata() else { return }
        await agoraRtmKit?.getStorage()?.removeChannelMetadata(
            channelName: channel, channelType: .message, data: all, options: nil, lock: nil)
        agoraRtmKit?.getStorage()?.subscribeUserMetadata(userId: "anna", completion: { _, error in print(error == nil) })
    }

    func states() async {
        let presence = agoraRtmKit?.getPresence()
        await presence?.setState(channelName: channel, channelType: .message, items: ["tool": "pen"])
        let options = AgoraRtmGetOnlineUsersOptions()
        options.includeState = true
        if let (page, _) = await presence?.getOnlineUser(channelName: channel, channelType: .stream, options: options), let page {
            users = page.userStateList
            print(page.totalOccupancy, page.nextPage ?? "")
        }
        if let (response, _) = await presence?.getUserChannels(userId: "anna") { print(response?.channels.map(\.channelName) ?? []) }
        if let (response, _) = await presence?.getState(channelName: channel, channelType: .message, userId: "anna") {
            print(response?.state.states ?? [:])
        }
        await presence?.removeState(channelName: channel, channelType: .message, keys: ["tool"])
    }

    func takePen() async -> Bool {
        let lock = agoraRtmKit?.getLock()
        await lock?.setLock(channelName: channel, channelType: .message, lockName: "pen", ttl: 30)
        if let (_, error) = await lock?.acquireLock(channelName: channel, channelType: .message, lockName: "pen", retry: false), let error {
            print(error.errorCode == .lockAcquireFailed)
            return false
        }
        await lock?.releaseLock(channelName: channel, channelType: .message, lockName: "pen")
        return true
    }

    // MARK: - An app's own layer over the calls

    /// Passes a completion handler on, or calls it itself.
    func follow(_ name: String, completion: AgoraRtmOperationBlock?) {
        guard !name.isEmpty else { completion?(nil, nil); return }
        agoraRtmKit?.subscribe(channelName: name, option: nil, completion: completion)
    }

    /// Keeps one, and gives a method.
    func unfollow(_ name: String, completion: @escaping (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) -> Void) {
        waiting.append(completion)
        agoraRtmKit?.unsubscribe(name, completion: unfollowed)
    }

    func unfollowed(_ response: AgoraRtmCommonResponse?, _ error: AgoraRtmErrorInfo?) {
        for completion in waiting { completion(response, error) }
        waiting = []
    }

    // MARK: - What is told

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
        switch event.channelType {
        case .message:
            lines.append("\(event.publisher) in \(event.channelName): \(event.message.stringData ?? "") \(event.customType ?? "")")
        case .stream: lines.append("\(event.publisher) on \(event.channelTopic): \(event.message.rawData?.count ?? 0)")
        case .user: lines.append("\(event.publisher), at \(event.timestamp)")
        case .none: break
        @unknown default: break
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
        if event.type == .remoteLeaveChannel || event.type == .remoteConnectionTimeout {
            users.removeAll { $0.userId == event.publisher }
        } else if event.type == .remoteJoinChannel && event.publisher != nil {
            let userState = AgoraRtmUserState()
            userState.userId = event.publisher!
            userState.states = event.states
            users.append(userState)
        } else if event.type == .snapshot {
            users = event.snapshot
        } else if event.type == .remoteStateChanged, let index = users.firstIndex(where: { $0.userId == event.publisher }) {
            users[index].states = event.states
        } else if let interval = event.interval {
            print(interval.joinUserList, interval.leaveUserList, interval.timeoutUserList, interval.userStateList.map(\.userId))
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTopicEvent event: AgoraRtmTopicEvent) {
        guard event.type == .remoteJoinTopic else { return }
        for info in event.topicInfos { print(info.topic, info.publishers.map(\.publisherUserId)) }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {
        guard event.storageType == .channel, event.target == channel else { return }
        if event.eventType == .snapshot || event.eventType == .update || event.eventType == .set {
            majorRevision = event.data.majorRevision
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent) {
        if event.eventType == .lockAcquired { print(event.lockDetailList.map { "\($0.lockName) \($0.owner) \($0.ttl)" }) }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
        if event.currentState == .connected, event.previousState != .connected { print(event.reason ?? "", event.isResumed) }
    }

    func rtmKit(
        _ kit: AgoraRtmClientKit, channel channelName: String, connectionChangedToState state: AgoraRtmClientConnectionState,
        reason: AgoraRtmClientConnectionChangeReason
    ) {
        connectionState = state
        if reason == .changedSameUidLogin { print("logged in elsewhere") }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?) {
        rtmKit.renewToken("a new one") { _, _ in }
    }
}
