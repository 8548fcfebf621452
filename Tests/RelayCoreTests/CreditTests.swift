import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// How many publishes a client may send, told as a count.
@Suite struct CreditTests {
    private static func credit(_ frame: Frame) -> Int? {
        switch FrameType(rawValue: frame.type) {
        case .accepted?: frame.body.withUnsafeBytes { Int(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self))) }
        case .error?: TestClient.decode(ErrorBody.self, frame.body).credit.map { Int($0) }
        case .credit?: Int(TestClient.decode(CreditNotice.self, frame.body).credit)
        default: nil
        }
    }

    @Test("[RT8] each answer tells what is left; what has grown below half is told every 100 ms, and no more above it")
    func told() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        for _ in 0..<61 { alice.publish("lesson", [1]) }
        let answers = alice.frames()
        #expect(answers.compactMap(Self.credit) == (0...59).reversed() + [0])
        driver.advance(.milliseconds(99))
        #expect(alice.frames(.credit).isEmpty)
        var told: [Int] = []
        for _ in 0..<20 {
            driver.advance(.milliseconds(100))
            told += alice.frames(.credit).compactMap(Self.credit)
        }
        #expect(told == [6, 12, 18, 24, 30])
        alice.publish("lesson", [1])
        #expect(alice.frames().compactMap(Self.credit) == [59])
    }

    @Test("[RT8] of two channels each has its own, in order of name")
    func channels() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        for channel in ["b", "a"] { for _ in 0..<60 { alice.publish(channel, [1]) } }
        alice.publish("c", [1])
        _ = alice.frames()
        driver.advance(.milliseconds(100))
        let notices = alice.frames(.credit).map { TestClient.decode(CreditNotice.self, $0.body) }
        #expect(notices.map(\.channel.text) == ["a", "b"] && notices.map(\.credit) == [6, 6])
    }

    @Test("[RT8, RT3] a login waits for the credit that was used before: not one publish at that moment is over the rate")
    func login() {
        let driver = HubDriver()
        let alice = TestClient(driver, "alice")
        for _ in 0..<45 { alice.publish("lesson", [1]) }
        driver.cut(alice.id)
        let early = TestClient(driver, "alice")
        #expect(early.welcome?.publishAfterMs == 750)
        driver.advance(.milliseconds(750))
        for _ in 0..<60 { early.publish("lesson", [1]) }
        #expect(early.frames(.accepted).count == 60 && early.errors().isEmpty)
        driver.advance(.seconds(1))
        driver.cut(early.id)
        #expect(TestClient(driver, "alice").welcome?.publishAfterMs == nil)
    }

    @Test("[RT8] a client with fewer unanswered than its credit is never refused, whatever the network does, and has the whole rate",
        arguments: 0..<5)
    func promise(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var configuration = Configuration()
        configuration.limits.messagesPerSecond = [1, 2, 7, 60, 600][Int(dice.below(5))]
        let rate = configuration.limits.messagesPerSecond
        let driver = HubDriver(configuration: configuration)
        let alice = TestClient(driver, "alice")
        var (credit, unanswered, accepted, refused, steps) = (rate, 0, 0, 0, 0)
        // What is under way, each with the step at which it arrives.
        var up: [Int] = []
        var down: [(at: Int, frame: Frame)] = []
        while steps < 20_000 {
            steps += 1
            driver.advance(.milliseconds(1))
            while unanswered < credit {
                unanswered += 1
                up.append(max(up.last ?? 0, steps + Int(dice.below(dice.below(50) == 0 ? 400 : 3))))
            }
            while let at = up.first, at <= steps {
                up.removeFirst()
                alice.publish("lesson", [])
            }
            for frame in alice.frames() where Self.credit(frame) != nil {
                down.append((max(down.last?.at ?? 0, steps + Int(dice.below(dice.below(50) == 0 ? 400 : 3))), frame))
            }
            while let next = down.first, next.at <= steps {
                down.removeFirst()
                credit = Self.credit(next.frame)!
                if next.frame.type == FrameType.accepted.rawValue { accepted += 1 }
                if next.frame.type == FrameType.error.rawValue { refused += 1 }
                if next.frame.type != FrameType.credit.rawValue { unanswered -= 1 }
            }
        }
        #expect(refused == 0, "seed \(seed), rate \(rate)")
        // One that waits for its answer and a delay of 0.4 s may cost a part of it, but not of a large rate.
        #expect(accepted <= rate * 21 && accepted * 10 >= rate * 20 * (rate < 60 ? 5 : 8), "seed \(seed), rate \(rate): \(accepted)")
    }
}

/// What was sent behind a publish that is refused.
@Suite struct BehindRefusedTests {
    private let driver: HubDriver
    private let alice: TestClient
    private let bob: TestClient

    init() {
        var configuration = Configuration()
        configuration.limits.messageBytesMax = 8
        driver = HubDriver(configuration: configuration)
        alice = TestClient(driver, "alice", goesOn: true)
        bob = TestClient(driver, "bob", instance: "00000000000000bb")
        bob.subscribe("lesson")
        _ = bob.frames()
    }

    private func goOn(_ number: UInt64, _ channel: String = "lesson") {
        guard case .frame = alice.request(.goOn, { GoOnRequest(id: $0, channel: try! Name(channel), number: number) }) else {
            Issue.record("goOn is answered in any case")
            return
        }
    }

    private let tooMuch = [UInt8](repeating: 1, count: 9)

    @Test("[MS10] what comes behind a refusal is refused until goOn, in that channel and of that instance alone")
    func order() {
        alice.publish("lesson", [1])
        alice.publish("lesson", tooMuch)
        alice.publish("lesson", [3])
        alice.publish("other", [4])
        let other = TestClient(driver, "cleo")
        other.publish("lesson", [9])
        #expect(alice.board() == ["accepted 1 at 1", "error 2 tooLarge", "error 3 behindRefused", "accepted 4 at 1"])
        goOn(1)
        alice.publish("lesson", [5])
        #expect(alice.board() == ["error 5 behindRefused"], "the client has not heard of it")
        goOn(2, "other")
        alice.publish("lesson", [6])
        #expect(alice.board() == ["error 6 behindRefused"])
        goOn(2)
        alice.publish("lesson", [7])
        #expect(alice.board() == ["accepted 7 at 3"] && bob.board().map { $0.prefix(1) } == ["1", "2", "3"])
        goOn(2)
    }

    @Test("[MS10, SE3] of a client that cannot say goOn nothing is held up, also when it could over its last link")
    func cannot() {
        #expect(alice.welcome?.capabilities == ["goOn"] && bob.welcome?.capabilities == [])
        bob.publish("lesson", tooMuch)
        bob.publish("lesson", [2])
        #expect(bob.board() == ["error 1 tooLarge", "accepted 2 at 1"])
        alice.publish("lesson", tooMuch)
        driver.cut(alice.id)
        let back = TestClient(driver, "alice", resume: alice.welcome!.resumeToken)
        back.number = 1
        back.publish("lesson", [2])
        #expect(back.board() == ["accepted 2 at 2"])
    }

    @Test("[MS10, RT2, MS9] a refusal for the rate, and of a number of before, holds up nothing")
    func others() {
        for _ in 0..<60 { alice.publish("lesson", []) }
        alice.publish("lesson", [])
        _ = alice.frames()
        driver.advance(.seconds(1))
        alice.publish("lesson", [])
        #expect(alice.board() == ["accepted 62 at 61"])
        alice.number = 60
        alice.publish("lesson", [])
        #expect(alice.board() == ["error 61 notAccepted"])
        alice.number = 62
        alice.publish("lesson", [])
        #expect(alice.board() == ["accepted 63 at 62"])
    }

    @Test("[MS10] the number that was refused may be sent again: once it is accepted the rest is")
    func again() {
        alice.publish("lesson", tooMuch)
        alice.publish("lesson", [2])
        alice.number = 0
        alice.publish("lesson", [1])
        alice.publish("lesson", [2])
        #expect(alice.board() == ["error 1 tooLarge", "error 2 behindRefused", "accepted 1 at 1", "accepted 2 at 2"])
    }

    @Test("[MS10] it holds over links of the instance; another instance has none; a refusal behind a refusal costs nothing of the rate")
    func links() {
        alice.publish("lesson", tooMuch)
        let resume = alice.welcome!.resumeToken
        driver.cut(alice.id)
        let back = TestClient(driver, "alice", resume: resume, goesOn: true)
        back.number = 1
        for _ in 0..<100 { back.publish("lesson", [1]) }
        let errors = back.errors()
        #expect(errors.count == 100 && errors.allSatisfy { $0.code == .behindRefused && $0.retry == "now" && $0.credit == 60 })
        let anew = TestClient(driver, "alice", instance: "00000000000000cc", goesOn: true)
        anew.publish("lesson", [1])
        #expect(anew.frames(.accepted).count == 1)
    }

    @Test("[MS10] 64 channels are remembered; of one more the oldest is forgotten")
    func bound() {
        for index in 0..<64 { alice.publish("c\(index)", tooMuch) }
        _ = alice.frames()
        alice.publish("c0", [1])
        #expect(alice.errors().first?.code == .behindRefused)
        alice.publish("c64", tooMuch)
        _ = alice.frames()
        for channel in ["c0", "c1"] { alice.publish(channel, [1]) }
        #expect(alice.board() == ["accepted 67 at 1", "error 68 behindRefused"])
    }

    @Test("[MS10, BL11] a part of a change set counts as any publish")
    func changes() {
        driver.send(.publishChanges(number: 1, channel: "lesson", part: (2, 2), changes: [UInt8]()), from: alice.id)
        alice.number = 1
        alice.publish("lesson", [2])
        #expect(alice.board() == ["error 1 partMissing", "error 2 behindRefused"])
    }
}
