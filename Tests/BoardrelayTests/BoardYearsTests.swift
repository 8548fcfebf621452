import BoardFormat
import Foundation
import RelayClient
import RelayServer
import RelaySystem
import Testing

@testable import RelayConsole
@testable import boardrelay

/// Boards that stay for years: listed, pruned, all of them into files and back.
@Suite("board ls, prune, export --all and import --all")
struct BoardYearsTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "years-\(UUID().uuidString)")
    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func withRelay(_ options: WhiteboardRelay.Options = .init(port: 0), _ body: (_ url: String) async throws -> Void) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await BoardrelayTests.withRelay(options) { try await body("\($0.address)") }
    }

    private func draw(_ board: String, as user: String, url: String, _ more: String...) async throws {
        let title = ["pub", board, "-m", #"{"text":"Ink","v":1}"#, "--type", "title", "--retain", "--record", "title", "--as", user]
        #expect(try await Tool.run(title + more, url: url).code == 0)
    }

    @Test(
        "any name of a channel is a file name, and comes back; two are two where capitals mean nothing",
        arguments: [
            "lesson", "Lesson", "a b", ".hidden", "..", "-rf", "%41", "a.json", "a:b?<>|\"", "CON", String(repeating: "A", count: 64), "~",
        ])
    func names(channel: String) {
        let file = BoardFolder.file(of: channel)
        #expect(BoardFolder.channel(of: file) == channel && file.utf8.count <= 255 && !file.hasPrefix(".") && !file.hasPrefix("-"))
        #expect(file.wholeMatch(of: /([a-z0-9._-]|%[0-9A-F]{2})+/) != nil, "\(file)")
        if channel == "Lesson" { #expect(file.lowercased() != BoardFolder.file(of: "lesson")) }
    }

    @Test(
        "a file that export --all has not named is none",
        arguments: ["Lesson.json", "a b.json", "%6C.json", "lesson.txt", "%zz.json", ".json"])
    func strangers(file: String) { #expect(BoardFolder.channel(of: file) == nil) }

    @Test("[BL12] ls tells owner, age, last use and the file's size, in the order that is asked for, of those that are asked for")
    func list() async throws {
        try await withRelay { url in
            try await draw("small", as: "anna", url: url)
            let large = ["pub", "large", "-m", String(repeating: "x", count: 900), "--retain", "--record", "k", "--as", "bob"]
            _ = try await Tool.run(large, url: url)
            let began = Date().timeIntervalSince1970 * 1000
            let boards = try await Tool.run("board", "ls", "--sort", "size", "--json", url: url).objects()
            #expect(boards.map { $0["channel"] as? String } == ["large", "small"])
            #expect(boards.map { $0["owner"] as? String } == ["bob", "anna"])
            #expect((boards[0]["fileBytes"] as? Int ?? 0) > 900 && boards[0]["bytes"] as? Int == 965)
            for name in ["created", "changed", "used"] { #expect(abs((boards[0][name] as? Double ?? 0) - began) < 60_000, "\(name)") }
            let table = try await Tool.run("board", "ls", "--sort", "created", "--owner", "anna", url: url)
            #expect(table.lines.count == 2 && table.lines[1].hasPrefix("small") && table.lines[1].hasSuffix("anna"), "\(table)")
            #expect(try await Tool.run("board", "ls", "--unused", "180d", url: url).errors == "There are no such boards.\n")
            let sub = try Running(["sub", "small"], url: url)
            _ = await sub.errorLine(containing: "Listening on small")
            let unused = try await Tool.run("board", "ls", "--unused", "0s", "--json", url: url).objects()
            #expect(unused.map { $0["channel"] as? String } == ["large"])
            sub.signal(SIGINT)
            _ = await sub.end()
        }
    }

    @Test("[BL12] prune removes what nobody uses, and what somebody is on stays; a dry run removes nothing")
    func prune() async throws {
        try await withRelay { url in
            for board in ["one", "two", "three"] { try await draw(board, as: "anna", url: url) }
            let sub = try Running(["sub", "two"], url: url)
            _ = await sub.errorLine(containing: "Listening on two")
            let dry = try await Tool.run("board", "prune", "--unused", "0s", "--dry-run", "--json", url: url)
            #expect(dry.code == 0 && dry.errors.hasSuffix(" would be removed; nothing was.\n"), "\(dry)")
            #expect(try dry.objects().map { [$0["type"] as? String, $0["channel"] as? String] } == [["unused", "one"], ["unused", "three"]])
            #expect(try await Tool.run("board", "ls", "--json", url: url).lines.count == 3)
            #expect(try await Tool.run("board", "prune", "--unused", "180d", url: url).errors == "No board is unused for 180d.\n")
            let pruned = try await Tool.run("board", "prune", "--unused", "0s", "--json", url: url)
            #expect(pruned.code == 0 && pruned.errors.contains("2 boards, "), "\(pruned)")
            let gone = try pruned.objects()
            #expect(Set(gone.map { $0["channel"] as? String }) == ["one", "three"])
            #expect(gone.allSatisfy { $0["type"] as? String == "removed" })
            #expect(try await Tool.run("board", "ls", "--json", url: url).objects().map { $0["channel"] as? String } == ["two"])
            sub.signal(SIGINT)
            _ = await sub.end()
        }
    }

    /// What a question is answered with: keys, the exit code and the boards that stay.
    private static let answers: [(keys: String, code: Int32, left: [String])] = [
        ("y\n", 0, []), ("n\n", 1, ["one", "two"]), ("\n", 1, ["one", "two"]), ("\u{4}", 1, ["one", "two"]),
    ]

    @Test(
        "[BL12] at a terminal prune shows the boards and asks: yes removes them; no, nothing and the end of the input do not",
        arguments: answers)
    func asked(keys: String, code: Int32, left: [String]) async throws {
        try await withRelay { url in
            for board in ["one", "two"] { try await draw(board, as: "anna", url: url) }
            let words = ["board", "prune", "--unused", "0s"]
            let terminal = try PseudoTerminal(words, environment: ["BOARDRELAY_URL": url, "BOARDRELAY_KEY": ""], columns: 200)
            try #require(await terminal.shows("Remove all 2 for good? [y/N] "))
            terminal.press(keys)
            let (end, text) = await terminal.end()
            #expect(end == .exited(code) && text.contains("LAST USED") && text.contains("Nothing was removed.") == (code == 1), "\(text)")
            #expect(try await Tool.run("board", "ls", "--json", url: url).objects().map { $0["channel"] as? String } == left)
        }
    }

    @Test(
        "[BL12] Ctrl-C at prune's question ends it, and removes nothing; without a terminal to read the question nobody is asked",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")))
    func interrupted() async throws {
        try await withRelay { url in
            try await draw("one", as: "anna", url: url)
            let environment = ["BOARDRELAY_URL": url, "BOARDRELAY_KEY": ""], words = ["board", "prune", "--unused", "0s"]
            let terminal = try PseudoTerminal(words, environment: environment, columns: 200)
            try #require(await terminal.shows("Remove it for good? [y/N] "))
            terminal.press("\u{3}")
            let (end, text) = await terminal.end()
            #expect(end == .signalled(SIGINT) || end == .exited(130), "\(end): \(text)")
            #expect(try await Tool.run("board", "ls", "--json", url: url).lines.count == 1)
            // Data alone is in the pipe, although somebody was asked.
            let file = folder.appending(path: "out")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let shell = "exec \(try Tool.binary().path) \(words.joined(separator: " ")) --json >\(file.path)"
            let piped = try PseudoTerminal(program: ["/bin/sh", "-c", shell], environment: environment, columns: 200)
            try #require(await piped.shows("Remove it for good? [y/N] "))
            piped.press("yes\n")
            #expect(await piped.end().end == .exited(0))
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 1 && lines[0].contains(#""type":"removed","channel":"one""#), "\(lines)")
        }
    }

    @Test("what is left out or does not fit is a usage error", arguments: [
        (["prune"], "option --unused is missing: prune --unused 180d"), (["prune", "--unused", "soon"], "wants a time such as"),
        (["prune", "x", "--unused", "1d"], "prune takes no NAME"), (["rm", "x", "--dry-run"], "option --dry-run is for prune"),
        (["export", "--all"], "the folder is missing: export --all --output FOLDER"), (["import", "--all"], "the folder is missing"),
        (["export", "x", "--all", "-o", "y"], "export --all takes no NAME"), (["ls", "--all"], "option --all is for export and import"),
        (["export", "--all", "-o", "y", "--format", "svg"], "option --format is not for export --all"),
    ])
    func usage(words: [String], problem: String) async throws {
        let result = try await Tool.run(["board"] + words, url: "relay://127.0.0.1:1")
        #expect(result.code == 2 && result.errors.contains(problem), "\(result)")
    }

    @Test("[BL1] all boards go into files and come back on another relay: records, their order, title and paper; the same files again")
    func all() async throws {
        let lines: [[String: Any]]
        let document = try BoardCommandTests.document()
        do {
            let relay = try await WhiteboardRelay.start(.init(port: 0))
            let url = "\(relay.address)"
            for board in ["lesson", "Lesson 2"] { _ = try await Tool.run("board", "import", board, "-", url: url, input: document) }
            try await draw(".dots", as: "anna", url: url)
            for (board, paper) in [("Lesson 2", "ruled"), (".dots", "graph")] {
                #expect(try await Tool.run("meta", "set", board, "paper", paper, url: url).code == 0)
            }
            lines = try await Tool.run("board", "export", "--all", "-o", path("a"), "--json", url: url).objects()
            await relay.stop()
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(lines.map { $0["channel"] as? String } == [".dots", "Lesson 2", "lesson"])
        #expect(lines.map { $0["records"] as? Int } == [1, 5, 5])
        #expect(try Data(contentsOf: URL(filePath: path("a/lesson.json"))) == document)
        let head = #"{"format":"board","paper":"ruled","records":["#
        #expect(try String(contentsOfFile: path("a/%4Cesson%202.json"), encoding: .utf8).hasPrefix(head + "\n"))
        try await withRelay { url in
            let imported = try await Tool.run("board", "import", "--all", path("a"), "--json", url: url)
            #expect(imported.code == 0 && imported.errors.hasSuffix("3 of 3 boards came in whole.\n"), "\(imported)")
            #expect(try imported.objects().map { $0["records"] as? Int } == [1, 5, 5])
            #expect(try await Tool.run("meta", "get", "Lesson 2", "paper", url: url).output == "ruled\n")
            #expect(try await Tool.run("board", "export", "--all", "-o", path("b"), url: url).code == 0)
            for line in lines {
                let file = try #require(line["file"] as? String)
                let again = file.replacingOccurrences(of: "/a/", with: "/b/")
                #expect(try Data(contentsOf: URL(filePath: file)) == Data(contentsOf: URL(filePath: again)), "\(file)")
            }
            // A file that is wrong keeps out its own board alone; one of a strange name all of them, before anything is written.
            try Data("nothing".utf8).write(to: URL(filePath: path("a/lesson.json")))
            let wrong = try await Tool.run("board", "import", "--all", path("a"), url: url)
            #expect(wrong.code == 1 && wrong.errors.hasSuffix("2 of 3 boards came in whole.\n"), "\(wrong)")
            try Data().write(to: URL(filePath: path("a/What.json")))
            let strange = try await Tool.run("board", "import", "--all", path("a"), url: url)
            #expect(strange.code == 1 && strange.errors.contains("has no name that 'board export --all' gives"), "\(strange)")
        }
    }

    @Test("[RT10] a host's import is not held up by the rate of messages, large records and small ones mixed")
    func quickly() async throws {
        var options = WhiteboardRelay.Options(port: 0, access: .keys())
        options.hub.limits.messagesPerSecond = 1
        let relay = try await WhiteboardRelay.start(options)
        var writer = BoardExportWriter()
        var document = writer.head()
        for number in 0..<400 {
            // Every 50th takes parts.
            let bytes = number % 50 == 0 ? 70_000 : 200
            document += try writer.line(WhiteboardRecord(key: "k\(number)", payload: .bytes(Array(repeating: 7, count: bytes))))
        }
        let environment = ["BOARDRELAY_KEY": relay.keys?.host ?? ""]
        // At the rate it would take half a minute.
        let imported = try await Tool.run(
            ["board", "import", "lesson", "-", "--timeout", "10s"], url: "\(relay.address)", environment: environment,
            input: Data(document + writer.tail()))
        #expect(imported.code == 0 && imported.errors.contains("400 of 400 records are kept"), "\(imported)")
        let exported = try await Tool.run(["board", "export", "lesson"], url: "\(relay.address)", environment: environment)
        #expect(exported.output.utf8.elementsEqual(document + writer.tail()))
        await relay.stop()
    }
}
