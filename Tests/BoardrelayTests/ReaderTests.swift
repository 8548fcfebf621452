import Foundation
import RelayClient
import RelayServer
import Testing

@testable import boardrelay
@testable import RelayConsole
import RelaySystem

/// What programs and people meet who read a channel.
@Suite("history and sub as others read them", .timeLimit(.minutes(10)))
struct ReaderTests {
    @Test("pub -l sends each line as it comes, without blank ones; what is refused ends it, with its line")
    func lines() async throws {
        try await withRelay { relay in
            let url = "\(relay.address)"
            let sub = try Running(["sub", "lesson", "--json", "-n", "4", "--topic", "t"], url: url)
            _ = await sub.line(containing: "subscribed")
            let text = "one\n\n two \r\nthree"
            #expect(try await Tool.run("pub", "lesson", "-l", url: url, input: Data(text.utf8)).code == 0)
            let topic = try await Tool.run("pub", "lesson", "--lines", "--topic", "t", "--json", url: url, input: Data("four\n".utf8))
            #expect(try topic.object()["sent"] as? Int == 1)
            let heard = try await sub.end().objects().filter { ["message", "packet"].contains($0["type"] as? String) }
            #expect(heard.compactMap { $0["text"] as? String } == ["one", " two ", "three", "four"])
            let long = "ok\n" + String(repeating: "x", count: 32_769) + "\nnever\n"
            let refused = try await Tool.run("pub", "lesson", "-l", url: url, input: Data(long.utf8))
            #expect(refused.code == 1 && refused.errors.contains("line 2: ") && refused.errors.contains("; 1 sent before it"), "\(refused)")
            #expect(try await Tool.run("history", "lesson", "--json", url: url).objects().last?["text"] as? String == "ok")
        }
    }

    @Test("[BL8, HI6] history shows a message that was sent in parts as one, without the key that its parts had; --raw prints all of it")
    func large() async throws {
        try await withRelay { relay in
            let url = "\(relay.address)"
            // Parts are cut at bytes: inside a character, too.
            let text = "a" + String(repeating: "é", count: 40_000)
            let sub = try Running(["sub", "lesson", "--json", "-n", "1"], url: url)
            _ = await sub.line(containing: "subscribed")
            #expect(try await Tool.run("pub", "lesson", "--large", "-f", "-", "--as", "bob", url: url, input: Data(text.utf8)).code == 0)
            #expect(try await Tool.run("pub", "lesson", "small", "--as", "bob", url: url).code == 0)
            let heard = try #require(try await sub.end().objects().first { $0["type"] as? String == "message" })
            #expect(heard["text"] as? String == text && heard["key"] == nil)
            for words in [[], ["--backwards"], ["-n", "2"]] {
                let result = try await Tool.run(["history", "lesson", "--json"] + words, url: url)
                let kept = try result.objects()
                #expect(
                    result.code == 0
                        && kept.compactMap { $0["text"] as? String } == (words == ["--backwards"] ? ["small", text] : [text, "small"]))
                #expect(kept.allSatisfy { $0["key"] == nil && $0["type"] as? String == "message" })
            }
            #expect(try await Tool.run("history", "lesson", "--raw", "-n", "1", url: url).output == text + "\n")
            // From its second part on, and up to its second.
            for words in [["--from", "2"], ["--from", "2", "--backwards"]] {
                let incomplete = try #require(
                    try await Tool.run(["history", "lesson", "--json"] + words, url: url).objects().first {
                        $0["type"] as? String == "incomplete"
                    })
                #expect(
                    incomplete["parts"] as? Int == 2 && incomplete["partsSent"] as? Int == 3 && incomplete["sender"] as? String == "bob")
            }
            let line = try await Tool.run("history", "lesson", "--from", "2", "--backwards", url: url)
            #expect(line.lines.count == 1 && line.output.contains("large message, 65,536 bytes in 2 of 3 parts"), "\(line.output)")
            let raw = try await Tool.run("history", "lesson", "--raw", "--from", "2", "--backwards", url: url)
            #expect(raw.output == "" && raw.errors.contains("Not whole: "), "\(raw)")
        }
    }

    @Test("[HI6] history of a channel that has only a board says where that is")
    func onlyRecords() async throws {
        try await withRelay { relay in
            let url = "\(relay.address)"
            #expect(try await Tool.run("pub", "lesson", "x", "--retain", "--record", "s1", url: url).code == 0)
            let result = try await Tool.run("history", "lesson", url: url)
            #expect(result.code == 0 && result.output == "")
            #expect(result.errors == "No messages are kept. What the board keeps: 'boardrelay board export lesson'.\n", "\(result.errors)")
        }
    }

    @Test("sub --json says first that it is subscribed: what is sent from then on comes")
    func subscribed() async throws {
        try await withRelay { relay in
            let sub = try Running(["sub", "lesson", "--topic", "t", "--json", "--as", "bob", "-n", "2"], url: "\(relay.address)")
            #expect(await sub.line(containing: "{") == #"{"type":"subscribed","channel":"lesson","user":"bob"}"#)
            #expect(try await Tool.run("pub", "lesson", "--topic", "t", "-m", "packet", url: "\(relay.address)").code == 0)
            #expect(try await Tool.run("pub", "lesson", "message", url: "\(relay.address)").code == 0)
            #expect(try await sub.end().objects().compactMap { $0["text"] as? String } == ["packet", "message"])
        }
    }

    @Test(
        "a command that listens ends when its reader has gone, without another line", arguments: ["sub lesson", "presence lesson --watch"])
    func readerGone(line: String) async throws {
        try await withRelay { relay in
            let command = "\(try Tool.binary().path) \(line) --json | head -1; echo \"${PIPESTATUS[0]}\""
            let output = Pipe()
            let environment = ProcessInfo.processInfo.environment.merging(["BOARDRELAY_URL": "\(relay.address)"]) { $1 }
            let shell = try ChildProcess(
                "/bin/bash", ["-c", command], environment: environment, output: .descriptor(output.fileHandleForWriting.fileDescriptor))
            try output.fileHandleForWriting.close()
            let lines = Lines(output.fileHandleForReading)
            #expect(await shell.waitUntilEnd() == .exited(0))
            let printed = await lines.all().split(separator: "\n")
            #expect(printed.count == 2 && printed.last == "0", "\(printed)")
        }
    }

    @Test(
        "what the relay does not have is exit code 1, with boards whose names are similar",
        arguments: [
            (["history", "lessom"], "there is no message channel lessom; boards with similar names: lesson"),
            (["board", "export", "lessom"], "there is no board lessom; boards with similar names: lesson"),
            (["history", "other"], "there is no message channel other\n"),
            (["meta", "get", "lesson"], "there is no metadata of lesson\n"),
            (["meta", "get", "anna", "--user"], "there is no metadata of user anna\n"),
        ])
    func notThere(words: [String], problem: String) async throws {
        try await withRelay { relay in
            let url = "\(relay.address)"
            #expect(try await Tool.run("pub", "lesson", "--retain", "--record", "k", "x", url: url).code == 0)
            let result = try await Tool.run(words, url: url)
            #expect(result.code == 1 && result.output == "" && result.errors.contains(problem), "\(result)")
        }
    }

    @Test("the history of a channel that has nothing but a board says where that is")
    func onlyBoard() async throws {
        let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for isAgain in [false, true] {
            let relay = try await WhiteboardRelay.start(.init(port: 0, storage: .folder(folder)))
            if isAgain {
                let result = try await Tool.run("history", "lesson", url: "\(relay.address)")
                #expect(result.code == 0 && result.output == "" && result.errors.contains("'boardrelay board export lesson'"), "\(result)")
            } else {
                let result = try await Tool.run("pub", "lesson", "--retain", "--record", "k", "x", url: "\(relay.address)")
                #expect(result.code == 0, "\(result)")
            }
            await relay.stop()
        }
    }

    @Test("an export says how large its file is, board ls how large the relay's, status how much is on boards")
    func sizes() async throws {
        try await withRelay { relay in
            let url = "\(relay.address)"
            #expect(try await Tool.run("pub", "lesson", "--retain", "--record", "k", "x", url: url).code == 0)
            let export = try await Tool.run("board", "export", "lesson", url: url)
            #expect(export.errors == "1 record; the file has \(Printable.size(export.output.utf8.count)).\n")
            let listed = try await Tool.run("board", "ls", url: url)
            let board = try await Tool.run("board", "ls", "--json", url: url).object()
            let bytes = try #require(board["bytes"] as? Int), fileBytes = try #require(board["fileBytes"] as? Int)
            #expect(listed.output.contains("SIZE") && listed.output.contains("  \(Printable.size(fileBytes))  "), "\(listed.output)")
            let status = try await Tool.run("status", "--url", url)
            #expect(status.output.contains("boards    1, \(Printable.size(bytes))\n"), "\(status.output)")
        }
    }

    @Test("a link that is tried at once says so")
    func atOnce() {
        let silent = RelayError(.heartbeatTimeout, "the relay has fallen silent")
        #expect(EventText.words(.waiting(after: .zero, reason: silent)).reason == "the relay has fallen silent; again at once")
        #expect(
            EventText.words(.waiting(after: .milliseconds(250), reason: silent)).reason == "the relay has fallen silent; again in 250.0 ms")
    }
}
