import Foundation
import RelaySystem
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("serve --wait-for-folder")
struct FolderWaitTests {
    private let folder = ServeTests.folder()

    private var words: [String] {
        ["serve", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--no-announce", "--data-dir", folder + "/board"]
    }

    /// One that serves on the folder, where, and as which process.
    private func owner() async throws -> (serve: Running, address: String, pid: Int) {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let serve = try Running(words)
        let address = try #require(await serve.line(containing: "relay://127.0.0.1:"))
        let status = try await Tool.run("status", "--data-dir", folder + "/board", "--json").object()
        return (serve, address, try #require(status["pid"] as? Int))
    }

    @Test("it says who has the folder, and serves what that relay has stored as soon as it is killed; the next one waits in its turn")
    func takesOver() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (first, address, pid) = try await owner()
        let second = try Running(words + ["--wait-for-folder"])
        let line = try #require(await second.errorLine(containing: "is in use by"))
        #expect(line.contains("The data folder \(folder)/board is in use by pid \(pid). This relay waits"), "\(line)")
        let stored = try await Tool.run(
            "pub", "lesson", "-m", "{\"text\":\"ink\",\"v\":1}", "--type", "title", "--retain", "--record", "title", url: address)
        #expect(stored.code == 0, "\(stored)")
        first.signal(SIGKILL)
        let taken = try #require(await second.line(containing: "relay://127.0.0.1:"))
        #expect(try await Tool.run("board", "export", "lesson", url: taken).output.contains("ink"))
        let third = try Running(words + ["--wait-for-folder"])
        _ = await third.errorLine(containing: "This relay waits")
        second.signal(SIGTERM)
        #expect(await second.end().code == 0)
        let last = try #require(await third.line(containing: "relay://127.0.0.1:"))
        #expect(try await Tool.run("board", "export", "lesson", url: last).output.contains("ink"))
        third.signal(SIGTERM)
        #expect(await third.end().code == 0)
        #expect(await first.end().code == 1_000 + SIGKILL)
    }

    @Test("a signal ends it with 0 while it waits, and the relay that has the folder serves on", arguments: [SIGINT, SIGTERM])
    func ended(number: Int32) async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (first, address, _) = try await owner()
        let second = try Running(words + ["--wait-for-folder"])
        _ = await second.errorLine(containing: "This relay waits")
        second.signal(number)
        let result = await second.end()
        #expect(result.code == 0 && result.output == "", "\(result)")
        #expect(result.errors.contains("Ending: \(Signals.words(number))"), "\(result)")
        #expect(try await Tool.run("presence", "lesson", url: address).code == 0)
        first.signal(SIGTERM)
        #expect(await first.end().code == 0)
    }

    @Test("it serves with the settings of the moment in which it takes over")
    func settings() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (first, _, _) = try await owner()
        let file = folder + "/relay.conf"
        try Data("max-history = 5\n".utf8).write(to: URL(filePath: file))
        let second = try Running(words + ["--wait-for-folder", "--config", file])
        _ = await second.errorLine(containing: "This relay waits")
        try Data("max-history = 6\n".utf8).write(to: URL(filePath: file))
        first.signal(SIGTERM)
        #expect(await second.errorLine(containing: "read again; changed: max-history") != nil)
        second.signal(SIGTERM)
        #expect(await second.end().code == 0)
        _ = await first.end()
    }

    @Test("without it a folder in use is an error; in memory there is none to wait for; where nobody has the folder it serves at once")
    func others() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (first, _, pid) = try await owner()
        let refused = try await Tool.run(words)
        #expect(refused.code == 1 && refused.errors.contains("it is in use by pid \(pid)"), "\(refused)")
        first.signal(SIGTERM)
        _ = await first.end()
        let wrong = try await Tool.run("serve", "--in-memory", "--wait-for-folder")
        #expect(wrong.code == 2 && wrong.errors.contains("--wait-for-folder does not go with --in-memory"), "\(wrong)")
        let alone = try Running(words + ["--wait-for-folder"])
        #expect(await alone.line(containing: "relay://127.0.0.1:") != nil)
        alone.signal(SIGTERM)
        let result = await alone.end()
        #expect(result.code == 0 && !result.errors.contains("waits"), "\(result)")
    }
}
