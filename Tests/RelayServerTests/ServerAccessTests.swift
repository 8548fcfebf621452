import Dispatch
import Foundation
import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayRights
import RelayServer
import RelayTokens
import RelayWire
import Testing

/// Keys and tokens of a relay in this process, with the client library.
@Suite struct ServerAccessTests {
    private static let secret = try! TokenSecret(bytes: [UInt8](repeating: 7, count: 32))

    private func withRelay(
        _ access: WhiteboardRelay.Access, storage: WhiteboardRelay.Storage = .inMemory, _ body: (WhiteboardRelay) async throws -> Void
    ) async throws {
        var hub = Configuration()
        // How long a wrong credential waits is shown on a clock moved by hand.
        hub.credentialPause = .milliseconds(1)
        let server = try await WhiteboardRelay.start(.init(port: 0, storage: storage, access: access, hub: hub))
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func client(_ server: WhiteboardRelay, _ user: String, _ credential: Credential?, secret: ClientSecret = .inMemory) async throws
        -> WhiteboardClient
    {
        var options = ClientOptions()
        options.secret = secret
        options.credential = credential
        return try await WhiteboardClient.connect(to: server.address, as: user, options: options)
    }

    private func refusal(_ body: () async throws -> Void) async -> ErrorCode? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? RelayError)?.code
        }
    }

    /// A token as the school's server would make it.
    private static func token(_ user: String, seconds: Int64 = 3600, role: Role? = nil, grants: [String: [String]] = [:]) throws
        -> Credential
    {
        let now = Int64(Date().timeIntervalSince1970)
        return .token(
            try TokenMint.mint(
                TokenClaims(subject: try Name(user), expires: now + seconds, issuedAt: now, role: role, grants: try Grants(words: grants)),
                secret: secret))
    }

    private func end(of client: WhiteboardClient) async -> RelayError? {
        for await event in client.told { if case .link(.closed(let reason)) = event { return reason } }
        return nil
    }

    @Test("[AC1, AC4, AC5, AC6] the join key lets draw, the host key everything; without a key and with a wrong one nobody comes in")
    func keys() async throws {
        try await withRelay(.keys()) { server in
            let keys = try #require(server.keys)
            let alice = try await client(server, "alice", .key(keys.join)), host = try await client(server, "host", .key(keys.host))
            #expect(alice.access?.role == .editor && host.access?.role == .moderator)
            #expect(try await alice.send(.text("x"), to: "lesson").accepted == 1)
            // There is no board: who may clear one is told so, who may not learns nothing.
            #expect(await refusal { _ = try await alice.board(of: "lesson").clear() } == .notPermitted)
            #expect(await refusal { _ = try await host.board(of: "lesson").clear() } == .boardNotFound)

            #expect(await refusal { _ = try await client(server, "bob", nil) } == .credentialRequired)
            #expect(await refusal { _ = try await client(server, "bob", .key("nobody's")) } == .keyWrong)
            #expect(await refusal { _ = try await client(server, "bob", .token("a.b.c")) } == .tokenInvalid)
            #expect(await server.census().counters.credentialsWrong == 3)
            for client in [alice, host] { await client.close() }
        }
    }

    @Test("[AC3] a user id is its client's: another one that knows the key does not get it, and the one inside notices nothing")
    func taken() async throws {
        try await withRelay(.keys()) { server in
            let key = Credential.key(try #require(server.keys).join)
            let mine = ClientSecret.digits(String(repeating: "ab", count: 16))
            let alice = try await client(server, "alice", key, secret: mine)
            #expect(await refusal { _ = try await client(server, "alice", key) } == .userIDTaken)
            #expect(try await alice.send(.text("still here"), to: "lesson").accepted == 1)
            await alice.close()
            #expect(await refusal { _ = try await client(server, "alice", key) } == .userIDTaken)
            await (try await client(server, "alice", key, secret: mine)).close()
        }
    }

    @Test("[AC6] a join key for looking on lets nobody publish")
    func readers() async throws {
        try await withRelay(.keys(join: .reader)) { server in
            let alice = try await client(server, "alice", .key(try #require(server.keys).join))
            #expect(alice.access?.rights(on: try Name("lesson")) == [.subscribe, .presence])
            try await alice.subscribe("lesson")
            #expect(await refusal { _ = try await alice.send(.text("x"), to: "lesson").accepted } == .notPermitted)
            await alice.close()
        }
    }

    @Test("[AC1] keys that are drawn anew: who came in by the old one is closed if that is wanted; the old one is wrong, the new one right")
    func rotate() async throws {
        try await withRelay(.keys()) { server in
            let old = try #require(server.keys)
            let stays = try await client(server, "stays", .key(old.join)), host = try await client(server, "host", .key(old.host))
            let first = try await server.rotateKeys([.join])
            #expect(first.join != old.join && first.host == old.host)
            #expect(server.keys == first)
            #expect(try await stays.send(.text("x"), to: "lesson").accepted == 1)
            #expect(await refusal { _ = try await client(server, "late", .key(old.join)) } == .keyWrong)

            let alice = try await client(server, "alice", .key(first.join))
            let second = try await server.rotateKeys([.join], endsSessions: true)
            guard await end(of: alice)?.code == .keyChanged else {
                Issue.record("\(alice.link)")
                return
            }
            // It had come in by the first key, which was none any more.
            guard await end(of: stays)?.code == .keyChanged else {
                Issue.record("\(stays.link)")
                return
            }
            #expect(try await host.send(.text("x"), to: "lesson").accepted == 2)
            await (try await client(server, "late", .key(second.join))).close()
            await host.close()
        }
    }

    @Test("who logs may ask for the keys, also while they are drawn anew")
    func logReadsKeys() async throws {
        let running = Mutex<WhiteboardRelay?>(nil), answered = Mutex<[Bool]>([])
        var options = WhiteboardRelay.Options(port: 0, storage: .inMemory, access: .keys())
        options.log = { line in
            guard line.text.contains("rotated"), let server = running.withLock({ $0 }) else { return }
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                if server.keys != nil { done.signal() }
            }
            // A hang guard: nothing waits for it.
            let isDone = done.wait(timeout: .now() + 30) == .success
            answered.withLock { $0.append(isDone) }
        }
        let server = try await WhiteboardRelay.start(options)
        running.withLock { $0 = server }
        try await server.rotateKeys()
        #expect(answered.withLock { $0 } == [true])
        running.withLock { $0 = nil }
        await server.stop()
    }

    @Test("a relay without keys has none, and draws none; a description of keys shows none")
    func none() async throws {
        try await withRelay(.open) { server in
            #expect(server.keys == nil)
            await #expect(throws: RelayServerError.self) { try await server.rotateKeys() }
            let anybody = try await client(server, "anybody", .key("looked at by nobody"))
            #expect(anybody.access?.role == .moderator)
            await anybody.close()
        }
        try await withRelay(.keys()) { server in
            let keys = try #require(server.keys)
            var dumped = ""
            dump(keys, to: &dumped)
            for text in ["\(keys)", String(reflecting: keys), dumped] { #expect(!text.contains(keys.join) && !text.contains(keys.host)) }
        }
    }

    @Test("keys are kept in the data folder, and one that cannot be kept does not count")
    func kept() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boardrelay-\(UInt32.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: folder) }
        var keys: AccessKeys?
        try await withRelay(.keys(), storage: .folder(folder.path)) { server in
            keys = try await server.rotateKeys()
        }
        try await withRelay(.keys(), storage: .folder(folder.path)) { server in
            #expect(server.keys == keys)
            try FileManager.default.removeItem(at: folder)
            // A file in the folder's place: nothing can be made there, whoever runs this.
            try Data().write(to: folder)
            let error = await #expect(throws: RelayServerError.self) { try await server.rotateKeys([.join], endsSessions: true) }
            #expect(error?.text.contains("the key cannot be kept: \(folder.path)") == true, "\(error?.text ?? "")")
            #expect(server.keys == keys)
            await (try await client(server, "alice", .key(try #require(keys).join))).close()
        }
    }

    @Test("[AC1, AC4] a relay that takes tokens lets in whom they are for, with the rights that they name")
    func tokens() async throws {
        try await withRelay(.tokens(try TokenRules(secrets: [Self.secret]))) { server in
            #expect(server.keys == nil)
            let token = try Self.token("alice", role: .reader, grants: ["board-*": ["publish"]])
            let alice = try await client(server, "alice", token)
            #expect(alice.access?.role == .reader && alice.access?.grants.words == ["board-*": ["publish"]])
            #expect(try await alice.send(.text("x"), to: "board-1").accepted == 1)
            #expect(await refusal { _ = try await alice.send(.text("x"), to: "lesson").accepted } == .notPermitted)
            #expect(await refusal { _ = try await client(server, "bob", token) } == .tokenInvalid)
            #expect(
                await refusal { _ = try await client(server, "bob", try Self.token("bob", seconds: -60, role: .reader)) } == .tokenExpired)
            #expect(await refusal { _ = try await client(server, "bob", .key("a key")) } == .keyWrong)
            await alice.close()
        }
    }

    @Test("[AC7, AC8] a renewal changes what may be done: channels are left, topics closed, both are told; a wrong token changes nothing")
    func renew() async throws {
        try await withRelay(.keys(tokens: try TokenRules(secrets: [Self.secret]))) { server in
            let alice = try await client(server, "alice", try Self.token("alice", role: .editor))
            try await alice.subscribe("lesson")
            let stream = try await alice.join("drawing")
            try await stream.joinTopic("points")
            #expect(await refusal { try await alice.renew(try Self.token("bob", role: .moderator)) } == .tokenInvalid)
            #expect(await refusal { try await alice.renew(.key("wrong")) } == .keyWrong)
            #expect(alice.access?.role == .editor)
            var permissions = try alice.channel("drawing").permissions().makeAsyncIterator()
            #expect(await permissions.next()?.rights == Role.editor.rights)

            try await alice.renew(try Self.token("alice", grants: ["drawing": ["subscribe"]]))
            #expect(alice.access?.role == nil)
            #expect(alice.access?.rights(on: try Name("drawing")) == .subscribe)
            #expect(await permissions.next()?.rights == .subscribe)
            var told: [Problem] = []
            for await event in alice.told {
                if case .refused(let refusal) = event { told.append(refusal) }
                if told.count == 2 { break }
            }
            #expect(told.allSatisfy { $0.error.code == .notPermitted })
            #expect(
                Set(told.map { "\($0.subject) \($0.place?.description ?? "") \($0.topic ?? "")" }) == [
                    "channel message:lesson ", "packet stream:drawing points",
                ])
            #expect(await refusal { try stream.send(.text("x"), topic: "points") } == .topicNotJoined)

            try await alice.renew(.key(try #require(server.keys).host))
            #expect(alice.access?.role == .moderator)
            try await alice.subscribe("lesson")
            await alice.close()
        }
    }

    @Test("[AC8] half a minute before its token ends the client is told, and another one lets it stay")
    func expiring() async throws {
        try await withRelay(.tokens(try TokenRules(secrets: [Self.secret]))) { server in
            // It counts for the 5 s more that clocks may differ by: 31 to 32 s in all.
            let alice = try await client(server, "alice", try Self.token("alice", seconds: 27, role: .reader))
            var left: Duration?
            for await event in alice.told {
                if case .accessExpiring(let time) = event {
                    left = time
                    break
                }
            }
            #expect((.zero ... .seconds(30)).contains(try #require(left)))
            try await alice.renew(try Self.token("alice", role: .editor))
            // Its link may have ended with the token.
            try await alice.connect()
            #expect(alice.access?.role == .editor)
            await alice.close()
        }
    }
}
