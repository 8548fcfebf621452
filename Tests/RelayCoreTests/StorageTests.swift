import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// What is durable is shown, and nothing else.
@Suite struct StorageTests {
    private let driver: HubDriver

    init() {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.unjournaledBytesMax = 50_000
        configuration.metadataCallsBurst = 1_000
        driver = HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
    }

    private func code(_ outcome: TestClient.Outcome) -> ErrorCode? {
        if case .error(let body) = outcome { body.code } else { nil }
    }

    @Test(
        "[SG1] until it is durable a change is in no answer, event, snapshot or page; conditions see it; then the answer and the events come in order"
    )
    func revealed() throws {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        bob.subscribe("lesson", features: ["metadata", "locks"])
        _ = bob.metadataEvents()
        let first = alice.sendSet("lesson", [("a", "1")])
        let second = alice.sendSet("lesson", [("a", "2")], revisions: ["a": 1])
        let third = alice.sendSet("lesson", [("a", "3")], revisions: ["a": 1])
        #expect(alice.outcome(first) == .nothing && alice.outcome(second) == .nothing)
        #expect(alice.outcome(third) == .nothing, "its refusal would tell a revision that is not durable yet")
        #expect(alice.metadata("lesson") == MetadataPicture() && bob.metadataEvents().isEmpty)
        let carol = TestClient(driver, "carol", instance: "00000000000000cc")
        carol.subscribe("lesson", features: ["metadata"])
        #expect(carol.metadataEvents().map(\.head.majorRevision) == [0])

        driver.persist(1)
        #expect(alice.answer(MetadataAnswer.self, alice.outcome(first))?.majorRevision == 1)
        #expect(alice.outcome(second) == .nothing)
        #expect(alice.metadata("lesson")?.values == ["a": "1"])
        #expect(bob.metadataEvents().map(\.values) == [["1"]] && carol.metadataEvents().map(\.values) == [["1"]])
        driver.persist()
        #expect(alice.answer(MetadataAnswer.self, alice.outcome(second))?.majorRevision == 2)
        guard case .error(let refusal) = alice.outcome(third) else {
            Issue.record("the condition sees what is accepted")
            return
        }
        #expect(refusal.code == .revisionMismatch && refusal.limit == 1 && refusal.actual == 2)
        #expect(bob.metadataEvents().map(\.values) == [["2"]])
        #expect(driver.hub.census().changesUnrevealed == 0 && driver.hub.census().changesUnjournaledBytes == 0)
    }

    @Test("[SG1, LK3] acquired is answered and told when it is durable; what changes nothing is not answered before what it rests on")
    func locks() throws {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        bob.subscribe("lesson", features: ["locks"])
        _ = bob.locksEvents()
        alice.setLock("lesson", "pen")
        let acquired = alice.sendAcquire("lesson", "pen")
        let same = alice.nextRequest()
        driver.send(
            .json(.setLock, SetLockRequest(id: same, kind: .message, channel: try Name("lesson"), lock: try Name("pen"))), from: alice.id)
        #expect(alice.outcome(acquired) == .nothing && alice.outcome(same) == .nothing)
        let held = bob.sendAcquire("lesson", "pen")
        #expect(bob.outcome(held) == .nothing && bob.locks("lesson").isEmpty)
        driver.persist()
        #expect(code(bob.outcome(held)) == .lockHeld)
        let fencing = try #require(alice.answer(FencingAnswer.self, alice.outcome(acquired))?.fencing)
        #expect(alice.outcome(same) != .nothing)
        #expect(bob.locksEvents().map(\.event) == [.set, .acquired] && bob.locks("lesson").first?.fencing == fencing)
    }

    @Test("[SG3] refusals that wait for the disk are bounded as changes are: beyond it they are busy at once, and all is told in the end")
    func boundedRefusals() {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.metadataCallsBurst = 1_000
        configuration.unjournaledBytesMax = 4_000
        let driver = HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        let alice = TestClient(driver, "alice")
        let first = alice.sendSet("lesson", [("a", "1")])
        let refused = (0..<200).map { _ in alice.sendSet("lesson", [("a", "2")], revisions: ["a": 7]) }
        let early = refused.map { code(alice.outcome($0)) }
        #expect(early.contains(nil) && early.last == .busy && early.allSatisfy { $0 == nil || $0 == .busy })
        driver.persist()
        #expect(alice.answer(MetadataAnswer.self, alice.outcome(first))?.majorRevision == 1)
        for (id, told) in zip(refused, early) where told == nil { #expect(code(alice.outcome(id)) == .revisionMismatch) }
        #expect(driver.hub.census().changesUnjournaledBytes == 0)
    }

    @Test(
        "[MD2, SG1] a set that was empty for 24 h is forgotten when that is durable, and not if somebody has written or looks meanwhile",
        arguments: ["persisted", "failed", "written", "subscribed"])
    func forgotten(meanwhile: String) throws {
        let alice = TestClient(driver, "alice")
        alice.sendSet("lesson", [("a", "1")])
        driver.persist()
        let remove = alice.nextRequest()
        driver.send(.json(.removeMetadata, RemoveMetadataRequest(id: remove, TestClient.owner("lesson"), items: nil)), from: alice.id)
        driver.persist()
        driver.cut(alice.id)
        driver.advance(.seconds(24 * 3600 + 1))
        #expect(driver.unpersisted.count == 1, "that it is forgotten is a change like any other")
        let bob = TestClient(driver, "bob", instance: "00000000000000bb")
        #expect(bob.metadata("lesson")?.majorRevision == 2)
        switch meanwhile {
        case "failed": driver.failStorage()
        case "written": bob.sendSet("lesson", [("b", "1")], majorRevision: 2)
        case "subscribed": bob.subscribe("lesson", features: ["metadata"])
        default: break
        }
        driver.persist()
        driver.persist()
        let revision: UInt64 = meanwhile == "persisted" ? 0 : meanwhile == "written" ? 3 : 2
        #expect(bob.metadata("lesson")?.majorRevision == revision)
        let later = driver.restarted(start: 2_000_000_000)
        #expect(TestClient(later, "carol").metadata("lesson")?.majorRevision == revision)
    }

    @Test("[SG2, BL2, BL10, LK4, AC14] what the system says of a failure, and may name files, is for the log: nobody refused is told")
    func silent() throws {
        let text = "write /var/lib/secret/journal-00000001: No space left"
        let host = TestClient(driver, "host"), anna = TestClient(driver, "anna", instance: "00000000000000bb")
        host.sendSet("user:anna", [("a", "1")])
        host.setLock("lesson", "pen")
        driver.persist()
        host.sendAcquire("lesson", "pen")
        driver.persist()
        let release = LockRequest(id: host.nextRequest(), kind: .message, channel: name("lesson"), lock: name("pen"))
        driver.send(.json(.releaseLock, release), from: host.id)
        anna.sendAcquire("lesson", "pen", waitMs: 60_000)
        host.retain("board", "a", [1])
        anna.sendSet("lesson", [("a", "2")])
        host.request(.forgetUser) { ForgetUserRequest(id: $0, user: name("anna"), withRecords: true) }
        driver.failStorage(text)
        anna.sendSet("lesson", [("a", "3")])
        anna.retain("board", "b", [1])
        let frames = [host, anna].flatMap { $0.others + $0.frames() }
        let refusals = frames.filter { [FrameType.error, .notStored].map(\.rawValue).contains($0.type) }
        #expect(refusals.count >= 6, "\(refusals.count)")
        for frame in frames { #expect(!String(decoding: frame.body, as: UTF8.self).contains("secret")) }
        #expect(driver.log.contains { $0.level == .error && $0.text.contains(text) })
    }

    @Test("[SG2] what could not be stored is undone and refused, and so is all that follows until storing works again; reading goes on")
    func failed() {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        alice.sendSet("lesson", [("a", "1")])
        alice.setLock("lesson", "pen")
        alice.setLock("lesson", "held")
        alice.sendAcquire("lesson", "held")
        driver.persist()
        bob.subscribe("lesson", features: ["metadata", "locks"])
        _ = alice.frames()
        _ = bob.metadataEvents()
        let set = alice.sendSet("lesson", [("a", "2")])
        let made = alice.sendSet("new", [("a", "2")])
        let acquired = bob.sendAcquire("lesson", "pen")
        let waiting = alice.sendAcquire("lesson", "pen", waitMs: 60_000)
        let release = alice.nextRequest()
        driver.send(
            .json(.releaseLock, LockRequest(id: release, kind: .message, channel: try! Name("lesson"), lock: try! Name("held"))),
            from: alice.id)
        driver.failStorage("disk full")
        for (client, request) in [(alice, set), (alice, made), (bob, acquired), (alice, waiting), (alice, release)] {
            #expect(code(client.outcome(request)) == .storageFailed)
        }
        #expect(alice.metadata("lesson")?.values == ["a": "1"])
        #expect(bob.metadataEvents().isEmpty && bob.locksEvents().allSatisfy { $0.event == .snapshot })
        #expect(bob.locks("lesson").map { "\($0.lock) \($0.owner ?? "-")" } == ["held alice", "pen -"])
        #expect(driver.hub.census().storageFailure == "disk full" && driver.hub.census().metadataSets == 1)
        guard case .error(let error) = alice.set("lesson", [("a", "3")]) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .storageFailed && !error.text.contains("disk full"))
        #expect(code(bob.acquire("lesson", "pen")) == .storageFailed && code(alice.setLock("lesson", "more")) == .storageFailed)

        driver.handle(.storageRecovered)
        let again = alice.sendSet("lesson", [("a", "3")], revisions: ["a": 1])
        driver.persist()
        #expect(alice.answer(MetadataAnswer.self, alice.outcome(again))?.majorRevision == 2)
        #expect(driver.hub.census().storageFailure == nil)
    }

    @Test(
        "[SG2, LK4] who waited for a lock whose removal could not be stored waits on, in the order of the requests and no longer than asked for"
    )
    func waitsGoOn() {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob"), cleo = TestClient(driver, "cleo"),
            dora = TestClient(driver, "dora")
        alice.setLock("lesson", "pen")
        alice.sendAcquire("lesson", "pen")
        driver.persist()
        let bobs = bob.sendAcquire("lesson", "pen", waitMs: 60_000)
        let doras = dora.sendAcquire("lesson", "pen", waitMs: 1_000)
        alice.lock(.removeLock, "lesson", "pen")
        alice.setLock("lesson", "pen")
        alice.sendAcquire("lesson", "pen")
        let cleos = cleo.sendAcquire("lesson", "pen", waitMs: 60_000)
        alice.lock(.removeLock, "lesson", "pen")
        driver.advance(.seconds(2))
        driver.failStorage()
        #expect(code(dora.outcome(doras)) == .lockHeld)
        #expect(bob.outcome(bobs) == .nothing && cleo.outcome(cleos) == .nothing)
        driver.handle(.storageRecovered)
        alice.lock(.releaseLock, "lesson", "pen")
        driver.persist()
        #expect(bob.answer(FencingAnswer.self, bob.outcome(bobs)) != nil && cleo.outcome(cleos) == .nothing)
        bob.lock(.releaseLock, "lesson", "pen")
        driver.persist()
        #expect(cleo.answer(FencingAnswer.self, cleo.outcome(cleos)) != nil)
    }

    @Test("[SG3] beyond the bound of bytes that wait to be stored a change is busy, and passes when there is room")
    func busy() throws {
        let alice = TestClient(driver, "alice")
        alice.sendSet("lesson", [("a", String(repeating: "x", count: 50_000))])
        guard case .error(let error) = alice.set("lesson", [("b", "1")]) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .busy && error.limit == 50_000 && (error.actual ?? 0) > 50_000 && error.retryAfterMs == 100)
        driver.persist()
        let passes = alice.sendSet("lesson", [("b", "1")])
        driver.persist()
        #expect(alice.answer(MetadataAnswer.self, alice.outcome(passes)) != nil)
    }

    @Test(
        "[SG4, LK3, LK5, MD2] a relay that starts again has what was durable: items, revisions, authors, locks and owners, whose ttl begins to run; fencing goes on growing"
    )
    func restart() throws {
        let alice = TestClient(driver, "alice")
        for owner in ["lesson", "stream:lesson", "user:alice"] {
            alice.sendSet(owner, [("a", "1"), ("b", "é 🦆"), ("empty", "")], record: true)
            alice.sendSet(owner, [("a", "2")])
        }
        alice.sendSet("emptied", [("a", "1")])
        alice.remove("emptied")
        alice.setLock("lesson", "pen", ttlMs: 3_000)
        let acquired = alice.sendAcquire("lesson", "pen")
        alice.setLock("lesson", "removed")
        alice.lock(.removeLock, "lesson", "removed")
        driver.persist()
        let fencing = try #require(alice.answer(FencingAnswer.self, alice.outcome(acquired))?.fencing)
        let before = ["lesson", "stream:lesson", "user:alice", "emptied"].map { alice.metadata($0) }
        alice.sendSet("lesson", [("a", "never durable")])

        let again = driver.restarted(start: 1_800_000_100)
        let bob = TestClient(again, "bob")
        #expect(["lesson", "stream:lesson", "user:alice", "emptied"].map { bob.metadata($0) } == before)
        #expect(before[3]?.majorRevision == 2)
        let pen = LockDetail(
            lock: "pen", ttl: .seconds(3), owner: "alice", ownerDevice: "0000000000000000", fencing: fencing)
        #expect(bob.locks("lesson") == [pen])
        again.advance(.milliseconds(2_999))
        again.persist()
        #expect(bob.locks("lesson").first?.owner == "alice")
        again.advance(.milliseconds(1))
        again.persist()
        #expect(bob.locks("lesson").first?.owner == nil)
        let request = bob.sendAcquire("lesson", "pen")
        again.persist()
        #expect(try #require(bob.answer(FencingAnswer.self, bob.outcome(request))?.fencing) > fencing)
        #expect(again.hub.census().metadataBytes == driver.hub.census().metadataBytes - "never durable".utf8.count + 1)
    }

    @Test("[SG2, LK5] a lock whose expiry could not be stored stays held and expires later")
    func expiryFails() {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        alice.setLock("lesson", "pen", ttlMs: 1_000)
        alice.sendAcquire("lesson", "pen")
        driver.persist()
        driver.cut(alice.id)
        driver.advance(.seconds(1))
        driver.failStorage()
        #expect(bob.locks("lesson").first?.owner == "alice")
        driver.advance(.seconds(3))
        #expect(bob.locks("lesson").first?.owner == "alice")
        driver.handle(.storageRecovered)
        driver.advance(.seconds(1))
        driver.persist()
        #expect(bob.locks("lesson").first?.owner == nil)
    }
}
