import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// When a client knows that it is up to date, and how it stops waiting.
@Suite struct BarrierTests {
    private let driver: HubDriver
    private let alice: TestClient
    private let bob: TestClient

    /// Readers catch up with a message at a time; three are kept in `lesson`, and in `other`.
    init() {
        var configuration = Configuration()
        configuration.catchUpBlockBytes = 1
        configuration.catchUpQueueBytes = 1
        driver = HubDriver(configuration: configuration)
        alice = TestClient(driver, "alice")
        bob = TestClient(driver, "bob", instance: "00000000000000bb")
        for channel in ["lesson", "other"] {
            for number in UInt8(1)...3 { alice.publish(channel, [number]) }
        }
    }

    /// Sent, and nothing is read yet.
    private func send<T: JSONObject>(_ type: FrameType, _ make: (UInt32) -> T) -> UInt32 {
        let id = bob.nextRequest()
        driver.send(.json(type, make(id)), from: bob.id)
        return id
    }

    @discardableResult
    private func barrier(_ channel: String? = nil) -> UInt32 {
        send(.barrier) { BarrierRequest(id: $0, channel: channel.map { try! Name($0) }) }
    }

    private func begin(_ channel: String = "lesson") {
        _ = send(.subscribe) { SubscribeRequest(id: $0, channel: try! Name(channel), features: ["messages"], since: .beginning) }
    }

    /// What comes, in words: an offset, `caughtUp`, `answer 3`, `error 3 limitReached`.
    private func told() -> [String] {
        (bob.others + bob.frames()).compactMap { frame in
            switch FrameType(rawValue: frame.type) {
            case .deliver?: frame.body.withUnsafeBytes { "\(try! DeliverFrame(flags: frame.flags, body: $0).offset)" }
            case .caughtUp?: "caughtUp"
            case .answer?: "answer \(TestClient.decode(RequestID.self, frame.body).id)"
            case .error?:
                {
                    let error = TestClient.decode(ErrorBody.self, frame.body)
                    return "error \(error.id ?? 0) \(error.name)"
                }()
            default: nil
            }
        }
    }

    @Test("[HI8] a barrier is answered at once by one that is live, and otherwise behind caughtUp, of the channel or of all")
    func answered() {
        bob.subscribe("live")
        begin()
        begin("other")
        let (live, lesson, all) = (barrier("live"), barrier("lesson"), barrier())
        let told = told().drop { $0 != "answer \(live)" }
        #expect(told.filter { $0.hasPrefix("answer") } == ["answer \(live)", "answer \(lesson)", "answer \(all)"])
        #expect(told.count { $0 == "caughtUp" } == 2 && told.last == "answer \(all)")
        let first = told.firstIndex(of: "caughtUp")!
        #expect(told[first + 1] == "answer \(lesson)", "the channel that was asked for first is there first: \(told)")
        #expect(told.firstIndex(of: "3")! < first)
        alice.publish("lesson", [4])
        let behind = barrier("lesson")
        #expect(self.told() == ["4", "answer \(behind)"])
    }

    @Test("[HI8] at most 8 wait on one connection; in a channel that is not subscribed none does")
    func bounds() {
        begin()
        let waiting = (1...8).map { _ in barrier() }
        let ninth = barrier("lesson"), elsewhere = barrier("elsewhere")
        let told = told()
        #expect(told.contains("error \(ninth) limitReached") && told.contains("error \(elsewhere) notSubscribed"))
        #expect(told.suffix(9) == ["caughtUp"] + waiting.map { "answer \($0)" }, "\(told)")
        for _ in 1...9 { barrier() }
        #expect(self.told().allSatisfy { $0.hasPrefix("answer") }, "live, none waits")
    }

    @Test("[HI8] what ends catching up ends the wait: leaving the channel, wanting no messages, the end of the link")
    func ended() {
        for end in [FrameType.unsubscribe, .subscribe] {
            begin()
            let waiting = barrier("lesson")
            let id =
                end == .unsubscribe
                ? send(.unsubscribe) { ChannelRequest(id: $0, channel: try! Name("lesson")) }
                : send(.subscribe) { SubscribeRequest(id: $0, channel: try! Name("lesson"), features: []) }
            #expect(told().suffix(2) == ["answer \(waiting)", "answer \(id)"], "\(end)")
        }
        begin()
        barrier()
        driver.cut(bob.id)
        let back = TestClient(driver, "bob", instance: "00000000000000bb", resume: bob.welcome!.resumeToken)
        #expect(back.frames(.answer).isEmpty)
    }

    @Test("[HI8] subscribed again with since, a barrier waits for the new reading")
    func anew() {
        begin()
        let waiting = barrier("lesson")
        begin()
        #expect(told().suffix(2) == ["caughtUp", "answer \(waiting)"])
    }

    // MARK: - Cancelling

    private func cancel(_ request: UInt32) -> UInt32 { send(.cancel) { CancelRequest(id: $0, request: request) } }

    @Test("[SE14] a barrier that waits is cancelled; one that was answered, and what never waited, is not")
    func cancelsBarrier() {
        begin()
        let waiting = barrier("lesson")
        let cancelled = cancel(waiting), again = cancel(waiting), unknown = cancel(99)
        let told = told()
        #expect(told.contains("error \(waiting) cancelled") && !told.contains("answer \(waiting)"))
        #expect(told.firstIndex(of: "error \(waiting) cancelled")! < told.firstIndex(of: "answer \(cancelled)")!)
        #expect(told.contains("answer \(again)") && told.contains("answer \(unknown)") && told.last == "caughtUp")
    }

    @Test("[SE14, LK4] who waits for a lock and cancels leaves the line; a lock acquired before that is owned; others' waits go on")
    func cancelsLock() throws {
        let cleo = TestClient(driver, "cleo")
        alice.setLock("lesson", "pen")
        alice.acquire("lesson", "pen")
        let first = bob.sendAcquire("lesson", "pen", waitMs: 60_000), cleos = cleo.sendAcquire("lesson", "pen", waitMs: 60_000)
        let done = cancel(first)
        #expect(told() == ["error \(first) cancelled", "answer \(done)"])
        #expect(cleo.outcome(cleos) == .nothing)
        alice.lock(.releaseLock, "lesson", "pen")
        #expect(cleo.answer(FencingAnswer.self, cleo.outcome(cleos)) != nil)
        let second = bob.sendAcquire("lesson", "pen", waitMs: 60_000)
        cleo.lock(.releaseLock, "lesson", "pen")
        let late = cancel(second)
        #expect(told() == ["answer \(second)", "answer \(late)"])
        #expect(alice.locks("lesson").first?.owner == "bob")
        #expect(driver.hub.census().deadlines > 0)
    }

    @Test("[SE14] the last one who waits for a lock that is being removed leaves nothing of it")
    func cancelsRemoved() {
        alice.setLock("gone", "pen")
        alice.acquire("gone", "pen")
        let waiting = bob.sendAcquire("gone", "pen", waitMs: 60_000)
        _ = cancel(waiting)
        alice.lock(.removeLock, "gone", "pen")
        #expect(told().contains("error \(waiting) cancelled") && alice.locks("gone").isEmpty)
    }
}
