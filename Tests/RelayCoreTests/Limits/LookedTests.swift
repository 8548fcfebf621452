import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What a request makes the relay look at is charged to it, and to nobody else. [DL12]
@Suite struct LookedTests {
    private let driver: HubDriver
    private let host: TestClient

    init() {
        var configuration = Configuration()
        configuration.limits.messagesPerSecond = 1_000
        configuration.newBoardsPerHour = 1_000
        driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        host = TestClient(driver, "host", by: TestAccess.hostKey)
    }

    /// What requests cost that are made meanwhile.
    private func cost(_ body: () -> Void) -> Int {
        let before = driver.hub.workCharged
        body()
        return driver.hub.workCharged - before
    }

    private func pupils(_ count: Int) -> [TestClient] {
        (0..<count).map { index in
            let pupil = TestClient(driver, "pupil-\(index)", by: TestAccess.editorKey)
            pupil.subscribe("lesson")
            return pupil
        }
    }

    @Test("[DL12] boards that a user may not see are looked at for the list of those that it may")
    func boards() {
        for index in 0..<100 { host.retain("board-\(index)", "k", [1]) }
        let token = driver.token("stranger", grants: ["other": ["subscribe"]])
        let stranger = TestClient(driver, "stranger", token: token)
        #expect(cost { stranger.request(.boards) { PageRequest(id: $0) } } > 100 * 64)
    }

    @Test("[DL12] all of whom is asked where it is, all who are told of an undone clear, and all who are put out of a channel count")
    func others() {
        let readers = pupils(50)
        for index in 0..<40 { host.subscribe("channel-\(index)") }
        #expect(cost { readers[0].request(.whereIs) { WhereRequest(id: $0, user: name("host")) } } > 40 * 64)
        host.retain("lesson", "k", [1])
        host.request(.clear) { ChannelRequest(id: $0, channel: name("lesson")) }
        #expect(cost { host.request(.undoClear) { ChannelRequest(id: $0, channel: name("lesson")) } } > 50 * 64)
        for reader in readers { reader.subscribe("other") }
        #expect(cost { host.request(.endChannel) { EndChannelRequest(id: $0, channel: name("other")) } } > 50 * 64)
    }

    @Test("[DL12] what ends by itself is charged to nobody's next request")
    func deadlines() {
        let readers = pupils(50)
        for reader in readers {
            reader.join("lesson")
            _ = reader.joinTopic("lesson", "points")
            reader.subscribeTopic("lesson", "points")
        }
        let usual = cost { host.request(.boards) { PageRequest(id: $0) } }
        for reader in readers { driver.cut(reader.id) }
        // Their sessions end, and with them what they have selected.
        for _ in 0..<100 {
            driver.send(Frame(.ping), from: host.id)
            driver.advance(.seconds(4))
        }
        #expect(driver.hub.census().users == 1)
        #expect(cost { host.request(.boards) { PageRequest(id: $0) } } == usual)
    }
}
