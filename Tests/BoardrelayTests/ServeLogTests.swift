import Foundation
import RelayCore
import RelayIO
import RelayServer
import RelaySystem
import Testing

@testable import boardrelay
@testable import RelayConsole

/// What `serve` tells an operator, and how it ends when its terminal does.
@Suite("the log of serve, and its ends", .timeLimit(.minutes(10)))
struct ServeLogTests {
    private let folder = ServeTests.folder()
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }

    private func withFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body()
    }

    @Test("a closed terminal ends it as SIGTERM does: clients are told, the exit code is 0, and a second SIGHUP ends nothing sooner")
    func hangUp() async throws {
        let serve = try PseudoTerminal(["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"])
        let address = try #require(await serve.line(containing: "relay://")).trimmingCharacters(in: .whitespacesAndNewlines)
        _ = await serve.line(containing: "Ctrl-C ends it")
        let sub = try Running(["sub", "lesson", "--json"], url: address)
        _ = await sub.errorLine(containing: "Listening")
        serve.signal(SIGHUP)
        _ = await serve.line(containing: "Ending")
        serve.signal(SIGHUP)
        let told = await sub.errorLine(containing: "shuttingDown")
        #expect(told != nil, "the client was told")
        sub.signal(SIGINT)
        _ = await sub.end()
        let (end, text) = await serve.end()
        #expect(end == .exited(0) && text.contains("Ending: SIGHUP, the terminal is closed. "), "\(text)")
    }

    @Test("however often a terminal says that it is closed, up to the last moment, nothing is cut short")
    func hangUpAndUp() async throws {
        // The moment between the end of the last session and that of the process is short.
        for _ in 0..<30 {
            let serve = try PseudoTerminal(["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"])
            _ = await serve.line(containing: "Ctrl-C ends it")
            let goesOn = Mutex(true)
            // A thread of its own: Swift's pool has as many as processors, and other tests wait for them.
            Thread.detachNewThread { while goesOn.withLock({ $0 }) { serve.signal(SIGHUP) } }
            let (end, text) = await serve.end()
            goesOn.withLock { $0 = false }
            #expect(end == .exited(0), "\(text)")
        }
    }

    @Test("a relay that was started with nohup outlives the terminal")
    func noHangUp() async throws {
        let child = try Running(
            ["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"], through: ["/usr/bin/nohup"])
        let address = try #require(await child.line(containing: "relay://"))
        _ = await child.errorLine(containing: "Ctrl-C ends it")
        child.signal(SIGHUP)
        let presence = try await Tool.run("presence", "lesson", "--json", url: address)
        #expect(presence.code == 0)
        child.signal(SIGTERM)
        #expect(await child.end().code == 0)
    }

    @Test("with --log-format json each line of the log is an object with time, level and text")
    func json() async throws {
        let words = ["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--log-format", "json"]
        let serve = try Running(words)
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        serve.signal(SIGTERM)
        let lines = await serve.end().errors.split(separator: "\n")
        #expect(lines.count >= 3)
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(line)")
            #expect(Set(object.keys) == ["time", "level", "text"] && object["level"] == "info", "\(line)")
            #expect(object["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        }
    }

    @Test(
        "with --log-format json what keeps it from serving is one object, too, wherever the format is set; the exit code is the same",
        arguments: [
            (["--port", "x"], "", 2, "option --port wants a whole number"), (["--bogus"], "", 2, "unknown option --bogus"),
            ([], "port 7", 2, "relay.conf:2: a setting is 'name = value'"),
            ([], "max-chanels = 1\nporrt = 2", 2, "did you mean max-channels?\n"),
            (["--port", "PORT"], "", 1, "Address already in use"), (["--data-dir", "/proc/none"], "", 1, "the relay cannot start: "),
        ])
    func failures(words: [String], file: String, code: Int32, problem: String) async throws {
        try await withFolder {
            let silent = try SilentRelay(folder: folder)
            defer { silent.close() }
            let path = "\(folder)/relay.conf", words = words.map { $0 == "PORT" ? "\(silent.port)" : $0 }
            let common = ["serve", "--host", "127.0.0.1"] + (words.contains("--port") ? ["--in-memory"] : ["--port", "0"])
            try Data("log-format = json\n\(file)\n".utf8).write(to: URL(filePath: path))
            var told = [try await Tool.run(common + words + ["--config", path], environment: surroundings)]
            if file.isEmpty {
                told.append(try await Tool.run(common + words + ["--log-format=json"], environment: surroundings))
                let environment = surroundings.merging(["BOARDRELAY_LOG_FORMAT": "json"]) { $1 }
                told.append(try await Tool.run(common + words, environment: environment))
            }
            for result in told {
                let lines = result.errors.split(separator: "\n")
                try #require(result.code == code && result.output == "" && lines.count == 1, "\(result)")
                let object = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: String])
                #expect(Set(object.keys) == ["time", "level", "text"] && object["level"] == "error", "\(result)")
                #expect(object["text"]?.contains(problem) == true, "\(result)")
            }
            let text = try await Tool.run(common + words + ["--log-format", "text", "--config", path], environment: surroundings)
            #expect(text.code == code && text.errors.hasPrefix("boardrelay serve: "), "\(text)")
        }
    }

    @Test("with --log-format json a folder in use is told as an object")
    func locked() async throws {
        try await withFolder {
            let words = ["serve", "--data-dir", "\(folder)/board", "--host", "127.0.0.1", "--port", "0", "--log-format", "json"]
            let serve = try Running(words, environment: surroundings)
            _ = await serve.line(containing: "relay://")
            let second = try await Tool.run(words, environment: surroundings)
            let object = try JSONSerialization.jsonObject(with: Data(second.errors.utf8)) as? [String: String]
            #expect(second.code == 1 && object?["level"] == "error" && object?["text"]?.contains("in use by pid") == true, "\(second)")
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)
        }
    }

    @Test("every line of a log carries its time, as universal time")
    func times() async throws {
        try await withFolder {
            let words = ["serve", "--data-dir", "\(folder)/board", "--host", "127.0.0.1", "--port", "0"]
            let serve = try Running(words, environment: surroundings)
            let address = try #require(await serve.line(containing: "relay://"))
            _ = await serve.errorLine(containing: "Ctrl-C ends it")
            _ = try await Tool.run("pub", "lesson", "-m", "x", "--retain", "--record", "k", url: address, environment: surroundings)
            let wrong = try await Tool.run(
                "pub", "lesson", "-m", "x", "--key", "SECRETISH-0123456789", url: address, environment: surroundings)
            #expect(wrong.code == 1)
            _ = try await Tool.run("board", "rm", "lesson", url: address, environment: surroundings)
            serve.signal(SIGTERM)
            let log = await serve.end().errors.split(separator: "\n")
            let form = /(audit|debug|info|warning|error): [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z .+/
            #expect(log.allSatisfy { $0.wholeMatch(of: form) != nil }, "\(log)")
            #expect(log.contains { $0.contains("removed the board of channel lesson, 1 record") && $0.hasPrefix("audit: ") }, "\(log)")
            #expect(log.contains { $0.contains(" wrong key from 127.0.0.1:") && $0.hasPrefix("warning: ") }, "\(log)")
            #expect(!log.contains { $0.contains("SECRETISH") })
        }
    }

    @Test("an address in use is told with what helps: the relay that may be there, and another port", arguments: ["serve", "demo"])
    func portInUse(command: String) async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let port = relay.address.port
        let result = try await Tool.run(
            [command, "--host", "127.0.0.1", "--port", "\(port)"] + (command == "serve" ? ["--in-memory"] : []))
        #expect(result.code == 1 && result.output == "")
        #expect(result.errors.contains("127.0.0.1:\(port)") && result.errors.contains("in use"), "\(result.errors)")
        #expect(result.errors.contains("Another relay may be running: 'boardrelay status --port \(port)' tells."), "\(result.errors)")
        #expect(result.errors.contains("--port 0"), "\(result.errors)")
        await relay.stop()
    }

    @Test("a second relay on the same data folder names the process that has it, and the port on which that one listens")
    func second() async throws {
        try await withFolder {
            let words = ["serve", "--data-dir", "\(folder)/board", "--host", "127.0.0.1", "--port", "0"]
            let serve = try Running(words, environment: surroundings)
            let address = try #require(await serve.line(containing: "relay://"))
            let second = try await Tool.run(words, environment: surroundings)
            #expect(second.code == 1 && second.output == "", "\(second)")
            let port = address.split(separator: ":").last!
            #expect(
                second.errors.firstMatch(of: /in use by pid [0-9]+/) != nil && second.errors.contains("a relay on port \(port)"),
                "\(second)")
            serve.signal(SIGTERM)
            #expect(await serve.end().code == 0)
        }
    }
}
