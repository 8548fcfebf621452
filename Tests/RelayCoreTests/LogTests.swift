import RelayCore
import RelayRights
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What an operator reads afterwards: who destroyed what, and who tried to come in.
@Suite struct LogTests {
    private let driver: HubDriver
    private let host: TestClient

    init() {
        var configuration = Configuration()
        configuration.isJournaled = true
        driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        host = TestClient(driver, "host", by: TestAccess.hostKey)
    }

    private func ask(_ type: FrameType, _ channel: String = "lesson") {
        host.request(type) { ChannelRequest(id: $0, channel: try! Name(channel)) }
    }

    @Test("[BL6, BL9] a clear, its undoing and a board's removal are a line each once they are durable: who, from where, what, how much")
    func destruction() {
        for key in ["a", "b", "c"] { host.retain("lesson", key, [1]) }
        driver.persist()
        ask(.clear)
        #expect(driver.audit.isEmpty, "not durable")
        driver.persist()
        ask(.undoClear)
        driver.persist()
        ask(.removeBoard)
        driver.persist()
        ask(.removeBoard)
        driver.persist()
        let peer = "test:1"
        #expect(
            driver.audit == [
                "user host, \(peer) cleared the board of channel lesson, 3 records",
                "user host, \(peer) took back the clearing of the board of channel lesson, 3 records",
                "user host, \(peer) removed the board of channel lesson, 3 records",
            ])
        #expect(driver.log.filter { $0.auditedAt != nil }.allSatisfy { $0.auditedAt == driver.now.wallMilliseconds })
        #expect(driver.hub.census().counters.moderations == 0, "they are not a moderator's decisions about others")
    }

    @Test("[BL6] a clear that could not be stored leaves no line")
    func undone() {
        host.retain("lesson", "a", [1])
        driver.persist()
        ask(.clear)
        driver.handle(.storageFailed("the disk is gone"))
        driver.handle(.storageRecovered)
        driver.persist()
        #expect(driver.audit.isEmpty)
    }

    @Test("[AC2] wrong keys and tokens are one line a minute and address; how many were left out comes when the minute is over")
    func wrongKeys() throws {
        for number in 1...5 { _ = TestClient(driver, "thief\(number)", by: "SECRETISH-KEY-\(number)") }
        _ = TestClient(driver, "late", secret: TestAccess.secret(of: "late"))
        #expect(warnings == ["wrong key from test:2, for user thief1 (keyWrong)"], "who brings no key guesses none")
        // Another address has a line of its own.
        let id = driver.open(asWebSocket: false)
        driver.speakHTTP(id)
        driver.handle(.upgraded(id, peer: Peer(text: "[2001:db8::1]:50000", address: .ipv6(0x2001_0db8_0000_0000))))
        driver.send(try login(token: "SECRETISH"), from: id)
        #expect(warnings.last == "wrong token from [2001:db8::1]:50000, for user eve (tokenInvalid)")
        driver.advance(.seconds(59))
        #expect(warnings.count == 2)
        driver.advance(.seconds(1))
        #expect(warnings.count == 3 && warnings.last == "4 more wrong keys, tokens or codes from this machine in the last minute")
        // That line was this minute's.
        _ = TestClient(driver, "thief6", by: "SECRETISH-KEY-6")
        #expect(warnings.count == 3)
        driver.advance(.seconds(60))
        #expect(warnings.count == 4 && warnings.last == "1 more wrong key, token or code from this machine in the last minute")
        driver.advance(.seconds(120))
        _ = TestClient(driver, "thief7", by: "SECRETISH-KEY-7")
        #expect(warnings.count == 5 && warnings.last?.hasPrefix("wrong key from test:") == true)
        #expect(!driver.log.contains { $0.text.contains("SECRETISH") })
    }

    @Test("[AC2] of a renewal the line has the session's user; addresses are remembered up to a bound, and those beyond it share a line")
    func bounds() throws {
        host.request(.renew) { RenewRequest(id: $0, key: "SECRETISH-KEY") }
        #expect(warnings == ["wrong key from test:1, for user host (keyWrong)"])
        for number in 0..<1_200 {
            let id = driver.open(asWebSocket: false)
            driver.speakHTTP(id)
            let address = AddressKey.ipv4(0x0a00_0000 + UInt32(number))
            driver.handle(.upgraded(id, peer: Peer(text: "\(address):1", address: address)))
            driver.send(try login(key: "SECRETISH"), from: id)
            driver.cut(id)
        }
        // 999 beside the first address, then one for all others.
        #expect(warnings.count == 1_001)
        driver.advance(.seconds(60))
        #expect(warnings.count == 1_002 && warnings.last == "200 more wrong keys, tokens or codes from other addresses in the last minute")
    }

    private func login(key: String? = nil, token: String? = nil) throws -> Frame {
        let secret = TestAccess.secret(of: "eve")
        let user = try Name("eve")
        return .json(.login, LoginRequest(id: 1, user: user, secret: secret, key: key, token: token, instance: "00000000000000aa"))
    }

    private var warnings: [String] { driver.log.filter { $0.level == .warning }.map(\.text) }
}
