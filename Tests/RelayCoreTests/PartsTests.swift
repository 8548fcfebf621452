import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Drawings in parts that are messages, and what becomes of those that are not completed. [BL8]
@Suite struct PartsTests {
    private let driver: HubDriver
    private let alice: TestClient
    private let bob: TestClient

    init() {
        var configuration = Configuration()
        configuration.limits.messagesPerSecond = 1_000_000
        configuration.limits.largeMessageBytesMax = 5
        driver = HubDriver(configuration: configuration)
        alice = TestClient(driver, "alice", instance: "00000000000000aa", presenceTimeoutMs: 300_000)
        bob = TestClient(driver, "bob", instance: "00000000000000bb", presenceTimeoutMs: 300_000)
        bob.subscribe("lesson", features: ["messages"])
    }

    private func part(_ number: UInt16, of parts: UInt16, key: String = "k", _ payload: [UInt8] = [1], flags: FrameFlags = []) {
        alice.part("lesson", key, number, of: parts, payload, flags: flags)
    }

    /// `5 k 1/3`, of each part that came.
    private func parts(_ client: TestClient) -> [String] {
        client.takeOthers(.deliver).map { frame in
            frame.body.withUnsafeBytes { body in
                let deliver = try! DeliverFrame(flags: frame.flags, body: body)
                #expect(deliver.payload.isEmpty == (deliver.part == 0) && !deliver.flags.contains(.retain))
                return "\(deliver.offset) \(String(decoding: deliver.key, as: UTF8.self)) \(deliver.part)/\(deliver.parts)"
            }
        }
    }

    /// Time passes, and both are heard from.
    private func pass(_ milliseconds: Int) {
        var rest = milliseconds
        while rest > 0 {
            for client in [alice, bob] { driver.send(Frame(.ping), from: client.id) }
            driver.advance(.milliseconds(min(rest, 2_000)))
            rest -= 2_000
        }
    }

    @Test("[BL8] each part is a message with its key and number; the next one that is accepted is the one that follows")
    func order() {
        part(1, of: 2, [0xC3], flags: .text)
        part(2, of: 2, [0xA9], flags: .text)
        let frames = bob.takeOthers(.deliver)
        #expect(frames.map { FrameFlags(rawValue: $0.flags) } == [[.text, .key, .part], [.text, .key, .part]])
        #expect(driver.hub.census().boards == 0)
        _ = alice.board()
        part(2, of: 2)
        part(1, of: 3)
        part(3, of: 3)
        part(2, of: 4)
        part(2, of: 3, flags: .text)
        part(2, of: 3, flags: .echo)
        part(2, of: 3, flags: .retain)
        part(2, of: 3, [1, 2, 3, 4, 5])
        part(2, of: 3, [1, 2, 3])
        part(3, of: 3)
        let told = alice.board()
        #expect(
            told == [3, 5, 6, 7, 8, 9].map { "error \($0) partMissing" }.inserting("accepted 4 at 3", at: 1)
                + ["error 10 tooLarge", "accepted 11 at 4", "accepted 12 at 5"])
        #expect(parts(bob) == ["3 k 1/3", "4 k 2/3", "5 k 3/3"])
    }

    @Test("[BL8] at most 4 drawings are under way, records among them; one that is whole makes room, and so does one that begins anew")
    func bound() {
        for key in ["a", "b", "c"] { part(1, of: 2, key: key) }
        part(1, of: 2, key: "d", flags: .retain)
        part(1, of: 2, key: "e")
        part(1, of: 2, key: "a")
        part(2, of: 2, key: "a")
        part(1, of: 2, key: "e")
        let told = alice.board()
        #expect(told.count == 8 && told[4] == "error 5 limitReached" && told.count { $0.hasPrefix("accepted") } == 7)
    }

    @Test("[BL8] a drawing whose next part does not come for 30 s is told to be over, once, and a late part has nothing before it")
    func late() {
        part(1, of: 3)
        pass(20_000)
        part(2, of: 3)
        part(1, of: 2, key: "other")
        pass(30_000)
        #expect(parts(bob) == ["1 k 1/3", "2 k 2/3", "3 other 1/2"])
        part(2, of: 2, key: "other")
        pass(1)
        #expect(parts(bob) == ["4 other 2/2", "5 k 0/3"])
        part(3, of: 3)
        #expect(alice.board().last == "error 5 partMissing")
        pass(120_000)
        #expect(parts(bob).isEmpty && driver.hub.census().counters.drawingsEnded == 1)
    }

    @Test("[BL8] it is over with its publisher's session, and when its client object gives way to another; a break alone is no end")
    func sessionEnds() {
        part(1, of: 2)
        driver.cut(alice.id)
        let back = TestClient(driver, "alice", instance: "00000000000000aa", resume: alice.welcome?.resumeToken)
        back.number = alice.number
        back.part("lesson", "k", 2, of: 2, [2], flags: [])
        back.part("lesson", "l", 1, of: 2, [1], flags: [])
        #expect(parts(bob) == ["1 k 1/2", "2 k 2/2", "3 l 1/2"])
        back.request(.logout) { EmptyRequest(id: $0) }
        #expect(parts(bob) == ["4 l 0/2"])
        let first = TestClient(driver, "alice", instance: "00000000000000cc")
        first.part("lesson", "m", 1, of: 2, [1], flags: [])
        let second = TestClient(driver, "alice", instance: "00000000000000dd")
        #expect(parts(bob) == ["5 m 1/2", "6 m 0/2"])
        second.part("lesson", "m", 2, of: 2, [1], flags: [])
        #expect(second.board().last == "error 1 partMissing")
    }

    @Test("[BL8, MS6] the end is kept as the parts are, and not told to their publisher; a record that is not completed has none")
    func kept() {
        alice.subscribe("lesson", features: ["messages"])
        part(1, of: 2, flags: .echo)
        part(1, of: 2, key: "passing", flags: .noHistory)
        part(1, of: 2, key: "record", flags: .retain)
        _ = alice.takeOthers(.deliver)
        pass(30_001)
        #expect(parts(bob) == ["1 k 1/2", "2 passing 1/2", "3 k 0/2", "4 passing 0/2"] && parts(alice).isEmpty)
        let cleo = TestClient(driver, "cleo", instance: "00000000000000cc")
        cleo.subscribe("lesson", features: ["messages"], since: .beginning)
        #expect(parts(cleo) == ["1 k 1/2", "3 k 0/2"])
    }

    @Test("[BL8] records that were begun and forgotten by the thousand leave nothing")
    func forgotten() {
        for round in 0..<50 {
            for key in 0..<4 { part(1, of: 2, key: "r\(round)-\(key)", flags: .retain) }
            pass(30_001)
        }
        #expect(alice.board().allSatisfy { !$0.hasPrefix("error") } && driver.hub.draftsKnown(of: try! Name("alice")) == 4)
    }
}

extension [String] {
    fileprivate func inserting(_ element: String, at index: Int) -> Self {
        var copy = self
        copy.insert(element, at: index)
        return copy
    }
}
