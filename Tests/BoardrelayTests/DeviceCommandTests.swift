import Foundation
import RelayServer
import Testing

@testable import RelayConsole

@Suite("device: one user on two machines", .timeLimit(.minutes(10)))
struct DeviceCommandTests {
    private let folder = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))"

    /// Each machine has a folder of its own.
    private func machine(_ name: String, key: String) -> [String: String] {
        ["XDG_RUNTIME_DIR": "\(folder)/\(name)", "XDG_DATA_HOME": "\(folder)/\(name)/data", "BOARDRELAY_KEY": key]
    }

    private func withRelay(
        _ body: (_ url: String, _ phone: [String: String], _ tablet: [String: String]) async throws -> Void
    ) async throws {
        for name in ["phone", "tablet"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let relay = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
        let key = try #require(relay.keys).join
        do {
            try await body("\(relay.address)", machine("phone", key: key), machine("tablet", key: key))
        } catch {
            await relay.stop()
            throw error
        }
        await relay.stop()
    }

    @Test("[AC17] a code that offer prints lets take in, once; then --as is the user without a code")
    func device() async throws {
        try await withRelay { url, phone, tablet in
            let pub = ["pub", "lesson", "-m", "x", "--as", "alice"]
            #expect(try await Tool.run(pub, url: url, environment: phone).code == 0)
            let taken = try await Tool.run(pub, url: url, environment: tablet)
            #expect(taken.code == 1 && taken.errors.contains("(userIDTaken)"))

            let offer = try Running(["device", "offer", "--as", "alice", "--json"], url: url, environment: phone)
            let line = try #require(await offer.line(containing: "code"))
            let offered = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let code = try #require(offered["code"] as? String)
            #expect(offered["type"] as? String == "offered" && offered["validMs"] as? Int == 120_000)
            #expect(await offer.errorLine(containing: "boardrelay device take \(code)") != nil)
            let take = try await Tool.run("device", "take", code, url: url, environment: tablet)
            #expect(take.code == 0 && take.output == "alice\n" && take.errors == "", "\(take)")
            let again = try await Tool.run("device", "take", code, "--json", url: url, environment: tablet)
            #expect(again.code == 1 && again.output == "" && again.errors.contains("(codeWrong)"))
            #expect(try await Tool.run(pub, url: url, environment: tablet).code == 0)

            offer.signal(SIGINT)
            let ended = await offer.end()
            #expect(ended.code == 130 && ended.output == line + "\n")
        }
    }

    @Test("[AC17] without --json the code stands alone; --timeout ends offer with 124, and the code with it")
    func timeout() async throws {
        try await withRelay { url, phone, tablet in
            let offer = try await Tool.run("device", "offer", "--as", "alice", "--timeout", "20s", url: url, environment: phone)
            #expect(offer.code == 124 && offer.lines.count == 1 && offer.lines.first?.count == 10, "\(offer)")
            let late = try await Tool.run("device", "take", offer.lines.first ?? "", url: url, environment: tablet)
            #expect(late.code == 1 && late.errors.contains("(codeWrong)"))
        }
    }

    @Test(
        "[AC17] offer wants a user, take a code and nothing that says who the user is",
        arguments: [
            (["device", "offer"], "offer wants --as USER"), (["device", "offer", "x", "--as", "a"], "offer takes no CODE"),
            (["device", "take"], "CODE is missing"), (["device", "take", "x", "--as", "a"], "option --as is for offer"),
            (["device", "take", "x", "--token", "a"], "option --token is for offer"),
            (["device", "give"], "ACTION is one of offer, take"),
        ] as [([String], String)])
    func usage(words: [String], problem: String) async throws {
        let result = try await Tool.run(words)
        #expect(result.code == 2 && result.output == "" && result.errors.contains(problem), "\(result.errors)")
    }
}
