import RelayRTM
import Foundation

/// An app in the shape of 2.1: a lesson with contacts, a chat, an auction and a quiz. `Hosted21.swift` and `Moved21.swift` are the same
/// file before and after the move.
class OlderModel: NSObject, AgoraRtmClientDelegate {
    var agoraRtmKit: AgoraRtmClientKit? = nil
    var users: [AgoraRtmUserState] = []
    var messages: [AgoraRtmMessageEvent] = []
    var names: [String: String] = [:]
    var locks: Set<AgoraRtmLockDetail> = []
    var majorRevision: Int64?
    var connectionState: AgoraRtmClientConnectionState = .disconnected
    let channel = "lesson"
    let userID = "anna"

    // MARK: - Coming and going

    func login(token: String) async throws {
        if agoraRtmKit == nil {
            let config = AgoraRtmClientConfig(host: "192.168.1.5", key: "your_key", userId: userID)
            agoraRtmKit = try AgoraRtmClientKit(config, delegate: self)
        }
        if let (response, error) = await agoraRtmKit?.login(token) {
            if error == nil {
                print("login: \(response?.description ?? "")")
            } else {
                print("login: \(error?.code ?? 0) \(error?.errorCode.rawValue ?? 0) \(error?.reason ?? "")")
                throw error ?? NSError(domain: "login", code: -1)
            }
        }
    }

    func enter() async -> Bool {
        // The name is set first, as the hosted guide says: others are told of it when this user comes.
        let item = AgoraRtmStateItem()
        item.key = "name"
        item.value = "Anna"
        if let (_, error) = await agoraRtmKit?.getPresence()?.setState(channelName: channel, channelType: .message, items: [item]) {
            guard error == nil else { return false }
        }
        let options = AgoraRtmSubscribeOptions()
        options.features = [.message, .presence, .metadata, .lock]
        if let (response, error) = await agoraRtmKit?.subscribe(channelName: channel, option: options) {
            print(response?.description ?? "", error?.localizedDescription ?? "")
            return error == nil
        }
        return false
    }

    func leave() {
        agoraRtmKit?.unsubscribe(channel)
        agoraRtmKit?.logout()
        agoraRtmKit?.destroy()
    }

    // MARK: - A chat that shows its own line

    func say(_ text: String) async -> Bool {
        let options = AgoraRtmPublishOptions()
        options.channelType = .message
        options.customType = "chat"
        if let (_, error) = await agoraRtmKit?.publish(channelName: channel, message: text, option: options) {
            guard error == nil else { return false }
            let message = AgoraRtmMessage()
            message.stringData = text
            let own = AgoraRtmMessageEvent()
            own.channelType = .message
            own.channelName = channel
            own.publisher = userID
            own.message = message
            messages.append(own)
            return true
        }
        return false
    }

    func send(_ file: Data, to user: String, completion: @escaping (Bool) -> Void) {
        let options = AgoraRtmPublishOptions()
        options.channelType = .user
        agoraRtmKit?.publish(channelName: user, data: file, option: options) { response, errorInfo in completion(errorInfo == nil) }
    }

    // MARK: - An auction in the channel's metadata

    func bid(_ amount: Int) async -> Bool {
        guard let storage = agoraRtmKit?.getStorage(), let metadata = storage.createMetadata() else { return false }
        let item = AgoraRtmMetadataItem()
        item.key = "bid"
        item.value = String(amount)
        item.revision = -1
        metadata.setMajorRevision(majorRevision ?? -1)
        metadata.setMetadataItem(item)
        let options = AgoraRtmMetadataOptions()
        options.recordTs = true
        options.recordUserId = true
        let (_, error) = await storage.setChannelMetadata(
            channelName: channel, channelType: .message, data: metadata, options: options, lock: nil)
        if error?.errorCode == .storageOutdatedRevision { return false }
        metadata.destroy()
        return error == nil
    }

    func load() async {
        if let (response, error) = await agoraRtmKit?.getStorage()?.getChannelMetadata(channelName: channel, channelType: .message) {
            guard error == nil, let metadata = response?.data else { return }
            majorRevision = metadata.getMajorRevision()
            for item in metadata.getItems() { print(item.key, item.value, item.authorUserId, item.updateTs) }
        }
    }

    func befriend(_ user: String, _ friends: [String]) {
        guard let storage = agoraRtmKit?.getStorage(), let metadata = storage.createMetadata() else { return }
        let item = AgoraRtmMetadataItem()
        item.key = "friends"
        item.value = friends.joined(separator: ",")
        metadata.setMetadataItem(item)
        storage.setUserMetadata(userId: userID, data: metadata, options: nil) { response, error in
            print(response?.description ?? "", error == nil)
        }
        storage.subscribeUserMetadata(userId: user)
    }

    // MARK: - Who is there

    func look() async {
        let options = AgoraRtmPresenceOptions()
        options.includeUserId = true
        options.includeState = true
        if let (response, _) = await agoraRtmKit?.getPresence()?.whoNow(channelName: channel, channelType: .message, options: options) {
            users = response?.userStateList ?? []
            for user in users {
                for item in user.states where item.key == "name" { names[user.userId] = item.value }
            }
        }
        if let (response, _) = await agoraRtmKit?.getPresence()?.whereNow(userId: "ben") { print(response?.totalChannel ?? 0) }
        if let (response, _) = await agoraRtmKit?.getPresence()?.getState(channelName: channel, channelType: .message, userId: "ben") {
            names["ben"] = response?.state.states.first(where: { $0.key == "name" })?.value
        }
    }

    func hold(_ lock: String) async -> Bool {
        let answer = await agoraRtmKit?.getLock()?.acquireLock(
            channelName: channel, channelType: .message, lockName: lock, retry: true)
        return answer?.1 == nil
    }

    // MARK: - What is told

    func rtmKit(_ kit: AgoraRtmClientKit, channel channelName: String, connectionChangedToState state: AgoraRtmClientConnectionState,
                reason: AgoraRtmClientConnectionChangeReason) {
        connectionState = state
        switch reason {
        case .changedLoginSuccess, .changedJoinSuccess: print("in")
        case .changedInvalidAppId, .changedInvalidToken, .changedTokenExpired: print("log in again")
        case .changedSameUidLogin: print("logged in elsewhere")
        default: break
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
        if !messages.contains(event) { messages.append(event) }
        if let data = event.message.rawData { print(data.count) }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
        switch event.type {
        case .remoteLeaveChannel, .remoteConnectionTimeout: users.removeAll { $0.userId == event.publisher }
        case .remoteJoinChannel:
            let user = AgoraRtmUserState()
            user.userId = event.publisher ?? ""
            user.states = event.states
            users.append(user)
        case .remoteStateChanged:
            if let name = event.states.first(where: { $0.key == "name" })?.value { names[event.publisher ?? ""] = name }
        case .snapshot: users = event.snapshot
        default: break
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLockEvent event: AgoraRtmLockEvent) {
        for detail in event.lockDetailList { locks.insert(detail) }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {
        guard event.storageType == .channel, event.eventType == .update || event.eventType == .set else { return }
        majorRevision = event.data.getMajorRevision()
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?) {
        rtmKit.renewToken("a new one") { response, error in print(response?.description ?? "\(error?.code ?? 0)") }
    }
}
