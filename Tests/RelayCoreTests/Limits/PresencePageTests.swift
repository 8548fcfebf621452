import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@Suite struct PresencePageTests {
    private let driver = HubDriver.patient()

    private func who(_ client: TestClient, _ after: Name?, limit: Int? = nil) -> TestClient.Outcome {
        client.request(.who) { WhoRequest(id: $0, kind: .message, channel: name("lesson"), after: after, limit: limit) }
    }

    /// - Parameter between: called behind each page.
    private func pages(_ client: TestClient, limit: Int? = nil, between: (WhoAnswer) -> Void = { _ in }) throws -> [WhoAnswer] {
        var pages: [WhoAnswer] = []
        var after: Name?
        repeat {
            pages.append(try #require(client.answer(WhoAnswer.self, who(client, after, limit: limit))))
            between(pages.last!)
            after = pages.last!.next
        } while after != nil
        return pages
    }

    @Test("[PR3] a snapshot has 100 of 101 members, oneself included, in order, and the total")
    func snapshot() throws {
        for index in 0..<100 { TestClient(driver, "user-\(1_000 + index)").subscribe("lesson", features: []) }
        let watcher = TestClient(driver, "a watcher")
        watcher.subscribe("lesson", features: ["presence"])
        let event = try #require(watcher.presence().first)
        #expect(event.event == .snapshot && event.total == 101)
        #expect(event.members?.map(\.user) == ["a watcher"] + (0..<99).map { "user-\(1_000 + $0)" })
    }

    @Test("[PR3, PR4] a snapshot and each page end at 12 KiB; together the pages are complete")
    func bytes() throws {
        let members = (0..<60).map { TestClient(driver, "user-\(10 + $0)") }
        for (index, member) in members.enumerated() {
            member.setStates(["k": String(repeating: "x", count: index < 40 ? 2_000 : 10)])
            member.subscribe("lesson", features: [])
        }
        let watcher = TestClient(driver, "watcher")
        watcher.subscribe("lesson", features: ["presence"], quiet: true)
        let snapshot = try #require(watcher.presence().first)
        #expect(
            snapshot.total == 60
                && snapshot.members?.map(\.user) == ["user-10", "user-11", "user-12", "user-13", "user-14", "user-15"])
        let pages = try pages(watcher)
        #expect(pages.flatMap(\.members).map(\.user) == members.map(\.user))
        #expect(pages.allSatisfy { $0.total == 60 && !$0.members.isEmpty })
        // A bracket, and each member with the comma or the bracket behind it.
        #expect(pages.allSatisfy { $0.members.reduce(1) { $0 + JSONBody.encode($1).count + 1 } <= 12 * 1024 })
        // Six with 2,000 bytes each go into a page, a seventh does not; the last four of them share one with the others.
        #expect(pages.map(\.members.count) == [6, 6, 6, 6, 6, 6, 24])
    }

    @Test("[PR4] limit is 1…100; behind the last member, or in a channel that is not there, a page is empty")
    func limits() throws {
        let alice = TestClient(driver, "alice")
        #expect(alice.answer(WhoAnswer.self, who(alice, nil))?.members.isEmpty == true)
        for index in 0..<101 { TestClient(driver, "user-\(1_000 + index)").subscribe("lesson", features: []) }
        refused(who(alice, nil, limit: 101), .badRequest, limit: 100, actual: 101)
        refused(who(alice, nil, limit: 0), .badRequest, limit: 100, actual: 0)
        #expect(try pages(alice).map(\.members.count) == [100, 1])
        #expect(try pages(alice, limit: 1).map { $0.members.map(\.user) } == (0..<101).map { ["user-\(1_000 + $0)"] })
        let last = try #require(alice.answer(WhoAnswer.self, who(alice, name("user-1100"))))
        #expect(last.members.isEmpty && last.next == nil && last.total == 101)
    }

    @Test(
        "[PR4] the pages of 1,000 members have everybody who stays, once and in order, while others come and go",
        arguments: [1, 2] as [UInt64])
    func churn(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        // Every tenth goes during the walk, and as many come between them.
        let members = (0..<1_000).map { TestClient(driver, "user-\(10_000 + 10 * $0)") }
        for member in members { member.subscribe("lesson", features: []) }
        var goers = stride(from: 0, to: 1_000, by: 10).map { members[$0] }.shuffled(using: &dice)
        let staying = Set(members.map(\.user)).subtracting(goers.map(\.user))
        let watcher = TestClient(driver, "watcher")
        var seen: [String] = []
        var comers: Set<String> = []
        _ = try pages(watcher, limit: 60) { page in
            seen += page.members.map(\.user)
            #expect(page.total == driver.hub.members(of: ChannelID(kind: .message, channel: name("lesson"))).count)
            for _ in 0..<5 where !goers.isEmpty {
                goers.removeLast().leave("lesson")
                let comer = "user-\(10_001 + 10 * Int.random(in: 0..<1_000, using: &dice))"
                if comers.insert(comer).inserted { TestClient(driver, comer).subscribe("lesson", features: []) }
            }
            // The one that the next page begins behind goes as well.
            if page.members.count == 60, let last = page.next, let goer = goers.firstIndex(where: { $0.user == last.text }) {
                goers.remove(at: goer).leave("lesson")
            }
        }
        #expect(goers.count < 30 && comers.count > 60)
        #expect(seen == seen.sorted() && Set(seen).count == seen.count)
        #expect(seen.filter(staying.contains) == staying.sorted())
        #expect(Set(seen).subtracting(members.map(\.user)).isSubset(of: comers))
        #expect(!comers.isDisjoint(with: seen), "who comes in behind the walk is met")
    }
}
