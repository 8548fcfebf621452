import Foundation
import RelayCore
import RelayMonitoring
import RelayServer
import RelaySystem
import RelayWire
import Testing

@testable import boardrelay
@testable import RelayConsole

/// What moderators decide, as an operator does it on the command line.
@Suite("user, channel, and what sub prints of them")
struct ModerationCommandTests {
    private let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }

    private func run(_ words: String..., url: String) async throws -> Tool.Result {
        try await Tool.run(words, url: url, environment: surroundings)
    }

    /// A relay of this user's, which its commands find the host key of, and a file with the join key.
    private func withServe(_ body: (_ url: String, _ keyFile: String, _ serve: Running) async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let port = "\(UInt16.random(in: 20_000..<32_000))"
        let serve = try Running(
            ["serve", "--host", "127.0.0.1", "--port", port, "--data-dir", "\(folder)/d", "--log-level", "error"], environment: surroundings
        )
        try #require(await serve.errorLine(containing: "Ctrl-C ends it") != nil)
        let key = try await Tool.run(["key", "show", "join", "--json", "--port", port], environment: surroundings).object()
        try Data((try #require(key["key"] as? String)).utf8).write(to: URL(filePath: "\(folder)/key"))
        do {
            try await body("relay://127.0.0.1:\(port)", "\(folder)/key", serve)
        } catch {
            serve.signal(SIGTERM)
            throw error
        }
        serve.signal(SIGTERM)
        _ = await serve.end()
    }

    private func sub(_ user: String, _ keyFile: String, url: String, _ more: String...) async throws -> Running {
        let sub = try Running(["sub", "lesson", "--as", user, "--key-file", keyFile, "--json"] + more, url: url, environment: surroundings)
        try #require(await sub.errorLine(containing: "Listening on lesson") != nil)
        return sub
    }

    @Test(
        "[AC10, AC11, AC15, AC19] the operator, found by the host key, makes a reader and freezes; sub prints both; the log has a line of each at any level"
    )
    func rolesAndFreeze() async throws {
        try await withServe { url, key, serve in
            let anna = try await sub("anna", key, url: url)
            let role = try await run("user", "role", "anna", "reader", "--as", "teacher", "--json", url: url)
            let object = #"{"type":"role","user":"anna","known":true,"relay":"\#(url)","role":"reader"}"#
            #expect(role.code == 0 && role.output == object + "\n", "\(role.errors)")
            #expect(await anna.line(containing: "accessChanged") == #"{"type":"accessChanged","by":"teacher","role":"reader"}"#)
            let frozen = try await run("channel", "freeze", "lesson", "--as", "teacher", url: url)
            #expect(frozen.code == 0 && frozen.output == "" && frozen.errors == "\(url): lesson is frozen.\n")
            #expect(
                await anna.line(containing: "channelMode")
                    == #"{"type":"channelMode","channel":"lesson","kind":"message","mode":"frozen","on":true,"by":"teacher"}"#)
            let refused = try await run("pub", "lesson", "-m", "x", "--key-file", key, url: url)
            #expect(refused.code == 1 && refused.errors.contains("(notPermitted)"))
            #expect(try await run("channel", "unfreeze", "lesson", url: url).code == 0)
            #expect(try await run("pub", "lesson", "-m", "x", "--key-file", key, url: url).code == 0)
            #expect(try await run("user", "role", "anna", "own", url: url).code == 0)
            #expect(await anna.line(containing: "accessChanged")?.contains(#""role":"editor""#) == true)
            let ended = try await run("channel", "end", "lesson", "--reason", "Over.", "--as", "teacher", url: url)
            #expect(ended.code == 0 && ended.errors == "\(url): lesson is gone, from the relay's disk, too.\n", "\(ended)")
            // There is nothing left that it could print.
            let left = await anna.end()
            #expect(left.code == 1 && left.errors.contains("Over.") && left.output.contains("channelEnded"), "\(left)")

            let line = try #require(await serve.errorLine(containing: "audit: "))
            #expect(
                line.wholeMatch(
                    of: /audit: [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z user teacher, 127\.0\.0\.1:[0-9]+ made user anna a reader/) != nil,
                "\(line)")
            for words in ["teacher, ", "unfroze channel lesson", "gave user anna back", "ended channel lesson"] {
                #expect(await serve.errorLine(containing: "audit: ")?.contains(words) == true, "\(words)")
            }

            // Whoever has the join key is no moderator.
            for words in [["user", "ban", "bob"], ["channel", "freeze", "lesson"], ["user", "bans"]] {
                let result = try await Tool.run(words + ["--key-file", key], url: url, environment: surroundings)
                #expect(result.code == 1 && result.errors.contains("the role moderator is missing (notPermitted)"), "\(result.errors)")
            }
        }
    }

    @Test("[AC16] status with a URL asks as a client does: the operator's is a moderator, a pupil's is refused; every user is listed")
    func status() async throws {
        try await withServe { url, key, _ in
            let anna = try await sub("anna", key, url: url)
            let table = try await Tool.run(["status", "--url", url, "--as", "teacher"], environment: surroundings)
            #expect(table.code == 0, "\(table.errors)")
            #expect(table.output.contains("2 connections, 2 sessions (0 away), 1 channel\n"))
            #expect(table.lines.first?.hasPrefix("\(url)   up ") == true, "\(table.output)")
            #expect(
                table.lines.contains { $0.hasPrefix("anna     127.0.0.1:") && $0.contains("boardrelay \(Program.version)") },
                "\(table.output)")
            #expect(table.lines.contains { $0.hasPrefix("this machine         2  ") }, "\(table.output)")
            let json = try await Tool.run(["status", "--url", url, "--as", "teacher", "--json"], environment: surroundings).object()
            let status = try #require(json["status"] as? [String: Any])
            #expect((status["users"] as? [[String: Any]])?.map { $0["user"] as? String } == ["anna", "teacher"])
            #expect(json["address"] as? String == url && status["uptimeMs"] is Int)
            let refused = try await Tool.run(["status", "--url", url, "--key-file", key], environment: surroundings)
            #expect(refused.code == 1 && refused.errors.contains("(notPermitted)"), "\(refused.errors)")
            anna.signal(SIGINT)
            _ = await anna.end()
        }
    }

    @Test(
        "[AC16] as a table: who lags stands first, the slowest on top, then who holds much; a queue that is just written lags not; names are escaped"
    )
    func table() throws {
        var status = RelayStatus()
        func user(_ name: String, _ milliseconds: UInt64, away: Bool = false, memory: Int = 5_000) throws -> RelayStatus.User {
            var user = RelayStatus.User()
            (user.user, user.client, user.away) = (name, "\u{7}", away)
            (user.peer, user.memoryBytes) = (away ? "" : "10.0.0.1:5", memory)
            (user.queuedBytes, user.packetsLost, user.backlog) = (Int(milliseconds) * 1_000, 1_234, .milliseconds(Int64(milliseconds)))
            return user
        }
        status.users = [
            try user("anna", 0), try user("bob", 400), try user("carl", 2_500), try user("dora", 249), try user("eve", 400),
            try user("frida", 0, away: true), try user("gina", 0, memory: 6_000), try user("hal", 0, memory: 12_345_678),
        ]
        status.uptime = .seconds(65)
        status.storageFailure = "full\u{1B}"
        let lines = StatusText.lines(status, of: "relay://x:1")
        #expect(lines.first == "relay://x:1   up 1:05")
        #expect(lines.contains { $0.hasPrefix("READ-ONLY") && $0.hasSuffix("full\\u{1B}") }, "\(lines)")
        #expect(lines.suffix(8).map { $0.prefix { $0 != " " } } == ["carl", "bob", "eve", "hal", "anna", "dora", "frida", "gina"])
        func words(_ line: String?) -> [String] { line?.split(separator: " ").map { String($0) } ?? [] }
        #expect(words(lines.suffix(8).first) == ["carl", "10.0.0.1:5", "\\u{7}", "5.0", "kB", "2.5", "MB", "2.5", "s", "1,234"])
        #expect(words(lines.suffix(2).first) == ["frida", "away", "\\u{7}", "5.0", "kB", "0", "B", "1,234"])
        #expect(words(lines.suffix(5).first)[3...4] == ["12.3", "MB"])
    }

    @Test(
        "[AC12, AC13, AC14] sub ends with exit code 1 and the reason when its session is ended or banned; who is banned is listed, stays out, and comes in again unbanned"
    )
    func endsAndBans() async throws {
        try await withServe { url, key, _ in
            var anna = try await sub("anna", key, url: url)
            #expect(try await run("user", "end", "anna", "--reason", "See you\u{7} tomorrow.", url: url).code == 0)
            var ended = await anna.end()
            #expect(
                ended.code == 1 && ended.errors.contains("the relay closed: See you\\u{7} tomorrow. (endedByModerator)"), "\(ended.errors)")
            let offline = try await run("user", "end", "anna", url: url)
            #expect(offline.code == 1 && offline.errors.contains("(userOffline)"))

            anna = try await sub("anna", key, url: url)
            let banned = try await run("user", "ban", "anna", "--for", "2h", "--as", "teacher", url: url)
            #expect(banned.errors == "\(url): anna is banned for 2h, or until 'boardrelay user unban anna'.\n")
            ended = await anna.end()
            #expect(
                ended.code == 1 && ended.errors.contains("the relay closed: user anna is banned for another 7200 s (banned)"),
                "\(ended.errors)")
            let out = try await run("pub", "lesson", "-m", "x", "--as", "anna", "--key-file", key, url: url)
            #expect(out.code == 1 && out.errors.contains("(banned)"), "\(out.errors)")
            #expect(try await run("user", "ban", "bob", "--as", "teacher", url: url).code == 0)
            let bans = try await run("user", "bans", "--json", url: url).objects()
            #expect(
                bans.map { $0["user"] as? String } == ["anna", "bob"]
                    && bans.allSatisfy { $0["type"] as? String == "banned" && $0["by"] as? String == "teacher" })
            #expect((bans[0]["until"] as? Int).map { $0 - (bans[0]["time"] as? Int ?? 0) } == 7_200_000 && bans[1]["until"] == nil)
            let table = try await run("user", "bans", url: url).lines
            #expect(table.count == 3 && table[2].hasPrefix("bob   for good"), "\(table)")
            #expect(try await run("user", "unban", "anna", url: url).code == 0)
            let again = try await run("user", "unban", "anna", url: url)
            #expect(
                again.code == 1
                    && again.errors.contains("no banned user has the id \"anna\": 'boardrelay user bans' lists the ids"), "\(again)")
            #expect(try await run("pub", "lesson", "-m", "x", "--as", "anna", "--key-file", key, url: url).code == 0)
            let forgotten = try await run("user", "forget", "anna", url: url)
            #expect(
                forgotten.errors.hasPrefix("\(url): Gone, from the relay's disk, too: the id, which is free now, with its client's secret. Stays: ")
            )
            // There is nothing left by which the relay would know her.
            let nothing =
                #""removed":{"metadata":0,"role":false,"id":false,"ownedBoards":0,"records":0},"#
                + #""kept":{"recordBytes":0,"ban":false,"id":false}"#
            #expect(
                try await run("user", "forget", "anna", "--json", url: url).output
                    == #"{"type":"forget","user":"anna","known":false,"relay":"\#(url)",\#(nothing)}"# + "\n")
            let records = try await run("user", "forget", "anna", "--with-records", "--json", url: url)
            #expect(
                records.output == #"{"type":"forget","user":"anna","known":false,"relay":"\#(url)","withRecords":true,\#(nothing)}"# + "\n")
            let unknown = try await run("user", "role", "anna", "own", url: url)
            #expect(unknown.errors.contains(#"knows no user with the id "anna""#), "\(unknown.errors)")
            #expect(unknown.errors.hasSuffix("\(url): anna may do what its key or token gives.\n"))
        }
    }
}
