internal import RelayCore
import RelayPrimitives
internal import RelayWire

/// A promise that did not hold.
package struct BrokenPromise: Error, CustomStringConvertible {
    package var description: String
    package init(_ description: String) { self.description = description }
}

/// What one connection must receive, in order. [DL1]
enum Expected: Equatable {
    case message(channel: UInt32, offset: UInt64, payload: UInt64)
    case packet(flow: UInt32, sequence: UInt32, payload: UInt64)

    /// What has one sender.
    var source: [UInt64] {
        switch self {
        case .message(let channel, let offset, _): [UInt64(channel), offset]
        case .packet(let flow, _, _): [UInt64(flow)]
        }
    }
}

/// A client that keeps books: what must come, what came, what it was told is lost.
///
/// It knows of every acceptance at once (the simulation tells it), so that each frame that arrives later can be held
/// against it: nothing may be missing, doubled, changed or out of order.
final class ModelClient {
    let user: String
    /// Of its user: several clients may be devices of one.
    let device: String
    /// Whose order is one over both lanes: a device's. [MS3, ST6]
    var sender: String { "\(user) \(device)" }
    /// The relay's, of this device.
    var handle: UInt32 = 0
    var connection: ConnectionID?
    var resumeToken: String?
    var instance: UInt64
    var number: UInt64 = 0
    var requestID: UInt32 = 0
    var isLive = false
    /// The link takes nothing for now.
    var isStalled = false
    /// Since when more waits for this client than the soft limit, without a pause. [DL8]
    private var overLimitSince: Instant?

    // What the relay has granted, from its answers.
    struct Subscription {
        var messages: Bool
        var presence: Bool
        var handle: UInt32 = 0
        var isSnapshotTaken = false
        var picture: [String: [String: String]] = [:]
    }

    var subscriptions: [ChannelID: Subscription] = [:]
    var channelsByHandle: [UInt32: ChannelID] = [:]
    var userHandles: Set<UInt32> = []
    /// Own flows by channel and topic.
    var publishing: [TopicKey: UInt32] = [:]
    var openFlows: Set<UInt32> = []
    var pendingRequests: [UInt32: (ModelClient, [UInt8]) -> Void] = [:]

    // The books.
    private var expected: [Expected] = []
    private var expectedHead = 0
    private var lost: [UInt32: [ClosedRange<UInt32>]] = [:]
    private(set) var packetsReceived = 0
    private(set) var packetsLost = 0
    private(set) var messagesReceived = 0
    /// What it has said that it takes, at least once on this connection. [DL11]
    var taking: Taking?
    private(set) var overLimit = 0
    /// By flow, and by channel and offset.
    private var senders: [[UInt64]: String] = [:]

    init(user: String, device: Int, instance: UInt64) {
        self.user = user
        let digits = String(device, radix: 16)
        self.device = String(repeating: "0", count: 16 - digits.count) + digits
        self.instance = instance
    }

    func expect(_ item: Expected) { expected.append(item) }

    func expect(_ item: Expected, of sender: String) {
        expect(item)
        senders[item.source] = sender
    }

    /// Packets that have not come and were not told lost, or were and stand among the others.
    var dueCount: Int { expected.count - expectedHead }

    /// The queue died with its connection. [DL3]
    /// - Returns: since when more than `limit` bytes wait; `now` if they do not.
    func noteBacklog(_ bytes: Int, of limit: Int, at now: Instant) -> Instant {
        overLimitSince = bytes > limit ? overLimitSince ?? now : nil
        return overLimitSince ?? now
    }

    func connectionEnded() {
        overLimitSince = nil
        connection = nil
        isLive = false
        isStalled = false
        taking = nil
        expected = []
        expectedHead = 0
        lost = [:]
        pendingRequests = [:]
        userHandles = []
        openFlows = []
    }

    /// The session ended: nothing is subscribed any more. [SE10]
    func sessionEnded() {
        subscriptions = [:]
        channelsByHandle = [:]
        publishing = [:]
    }

    /// When nothing waits any more, everything must have come or be told lost. [DL7]
    func checkDrained() throws {
        while expectedHead < expected.count {
            try skip(expected[expectedHead], "never came")
            expectedHead += 1
        }
    }

    // MARK: - Frames

    func receive(_ frame: Frame) throws {
        guard let type = FrameType(rawValue: frame.type) else { throw BrokenPromise("\(user) got a frame of type \(frame.type)") }
        switch type {
        case .deliver: try receiveMessage(frame)
        case .packet: try receivePacket(frame)
        case .lost: try receiveLost(frame)
        case .userNamed:
            let handle = frame.body.withUnsafeBytes { ByteReader($0).first32 }
            userHandles.insert(handle)
        case .flowOpened:
            let body = TestClient.decode(FlowOpened.self, frame.body)
            openFlows.insert(body.flow)
        case .flowClosed:
            let body = TestClient.decode(FlowClosed.self, frame.body)
            guard openFlows.contains(body.flow) else {
                throw BrokenPromise("[ST10] \(user): flowClosed of \(body.flow), which was not open")
            }
        case .answer:
            let id = TestClient.decode(RequestID.self, frame.body).id
            pendingRequests.removeValue(forKey: id)?(self, frame.body)
        case .error:
            let body = TestClient.decode(ErrorBody.self, frame.body)
            if let id = body.id { pendingRequests[id] = nil }
        case .restored:
            let body = TestClient.decode(SubscribeAnswer.self, frame.body)
            let id = ChannelID(kind: body.kind, channel: body.channel)
            subscriptions[id]?.handle = body.handle
            subscriptions[id]?.isSnapshotTaken = false
            channelsByHandle[body.handle] = id
        case .presence: try receivePresence(frame)
        default: break
        }
    }

    /// What stands in front of a frame with such a payload.
    static func extensions(of count: Int, first: UInt8?) -> [UInt8]? { count % 4 == 0 ? [0, 7, 0, 1, first ?? 0] : nil }

    private func check(_ extensions: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer) throws {
        guard Array(extensions.dropFirst(2)) == Self.extensions(of: payload.count, first: payload.first) ?? [] else {
            throw BrokenPromise("[FR9] \(user) got \(Array(extensions)) in front of a payload of \(payload.count) bytes")
        }
    }

    private func receiveMessage(_ frame: Frame) throws {
        let item: Expected = try frame.body.withUnsafeBytes { bytes in
            var (flags, body) = (frame.flags, bytes)
            let extensions = try Extensions.take(from: &body, &flags)
            let deliver = try DeliverFrame(flags: flags, body: body)
            try check(extensions, deliver.payload)
            guard userHandles.contains(deliver.publisher) else {
                throw BrokenPromise("[MS5] \(user) got a message of publisher \(deliver.publisher), who was not named")
            }
            return .message(channel: deliver.channel, offset: deliver.offset, payload: digestOf(deliver.payload))
        }
        if try !passesOthers(item) { try take(item) }
        messagesReceived += 1
    }

    private func receivePacket(_ frame: Frame) throws {
        let item: Expected = try frame.body.withUnsafeBytes { bytes in
            var (flags, body) = (frame.flags, bytes)
            let extensions = try Extensions.take(from: &body, &flags)
            let packet = try PacketFrame(flags: flags, body: body)
            try check(extensions, packet.payload)
            guard openFlows.contains(packet.flow) else {
                throw BrokenPromise("[ST9] \(user) got a packet of flow \(packet.flow) before flowOpened")
            }
            return .packet(flow: packet.flow, sequence: packet.sequence, payload: digestOf(packet.payload))
        }
        taking?.received.0 += 1
        taking?.received.1 += Limits.frameHeadBytes + frame.body.count
        packetsReceived += 1
        if try !passesOthers(item) { try take(item) }
    }

    /// What comes to a reader with limits may come while packets of other senders wait. [DL11]
    ///
    /// - Returns: whether it did.
    private func passesOthers(_ item: Expected) throws -> Bool {
        guard taking != nil else { return false }
        for index in expectedHead..<expected.count {
            if expected[index] == item {
                expected.remove(at: index)
                return true
            }
            guard case .packet(let other, let sequence, _) = expected[index] else { return false }
            if senders[expected[index].source] == senders[item.source], !isLost(other, sequence) { return false }
        }
        return false
    }

    private func isLost(_ flow: UInt32, _ sequence: UInt32) -> Bool { lost[flow]?.contains { $0.contains(sequence) } == true }

    /// Everything before it in the books must have been told lost.
    private func take(_ item: Expected) throws {
        while expectedHead < expected.count {
            let next = expected[expectedHead]
            expectedHead += 1
            if next == item { return }
            try skip(next, "was passed over by \(item)")
        }
        throw BrokenPromise("[DL1] \(user) got \(item), which was not due: doubled, out of order or not meant for it")
    }

    private func skip(_ item: Expected, _ how: String) throws {
        guard case .packet(let flow, let sequence, _) = item, isLost(flow, sequence) else {
            throw BrokenPromise("[DL7] \(user): \(item) \(how) and no lost notice told so")
        }
        packetsLost += 1
    }

    private func receiveLost(_ frame: Frame) throws {
        let notice = try frame.body.withUnsafeBytes { try LostFrame(body: $0) }
        if notice.reason == LostReason.readerLimit.rawValue {
            guard taking != nil else { throw BrokenPromise("[DL11] \(user) has no limits and was told of packets beyond them") }
            overLimit += notice.ranges.reduce(0) { $0 + $1.count }
        }
        for range in notice.ranges {
            guard range.first <= range.last, range.first > 0 else { throw BrokenPromise("[DL6] \(user): lost range \(range)") }
            for sequence in range.first...range.last {
                let isDue = expected[expectedHead...].contains {
                    if case .packet(range.flow, sequence, _) = $0 { true } else { false }
                }
                guard isDue else {
                    throw BrokenPromise("[DL6] \(user) was told that packet \(sequence) of flow \(range.flow) is lost, which was not due")
                }
                guard !isLost(range.flow, sequence) else {
                    throw BrokenPromise("[DL6] \(user) was told twice that packet \(sequence) of flow \(range.flow) is lost")
                }
            }
            lost[range.flow, default: []].append(range.first...range.last)
        }
    }

    // MARK: - Presence

    private func receivePresence(_ frame: Frame) throws {
        let event = TestClient.decode(PresenceEvent.self, frame.body)
        // What still comes of an earlier subscription says nothing about the picture that is on its way.
        guard let id = channelsByHandle[event.channel], let subscription = subscriptions[id],
            subscription.isSnapshotTaken || event.event == .snapshot
        else { return }
        func change(_ body: (inout [String: [String: String]]) -> Void) { body(&subscriptions[id]!.picture) }
        switch event.event {
        case .snapshot:
            subscriptions[id]!.isSnapshotTaken = true
            change { picture in
                picture = [:]
                for member in event.members ?? [] { picture[member.user] = member.states }
            }
        case .join: change { $0[event.user!.text] = event.states ?? [:] }
        case .leave, .timeout:
            guard subscriptions[id]!.picture[event.user!.text] != nil else {
                throw BrokenPromise("[PR5] \(user) was told that \(event.user!) left \(id), who was not there")
            }
            change { $0[event.user!.text] = nil }
        case .stateChanged:
            change { picture in
                for (key, value) in event.states ?? [:] { picture[event.user!.text]?[key] = value }
                for key in event.removed ?? [] { picture[event.user!.text]?[key.text] = nil }
            }
        case .interval:
            change { picture in
                for user in (event.left ?? []) + (event.timedOut ?? []) { picture[user.text] = nil }
                for member in (event.joined ?? []) + (event.changed ?? []) { picture[member.user] = member.states }
            }
        }
    }
}

/// A topic of a stream channel.
struct TopicKey: Hashable, Comparable {
    var channel: Name
    var topic: Name

    static func < (left: Self, right: Self) -> Bool { (left.channel, left.topic) < (right.channel, right.topic) }
}

/// FNV-1a, 64 bits: enough to see a changed byte.
func digestOf(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
}

extension ByteReader {
    fileprivate var first32: UInt32 {
        var copy = self
        return copy.integer() ?? 0
    }
}
