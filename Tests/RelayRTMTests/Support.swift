import RelayClient
import RelayCore
import RelayRTM
import RelayServer
import Testing

/// A relay in this process that lets everybody in and does not pause between calls.
func relay(access: WhiteboardRelay.Access = .open, _ change: (inout Configuration) -> Void = { _ in }) async throws -> WhiteboardRelay {
    var hub = Configuration()
    hub.metadataCallsPerSecond = 100_000
    hub.metadataCallsBurst = 100_000
    // All apps of these tests share one main actor, and a message from user to user waits for its turn there.
    hub.directTimeout = .seconds(300)
    hub.presenceTimeoutDefault = .seconds(300)
    hub.heartbeatMax = .seconds(150)
    // How long a wrong credential waits is shown elsewhere, on a clock moved by hand.
    hub.credentialPause = .milliseconds(1)
    change(&hub)
    return try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: access, hub: hub))
}

/// A port on which nobody listens: the system gives no relay of another test one below 1024.
let nobodysPort: UInt16 = 1

func config(_ server: WhiteboardRelay, _ user: String, key: String? = nil) -> RTMClientConfig {
    config(user, port: server.address.port, key: key)
}

func config(_ user: String, port: UInt16, key: String? = nil) -> RTMClientConfig {
    let config = RTMClientConfig(host: "127.0.0.1", port: port, key: key, userId: user)
    config.secret = .inMemory
    return config
}

/// A client that is logged in, and all that its delegate was told.
@MainActor func client(_ server: WhiteboardRelay, _ user: String) async throws -> (kit: RTMClientKit, told: Recorder) {
    let told = Recorder()
    let kit = try RTMClientKit(config(server, user), delegate: told)
    succeeded(await kit.login(nil))
    return (kit, told)
}

/// The response of a call that is expected to succeed.
@discardableResult
func succeeded<Response>(_ answer: (Response?, RTMErrorInfo?), sourceLocation: SourceLocation = #_sourceLocation) -> Response? {
    #expect(
        answer.0 != nil && answer.1 == nil, "\(answer.1.map { "\($0)" } ?? "neither response nor error")", sourceLocation: sourceLocation)
    return answer.0
}

/// The code of a call that is expected to fail.
func failure<Response>(_ answer: (Response?, RTMErrorInfo?), sourceLocation: SourceLocation = #_sourceLocation) -> RTMErrorCode? {
    #expect(answer.0 == nil && answer.1 != nil, sourceLocation: sourceLocation)
    return answer.1?.errorCode
}

/// Remembers everything it is told.
@MainActor final class Recorder: @MainActor RTMClientDelegate {
    var messages: [RTMMessageEvent] = []
    var presence: [RTMPresenceEvent] = []
    var topics: [RTMTopicEvent] = []
    var storage: [RTMStorageEvent] = []
    var locks: [RTMLockEvent] = []
    var links: [RTMLinkStateEvent] = []
    var connections: [(state: RTMClientConnectionState, reason: RTMClientConnectionChangeReason)] = []
    var expiring = 0
    var relay: [RelayEvent] = []

    var texts: [String] { messages.compactMap { $0.message.stringData } }

    func rtmKit(_ rtmKit: RTMClientKit, didReceiveMessageEvent event: RTMMessageEvent) {
        MainActor.assertIsolated()
        messages.append(event)
    }
    func rtmKit(_ rtmKit: RTMClientKit, didReceivePresenceEvent event: RTMPresenceEvent) { presence.append(event) }
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveTopicEvent event: RTMTopicEvent) { topics.append(event) }
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveStorageEvent event: RTMStorageEvent) { storage.append(event) }
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveLockEvent event: RTMLockEvent) { locks.append(event) }
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveLinkStateEvent event: RTMLinkStateEvent) { links.append(event) }
    func rtmKit(
        _ rtmKit: RTMClientKit, channel channelName: String, connectionChangedToState state: RTMClientConnectionState,
        reason: RTMClientConnectionChangeReason
    ) { connections.append((state, reason)) }
    func rtmKit(_ rtmKit: RTMClientKit, tokenPrivilegeWillExpire channel: String?) { expiring += 1 }
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveRelayEvent event: RelayEvent) { relay.append(event) }
}

/// Waits for what is sure to come.
@MainActor func eventually(_ what: String, _ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while !condition() {
        try #require(ContinuousClock.now < deadline, "not within 5 minutes: \(what)")
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// A set with these items.
func metadata(_ items: [String: String], majorRevision: Int64 = -1, revision: Int64 = -1) -> RTMMetadata {
    let data = RTMMetadata()!
    data.majorRevision = majorRevision
    data.items = items.sorted { $0.key < $1.key }.map {
        let item = RTMMetadataItem()
        (item.key, item.value, item.revision) = ($0.key, $0.value, revision)
        return item
    }
    return data
}

extension RTMSubscribeOptions {
    static func only(_ features: RTMSubscribeChannelFeature) -> RTMSubscribeOptions {
        let options = RTMSubscribeOptions()
        options.features = features
        return options
    }
}

extension RTMTopicOption {
    static func only(_ users: [String]) -> RTMTopicOption {
        let option = RTMTopicOption()
        option.users = users
        return option
    }
}

extension RTMPublishOptions {
    static func to(_ type: RTMChannelType, customType: String = "") -> RTMPublishOptions {
        let options = RTMPublishOptions()
        (options.channelType, options.customType) = (type, customType)
        return options
    }
}
