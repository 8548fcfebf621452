@testable import RelayClientCore
import RelayWire
import Testing

/// Metadata as the relay tells it, page by page and after breaks.
@Suite struct MetadataEventTests {
    private func event(
        _ event: MetadataEventHead.Event, _ revision: UInt64, _ items: [(String, String)] = [], removed: [String] = [], more: Bool = false,
        user: String? = nil
    ) -> Frame {
        var head = MetadataEventHead(
            channel: user == nil ? 10 : nil, user: user.map { try! Name($0) }, event: event, majorRevision: revision)
        head.items = items.map { MetadataItemHead(key: try! Name($0.0), bytes: $0.1.utf8.count, revision: revision) }
        if !removed.isEmpty { head.removed = removed.map { try! Name($0) } }
        if more { head.more = true }
        return Frame(.metadata, body: TextBody.encode(head: head, texts: items.map { Array($0.1.utf8) }))
    }

    private func changes(_ driver: MachineDriver) -> [MetadataChange] {
        driver.events().compactMap { if case .metadata(let change) = $0 { change } else { nil } }
    }

    @Test("[MD7] an event over several frames is one event for the app, with the merged set")
    func pages() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        driver.feed(event(.snapshot, 5, [("a", "1")], more: true))
        #expect(changes(driver).isEmpty)
        driver.feed(event(.snapshot, 5, [("b", "2")]))
        let snapshot = changes(driver)
        #expect(
            snapshot.map { $0.items.mapValues(\.value) } == [["a": "1", "b": "2"]] && snapshot[0].isSnapshot
                && snapshot[0].majorRevision == 5)
        driver.feed(event(.changed, 6, removed: ["a"], more: true))
        driver.feed(event(.changed, 6, [("c", "3")]))
        let changed = changes(driver)
        #expect(changed.count == 1 && changed[0].removed == ["a"] && changed[0].written.map(\.key) == ["c"])
        #expect(changed[0].items.mapValues(\.value) == ["b": "2", "c": "3"] && !changed[0].isSnapshot)
        // A new snapshot, as after a resumption, replaces what was known, a half told event included.
        driver.feed(event(.changed, 7, [("d", "4")], more: true))
        driver.feed(event(.snapshot, 9, [("e", "5")]))
        #expect(changes(driver).last?.items.mapValues(\.value) == ["e": "5"])
    }

    @Test(
        "[MD8, SE10] a subscribed user's metadata is asked for again in a new session, and what still comes after unsubscribing is passed over"
    )
    func users() throws {
        let driver = MachineDriver()
        driver.logIn()
        let bob = try Name("bob")
        driver.feed(event(.snapshot, 1, [("name", "Bob")], user: "bob"))
        #expect(changes(driver).isEmpty, "nobody asked")
        let token = try driver.ask(.subscribeUserMetadata(bob))
        let id = try #require(driver.sent(.subscribeUserMetadata).first.map { MachineDriver.decode(RequestID.self, $0).id })
        driver.feed(.json(.answer, EmptyAnswer(id: id)))
        #expect(try driver.completed[token]?.get() == .done)
        driver.feed(event(.snapshot, 1, [("name", "Bob")], user: "bob"))
        #expect(changes(driver).map(\.owner) == [.user("bob")])
        driver.cut()
        driver.pass(.seconds(1))
        driver.open()
        driver.logIn(resumed: false)
        let again = try #require(driver.sent(.subscribeUserMetadata).first)
        driver.feed(.json(.error, ErrorBody(WireError(.limitReached, "too many"), id: MachineDriver.decode(RequestID.self, again).id)))
        guard case .refused(let refusal)? = driver.events().last else {
            Issue.record("not told")
            return
        }
        #expect(refusal.subject == .userMetadata("bob"))
    }

    @Test("[FR6, JS6] an event of a newer relay is passed over; a body that is cut, or texts that are none, end the link")
    func faults() throws {
        let driver = MachineDriver()
        driver.logIn()
        try driver.subscribe()
        let head = Array(#"{"channel":10,"event":"moved","from":3}"#.utf8)
        driver.feed(Frame(.metadata, body: [0, UInt8(head.count)] + head))
        #expect(driver.machine.linkState.isConnected)
        for body in [[0, 90], Array(event(.changed, 2, [("a", "12")]).body.dropLast()), event(.changed, 2, [("a", "1")]).body + [1]]
            as [[UInt8]]
        {
            let driver = MachineDriver()
            driver.logIn()
            try driver.subscribe()
            driver.feed(Frame(.metadata, body: body))
            #expect(!driver.machine.linkState.isConnected)
        }
    }

    @Test("[MD4] a change that no frame could carry is refused before it is sent, and the link lives")
    func tooLarge() throws {
        let driver = MachineDriver()
        driver.logIn()
        let owner = MetadataOwner.channel(ChannelID(kind: .message, channel: try Name("lesson")))
        func write(_ items: [(String, String)]) throws {
            let items = try items.map { MetadataWrite.Item(key: RemoveMetadataRequest.Item(key: try Name($0.0)), value: $0.1) }
            try driver.ask(
                .writeMetadata(
                    owner,
                    MetadataWrite(
                        items: items, mustExist: false, majorRevision: nil, lock: nil, recordsUser: false, recordsTime: false)))
        }
        try write([("k", String(repeating: "x", count: 65_535))])
        let bytes = #expect(throws: RelayError.self) { try write([("k", String(repeating: "x", count: 65_536))]) }
        #expect(bytes?.code == .tooLarge && bytes?.limit == 65_536 && bytes?.actual == 65_537)
        let many = #expect(throws: RelayError.self) { try write((0..<600).map { ("a long key number \($0)", "") }) }
        #expect(many?.code == .tooLarge && many?.limit == 16_382)
        let frames = driver.sent(.setMetadata)
        #expect(frames.count == 1 && frames[0].body.count <= Limits.frameBodyBytesMax)
    }
}
