internal import RelayCore
import RelayPrimitives
internal import RelayWire

/// Somebody in the lesson: asks for little, reads all, and is to lose nothing by what others do.
final class Pupil {
    let index: Int
    let user: String
    let link: GreedLink
    /// Times that readers were written to, so far.
    var turn = 0
    private var lastRequest: UInt32 = 0
    private var number: UInt64 = 0
    /// Requests and publishes that are answered in turn, and in which turn they were sent.
    private var asked: [UInt32: Int] = [:]
    private var published: [UInt64: Int] = [:]
    /// What waits for the disk.
    private var unsettled: Set<UInt32> = []
    private var unstored: Set<UInt64> = []
    private var flow: UInt32?
    /// Of its own messages and packets.
    private(set) var lastMessage: UInt32 = 0
    private(set) var lastPacket: UInt32 = 0
    /// Newest from each of the others, by place.
    private var seen: [Lane: UInt32] = [:]
    private(set) var answered = 0
    private(set) var messages = 0
    private(set) var packets = 0
    private(set) var stored = 0

    private struct Lane: Hashable {
        var isPacket: Bool
        var from: Int
    }

    private static let mark: UInt32 = 0x600D_0000

    init(_ index: Int, _ link: GreedLink) {
        self.index = index
        self.link = link
        user = "pupil-\(index)"
    }

    // MARK: - What it does

    private func nextRequest() -> UInt32 {
        lastRequest += 1
        return lastRequest
    }

    private func ask(_ type: FrameType, _ make: (UInt32) -> some JSONObject) {
        let id = nextRequest()
        asked[id] = .max
        send(.json(type, make(id))) { [unowned self] in asked[id] = turn }
    }

    private func send(_ frame: Frame, wasSent: (() -> Void)? = nil) {
        var piece = GreedLink.Piece(frame)
        piece.wasSent = wasSent
        link.toRelay.append(piece)
    }

    func logIn() {
        let key = index == 0 ? TestAccess.hostKey : TestAccess.editorKey
        ask(.login) {
            LoginRequest(
                id: $0, user: try! Name(user), secret: TestAccess.secret(of: user), key: key, instance: "00000000000000aa",
                presenceTimeoutMs: 300_000)
        }
    }

    private func goIn() {
        let lesson = try! Name(GreedSimulation.lesson), topic = try! Name(GreedSimulation.topic)
        ask(.subscribe) { SubscribeRequest(id: $0, channel: lesson, features: ["messages"]) }
        ask(.join) { JoinRequest(id: $0, channel: lesson, features: ["topics"]) }
        ask(.joinTopic) { JoinTopicRequest(id: $0, channel: lesson, topic: topic) }
        ask(.subscribeTopic) { TopicUsersRequest(id: $0, channel: lesson, topic: topic, users: nil) }
    }

    /// Publishes, draws, points, writes and asks, a little of each.
    func act(_ random: inout SplitMix64) {
        guard let flow else { return }
        let lesson = try! Name(GreedSimulation.lesson)
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<4: publish(isRecord: false)
        case 4..<6: publish(isRecord: true)
        case 6..<12:
            lastPacket += 1
            send(.publishPacket(flow: flow, payload: payload(lastPacket)))
        case 12: ask(.who) { WhoRequest(id: $0, kind: .stream, channel: lesson, limit: 5) }
        case 13: ask(.history) { HistoryRequest(id: $0, channel: lesson, backwards: true, limit: 3) }
        case 14: ask(.setStates) { SetStatesRequest(id: $0, kind: .message, channel: lesson, states: ["tool": "pen-\(turn)"]) }
        case 15: ask(.getLocks) { GetLocksRequest(id: $0, kind: .message, channel: lesson) }
        case 16 where unsettled.isEmpty:
            let id = nextRequest(), value = Array("value-\(turn)".utf8)
            unsettled.insert(id)
            let request = WriteMetadataRequest(
                id: id, TestClient.owner(GreedSimulation.lesson), items: [.init(key: try! Name(user), bytes: value.count)])
            send(Frame(.setMetadata, body: TextBody.encode(head: request, texts: [value])))
        default: break
        }
    }

    private func publish(isRecord: Bool) {
        number += 1
        lastMessage += 1
        let number = number
        published[number] = .max
        if isRecord { unstored.insert(number) }
        let frame = Frame.publish(
            number: number, channel: GreedSimulation.lesson, key: isRecord ? "\(user)-\(number)" : nil, flags: isRecord ? .retain : [],
            payload: payload(lastMessage))
        send(frame) { [unowned self] in published[number] = turn }
    }

    private func payload(_ sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.mark + UInt32(index))
        bytes.append(bigEndian: sequence)
        return bytes
    }

    // MARK: - What it gets

    /// - Parameter patience: turns in which it must have been answered. [DL12]
    /// - Throws: what it was refused with, or a broken promise.
    func read(_ frames: [Frame], patience: Int, beside pupils: [Pupil]) throws {
        for frame in frames { try frame.body.withUnsafeBytes { try read(frame, $0, beside: pupils) } }
        if let (id, since) = asked.min(by: { $0.value < $1.value }), turn - since > patience {
            throw BrokenPromise("[DL12] \(user) waits for the answer to request \(id) since \(turn - since) turns, of at most \(patience)")
        }
        if let (number, since) = published.min(by: { $0.value < $1.value }), turn - since > patience {
            throw BrokenPromise("[DL12] publish \(number) of \(user) is not accepted since \(turn - since) turns")
        }
    }

    private func read(_ frame: Frame, _ body: UnsafeRawBufferPointer, beside pupils: [Pupil]) throws {
        var reader = ByteReader(body)
        switch FrameType(rawValue: frame.type) {
        case .welcome?:
            asked[TestClient.decode(RequestID.self, frame.body).id] = nil
            goIn()
        case .answer?:
            let id = TestClient.decode(RequestID.self, frame.body).id
            if flow == nil, let joined = TestClient.decode(AnyFlowAnswer.self, frame.body).flow {
                flow = joined
                // What others send from here on has to come.
                for other in pupils where other !== self { startSeeing(other) }
            }
            guard asked.removeValue(forKey: id) != nil || unsettled.remove(id) != nil else {
                throw BrokenPromise("\(user) got an answer to request \(id), which waits for none")
            }
            answered += 1
        case .accepted?: published[reader.integer(UInt64.self)!] = nil
        case .stored?:
            unstored.remove(reader.integer(UInt64.self)!)
            stored += 1
        case .deliver?: try see(DeliverFrame(flags: frame.flags, body: body).payload, isPacket: false)
        case .packet?: try see(PacketFrame(flags: frame.flags, body: body).payload, isPacket: true)
        case .ping?: send(Frame(.pong))
        case .error?: throw TestClient.decode(ErrorBody.self, frame.body)
        case .closing?, .lost?, .packetsDropped?, .notStored?, .reset?, .gap?:
            let name = FrameType(rawValue: frame.type)!.name
            throw BrokenPromise("[DL2] \(user) got \(name): \(String(decoding: frame.body, as: UTF8.self))")
        default: break
        }
    }

    /// Behind what the other has sent by now; the messages before may come or not.
    private func startSeeing(_ other: Pupil) {
        seen[Lane(isPacket: false, from: other.index)] = seen[Lane(isPacket: false, from: other.index)] ?? other.lastMessage
    }

    private func see(_ payload: UnsafeRawBufferPointer, isPacket: Bool) throws {
        var reader = ByteReader(payload)
        guard payload.count == 8, let mark = reader.integer(UInt32.self), mark & 0xFFFF_0000 == Self.mark,
            let sequence = reader.integer(UInt32.self)
        else { return }
        let lane = Lane(isPacket: isPacket, from: Int(mark & 0xFFFF))
        if let last = seen[lane], sequence != last + 1, sequence > last {
            throw BrokenPromise("[DL1, DL2] \(user) got \(isPacket ? "packet" : "message") \(sequence) of pupil-\(lane.from) after \(last)")
        }
        seen[lane] = max(sequence, seen[lane] ?? 0)
        if isPacket { packets += 1 } else { messages += 1 }
    }

    // MARK: - In the end

    private func misses(_ pupils: [Pupil]) -> String? {
        if flow == nil { return "is not in the lesson" }
        if !asked.isEmpty || !published.isEmpty { return "waits for answers" }
        if !unsettled.isEmpty || !unstored.isEmpty { return "waits for the disk: \(unsettled.count) requests, \(unstored.count) records" }
        for other in pupils where other !== self {
            if let last = seen[Lane(isPacket: false, from: other.index)], last < other.lastMessage {
                return "has message \(last) of \(other.lastMessage) of \(other.user)"
            }
            if let last = seen[Lane(isPacket: true, from: other.index)], last < other.lastPacket {
                return "has packet \(last) of \(other.lastPacket) of \(other.user)"
            }
        }
        return nil
    }

    func isContent(beside pupils: [Pupil]) -> Bool { link.toRelay.isEmpty && misses(pupils) == nil }

    func judge(beside pupils: [Pupil]) throws {
        if let what = misses(pupils) { throw BrokenPromise("[DL2, DL12] in the end \(user) \(what)") }
    }
}

