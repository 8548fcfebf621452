import Foundation
import RelayClient
import RelayCore
import RelayRights
import Testing

@testable import boardrelay
@testable import RelayConsole
@testable import RelayIO
@testable import RelayServer

/// How commands end when all does not go well.
@Suite("commands that time out before they are let in, and commands that fail", .serialized, .timeLimit(.minutes(10)))
struct LeavingTests {
    private let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }

    private func withFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body()
    }

    /// Of themselves the control socket gives up after 12 s and the login after 10 s, with 1.
    @Test(
        "--timeout holds while the control socket is asked for the key, and while the relay does not let in: 124, not 1 after 22 s",
        arguments: [
            ["user", "ban", "x"], ["sub", "lesson"], ["pub", "lesson", "-m", "x"], ["channel", "freeze", "lesson"], ["board", "ls"],
            ["meta", "get", "lesson"],
            ["lock", "list", "lesson"], ["history", "lesson"], ["presence", "lesson"],
        ])
    func silence(words: [String]) async throws {
        try await withFolder {
            let relay = try SilentRelay(folder: folder)
            defer { relay.close() }
            let url = "relay://127.0.0.1:\(relay.port)"
            // With a key the control socket is not asked.
            for key in [[:], ["BOARDRELAY_KEY": "0123456789abcdef"]] {
                let result = try await Tool.run(words + ["--timeout", "200ms"], url: url, environment: surroundings.merging(key) { $1 })
                #expect(result.code == 124, "\(result)")
                #expect(
                    result.output == "" && result.errors == "boardrelay \(words[0]): timed out before \(url) let this client in\n",
                    "\(result.errors)")
            }
        }
    }

    @Test(
        "[SE12] whoever a command that fails was is logged out, and not away until the presence timeout",
        arguments: [
            (["pub", "lesson", "-m", "x"], "notPermitted"),
            (["pub", "--to", "bob", "-m", "x"], "notPermitted"),
            (["pub", "lesson", "--topic", "t", "-m", "x"], "notPermitted"),
            (["user", "ban", "bob"], "notPermitted"),
            (["channel", "freeze", "lesson"], "notPermitted"),
            (["meta", "get", "lesson", "title"], "there is no item title"),
            (["meta", "set", "lesson", "k", "v"], "notPermitted"),
            (["lock", "release", "lesson", "pen"], "notPermitted"),
            (["board", "rm", "lesson"], "notPermitted"),
            (["board", "export", "lesson"], "there is no board lesson"),
            (["replay", Samples.path("three-boards"), "--channel", "lesson", "--boards-as-users", "--verify"], "notPermitted"),
        ] as [([String], String)])
    func failure(words: [String], problem: String) async throws {
        try await withFolder {
            let control = "\(folder)/c.sock"
            let relay = try await WhiteboardRelay.start(.init(port: 0, access: .keys(join: .reader), controlSocket: control))
            do {
                let key = try #require(relay.keys).join
                let failed = try await Tool.run(
                    words + ["--as", "anna"], url: "\(relay.address)", environment: surroundings.merging(["BOARDRELAY_KEY": key]) { $1 })
                #expect(failed.code == 1 && failed.errors.contains(problem), "\(failed)")
                // Its process is gone: the relay reads what it sent, and that its link ended.
                var census = await relay.census()
                while census.sessionsPresent > 0 {
                    try await Task.sleep(for: .milliseconds(5))
                    census = await relay.census()
                }
                #expect(census.sessionsAway == 0, "\(census.sessions)")
            } catch {
                await relay.stop()
                throw error
            }
            await relay.stop()
        }
    }

    @Test(
        "[AC14, BL9] forget and rm wait as long as the relay's disk takes, and say so; Ctrl-C ends the waiting, and says that the erasure goes on",
        arguments: [
            ["user", "forget", "anna"], ["board", "rm", "lesson"],
        ])
    func erasing(words: [String]) async throws {
        try await withFolder {
            let isHeld = Mutex(false), gate = DispatchSemaphore(value: 0)
            let relay = try await WhiteboardRelay.start(.init(port: 0, storage: .folder("\(folder)/relay"))) { operation in
                guard "\(operation)" == "remove", isHeld.withLock({ $0 }) else { return }
                gate.wait()
                gate.signal()
            }
            let anna = try await WhiteboardClient.connect(to: relay.address, as: "anna")
            try await anna.metadata(of: .user("anna")).set(["name": "Anna"])
            _ = try await anna.send(.text("x"), to: "lesson", retainedAs: "k").stored
            isHeld.withLock { $0 = true }
            let running = try Running(words, url: "\(relay.address)", environment: surroundings)
            _ = await running.errorLine(containing: "Waiting until the relay's disk holds nothing of it.")
            running.signal(SIGINT)
            let result = await running.end()
            #expect(result.code == 130 && result.errors.contains("stopped; the erasure goes on if the relay has the request"), "\(result)")
            gate.signal()
            await anna.close()
            await relay.stop()
        }
    }

    @Test("Ctrl-C ends a command that asks the relay twice, also where the relay has fallen silent between")
    func between() async throws {
        try await withFolder {
            let gate = DispatchSemaphore(value: 0), isKnown = Mutex(false)
            let (closed, tellClosed) = AsyncStream.makeStream(of: Void.self)
            var options = WhiteboardRelay.Options(port: 0)
            // The relay's queue stands still from the end of the first connection on.
            options.log = { line in
                guard isKnown.withLock({ $0 }), line.text.contains("closed") else { return }
                tellClosed.yield()
                gate.wait()
                gate.signal()
            }
            let relay = try await WhiteboardRelay.start(options)
            let anna = try await WhiteboardClient.connect(to: relay.address, as: "anna")
            isKnown.withLock { $0 = true }
            let running = try Running(["user", "role", "anna", "reader"], url: "\(relay.address)", environment: surroundings)
            for await _ in closed { break }
            running.signal(SIGINT)
            let result = await running.end()
            gate.signal()
            #expect(result.code == 130, "\(result)")
            await anna.close()
            await relay.stop()
        }
    }

    @Test("a signal that comes when the wait for it was cancelled, and has not ended, ends the process")
    func cancelled() async {
        await #expect(processExitsWith: .exitCode(130)) {
            let signals = Signals()
            let waiting = Task { await signals.first() }
            waiting.cancel()
            _ = await waiting.value
            kill(getpid(), SIGINT)
            try await Task.sleep(for: .seconds(20))
            withExtendedLifetime(signals) {}
        }
    }
}
