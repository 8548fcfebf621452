import Foundation
import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayMonitoring
import RelayRights
import RelayServer
import RelayWire
import Testing

/// A moderator's client and a pupil's, over sockets.
@Suite struct ServerModerationTests {
    private func withRelay(
        folder: String? = nil, host: String = "host", log: @escaping @Sendable (LogLine) -> Void = { _ in },
        _ body: (WhiteboardRelay, WhiteboardClient) async throws -> Void
    ) async throws {
        var options = WhiteboardRelay.Options(port: 0, storage: folder.map { .folder($0) } ?? .inMemory, access: .keys())
        options.log = log
        let server = try await WhiteboardRelay.start(options)
        do {
            let host = try await client(server, host, \.host)
            try await body(server, host)
            await host.close()
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func client(_ server: WhiteboardRelay, _ user: String, _ key: KeyPath<AccessKeys, String>, secret: ClientSecret = .inMemory)
        async throws -> WhiteboardClient
    {
        var options = ClientOptions()
        options.secret = secret
        options.credential = .key(try #require(server.keys)[keyPath: key])
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

    private func next<T>(_ client: WhiteboardClient, _ pick: (ClientEvent) -> T?) async -> T? {
        for await event in client.told { if let found = pick(event) { return found } }
        return nil
    }

    private func change(of client: WhiteboardClient) async -> (access: Access, by: String)? {
        await next(client) { if case .accessChanged(let access, let by) = $0 { (access, by) } else { nil } }
    }

    @Test("[AC10] a moderator makes a pupil a reader and lets it draw again: the pupil's client is told, and what it may is that")
    func roles() async throws {
        try await withRelay { server, host in
            let anna = try await client(server, "anna", \.join)
            #expect(try await anna.send(.text("x"), to: "lesson").accepted == 1)
            try await host.moderation.setRole(.reader, of: "anna")
            let told = try #require(await change(of: anna))
            #expect(told.access == Access(role: .reader) && told.by == "host" && anna.access?.role == .reader)
            #expect(await refusal { _ = try await anna.send(.text("x"), to: "lesson").accepted } == .notPermitted)
            try await host.moderation.setRole(nil, of: "anna")
            #expect(await change(of: anna)?.access.role == .editor)
            #expect(try await anna.send(.text("x"), to: "lesson").accepted == 2)
            #expect(await refusal { try await anna.moderation.setRole(.reader, of: "host") } == .notPermitted)
            #expect(await refusal { try await host.moderation.setRole(.moderator, of: "anna") } == .badRequest)
            await anna.close()
        }
    }

    @Test("[AC11] a frozen lesson is looked at only: its topics are left, and joined again when it is over")
    func freeze() async throws {
        try await withRelay { server, host in
            let anna = try await client(server, "anna", \.join)
            let stream = try await anna.join("lesson")
            try await stream.joinTopic("points")
            try await host.moderation.freeze("lesson")
            let freeze = try #require(await next(anna) { if case .channelMode(let change) = $0 { change } else { nil } })
            #expect(freeze.place == ChannelID(kind: .stream, channel: try Name("lesson")) && freeze.isOn && freeze.by == "host")
            let refused = await next(anna) { if case .refused(let refusal) = $0 { refusal } else { nil } }
            #expect(refused?.subject == .packet && refused?.topic == "points" && refused?.error.code == .notPermitted)
            #expect(await refusal { try stream.send(.text("x"), topic: "points") } == .topicNotJoined)
            #expect(await refusal { try await stream.joinTopic("points") } == .notPermitted)
            try await host.moderation.unfreeze("lesson")
            #expect(await next(anna) { if case .channelMode(let change) = $0 { change.isOn } else { nil } } == false)
            try await stream.joinTopic("points")
            try stream.send(.text("x"), topic: "points")
            await anna.close()
        }
    }

    @Test("[AC12] a session is ended with a reason, which its client is given, and its user comes in again")
    func ends() async throws {
        try await withRelay { server, host in
            let anna = try await client(server, "anna", \.join, secret: .digits(String(repeating: "ab", count: 16)))
            try await host.moderation.endSession(of: "anna", reason: "See you tomorrow.")
            let end = await next(anna) { if case .link(.closed(let reason)) = $0 { reason } else { nil } }
            #expect(end == RelayError(.endedByModerator, "See you tomorrow."))
            #expect(await refusal { try await host.moderation.endSession(of: "anna") } == .userOffline)
            #expect(
                await refusal { try await host.moderation.endSession(of: "anna", reason: String(repeating: "x", count: 257)) } == .tooLarge)
            await (try await client(server, "anna", \.join, secret: .digits(String(repeating: "ab", count: 16)))).close()
        }
    }

    @Test("[AC16] a moderator's client sees who is there, page by page, and the relay's counters; a pupil's does not")
    func status() async throws {
        try await withRelay { server, host in
            let anna = try await client(server, "anna", \.join)
            let before = try await host.moderation.status()
            #expect(before.users.map(\.user) == ["anna", "host"] && before.sessions.present == 2 && before.next == nil)
            #expect(before.users.allSatisfy { !$0.away && $0.peer.hasPrefix("127.0.0.1:") })
            _ = try await anna.send(.text("x"), to: "lesson").accepted
            let page = try await host.moderation.status(limit: 1)
            #expect(page.users.map(\.user) == ["anna"] && page.next == "anna")
            #expect(page.counters.messagesAccepted == before.counters.messagesAccepted + 1 && page.uptime >= before.uptime)
            #expect(try await host.moderation.status(after: "anna", limit: 1).users.map(\.user) == ["host"])
            #expect(await refusal { _ = try await anna.moderation.status() } == .notPermitted)
            #expect(await refusal { _ = try await host.moderation.status(limit: 0) } == .badRequest)
            #expect(await refusal { _ = try await host.moderation.status(after: "a/b") } == .badName)
            await anna.close()
        }
    }

    @Test(
        "[AC13, AC14, AC15] who is banned is out and stays out after a restart from disk, until that is taken back; each change is one line of the log"
    )
    func bans() async throws {
        let folder = "/tmp/boardrelay-moderation-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let log = Mutex<[LogLine]>([])
        let mine = ClientSecret.digits(String(repeating: "cd", count: 16))
        try await withRelay(folder: folder, log: { line in log.withLock { $0.append(line) } }) { server, host in
            let anna = try await client(server, "anna", \.join, secret: mine)
            try await host.moderation.ban("anna")
            try await host.moderation.ban("bob", for: .seconds(7_200))
            try await host.moderation.freeze("lesson")
            try await host.moderation.setRole(.reader, of: "carl")
            let end = await next(anna) { if case .link(.closed(let reason)) = $0 { reason } else { nil } }
            guard end?.code == .banned else {
                Issue.record("\(anna.link)")
                return
            }
            #expect(await refusal { _ = try await client(server, "anna", \.join, secret: mine) } == .banned)
            for time in [Duration.milliseconds(999), .seconds(366 * 86_400), .seconds(Int64.max), .seconds(Int64.min), .zero] {
                #expect(await refusal { try await host.moderation.ban("dora", for: time) } == .badRequest, "\(time)")
            }
        }
        let lines = log.withLock { $0 }.filter { $0.auditedAt != nil }
        #expect(lines.count == 4 && lines.allSatisfy { $0.text.hasPrefix("user host, ") }, "\(lines)")

        try await withRelay(folder: folder, host: "operator") { server, host in
            #expect(await refusal { _ = try await client(server, "anna", \.join) } == .banned)
            #expect(await refusal { _ = try await client(server, "berta", \.join, secret: mine) } == .banned)
            let bans = try await host.moderation.bans()
            #expect(bans.map { "\($0.user) \($0.by)" } == ["anna host", "bob host"])
            #expect(bans.map { $0.end == nil } == [true, false] && bans[1].end == bans[1].date + 7_200)
            let carl = try await client(server, "carl", \.join)
            #expect(carl.access?.role == .reader)
            try await host.moderation.forget(user: "carl")
            #expect(await change(of: carl)?.access.role == .editor)
            #expect(await refusal { _ = try await carl.send(.text("x"), to: "lesson").accepted } == .notPermitted, "frozen still")
            try await host.moderation.unban("anna")
            #expect(await refusal { try await host.moderation.unban("anna") } == .notBanned)
            for one in [try await client(server, "anna", \.join, secret: mine), carl] { await one.close() }
        }
    }
}
