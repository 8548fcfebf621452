import Foundation
import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayJournal
@testable import RelayServer
import Testing

/// A relay with a folder: when a removal is answered, its files hold nothing of what was removed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerErasureTests {
    private static let secret = "was Anna schrieb"

    private func holders(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter { file in
            guard let bytes = FileManager.default.contents(atPath: "\(path)/\(file)") else { return false }
            return bytes.range(of: Data(Self.secret.utf8)) != nil
        }
    }

    @Test("[AC14, AC18] what was kept of a user is in no file when that is answered, nor after a restart; so is what it drew")
    func forget() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let host = try await WhiteboardClient.connect(to: server.address, as: "host")
                let anna = try await WhiteboardClient.connect(to: server.address, as: "anna")
                try await anna.metadata(of: .user("anna")).set(["address": Self.secret])
                #expect(try !holders(path).isEmpty)
                try await host.moderation.forget(user: "anna")
                #expect(try holders(path) == [])

                for key in ["a", "b"] { _ = try await anna.send(.text("\(Self.secret) \(key)"), to: "lesson", retainedAs: key).stored }
                _ = try await host.send(.text("kept"), to: "lesson", retainedAs: "c").stored
                _ = try await anna.send(removing: "b", from: "lesson").stored
                #expect(try holders(path).count == 2, "journal and board")
                try await host.moderation.forget(user: "anna", withRecords: true)
                #expect(try holders(path) == [])
                let boards = try await host.boards()
                #expect(boards.map(\.channel) == ["lesson"])
                _ = try await anna.send(.text(Self.secret), to: "lesson", retainedAs: "d").stored
                #expect(try await host.moderation.removeRecords(of: "anna", from: "lesson") == 1 && holders(path) == [])
                #expect(await refusal { try await host.moderation.removeRecords(of: "anna", from: "nowhere") }?.code == .boardNotFound)
                await anna.close()
                await host.close()
            }
            #expect(try holders(path) == [])
            try await withRelay(.folder(path)) { server in
                let host = try await WhiteboardClient.connect(to: server.address, as: "host")
                #expect(try await host.boards().map(\.records) == [1])
                await host.close()
            }
        }
    }

    @Test("[AC19, BL9] a board that was removed is in no file when that is answered; other boards stay")
    func removeBoard() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let host = try await WhiteboardClient.connect(to: server.address, as: "host")
                _ = try await host.send(.text(Self.secret), to: "lesson", retainedAs: "a").stored
                _ = try await host.send(.text("kept"), to: "other", retainedAs: "a").stored
                #expect(try !holders(path).isEmpty)
                try await host.removeBoard("lesson")
                #expect(try holders(path) == [])
                #expect(try FileManager.default.contentsOfDirectory(atPath: path).count { $0.hasPrefix("board-") } == 1)
                #expect(try await host.boards().map(\.channel) == ["other"])
                try await host.metadata(of: .stream("ended")).set(["address": Self.secret])
                _ = try await host.send(.text(Self.secret), to: "ended", retainedAs: "a").stored
                try await host.moderation.endChannel("ended", reason: "enough")
                #expect(try holders(path) == [])
                #expect(try await host.metadata(of: .stream("ended")).get().majorRevision == 0)
                let long = String(repeating: "x", count: 257)
                #expect(await refusal { try await host.moderation.endChannel("x", reason: long) }?.code == .tooLarge)
                await host.close()
            }
        }
    }

    @Test("[AC14, SG2] a disk that does not remove files: the request says so, and the next one finds nothing left")
    func stubborn() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            try await withRelay(.folder(path), permit: faults.permit) { server in
                let host = try await WhiteboardClient.connect(to: server.address, as: "host")
                try await host.metadata(of: .user("anna")).set(["address": Self.secret])
                faults.fail(.remove)
                let refused = await refusal { try await host.moderation.forget(user: "anna") }
                #expect(refused?.code == .storageFailed && refused?.description.contains("still stands on the disk") == true)
                #expect(try await host.metadata(of: .user("anna")).get().items.isEmpty)
                try await host.moderation.forget(user: "anna")
                #expect(try holders(path) == [])
                await host.close()
            }
        }
    }
}
