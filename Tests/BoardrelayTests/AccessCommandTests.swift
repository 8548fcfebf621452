import Foundation
import RelayCore
import RelayIO
import RelayRights
import RelayServer
import RelayTokens
import RelayWire
import Testing

@testable import boardrelay
@testable import RelayConsole

/// Keys and tokens, as an operator and a user have them on the command line.
@Suite("serve with keys, key, token, and the options that bring a credential")
struct AccessCommandTests {
    /// The folder of one test: short enough for a socket's path, and all that this user's own relays would be found by.
    let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"
    var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }

    func withFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body()
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// A file of this test.
    @discardableResult
    func write(_ text: String, _ name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        return path(name)
    }

    func run(_ words: String..., url: String? = nil, environment: [String: String] = [:], input: String = "") async throws
        -> Tool.Result
    {
        try await Tool.run(words, url: url, environment: surroundings.merging(environment) { $1 }, input: Data(input.utf8))
    }

    /// `serve`, until it says that it listens.
    func serve(_ words: String...) async throws -> Running {
        let serve = try Running(["serve", "--host", "127.0.0.1"] + words, environment: surroundings)
        try #require(await serve.errorLine(containing: "Ctrl-C ends it") != nil)
        return serve
    }

    /// One that the system does not choose for others: what it chooses is no lasting address, by which nothing is found again.
    func freePort() -> String { "\(UInt16.random(in: 20_000..<32_000))" }

    func keys(_ words: String...) async throws -> [(kind: String, role: String, key: String, urls: [String])] {
        let shown = try await Tool.run(["key", "show", "--json"] + words, environment: surroundings)
        try #require(shown.code == 0, "\(shown.errors)")
        return try shown.objects().map {
            (
                try #require($0["kind"] as? String), try #require($0["role"] as? String), try #require($0["key"] as? String),
                try #require($0["urls"] as? [String])
            )
        }
    }

    /// A relay in this process, with keys and a control socket.
    func withRelay(_ access: WhiteboardRelay.Access = .keys(), _ body: (_ url: String, _ relay: WhiteboardRelay) async throws -> Void)
        async throws
    {
        try await withFolder {
            var hub = Configuration()
            // How long a wrong credential waits is shown on a clock moved by hand.
            hub.credentialPause = .milliseconds(1)
            let options = WhiteboardRelay.Options(port: 0, access: access, hub: hub, controlSocket: path("c.sock"))
            try await BoardrelayTests.withRelay(options) { try await body("\($0.address)", $0) }
        }
    }

    // MARK: - Records of others

    @Test(
        "[BL10] records that another user has are not imported, which is told with what helps; by who wrote them, and with the host key, they are"
    )
    func othersRecords() async throws {
        try await withRelay { url, _ in
            let joined = try #require(
                try await run("key", "show", "join", "--json", "--control", path("c.sock")).objects().first?["urls"] as? [String])[0]
            #expect(try await run("pub", "lesson", "--retain", "--record", "k", "-m", "x", "--as", "anna", url: joined).code == 0)
            let exported = try await run("board", "export", "lesson", "-o", path("lesson.json"), url: joined)
            #expect(exported.code == 0, "\(exported.errors)")
            let refused = try await run("board", "import", "lesson", path("lesson.json"), "--as", "ben", url: joined)
            #expect(
                refused.code == 1
                    && refused.errors.contains("1 is not (notPermitted 1); the first: k: the record of this key is another user's"),
                "\(refused.errors)")
            #expect(refused.errors.contains("notPermitted: \(Command.othersRecords)"))
            #expect(try await run("board", "import", "lesson", path("lesson.json"), "--as", "anna", url: joined).code == 0)
        }
    }

    // MARK: - serve

    @Test("[AC1] a relay that keeps nothing has two keys; whoever runs it comes in by itself, as host; no key is in its output or log")
    func inMemory() async throws {
        try await withFolder {
            let port = freePort()
            let serve = try await serve("--in-memory", "--port", port, "--log-level", "debug")
            let keys = try await keys("--port", port)
            #expect(keys.map(\.kind) == ["join", "host"] && keys.map(\.role) == ["editor", "moderator"])
            #expect(keys.allSatisfy { $0.key.utf8.count == 26 } && keys[0].key != keys[1].key)
            #expect(keys[0].urls == ["http://127.0.0.1:\(port)/#key=\(keys[0].key)"])
            #expect(keys[1].urls == ["http://127.0.0.1:\(port)/#key=\(keys[1].key)&j=\(keys[0].key)"])
            let join = try await run("key", "show", "join", "--port", port)
            // For a script: nothing but the addresses.
            #expect(join.output == keys[0].urls[0] + "\n")
            #expect(
                try await run("key", "show", "--port", port).lines == [
                    "join (editor):", "  " + keys[0].urls[0], "host (moderator):", "  " + keys[1].urls[0],
                ])

            // No credential is given: `board rm` is a moderator's.
            let url = "relay://127.0.0.1:\(port)"
            #expect(try await run("pub", "lesson", "--retain", "--record", "k", "-m", "x", url: url).code == 0)
            let removed = try await run("board", "rm", "lesson", url: url)
            #expect(removed.code == 0, "\(removed.errors)")
            // By the address as it was shown, from elsewhere.
            #expect(try await run("pub", "lesson", "-m", "x", url: keys[0].urls[0]).code == 0)

            serve.signal(SIGTERM)
            let ended = await serve.end()
            #expect(ended.code == 0 && ended.errors.contains("'boardrelay key show --port \(port)' prints the one for guests"))
            for key in keys { #expect(!(ended.output + ended.errors).contains(key.key)) }

            let again = try await self.serve("--in-memory", "--port", port)
            let others = try await self.keys("--port", port)
            #expect(Set(keys.map(\.key)).isDisjoint(with: others.map(\.key)))
            again.signal(SIGTERM)
            #expect(await again.end().code == 0)
        }
    }

    @Test("keys stand in the data folder, for this user alone, and are the same after a restart; rotate writes them anew")
    func inFolder() async throws {
        try await withFolder {
            let data = path("d")
            func stored() throws -> [String] {
                try ["join.key", "host.key"].map { try String(contentsOfFile: "\(data)/\($0)", encoding: .utf8) }
            }
            var serve = try await serve("--data-dir", data, "--port", "0")
            let first = try await keys("--data-dir", data)
            #expect(try stored() == first.map { $0.key + "\n" })
            for file in ["join.key", "host.key"] {
                #expect(try FileManager.default.attributesOfItem(atPath: "\(data)/\(file)")[.posixPermissions] as? Int == 0o600)
            }
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)

            serve = try await self.serve("--data-dir", data, "--port", "0")
            #expect(try await keys("--data-dir", data).map(\.key) == first.map(\.key))
            let rotated = try await run("key", "rotate", "host", "--data-dir", data, "--json").object()
            let host = try #require(rotated["key"] as? String)
            #expect(rotated["kind"] as? String == "host" && host != first[1].key)
            #expect(try stored() == [first[0].key + "\n", host + "\n"])
            #expect(try FileManager.default.attributesOfItem(atPath: "\(data)/host.key")[.posixPermissions] as? Int == 0o600)
            serve.signal(SIGKILL)
            _ = await serve.end()

            serve = try await self.serve("--data-dir", data, "--port", "0")
            #expect(try await keys("--data-dir", data).map(\.key) == [first[0].key, host])
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)
        }
    }

    @Test("a key file that holds no key is refused with its path and without its content; one written by hand is taken")
    func damaged() async throws {
        try await withFolder {
            let data = path("d")
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            func refused(_ file: String, _ text: String) async throws -> String {
                try write(text, "d/\(file)")
                let result = try await run("serve", "--host", "127.0.0.1", "--port", "0", "--data-dir", data)
                #expect(result.code == 1 && result.output == "", "\(file): \(result)")
                return result.errors
            }
            for text in [
                "", "SECRETISH", "SECRETISH with spaces in it", "SECRETISH-é-0123456789", "SECRETISH" + String(repeating: "x", count: 120),
            ] {
                let errors = try await refused("join.key", text)
                #expect(
                    errors.contains("\(data)/join.key does not hold a key of 16…128 letters") && !errors.contains("SECRETISH"), "\(errors)")
            }
            _ = try write("SECRETISH-0123456789", "d/join.key")
            let same = try await refused("host.key", "SECRETISH-0123456789\n")
            #expect(same.contains("the join key and the host key are the same") && !same.contains("SECRETISH"))

            _ = try write("SECRETISH-9876543210\r\n", "d/host.key")
            let serve = try await serve("--data-dir", data, "--port", "0")
            #expect(try await keys("--data-dir", data).map(\.key) == ["SECRETISH-0123456789", "SECRETISH-9876543210"])
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)
        }
    }

    @Test("[AC6] with --pupils view who has the join key looks on: pub is notPermitted, sub is not")
    func pupils() async throws {
        try await withFolder {
            let data = path("d")
            let serve = try await serve("--data-dir", data, "--port", "0", "--pupils", "view")
            let keys = try await keys("--data-dir", data)
            #expect(keys.map(\.role) == ["reader", "moderator"])
            let sub = try Running(["sub", "lesson", "-n", "1", "--json"], url: keys[0].urls[0])
            try #require(await sub.errorLine(containing: "Listening") != nil)
            let pupil = try await run("pub", "lesson", "-m", "x", url: keys[0].urls[0])
            #expect(pupil.code == 1 && pupil.errors.contains("(notPermitted)"), "\(pupil.errors)")
            #expect(try await run("pub", "lesson", "-m", "from the host", url: keys[1].urls[0]).code == 0)
            let result = await sub.end()
            #expect(try result.code == 0 && result.objects().contains { $0["text"] as? String == "from the host" })
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)
        }
    }

    @Test("a relay without keys has none to show, and says so; one that wants tokens takes those of its secret files")
    func others() async throws {
        try await withFolder {
            let secret = try write(String(repeating: "s", count: 32) + "\n", "secret")
            let open = try await serve("--in-memory", "--port", "0", "--auth", "open", "--control", path("open.sock"))
            let shown = try await run("key", "show", "--control", path("open.sock"))
            #expect(shown.code == 1 && shown.output == "" && shown.errors.contains("this relay has no keys"))
            let rotated = try await run("key", "rotate", "--control", path("open.sock"))
            #expect(rotated.code == 1 && rotated.errors.contains("this relay has no keys"))
            open.signal(SIGTERM)
            #expect(await open.end().errors.contains("Anyone who can reach it may take part, without a key."))
            #expect(
                try await run("key", "show", "--control", path("open.sock")).errors.contains("no relay answers on \(path("open.sock"))"))

            let tokens = try Running(
                [
                    "serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "token", "--token-secret-file",
                    "2026=\(secret)", "--token-audience", "school",
                ],
                environment: surroundings)
            let url = try #require(await tokens.line(containing: "relay://"))
            let made = try await run(
                "token", "create", "--secret-file", "2026=\(secret)", "--user", "ann", "--role", "editor", "--audience", "school")
            let token = try write(made.output, "token")
            #expect(try await run("pub", "lesson", "-m", "x", "--as", "ann", "--token-file", token, url: url).code == 0)
            let other = try await run("pub", "lesson", "-m", "x", "--as", "bob", "--token-file", token, url: url)
            #expect(other.code == 1 && other.errors.contains("(tokenInvalid)"), "\(other.errors)")
            tokens.signal(SIGTERM)
            #expect(await tokens.end().errors.contains("To come in takes a token."))
        }
    }

    // MARK: - key rotate

    @Test("[AC1] rotate join --end-sessions ends who came in by the join key, with 1 and the reason; who came in by the host key stays")
    func rotate() async throws {
        try await withRelay { url, relay in
            let keys = try #require(relay.keys)
            func listener(_ key: String) async throws -> Running {
                let sub = try Running(["sub", "lesson", "--key", key, "-n", "1", "--json"], url: url)
                try #require(await sub.errorLine(containing: "Listening") != nil)
                return sub
            }
            let (pupil, teacher) = (try await listener(keys.join), try await listener(keys.host))
            let result = try await run("key", "rotate", "join", "--end-sessions", "--control", path("c.sock"))
            let join = try #require(relay.keys).join
            #expect(result.code == 0 && join != keys.join && result.lines == ["http://127.0.0.1:\(relay.address.port)/#key=\(join)"])

            let ended = await pupil.end()
            #expect(ended.code == 1 && ended.errors.contains("the relay has another key now (keyChanged)"), "\(ended.errors)")
            let late = try await run("pub", "lesson", "-m", "x", "--key", keys.join, url: url)
            #expect(late.code == 1 && late.errors.contains("(keyWrong)"), "\(late.errors)")
            #expect(try await run("pub", "lesson", "-m", "hello", "--key", join, url: url).code == 0)
            #expect(try await teacher.end().objects().contains { $0["text"] as? String == "hello" })
        }
    }

    @Test("rotate without --end-sessions closes nobody; without a name it draws both keys")
    func rotateBoth() async throws {
        try await withRelay { url, relay in
            let keys = try #require(relay.keys)
            let sub = try Running(["sub", "lesson", "--key", keys.join, "-n", "1", "--json"], url: url)
            try #require(await sub.errorLine(containing: "Listening") != nil)
            let rotated = try await run("key", "rotate", "--json", "--control", path("c.sock"))
            let objects = try rotated.objects()
            try #require(rotated.code == 0 && objects.count == 2, "\(rotated.errors)")
            #expect(objects.map { $0["kind"] as? String } == ["join", "host"])
            let host = try #require(objects[1]["key"] as? String)
            #expect(host != keys.host && objects[0]["key"] as? String != keys.join)
            #expect(try await run("pub", "lesson", "-m", "hello", "--key", host, url: url).code == 0)
            let result = await sub.end()
            #expect(try result.code == 0 && result.objects().contains { $0["text"] as? String == "hello" })
        }
    }

    @Test(
        "rotate leaves a line in the log as a moderator's decision does, at any level: which key and whether sessions ended, and nothing of a key"
    )
    func rotationIsLogged() async throws {
        try await withFolder {
            let port = freePort()
            let serve = try await serve("--in-memory", "--port", port, "--log-level", "error")
            var all = try await keys("--port", port).map(\.key)
            #expect(try await run("key", "rotate", "join", "--end-sessions", "--port", port).code == 0)
            all += try await keys("--port", port).map(\.key)
            #expect(try await run("key", "rotate", "--port", port).code == 0)
            all += try await keys("--port", port).map(\.key)
            serve.signal(SIGTERM)
            let log = await serve.end().errors
            let lines = log.split(separator: "\n").filter { $0.hasPrefix("audit: ") }
            try #require(lines.count == 2, "\(log)")
            #expect(
                lines[0].wholeMatch(of: /audit: [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z operator rotated the join key, sessions ended/)
                    != nil, "\(lines)")
            #expect(lines[1].hasSuffix("Z operator rotated the join key and the host key"), "\(lines)")
            #expect(Set(all).count == 5)
            for key in all { #expect(!log.contains(key)) }
        }
    }

    // MARK: - Coming in

    @Test("[AC1] a key or token comes from an option, a file, the address or the environment, in that order")
    func sources() async throws {
        let secret = try TokenSecret(bytes: [UInt8](repeating: 7, count: 32))
        try await withRelay(.keys(tokens: TokenRules(secrets: [secret]))) { url, relay in
            let key = try #require(relay.keys).join
            let secretFile = path("secret")
            try Data(repeating: 7, count: 32).write(to: URL(filePath: secretFile))
            let token = try await run("token", "create", "--secret-file", secretFile, "--user", "ann", "--role", "editor").output
                .trimmingCharacters(in: .newlines)
            let keyFile = try write(key + "\n", "key"), tokenFile = try write("\n" + token + "\n\n", "token")
            func comesIn(
                _ words: [String], url: String = url, _ environment: [String: String] = [:], _ place: SourceLocation = #_sourceLocation
            ) async throws {
                let result = try await Tool.run(
                    ["pub", "lesson", "-m", "x", "--as", "ann"] + words, url: url, environment: surroundings.merging(environment) { $1 })
                #expect(result.code == 0, "\(result.errors)", sourceLocation: place)
            }
            // What is used comes before what would be wrong.
            let wrong = ["BOARDRELAY_KEY": "none", "BOARDRELAY_TOKEN": "none"]
            try await comesIn(["--key", key], url: url + "/#key=none", wrong)
            try await comesIn(["--key-file", keyFile], wrong)
            try await comesIn(["--token", token], wrong)
            try await comesIn(["--token-file", tokenFile], wrong)
            try await comesIn([], url: "\(url)/#key=\(key)", wrong)
            try await comesIn([], url: "\(url)/#token=\(token)", wrong)
            try await comesIn(["--url", "\(url)#key=\(key)"], url: "http://127.0.0.1:9/#key=none", wrong)
            try await comesIn([], ["BOARDRELAY_KEY": key, "BOARDRELAY_TOKEN": "none"])
            try await comesIn([], ["BOARDRELAY_KEY": "", "BOARDRELAY_TOKEN": token])
        }
    }

    @Test("[AC1] without a key and with a wrong one: exit code 1, the code, and nothing of what was given")
    func refused() async throws {
        try await withRelay { url, _ in
            let none = try await run("presence", "lesson", url: url)
            let words = "this relay wants a key (credentialRequired) (give --key-file or --token-file"
            #expect(none.code == 1 && none.output == "" && none.errors.contains(words), "\(none.errors)")
            let wrong = try await run("presence", "lesson", "--key", "SECRETISH-SECRETISH", url: url)
            #expect(
                wrong.code == 1 && wrong.errors.contains("this relay has no such key (keyWrong)")
                    && !wrong.errors.contains("SECRETISH"), "\(wrong.errors)")
            let token = try await run("presence", "lesson", "--token", "SECRETISH", url: url)
            #expect(token.code == 1 && token.errors.contains("(tokenInvalid)") && !token.errors.contains("SECRETISH"), "\(token.errors)")
            let missing = try await run("presence", "lesson", "--key-file", path("nobody"), url: url)
            #expect(missing.code == 2 && missing.errors.contains("\(path("nobody")): no such file"), "\(missing.errors)")
            let empty = try await run("presence", "lesson", "--token-file", write("\n", "empty"), url: url)
            #expect(empty.code == 1 && empty.errors.contains("is empty"), "\(empty.errors)")
        }
    }

    @Test("every command that asks a relay takes the four options of a credential")
    func options() {
        // bench comes as many users, and a token lets in one; backup, key and reload ask as who runs the relay.
        let clients = Boardrelay.commands.filter {
            !["backup", "bench", "key", "reload", "space"].contains($0.name) && $0.options.contains { $0.names.contains("--url") }
        }
        #expect(
            clients.map(\.name).sorted() == [
                "board", "channel", "device", "history", "lock", "meta", "presence", "pub", "record", "replay", "status", "sub", "user",
            ])
        for command in clients {
            let names = command.options.flatMap(\.names)
            for option in ["--key", "--key-file", "--token", "--token-file"] {
                #expect(names.contains(option), "\(command.name) \(option)")
            }
        }
    }

    @Test(
        "[AC1] every command that asks a relay comes in with a key file",
        arguments: [
            ["sub", "lesson", "--since", "beginning", "-n", "1"], ["history", "lesson"], ["presence", "lesson"],
            ["meta", "set", "lesson", "k", "v"],
            ["lock", "set", "lesson", "pen"], ["board", "ls"], ["replay", Samples.path("pencil"), "--channel", "drawn", "--speed", "max"],
        ])
    func commands(words: [String]) async throws {
        try await withRelay { url, relay in
            let file = try write(try #require(relay.keys).join, "key")
            #expect(try await run("pub", "lesson", "-m", "x", "--key-file", file, url: url).code == 0)
            let result = try await Tool.run(words + ["--key-file", file], url: url, environment: surroundings)
            #expect(result.code == 0, "\(result.errors)")
        }
    }
}
