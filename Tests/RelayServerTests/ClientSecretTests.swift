import Foundation
import RelayClient
import RelayClientCore
import RelayIO
import RelayServer
import RelayWire
import Testing

/// Where the secret that shows whose user id it is comes from.
@Suite struct ClientSecretTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boardrelay-secrets-\(UUID().uuidString)")
    private let relay = RelayAddress(host: "relay.local")

    private func digits(_ user: String, at address: RelayAddress? = nil) throws -> String {
        try ClientSecret.kept(folder: folder).digits(for: try Name(user), at: address ?? relay)
    }

    @Test("[SE2] a user id has one secret per relay, in a file that only this account may read, in folders of its own")
    func kept() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let alice = try digits("alice")
        #expect(try digits("alice") == alice)
        #expect(alice.utf8.count == 32)
        let others = [
            try digits("Alice"), try digits("bob"), try digits("alice", at: RelayAddress(host: "relay.local", port: 7421)),
            try digits("alice", at: RelayAddress(host: "fe80::1")), try digits(".."), try digits(".... %2e&?"),
        ]
        #expect(Set(others + [alice]).count == 7)
        #expect(try digits("alice", at: RelayAddress(host: "RELAY.local")) == alice)

        let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        var regular = 0
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(file).path)
            let permissions = try #require(attributes[.posixPermissions] as? Int)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(permissions == (isFolder ? 0o700 : 0o600), "\(file)")
            if !isFolder { regular += 1 }
        }
        #expect(regular == 7, "a draft is left: \(files)")
        #expect(files.contains("relay.local/7420/alice") && files.contains("relay.local/7420/%41lice"))
    }

    @Test("[SE2] many that ask for the first time at once get the same secret")
    func race() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let secrets = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<32 { group.addTask { try digits("alice") } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(secrets.count == 1)
    }

    @Test("[SE2] a damaged file and a folder that cannot be made are told with the path; nothing is overwritten")
    func damaged() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try digits("alice")
        let path = folder.appendingPathComponent("relay.local/7420/alice")
        try Data("not a secret\n".utf8).write(to: path)
        let error = #expect(throws: RelayError.self) { try digits("alice") }
        #expect(error?.code == .secretNotKept && error?.text.contains(path.path) == true)
        #expect(try Data(contentsOf: path) == Data("not a secret\n".utf8))

        let below = ClientSecret.kept(folder: path)
        let other = #expect(throws: RelayError.self) { try below.digits(for: try Name("alice"), at: relay) }
        #expect(other?.code == .secretNotKept && other?.text.contains("Not a directory") == true)
    }

    @Test("[SE2] a relay on a port of the system's choice leaves no file; given digits are taken as they are")
    func notKept() async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0))
        #expect(try digits("alice", at: server.address) != digits("alice", at: server.address))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        await server.stop()
        let given = String(repeating: "0a", count: 16)
        #expect(try ClientSecret.digits(given).digits(for: Name("alice"), at: relay) == given)
        let error = #expect(throws: RelayError.self) { try ClientSecret.digits("0a").digits(for: Name("alice"), at: relay) }
        #expect(error?.code == .badRequest && error?.limit == 32 && error?.actual == 2)
    }
}
