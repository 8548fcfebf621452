import Foundation
import RelayServer
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("meta and lock against a relay")
struct MetaCommandTests {
    @Test("meta writes, reads and removes; a condition that fails and a size that is too large end with 1, limit and value")
    func meta() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let set = try await Tool.run("meta", "set", "lesson", "title", "Herbst", "--json", url: url)
        #expect(set.code == 0 && set.errors == "")
        #expect(try set.object()["majorRevision"] as? Int == 1)
        let refused = try await Tool.run("meta", "set", "lesson", "title", "x", "--if-revision", "7", url: url)
        #expect(
            refused.code == 1 && refused.output == "" && refused.errors.contains("the revision of title is 1, not 7 (revisionMismatch)"))
        #expect(try await Tool.run("meta", "update", "lesson", "nothing", "x", url: url).errors.contains("itemNotFound"))
        let file = try await Tool.run(
            "meta", "set", "lesson", "board", "-f", "-", "--record", "--as", "bob", url: url, input: Data("a\u{1B}[2Jb".utf8))
        #expect(file.code == 0)
        #expect(try await Tool.run("meta", "get", "lesson", "board", url: url).output == "a\u{1B}[2Jb\n", "into a pipe as it is")
        let all = try await Tool.run("meta", "get", "lesson", "--json", url: url).object()
        let items = try #require(all["items"] as? [[String: Any]])
        #expect(
            items.map { $0["key"] as? String } == ["board", "title"] && items[0]["author"] as? String == "bob"
                && all["majorRevision"] as? Int == 2)
        let shown = try await Tool.run("meta", "get", "lesson", url: url)
        #expect(shown.lines.count == 3 && !shown.output.contains("\u{1B}"))
        let large = try await Tool.run("meta", "set", "lesson", "k", "-f", "-", url: url, input: Data(repeating: 0x78, count: 70_000))
        #expect(large.code == 1 && large.errors.contains("65536") && large.errors.contains("70001"))
        #expect(
            try await Tool.run("meta", "set", "lesson", "k", "-f", "-", url: url, input: Data([0xFF])).errors.contains("is not UTF-8 text"))
        #expect(try await Tool.run("meta", "remove", "lesson", url: url).code == 0)
        #expect(try await Tool.run("meta", "get", "lesson", "title", url: url).errors.contains("there is no item title"))
        #expect(try await Tool.run("meta", "set", "alice", "name", "Alice", "--user", url: url).code == 0)
        #expect(try await Tool.run("meta", "get", "alice", "name", "--user", url: url).output == "Alice\n")
        await relay.stop()
    }

    @Test("lock sets, acquires, waits, lists, revokes and removes; a held one ends with 1 and its owner's name; sub tells")
    func lock() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let sub = try Running(["sub", "lesson", "--locks", "--metadata", "--json"], url: url)
        _ = await sub.errorLine(containing: "Listening on lesson")
        #expect(try await Tool.run("lock", "set", "lesson", "pen", "--ttl", "5m", url: url).code == 0)
        let acquired = try await Tool.run("lock", "acquire", "lesson", "pen", "--as", "alice", url: url)
        #expect(acquired.code == 0 && Int(acquired.lines.first ?? "") != nil)
        let refused = try await Tool.run("lock", "acquire", "lesson", "pen", "--as", "bob", url: url)
        #expect(refused.code == 1 && refused.errors.contains("held by alice (lockHeld)"))
        let list = try await Tool.run("lock", "list", "lesson", url: url)
        #expect(list.lines.count == 2 && list.lines[1].contains("pen   alice") && list.lines[1].contains("300.0 s"))
        #expect(try await Tool.run("lock", "revoke", "lesson", "pen", "--from", "alice", url: url).code == 0)
        #expect(
            try await Tool.run("lock", "acquire", "lesson", "pen", "--wait", "1m", "--as", "bob", "--json", url: url).object()["owner"]
                as? String == "bob")
        #expect(try await Tool.run("lock", "release", "lesson", "pen", "--as", "alice", url: url).errors.contains("lockNotHeld"))
        #expect(try await Tool.run("lock", "remove", "lesson", "pen", url: url).code == 0)
        #expect(await sub.line(containing: "\"event\":\"removed\"") != nil)
        sub.signal(SIGINT)
        let told = try await sub.end().objects().filter { $0["type"] as? String == "locks" }.map { $0["event"] as? String }
        #expect(told == ["snapshot", "set", "acquired", "revoked", "acquired", "removed"])
        await relay.stop()
    }
}
