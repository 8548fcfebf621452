import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct SizeLimitTests {
    @Test(
        "[MS2, DM1] 32,768 bytes of payload and custom type together, types of 1…32 bytes; one over, or an empty type, takes no offset",
        arguments: [FrameType.publish, .direct])
    func messages(type: FrameType) throws {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        bob.subscribe("lesson")
        _ = bob.frames()
        var number: UInt64 = 0
        /// Sends it and gives the refusal, if there is one.
        func send(_ bytes: Int, _ customType: String? = nil) -> ErrorBody? {
            number += 1
            let payload = [UInt8](repeating: 1, count: bytes)
            driver.send(
                type == .publish
                    ? .publish(number: number, channel: "lesson", customType: customType, payload: payload)
                    : .direct(number: number, user: "bob", customType: customType, payload: payload),
                from: alice.id)
            return alice.errors().first
        }
        let longest = String(repeating: "é", count: 16)
        for (bytes, customType) in [(32_768, nil), (32_736, longest), (32_767, "t"), (0, nil), (0, "t")] as [(Int, String?)] {
            #expect(send(bytes, customType) == nil, "\(bytes) bytes, type \(customType ?? "none")")
        }
        for (bytes, customType, limit, actual) in [
            (32_769, nil, 32_768, 32_769), (32_768, "t", 32_768, 32_769), (32_737, longest, 32_768, 32_769),
            (1, longest + "x", 32, 33), (1, "", 32, 0),
        ] as [(Int, String?, Int, Int)] {
            let error = send(bytes, customType)
            refused(error, .tooLarge, limit: limit, actual: actual, "\(bytes) bytes, type \(customType ?? "none")")
            #expect(error?.number == number)
        }
        #expect(bob.frames(type == .publish ? .deliver : .directDeliver).count == 5)
        if type == .publish { #expect(driver.hub.head(of: name("lesson")) == 5) }
    }

    @Test("[ST5, ST6] packets of 1,024 bytes; one over takes no sequence, and its flow is named")
    func packets() {
        let driver = HubDriver.patient()
        let alice = TestClient(driver, "alice")
        alice.join("lesson")
        let flow = alice.joinTopic("lesson", "points")
        for bytes in [1_024, 1_025, 0] { alice.packet(flow, [UInt8](repeating: 1, count: bytes), slot: 7) }
        let errors = alice.errors()
        refused(errors.first, .tooLarge, limit: 1_024, actual: 1_025)
        #expect(errors.map(\.flow) == [flow])
        #expect(driver.hub.sequence(ofFlow: flow) == 2)
    }

    private func login(_ driver: HubDriver, client: String? = nil, presenceTimeoutMs: Int? = nil) -> (Welcome?, ErrorBody?) {
        let id = driver.open()
        defer { driver.cut(id) }
        let request = LoginRequest(
            id: 1, user: name("alice"), instance: "00000000000000aa", presenceTimeoutMs: presenceTimeoutMs, client: client)
        driver.send(.json(.login, request), from: id)
        let frames = driver.received(id)
        func first<T: JSONObject>(_ type: FrameType, _ body: T.Type) -> T? {
            frames.first { $0.type == type.rawValue }.map { TestClient.decode(body, $0.body) }
        }
        return (first(.welcome, Welcome.self), first(.error, ErrorBody.self))
    }

    @Test("[SE2, SE7] client descriptions of 64 bytes, presence timeouts of 5,000…300,000 ms; beyond them nobody is logged in")
    func logins() {
        let driver = HubDriver()
        let longest = String(repeating: "é", count: 32)
        refused(login(driver, client: longest + "x").1, .tooLarge, limit: 64, actual: 65)
        refused(login(driver, presenceTimeoutMs: 4_999).1, .badRequest, limit: 5_000, actual: 4_999)
        refused(login(driver, presenceTimeoutMs: 300_001).1, .badRequest, limit: 300_000, actual: 300_001)
        refused(login(driver, presenceTimeoutMs: -5_000).1, .badRequest, limit: 5_000, actual: 0)
        #expect(driver.hub.census().users == 0)
        #expect(login(driver, client: longest).0 != nil)
        #expect(login(driver, presenceTimeoutMs: 5_000).0?.presenceTimeoutMs == 5_000)
        #expect(login(driver, presenceTimeoutMs: 300_000).0?.presenceTimeoutMs == 300_000)
        #expect(login(driver).0?.presenceTimeoutMs == 10_000)
    }

    @Test("[SE4] 16,390 bytes may come without a login, over any number of frames; an announcement counts as what it announces")
    func beforeLogin() {
        let ping = Frame(.ping, body: [UInt8](repeating: 0, count: 4)).bytes
        #expect(16_390 % ping.count == 0)
        func closes(_ pieces: [[UInt8]]) -> Bool {
            let driver = HubDriver()
            let id = driver.open()
            for piece in pieces { driver.send(piece, from: id) }
            return driver.received(id).contains { frame in
                frame.type == FrameType.closing.rawValue && TestClient.decode(CloseNotice.self, frame.body).code == .frameTooLarge
            }
        }
        let pings = [[UInt8]](repeating: ping, count: 16_390 / ping.count)
        #expect(!closes(pings))
        #expect(closes(pings + [ping]))
        #expect(!closes(pings + [Array(ping.prefix(4))]), "what it will be is not known yet")
        // Heads alone: a body of 16,384 bytes may come, one of 16,385 is not waited for.
        #expect(!closes([Array(Frame(type: 0x7F, body: [UInt8](repeating: 0, count: 16_384)).bytes.prefix(6))]))
        #expect(closes([Array(Frame(type: 0x7F, body: [UInt8](repeating: 0, count: 16_385)).bytes.prefix(6))]))
        #expect(closes(Array(Frame(type: 0x7F, body: [UInt8](repeating: 0, count: 16_385)).bytes.prefix(6)).map { [$0] }))
    }

    @Test("[SE4, JS1] the largest login that is one request passes")
    func largestLogin() {
        let driver = HubDriver()
        let id = driver.open()
        let head = #"{"id":1,"instance":"00000000000000aa","pad":""#, tail = #"","user":"alice","versions":[1]}"#
        let body = Array((head + String(repeating: "x", count: 16_384 - head.utf8.count - tail.utf8.count) + tail).utf8)
        driver.send(Frame(.login, body: body), from: id)
        #expect(driver.received(id).map(\.type) == [FrameType.welcome.rawValue])
    }

    @Test("[SE4] behind its login a client may send as much as it likes in as many bytes as before it")
    func behindLogin() {
        let driver = HubDriver.patient()
        let id = driver.open()
        driver.send(Frame(type: 0x7F, body: [UInt8](repeating: 0, count: 3_000)), from: id)
        driver.send(.json(.login, LoginRequest(id: 1, user: name("alice"), instance: "00000000000000aa")), from: id)
        driver.send(Frame(type: 0x7F, body: [UInt8](repeating: 0, count: 80_000)), from: id)
        #expect(driver.received(id).map(\.type) == [FrameType.error, .welcome, .error].map(\.rawValue))
        #expect(!driver.isClosing(id))
    }

    @Test("[JS1] a JSON body of 16,384 bytes passes, one byte more is refused; both leave the connection alive")
    func jsonBody() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        func ask(_ bytes: Int) -> Frame? {
            let head = #"{"id":5,"user":"bob","pad":""#
            let body = Array((head + String(repeating: "x", count: bytes - head.utf8.count - 2) + "\"}").utf8)
            #expect(body.count == bytes)
            driver.send(Frame(.whereIs, body: body), from: alice.id)
            return alice.frames().first
        }
        #expect(
            ask(16_385).map { $0.type == FrameType.error.rawValue ? TestClient.decode(ErrorBody.self, $0.body).code : nil } == .tooLarge)
        #expect(ask(16_384)?.type == FrameType.answer.rawValue)
    }

    @Test("[HB1] pings and pongs of 8 bytes pass, of 9 are refused; the connection lives", arguments: [FrameType.ping, .pong])
    func pings(type: FrameType) {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        let eight = Array(UInt8(1)...8)
        driver.send(Frame(type, body: eight), from: alice.id)
        #expect(alice.frames().map(\.body) == (type == .ping ? [eight] : []))
        driver.send(Frame(type, body: eight + [9]), from: alice.id)
        let frames = alice.frames()
        #expect(frames.map(\.type) == [FrameType.error.rawValue])
        refused(frames.first.map { TestClient.decode(ErrorBody.self, $0.body) }, .badRequest, limit: 8, actual: 9)
        #expect(!driver.isClosing(alice.id))
    }
}
