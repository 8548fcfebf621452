import BoardFormat
import Foundation
import RelayIO
import RelayServer
import Testing

@testable import RelayConsole
@testable import boardrelay

/// Which relay a command goes to, and what it says of that.
@Suite("every command finds the same relay, and says which one it has changed")
struct FindRelayTests {
    private let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }
    private var usualFolder: String { "\(folder)/data/boardrelay/data" }

    private func run(_ words: String..., url: String? = nil) async throws -> Tool.Result {
        try await Tool.run(words, url: url, environment: surroundings)
    }

    /// Two relays of this user's: one whose commands are asked in the usual data folder, and one that its port names.
    private func withRelays(
        web: WhiteboardRelay.Web = .init(), _ body: (_ usual: WhiteboardRelay, _ other: WhiteboardRelay) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(
            atPath: usualFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let usual = try await WhiteboardRelay.start(.init(port: 0, access: .keys(), controlSocket: "\(usualFolder)/control.sock"))
        var options = WhiteboardRelay.Options(port: 0, access: .keys(), controlSocket: "\(folder)/other.sock")
        options.web = web
        let other = try await WhiteboardRelay.start(options)
        do {
            let byPort = "\(folder)/boardrelay-\(other.address.port).sock"
            try FileManager.default.createSymbolicLink(atPath: byPort, withDestinationPath: "other.sock")
            try await body(usual, other)
        } catch {
            await usual.stop()
            await other.stop()
            throw error
        }
        await usual.stop()
        await other.stop()
    }

    @Test("key and status ask the relay that $BOARDRELAY_URL or --url names; rotate says which one it was")
    func byAddress() async throws {
        try await withRelays { usual, other in
            let (kept, before) = (usual.keys, other.keys)
            let url = "http://127.0.0.1:\(other.address.port)/#key=\(try #require(before).join)"
            let rotated = try await run("key", "rotate", "join", url: url)
            #expect(rotated.code == 0 && rotated.errors == "\(other.address): the join key is new.\n", "\(rotated.errors)")
            #expect(usual.keys == kept && other.keys?.join != before?.join && other.keys?.host == before?.host)
            #expect(rotated.output == "http://127.0.0.1:\(other.address.port)/#key=\(try #require(other.keys).join)\n")
            let json = try await run("key", "rotate", "--json", "--url", "\(other.address)").objects()
            #expect(json.count == 2 && json.allSatisfy { $0["relay"] as? String == "\(other.address)" } && usual.keys == kept)
            let shown = try await run("key", "show", "host", "--json", "--port", "\(other.address.port)").object()
            #expect(shown["key"] as? String == other.keys?.host)
            let status = try await run("status", "--json", url: url).object()
            #expect(status["address"] as? String == "\(other.address)" && status["pid"] != nil)
        }
    }

    @Test("the relay with the usual data folder is found by its port, and is not taken for another")
    func usualFolder() async throws {
        try await withRelays { usual, _ in
            let kept = usual.keys
            for words in [["key", "rotate"], ["status"]] {
                let other = try await Tool.run(words, environment: surroundings)
                #expect(other.code == 1 && other.output == "", "\(other)")
                let port = usual.address.port
                let words =
                    "no relay of this user answers for port 7420; the relay with the usual data folder is on port \(port): --port \(port)\n"
                #expect(other.errors.hasSuffix(words), "\(other.errors)")
            }
            #expect(usual.keys == kept)
            #expect(try await run("key", "show", "join", url: "\(usual.address)").output.contains(try #require(kept).join))
            #expect(try await run("status", "--port", "\(usual.address.port)").lines.first?.hasPrefix("\(usual.address)") == true)
        }
    }

    @Test("the keys of another machine's relay are not shown or changed from here, nor are those of a relay of this one instead")
    func anotherMachine() async throws {
        try await withRelays { usual, other in
            let kept = [usual.keys, other.keys]
            for action in ["show", "rotate"] {
                let refused = try await run("key", action, url: "relay://192.0.2.1:\(other.address.port)")
                #expect(refused.code == 1 && refused.output == "", "\(refused)")
                #expect(refused.errors.contains("relay://192.0.2.1:\(other.address.port) is another machine's"), "\(refused.errors)")
            }
            #expect([usual.keys, other.keys] == kept)
        }
    }

    @Test(
        "without a relay a command asks whether one runs, and says what starts it",
        arguments: [
            ["key", "show"], ["key", "rotate", "join"], ["status"], ["status", "--data-dir", "/nowhere"],
            ["key", "show", "--control", "/nowhere/c"],
        ])
    func nobody(words: [String]) async throws {
        let result = try await Tool.run(words, url: "relay://127.0.0.1:9", environment: surroundings)
        #expect(result.code == 1 && result.output == "", "\(result)")
        #expect(result.errors.contains("'boardrelay serve' starts one"), "\(result.errors)")
        // A service is another user's, who alone can open its socket.
        #expect(result.errors.contains("sudo -u USER boardrelay"), "\(result.errors)")
    }

    @Test("a command that no relay answers says how another port is named; one that a key is missing for says where keys come from")
    func hints() async throws {
        for words in [["presence", "lesson"], ["channel", "freeze", "lesson"], ["user", "bans"]] {
            let nobody = try await Tool.run(words, url: "relay://127.0.0.1:9", environment: surroundings)
            for part in ["--url relay://127.0.0.1:PORT", "BOARDRELAY_URL"] {
                #expect(nobody.code == 1 && nobody.errors.contains(part), "\(nobody)")
            }
            let relay = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
            let keyless = try await Tool.run(words, url: "\(relay.address)", environment: surroundings)
            await relay.stop()
            for part in ["--key-file", "BOARDRELAY_URL", "sudo -u"] {
                #expect(keyless.code == 1 && keyless.errors.contains(part), "\(keyless)")
            }
        }
        let file = try await Tool.run(["presence", "lesson", "--key-file", "\(folder)/host.key"], environment: surroundings)
        #expect(
            file.code == 2 && file.errors.contains("host.key: no such file; the relay keeps join.key and host.key in its data folder"),
            "\(file)")
    }

    @Test("of every address that --host :: prints the relay answers, those of IPv4 as well")
    func bothFamilies() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let serve = try Running(["serve", "--in-memory", "--host", "::", "--port", "0", "--auth", "open"], environment: surroundings)
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        let first = try #require(await serve.line(containing: "relay://"))
        let port = try #require(first.split(separator: ":").last)
        let loopback = try await Tool.run("presence", "lesson", url: "relay://127.0.0.1:\(port)")
        serve.signal(SIGTERM)
        let printed = await serve.end()
        #expect(printed.code == 0 && printed.output.contains("relay://127.0.0.1:\(port)") && loopback.code == 0, "\(printed) \(loopback)")
    }

    @Test("a name by which the relay lets no browser ask is printed with a warning that says what lets it")
    func foreignName() async throws {
        var web = WhiteboardRelay.Web()
        web.hostNames = ["board.example"]
        try await withRelays(web: web) { _, other in
            func show(_ name: String) async throws -> String {
                let shown = try await run("key", "show", "join", "--port", "\(other.address.port)", "--host-name", name)
                #expect(shown.code == 0 && shown.output.hasPrefix("http://\(name):\(other.address.port)/#key="), "\(shown)")
                return shown.errors
            }
            let foreign = try await show("class.example")
            #expect(foreign.contains("'serve --host-name class.example'"))
            for known in ["board.example", "localhost", "127.0.0.1"] {
                let errors = try await show(known)
                #expect(errors == "")
            }
        }
    }

    @Test("key show has the address by a name: by those that the relay was given, and by the one that is asked for")
    func names() async throws {
        var web = WhiteboardRelay.Web()
        web.hostNames = ["board.example", "board.example:8443"]
        try await withRelays(web: web) { usual, other in
            let (port, key) = (other.address.port, try #require(other.keys).join)
            let join = try await run("key", "show", "join", "--port", "\(port)")
            #expect(join.output == "http://board.example:\(port)/#key=\(key)\n", "one line, to be copied")
            let urls = try await run("key", "show", "join", "--json", "--port", "\(port)").object()["urls"] as? [String]
            let hosts = ["board.example:\(port)", "board.example:8443", "127.0.0.1:\(port)"]
            #expect(urls == hosts.map { "http://\($0)/#key=\(key)" })
            #expect(try await run("key", "show", "--port", "\(port)").lines.count == 8)
            let host = try await run("key", "show", "host", "--host-name", "room-1.local", url: "\(usual.address)")
            let keys = try #require(usual.keys)
            #expect(host.output == "http://room-1.local:\(usual.address.port)/#key=\(keys.host)&j=\(keys.join)\n")
            let wrong = try await run("key", "rotate", "--host-name", "http://x", url: "\(usual.address)")
            #expect(wrong.code == 2 && wrong.errors.contains("option --host-name: \"http://x\" is no name with or without a port"))
            #expect(usual.keys == keys)
        }
        web.trustedProxies = ["127.0.0.1"]
        try await withRelays(web: web) { _, other in
            let urls = try await run("key", "show", "join", "--json", url: "\(other.address)").object()["urls"] as? [String]
            #expect(urls?.prefix(2).map { $0.prefix { $0 != "#" } } == ["https://board.example/", "https://board.example:8443/"])
        }
    }

    @Test(
        "with --json what has changed something has the address of the relay",
        arguments: [
            "pub lesson hello", "pub lesson hello --topic t", "pub lesson hello --retain --record k", "meta set lesson k v",
            "lock set lesson pen",
            "channel freeze lesson", "user ban bob", "board undo lesson", "board import lesson -",
        ])
    func told(line: String) async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        func run(_ line: String, _ input: Data = Data()) async throws -> Tool.Result {
            try await Tool.run(line.split(separator: " ").map(String.init), url: url, input: input)
        }
        for before in ["pub lesson x --retain --record k", "board clear lesson"] { _ = try? await run(before) }
        let writer = BoardExportWriter()
        let export = Data(writer.head() + writer.tail())
        let result = try? await run(line + " --json", line.hasSuffix("-") ? export : Data())
        await relay.stop()
        #expect(try result?.object()["relay"] as? String == url, "\(String(describing: result))")
    }
}
