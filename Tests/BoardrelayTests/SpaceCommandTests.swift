import Foundation
import RelayIO
import RelayServer
import RelayWire
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("serve --spaces, and space", .timeLimit(.minutes(10)))
struct SpaceCommandTests {
    private let folder = ServeTests.folder()
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/home"] }
    private var data: String { "\(folder)/data" }

    private func write(_ text: String, to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func run(_ words: String..., url: String? = nil) async throws -> Tool.Result {
        try await Tool.run(words, url: url, environment: surroundings)
    }

    private func withServe(_ more: [String] = [], _ body: (_ serve: Running, _ address: String) async throws -> Void) async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let serve = try Running(
            ["serve", "--spaces", "--data-dir", data, "--host", "127.0.0.1", "--port", "0"] + more, environment: surroundings)
        let address = try #require(await serve.line(containing: "relay://127.0.0.1:"))
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        let result: Result<Void, any Error>
        do { result = .success(try await body(serve, address)) } catch { result = .failure(error) }
        serve.signal(SIGINT)
        let end = await serve.end()
        try result.get()
        #expect(end.code == 0, "\(end.errors)")
    }

    @Test("[SE16] spaces are added, listed, used and removed; what a space has kept is gone with it")
    func life() async throws {
        try await withServe { _, address in
            #expect(try await run("space", "ls", "--data-dir", data, "--json").output == "")
            for name in ["a", "b"] {
                let added = try await run("space", "add", name, "--data-dir", data)
                #expect(added.code == 0 && added.errors.contains("'boardrelay key show --space \(name) --data-dir \(data)'"), "\(added)")
            }
            #expect(try await run("space", "ls", "--data-dir", data, "--json").objects().compactMap { $0["name"] as? String } == ["a", "b"])
            let shown = try await run("key", "show", "join", "--space", "a", "--data-dir", data)
            let url = try #require(shown.lines.first)
            #expect(url.hasPrefix("http\(address.dropFirst(5))/a#key="))
            let title = ["pub", "lesson", "-m", #"{"text":"Ink","v":1}"#, "--type", "title", "--retain", "--record", "title"]
            #expect(try await Tool.run(title, url: url, environment: surroundings).code == 0)
            // The key that lets in is found at the relay, as of a relay without spaces.
            let boards = try await run("board", "ls", "--json", "--space", "a", url: address).objects()
            #expect(boards.compactMap { $0["channel"] as? String } == ["lesson"], "\(boards)")
            #expect(try await run("board", "ls", "--json", url: address + "/b").output == "")
            let nameless = try await run("board", "ls", url: address)
            #expect(nameless.code == 1 && nameless.errors.contains("spaceUnknown"), "\(nameless)")
            #expect(try await run("backup", "--space", "a", "--to", "\(folder)/a.tar", "--data-dir", data).code == 0)
            #expect(try await run("space", "remove", "b", "--data-dir", data).code == 1, "without a terminal nobody can be asked")
            let removed = try await run("space", "remove", "b", "--yes", "--data-dir", data)
            #expect(removed.code == 0 && !FileManager.default.fileExists(atPath: "\(data)/spaces/b"))
            for words in [["add", "a"], ["remove", "b", "--yes"]] {
                #expect(try await Tool.run(["space"] + words + ["--data-dir", data], environment: surroundings).code == 1)
            }
            for words in [["add"], ["add", "A"], ["ls", "a"], ["add", "c", "--yes"], ["status"]] {
                #expect(try await Tool.run(["space"] + words + ["--data-dir", data], environment: surroundings).code == 2, "\(words)")
            }
        }
    }

    @Test("a space has what its file says, and of memory its share; reload reads it again, and refuses what is wrong")
    func settings() async throws {
        try write("max-history = 7\npupils = view", to: "\(data)/spaces/a/settings")
        try write("", to: "\(data)/spaces/b/settings")
        var arguments = try Arguments(["--spaces", "--data-dir", data, "--memory", "64MiB", "--max-history", "9"], for: .serve)
        try arguments.fill(from: nil, [:])
        let settings = try ServeSettings(arguments)
        try write("", to: "\(data)/spaces/.hidden")
        try write("", to: "\(data)/spaces/Old Space/settings")
        #expect(try settings.spaces().names.map(\.text) == ["a", "b"])
        #expect(try settings.spaces().others == ["\(data)/spaces/.hidden", "\(data)/spaces/Old Space"])
        let (a, b) = (try settings.options(of: SpaceName("a"), 2), try settings.options(of: SpaceName("b"), 2))
        #expect(a.hub.historyMessagesMax == 7 && b.hub.historyMessagesMax == 9)
        #expect(a.storage == .folder("\(data)/spaces/a/data") && a.controlSocket == nil && a.tls == nil)
        #expect(a.hub.queueBytesTotalMax == 8 << 20, "a quarter of its half")
        try write("memory = 64MiB", to: "\(data)/spaces/b/settings")
        #expect(try settings.options(of: SpaceName("b"), 2).hub.queueBytesTotalMax == 16 << 20, "its own, though the relay has the same")
        try write("", to: "\(data)/spaces/b/settings")
        guard case .keys(.reader, nil) = a.access, case .keys(.editor, nil) = b.access else { throw Failure("\(a.access), \(b.access)") }
        #expect(throws: RelayServerError.self) { try settings.options(of: SpaceName("b"), 5) }
        for text in ["port = 7", "nix = 1", "max-history = 7\nmax-history = 8", "max-history = x"] {
            try write(text, to: "\(data)/spaces/a/settings")
            let error = #expect(throws: RelayServerError.self) { try settings.options(of: SpaceName("a"), 2) }
            #expect(error?.text.contains("/spaces/a/settings:") == true, "\(error?.text ?? "")")
        }
        try write("max-history = 7", to: "\(data)/spaces/a/settings")
        try await withServe { serve, _ in
            #expect(try await run("reload", "--data-dir", data).code == 0)
            try write("max-history = -1", to: "\(data)/spaces/a/settings")
            let refused = try await run("reload", "--data-dir", data)
            #expect(refused.code == 1 && refused.errors.contains("/spaces/a/settings:1"), "\(refused)")
            try write("max-history = 8\nauth = open", to: "\(data)/spaces/a/settings")
            let report = try await run("reload", "--data-dir", data, "--json").object()
            #expect(report["changed"] as? [String] == ["a: max-history"] && report["needRestart"] as? [String] == ["a: auth"], "\(report)")
            #expect(await serve.errorLine(containing: "space a: its mode of access changes at its next start") != nil)
            // What comes after a reload has a log, too.
            #expect(try await run("space", "add", "c", "--data-dir", data).code == 0)
            #expect(await serve.errorLine(containing: "space c: 0 entries") != nil)
        }
    }

    @Test("a folder of a relay without spaces is not served with them, nor the other way round; options that do not go together are told")
    func folders() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write("", to: "\(data)/journal.anchor")
        let base = ["serve", "--data-dir", data, "--host", "127.0.0.1", "--port", "0"]
        let old = try await Tool.run(base + ["--spaces"], environment: surroundings)
        #expect(old.code == 1 && old.errors.contains("the data of a relay without spaces"), "\(old)")
        try FileManager.default.removeItem(atPath: "\(data)/journal.anchor")
        try write("", to: "\(data)/spaces/a/settings")
        let plain = try await Tool.run(base, environment: surroundings)
        #expect(plain.code == 1 && plain.errors.contains("serve --spaces"), "\(plain)")
        for more in [["--in-memory"], ["--token-secret-file", "x", "--token-audience", "y"]] {
            #expect(try await Tool.run(base + ["--spaces"] + more, environment: surroundings).code == 2)
        }
    }
}
