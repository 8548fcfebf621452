import Foundation
import RelayIO
import RelayServer
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("settings: a file, the environment and the command line", .timeLimit(.minutes(10)))
struct SettingsTests {
    private let folder = ServeTests.folder()
    private var path: String { "\(folder)/relay.conf" }
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }

    private func withFile(_ text: String, _ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write(text)
        try await body()
    }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    @Test("a line is a name and a value; spaces, tabs, quotes around the value and lines that say nothing do not count")
    func lines() throws {
        let file = try SettingsFile("# x = 1\n\n \tport=7\r\nhost-name =  \"a.example\" \nhost-name = b = c\nmemory =", path: "f")
        #expect(
            file.lines.map { [String($0.number), $0.name, $0.value] } == [
                ["3", "port", "7"], ["4", "host-name", "a.example"], ["5", "host-name", "b = c"], ["6", "memory", ""],
            ])
    }

    private func filled(_ words: [String], _ environment: [String: String], _ text: String) throws(UsageError) -> Arguments {
        var arguments = try Arguments(words, for: .serve)
        try arguments.fill(from: SettingsFile(text, path: "f"), environment)
        return arguments
    }

    @Test("the command line wins over the environment, that over the file; a list is taken whole")
    func sources() throws {
        let environment = [
            "BOARDRELAY_PORT": "2", "BOARDRELAY_MAX_HISTORY": "2", "BOARDRELAY_HOST_NAME": "e,f", "BOARDRELAY_IN_MEMORY": "no",
        ]
        let lists = "host-name = g\nhost-name = h\nallow-origin = i\nallow-origin = j\n"
        let text = "port = 3\nmax-history = 3\nmax-channels = 3\n" + lists + "in-memory = yes"
        let arguments = try filled(["--port", "1"], environment, text)
        #expect(["--port", "--max-history", "--max-channels"].map { arguments.value($0) } == ["1", "2", "3"])
        #expect(arguments.values("--host-name") == ["e", "f"] && arguments.values("--allow-origin") == ["i", "j"])
        #expect(!arguments.flag("--in-memory"))
        #expect(arguments.source("--port") == .commandLine && arguments.source("--max-history") == .environment("BOARDRELAY_MAX_HISTORY"))
        #expect(arguments.source("--max-channels") == .file(path: "f", line: 3) && arguments.source("--memory") == nil)
        #expect(try filled([], [:], "in-memory = yes").flag("--in-memory"))
    }

    @Test("of two settings that exclude each other the one with the stronger source holds; in one place they are an error")
    func exclusion() throws {
        var arguments = try filled(["--data-dir", "x"], [:], "in-memory = yes")
        try arguments.prefer("--in-memory", "--data-dir")
        #expect(!arguments.flag("--in-memory") && arguments.value("--data-dir") == "x")
        var both = try filled([], [:], "in-memory = yes\ndata-dir = x")
        #expect(throws: UsageError.self) { try both.prefer("--in-memory", "--data-dir") }
    }

    @Test(
        "what is wrong is told with its place, and the exit code is 2",
        arguments: [
            ("port 7", "relay.conf:1: a setting is 'name = value', not \"port 7\""),
            ("\n\nport = x", "relay.conf:3: port wants a whole number within 0…65535, not \"x\""),
            ("max-chanels = 1\nporrt = 2", "relay.conf:1: there is no setting \"max-chanels\", did you mean max-channels?\n"),
            ("max-chanels = 1\nporrt = 2", "relay.conf:2: there is no setting \"porrt\", did you mean port?"),
            ("port = 1\nport = 2", "relay.conf:2: port stands twice"),
            ("in-memory = true", "relay.conf:1: in-memory is yes or no, not \"true\""),
            ("config = x", "there is no setting \"config\""),
            ("auth = none", "relay.conf:1: auth wants one of key, token, open, not \"none\""),
            ("auth = open\ntoken-secret-file = x", "relay.conf:2: token-secret-file does not go with --auth open"),
            ("history-age = 1d", "relay.conf:1: history-age is at most 10m"),
            ("flush = 1s", "relay.conf:1: flush wants adaptive, immediate or a tick"),
            ("memory = 1MB", "relay.conf:1: memory is at least 16MiB"),
            ("allow-origin = x", "is no origin"),
        ])
    func mistakes(text: String, problem: String) async throws {
        try await withFile(text) {
            for words in [["config", "check", "--config", path], ["serve", "--config", path]] {
                let result = try await Tool.run(words, environment: surroundings)
                #expect(result.code == 2 && result.output == "" && result.errors.contains(problem), "\(result)")
            }
        }
    }

    @Test(
        "a secret that cannot be used is a wrong setting, told with its place and file",
        arguments: [
            ("operator-token-file = %/none", "relay.conf:1: operator-token-file cannot be used: %/none: no such file"),
            ("\noperator-token-file = %/empty", "relay.conf:2: operator-token-file cannot be used: %/empty is empty"),
            ("operator-token-file = %", "relay.conf:1: operator-token-file cannot be used: %: "),
            ("token-secret-file = %/none", "relay.conf:1: token-secret-file cannot be used: %/none: no such file"),
            ("token-secret-file = a=%/empty", "relay.conf:1: token-secret-file cannot be used: %/empty: "),
            ("token-secret-file = %/large", "relay.conf:1: token-secret-file cannot be used: %/large: "),
        ])
    func secrets(text: String, problem: String) async throws {
        try await withFile(text.replacing("%", with: folder)) {
            for (name, bytes) in [("empty", 0), ("large", 5_000)] {
                try Data(repeating: 65, count: bytes).write(to: URL(filePath: "\(folder)/\(name)"))
            }
            for words in [["config", "check", "--config", path], ["serve", "--config", path]] {
                let result = try await Tool.run(words, environment: surroundings)
                let problem = problem.replacing("%", with: folder)
                #expect(result.code == 2 && result.output == "" && result.errors.contains(problem), "\(result)")
            }
        }
    }

    @Test("config show says each setting, its value and where it is from, as a table and as JSON; check counts what is given")
    func show() async throws {
        try await withFile("max-history = 5") {
            let environment = surroundings.merging(["BOARDRELAY_CONFIG": path, "BOARDRELAY_PACKET_RATE": "9"]) { $1 }
            let table = try await Tool.run("config", "show", "--port", "1", environment: environment)
            let rows = table.lines.map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
            for row in [
                "max-history 5 \(path):1", "packet-rate 9 $BOARDRELAY_PACKET_RATE", "port 1 command line", "max-channels 10000 default",
                "in-memory no default",
            ] { #expect(rows.contains(row), "\(row): \(table)") }
            let objects = try await Tool.run("config", "show", "--json", environment: environment).objects()
            #expect(objects.contains { $0 as? [String: String] == ["name": "max-history", "value": "5", "from": "\(path):1"] })
            #expect(objects.count >= Command.serve.settings.count)
            let check = try await Tool.run("config", "check", environment: environment)
            #expect(check.code == 0 && check.output.contains("2 settings are given"), "\(check)")
        }
    }

    @Test("the settings file of --defaults has every setting, and is taken with each of them")
    func defaults() async throws {
        let example = try await Tool.run("config", "show", "--defaults")
        #expect(example.code == 0)
        let names = example.lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.map { String($0.dropFirst().prefix { $0 != " " }) }
        #expect(names == Command.serve.settings.map(\.setting))
        // What has a value stands there as it may be written.
        let given = example.lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") && !$0.hasSuffix(" =") }.map { $0.dropFirst() }
        #expect(given.count > 12)
        try await withFile(given.joined(separator: "\n")) {
            let result = try await Tool.run("config", "check", "--config", path, environment: surroundings)
            #expect(result.code == 0 && result.output.contains("\(given.count) settings are given"), "\(result)")
        }
    }

    private func reload(_ port: String, json: Bool = false) async throws -> Tool.Result {
        try await Tool.run(["reload", "--port", port] + (json ? ["--json"] : []), environment: surroundings)
    }

    /// How `/metrics` is answered to who comes through a proxy with the operators' token.
    private func metrics(_ port: UInt16) throws -> String {
        let descriptor = try Connector.connect(to: RelayAddress(host: "127.0.0.1", port: port), timeoutMilliseconds: 300_000)
        defer { close(descriptor) }
        let head = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n"
        guard Descriptor.write(head + "Authorization: Bearer operators-of-this-relay\r\n\r\n", to: descriptor) else { return "" }
        var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count > 0 { bytes += chunk[..<count] } else if count == 0 || errno != EAGAIN && errno != EINTR { break }
        }
        return String(decoding: bytes.prefix(12), as: UTF8.self)
    }

    @Test("reload takes limits, tokens, keys and the log's level, names what wants a restart, and takes nothing when something is wrong")
    func reloading() async throws {
        try await withFile("port = 0\nhost = 127.0.0.1\ndata-dir = \(folder)/board\nmax-history = 100\n") {
            let serve = try Running(["serve", "--config", path], environment: surroundings)
            let address = try #require(await serve.line(containing: "relay://"))
            let port = String(address.split(separator: ":").last!)
            func key(_ name: String) throws -> String {
                try String(contentsOfFile: "\(folder)/board/\(name).key", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let join = try key("join")
            #expect(try await reload(port).output.contains("no setting has another value"))

            for number in 1...3 { _ = try await Tool.run("pub", "lesson", "-m", "\(number)", "--key", join, url: address) }
            try Data("operators-of-this-relay".utf8).write(to: URL(filePath: "\(folder)/token"))
            #expect(try metrics(#require(UInt16(port))) == "HTTP/1.1 401")
            try write(
                """
                port = 1
                host = 127.0.0.1
                data-dir = \(folder)/board
                max-history = 2
                operator-token-file = \(folder)/token
                log-level = debug
                pupils = view
                message-rate = 1
                """)
            let report = try await reload(port, json: true).object()
            #expect(report["changed"] as? [String] == ["pupils", "operator-token-file", "log-level", "max-history"], "\(report)")
            #expect(report["needRestart"] as? [String] == ["port", "message-rate"] && report["address"] as? String == address)
            #expect(try metrics(#require(UInt16(port))) == "HTTP/1.1 200")
            #expect(try await reload(port, json: true).object()["changed"] as? [String] == [])
            _ = try await Tool.run("pub", "lesson", "-m", "4", "--key", try key("host"), url: address)
            let history = try await Tool.run("history", "lesson", "--key", try key("host"), url: address)
            #expect(history.lines.count == 2, "\(history)")
            let refused = try await Tool.run("pub", "lesson", "-m", "5", "--key", join, url: address)
            #expect(refused.code == 1 && refused.errors.contains("notPermitted"), "the join key is a reader's now: \(refused)")

            let other = "another-key-of-the-class"
            try Data(other.utf8).write(to: URL(filePath: "\(folder)/board/join.key"))
            #expect(try await reload(port).code == 0)
            #expect(try await Tool.run("presence", "lesson", "--key", other, url: address).code == 0)
            #expect(try await Tool.run("presence", "lesson", "--key", join, url: address).errors.contains("keyWrong"))

            // Another mode is for the next start, however often settings are read before it.
            try write("auth = open\nport = 1\nmax-history = 3\npupils = view")
            #expect(try await reload(port).code == 1, "--pupils goes with keys")
            for changed in [["operator-token-file", "log-level", "max-history"], []] {
                try write("auth = open\nport = 1\nmax-history = 3")
                let report = try await reload(port, json: true).object()
                #expect(report["changed"] as? [String] == changed, "\(report)")
                #expect(report["needRestart"] as? [String] == ["host", "port", "data-dir", "auth"], "\(report)")
            }
            #expect(try await Tool.run("presence", "lesson", "--key", join, url: address).errors.contains("keyWrong"))
            try FileManager.default.moveItem(atPath: "\(folder)/board/join.key", toPath: "\(folder)/join.key")
            try write("max-history = 1")
            #expect(try await reload(port).errors.contains("join.key: No such file"), "none is drawn while it runs")
            try FileManager.default.moveItem(atPath: "\(folder)/join.key", toPath: "\(folder)/board/join.key")

            try write("max-history = 1\nmax-channels = none")
            let wrong = try await reload(port)
            #expect(wrong.code == 1 && wrong.errors.contains("\(path):2: max-channels wants"), "\(wrong)")
            serve.signal(SIGTERM)
            let result = await serve.end()
            #expect(result.code == 0 && result.errors.contains("audit: ") && result.errors.contains("operator replaced the join key"))
            #expect(result.errors.contains("the settings stay as they are: \(path):2"))
        }
    }

    @Test("a service is asked by its group where commands look for it, and nowhere else")
    func service() {
        let path = "/run/boardrelay/control.sock"
        #expect(ControlSocket.path(ofService: "/run/boardrelay") == path && ControlSocket.path(ofService: "/run/x:/run/boardrelay") == path)
        #expect(ControlSocket.path(ofService: "/run/others") == nil && ControlSocket.path(ofService: nil) == nil)
    }

    @Test("an empty variable says nothing, nor does the address that Kubernetes puts into $BOARDRELAY_PORT")
    func strangers() throws {
        let arguments = try filled([], ["BOARDRELAY_PORT": "tcp://10.0.0.1:7420", "BOARDRELAY_HOST": ""], "")
        #expect(arguments.source("--port") == nil && arguments.source("--host") == nil)
    }

    @Test("without a terminal SIGHUP has it read its settings again, and ends nothing")
    func hangup() async throws {
        try await withFile("max-history = 100\n") {
            let words = ["serve", "--config", path, "--in-memory", "--host", "127.0.0.1", "--port", "0"]
            let serve = try Running(words, environment: surroundings)
            _ = await serve.errorLine(containing: "Ctrl-C ends it")
            try write("max-history = 50\n")
            serve.signal(SIGHUP)
            #expect(await serve.errorLine(containing: "changed: max-history.") != nil)
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)
        }
    }
}
