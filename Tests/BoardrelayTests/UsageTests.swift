import BoardFormat
import Foundation
import RelayServer
import RelaySystem
import Testing

@testable import RelayConsole
@testable import boardrelay

@Suite("the program, run as a user runs it")
struct UsageTests {
    @Test(
        "a command line that is wrong ends with 2, says what is wrong on standard error, and prints no data",
        arguments: [
            ([], "Usage: boardrelay COMMAND"),
            (["dance"], "unknown command \"dance\""),
            (["pubb"], "did you mean pub?"),
            (["help", "dance"], "unknown command"),
            (["serve", "--porrt", "1"], "unknown option --porrt, did you mean --port?"),
            (["serve", "--port", "65536"], "option --port wants a whole number within 0…65535"),
            (["serve", "--auth", "none"], "option --auth wants one of key, token, open, not \"none\""),
            (["serve", "--flush", "1s"], "option --flush wants adaptive, immediate or a tick"),
            (["serve", "--in-memory", "--data-dir", "x"], "exclude each other"),
            (["serve", "now"], "unexpected argument \"now\""),
            (["status", "--port", "0"], "option --port"),
            (["status", "--url", "relay://x", "--port", "7"], "options --url and --port exclude each other"),
            (["status", "--key", "k", "--control", "c"], "options --key and --control exclude each other"),
            (["status", "--as", "anna"], "option --as wants --url or a key"),
            (["sub"], "CHANNEL is missing: the channel's name"),
            (["sub", String(repeating: "x", count: 65)], "CHANNEL: a name has at most 64 bytes, this one has 65"),
            (["pub", "lesson", "hello", "world"], "unexpected argument \"world\": put quotes around a TEXT of several words"),
            (["--wrong"], "unknown option \"--wrong\""),
            (["sub", "a/b"], "CHANNEL takes no \""),
            (["sub", "lesson", "-n", "0"], "option -n wants a whole number of at least 1"),
            (["sub", "lesson", "--timeout", "soon"], "option --timeout wants a time"),
            (["sub", "lesson", "--topic", "_x"], "option --topic takes no \"_x\": names are ASCII"),
            (["sub", "lesson", "--url", "ftp://x"], "option --url wants an address"),
            (["sub", "lesson", "--url", "HTTPS://x/#pin=ab"], "option --url: a pin has 22 letters of base64url, here are 2"),
            (["key", "show", "--url", "wss://x#also=y"], "relays://x:443 and relay://y:7420 are not protected in the same way"),
            (["bench", "messages", "--url", "relays://x"], "option --url: relays://x:7420 wants TLS, which bench does not speak"),
            (["serve", "--tls-key", "x"], "option --tls-key goes with --tls-certificate"),
            (["serve", "--tls-certificate", "x"], "option --tls-certificate goes with --tls-key"),
            (["serve", "--allow-plain"], "option --allow-plain goes with --tls-certificate"),
            (["serve", "--log", "a", "--auth", "open"], "option --log wants nats://HOST:PORT or tls://HOST:PORT"),
            (["serve", "--log", "nats://a"], "--log with --auth key wants what seals the keys: option --log-secret-file"),
            (["serve", "--log", "nats://a", "--auth", "open", "--spaces", "--space", "a"], "option --space does not go with --spaces"),
            (["serve", "--log", "nats://a", "--auth", "open", "--in-memory"], "option --log does not go with --in-memory"),
            (["serve", "--max-spaces", "3", "--spaces"], "option --max-spaces goes with --log and --spaces"),
            (["serve", "--max-spaces", "3", "--log", "nats://a", "--auth", "open"], "option --max-spaces goes with --log and --spaces"),
            (["serve", "--log", "nats://a", "--auth", "open", "--spaces", "--max-spaces", "65"], "option --max-spaces wants"),
            (["serve", "--log", "nats://a", "--auth", "open", "--space", "A"], "option --space cannot be used"),
            (["serve", "--log", "nats://a", "--auth", "open", "--reached-at", "relays://x"], "option --reached-at begins with relay://"),
            (["serve", "--log", "nats://a", "--auth", "open", "--orphan", "wait"], "option --orphan wants one of stop, serve"),
            (["serve", "--log", "nats://a", "--auth", "open", "--leave-log"], "option --leave-log does not go with --log"),
            (["serve", "--leave-log", "--in-memory"], "option --leave-log does not go with --in-memory"),
            (["serve", "--reached-at", "relay://x"], "option --reached-at goes with --log"),
            (["serve", "--orphan", "serve"], "option --orphan goes with --log"),
            (["tls", "show"], "FILE is missing: a certificate in PEM"),
            (["tls", "show", "x", "--days", "3"], "option --days is for new"),
            (["sub", "lesson", "--raw", "--json"], "options --raw and --json exclude each other"),
            (["sub", "lesson", "--as", ""], "option --as: a name has at least 1 byte"),
            (["pub", "lesson"], "what to send is missing: TEXT, -m TEXT, -f FILE or standard input"),
            (["pub", "lesson", "a", "-m", "b"], "TEXT and option -m exclude each other"),
            (["pub", "lesson", "a", "--remove", "--record", "k"], "TEXT and option --remove exclude each other"),
            (["pub", "lesson", "a", "--to", "bob"], "CHANNEL and option --to exclude each other"),
            (["pub", "lesson", "a", "b"], "unexpected argument \"b\""),
            (["pub", "lesson", "a", "-l"], "TEXT and option -l exclude each other"),
            (["pub", "lesson", "-l", "--record", "k"], "options --lines and --record exclude each other"),
            (["pub", "lesson", "-m", "a", "-f", "b"], "options -m and -f exclude each other"),
            (["pub", "lesson", "-m", "a", "--topic", "t", "--to", "bob"], "exclude each other"),
            (["pub", "lesson", "-m", "a", "--slot", "1"], "option --slot wants --topic"),
            (["pub", "lesson", "-m", "a", "--to", "bob"], "CHANNEL and option --to exclude each other"),
            (["pub", "-m", "a"], "CHANNEL is missing"),
            (["pub", "lesson", "-m", "a", "--retain"], "option --retain wants --record"),
            (["pub", "lesson", "--remove"], "option --remove wants --record"),
            (["pub", "lesson", "--remove", "--record", "k", "-m", "a"], "options --remove and -m exclude each other"),
            (["pub", "lesson", "--remove", "--record", "k", "--retain"], "options --remove and --retain exclude each other"),
            (["pub", "lesson", "--record", "_k", "-m", "a"], "option --record takes no \"_k\""),
            (["pub", "lesson", "--retain", "--record", "k"], "what to send is missing: TEXT"),
            (["pub", "lesson", "--large", "--topic", "t", "-m", "a"], "options --large and --topic exclude each other"),
            (["pub", "--to", "bob", "--record", "k", "-m", "a"], "options --record and --to exclude each other"),
            (["presence"], "CHANNEL is missing"),
            (["meta"], "ACTION is missing"),
            (["meta", "read", "lesson"], "ACTION is one of get, set, update, remove, not \"read\""),
            (["meta", "set", "lesson"], "KEY is missing"),
            (["meta", "set", "lesson", "k"], "what to write is missing: VALUE or -f FILE"),
            (["meta", "set", "lesson", "k", "v", "-f", "x"], "VALUE and option -f exclude each other"),
            (["meta", "set", "lesson", "_k", "v"], "KEY takes no \""),
            (["meta", "get", "lesson", "k", "v"], "get takes no value"),
            (["meta", "get", "lesson", "--lock", "pen"], "option --lock is for set, update and remove"),
            (["meta", "remove", "lesson", "--if-revision", "1"], "option --if-revision wants KEY"),
            (["meta", "get", "x", "--user", "--stream"], "exclude each other"),
            (["lock", "list", "lesson", "pen"], "list takes no LOCK"),
            (["lock", "set", "lesson"], "LOCK is missing"),
            (["lock", "acquire", "lesson", "pen", "--ttl", "5s"], "option --ttl is for set"),
            (["lock", "revoke", "lesson", "pen"], "revoke wants --from USER"),
            (["user"], "ACTION is missing"),
            (["user", "kick", "anna"], "ACTION is one of role, end, ban, unban, bans, forget, not \"kick\""),
            (["user", "ban"], "USER is missing"),
            (["user", "unban", "a/b"], "USER takes no \""),
            (["key", "show", "--url", "relay://x", "--port", "7"], "exclude each other"),
            (["key", "show", "--end-sessions"], "option --end-sessions is for rotate"),
            (["user", "bans", "anna"], "bans takes no USER"),
            (["user", "role", "anna"], "ROLE is missing"),
            (["user", "role", "anna", "moderator"], "ROLE is one of reader, editor, coeditor, own, not \"moderator\""),
            (["user", "end", "anna", "reader"], "end takes no ROLE"),
            (["user", "end", "anna", "--for", "2h"], "option --for is for ban"),
            (["user", "ban", "anna", "--reason", "x"], "option --reason is for end"),
            (["user", "ban", "anna", "--for", "500ms"], "option --for wants 1s to 365d"),
            (["user", "ban", "anna", "--for", "366d"], "option --for wants 1s to 365d"),
            (["user", "end", "anna", "--reason", String(repeating: "x", count: 257)], "option --reason has at most 256 bytes, not 257"),
            (["channel", "freeze"], "NAME is missing"),
            (["channel", "melt", "lesson"], "ACTION is one of freeze, unfreeze, open, close, end, not \"melt\""),
            (["channel", "freeze", "lesson", "--reason", "x"], "option --reason is for end"),
            (["channel", "end", "x", "--reason", String(repeating: "x", count: 257)], "option --reason has at most 256 bytes, not 257"),
            (["board"], "ACTION is missing"),
            (["board", "list"], "ACTION is one of ls, export, import, rm, prune, clear, undo, not \"list\""),
            (["board", "ls", "lesson"], "ls takes no NAME"),
            (["board", "rm"], "NAME is missing"),
            (["board", "clear", "lesson", "--of", "anna"], "option --of is for rm"),
            (["board", "rm", "lesson", "--of", "a/b"], "option --of takes no \""),
            (["board", "clear", "a/b"], "NAME takes no \""),
            (["board", "import", "lesson"], "FILE is missing"),
            (["board", "export", "lesson", "file"], "export takes no FILE"),
            (["board", "export", "lesson", "--format", "png"], "option --format wants one of json, svg, not \"png\""),
            (["board", "export", "lesson", "--json"], "option --json is not for export"),
            (["board", "import", "lesson", "file", "-o", "x"], "option -o is for export"),
            (["serve", "--max-board-bytes", "64 MB"], "option --max-board-bytes wants a size such as 1000, 64MB or 256MiB, not \"64 MB\""),
            (["serve", "--memory", "1MB"], "option --memory is at least 16MiB"),
            (["serve", "--max-board-bytes", "0"], "option --max-board-bytes is at least 1"),
            (["serve", "--allow-origin", "http://localhost:5173/"], "is no origin, such as http://localhost:5173"),
            (["serve", "--host-name", "https://a"], "is no name with or without a port"),
            (["serve", "--trusted-proxy", "localhost"], "is no address of a proxy"),
            (["serve", "--expire-boards", "30s"], "option --expire-boards is at least 1m"),
            (["bench"], "SCENARIO is missing"),
            (["bench", "dance"], "SCENARIO is one of fan10x50, "),
            (["bench", "paced10", "--seconds", "0"], "option --seconds wants a whole number within 1…600"),
            (["bench", "paced10", "--repeat", "0"], "option --repeat wants a whole number within 1…100"),
            (["bench", "paced10", "--flush", "1s"], "option --flush wants adaptive, immediate or a tick"),
            (["bench", "paced10", "--sessions", "10"], "option --sessions is for conns"),
            (["bench", "conns", "--sessions", "1"], "option --sessions wants a whole number within 2…18000"),
            (["bench", "paced10", "--recording", "x"], "option --recording is for lesson"),
            (["bench", "lesson"], "option --recording is missing"),
            (["bench", "lesson", "--recording", "x", "--speed", "0"], "option --speed wants a number within 0.01…10000"),
            (["bench", "join", "--repeat", "2"], "option --repeat is not for join"),
            (["bench", "storage", "--url", "relay://x"], "option --url is not for storage"),
            (["bench", "paced10", "--url", "relay://x", "--flush", "2ms"], "options --url and --flush exclude each other"),
            (["bench", "paced10", "--key-file", "x"], "option --key-file wants --url"),
            (["serve", "--packet-rate", "0"], "option --packet-rate wants a whole number within 1…1000000"),
            (["demo", "--speed", "max"], "option --speed wants a number within 0.01…10000, not \"max\""),
            (["demo", "board"], "unexpected argument"),
            (["replay", "file"], "option --channel is missing"),
            (["replay", "--channel", "c"], "FILE is missing"),
            (["replay", "file", "--channel", "c", "--speed", "0"], "option --speed wants a number within 0.01…10000 or max"),
            (["replay", "file", "--channel", "c", "--store", "disk"], "option --store wants one of metadata, not \"disk\""),
            (["replay", "file", "--channel", "c", "--users", "3"], "option --users wants --boards-as-users"),
        ] as [([String], String)])
    func usage(words: [String], problem: String) async throws {
        let result = try await Running(words).end()
        #expect(result.code == 2)
        #expect(result.output == "")
        #expect(result.errors.contains(problem), "\(result.errors)")
    }

    @Test("a wrong $BOARDRELAY_URL is named")
    func environment() async throws {
        let result = try await Tool.run("presence", "lesson", url: "gopher://x")
        #expect(result.code == 2 && result.errors.contains("$BOARDRELAY_URL wants an address"))
    }

    @Test("every command has help with examples, in 80 columns, on standard output", arguments: Boardrelay.commands.map(\.name))
    func help(name: String) async throws {
        let result = try await Tool.run(name, "--help")
        #expect(result.code == 0 && result.errors == "")
        #expect(result.output.hasPrefix("boardrelay \(name): "))
        #expect(result.output.contains("Examples:\n  boardrelay \(name)"))
        #expect(result.lines.allSatisfy { $0.count <= 80 })
        #expect(try await Tool.run("help", name).output == result.output)
    }

    @Test("the program's help lists every command; --version tells the version")
    func overview() async throws {
        let help = try await Tool.run("--help")
        #expect(help.code == 0 && help.errors == "")
        #expect(help.lines.allSatisfy { $0.count <= 80 })
        for command in Boardrelay.commands { #expect(help.output.contains("  \(command.name) ")) }
        let version = try await Tool.run("--version")
        #expect(version.code == 0 && version.output == "boardrelay \(Program.version) (plain build)\n")
    }

    @Test("the version of a packaged build has its commit, a plain build says that it is one")
    func version() {
        #expect(Boardrelay.versionText(commit: "abc1234") == "boardrelay \(Program.version) (commit abc1234)")
        #expect(Boardrelay.versionText(commit: nil) == "boardrelay \(Program.version) (plain build)")
    }
}

extension UsageTests {
    @Test("the file on JSON has every type of object that a command prints, and every field of a relay's journal")
    func output() throws {
        let file = try String(contentsOf: Samples.packageRoot.appending(path: "docs/examples/json-lines.txt"), encoding: .utf8)
        let lines = file.split(separator: "\n", omittingEmptySubsequences: false)
        let rows = lines.drop { !$0.hasPrefix("== sub") }.dropFirst(2).prefix { !$0.isEmpty }
        let told = Set(rows.compactMap { $0.firstMatch(of: /^([A-Za-z]+)\s/).map { String($0.output.1) } })
        // What a board keeps is printed as single messages.
        let printed = try Self.types(in: Self.source("RelayConsole/EventJSON.swift"))
        #expect(printed.count >= 14 && told == printed.subtracting(["board"]), "\(told.symmetricDifference(printed))")
        let words = Set(file.matches(of: /[A-Za-z]+/).map { String($0.output) })
        for module in ["boardrelay", "RelayReplay", "RelayBench", "RelayConsole"] {
            for type in try Self.types(in: Self.source(module)) { #expect(words.contains(type), "\(module): \(type)") }
        }
        let fields = try #require(file.firstMatch(of: /with a\s+data folder journal: ([^.]*)\./)).output.1
        let status = try Self.source("RelayServer/Storage/JournalStatus.swift").matches(of: /public var ([a-zA-Z]+)/).map {
            String($0.output.1)
        }
        #expect(fields.matches(of: /[a-zA-Z]+/).map { String($0.output) } == status)
    }

    private static func types(in source: String) -> Set<String> {
        Set(source.matches(of: /"type": "([A-Za-z]+)"/).map { String($0.output.1) })
    }

    /// A file below `Sources`, or all files below a folder.
    private static func source(_ path: String) throws -> String {
        let place = Samples.packageRoot.appending(path: "Sources/\(path)")
        if path.hasSuffix(".swift") { return try String(contentsOf: place, encoding: .utf8) }
        let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return try files.filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }

    @Test(
        "options that other pages name are options of a command, or of another program that the page runs",
        arguments: [
            "README.md", "docs/operations.md", "docs/security.md", "docs/javascript.md", "docs/architecture.md", "docs/protocol.md",
            "docs/contributing.md",
            "docs/command-line.md",
        ])
    func otherPages(name: String) throws {
        let page = try String(contentsOf: Samples.packageRoot.appending(path: name), encoding: .utf8)
        let ours = Set(Boardrelay.commands.flatMap(\.options).flatMap(\.names) + ["--help", "--version"])
        // swift, curl, prlimit, docker, and checks of this repository.
        let others: Set = [
            "--filter", "--skip-build", "--build-tests", "--product", "--fail", "--nofile", "--binary", "--in-place", "--option",
            "--markdown", "--start", "--check", "--detach", "--env", "--input", "--interactive", "--name", "--network", "--publish", "--rm",
            "--volume",
        ]
        for match in page.matches(of: /(?:^|[ `'(])(--[a-z][a-z-]+)/.anchorsMatchLineEndings()) {
            #expect(ours.contains(String(match.output.1)) || others.contains(String(match.output.1)), "\(name): \(match.output.1)")
        }
    }
}

enum Samples {
    static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func path(_ name: String) -> String { packageRoot.appending(path: "Tests/Samples/\(name).ndjson").path }

    /// The folder of whole recordings. Without one the tests read the samples.
    private static let data = ProcessInfo.processInfo.environment["BOARDRELAY_DATA"].map { URL(filePath: $0) }

    private static func recorded(_ name: String) throws -> String {
        guard let data else { return path(name) }
        let path = data.appending(path: "strokes/\(name).ndjson").path
        guard FileManager.default.isReadableFile(atPath: path) else { throw DataMissing(path: path) }
        return path
    }

    /// A drawing of which one stroke is over 32 KiB, and how many strokes it has.
    static func longStrokes() throws -> (path: String, strokes: Int) {
        data == nil ? (try recorded("long-strokes"), 2) : (try recorded("excalidraw-long-strokes"), 5)
    }

    /// A lesson, and what another program has counted of it: its strokes, those that fit into a channel's metadata, and their bytes.
    struct Lesson {
        var ndjson: Data
        var strokes: Int
        var kept: Int
        var bytes: Int
        /// What the metadata would have with the next one; and with the first one once more.
        var over = 0, again = 0

        func recording() throws -> Recording { try Recording(ndjson: [UInt8](ndjson)) }
    }

    static func lessonThatFits() throws -> Lesson {
        if data == nil { return Lesson(ndjson: try lesson(times: 20), strokes: 120, kept: 120, bytes: 49_001) }
        let ndjson = try Data(contentsOf: URL(filePath: recorded("wacom-2-digital-ink-is-processable")))
        return Lesson(ndjson: ndjson, strokes: 177, kept: 177, bytes: 57_888)
    }

    static func lessonTooLarge() throws -> Lesson {
        if data == nil {
            return Lesson(ndjson: try lesson(times: 240), strokes: 1_440, kept: 160, bytes: 65_170, over: 65_929, again: 65_725)
        }
        let ndjson = try Data(contentsOf: URL(filePath: recorded("wacom-1-value-of-ink")))
        return Lesson(ndjson: ndjson, strokes: 471, kept: 177, bytes: 65_497, over: 66_121, again: 66_052)
    }

    /// The six strokes of the sample, over and over.
    private static func lesson(times: Int) throws -> Data {
        let once = try Data(contentsOf: URL(filePath: path("lesson")))
        return (0..<times).reduce(into: Data()) { all, _ in all += once }
    }

    static func recording(_ path: String) throws -> Recording {
        try Recording(ndjson: [UInt8](Data(contentsOf: URL(filePath: path))))
    }

    struct DataMissing: Error, CustomStringConvertible {
        var path: String
        var description: String {
            "the recording \(path) is not there: BOARDRELAY_DATA is the folder that holds strokes/, or is unset for the samples"
        }
    }
}
