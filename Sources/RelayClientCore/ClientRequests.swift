import RelayMonitoring
import RelayPrimitives
package import RelayRights
import RelayWire

/// What stands in a request, but for its id.
package enum ClientRequest: Equatable, Sendable {
    case subscribe(Name, features: Set<Feature>, quiet: Bool, since: Since? = nil)
    case unsubscribe(Name)
    case join(Name, features: Set<Feature>, quiet: Bool, token: String?)
    case leave(Name)
    case joinTopic(TopicID, TopicOptions)
    case leaveTopic(TopicID)
    /// `nil`: all, now and later.
    case subscribeTopic(TopicID, users: [String]?)
    case unsubscribeTopic(TopicID, users: [String]?)
    case subscribedUsers(TopicID, after: Name? = nil)
    case who(ChannelID, after: Name?, limit: Int?)
    case whereIs(Name, after: ChannelID? = nil)
    case setStates(ChannelID, [String: String])
    case removeStates(ChannelID, [Name]?)
    case getStates(ChannelID, Name)
    case history(Name, from: UInt64?, backwards: Bool, limit: Int?)
    /// `nil`: all channels.
    case barrier(Name?)
    /// The id of a request that waits.
    case cancel(UInt32)
    /// Behind a publish of this number, which was refused.
    case goOn(Name, UInt64)
    case writeMetadata(MetadataOwner, MetadataWrite)
    case removeMetadata(MetadataOwner, [RemoveMetadataRequest.Item]?, majorRevision: UInt64?, lock: Name?)
    case getMetadata(MetadataOwner, after: Name?)
    case subscribeUserMetadata(Name)
    case unsubscribeUserMetadata(Name)
    case setLock(LockID, ttlMilliseconds: Int)
    case acquireLock(LockID, waitMilliseconds: Int?)
    case releaseLock(LockID)
    case revokeLock(LockID, owner: Name, device: String?)
    case removeLock(LockID)
    case getLocks(ChannelID)
    case clear(Name)
    case undoClear(Name)
    case boards(after: Name?, unusedMilliseconds: UInt64? = nil)
    case removeBoard(Name, unusedMilliseconds: UInt64? = nil)
    case renew(Credential)
    /// The secret of the login.
    case offerDevice(secret: String?)
    case offerJoinCode(Name)
    case withdrawJoinCode
    case setReaderLimits(ReaderLimits)
    case setRole(Name, Role?)
    case setMode(Name, ChannelMode, Bool)
    case endSession(Name, reason: String?)
    case ban(Name, forMilliseconds: Int?)
    case unban(Name)
    case bans(after: Name?)
    case forget(Name, withRecords: Bool)
    case removeRecords(of: Name, from: Name)
    case endChannel(Name, reason: String?)
    case status(after: Name?, limit: Int?, user: Name?)

    func frame(id: UInt32) -> Frame {
        switch self {
        case .subscribe(let channel, let features, let quiet, let since):
            .json(
                .subscribe,
                SubscribeRequest(id: id, channel: channel, features: features.map(\.rawValue).inOrder(), quiet: quiet, since: since))
        case .unsubscribe(let channel): .json(.unsubscribe, ChannelRequest(id: id, channel: channel))
        case .join(let channel, let features, let quiet, let token):
            .json(.join, JoinRequest(id: id, channel: channel, features: features.map(\.rawValue).inOrder(), quiet: quiet, token: token))
        case .leave(let channel): .json(.leave, ChannelRequest(id: id, channel: channel))
        case .joinTopic(let topic, let options): .json(.joinTopic, options.request(id: id, topic))
        case .leaveTopic(let topic): .json(.leaveTopic, TopicRequest(id: id, channel: topic.channel, topic: topic.topic))
        case .subscribeTopic(let topic, let users):
            .json(.subscribeTopic, TopicUsersRequest(id: id, channel: topic.channel, topic: topic.topic, users: users))
        case .unsubscribeTopic(let topic, let users):
            .json(.unsubscribeTopic, TopicUsersRequest(id: id, channel: topic.channel, topic: topic.topic, users: users))
        case .subscribedUsers(let topic, let after):
            .json(.subscribedUsers, SubscribedUsersRequest(id: id, channel: topic.channel, topic: topic.topic, after: after))
        case .who(let channel, let after, let limit):
            .json(.who, WhoRequest(id: id, kind: channel.kind, channel: channel.channel, after: after, limit: limit))
        case .whereIs(let user, let after): .json(.whereIs, WhereRequest(id: id, user: user, after: after))
        case .setStates(let channel, let states):
            .json(.setStates, SetStatesRequest(id: id, kind: channel.kind, channel: channel.channel, states: states))
        case .removeStates(let channel, let keys):
            .json(.removeStates, RemoveStatesRequest(id: id, kind: channel.kind, channel: channel.channel, keys: keys))
        case .getStates(let channel, let user):
            .json(.getStates, GetStatesRequest(id: id, kind: channel.kind, channel: channel.channel, user: user))
        case .history(let channel, let from, let backwards, let limit):
            .json(.history, HistoryRequest(id: id, channel: channel, from: from, backwards: backwards ? true : nil, limit: limit))
        case .barrier(let channel): .json(.barrier, BarrierRequest(id: id, channel: channel))
        case .cancel(let request): .json(.cancel, CancelRequest(id: id, request: request))
        case .goOn(let channel, let number): .json(.goOn, GoOnRequest(id: id, channel: channel, number: number))
        case .writeMetadata(let owner, let write): write.frame(id: id, owner)
        case .removeMetadata(let owner, let keys, let majorRevision, let lock):
            .json(.removeMetadata, RemoveMetadataRequest(id: id, owner, items: keys, majorRevision: majorRevision, lock: lock))
        case .getMetadata(let owner, let after): .json(.getMetadata, GetMetadataRequest(id: id, owner, after: after))
        case .subscribeUserMetadata(let user): .json(.subscribeUserMetadata, UserRequest(id: id, user: user))
        case .unsubscribeUserMetadata(let user): .json(.unsubscribeUserMetadata, UserRequest(id: id, user: user))
        case .setLock(let lock, let ttl):
            .json(.setLock, SetLockRequest(id: id, kind: lock.channel.kind, channel: lock.channel.channel, lock: lock.name, ttlMs: ttl))
        case .acquireLock(let lock, let wait):
            .json(
                .acquireLock,
                AcquireLockRequest(id: id, kind: lock.channel.kind, channel: lock.channel.channel, lock: lock.name, waitMs: wait))
        case .releaseLock(let lock): .json(.releaseLock, lock.request(id: id))
        case .revokeLock(let lock, let owner, let device): .json(.revokeLock, lock.request(id: id, owner: owner, device: device))
        case .removeLock(let lock): .json(.removeLock, lock.request(id: id))
        case .getLocks(let channel): .json(.getLocks, GetLocksRequest(id: id, kind: channel.kind, channel: channel.channel))
        case .clear(let channel): .json(.clear, ChannelRequest(id: id, channel: channel))
        case .undoClear(let channel): .json(.undoClear, ChannelRequest(id: id, channel: channel))
        case .boards(let after, let unused): .json(.boards, BoardsRequest(id: id, after: after, unusedMs: unused))
        case .removeBoard(let channel, let unused): .json(.removeBoard, RemoveBoardRequest(id: id, channel: channel, unusedMs: unused))
        case .renew(let credential): .json(.renew, RenewRequest(id: id, key: credential.key, token: credential.token))
        case .offerDevice(let secret): .json(.offerDevice, OfferDeviceRequest(id: id, secret: secret))
        case .offerJoinCode(let channel): .json(.offerJoinCode, ChannelRequest(id: id, channel: channel))
        case .withdrawJoinCode: .json(.withdrawJoinCode, EmptyRequest(id: id))
        case .setReaderLimits(let limits): .json(.setReaderLimits, SetReaderLimitsRequest(id: id, limits: limits))
        case .setRole(let user, let role): .json(.setRole, SetRoleRequest(id: id, user: user, role: role?.rawValue))
        case .setMode(let channel, let mode, let isOn): .json(.setMode, SetModeRequest(id: id, channel: channel, mode: mode, on: isOn))
        case .endSession(let user, let reason): .json(.endSession, EndSessionRequest(id: id, user: user, reason: reason))
        case .ban(let user, let time): .json(.banUser, BanUserRequest(id: id, user: user, forMs: time))
        case .unban(let user): .json(.unbanUser, UserRequest(id: id, user: user))
        case .bans(let after): .json(.getBans, PageRequest(id: id, after: after))
        case .forget(let user, let withRecords):
            .json(.forgetUser, ForgetUserRequest(id: id, user: user, withRecords: withRecords ? true : nil))
        case .removeRecords(let user, let channel): .json(.removeRecords, RemoveRecordsRequest(id: id, channel: channel, user: user))
        case .endChannel(let channel, let reason): .json(.endChannel, EndChannelRequest(id: id, channel: channel, reason: reason))
        case .status(let after, let limit, let user): .json(.status, StatusRequest(id: id, after: after, limit: limit, user: user))
        }
    }

    /// Whether it can be asked again when its answer was lost: it changes nothing, or comes to the same. A code that nobody was told
    /// is void with the next one. [SE11]
    var mayBeRepeated: Bool {
        switch self {
        case .subscribe, .join, .subscribedUsers, .who, .whereIs, .getStates, .history, .barrier, .getMetadata, .getLocks, .boards, .bans,
            .setReaderLimits, .offerDevice, .offerJoinCode, .withdrawJoinCode, .status:
            true
        default: false
        }
    }

    /// Whether it is done whether somebody waits for it or not.
    package var isHandedOver: Bool { if case .releaseLock = self { true } else { isEnding } }

    /// Whether it ends something that the app has begun, and is asked again after a break. [SE11]
    package var isEnding: Bool {
        switch self {
        case .unsubscribe, .leave, .leaveTopic, .unsubscribeTopic, .unsubscribeUserMetadata: true
        default: false
        }
    }

    /// How long it may wait at the relay before that answers.
    package var waitAtRelay: Duration {
        if case .acquireLock(_, let wait?) = self { .milliseconds(wait) } else { .zero }
    }

    /// Whether it may wait at the relay, and can be withdrawn there. [SE14]
    package var waits: Bool {
        switch self {
        case .barrier, .acquireLock(_, waitMilliseconds: .some): true
        default: false
        }
    }

    /// The channel that it leaves.
    var leaves: ChannelID? {
        switch self {
        case .unsubscribe(let channel): ChannelID(kind: .message, channel: channel)
        case .leave(let channel): ChannelID(kind: .stream, channel: channel)
        default: nil
        }
    }

    /// A subscription that goes on where it is.
    var withoutPlace: ClientRequest {
        guard case .subscribe(let channel, let features, let quiet, _) = self else { return self }
        return .subscribe(channel, features: features, quiet: quiet)
    }

    /// The channel that it subscribes or joins.
    var entered: ChannelID? {
        switch self {
        case .subscribe(let channel, _, _, _): ChannelID(kind: .message, channel: channel)
        case .join(let channel, _, _, _): ChannelID(kind: .stream, channel: channel)
        default: nil
        }
    }
}

/// A topic of a stream channel.
package struct TopicID: Hashable, Comparable, Sendable {
    package var channel: Name
    package var topic: Name

    package init(channel: Name, topic: Name) {
        self.channel = channel
        self.topic = topic
    }

    package static func < (left: Self, right: Self) -> Bool { (left.channel, left.topic) < (right.channel, right.topic) }
}

/// What a publisher asks of a topic. [ST3]
package struct TopicOptions: Equatable, Sendable {
    package var qos: TopicQoS
    package var priority: TopicPriority
    package var meta: String
    package var lifetimeMilliseconds: Int?

    package init(qos: TopicQoS, priority: TopicPriority, meta: String, lifetimeMilliseconds: Int?) {
        self.qos = qos
        self.priority = priority
        self.meta = meta
        self.lifetimeMilliseconds = lifetimeMilliseconds
    }

    func request(id: UInt32, _ topic: TopicID) -> JoinTopicRequest {
        JoinTopicRequest(
            id: id, channel: topic.channel, topic: topic.topic, qos: qos, priority: priority, meta: meta, lifetimeMs: lifetimeMilliseconds)
    }
}

/// What comes back: for a request its answer, for a message its offset.
package enum ClientAnswer: Equatable, Sendable {
    case done
    case offset(UInt64)
    case topicUsers(all: Bool, succeeded: [String], failed: [String: ErrorCode])
    case users(all: Bool, [Name], next: Name?)
    case members(total: Int, members: [Member], next: Name?)
    case channels([ChannelID], next: ChannelID?)
    case states([String: String])
    case history(HistoryPage)
    case majorRevision(UInt64)
    case metadata(majorRevision: UInt64, items: [MetadataItem], next: Name?)
    case fencing(UInt64)
    case code(OfferedCode)
    case locks([LockDetail])
    case boardChange(BoardClearing)
    case boards([BoardInfo], next: Name?)
    case bans([BanInfo], next: Name?)
    case records(Int)
    case forgotten(Forgotten)
    case status(RelayStatus)
}

/// Names what waits for an answer; whoever asks draws it.
package typealias ClientToken = UInt64

/// What the shell carries out for the machine.
package enum ClientEffect: Sendable {
    /// Links lead elsewhere from now on: first to this address, if it is one that SE17 lets a client follow to; else to the next one.
    case goElsewhere(String?)
    /// Link up with the relay, and tell `linkOpened` or `linkEnded` with this attempt's number.
    case openLink(attempt: UInt64)
    case closeLink(attempt: UInt64)
    case completed(ClientToken, Result<ClientAnswer, RelayError>)
}
