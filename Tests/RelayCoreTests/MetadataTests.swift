import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct MetadataTests {
    private let driver = HubDriver()

    private func revision(_ client: TestClient, _ outcome: TestClient.Outcome) -> UInt64? {
        client.answer(MetadataAnswer.self, outcome)?.majorRevision
    }

    private func code(_ outcome: TestClient.Outcome) -> ErrorCode? {
        if case .error(let body) = outcome { body.code } else { nil }
    }

    @Test(
        "[MD1, MD2, MD3, MD9] a set is created, replaced and read back; revisions are the major revision of the last change",
        arguments: ["lesson", "stream:lesson", "user:alice"])
    func setAndGet(owner: String) throws {
        let alice = TestClient(driver, "alice")
        #expect(alice.metadata(owner) == MetadataPicture())
        #expect(revision(alice, alice.set(owner, [("a", "1"), ("b", "zwei")])) == 1)
        #expect(revision(alice, alice.set(owner, [("b", "2")])) == 2)
        let picture = try #require(alice.metadata(owner))
        #expect(picture.values == ["a": "1", "b": "2"])
        #expect(picture.revisions == ["a": 1, "b": 2])
        #expect(picture.majorRevision == 2)
    }

    @Test("[MD1] the message channel, the stream channel and the user of one name have three sets")
    func threeSets() {
        let alice = TestClient(driver, "alice")
        for (index, owner) in ["x", "stream:x", "user:x"].enumerated() { alice.set(owner, [("k", "\(index)")]) }
        for (index, owner) in ["x", "stream:x", "user:x"].enumerated() { #expect(alice.metadata(owner)?.values == ["k": "\(index)"]) }
    }

    @Test("[MD2] the major revision survives the removal of all; an item that comes back has a revision it never had")
    func survivesRemoval() {
        let alice = TestClient(driver, "alice")
        alice.set("lesson", [("a", "1")])
        #expect(revision(alice, alice.remove("lesson")) == 2)
        #expect(alice.metadata("lesson")?.values == [:] && alice.metadata("lesson")?.majorRevision == 2)
        #expect(revision(alice, alice.remove("lesson")) == 2, "nothing to remove changes nothing")
        #expect(revision(alice, alice.set("lesson", [("a", "1")])) == 3)
        #expect(code(alice.set("lesson", [("a", "x")], revisions: ["a": 1])) == .revisionMismatch)
    }

    @Test("[MD2, CH2] an emptied set is forgotten after a day without anybody inside; a channel with an item stays")
    func forgotten() {
        let alice = TestClient(driver, "alice", presenceTimeoutMs: 5000)
        alice.set("stream:kept", [("a", "1")])
        alice.set("stream:gone", [("a", "1")])
        alice.remove("stream:gone")
        driver.cut(alice.id)
        driver.advance(.seconds(24 * 3600 - 60))
        #expect(driver.hub.census().channels.map(\.name) == ["gone", "kept"])
        driver.advance(.seconds(60))
        #expect(driver.hub.census().channels.map(\.name) == ["kept"])
        let bob = TestClient(driver, "bob")
        #expect(bob.metadata("stream:gone")?.majorRevision == 0)
        #expect(bob.metadata("stream:kept")?.values == ["a": "1"])
    }

    @Test("[MD3] who wrote it and when are kept with an item if asked for, and forgotten when it is written without")
    func record() throws {
        let alice = TestClient(driver, "alice")
        alice.subscribe("lesson", features: ["metadata"])
        _ = alice.metadataEvents()
        alice.set("lesson", [("a", "1")], record: true)
        alice.set("lesson", [("a", "2")])
        let events = alice.metadataEvents()
        #expect(events[0].head.items[0].author?.text == "alice" && events[0].head.items[0].time == driver.now.wallMilliseconds)
        #expect(events[1].head.items[0].author == nil && events[1].head.items[0].time == nil)
    }

    @Test("[MD4] 65,536 bytes of keys and values pass, one more is refused with limit and size, and nothing changes")
    func bytes() throws {
        let alice = TestClient(driver, "alice")
        let full = String(repeating: "é", count: 32_767) + "x"
        #expect(full.utf8.count == 65_535)
        #expect(revision(alice, alice.set("lesson", [("k", full)])) == 1)
        guard case .error(let error) = alice.set("lesson", [("k", full + "y")]) else { throw Unexpected() }
        #expect(error.code == .tooLarge && error.limit == 65_536 && error.actual == 65_537)
        guard case .error(let second) = alice.set("lesson", [("l", "")]) else { throw Unexpected() }
        #expect(second.code == .tooLarge && second.actual == 65_537, "a key counts as well")
        #expect(alice.metadata("lesson")?.values == ["k": full] && alice.metadata("lesson")?.majorRevision == 1)
        #expect(revision(alice, alice.set("lesson", [("k", ""), ("l", String(full.dropLast(2)))])) == 2, "what is replaced makes room")
    }

    @Test("[MD4] 1,000 items pass, one more is refused; a snapshot and the pages of a set of many have all of them")
    func items() throws {
        var configuration = Configuration()
        configuration.metadataCallsBurst = 1000
        let driver = HubDriver(configuration: configuration)
        let alice = TestClient(driver, "alice")
        for page in 0..<10 { alice.set("lesson", (0..<100).map { ("key-\(page)-\($0)", "value \($0)") }) }
        guard case .error(let error) = alice.set("lesson", [("one more", "")]) else { throw Unexpected() }
        #expect(error.code == .limitReached && error.limit == 1000 && error.actual == 1001)
        #expect(alice.metadata("lesson")?.values.count == 1000)
        let bob = TestClient(driver, "bob")
        bob.subscribe("lesson", features: ["metadata"])
        let events = bob.metadataEvents()
        #expect(events.count > 1 && events.dropLast().allSatisfy { $0.head.more == true } && events.last!.head.more == nil)
        #expect(Set(events.flatMap { $0.head.items.map(\.key.text) }).count == 1000)
        // All of it goes in one change: many keys, in more than one frame.
        alice.remove("lesson")
        let removals = bob.metadataEvents()
        #expect(removals.flatMap { $0.head.removed ?? [] }.count == 1000 && removals.allSatisfy { $0.head.majorRevision == 11 })
    }

    @Test("[MD4] all sets of a relay together are bounded, and so are users with metadata; what is removed makes room")
    func totals() throws {
        var configuration = Configuration()
        configuration.metadataBytesTotalMax = 10 + 2 * 512
        configuration.userMetadataMax = 1
        let driver = HubDriver(configuration: configuration)
        let alice = TestClient(driver, "alice")
        alice.set("a", [("k", "12345")])
        guard case .error(let error) = alice.set("b", [("k", "1234")]) else { throw Unexpected() }
        #expect(error.code == .storageFull && error.limit == 1_034 && error.actual == 1_035)
        #expect(driver.hub.census().metadataBytes == 6 + 512)
        alice.remove("a")
        #expect(revision(alice, alice.set("b", [("k", "123")])) == 1)
        #expect(revision(alice, alice.set("user:alice", [("k", "1")])) == 1)
        alice.remove("b")
        #expect(code(alice.set("user:bob", [("k", "1")])) == .relayFull)
    }

    @Test("[MD5] conditions on item, set and absence: all hold or nothing changes, and the refusal has the revision that was found")
    func conditions() throws {
        let alice = TestClient(driver, "alice")
        #expect(revision(alice, alice.set("lesson", [("a", "1")], revisions: ["a": 0], majorRevision: 0)) == 1)
        guard case .error(let error) = alice.set("lesson", [("a", "2"), ("b", "2")], revisions: ["a": 7, "b": 0]) else {
            throw Unexpected()
        }
        #expect(error.code == .revisionMismatch && error.limit == 7 && error.actual == 1)
        #expect(code(alice.set("lesson", [("a", "2")], revisions: ["a": 0])) == .revisionMismatch)
        #expect(code(alice.set("lesson", [("c", "2")], majorRevision: 0)) == .revisionMismatch)
        #expect(code(alice.remove("lesson", ["a"], revisions: ["a": 2])) == .revisionMismatch)
        #expect(alice.metadata("lesson")?.values == ["a": "1"] && alice.metadata("lesson")?.majorRevision == 1)
        #expect(revision(alice, alice.remove("lesson", ["a"], revisions: ["a": 1], majorRevision: 1)) == 2)
    }

    @Test("[MD5] a lock as a condition: its owner may write, nobody else, and nobody without the lock")
    func lockCondition() {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        #expect(code(alice.set("lesson", [("a", "1")], lock: "pen")) == .lockNotFound)
        alice.setLock("lesson", "pen")
        #expect(code(alice.set("lesson", [("a", "1")], lock: "pen")) == .lockNotHeld)
        bob.acquire("lesson", "pen")
        #expect(code(alice.set("lesson", [("a", "1")], lock: "pen")) == .lockNotHeld)
        #expect(revision(bob, bob.set("lesson", [("a", "1")], lock: "pen")) == 1)
        #expect(code(bob.set("stream:lesson", [("a", "1")], lock: "pen")) == .lockNotFound, "of this channel, not of one with its name")
        #expect(code(bob.set("user:bob", [("a", "1")], lock: "pen")) == .badRequest)
        #expect(code(alice.remove("lesson", lock: "pen")) == .lockNotHeld)
    }

    @Test("[MD6] update and remove want what exists: one item that does not is enough to change nothing")
    func mustExist() {
        let alice = TestClient(driver, "alice")
        #expect(code(alice.set("lesson", [("a", "1")], update: true)) == .itemNotFound)
        alice.set("lesson", [("a", "1"), ("b", "1")])
        #expect(code(alice.set("lesson", [("a", "2"), ("c", "2")], update: true)) == .itemNotFound)
        #expect(code(alice.remove("lesson", ["a", "c"])) == .itemNotFound)
        #expect(alice.metadata("lesson")?.values == ["a": "1", "b": "1"])
        #expect(revision(alice, alice.set("lesson", [("a", "2")], update: true)) == 2)
        #expect(revision(alice, alice.remove("lesson", ["b"])) == 3)
    }

    @Test(
        "[MD7, CH3, CH4] who wants metadata gets the set after subscribing, then every change, the author's own as well; others get nothing"
    )
    func events() {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        alice.set("lesson", [("title", "Herbst")])
        alice.subscribe("lesson", features: ["metadata"])
        bob.subscribe("lesson")
        var picture = MetadataPicture()
        for event in alice.metadataEvents() { picture.take(event.head, event.values.map { Array($0.utf8) }, isContinued: false) }
        #expect(picture.values == ["title": "Herbst"] && picture.majorRevision == 1)
        bob.set("lesson", [("title", "Winter"), ("page", "2")])
        alice.remove("lesson", ["title"])
        let events = alice.metadataEvents()
        #expect(events.map(\.head.event) == [.changed, .changed])
        for event in events { picture.take(event.head, event.values.map { Array($0.utf8) }, isContinued: false) }
        #expect(picture.values == ["page": "2"] && picture == alice.metadata("lesson"))
        #expect(bob.metadataEvents().isEmpty)
    }

    @Test(
        "[MD8, SE9, SE8] a user's metadata: subscribed before it is written, through a resumption, not through a takeover; at most 100 of them"
    )
    func userMetadata() {
        let alice = TestClient(driver, "alice")
        #expect(code(alice.request(.unsubscribeUserMetadata) { UserRequest(id: $0, user: try! Name("bob")) }) == .notSubscribed)
        alice.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("bob")) }
        #expect(alice.metadataEvents().map(\.head.event) == [.snapshot])
        let bob = TestClient(driver, "bob", instance: "00000000000000bb")
        bob.set("user:bob", [("name", "Bob")])
        #expect(alice.metadataEvents().map(\.values) == [["Bob"]])
        driver.cut(alice.id)
        bob.set("user:bob", [("name", "Robert")])
        let resumed = TestClient(driver, "alice", resume: alice.welcome!.resumeToken)
        #expect(resumed.welcome?.resumed == true)
        bob.set("user:bob", [("name", "Bobby")])
        let events = resumed.metadataEvents()
        #expect(events.map(\.head.event) == [.snapshot, .changed] && events.map(\.values) == [["Robert"], ["Bobby"]])
        let other = TestClient(driver, "alice", instance: "00000000000000cc")
        bob.set("user:bob", [("name", "B")])
        #expect(other.metadataEvents().isEmpty)
        for index in 0..<100 { other.request(.subscribeUserMetadata) { UserRequest(id: $0, user: try! Name("u\(index)")) } }
        guard case .error(let error) = other.request(.subscribeUserMetadata, { UserRequest(id: $0, user: try! Name("one more")) }) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .limitReached && error.limit == 100 && error.actual == 101)
        other.request(.logout) { EmptyRequest(id: $0) }
        driver.advance(.seconds(20))
        #expect(driver.hub.census().metadataSets == 1, "only what was written is kept")
    }

    @Test("[SE9] what changed while a session was away is in the snapshot after its resumption")
    func resumed() {
        let alice = TestClient(driver, "alice"), bob = TestClient(driver, "bob", instance: "00000000000000bb")
        alice.subscribe("lesson", features: ["metadata", "locks"])
        driver.cut(alice.id)
        bob.set("lesson", [("a", "1")])
        bob.setLock("lesson", "pen")
        let connection = driver.open()
        driver.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try! Name("alice"), instance: "00000000000000aa", resume: ResumeRequest(token: alice.welcome!.resumeToken))
            ),
            from: connection)
        let frames = driver.received(connection)
        #expect(frames.map { FrameType(rawValue: $0.type) } == [.welcome, .restored, .metadata, .locks])
        #expect(TestClient.text(MetadataEventHead.self, frames[2]).0.items.map(\.key.text) == ["a"])
        #expect(TestClient.decode(LocksEvent.self, frames[3].body).locks.map(\.lock) == ["pen"])
    }

    @Test("[RT7] 10 calls a second with a burst of 20, channels' and users' metadata counted apart, reading included")
    func rates() throws {
        let alice = TestClient(driver, "alice")
        for index in 0..<19 { #expect(revision(alice, alice.set("lesson", [("a", "\(index)")])) != nil) }
        #expect(alice.metadata("lesson") != nil)
        guard case .error(let error) = alice.set("stream:lesson", [("a", "x")]) else { throw Unexpected() }
        #expect(error.code == .rateLimited && error.limit == 10 && error.retryAfterMs == 100)
        for index in 0..<20 { #expect(revision(alice, alice.set("user:alice", [("a", "\(index)")])) != nil) }
        #expect(code(alice.set("user:alice", [("a", "x")])) == .rateLimited)
        for _ in 0..<300 {
            driver.advance(.milliseconds(100))
            #expect(revision(alice, alice.set("lesson", [("a", "again")])) != nil)
        }
    }

    @Test(
        "[JS6] bodies with texts: a head that is cut, too few and too many bytes, bad UTF-8, no items, one key twice; each is refused, the connection lives"
    )
    func malformed() {
        let alice = TestClient(driver, "alice")
        func refused(_ body: [UInt8]) -> ErrorBody? {
            driver.send(Frame(.setMetadata, body: body), from: alice.id)
            return alice.errors().first
        }
        func body(_ items: String, _ texts: [UInt8]) -> [UInt8] {
            let head = Array(#"{"id":7,"kind":"message","channel":"lesson","items":\#(items)}"#.utf8)
            return [UInt8(head.count >> 8), UInt8(head.count & 255)] + head + texts
        }
        let good = body(#"[{"key":"a","bytes":2}]"#, [0x61, 0x62])
        for count in 0..<(good.count - 2) {
            let error = refused(Array(good[..<count]))
            #expect(error?.code == .badRequest, "cut at \(count)")
        }
        #expect(refused(Array(good.dropLast()))?.code == .badRequest)
        #expect(refused(Array(good.dropLast()))?.id == 7)
        #expect(refused(good + [0])?.code == .badRequest)
        #expect(refused(body(#"[{"key":"a","bytes":2}]"#, [0xC3, 0x28]))?.code == .badText)
        driver.advance(.seconds(5))
        #expect(refused(body(#"[{"key":"a","bytes":-1}]"#, []))?.code == .badRequest)
        #expect(refused(body(#"[{"key":"a","bytes":1},{"key":"a","bytes":1}]"#, [0x61, 0x62]))?.code == .badRequest)
        #expect(refused(body("[]", []))?.code == .badRequest)
        #expect(refused(body(#"[{"key":"_a","bytes":0}]"#, []))?.code == .badName)
        #expect(refused(body(#"[{"key":"a","bytes":9007199254740992}]"#, []))?.code == .badRequest)
        let both = Array(#"{"id":7,"kind":"message","channel":"lesson","user":"bob","items":[{"key":"a","bytes":0}]}"#.utf8)
        #expect(refused([0, UInt8(both.count)] + both)?.code == .badRequest)
        driver.send(Frame(.setMetadata, body: good), from: alice.id)
        #expect(alice.frames(.answer).count == 1)
        #expect(alice.metadata("lesson")?.values == ["a": "ab"])
    }

    private struct Unexpected: Error {}
}
