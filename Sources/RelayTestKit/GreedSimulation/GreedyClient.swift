internal import RelayCore
import RelayMonitoring
import RelayPrimitives
internal import RelayWire

/// Somebody who wants the relay to work, or to hold, as much as it can be made to.
final class GreedyClient {
    enum Kind: CaseIterable {
        case subscribe, unsubscribe, join, leave, history, who, whereIs, page, boards, status, bans
        case set, setOwn, remove, follow, unfollow
        case states, removeStates, getStates
        case select, unselect, selected, joinTopic, leaveTopic, packets
        case publish, retain, part, changes, stage, clear, undo, removeRecords, removeBoard, direct
        case lock, acquire, freeLock, getLocks, barrier, offer, readerLimits, endChannel
        case partial, unknown, wrong, newChannel, knock, comeIn, comeBack, cut, logOut, readLess
    }

    let user: String
    var link: GreedLink?
    var isIn = false
    var token: String?
    private var lastRequest: UInt32 = 1
    private var lastNumber: UInt64 = 0
    var flows: [UInt32] = []
    /// Part 1 of its change set was sent.
    private var staged: UInt16 = 0

    init(_ user: String) { self.user = user }

    private func id() -> UInt32 {
        lastRequest += 1
        return lastRequest
    }

    private func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    func login(isTrusted: Bool) -> Frame {
        .json(
            .login,
            LoginRequest(
                id: 1, user: try! Name(user), secret: TestAccess.secret(of: user),
                key: isTrusted ? TestAccess.hostKey : TestAccess.coeditorKey, instance: "00000000000000aa",
                lastNumber: lastNumber > 0 ? lastNumber : nil, presenceTimeoutMs: 300_000,
                client: String(repeating: "c", count: 64), resume: token.map { ResumeRequest(token: $0, seen: [:]) }))
    }

    // MARK: - Names, as long as they may be

    static func long(_ text: String) -> String { text + String(repeating: "-", count: 64 - text.utf8.count) }

    private static func channel(_ random: inout SplitMix64) -> String {
        random.chance(1, in: 4) ? GreedSimulation.lesson : own(&random)
    }

    /// Mostly one of few, so that much comes together there.
    private static func own(_ random: inout SplitMix64) -> String {
        long("greed-\(Int.random(in: 0..<(random.chance(2, in: 3) ? 2 : 40), using: &random))")
    }

    // MARK: - Frames

    /// - Returns: `nil` if it is nothing that one sends in a session.
    func frame(_ kind: Kind, _ random: inout SplitMix64) -> Frame? {
        let channel = try! Name(Self.channel(&random)), own = try! Name(Self.own(&random))
        switch kind {
        case .subscribe:
            let since: Since? = random.chance(1, in: 2) ? .beginning : nil
            return .json(.subscribe, SubscribeRequest(id: id(), channel: channel, since: since))
        case .newChannel:
            let name = try! Name(Self.long("new-\(user.prefix(12))-\(lastRequest)"))
            return .json(.subscribe, SubscribeRequest(id: id(), channel: name))
        case .unsubscribe: return .json(.unsubscribe, ChannelRequest(id: id(), channel: channel))
        case .join: return .json(.join, JoinRequest(id: id(), channel: channel))
        case .leave: return .json(.leave, ChannelRequest(id: id(), channel: channel))
        case .history: return .json(.history, HistoryRequest(id: id(), channel: channel, backwards: random.chance(1, in: 2)))
        case .who: return .json(.who, WhoRequest(id: id(), kind: random.chance(1, in: 2) ? .stream : .message, channel: channel))
        case .whereIs: return .json(.whereIs, WhereRequest(id: id(), user: try! Name(user)))
        case .boards: return .json(.boards, BoardsRequest(id: id()))
        case .status: return .json(.status, StatusRequest(id: id()))
        case .bans: return .json(.getBans, PageRequest(id: id()))
        case .barrier: return .json(.barrier, BarrierRequest(id: id(), channel: nil))
        case .offer: return .json(.offerDevice, OfferDeviceRequest(id: id(), secret: TestAccess.secret(of: user)))
        case .readerLimits:
            var limits = ReaderLimits()
            if random.chance(1, in: 2) { limits.packetsPerSecond = 1 }
            return .json(.setReaderLimits, SetReaderLimitsRequest(id: id(), limits: limits))
        case .set, .setOwn, .remove, .page, .follow, .unfollow: return metadata(kind, own, &random)
        case .states, .removeStates, .getStates, .select, .unselect, .selected, .joinTopic, .leaveTopic:
            return presence(kind, channel, &random)
        case .packets, .publish, .retain, .part, .changes, .stage, .direct, .clear, .undo, .removeRecords, .removeBoard, .endChannel:
            return messages(kind, channel, own, &random)
        case .lock, .acquire, .freeLock, .getLocks: return locks(kind, own, &random)
        case .unknown: return Frame(type: 0x7E, flags: 0, body: [UInt8](repeating: 0, count: Int.random(in: 0...2_000, using: &random)))
        case .wrong: return Frame(.setStates, body: [UInt8](repeating: 0x5B, count: Int.random(in: 0...16_000, using: &random)))
        case .partial, .knock, .comeIn, .comeBack, .cut, .logOut, .readLess: return nil
        }
    }

    /// Subscribes where most of them are.
    var hearing: Frame { .json(.subscribe, SubscribeRequest(id: id(), channel: try! Name(Self.long("greed-0")))) }

    private func metadata(_ kind: Kind, _ own: Name, _ random: inout SplitMix64) -> Frame {
        let someone = try! Name(Self.long("user-\(Int.random(in: 0..<300, using: &random))"))
        switch kind {
        case .page:
            let owner = MetadataOwner.channel(ChannelID(kind: .message, channel: own))
            return .json(.getMetadata, GetMetadataRequest(id: id(), owner, after: random.chance(1, in: 2) ? try! Name("zz") : nil))
        case .follow: return .json(.subscribeUserMetadata, UserRequest(id: id(), user: someone))
        case .unfollow: return .json(.unsubscribeUserMetadata, UserRequest(id: id(), user: someone))
        case .remove:
            let owner = MetadataOwner.channel(ChannelID(kind: .message, channel: own))
            return .json(.removeMetadata, RemoveMetadataRequest(id: id(), owner))
        default:
            // As many items as fit, or one that is as large as may be.
            let isTiny = random.chance(2, in: 3), count = isTiny ? Int.random(in: 1...300, using: &random) : 1
            let first = Int.random(in: 0..<700, using: &random)
            let values = (0..<count).map { _ in [UInt8](repeating: 0x76, count: isTiny ? 1 : 60_000) }
            let owner: MetadataOwner =
                kind == .setOwn
                ? .user(try! Name(user))
                : .channel(ChannelID(kind: random.chance(1, in: 2) ? .message : .stream, channel: own))
            let request = WriteMetadataRequest(
                id: id(), owner, items: zip(0..., values).map { .init(key: try! Name("\(first + $0)"), bytes: $1.count) })
            return Frame(.setMetadata, body: TextBody.encode(head: request, texts: values))
        }
    }

    private func presence(_ kind: Kind, _ channel: Name, _ random: inout SplitMix64) -> Frame {
        let own = Self.long("topic-\(Int.random(in: 0..<60, using: &random))")
        let topic = try! Name(random.chance(1, in: 4) ? GreedSimulation.topic : own)
        let channelKind: ChannelKind = random.chance(1, in: 2) ? .stream : .message
        // Names that are listed need not be of anybody.
        let users = random.chance(1, in: 3) ? nil : (0..<64).map { Self.long("nobody-\($0)-\(lastRequest)") }
        switch kind {
        case .states:
            let value = String(repeating: "s", count: Int.random(in: 0...50, using: &random))
            let states = Dictionary(uniqueKeysWithValues: (0..<32).map { ("state-\($0)", value) })
            return .json(.setStates, SetStatesRequest(id: id(), kind: channelKind, channel: channel, states: states))
        case .removeStates: return .json(.removeStates, RemoveStatesRequest(id: id(), kind: channelKind, channel: channel))
        case .getStates:
            return .json(.getStates, GetStatesRequest(id: id(), kind: channelKind, channel: channel, user: try! Name(user)))
        case .select: return .json(.subscribeTopic, TopicUsersRequest(id: id(), channel: channel, topic: topic, users: users))
        case .unselect: return .json(.unsubscribeTopic, TopicUsersRequest(id: id(), channel: channel, topic: topic, users: nil))
        case .selected: return .json(.subscribedUsers, SubscribedUsersRequest(id: id(), channel: channel, topic: topic))
        case .joinTopic:
            return .json(.joinTopic, JoinTopicRequest(id: id(), channel: channel, topic: topic, meta: String(repeating: "m", count: 256)))
        default: return .json(.leaveTopic, TopicRequest(id: id(), channel: channel, topic: topic))
        }
    }

    private func messages(_ kind: Kind, _ channel: Name, _ own: Name, _ random: inout SplitMix64) -> Frame {
        let key = "key-\(Int.random(in: 0..<500, using: &random))"
        let payload = [UInt8](repeating: 1, count: random.chance(1, in: 3) ? 30_000 : Int.random(in: 0...200, using: &random))
        switch kind {
        case .packets:
            return .publishPacket(flow: flows.randomElement(using: &random) ?? 1, payload: payload.prefix(1_000))
        case .publish: return .publish(number: number(), channel: channel.text, flags: .echo, payload: payload)
        case .retain:
            return .publish(
                number: number(), channel: own.text, customType: "stroke", key: Self.long(key), flags: .retain, payload: payload)
        case .part:
            return .publish(
                number: number(), channel: own.text, key: Self.long(key), part: (1, 2), flags: .retain, payload: payload)
        case .changes, .stage:
            // Of a set that is never whole, or whole at once.
            staged = kind == .stage ? staged % 60 + 1 : 0
            var changes: [UInt8] = []
            let tiny = [UInt8](repeating: 2, count: 8)
            for index in 0..<64 { changes.append(change: "k\(index)", customType: nil, isText: false, payload: tiny) }
            if random.chance(1, in: 2) {
                changes = []
                changes.append(change: Self.long(key), customType: nil, isText: false, payload: payload)
            }
            return .publishChanges(
                number: number(), channel: own.text, part: kind == .stage ? (staged, 65_535) : (1, 1), changes: changes)
        case .direct: return .direct(number: number(), user: user, payload: payload.prefix(30_000))
        case .clear: return .json(.clear, ChannelRequest(id: id(), channel: own))
        case .undo: return .json(.undoClear, ChannelRequest(id: id(), channel: own))
        case .removeRecords: return .json(.removeRecords, RemoveRecordsRequest(id: id(), channel: own, user: try! Name(user)))
        case .removeBoard: return .json(.removeBoard, RemoveBoardRequest(id: id(), channel: own))
        default: return .json(.endChannel, EndChannelRequest(id: id(), channel: own, reason: String(repeating: "r", count: 256)))
        }
    }

    private func locks(_ kind: Kind, _ own: Name, _ random: inout SplitMix64) -> Frame {
        let lock = try! Name(Self.long("lock-\(Int.random(in: 0..<32, using: &random))"))
        switch kind {
        case .lock: return .json(.setLock, SetLockRequest(id: id(), kind: .message, channel: own, lock: lock))
        case .acquire: return .json(.acquireLock, AcquireLockRequest(id: id(), kind: .message, channel: own, lock: lock, waitMs: 300_000))
        case .freeLock:
            let type: FrameType = random.chance(1, in: 2) ? .releaseLock : .removeLock
            return .json(type, LockRequest(id: id(), kind: .message, channel: own, lock: lock))
        default: return .json(.getLocks, GetLocksRequest(id: id(), kind: .message, channel: own))
        }
    }

    // MARK: - What it is told

    ///
    /// - Returns: how often it was refused something.
    func read(_ frames: [Frame]) -> Int {
        for frame in frames {
            switch FrameType(rawValue: frame.type) {
            case .welcome?:
                let welcome = TestClient.decode(Welcome.self, frame.body)
                (isIn, token) = (true, welcome.resumeToken)
                if !welcome.resumed { (flows, staged) = ([], 0) }
            case .answer?:
                if flows.count < 8, let flow = TestClient.decode(AnyFlowAnswer.self, frame.body).flow { flows.append(flow) }
            case .ping?: link?.toRelay.append(.init(Frame(.pong)))
            default: break
            }
        }
        return frames.count { $0.type == FrameType.error.rawValue }
    }
}

struct AnyFlowAnswer: JSONObject {
    var flow: UInt32?

    mutating func fields(_ json: inout JSONFields) { json("flow", &flow) }
}

/// What one kind of thing has cost the relay so far.
struct Appetite {
    /// How often it is done whatever it costs.
    var liking: Int
    private var bytes = 0
    private var work = 0
    private var memory = 0

    init(liking: Int) { self.liking = liking }

    mutating func learn(bytes: Int, work: Int, memory: Int) {
        self.bytes += bytes
        self.work += work
        self.memory += max(0, memory)
        // What it cost lately counts more.
        if self.bytes > 64 * 1024 { (self.bytes, self.work, self.memory) = (self.bytes / 2, self.work / 2, self.memory / 2) }
    }

    /// What 100 bytes of it make the relay do, and hold, in bytes. What has not been tried promises much.
    var effort: Int { bytes == 0 ? 10_000 : 1 + 100 * work / bytes }
    var weight: Int { bytes == 0 ? 1_000 : 1 + 100 * memory / bytes }
}
