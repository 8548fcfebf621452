import Foundation
@testable import RelayClientCore
import RelayPrimitives
import RelayTestKit
import RelayWire
import Testing

/// A relay that is newer, broken or malicious.
@Suite struct HostileRelayTests {
    /// What alice is sent in the session of `docs/vectors/session.txt`.
    private static func session() throws -> [Frame] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/vectors/session.txt"), encoding: .utf8)
        return try text.split(separator: "\n").filter { $0.hasPrefix("A< ") }.map { line in
            let digits = Array(line.split(separator: " ")[1].utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)!
            }
            var reader = FrameReader()
            bytes.withUnsafeBytes { reader.append($0) }
            return try #require(try reader.next())
        }
    }

    /// A machine that has asked what alice asks in that session, so that every answer finds its request.
    private static func alice() throws -> MachineDriver {
        let driver = MachineDriver()
        driver.connect()
        return driver
    }

    /// The welcome first: what is asked goes out behind it, and only then is it answered.
    private static func play(_ driver: MachineDriver, welcome: [UInt8], _ bytes: [[UInt8]]) throws {
        let lesson = try Name("lesson"), topic = TopicID(channel: lesson, topic: try Name("points"))
        try driver.ask(.subscribe(lesson, features: [.messages, .presence], quiet: false))
        try driver.machine.send(.text("hi"), to: "lesson", customType: "greeting", echo: false, token: 900, at: driver.now)
        try driver.ask(.join(lesson, features: [.presence], quiet: false, token: nil))
        try driver.ask(.joinTopic(topic, TopicOptions(qos: .ordered, priority: .normal, meta: "", lifetimeMilliseconds: nil)))
        try driver.ask(.setStates(ChannelID(kind: .message, channel: lesson), ["name": "Alice"]))
        try driver.machine.send(.bytes([9]), toUser: "bob", customType: nil, token: 901, at: driver.now)
        try driver.ask(.leaveTopic(topic))
        for piece in [welcome] + bytes {
            driver.feed(piece)
            _ = driver.sent()
        }
    }

    @Test("[FR2] the bytes of a whole session give the same events and answers however they are cut")
    func cuts() throws {
        let frames = try Self.session()
        let welcome = frames[0].bytes, whole = frames.dropFirst().flatMap(\.bytes)
        let reference = try Self.alice()
        try Self.play(reference, welcome: welcome, [whole])
        let events = reference.events()
        #expect(events.withoutLink.count >= 8 && reference.completed.count >= 8, "\(events)")
        for cut in stride(from: 1, to: whole.count, by: 7) {
            let driver = try Self.alice()
            try Self.play(driver, welcome: welcome, [Array(whole[..<cut]), Array(whole[cut...])])
            #expect(driver.events() == events, "cut at \(cut)")
            #expect(driver.completed.keys.sorted() == reference.completed.keys.sorted(), "cut at \(cut)")
        }
        let crumbs = try Self.alice()
        try Self.play(crumbs, welcome: welcome, whole.map { [$0] })
        #expect(crumbs.events() == events)
    }

    @Test("[FR6] frame types, fields, event names and codes of a newer relay are passed over; the link lives")
    func newer() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        _ = driver.events()
        driver.feed(Frame(type: 0xEE, flags: 0, body: [1, 2, 3]))
        driver.feed(Frame(.presence, body: Array(#"{"channel":10,"event":"waved","user":"bob","hand":"left"}"#.utf8)))
        driver.feed(Frame(.topics, body: Array(#"{"channel":10,"event":"publisherPaused","publishers":[]}"#.utf8)))
        #expect(driver.events().isEmpty && driver.machine.linkState.isConnected)
        driver.feed(Frame(.presence, body: Array(#"{"channel":10,"event":"join","user":"bob","states":{},"mood":"good"}"#.utf8)))
        #expect(driver.events().count == 1)
        let token = try driver.ask(.whereIs(try Name("bob")))
        let id = try #require(driver.sent(.whereIs).first.map { MachineDriver.decode(RequestID.self, $0).id })
        driver.feed(Frame(.error, body: Array(#"{"code":177,"id":\#(id),"name":"tooSunny","text":"come at night"}"#.utf8)))
        let error = #expect(throws: RelayError.self) { try driver.completed[token]?.get() }
        #expect(error?.code.rawValue == 177 && error?.text == "come at night")
        // A wrong body of a known event is no news.
        driver.feed(Frame(.presence, body: Array(#"{"channel":10,"event":"join","user":7}"#.utf8)))
        #expect(!driver.machine.linkState.isConnected)
    }

    @Test(
        "what breaks the protocol ends the link with relayFault, and the client comes back",
        arguments: [
            Frame(.login), Frame(.publish), MachineDriver.deliver(publisher: 77, offset: 1, "of nobody"), Frame(.deliver, body: [0, 0]),
            Frame(.accepted, body: [1]), Frame(.answer, body: Array("{}".utf8)), Frame(.userNamed, body: [0, 0, 0, 9, 0x2A]),
            MachineDriver.lost([(20, 5, 4)]),
            Frame(.restored, body: Array(#"{"kind":"message","channel":"x","handle":3,"features":[],"quiet":false}"#.utf8)),
        ])
    func faults(frame: Frame) throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        _ = driver.events()
        driver.feed(frame)
        guard case .waiting(_, let reason)? = driver.events().links.last, reason.code == .relayFault else {
            Issue.record("\(frame.type): \(driver.machine.linkState)")
            return
        }
        driver.pass(.zero)
        #expect(driver.machine.linkState == .connecting)
    }

    @Test(
        "[FR4] a flag that this client does not know ends the link, in every frame that it knows; in one that it does not know nothing does"
    )
    func flags() throws {
        for frame in [
            Frame(type: FrameType.deliver.rawValue, flags: 0x10, body: MachineDriver.deliver(publisher: 77, offset: 1, "x").body),
            Frame(type: FrameType.packet.rawValue, flags: 0x10, body: [UInt8](repeating: 0, count: 20)),
            Frame(type: FrameType.accepted.rawValue, flags: 1, body: [UInt8](repeating: 0, count: 16)),
            Frame(type: FrameType.pong.rawValue, flags: 0x80), Frame(type: FrameType.topics.rawValue, flags: 1, body: Array("{}".utf8)),
            Frame(type: 0xEE, flags: 0xFF),
        ] {
            let driver = MachineDriver()
            driver.logIn()
            try driver.subscribe()
            _ = driver.events()
            driver.feed(frame)
            guard frame.type != 0xEE else {
                #expect(driver.machine.linkState.isConnected)
                continue
            }
            guard case .waiting(_, let reason)? = driver.events().links.last, reason.code == .relayFault else {
                Issue.record("\(frame.type): \(driver.machine.linkState)")
                continue
            }
            #expect(reason.text.contains("flags"), "\(frame.type): \(reason)")
        }
    }

    @Test("[FR9] what a later version puts in front of a frame is passed over; what must be known, or is no block, ends the link")
    func extensions() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        _ = try driver.send("own")
        for frame in [MachineDriver.userNamed(2, "bob"), MachineDriver.deliver(offset: 1, "one"), MachineDriver.accepted(1, offset: 2)] {
            driver.feed(frame.extended(by: [0, 7, 0, 1, 255]))
        }
        #expect(driver.events().contains { if case .message(let message) = $0 { message.payload == .text("one") } else { false } })
        #expect(driver.machine.linkState.isConnected && driver.machine.unsent == (0, 0, 0))
        for entries: [UInt8] in [[0x80, 7, 0, 0], [0, 7, 0, 1]] {
            let driver = MachineDriver()
            driver.logIn()
            driver.feed(MachineDriver.userNamed(2, "bob").extended(by: entries))
            #expect(!driver.machine.linkState.isConnected)
        }
    }

    @Test("a packet that comes twice or late in its flow is a fault")
    func packetTwice() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.ask(.join(try Name("lesson"), features: [.presence], quiet: false, token: nil)) {
            MachineDriver.joined(id: $0, handle: 11)
        }
        driver.feed(MachineDriver.flowOpened(20))
        driver.feed(MachineDriver.packet(flow: 20, 5))
        driver.feed(MachineDriver.packet(flow: 20, 5))
        guard case .waiting(_, let reason) = driver.machine.linkState, reason.code == .relayFault else {
            Issue.record("\(driver.machine.linkState)")
            return
        }
    }

    @Test("a relay that pings and does not read, opens flows, names users or tells losses without end is given up, with bounded memory")
    func endless() throws {
        let pinging = MachineDriver()
        pinging.logIn()
        var count = 0
        let pings = [[UInt8]](repeating: Frame(.ping, body: [1, 2, 3, 4, 5, 6, 7, 8]).bytes, count: 1_000).flatMap { $0 }
        while pinging.machine.linkState.isConnected, count < 200 {
            pinging.feed(pings)
            count += 1
        }
        #expect((50..<100).contains(count))

        let naming = MachineDriver()
        naming.logIn()
        var handle: UInt32 = 10
        while naming.machine.linkState.isConnected, handle < 300_000 {
            var bytes: [UInt8] = []
            for _ in 0..<1_000 {
                handle += 1
                bytes += MachineDriver.userNamed(handle, "u").bytes
            }
            naming.feed(bytes)
        }
        #expect((200_000..<202_000).contains(handle))

        let losing = MachineDriver()
        losing.logIn()
        for flow in 1...UInt32(10_000) { losing.feed(MachineDriver.lost([(flow, 1, 1)])) }
        #expect(losing.machine.linkState.isConnected && losing.machine.known.lostEarly.count == ClientLimits.toldRangesMax)
    }

    @Test("bytes that were changed at random never trap the client, and what it keeps stays bounded", arguments: 0..<200)
    func mutants(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var frames = try Self.session()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0..<frames.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: frames.insert(frames[index], at: Int.random(in: 0...frames.count, using: &random))
            case 1: frames.remove(at: index)
            case 2: frames.swapAt(index, Int.random(in: 0..<frames.count, using: &random))
            case 3:
                var body = frames[index].body
                if !body.isEmpty { body[Int.random(in: 0..<body.count, using: &random)] = UInt8.random(in: 0...255, using: &random) }
                frames[index] = Frame(type: frames[index].type, flags: frames[index].flags, body: body)
            case 4:
                let length = Int.random(in: 0...frames[index].body.count, using: &random)
                frames[index] = Frame(type: frames[index].type, flags: frames[index].flags, body: Array(frames[index].body.prefix(length)))
            default:
                let body = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
                let type = FrameType.allCases.randomElement(using: &random)!.rawValue
                frames.insert(Frame(type: type, flags: UInt8.random(in: 0...255, using: &random), body: body), at: index)
            }
        }
        let welcome = try Self.session()[0].bytes
        var bytes = frames.dropFirst().flatMap(\.bytes)
        if random.chance(1, in: 3), !bytes.isEmpty {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
        let driver = try Self.alice()
        try Self.play(driver, welcome: random.chance(1, in: 4) ? [] : welcome, [bytes])
        _ = driver.events()
        driver.pass(.seconds(60))
        driver.machine.finish()
        #expect(driver.machine.isClosed && driver.machine.gather().isEmpty)
    }
}
