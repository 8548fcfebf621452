@testable import RelayClientCore
import RelayPrimitives
import RelayWire
import Testing

/// What is sent, when, and what is refused at once.
@Suite struct SendTests {
    private func error(_ body: () throws -> Void) -> RelayError? {
        do {
            try body()
            return nil
        } catch {
            return error as? RelayError
        }
    }

    @Test(
        "[MS2, ST5, NM1] sizes, names and types at their limits pass; one over is refused at once with limit and value, and nothing is queued"
    )
    func limits() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.joinTopic()
        func send(_ bytes: Int, _ type: String?, to channel: String = "lesson") -> RelayError? {
            error {
                try driver.machine.send(
                    .bytes([UInt8](repeating: 1, count: bytes)), to: channel, customType: type, echo: false, token: driver.token(),
                    at: driver.now)
            }
        }
        #expect(send(32_768, nil) == nil && send(32_766, "ab") == nil)
        for (bytes, type) in [(32_769, nil), (32_767, "ab")] as [(Int, String?)] {
            let refused = send(bytes, type)
            #expect(refused?.code == .tooLarge && refused?.limit == 32_768 && refused?.actual == 32_769)
        }
        #expect(send(1, String(repeating: "t", count: 32)) == nil)
        #expect(send(1, String(repeating: "t", count: 33))?.actual == 33 && send(1, "")?.actual == 0)
        #expect(send(1, nil, to: "_x")?.code == .badName)
        #expect(error { try driver.packet(String(repeating: "x", count: 1_024)) } == nil)
        let packet = error { try driver.packet(String(repeating: "x", count: 1_025)) }
        #expect(packet?.code == .tooLarge && packet?.limit == 1_024 && packet?.actual == 1_025)
        #expect(error { try driver.packet("x", "other") }?.code == .topicNotJoined)
        #expect(driver.sentNames().filter { $0 == "publish" }.count == 3)
    }

    @Test("what waits is bounded by count and by bytes: at the bound it passes, one over is unsentFull with bound and value")
    func unsentFull() throws {
        let counted = MachineDriver { $0.unsentCountMax = 3 }
        counted.connect()
        for _ in 0..<3 { try counted.send("x") }
        let refused = error { try counted.send("x") }
        #expect(refused?.code == .unsentFull && refused?.limit == 3 && refused?.actual == 4)
        #expect(counted.machine.unsent == (3, 0, 3))

        let weighed = MachineDriver { $0.unsentBytesMax = 10 }
        weighed.connect()
        try weighed.send("12345")
        try weighed.send("12345")
        let heavy = error { try weighed.send("1") }
        #expect(heavy?.code == .unsentFull && heavy?.limit == 10 && heavy?.actual == 11)
        weighed.machine.finish()
        #expect(error { try weighed.send("1") }?.code == .clientClosed)
    }

    @Test("[RT8] a message that waits for credit holds back the packets and requests after it; they leave in the order of the calls")
    func holdsBack() throws {
        let driver = MachineDriver()
        driver.logIn { $0.messagesPerSecond = 1 }
        try driver.joinTopic()
        _ = driver.sent()
        try driver.send("one")
        try driver.send("two")
        try driver.packet("p")
        try driver.ask(.whereIs(try Name("bob")))
        #expect(driver.sentNames() == ["publish"])
        driver.feed(MachineDriver.accepted(1, offset: 1, credit: 0))
        driver.pass(.seconds(2))
        driver.feed(MachineDriver.credit(1, "other"))
        #expect(driver.sentNames() == [])
        driver.feed(MachineDriver.credit(1))
        #expect(driver.sentNames() == ["publish", "publishPacket", "where"])
        #expect(driver.machine.unsent == (0, 0, 0))
    }

    @Test("[MS3] at most as many messages are unanswered as the relay allows; with each answer one more leaves")
    func unanswered() throws {
        let driver = MachineDriver()
        driver.logIn {
            $0.unansweredMax = 2
            $0.messagesPerSecond = 1_000
        }
        _ = driver.sent()
        for _ in 0..<5 { try driver.send("x") }
        #expect(driver.sent(.publish).count == 2)
        driver.feed(MachineDriver.accepted(1, offset: 1))
        #expect(driver.sent(.publish).count == 1)
        driver.feed(.json(.error, ErrorBody(WireError(.rateLimited, "no"), number: 2)))
        #expect(driver.sent(.publish).count == 1)
        #expect(throws: RelayError.self) { try driver.completed[102]?.get() }
    }

    @Test("packets that waited for a link longer than a second are dropped when it is back, counted by topic; younger ones are sent")
    func stalePackets() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.joinTopic()
        driver.cut()
        _ = driver.events()
        try driver.packet("old")
        try driver.packet("old")
        driver.pass(.milliseconds(1))
        try driver.packet("young")
        driver.pass(.milliseconds(1_000))
        driver.open()
        driver.logIn(resumed: true)
        let dropped = driver.events().compactMap { if case .packetsDropped(let dropped) = $0 { dropped } else { nil } }
        #expect(dropped == [PacketsDropped(channel: "lesson", topic: "points", reason: .linkDown, dropped: 2)])
        #expect(driver.sent(.publishPacket).count == 1 && driver.machine.unsent == (0, 0, 0))
    }

    @Test("[ST5] a flow that the relay does not know any more is given up: the packet is told refused, later ones are refused at once")
    func unknownFlow() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.joinTopic(flow: 50)
        try driver.packet("x")
        _ = driver.events()
        driver.feed(.json(.error, ErrorBody(WireError(.unknownFlow, "gone"), flow: 50)))
        guard case .refused(let refusal)? = driver.events().first else {
            Issue.record("not told")
            return
        }
        #expect(refusal.subject == .packet && refusal.topic == "points" && refusal.error.code == .unknownFlow)
        #expect(error { try driver.packet("y") }?.code == .topicNotJoined)
    }
}

/// What paces the client, against the relay's own bucket.
@Suite struct PacingTests {
    /// The relay's rule: so many at one instant, refilled at the same number per second. [RT1]
    private struct RelayBucket {
        let limit: Int
        var tokens: Double
        var at: UInt64 = 0

        init(limit: Int) { (self.limit, tokens) = (limit, Double(limit)) }

        mutating func accept(at now: UInt64) -> Bool {
            tokens = min(Double(limit), tokens + Double(now - at) / 1e9 * Double(limit))
            at = now
            guard tokens >= 1 - 1e-9 else { return false }
            tokens -= 1
            return true
        }
    }

    @Test(
        "[RT1, RT2] however a network delays messages and answers, and however often links break, not one message is over the relay's rate",
        arguments: 0..<300)
    func answerWindow(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        let limit = Int(dice.below(60)) + 1
        var relay = RelayBucket(limit: limit)
        var window = AnswerWindow()
        var now: UInt64 = 1_000_000_000
        // Both directions keep their order; each has its own idea of how long it takes.
        var arrivals: [UInt64] = []
        var answers: [UInt64] = []
        var accepted = 0
        for _ in 0..<2_000 {
            switch dice.below(40) {
            case 0:
                // The link breaks: what is under way arrives at the relay before the next login, or never.
                for _ in arrivals where dice.below(2) == 0 {
                    let isAccepted = relay.accept(at: now)
                    #expect(isAccepted, "seed \(seed)")
                    accepted += 1
                }
                arrivals = []
                answers = []
                now += dice.below(2_000_000_000)
                window.linkRenewed(at: Instant(nanoseconds: now))
            case 1...20:
                if window.permission(limit: limit, at: Instant(nanoseconds: now)) == .granted {
                    window.sent()
                    arrivals.append(max(arrivals.last ?? 0, now + dice.below(dice.below(4) == 0 ? 3_000_000_000 : 5_000_000)))
                }
            default: now += dice.below(dice.below(3) == 0 ? 400_000_000 : 8_000_000)
            }
            while let at = arrivals.first, at <= now {
                arrivals.removeFirst()
                let isAccepted = relay.accept(at: at)
                #expect(isAccepted, "seed \(seed)")
                accepted += 1
                answers.append(max(answers.last ?? 0, at + dice.below(dice.below(4) == 0 ? 2_000_000_000 : 5_000_000)))
            }
            while let at = answers.first, at <= now {
                answers.removeFirst()
                window.answered(at: Instant(nanoseconds: at))
            }
        }
        #expect(accepted > limit, "seed \(seed): nothing was put to the test")
    }

    @Test(
        "[RT1] packets: half a second's worth at one instant, the rate for ever, and no more; held back for half a second none is over the relay's rate"
    )
    func packets() {
        for rate in [1, 7, 200, 1_000] {
            var bucket = PacketPacer(rate: rate, at: Instant(nanoseconds: 0))
            var sent: [UInt64] = []
            var now: UInt64 = 0
            while now < 10_000_000_000 {
                if let until = bucket.take(at: Instant(nanoseconds: now)) { now = until.nanoseconds } else { sent.append(now) }
            }
            #expect(sent.count { $0 == 0 } == max(1, rate / 2))
            #expect(abs(sent.count - (10 * rate + rate / 2)) <= 1, "rate \(rate): \(sent.count)")
            guard rate > 1 else { continue }
            // The network keeps all of half a second and lets it go at once.
            var relay = RelayBucket(limit: rate)
            for at in sent.map({ ($0 / 500_000_000 + 1) * 500_000_000 }) {
                let isAccepted = relay.accept(at: at)
                #expect(isAccepted, "rate \(rate) at \(at)")
            }
        }
    }

    @Test("what paces channels no longer used is forgotten above 256 of them, and never before it is as good as new")
    func forgotten() throws {
        let driver = MachineDriver()
        driver.logIn {
            $0.unansweredMax = 1_000
            $0.messagesPerSecond = 1
        }
        for index in 0..<300 {
            try driver.send("x", to: "channel-\(index)")
            _ = driver.sent()
            if let last = driver.machine.publishes.keys.max() { driver.feed(MachineDriver.accepted(last, offset: 1, credit: 0)) }
        }
        #expect(driver.machine.windows.isEmpty == false)
        try driver.send("again", to: "channel-299")
        #expect(driver.sent(.publish).isEmpty, "its second is not over")
        driver.pass(.seconds(2))
        try driver.send("x", to: "one more")
        #expect(driver.machine.windows.count <= 3)
    }
}
