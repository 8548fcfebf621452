import Foundation
import RelayCore
import RelayIO
import RelayServer
import Testing

@testable import boardrelay
@testable import RelayConsole

/// Each test has a relay of its own.
@Suite("pub, sub and presence against a relay")
struct CommandTests {
    func withRelay(_ body: (String) async throws -> Void) async throws {
        try await BoardrelayTests.withRelay { try await body("\($0.address)") }
    }

    /// A `sub` that is listening.
    func listener(_ words: String..., url: String) async throws -> Running {
        let sub = try Running(["sub", "lesson"] + words, url: url)
        try #require(await sub.errorLine(containing: "Listening on lesson") != nil)
        return sub
    }

    @Test("[AC7, CH3] a sub that the relay takes out of its channel, or does not let in again, ends with 1 and the reason")
    func takenOut() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let port = relay.address.port
        let sub = try await listener("--json", url: "\(relay.address)")
        await relay.stop()
        var full = Configuration()
        full.channelsMax = 0
        let next = try await WhiteboardRelay.start(.init(port: port, hub: full))
        let ended = await sub.end()
        await next.stop()
        #expect(ended.code == 1 && ended.errors.contains("relayFull"), "\(ended.errors)")
        #expect(try ended.objects().contains { $0["type"] as? String == "refused" })
    }

    @Test("what pub sends sub prints: one JSON object a line, text as text, bytes as base64")
    func messages() async throws {
        try await withRelay { url in
            let sub = try await listener("--json", "-n", "3", url: url)
            let nasty = "a\u{1B}[2J\u{202E}\n\"é"
            let first = try await Tool.run("pub", "lesson", "-m", nasty, "--type", "note", "--as", "bob", "--json", url: url)
            #expect(first.code == 0 && first.errors == "")
            #expect(try first.object()["type"] as? String == "accepted")
            #expect(try first.object()["offset"] as? Int == 1)
            let silent = try await Tool.run("pub", "lesson", "-f", "-", "--as", "bob", url: url, input: Data([0xFF, 0, 1]))
            #expect(silent.code == 0 && silent.output == "" && silent.errors == "")
            #expect(try await Tool.run("pub", "lesson", "-m", "", url: url).code == 0)

            let result = await sub.end()
            #expect(result.code == 0)
            #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{202E}"))
            let messages = try result.objects().filter { $0["type"] as? String == "message" }
            try #require(messages.count == 3)
            #expect(messages[0]["text"] as? String == nasty)
            #expect(messages[0]["sender"] as? String == "bob" && messages[0]["channel"] as? String == "lesson")
            #expect(messages[0]["customType"] as? String == "note" && messages[0]["offset"] as? Int == 1)
            #expect(messages[1]["base64"] as? String == "/wAB" && messages[1]["text"] == nil)
            #expect(messages[2]["text"] as? String == "")
        }
    }

    @Test("[HI2, HI6] who comes later gets what is kept: sub from the beginning, history forwards, backwards and from an offset")
    func kept() async throws {
        try await withRelay { url in
            for number in 1...5 { #expect(try await Tool.run("pub", "lesson", "-m", "m\(number)", "--as", "bob", url: url).code == 0) }
            let sub = try await listener("--since", "beginning", "--json", "-n", "6", url: url)
            #expect(try await Tool.run("pub", "lesson", "-m", "m6", "--as", "bob", url: url).code == 0)
            let objects = try await sub.end().objects().filter { ["message", "caughtUp"].contains($0["type"] as? String) }
            #expect(objects.map { $0["text"] as? String ?? $0["type"] as? String } == ["m1", "m2", "m3", "m4", "m5", "caughtUp", "m6"])

            func texts(_ words: String...) async throws -> [String] {
                let result = try await Tool.run(["history", "lesson", "--json"] + words, url: url)
                #expect(result.code == 0 && result.errors == "")
                return try result.objects().map { $0["text"] as? String ?? "" }
            }
            #expect(try await texts() == (1...6).map { "m\($0)" })
            #expect(try await texts("--backwards", "-n", "2") == ["m6", "m5"])
            #expect(try await texts("--from", "3", "-n", "2") == ["m3", "m4"])
            #expect(try await texts("--from", "3", "--backwards") == ["m3", "m2", "m1"])
            let payloads = try await Tool.run("history", "lesson", "--raw", "-n", "2", url: url)
            #expect(payloads.code == 0 && payloads.output == "m1\nm2\n" && payloads.errors == "")
        }
    }

    @Test("pub sends an argument, or what is piped into it without the line end behind it; sub --raw prints payloads as they were sent")
    func raw() async throws {
        try await withRelay { url in
            let sub = try await listener("--raw", "--presence", "-n", "6", url: url)
            #expect(try await Tool.run("pub", "lesson", "hel\\lo", url: url).code == 0)
            #expect(try await Tool.run("pub", "lesson", url: url, input: Data("one\n\u{1B}two\n".utf8)).code == 0)
            #expect(try await Tool.run("pub", "lesson", "-f", "-", url: url, input: Data("exact\n".utf8)).code == 0)
            #expect(try await Tool.run("pub", "lesson", "kept", "--retain", "--record", "k", url: url).code == 0)
            #expect(try await Tool.run("pub", "lesson", "--remove", "--record", "k", url: url).code == 0)
            #expect(try await Tool.run("pub", "lesson", "--", "--dash", url: url).code == 0)
            let result = await sub.end()
            #expect(result.output == "hel\\lo\none\n\u{1B}two\nexact\n\nkept\n--dash\n", "\(result)")
            #expect(result.errors.contains("(k)  removed"), "\(result.errors)")
            let alice = try await listener("--raw", "-n", "1", "--as", "alice", url: url)
            #expect(try await Tool.run("pub", "--to", "alice", "your turn", url: url).code == 0)
            #expect(await alice.end().output == "your turn\n")
        }
    }

    @Test("for people, what others sent is escaped, and stdout has nothing but data")
    func human() async throws {
        try await withRelay { url in
            let sub = try await listener("-n", "1", url: url)
            _ = try await Tool.run("pub", "lesson", "-m", "a\u{1B}[2J\u{202E}b", "--as", "bob", url: url)
            let result = await sub.end()
            #expect(result.lines.count == 1)
            #expect(result.output.hasSuffix("#1  bob  a\\u{1B}[2J\\u{202E}b\n"), "\(result.output)")
        }
    }

    @Test("packets of the topics asked for, with slot and sequence")
    func packets() async throws {
        try await withRelay { url in
            let sub = try await listener("--topic", "cursor", "--topic", "other", "--json", "-n", "2", url: url)
            #expect(try await Tool.run("pub", "lesson", "--topic", "third", "-m", "no", url: url).code == 0)
            #expect(try await Tool.run("pub", "lesson", "--topic", "cursor", "--slot", "7", "-m", "1,2", "--as", "bob", url: url).code == 0)
            #expect(try await Tool.run("pub", "lesson", "--topic", "other", "-m", "yes", url: url).code == 0)
            let packets = try await sub.end().objects().filter { $0["type"] as? String == "packet" }
            try #require(packets.map { $0["text"] as? String } == ["1,2", "yes"])
            #expect(packets[0]["topic"] as? String == "cursor" && packets[0]["publisher"] as? String == "bob")
            #expect(packets[0]["slot"] as? Int == 7 && packets[0]["sequence"] as? Int == 1)
        }
    }

    @Test("at the limit passes, one byte more is refused with limit and size, exit code 1")
    func sizes() async throws {
        try await withRelay { url in
            func pub(_ bytes: Int, _ words: String...) async throws -> Tool.Result {
                try await Running(["pub", "lesson", "-f", "-"] + words, url: url, input: Data(count: bytes)).end()
            }
            #expect(try await pub(32_768).code == 0)
            #expect(try await pub(32_764, "--type", "four").code == 0)
            #expect(try await pub(1_024, "--topic", "t").code == 0)
            for result in [try await pub(32_769), try await pub(32_765, "--type", "four")] {
                #expect(result.code == 1 && result.output == "")
                #expect(result.errors.contains("32768") && result.errors.contains("32769"), "\(result.errors)")
            }
            #expect(try await pub(32_769).errors.contains("; --large sends it in parts\n"))
            #expect(try await !pub(1, "--type", String(repeating: "x", count: 33)).errors.contains("--large"))
            let packet = try await pub(1_025, "--topic", "t")
            #expect(packet.code == 1 && packet.errors.contains("1024") && packet.errors.contains("1025"), "\(packet.errors)")
            #expect(try await pub(0, "--type", String(repeating: "x", count: 33)).code == 1)
        }
    }

    @Test("[BL1, BL8, HI8] pub keeps, removes and sends in parts; sub prints a line for each record that there is, and ends behind them")
    func records() async throws {
        try await withRelay { url in
            for (key, text) in [("a", "one"), ("b", "two"), ("a", "three")] {
                let result = try await Tool.run("pub", "lesson", "--retain", "--record", key, "-m", text, "--as", "bob", "--json", url: url)
                #expect(try result.code == 0 && result.object()["type"] as? String == "stored" && result.object()["key"] as? String == key)
            }
            let removed = try await Tool.run("pub", "lesson", "--remove", "--record", "b", "--as", "bob", "--json", url: url)
            #expect(try removed.code == 0 && removed.object()["offset"] as? Int == 4)
            let large = Data(repeating: 0xFF, count: 100_000)
            #expect(
                try await Tool.run("pub", "lesson", "-f", "-", "--retain", "--record", "photo", "--as", "bob", url: url, input: large).code
                    == 0)
            let sub = try await Tool.run("sub", "lesson", "--since", "beginning", "--json", "--until-now", url: url)
            let messages = try sub.objects().filter { $0["type"] as? String == "message" }
            try #require(messages.count == 2 && sub.code == 0)
            #expect(
                messages[0]["key"] as? String == "a" && messages[0]["text"] as? String == "three"
                    && messages[0]["retained"] as? Bool == true)
            #expect(messages[1]["key"] as? String == "photo" && messages[1]["base64"] as? String == large.base64EncodedString())
        }
    }

    @Test("what goes to one user arrives there alone and is confirmed; nobody there is exit code 1")
    func direct() async throws {
        try await withRelay { url in
            let alice = try await listener("--json", "-n", "1", "--as", "alice", url: url)
            let sent = try await Tool.run("pub", "--to", "alice", "-m", "psst", "--json", "--as", "bob", url: url)
            #expect(sent.code == 0)
            #expect(try sent.object()["type"] as? String == "confirmed")
            let direct = try await alice.end().objects().first { $0["type"] as? String == "direct" }
            #expect(direct?["text"] as? String == "psst" && direct?["sender"] as? String == "bob")
            let nobody = try await Tool.run("pub", "--to", "nobody", "-m", "psst", url: url)
            #expect(nobody.code == 1 && nobody.errors.contains("userOffline"), "\(nobody.errors)")
        }
    }

    @Test("a wait that is over ends with 124, Ctrl-C with 130")
    func ends() async throws {
        try await withRelay { url in
            let timedOut = try await Tool.run("sub", "lesson", "-n", "2", "--timeout", "2s", url: url)
            #expect(timedOut.code == 124 && timedOut.errors.contains("timed out"))
            let watching = try Running(["presence", "lesson", "--watch", "--timeout", "50ms"], url: url)
            #expect(await watching.end().code == 124)
            let sub = try await listener(url: url)
            sub.signal(SIGINT)
            #expect(await sub.end().code == 130)
        }
    }

    @Test("presence lists who is there without being there itself, and watches them come and go")
    func presence() async throws {
        try await withRelay { url in
            let empty = try await Tool.run("presence", "lesson", url: url)
            #expect(empty.code == 0 && empty.output == "" && empty.errors.contains("Nobody is in lesson"))
            let watch = try Running(["presence", "lesson", "--watch", "--json"], url: url)
            let snapshot = try #require(await watch.line(containing: "snapshot"))
            #expect(snapshot.contains("\"total\":0"))
            let alice = try await listener("--as", "alice", "-n", "1", url: url)
            #expect(await watch.line(containing: #""event":"join","user":"alice""#) != nil)
            let quiet = try await listener("--as", "mouse", "--quiet", url: url)
            #expect(try await Tool.run("presence", "lesson", url: url).output == "alice\n")
            let json = try await Tool.run("presence", "lesson", "--json", url: url).object()
            #expect(json["total"] as? Int == 1 && json["kind"] as? String == "message")
            let stream = try await Tool.run("presence", "lesson", "--stream", "--json", url: url).object()
            #expect(stream["total"] as? Int == 0 && stream["kind"] as? String == "stream")
            _ = try await Tool.run("pub", "lesson", "-m", "x", url: url)
            #expect(await alice.end().code == 0)
            #expect(await watch.line(containing: #""event":"leave","user":"alice""#) != nil)
            quiet.signal(SIGINT)
            watch.signal(SIGINT)
            #expect(await watch.end().code == 130)
            #expect(await quiet.end().code == 130)
        }
    }

    @Test(
        "no relay there is exit code 1, and says where it was looked for", arguments: ["sub lesson", "presence lesson", "pub lesson -m x"])
    func nobodyListens(line: String) async throws {
        // The system gives no relay of another test a port below 1024.
        let url = "relay://127.0.0.1:1"
        let result = try await Running(line.split(separator: " ").map(String.init), url: url).end()
        #expect(result.code == 1 && result.output == "")
        #expect(result.errors.contains(url) && result.errors.contains("boardrelay serve"), "\(result.errors)")
    }

    @Test("a file that is not there is exit code 2, and named")
    func missingFile() async throws {
        let result = try await Tool.run("pub", "lesson", "-f", "/nowhere/at all")
        #expect(result.code == 2 && result.errors.contains(#""/nowhere/at all" cannot be opened: No such file"#))
    }
}
