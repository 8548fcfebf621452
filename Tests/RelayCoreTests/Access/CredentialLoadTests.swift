import RelayCore
import RelayPrimitives
import RelayRights
import RelayTestKit
import RelayTesting
import RelayTokens
import RelayWire
import Testing

@Suite struct CredentialLoadTests {
    @Test("[AC2] among 1,000 wrong logins a minute from this machine each of 30 right ones is answered at once, each wrong one after 1 s")
    func load() {
        let driver = HubDriver(access: TestAccess.rules)
        let foreign = try! TokenSecret(bytes: Array(repeating: 9, count: 32))
        var waiting: [(client: TestClient, sent: Instant)] = []
        var answered = 0
        var right = 0
        for step in 0..<1_000 {
            driver.advance(.milliseconds(60))
            let user = "guesser-\(step % 40)"
            let isKey = step.isMultiple(of: 2)
            waiting.append(
                (
                    TestClient(
                        driver, user, secret: TestAccess.secret(of: user), key: isKey ? "KEYEDITOR-\(step)" : nil,
                        token: isKey ? nil : driver.token(user, role: .editor, secret: foreign)),
                    driver.now.instant
                ))
            if step % 33 == 10 {
                let pupil = TestClient(driver, "pupil-\(step)", secret: TestAccess.secret(of: "pupil-\(step)"), key: TestAccess.editorKey)
                // Nothing was advanced: it was there in the same instant.
                #expect(pupil.welcome?.access.role == "editor")
                right += 1
                driver.cut(pupil.id)
            }
            waiting.removeAll { client, sent in
                let isDue = driver.now.instant - sent >= .seconds(1)
                let errors = client.errors()
                #expect(errors.isEmpty != isDue)
                guard isDue else { return false }
                answered += 1
                driver.cut(client.id)
                return true
            }
        }
        #expect(right == 30 && answered > 980)
        #expect(driver.hub.census().counters.credentialsWrong == 1_000)
    }

    @Test("[AC1, AC2, AC3] no key, token or secret, wrong or right, is in a line of the log or in a frame")
    func silence() throws {
        var configuration = Configuration()
        configuration.isJournaled = true
        let driver = HubDriver(configuration: configuration, access: TestAccess.rules)
        let secret = "5ec4e7" + String(repeating: "ab", count: 13)
        let token = driver.token("anna", role: .editor, grants: ["lesson": ["clear"]], seconds: 40)
        let words = [
            TestAccess.readerKey, TestAccess.editorKey, TestAccess.hostKey, "GUESSED-KEY", "GUESSED-TOKEN", secret, "5ec4e7",
            String(token.suffix(20)), String(token.prefix(60).suffix(20)), "SIGNING-SECRET",
        ]
        var frames: [Frame] = []
        func took(_ client: TestClient) {
            frames += client.others + client.frames()
            client.others = []
        }
        let guesser = TestClient(driver, "anna", secret: secret, key: "GUESSED-KEY")
        guesser.login(secret: secret, token: "GUESSED-TOKEN.b.c")
        guesser.login(secret: secret, token: String(token.dropLast(2)) + "AA")
        driver.advance(.seconds(7))
        took(guesser)
        driver.cut(guesser.id)
        let anna = TestClient(driver, "anna", secret: secret, token: token)
        #expect(anna.welcome != nil)
        let other = TestClient(driver, "anna", secret: TestAccess.secret(of: "x"), key: TestAccess.hostKey)
        took(other)
        anna.join("lesson", token: token)
        anna.renew(key: "GUESSED-KEY")
        anna.renew(key: String(repeating: "GUESSED-KEY", count: 20))
        let host = TestClient(driver, "host", secret: secret, key: TestAccess.hostKey)
        var rules = TestAccess.rules
        rules.keys.removeAll()
        driver.changeAccess(rules, endsSessions: true)
        driver.persist()
        driver.advance(.seconds(4))
        driver.send(Frame(.pong), from: anna.id)
        driver.advance(.seconds(60))
        for client in [anna, host] { took(client) }
        #expect(driver.log.count >= 3 && frames.count >= 8, "there is something to look at")
        for word in words {
            #expect(!driver.log.contains { $0.text.contains(word) }, "\(word) in the log")
            #expect(!frames.contains { String(decoding: $0.body, as: UTF8.self).contains(word) }, "\(word) in a frame")
            let stored = driver.disk.flatMap { [$0.key, $0.value] }
            #expect(!stored.contains { String(decoding: $0, as: UTF8.self).contains(word) }, "\(word) on the disk")
        }
    }
}
