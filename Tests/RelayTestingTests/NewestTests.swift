@testable import RelayClient
import RelayPrimitives
import RelayTesting
import Testing

/// What has a present value: locks, published topics, permissions; and direct messages, and problems.
@Suite struct NewestTests {
    @Test("locks are there by name with their owners, at first and after each change, until the channel is left")
    func locks() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann"), ben = try relay.client("ben")
        let lesson = try ann.channel("lesson"), pen = try lesson.lock("pen")
        var states = lesson.lockStates().makeAsyncIterator()
        #expect(await states.next()?.isEmpty == true)
        try await pen.make()
        try await lesson.open([.locks])
        #expect(await states.next()?["pen"].map { $0.owner == nil } == true)
        try await ben.channel("lesson").lock("pen").acquire()
        try await until(&states) { $0["pen"]?.owner == "ben" }
        try await ben.channel("lesson").lock("pen").release()
        try await until(&states) { $0["pen"].map { $0.owner == nil } == true }
        try await lesson.lock("book").make()
        try await until(&states) { Set($0.keys) == ["book", "pen"] }
        try await pen.remove()
        try await until(&states) { Set($0.keys) == ["book"] }
        try await lesson.leave()
        while await states.next() != nil {}
        var after = lesson.lockStates().makeAsyncIterator()
        #expect(await after.next()?.isEmpty == true)
    }

    @Test("who publishes is there in order, one's own topics too, and gone when a publisher stops, or the client leaves")
    func topics() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann"), ben = try relay.client("ben")
        let lesson = try ann.channel("lesson")
        var published = lesson.publishedTopics().makeAsyncIterator()
        #expect(await published.next() == [])
        let line = try await ben.channel("lesson").topic("pen").startPublishing(meta: "red")
        _ = try await ben.channel("lesson").topic("eraser").startPublishing()
        _ = try await lesson.topic("pen").startPublishing()
        try await until(&published) { $0.map { "\($0.topic) \($0.user) \($0.meta)" } == ["eraser ben ", "pen ann ", "pen ben red"] }
        try await line.stop()
        try await until(&published) { $0.map { "\($0.topic) \($0.user)" } == ["eraser ben", "pen ann"] }
        try await lesson.leave()
        while await published.next() != nil {}
    }

    @Test("permissions follow a role and the modes of a channel, and say nothing when nothing has changed")
    func permissions() async throws {
        let relay = TestRelay()
        let teacher = try relay.client("teacher", role: .moderator), ben = try relay.client("ben", role: .editor)
        let lesson = try ben.channel("lesson")
        var permissions = lesson.permissions().makeAsyncIterator()
        #expect(await permissions.next() == Permissions(rights: nil, modes: []))
        try await lesson.open()
        try await until(&permissions) { $0.rights?.contains(.publish) == true }
        try await teacher.moderation.freeze("lesson")
        try await until(&permissions) { $0.modes == [.frozen] }
        try await teacher.moderation.unfreeze("lesson")
        try await until(&permissions) { $0.modes == [] }
        try await teacher.moderation.setRole(.reader, of: "ben")
        try await until(&permissions) { $0.rights?.contains(.publish) == false }
        let version = permissions.version
        relay.cut(ben)
        relay.advance(by: .seconds(15))
        try await lesson.upToDate()
        #expect(ben.core.read { $0.permissionsStanding("lesson").version } == version)
    }

    @Test("a direct message comes to its reader, and is acknowledged by it")
    func direct() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann"), ben = try relay.client("ben")
        var messages = ben.directMessages().makeAsyncIterator()
        try await ben.connect()
        let receipt = try ann.person("ben").send("psst")
        let message = try #require(try await messages.next())
        #expect(message.payload == "psst" && message.sender == "ann")
        message.acknowledge()
        try await receipt.acknowledged()
    }

    @Test("packets that waited for a link for too long come to problems, counted, with the reason")
    func dropped() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann")
        let line = try await ann.channel("lesson").topic("pen").startPublishing(lifetime: .milliseconds(50))
        var problems = ann.problems().makeAsyncIterator()
        relay.setReachable(false, for: ann)
        for number in 0..<3 { try line.send(Payload("\(number)")) }
        relay.advance(by: .seconds(30))
        relay.setReachable(true, for: ann)
        relay.advance(by: .seconds(30))
        let problem = try #require(try await problems.next())
        #expect(problem.count == 3 && problem.topic == "pen" && problem.channel == "lesson" && problem.error.code == .notConnected)
    }

    @Test("with inside acquire leaves the lock where it was; the last release ends it")
    func holds() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann")
        let lesson = try ann.channel("lesson"), pen = try lesson.lock("pen")
        try await pen.make()
        let hold = try await pen.acquire()
        try await pen.with { inner in #expect(inner.isHeld && hold.isHeld) }
        #expect(hold.isHeld)
        #expect(try await lesson.locks().map(\.owner) == ["ann"])
        try await pen.release()
        #expect(!hold.isHeld)
        #expect(try await lesson.locks().map(\.owner) == [nil])
        try await pen.with { _ in }
        #expect(try await lesson.locks().map(\.owner) == [nil])
    }

    @Test("what another task waits for stays when with ends, and goes back once nobody wants it")
    func awaited() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann")
        let lesson = try ann.channel("lesson"), pen = try lesson.lock("pen")
        try await pen.make()
        let waiting = try await pen.with { _ in
            relay.setHeld(true, for: ann)
            let waiting = Task { try await pen.acquire() }
            try await relay.until(within: .seconds(300)) { relay.unanswered(of: ann) == 1 }
            return waiting
        }
        relay.setHeld(false, for: ann)
        let hold = try await waiting.value
        #expect(hold.isHeld)
        #expect(try await lesson.locks().map(\.owner) == ["ann"])
        try await pen.release()
        #expect(try await lesson.locks().map(\.owner) == [nil])
    }

    @Test("drops are one problem for each topic, and push nothing else out of what is kept for the first reader")
    func manyDrops() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann")
        let topic = try ann.channel("lesson").topic("pen")
        let line = try await topic.startPublishing(lifetime: .milliseconds(50))
        for _ in 0..<3 {
            relay.setReachable(false, for: ann)
            try line.send("0")
            relay.advance(by: .seconds(30))
            relay.setReachable(true, for: ann)
            relay.advance(by: .seconds(30))
        }
        var problems = ann.problems().makeAsyncIterator()
        #expect(try await problems.next()?.count == 3)
    }

    @Test("an own record among events has no date, and a channel whose board is read alone is not open")
    func ownRecords() async throws {
        let relay = TestRelay()
        let ann = try relay.client("ann")
        let lesson = try ann.channel("lesson")
        var events = lesson.events().makeAsyncIterator()
        try await lesson.open()
        _ = try await lesson.board.put("0,0 1,1", key: "s1").stored
        var own: Message?
        while own == nil, let event = try await events.next() { if case .message(let message) = event { own = message } }
        #expect(own?.key == "s1" && own?.receipt != nil && own?.date == nil)
        relay.setHeld(true, for: ann)
        let reading = Task { try await ann.channel("other").board.records() }
        try await relay.until(within: .seconds(300)) { relay.unanswered(of: ann) > 0 }
        #expect(ann.openChannels.map(\.name) == ["lesson"])
        relay.setHeld(false, for: ann)
        #expect(try await reading.value.isEmpty)
        #expect(ann.openChannels.map(\.name) == ["lesson"])
    }

    private func until<Element: Sendable>(_ states: inout Latest<Element>.Iterator, _ holds: (Element) -> Bool) async throws {
        while let state = await states.next() { if holds(state) { return } }
        Issue.record("the reader has ended")
    }
}
