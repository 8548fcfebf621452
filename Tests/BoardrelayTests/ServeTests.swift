import Foundation
import RelayIO
import RelayServer
import Testing

@testable import boardrelay

@Suite("serve and status")
struct ServeTests {
    /// Unix socket paths are short.
    static func folder() -> String { "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))" }

    @Test("serve prints where it listens and ends with 0 on Ctrl-C and on SIGTERM", arguments: [SIGINT, SIGTERM])
    func serve(number: Int32) async throws {
        let serve = try Running(["serve", "--host", "127.0.0.1", "--port", "0"])
        let address = try #require(await serve.line(containing: "relay://127.0.0.1:"))
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        let presence = try await Tool.run("presence", "lesson", "--json", url: address)
        #expect(presence.code == 0)
        serve.signal(number)
        let result = await serve.end()
        #expect(result.code == 0)
        #expect(result.output == address + "\n")
        #expect(result.errors.contains("Nothing is kept on disk"))
    }

    @Test("on every interface it prints each address once, one a line")
    func everyInterface() async throws {
        let serve = try Running(["serve", "--port", "0"])
        #expect(await serve.errorLine(containing: "Ctrl-C ends it") != nil)
        serve.signal(SIGINT)
        let result = await serve.end()
        #expect(result.lines.contains { $0.hasPrefix("relay://127.0.0.1:") })
        #expect(Set(result.lines).count == result.lines.count)
        #expect(result.lines.allSatisfy { RelayServer.Address($0) != nil })
    }

    @Test("a port in use is an error that names it")
    func portInUse() async throws {
        let relay = try await RelayServer.start(.init(port: 0))
        let result = try await Tool.run("serve", "--host", "127.0.0.1", "--port", "\(relay.address.port)", "--control", Self.folder() + ".sock")
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(result.errors.contains("\(relay.address.port)") && result.errors.contains("in use"), "\(result.errors)")
        await relay.stop()
    }

    @Test("status shows sessions, channels and queues, as tables and as JSON")
    func status() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let serve = try Running(["serve", "--host", "127.0.0.1", "--port", "0", "--data-dir", folder])
        let address = try #require(await serve.line(containing: "relay://"))
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        let sub = try Running(["sub", "lesson", "--topic", "points", "--as", "alice"], url: address)
        _ = await sub.errorLine(containing: "Listening")

        let table = try await Tool.run("status", "--data-dir", folder)
        #expect(table.code == 0)
        #expect(table.output.contains("1 connections, 1 sessions (0 away), 2 channels"))
        #expect(table.lines.contains { $0.hasPrefix("alice  127.0.0.1:") && $0.contains("boardrelay \(Boardrelay.version)") })
        #expect(table.lines.contains { $0.hasPrefix("lesson   message       1     1") }, "\(table.output)")

        let json = try await Tool.run("status", "--control", folder + "/control.sock", "--json")
        let census = try #require(try json.object()["census"] as? [String: Any])
        #expect(census["connections"] as? Int == 1)

        sub.signal(SIGINT)
        #expect(await sub.end().code == 130)
        serve.signal(SIGINT)
        #expect(await serve.end().code == 0)
        let gone = try await Tool.run("status", "--data-dir", folder)
        #expect(gone.code == 1 && gone.errors.contains("no relay answers on \(folder)/control.sock"))
    }
}
