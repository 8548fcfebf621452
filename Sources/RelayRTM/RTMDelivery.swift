import RelayClient

/// Turns the events of one login into the delegate's, in their order.
///
/// Keeps the states of members that were told, because an event of hosted RTM carries all of a user's, and the relay's what changed.
@MainActor final class RTMDelivery {
    typealias Tell = ((any RTMClientDelegate) -> Void) -> Void

    private let user: String
    private var states: [ChannelID: [String: [String: String]]] = [:]
    /// By channel and topic: hosted RTM tells of users, the relay of each of their devices.
    private var publishers: [String: [String: [PublishedTopic]]] = [:]
    private var link = RTMLinkState.idle
    private var wasConnected = false

    nonisolated init(user: String) { self.user = user }

    func deliver(_ event: ClientEvent, of kit: RTMClientKit, to tell: Tell) {
        switch event {
        case .message(let message) where message.isRemoval: tellRelay(event, of: kit, to: tell)
        case .message(let message): deliver(message, of: kit, to: tell)
        case .board(let batch):
            tellRelay(event, of: kit, to: tell)
            for message in batch.messages where !message.isRemoval { deliver(message, of: kit, to: tell) }
        case .packet(let packet):
            let event = RTMMessageEvent(.stream, packet.channel, topic: packet.topic, packet.payload, from: packet.publisher)
            tell { $0.rtmKit(kit, didReceiveMessageEvent: event) }
        case .direct(let direct):
            direct.acknowledge()
            let event = RTMMessageEvent(
                .user, user, direct.payload, from: direct.sender, customType: direct.customType, at: direct.wallMilliseconds)
            tell { $0.rtmKit(kit, didReceiveMessageEvent: event) }
        case .presence(let change):
            // Channels that were left meanwhile are forgotten, at the latest when another one is entered.
            if case .snapshot = change.kind { states = states.filter { kit.relayClient?.isIn($0.key) == true } }
            for event in presence(change) { tell { $0.rtmKit(kit, didReceivePresenceEvent: event) } }
        case .topics(let change):
            if change.kind == .snapshot { publishers = publishers.filter { kit.relayClient?.isIn(stream: $0.key) == true } }
            for event in topics(change) { tell { $0.rtmKit(kit, didReceiveTopicEvent: event) } }
        case .metadata(let change):
            let event = RTMStorageEvent(change)
            tell { $0.rtmKit(kit, didReceiveStorageEvent: event) }
        case .locks(let change):
            let event = RTMLockEvent(change)
            tell { $0.rtmKit(kit, didReceiveLockEvent: event) }
        case .link(let state): deliver(state, of: kit, to: tell)
        case .accessExpiring: tell { $0.rtmKit(kit, tokenPrivilegeWillExpire: nil) }
        case .cleared, .packetsLost, .packetsDropped, .messagesMissed, .caughtUp, .refused, .accessChanged, .channelMode, .joinCodeEnded:
            tellRelay(event, of: kit, to: tell)
        }
    }

    private func tellRelay(_ event: ClientEvent, of kit: RTMClientKit, to tell: Tell) {
        if let event = RelayEvent(event) { tell { $0.rtmKit(kit, didReceiveRelayEvent: event) } }
    }

    private func deliver(_ message: Message, of kit: RTMClientKit, to tell: Tell) {
        let event = RTMMessageEvent(
            .message, message.channel, message.payload, from: message.sender, customType: message.customType, at: message.wallMilliseconds,
            position: message.epoch.map { ChannelPosition(epoch: $0, offset: message.offset) })
        tell { $0.rtmKit(kit, didReceiveMessageEvent: event) }
    }

    /// Whoever joins with states is told to join, and then to have them.
    private func presence(_ change: PresenceChange) -> [RTMPresenceEvent] {
        let channel = change.place
        var known = states[channel] ?? [:]
        defer { states[channel] = known }
        switch change.kind {
        case .snapshot(let members, total: _):
            known = Dictionary(members.map { ($0.user, $0.states) }) { $1 }
            return [RTMPresenceEvent(.snapshot, channel, snapshot: members.map { RTMUserState($0.user, $0.states) })]
        case .joined(let member):
            known[member.user] = member.states
            let joined = RTMPresenceEvent(.remoteJoinChannel, channel, member.user, member.states)
            return member.states.isEmpty ? [joined] : [joined, RTMPresenceEvent(.remoteStateChanged, channel, member.user, member.states)]
        case .left(let user): return [RTMPresenceEvent(.remoteLeaveChannel, channel, user, known.removeValue(forKey: user) ?? [:])]
        case .timedOut(let user):
            return [RTMPresenceEvent(.remoteConnectionTimeout, channel, user, known.removeValue(forKey: user) ?? [:])]
        case .stateChanged(let user, let set, let removed):
            var states = (known[user] ?? [:]).merging(set) { $1 }
            for key in removed { states[key] = nil }
            known[user] = states
            return [RTMPresenceEvent(.remoteStateChanged, channel, user, states)]
        case .interval(let joined, let changed, let left, let timedOut):
            for user in left + timedOut { known[user] = nil }
            for member in joined + changed { known[member.user] = member.states }
            let info = RTMPresenceIntervalInfo.with {
                ($0.joinUserList, $0.leaveUserList, $0.timeoutUserList, $0.userStateList) = (
                    joined.map(\.user), left, timedOut, (joined + changed).map { RTMUserState($0.user, $0.states) }
                )
            }
            return [RTMPresenceEvent(.interval, channel, interval: info)]
        }
    }

    /// Others' joins and leaves, one event each: with the first of a user's devices in a topic, and with the last.
    private func topics(_ change: TopicsChange) -> [RTMTopicEvent] {
        guard change.kind == .snapshot else {
            let type: RTMTopicEventType = change.kind == .joined ? .remoteJoinTopic : .remoteLeaveTopic
            return change.publishers.filter { isNews($0, change) && $0.user != user }.map { publisher in
                let info = RTMTopicInfo.with { ($0.topic, $0.publishers) = (publisher.topic, [RTMPublisherInfo(publisher)]) }
                return RTMTopicEvent.with {
                    ($0.type, $0.channelName, $0.publisher, $0.topicInfos) = (type, change.channel, publisher.user, [info])
                }
            }
        }
        publishers[change.channel] = Dictionary(grouping: change.publishers) { $0.topic }
        let topics = publishers[change.channel]!.sorted { $0.key < $1.key }.map { topic, publishers in
            var users: Set<String> = []
            let infos = publishers.filter { users.insert($0.user).inserted }.map { RTMPublisherInfo($0) }
            return RTMTopicInfo.with { ($0.topic, $0.publishers) = (topic, infos) }
        }
        return [RTMTopicEvent.with { ($0.type, $0.channelName, $0.topicInfos) = (.snapshot, change.channel, topics) }]
    }

    /// Remembers a publisher; false if another device of the user publishes in the topic.
    private func isNews(_ publisher: PublishedTopic, _ change: TopicsChange) -> Bool {
        var others = publishers[change.channel, default: [:]][publisher.topic, default: []]
        others.removeAll { $0.user == publisher.user && $0.device == publisher.device }
        let now = others + (change.kind == .joined ? [publisher] : [])
        publishers[change.channel, default: [:]][publisher.topic] = now.isEmpty ? nil : now
        return !others.contains { $0.user == publisher.user }
    }

    private func deliver(_ state: LinkState, of kit: RTMClientKit, to tell: Tell) {
        let now: RTMLinkState, operation: RTMLinkOperation, connection: RTMClientConnectionState, reason: RTMClientConnectionChangeReason
        var text: String?, isResumed = false
        // The login has been told to begin.
        if case .connecting = state, link == .connecting { return }
        switch state {
        case .idle: return
        case .connecting:
            (now, operation) = (.connecting, wasConnected ? .autoReconnect : .login)
            (connection, reason) = (wasConnected ? .reconnecting : .connecting, .changedConnecting)
        case .connected(let resumed):
            (now, operation, connection) = (.connected, wasConnected ? .reconnected : .login, .connected)
            reason = wasConnected ? .changedRejoinSuccess : .changedLoginSuccess
            (wasConnected, isResumed) = (true, resumed)
        case .waiting(after: _, let end):
            let isSilent = end.code == .heartbeatTimeout
            (now, operation, connection) = (.disconnected, isSilent ? .heartbeatTimeout : .autoReconnect, .reconnecting)
            (reason, text) = (isSilent ? .changedKeepAliveTimeout : .changedInterrupted, end.text)
        case .closed(let end) where end.code == .clientClosed:
            (now, operation, connection, reason) = (.idle, .logout, .disconnected, .changedLogout)
        case .closed(let end):
            (now, connection, reason, text) = (.failed, .failed, Self.reason(end.code), end.text)
            operation = reason != .changedInterrupted ? .serverReject : wasConnected ? .autoReconnect : .login
        }
        let event = RTMLinkStateEvent.with {
            ($0.currentState, $0.previousState, $0.operation, $0.reason, $0.isResumed) = (now, link, operation, text, isResumed)
        }
        link = now
        tell {
            $0.rtmKit(kit, didReceiveLinkStateEvent: event)
            $0.rtmKit(kit, channel: "", connectionChangedToState: connection, reason: reason)
        }
    }

    /// Why a client has ended for good.
    private static func reason(_ code: ErrorCode) -> RTMClientConnectionChangeReason {
        switch code {
        case .connectFailed, .timedOut, .clientClosed: .changedInterrupted
        case .replaced: .changedSameUidLogin
        case .banned, .endedByModerator: .changedBannedByServer
        case .tokenExpired, .accessExpired: .changedTokenExpired
        case .tokenInvalid, .keyWrong, .keyChanged, .credentialRequired, .credentialsWrong: .changedInvalidToken
        default: .changedRejectedByServer
        }
    }
}
