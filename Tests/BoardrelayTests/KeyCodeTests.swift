import Foundation
import RelayClient
import RelayServer
import Testing

@testable import RelayConsole

@Suite("key code: six letters for newcomers", .timeLimit(.minutes(10)))
struct KeyCodeTests {
    private let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"
    private var socket: String { folder + "/c.sock" }

    private func withRelay(_ body: (WhiteboardRelay) async throws -> Void) async throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await BoardrelayTests.withRelay(.init(port: 0, access: .keys(), controlSocket: socket), body)
    }

    private func came(_ relay: WhiteboardRelay, by code: String) async -> String {
        var options = ClientOptions()
        options.credential = .joinCode(code)
        options.secret = .inMemory
        do {
            let client = try await WhiteboardClient.connect(to: relay.address, as: "ann", options: options)
            defer { Task { await client.close() } }
            return client.invitation?.channel ?? "nowhere"
        } catch {
            return error.name
        }
    }

    @Test("[AC20] the letters lead to the board while the command runs, and end with it")
    func offered() async throws {
        try await withRelay { relay in
            let offer = try Running(["key", "code", "--board", "lesson", "--json", "--control", socket])
            let line = try #require(await offer.line(containing: "code"))
            let offered = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let code = try #require(offered["code"] as? String), url = try #require(offered["url"] as? String)
            #expect(offered["type"] as? String == "offered" && offered["board"] as? String == "lesson" && !url.contains("#"))
            #expect((offered["validMs"] as? Int).map { 0 < $0 && $0 <= 1_800_000 } == true)
            #expect(await offer.errorLine(containing: "Others go to \(url) and type \(code).") != nil)
            #expect(await came(relay, by: code) == "lesson")
            offer.signal(SIGINT)
            #expect(await offer.end().code == 130)
            #expect(await came(relay, by: code) == "codeWrong")
        }
    }

    @Test("[AC20] without --json the letters stand alone; other keys end the command, which says why")
    func ended() async throws {
        try await withRelay { relay in
            let offer = try Running(["key", "code", "--control", socket])
            let told = try #require(await offer.errorLine(containing: " and type "))
            let code = try #require(told.firstMatch(of: /type ([B-Z]{6})\./)).1.description
            #expect(await came(relay, by: code) == "board")
            try await relay.rotateKeys([.join])
            let ended = await offer.end()
            #expect(ended.code == 1 && ended.output == code + "\n")
            #expect(ended.errors.contains("the join code is void: the relay has another key"))
        }
    }
}
