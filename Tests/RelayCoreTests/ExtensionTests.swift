import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a later version puts in front of binary frames goes through this relay as it is. [FR9]
@Suite struct ExtensionTests {
    static let entries: [UInt8] = [0, 7, 0, 2, 0, 255, 0, 9, 0, 0]

    private func driver() -> HubDriver {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        return driver
    }

    /// Of each frame of this type: its extensions and its body without them.
    private func extensions(_ frames: [Frame], _ type: FrameType) -> [[UInt8]] {
        frames.filter { $0.type == type.rawValue }.map { frame in
            guard frame.flags & FrameFlags.extensions.rawValue != 0 else { return [] }
            return Array(frame.body[2..<(2 + Int(frame.body[0]) << 8 + Int(frame.body[1]))])
        }
    }

    private func send(_ frame: Frame, _ client: TestClient) { client.driver.send(frame.extended(by: Self.entries), from: client.id) }

    @Test("[FR9] they come with messages, packets and direct messages, whoever reads them when")
    func passedOn() throws {
        let driver = driver(), alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        bob.subscribe("lesson", features: ["messages"])
        for client in [alice, bob] { client.request(.join) { JoinRequest(id: $0, channel: try! Name("lesson"), features: []) } }
        bob.subscribeTopic("lesson", "points")
        let flow = alice.joinTopic("lesson", "points")
        send(.publish(number: 1, channel: "lesson", customType: "t", payload: [1]), alice)
        send(.publishPacket(flow: flow, slot: 3, payload: [2]), alice)
        send(.direct(number: 2, user: "bob", payload: [3]), alice)
        let frames = bob.others + bob.frames()
        for type in [FrameType.deliver, .packet, .directDeliver] { #expect(extensions(frames, type) == [Self.entries], "\(type)") }
        let late = TestClient(driver, "carol", instance: "00000000000000cc")
        late.subscribe("lesson", features: ["messages"], since: .beginning)
        #expect(extensions(late.others + late.frames(), .deliver) == [Self.entries])
        driver.send(.json(.history, HistoryRequest(id: late.nextRequest(), channel: try Name("lesson"))), from: late.id)
        #expect(extensions(late.frames(), .historyItem) == [Self.entries])
    }

    @Test("[FR9, BL3] they are kept with records, of a drawing in parts those of part 1, and count as bytes of the board")
    func kept() throws {
        let driver = driver(), alice = TestClient(driver, "alice")
        send(.publish(number: 1, channel: "lesson", key: "a", flags: .retain, payload: [1]), alice)
        send(.publish(number: 2, channel: "lesson", key: "b", part: (1, 2), flags: .retain, payload: [2]), alice)
        driver.send(.publish(number: 3, channel: "lesson", key: "b", part: (2, 2), flags: .retain, payload: [3]), from: alice.id)
        driver.persist()
        let boards = alice.answer(BoardsAnswer.self, alice.request(.boards) { PageRequest(id: $0) })
        #expect(boards?.boards.map(\.bytes) == [2 * (1 + 64 + 2 + Self.entries.count) + 1 + 2])
        // From the file, not from what is on its way to it.
        driver.advance(.seconds(700))
        let late = TestClient(driver, "carol", instance: "00000000000000cc")
        late.subscribe("lesson", features: ["messages"], since: .beginning)
        let frames = late.others + late.frames()
        #expect(extensions(frames, .deliver) == [Self.entries, Self.entries, []])
        send(.publish(number: 4, channel: "lesson", key: "c", part: (1, 2), flags: .retain, payload: [2]), late)
        send(.publish(number: 5, channel: "lesson", key: "c", part: (2, 2), flags: .retain, payload: [2]), late)
        #expect(late.errors().map(\.number) == [5])
    }

    @Test("[FR9] a shed packet's extensions do not hide its flow and sequence")
    func shed() throws {
        let driver = driver(), alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob")
        for client in [alice, bob] { client.request(.join) { JoinRequest(id: $0, channel: try! Name("lesson"), features: []) } }
        bob.subscribeTopic("lesson", "points")
        let flow = alice.joinTopic("lesson", "points")
        for number in 1...4 { send(.publishPacket(flow: flow, payload: [UInt8(number)]), alice) }
        // They wait for longer than they live.
        driver.advance(.seconds(2))
        let lost = bob.frames(.lost).map { frame in frame.body.withUnsafeBytes { try! LostFrame(body: $0).ranges } }
        #expect(lost == [[LostRange(flow: flow, first: 1, last: 4)]])
    }
}
