import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a hostile or broken peer may send. Meanwhile two witnesses talk, and lose nothing.
@Suite struct HostileTests {
    /// Frames of a whole session, as a client sends them.
    private static let session: [Frame] = {
        func name(_ text: String) -> Name { try! Name(text) }
        return [
            .json(.login, LoginRequest(id: 1, user: name("mallory"), instance: "00000000000000cc")),
            .json(.subscribe, SubscribeRequest(id: 2, channel: name("lesson"))), .json(.join, JoinRequest(id: 3, channel: name("lesson"))),
            .json(.joinTopic, JoinTopicRequest(id: 4, channel: name("lesson"), topic: name("t"), meta: "x")),
            .json(.subscribeTopic, TopicUsersRequest(id: 5, channel: name("lesson"), topic: name("t"), users: ["a"])),
            .publish(number: 1, channel: "lesson", customType: "k", flags: [.text, .echo], payload: [65]),
            .publishPacket(flow: 1, slot: 2, senderTime: 3, payload: [1]), .direct(number: 2, user: "witness", payload: [1]),
            .directReceived(delivery: 1),
            .json(.setStates, SetStatesRequest(id: 6, kind: .message, channel: name("lesson"), states: ["a": "b"])),
            .json(.who, WhoRequest(id: 7, kind: .stream, channel: name("lesson"))), Frame(.ping, body: [1]),
            .json(.logout, EmptyRequest(id: 8)),
        ]
    }()

    @Test(
        "[FR2, FR3, FR7, JS5] truncated at every byte, cut off, and mutated: always answered or closed, nothing left, witnesses lose nothing"
    )
    func truncation() throws {
        let witnesses = try Witnesses()
        let bytes = Self.session.flatMap(\.bytes)
        for end in 0..<bytes.count {
            let id = witnesses.driver.open()
            witnesses.driver.send(Array(bytes[..<end]), from: id)
            _ = witnesses.driver.received(id)
            witnesses.driver.cut(id)
            if end % 20 == 0 { try witnesses.talk() }
        }
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            let id = witnesses.driver.open()
            var mutant = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                mutant[Int.random(in: 0..<mutant.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            witnesses.driver.send(mutant, from: id)
            _ = witnesses.driver.received(id)
            witnesses.driver.cut(id)
        }
        try witnesses.finish()
    }

    @Test("[FR6, SE1] each of the 256 frame types with an empty and with random bodies gets an error or its answer, before and after login")
    func types() throws {
        let witnesses = try Witnesses()
        var random = SplitMix64(seed: 8)
        for type in UInt8.min...UInt8.max {
            for length in [0, 1, 9, 300] {
                for isLoggedIn in [false, true] {
                    let id = witnesses.driver.open()
                    if isLoggedIn { witnesses.driver.send(Self.session[0], from: id) }
                    _ = witnesses.driver.received(id)
                    let frame = Frame(
                        type: type, flags: UInt8.random(in: 0...255, using: &random),
                        body: (0..<length).map { _ in .random(in: 0...255, using: &random) })
                    witnesses.driver.send(frame, from: id)
                    let answers = witnesses.driver.received(id)
                    let known = FrameType(rawValue: type)
                    if known == nil || known?.sender == .relay {
                        #expect(answers.count == 1)
                        let code = answers.first.map { TestClient.decode(ErrorBody.self, $0.body).code }
                        #expect(code == (isLoggedIn ? .unknownFrame : .loginRequired), "type \(type)")
                    }
                    witnesses.driver.cut(id)
                }
            }
            if type % 16 == 0 { try witnesses.talk() }
        }
        try witnesses.finish()
    }

    @Test(
        "[FR3, FR5, SE4] length bombs, TLS, HTTP and noise are closed on their head, with nothing kept",
        arguments: [
            ([0xFF, 0xFF, 0xFF, 0xFF], "notRelayProtocol"), ([0x16, 0x03, 0x01, 0x02], "notRelayProtocol"),
            (Array("GET / HTTP/1.1\r\n".utf8), "notRelayProtocol"),
            ([0x00, 0xFF, 0xFF, 0xFF], "frameTooLarge"), ([0x00, 0x01, 0x40, 0x03], "frameTooLarge"), ([0, 0, 0, 1], "protocolError"),
            ([0, 0, 0, 0], "protocolError"),
        ] as [([UInt8], String)])
    func bombs(bytes: [UInt8], code: String) throws {
        let witnesses = try Witnesses()
        // Whole, and byte by byte.
        for pieces in [[bytes], bytes.map { [$0] }] {
            let id = witnesses.driver.open()
            for piece in pieces { witnesses.driver.send(piece, from: id) }
            #expect(witnesses.driver.isClosing(id))
            let notice = try #require(witnesses.driver.received(id).last)
            #expect(TestClient.decode(CloseNotice.self, notice.body).name == code)
            witnesses.driver.cut(id)
        }
        try witnesses.finish()
    }

    @Test("[FR7] the refusal of a packet that ends inside a field says which flow it was for, if that could be read", arguments: 0...7)
    func cutPacket(bytes: Int) throws {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        let body: [UInt8] = [0, 0, 1, 44, 0, 0, 0]
        driver.send(Frame(.publishPacket, flags: .slot, body: Array(body.prefix(bytes))), from: alice.id)
        let error = try #require(alice.errors().first)
        #expect(error.code == .badRequest && error.flow == (bytes >= 4 ? 300 : nil))
    }

    @Test("[ER1] a refusal names the id, number or flow that could be read, before the login and of a frame that is not known, too")
    func named() throws {
        let driver = HubDriver(), request = EmptyRequest(id: 7)
        let frames: [(frame: Frame, name: String)] = [
            (.json(.boards, request), "id 7"), (Frame(type: 0x7F, body: Frame.json(.boards, request).body), "id 7"),
            (Frame(type: 0x7F, body: [1, 2, 3]), "nothing"), (Frame(.setMetadata, body: TextBody.encode(head: request, texts: [])), "id 7"),
            (.publish(number: 9, channel: "lesson", payload: [1]), "number 9"),
            (.direct(number: 9, user: "bob", payload: [1]), "number 9"), (.publishPacket(flow: 3, payload: [1]), "flow 3"),
        ]
        func names(_ error: ErrorBody?) -> String {
            let all = [error?.id.map { "id \($0)" }, error?.number.map { "number \($0)" }, error?.flow.map { "flow \($0)" }]
            return all.compactMap(\.self).first ?? "nothing"
        }
        let stranger = driver.open()
        for (frame, name) in frames {
            driver.send(frame, from: stranger)
            let error = driver.received(stranger).first.map { TestClient.decode(ErrorBody.self, $0.body) }
            #expect(error?.code == .loginRequired && names(error) == name)
        }
        let alice = TestClient(driver, "alice")
        for (frame, name) in frames.prefix(3) + frames.dropFirst(4) {
            // Of a request with flags, and of a message with an extension that must be known, as well.
            let isBinary = FrameType(rawValue: frame.type)?.isBinary == true
            let refused = isBinary ? frame.extended(by: [0x80, 1, 0, 0]) : Frame(type: frame.type, flags: 0x80, body: frame.body)
            driver.send(refused, from: alice.id)
            let error = alice.errors().first
            #expect([.badRequest, .unknownFrame].contains(error?.code) && names(error) == name, "\(frame.type)")
        }
    }

    @Test("[SE4] 16,390 bytes may come before login, one more may not")
    func beforeLogin() {
        for (bytes, closes) in [(16_390, false), (16_391, true)] {
            let driver = HubDriver()
            let id = driver.open()
            driver.send(Frame(type: 0x7F, body: [UInt8](repeating: 0, count: bytes - 6)), from: id)
            #expect(driver.isClosing(id) == closes)
        }
    }
}

/// Two users who exchange messages and packets, and count.
private final class Witnesses {
    let driver = HubDriver()
    private let writer: TestClient, reader: TestClient
    private let flow: UInt32
    private var sentMessages = 0, sentPackets = 0, gotMessages = 0, gotPackets = 0

    init() throws {
        writer = TestClient(driver, "witness-1")
        reader = TestClient(driver, "witness-2")
        for client in [writer, reader] {
            client.subscribe("witnesses")
            client.join("witnesses")
        }
        reader.subscribeTopic("witnesses", "points")
        flow = writer.joinTopic("witnesses", "points")
        _ = reader.frames()
        try talk()
    }

    /// A second's worth: 20 messages and 100 packets.
    func talk() throws {
        for index in 0..<100 {
            if index % 5 == 0 {
                writer.publish("witnesses", [UInt8(index)])
                sentMessages += 1
            }
            writer.packet(flow, [UInt8(index)])
            sentPackets += 1
        }
        let frames = reader.frames()
        gotMessages += frames.count { $0.type == FrameType.deliver.rawValue }
        gotPackets += frames.count { $0.type == FrameType.packet.rawValue }
        #expect(!frames.contains { [FrameType.lost, .error, .closing].map(\.rawValue).contains($0.type) })
        #expect(!writer.frames().contains { [FrameType.packetsDropped, .error, .closing].map(\.rawValue).contains($0.type) })
        for client in [writer, reader] { driver.send(Frame(.pong), from: client.id) }
        driver.advance(.seconds(1))
    }

    /// At least 100 messages and 500 packets, all there, and when all have gone nothing is left.
    func finish() throws {
        while sentMessages < 100 || sentPackets < 500 { try talk() }
        #expect(gotMessages == sentMessages && gotPackets == sentPackets)
        for client in [writer, reader] { driver.cut(client.id) }
        driver.advance(.seconds(1300))
        let census = driver.hub.census()
        #expect(
            census.connections == 0 && census.users == 0 && census.channels.isEmpty && census.queueMemoryBytes == 0 && census.deadlines == 0
        )
    }
}
