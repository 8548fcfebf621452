@testable import RelayClientCore
import RelayPrimitives
import RelayWire
import Testing
import RelayTesting

/// A client machine on a clock moved by hand, with the relay's side written down by the test.
final class MachineDriver {
    var machine: ClientMachine
    var now = Instant(nanoseconds: 1_000_000_000_000)
    /// What has come out, in order, until a test takes it.
    var completed: [ClientToken: Result<ClientAnswer, RelayError>] = [:]
    private(set) var linksAsked: [UInt64] = []
    private(set) var linksClosed: [UInt64] = []
    /// Where it was led; "" is the next address.
    private(set) var elsewhere: [String] = []
    private(set) var lastLogin: LoginRequest?
    private var reader = FrameReader()
    private var lastToken: ClientToken = 100

    static func settings(_ change: (inout ClientSettings) -> Void = { _ in }) -> ClientSettings {
        var settings = ClientSettings(user: try! Name("alice"), instance: 0xAA, secret: String(repeating: "01", count: 16), seed: 7)
        change(&settings)
        return settings
    }

    init(_ change: (inout ClientSettings) -> Void = { _ in }) { machine = ClientMachine(settings: Self.settings(change)) }

    // MARK: - The link

    /// Asks for a connection and makes the link.
    func connect(token: ClientToken = 1) {
        machine.connect(token: token, at: now)
        open()
    }

    func open() {
        carryOut()
        reader = FrameReader()
        machine.linkOpened(attempt: linksAsked.last!, at: now)
        carryOut()
    }

    /// Connected and logged in; what was sent for it is taken.
    func logIn(
        resumed: Bool = false, start: UInt32 = 1000, forgotten: Bool = false, publishAfterMs: Int? = nil, secret: String? = nil,
        joinKey: String? = nil, _ change: (inout ServerLimits) -> Void = { _ in }
    ) {
        if linksAsked.isEmpty { connect() }
        var limits = ServerLimits()
        change(&limits)
        let request = sent(.login).last.map { Self.decode(LoginRequest.self, $0) }
        lastLogin = request
        feed(
            .json(
                .welcome,
                Welcome(
                    id: request?.id ?? 1, capabilities: request?.capabilities ?? [], relay: String(repeating: "0", count: 32),
                    user: try! Name("alice"), handle: 1,
                    resumeToken: String(repeating: "f", count: 32),
                    resumed: resumed, lastEnd: nil, forgotten: forgotten || start != 1000 && request?.lastNumber != nil,
                    start: start, heartbeatMs: 5000, presenceTimeoutMs: 10_000, access: AccessBody(role: "moderator"), limits: limits,
                    publishAfterMs: publishAfterMs, secret: secret, joinKey: joinKey, channel: joinKey == nil ? nil : try! Name("lesson"))))
    }

    func cut(_ text: String = "cut") {
        machine.linkEnded(attempt: linksAsked.last!, text: text, at: now)
        carryOut()
    }

    func feed(_ frame: Frame) { feed(frame.bytes) }

    func feed(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { machine.received($0, attempt: linksAsked.last!, at: now) }
        carryOut()
    }

    /// The name of a channel that takes the most bytes in JSON.
    static func largeName(_ number: Int) -> Name { try! Name("\(100 + number)" + String(repeating: "\"", count: 61)) }

    /// As many places in such channels fit into a login.
    static let largePlacesMax = ClientLimits.placesBytesMax / (ClientLimits.placeBytes + 3 + 2 * 61)

    // MARK: - What comes out

    func carryOut() {
        for effect in machine.takeEffects() {
            switch effect {
            case .openLink(let attempt): linksAsked.append(attempt)
            case .goElsewhere(let address): elsewhere.append(address ?? "")
            case .closeLink(let attempt): linksClosed.append(attempt)
            case .completed(let token, let result):
                #expect(completed[token] == nil, "token \(token) is completed twice")
                completed[token] = result
            }
        }
    }

    /// Everything that the machine has written since the last call, as the socket would take it.
    func sent() -> [Frame] {
        var frames: [Frame] = []
        while true {
            let bytes = Array(machine.gather())
            guard !bytes.isEmpty else { return frames }
            bytes.withUnsafeBytes { reader.append($0) }
            machine.wrote(bytes.count, at: now)
            carryOut()
            while let frame = try! reader.next() { frames.append(frame) }
        }
    }

    func sent(_ type: FrameType) -> [Frame] { sent().filter { $0.type == type.rawValue } }

    /// As `sent`, without pings: their names.
    func sentNames() -> [String] { sent().compactMap { FrameType(rawValue: $0.type)?.name }.filter { $0 != "ping" } }

    func events() -> [ClientEvent] {
        var events: [ClientEvent] = []
        while let event = machine.nextEvent() { events.append(event) }
        carryOut()
        return events
    }

    // MARK: - Time

    /// Lets time pass, waking the machine whenever it wants to be.
    func pass(_ duration: Duration) {
        let end = now + duration
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            machine.deadline(at: now)
            carryOut()
        }
        now = end
    }

    /// The host sleeps: nobody is woken before its end.
    func sleep(_ duration: Duration) {
        now = now + duration
        machine.deadline(at: now)
        carryOut()
    }

    // MARK: - Calls

    func token() -> ClientToken {
        lastToken += 1
        return lastToken
    }

    @discardableResult
    func send(_ text: String, to channel: String = "lesson") throws -> ClientToken {
        let token = token()
        try machine.send(.text(text), to: channel, customType: nil, echo: false, token: token, at: now)
        carryOut()
        return token
    }

    @discardableResult
    func ask(_ request: ClientRequest) throws -> ClientToken {
        let token = token()
        try machine.request(request, token: token, at: now)
        carryOut()
        return token
    }

    func packet(_ text: String, _ topic: String = "points") throws {
        try machine.sendPacket(
            .text(text), TopicID(channel: try Name("lesson"), topic: try Name(topic)), slot: nil, senderTime: nil, echo: false, at: now)
    }

    /// Asks, and answers as the relay would.
    @discardableResult
    func ask(_ request: ClientRequest, answer: (UInt32) -> any JSONObject) throws -> ClientToken {
        let token = try ask(request)
        for frame in sent() where (0x20...0x2D).contains(frame.type) {
            feed(.json(.answer, answer(Self.decode(RequestID.self, frame).id)))
        }
        return token
    }

    /// In message channel `lesson`, at the head given.
    func subscribe(handle: UInt32 = 10, head: UInt64 = 0, start: UInt32 = 1000) throws {
        try ask(.subscribe(try Name("lesson"), features: [.messages, .presence], quiet: false)) {
            Self.subscribed(id: $0, handle: handle, head: head, start: start)
        }
    }

    /// In stream channel `lesson`, publishing in topic `points` on the flow given.
    func joinTopic(flow: UInt32 = 50, handle: UInt32 = 11) throws {
        try ask(.join(try Name("lesson"), features: [.presence], quiet: false, token: nil)) { Self.joined(id: $0, handle: handle) }
        let topic = TopicID(channel: try Name("lesson"), topic: try Name("points"))
        try ask(.joinTopic(topic, TopicOptions(qos: .ordered, priority: .normal, meta: "", lifetimeMilliseconds: nil))) {
            JoinTopicAnswer(id: $0, flow: flow, next: 1)
        }
    }

    static func subscribed(
        id: UInt32?, handle: UInt32, head: UInt64, start: UInt32 = 1000, missed: OffsetRange? = nil, reset: Bool? = nil,
        after: UInt64? = nil
    ) -> SubscribeAnswer {
        var answer = SubscribeAnswer(
            id: id, kind: .message, channel: try! Name("lesson"), handle: handle, features: [.messages, .presence], quiet: false,
            epoch: Epoch(start: start, incarnation: 1), head: head)
        answer.missed = missed
        answer.reset = reset
        answer.after = after
        return answer
    }

    static func joined(id: UInt32?, handle: UInt32) -> SubscribeAnswer {
        SubscribeAnswer(
            id: id, kind: .stream, channel: try! Name("lesson"), handle: handle, features: [.presence], quiet: false, epoch: nil, head: nil)
    }

    static func decode<T: JSONObject>(_ type: T.Type, _ frame: Frame) -> T {
        frame.body.withUnsafeBytes { try! JSONBody.decode(type, from: $0, bytesMax: Limits.frameBodyBytesMax) }
    }

    // MARK: - Frames of the relay

    static func deliver(channel: UInt32 = 10, publisher: UInt32 = 2, offset: UInt64, _ text: String) -> Frame {
        var body: [UInt8] = []
        body.append(bigEndian: channel)
        body.append(bigEndian: publisher)
        body.append(bigEndian: offset)
        body.append(bigEndian: UInt64(1_700_000_000_000))
        body.append(contentsOf: text.utf8)
        return Frame(.deliver, flags: .text, body: body)
    }

    static func userNamed(_ handle: UInt32, _ user: String) -> Frame {
        var body: [UInt8] = []
        body.append(bigEndian: handle)
        body.append(contentsOf: user.utf8)
        return Frame(.userNamed, body: body)
    }

    static func packet(flow: UInt32, _ sequence: UInt32, _ text: String = "p") -> Frame {
        var body: [UInt8] = []
        body.append(bigEndian: flow)
        body.append(bigEndian: sequence)
        body.append(contentsOf: text.utf8)
        return Frame(.packet, flags: .text, body: body)
    }

    static func lost(_ ranges: [(UInt32, UInt32, UInt32)], reason: UInt8 = 1) -> Frame {
        var body: [UInt8] = [reason]
        body.append(bigEndian: UInt16(ranges.count))
        for (flow, first, last) in ranges {
            body.append(bigEndian: flow)
            body.append(bigEndian: first)
            body.append(bigEndian: last)
        }
        return Frame(.lost, body: body)
    }

    static func accepted(_ number: UInt64, offset: UInt64, credit: UInt32 = 60) -> Frame {
        var body: [UInt8] = []
        body.append(bigEndian: number)
        body.append(bigEndian: offset)
        body.append(bigEndian: credit)
        return Frame(.accepted, body: body)
    }

    static func credit(_ credit: UInt32, _ channel: String = "lesson") -> Frame {
        .json(.credit, CreditNotice(channel: try! Name(channel), credit: credit))
    }

    static func flowOpened(
        _ flow: UInt32, next: UInt32 = 1, from: UInt32? = nil, user: String = "bob", device: String = "00000000000000bb",
        topic: String = "points"
    ) -> Frame {
        .json(
            .flowOpened,
            FlowOpened(
                flow: flow, channel: 11, topic: try! Name(topic), user: try! Name(user), device: device, meta: "", next: next, from: from))
    }
}

extension [ClientEvent] {
    /// Those about the link left out.
    var withoutLink: [ClientEvent] {
        filter { if case .link = $0 { false } else { true } }
    }

    var links: [LinkState] { compactMap { if case .link(let state) = $0 { state } else { nil } } }
}
