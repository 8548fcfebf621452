import RelayRights
import RelayTestKit
import RelayWire

extension AccessRow {
    /// In the order of the document, each row with its very words.
    static let all = inChannels + ofChannels + ofUsers + ofWhatOneHas

    private static func name(_ text: String) -> Name { try! Name(text) }

    private static let inChannels: [AccessRow] = [
        AccessRow(
            request: "`subscribe`, `join`, `history`; `getMetadata` and `getLocks` of a channel", right: "`subscribe` in that channel",
            probes: [
                Probe("subscribe for messages", .subscribe) { SubscribeRequest(id: $0, channel: name($1.channel), features: ["messages"]) },
                Probe("subscribe quiet", .subscribe) {
                    SubscribeRequest(id: $0, channel: name($1.channel), features: ["locks", "metadata"], quiet: true)
                },
                Probe("join for packets", .join) { JoinRequest(id: $0, channel: name($1.channel), features: []) },
                Probe("history", .history) { HistoryRequest(id: $0, channel: name($1.channel)) },
                Probe("history from", .history) { HistoryRequest(id: $0, channel: name($1.channel), from: 1, limit: 1) },
                Probe("getMetadata", .getMetadata) { GetMetadataRequest(id: $0, TestClient.owner($1.channel)) },
                Probe("getMetadata of a stream", .getMetadata) { GetMetadataRequest(id: $0, TestClient.owner("stream:" + $1.channel)) },
                Probe("getLocks", .getLocks) { GetLocksRequest(id: $0, kind: .message, channel: name($1.channel)) },
            ]),
        AccessRow(
            request: "the feature `presence` of `subscribe` and `join`; `who`, `setStates`, `removeStates`, `getStates`",
            right: "`presence` in that channel",
            probes: [
                Probe("subscribe", .subscribe, also: .subscribe) { SubscribeRequest(id: $0, channel: name($1.channel)) },
                Probe("subscribe quiet with presence", .subscribe, also: .subscribe) {
                    SubscribeRequest(id: $0, channel: name($1.channel), features: ["presence"], quiet: true)
                },
                Probe("join", .join, also: .subscribe) { JoinRequest(id: $0, channel: name($1.channel)) },
                Probe("who", .who) { WhoRequest(id: $0, kind: .message, channel: name($1.channel)) },
                Probe("who of a stream", .who) { WhoRequest(id: $0, kind: .stream, channel: name($1.channel), limit: 1) },
                Probe("setStates", .setStates) {
                    SetStatesRequest(id: $0, kind: .message, channel: name($1.channel), states: ["name": "Anna"])
                },
                Probe("removeStates", .removeStates) { RemoveStatesRequest(id: $0, kind: .message, channel: name($1.channel)) },
                Probe("getStates of another", .getStates) {
                    GetStatesRequest(id: $0, kind: .message, channel: name($1.channel), user: name($1.user))
                },
                Probe("getStates of oneself", .getStates) {
                    GetStatesRequest(id: $0, kind: .stream, channel: name($1.channel), user: name("anna"))
                },
            ]),
    ]

    private static let ofChannels: [AccessRow] = [
        AccessRow(
            request: "`publish`, `publishChanges`", right: "`publish` in that channel",
            probes: [
                publish("publish", [], key: nil, [1]), publish("publish with echo, not kept", [.echo, .noHistory], key: nil, [1]),
                publish("publish retained", .retain, key: drawn, [1]), publish("publish a removal", .retain, key: drawn, []),
                publish("publish a part", [], key: drawn, part: true, [1]),
                publish("publish a retained part", .retain, key: drawn, part: true, [1]),
                Probe("publishChanges", .publishChanges) {
                    var change: [UInt8] = []
                    change.append(change: drawn($0), customType: nil, isText: false, payload: [1])
                    return .publishChanges(number: UInt64(Probe.id), channel: $0.channel, part: (1, 1), changes: change)
                },
            ]),
        AccessRow(
            request: "`joinTopic`", right: "`stream` in that channel",
            probes: [
                Probe("joinTopic", .joinTopic, others: [.notJoined]) {
                    JoinTopicRequest(id: $0, channel: name($1.channel), topic: name("points"))
                }
            ]),
        AccessRow(
            request: "`setMetadata`, `updateMetadata`, `removeMetadata` of a channel", right: "`metadata` in that channel",
            probes: [
                write("setMetadata", .setMetadata) { $0.channel },
                write("setMetadata of a stream", .setMetadata) { "stream:" + $0.channel },
                write("updateMetadata", .updateMetadata) { $0.channel },
                Probe("removeMetadata", .removeMetadata) {
                    RemoveMetadataRequest(id: $0, TestClient.owner($1.channel), items: [.init(key: name($1.item))])
                },
                Probe("removeMetadata, all", .removeMetadata) { RemoveMetadataRequest(id: $0, TestClient.owner($1.channel)) },
            ]),
        AccessRow(
            request: "`setLock`, `acquireLock`; `releaseLock` of a lock that one does not have; `removeLock` of one that nobody else has",
            right: "`lock` in that channel",
            probes: [
                Probe("setLock", .setLock) {
                    SetLockRequest(id: $0, kind: .message, channel: name($1.channel), lock: name($1.lock), ttlMs: 2_000)
                },
                Probe("setLock of one held", .setLock) {
                    SetLockRequest(id: $0, kind: .message, channel: name($1.channel), lock: name($1.held))
                },
                Probe("acquireLock", .acquireLock) {
                    AcquireLockRequest(id: $0, kind: .message, channel: name($1.channel), lock: name($1.lock))
                },
                Probe("acquireLock of one held", .acquireLock, others: [.lockHeld]) {
                    AcquireLockRequest(id: $0, kind: .message, channel: name($1.channel), lock: name($1.held))
                },
                Probe("acquireLock, waiting", .acquireLock) {
                    AcquireLockRequest(id: $0, kind: .message, channel: name($1.channel), lock: name($1.held), waitMs: 1_000)
                },
                lock("releaseLock of another's", .releaseLock, others: [.lockNotHeld]) { $0.held },
                lock("releaseLock of nobody's", .releaseLock, others: [.lockNotHeld]) { $0.lock },
                lock("removeLock of nobody's", .removeLock) { $0.lock },
            ]),
        AccessRow(
            request: "`clear`, `undoClear`, `removeBoard`", right: "`clear` in that channel",
            probes: [
                Probe("clear", .clear) { ChannelRequest(id: $0, channel: name($1.channel)) },
                Probe("undoClear", .undoClear, others: [.nothingToUndo]) { ChannelRequest(id: $0, channel: name($1.channel)) },
                Probe("removeBoard", .removeBoard) { ChannelRequest(id: $0, channel: name($1.channel)) },
            ]),
    ]

    private static let ofUsers: [AccessRow] = [
        AccessRow(
            request: "`direct`", right: "`direct`",
            probes: [Probe("direct", .direct) { .direct(number: UInt64(Probe.id), user: $0.user, payload: [1]) }]),
        AccessRow(
            request: "`setMetadata`, `updateMetadata`, `removeMetadata` of oneself", right: "`metadata` everywhere",
            probes: [
                write("setMetadata of oneself", .setMetadata) { _ in "user:anna" },
                write("updateMetadata of oneself", .updateMetadata, others: [.itemNotFound]) { _ in "user:anna" },
                Probe("removeMetadata of oneself", .removeMetadata) { id, _ in RemoveMetadataRequest(id: id, .user(name("anna"))) },
            ]),
        AccessRow(
            request: "`getMetadata`, `subscribeUserMetadata` of other users", right: "`metadata` everywhere",
            probes: [
                Probe("getMetadata of another", .getMetadata) { GetMetadataRequest(id: $0, .user(name($1.user))) },
                Probe("subscribeUserMetadata of another", .subscribeUserMetadata) { UserRequest(id: $0, user: name($1.user)) },
            ]),
        AccessRow(
            request:
                "`revokeLock`; `removeLock` of a lock that another user has; `setMetadata`, `updateMetadata`, `removeMetadata` of other users",
            right: "the role `moderator`",
            probes: [
                lock("revokeLock", .revokeLock, owner: true) { $0.held },
                lock("removeLock of another's", .removeLock) { $0.held },
                write("setMetadata of another", .setMetadata) { "user:" + $0.user },
                write("updateMetadata of another", .updateMetadata) { "user:" + $0.user },
                Probe("removeMetadata of another", .removeMetadata) { RemoveMetadataRequest(id: $0, .user(name($1.user))) },
            ]),
        AccessRow(
            request: "`setRole`, `setMode`, `endSession`, `banUser`, `unbanUser`, `getBans`, `forgetUser`, `removeRecords`, `endChannel`, "
                + "`status`, `offerJoinCode`",
            right: "the role `moderator`",
            probes: [
                // Of a user without a session: a moderator is none's to make less, or to ban.
                Probe("setRole", .setRole) { SetRoleRequest(id: $0, user: name("of-" + $1.user), role: "reader") },
                Probe("setRole of a moderator", .setRole, others: [.notPermitted]) {
                    SetRoleRequest(id: $0, user: name($1.user), role: "reader")
                },
                Probe("setRole, none", .setRole) { SetRoleRequest(id: $0, user: name("of-" + $1.user)) },
                Probe("setMode", .setMode) { SetModeRequest(id: $0, channel: name($1.channel), mode: .frozen, on: true) },
                Probe("setMode, not", .setMode) { SetModeRequest(id: $0, channel: name($1.channel), mode: .openEditing, on: false) },
                Probe("endSession", .endSession) { EndSessionRequest(id: $0, user: name($1.user), reason: "enough") },
                Probe("banUser", .banUser) { BanUserRequest(id: $0, user: name("of-" + $1.user), forMs: 1_000) },
                Probe("banUser, a moderator", .banUser, others: [.notPermitted]) { BanUserRequest(id: $0, user: name($1.user)) },
                Probe("unbanUser", .unbanUser, others: [.notBanned]) { UserRequest(id: $0, user: name($1.user)) },
                Probe("getBans", .getBans) { id, _ in PageRequest(id: id) },
                Probe("forgetUser", .forgetUser) { ForgetUserRequest(id: $0, user: name($1.user)) },
                Probe("endChannel", .endChannel) { EndChannelRequest(id: $0, channel: name($1.channel)) },
                Probe("removeRecords", .removeRecords) { RemoveRecordsRequest(id: $0, channel: name($1.channel), user: name($1.user)) },
                Probe("status", .status) { PageRequest(id: $0, after: name($1.user)) },
                // A relay of this test has no join key.
                Probe("offerJoinCode", .offerJoinCode, others: [.notSupported]) { ChannelRequest(id: $0, channel: name($1.channel)) },
            ]),
    ]

    private static let ofWhatOneHas: [AccessRow] = [
        AccessRow(
            request: "`unsubscribe`, `leave`, `leaveTopic`, `subscribeTopic`, `unsubscribeTopic`, `subscribedUsers`, `publishPacket`, "
                + "`releaseLock` of one's own lock, `barrier`, `cancel`, `goOn`, `setReaderLimits`, `offerDevice`, "
                + "`withdrawJoinCode`, `unsubscribeUserMetadata`, "
                + "`getMetadata` and `subscribeUserMetadata` of oneself, "
                + "`directReceived`, `ping`, `pong`, `renew`, `logout`",
            right: "none: they are about what one has",
            probes: [
                Probe("unsubscribe", .unsubscribe, others: [.notSubscribed]) { ChannelRequest(id: $0, channel: name($1.channel)) },
                Probe("leave", .leave, others: [.notJoined]) { ChannelRequest(id: $0, channel: name($1.channel)) },
                Probe("leaveTopic", .leaveTopic, others: [.notJoined]) {
                    TopicRequest(id: $0, channel: name($1.channel), topic: name("points"))
                },
                Probe("subscribeTopic", .subscribeTopic, others: [.notJoined]) {
                    TopicUsersRequest(id: $0, channel: name($1.channel), topic: name("points"))
                },
                Probe("unsubscribeTopic", .unsubscribeTopic, others: [.notJoined]) {
                    TopicUsersRequest(id: $0, channel: name($1.channel), topic: name("points"))
                },
                Probe("subscribedUsers", .subscribedUsers, others: [.notJoined]) {
                    SubscribedUsersRequest(id: $0, channel: name($1.channel), topic: name("points"))
                },
                Probe("publishPacket", .publishPacket, others: [.unknownFlow]) { _ in .publishPacket(flow: Probe.id, payload: [1]) },
                Probe("barrier", .barrier, others: [.notSubscribed]) { BarrierRequest(id: $0, channel: name($1.channel)) },
                Probe("cancel", .cancel) { id, _ in CancelRequest(id: id, request: 1) },
                Probe("goOn", .goOn) { GoOnRequest(id: $0, channel: name($1.channel), number: 1) },
                Probe("setReaderLimits", .setReaderLimits) { id, _ in SetReaderLimitsRequest(id: id, limits: ReaderLimits()) },
                Probe("offerDevice", .offerDevice, others: [.badRequest]) { id, _ in OfferDeviceRequest(id: id, secret: nil) },
                Probe("withdrawJoinCode", .withdrawJoinCode) { id, _ in EmptyRequest(id: id) },
                Probe("unsubscribeUserMetadata", .unsubscribeUserMetadata, others: [.notSubscribed]) {
                    UserRequest(id: $0, user: name($1.user))
                },
                Probe("getMetadata of oneself", .getMetadata) { id, _ in GetMetadataRequest(id: id, .user(name("anna"))) },
                Probe("subscribeUserMetadata of oneself", .subscribeUserMetadata) { id, _ in UserRequest(id: id, user: name("anna")) },
                Probe("directReceived", .directReceived) { _ in .directReceived(delivery: 1) },
                Probe("ping", .ping) { _ in Frame(.ping, body: [1]) }, Probe("pong", .pong) { _ in Frame(.pong) },
                Probe("renew", .renew) { id, _ in RenewRequest(id: id, key: TestAccess.readerKey) },
                Probe("logout", .logout) { id, _ in EmptyRequest(id: id) },
            ]),
        AccessRow(
            request: "`where`, `boards`", right: "none: they tell of channels in which one has `presence`, `subscribe`",
            probes: [
                Probe("where", .whereIs) { WhereRequest(id: $0, user: name($1.user)) },
                Probe("boards", .boards) { id, _ in PageRequest(id: id) },
            ]),
    ]

    // MARK: - Making

    /// A key that nobody has written; what another one has is BL10's.
    private static let drawn: @Sendable (Named) -> String = { $0.item + " drawn" }

    private static func publish(
        _ title: String, _ flags: FrameFlags, key: (@Sendable (Named) -> String)?, part: Bool = false, _ payload: [UInt8]
    ) -> Probe {
        Probe(title, .publish) { named in
            .publish(
                number: UInt64(Probe.id), channel: named.channel, key: key?(named), part: part ? (1, 2) : nil, flags: flags,
                payload: payload)
        }
    }

    private static func write(
        _ title: String, _ type: FrameType, others: Set<ErrorCode> = [], _ owner: @escaping @Sendable (Named) -> String
    ) -> Probe {
        Probe(title, type, others: others) { named in
            let head = WriteMetadataRequest(id: Probe.id, TestClient.owner(owner(named)), items: [.init(key: name(named.item), bytes: 1)])
            return Frame(type, body: TextBody.encode(head: head, texts: [[0x61]]))
        }
    }

    private static func lock(
        _ title: String, _ type: FrameType, others: Set<ErrorCode> = [], owner: Bool = false, _ lock: @escaping @Sendable (Named) -> String
    ) -> Probe {
        Probe(title, type, others: others) {
            LockRequest(id: $0, kind: .message, channel: name($1.channel), lock: name(lock($1)), owner: owner ? name($1.user) : nil)
        }
    }
}
