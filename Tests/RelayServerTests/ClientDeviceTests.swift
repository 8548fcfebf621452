import Foundation
import RelayClient
import RelayMonitoring
import RelayServer
import Testing

/// One user on several devices, against a relay in this process.
@Suite struct ClientDeviceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boardrelay-devices-\(UUID().uuidString)")

    private func withRelay(_ access: WhiteboardRelay.Access = .open, _ body: (WhiteboardRelay, RelayAddress) async throws -> Void)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: access, hub: .unhurried()))
        // As an app finds it again.
        let lasting = RelayAddress(host: "127.0.0.1", port: server.address.port)
        do {
            try await body(server, lasting)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func options(_ server: WhiteboardRelay, _ installation: String) -> ClientOptions {
        var options = ClientOptions()
        options.secret = .kept(folder: folder.appendingPathComponent(installation))
        options.credential = server.keys.map { .key($0.join) }
        return options
    }

    @Test("[SE6] secret and device are found at another address of the relay, by its public id; what is kept for the id is never replaced")
    func movedRelay() async throws {
        try await withRelay { server, address in
            let options = options(server, "tablet"), elsewhere = RelayAddress(host: "localhost", port: address.port)
            func comeIn(_ invitation: Invitation) async throws -> (secret: String?, device: String?, relay: String?) {
                try await WhiteboardClient.withClient(invitation, user: "alice", options: options) { client in
                    try await client.connect()
                    return (client.secret, client.device, client.relayID)
                }
            }
            let first = try await comeIn(Invitation(address))
            let moved = try await comeIn(Invitation(elsewhere, relayID: first.relay))
            #expect(first.secret != nil && first.relay != nil && moved == first)
            // Whoever answers at an address that nothing is known of may claim any id.
            let unknown = try await comeIn(Invitation(elsewhere))
            #expect(unknown.secret != first.secret && unknown.relay == first.relay)
            #expect(try await comeIn(Invitation(elsewhere, relayID: first.relay)) == first)
        }
    }

    private func code(_ body: () async throws -> Void) async -> ErrorCode? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? RelayError)?.code
        }
    }

    private func end(of client: WhiteboardClient) async -> ErrorCode? {
        for await case .link(.closed(let reason)) in client.told { return reason.code }
        return nil
    }

    @Test("[SE8] two devices of a user are in one topic: both are heard, and the end of one does not end the other")
    func topic() async throws {
        try await withRelay { server, _ in
            let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
            let bobs = try await bob.join("lesson")
            try await bobs.subscribeTopic("pen")
            let phone = try await WhiteboardClient.connect(to: server.address, as: "alice")
            let tablet = try await WhiteboardClient.connect(to: server.address, as: "alice")
            #expect(phone.user == "alice" && phone.device != tablet.device)
            let streams = [try await phone.join("lesson"), try await tablet.join("lesson")]
            try await streams[1].subscribeTopic("pen")
            for stream in streams {
                try await stream.joinTopic("pen")
                try stream.send(.text("a"), topic: "pen")
            }
            try await streams[0].leaveTopic("pen")
            await phone.close()
            try streams[1].send(.text("b"), topic: "pen")
            var heard: [String] = [], left: [String] = []
            for await event in bob.told {
                if case .topics(let change) = event, change.kind == .left { left += change.publishers.map(\.device) }
                if case .packet(let packet) = event { heard.append("\(packet.publisher) \(packet.device) \(packet.payload.text ?? "")") }
                if heard.count == 3 { break }
            }
            #expect(heard == ["alice \(phone.device!) a", "alice \(tablet.device!) a", "alice \(tablet.device!) b"])
            #expect(left == [phone.device])
            // Each device hears the other, and not itself.
            for await case .packet(let packet) in tablet.told {
                #expect(packet.device == phone.device)
                break
            }
            for client in [bob, tablet] { await client.close() }
        }
    }

    @Test("[SE8] a lock belongs to one device of its owner: the other waits for it, and may take it away by name")
    func lock() async throws {
        try await withRelay { server, _ in
            let phone = try await WhiteboardClient.connect(to: server.address, as: "alice")
            let tablet = try await WhiteboardClient.connect(to: server.address, as: "alice")
            let (mine, other) = (try phone.locks(of: .message("lesson")), try tablet.locks(of: .message("lesson")))
            try await mine.lock("pen").make()
            try await mine.lock("pen").acquire()
            #expect(await code { try await other.lock("pen").acquire() } == .lockHeld)
            #expect(try await other.all().map { [$0.owner, $0.ownerDevice] } == [["alice", phone.device]])
            #expect(await code { try await other.lock("pen").revoke(from: "alice", device: tablet.device) } == .lockNotHeld)
            try await other.lock("pen").revoke(from: "alice", device: phone.device)
            try await other.lock("pen").acquire()
            for client in [phone, tablet] { await client.close() }
        }
    }

    @Test("[SE8] an app that starts again is the same device, which takes over; one that keeps nothing is another one each time")
    func kept() async throws {
        try await withRelay { server, address in
            let options = options(server, "phone")
            let first = try await WhiteboardClient.connect(to: address, as: "alice", options: options)
            let again = try await WhiteboardClient.connect(to: address, as: "alice", options: options)
            #expect(first.device == again.device && first.secret == again.secret && first.device?.utf8.count == 16)
            #expect(await end(of: first) == .replaced)
            var fleeting = options
            fleeting.device = .inMemory
            let other = try await WhiteboardClient.connect(to: address, as: "alice", options: fleeting)
            #expect(other.device != again.device && other.secret == again.secret && again.link.isConnected)
            var given = options
            given.device = .digits("00000000000000AA")
            #expect(try await WhiteboardClient.connect(to: address, as: "alice", options: given).device == "00000000000000aa")
            given.device = .digits("00000000000000ag")
            #expect(await code { _ = try await WhiteboardClient.connect(to: address, as: "alice", options: given) } == .badRequest)
            var only = fleeting
            only.onlyDevice = true
            let last = try await WhiteboardClient.connect(to: address, as: "alice", options: only)
            #expect(await end(of: again) == .replaced)
            #expect(await end(of: other) == .replaced)
            await last.close()
        }
    }

    @Test("[AC17, AC3] a code makes another installation the same user: its secret is kept there, and the next start needs no code")
    func takeUp() async throws {
        try await withRelay(.keys()) { server, address in
            let (phoneOptions, tabletOptions) = (options(server, "phone"), options(server, "tablet"))
            let phone = try await WhiteboardClient.connect(to: address, as: "alice", options: phoneOptions)
            let there = Invitation(address)
            #expect(await code { _ = try await WhiteboardClient.connect(to: address, as: "alice", options: tabletOptions) } == .userIDTaken)
            let void = try await phone.handOver()
            let offer = try await phone.handOver()
            #expect(offer.code.utf8.count == 10 && offer.validFor == .seconds(120) && offer.code != void.code)
            #expect(
                await code { _ = try await WhiteboardClient.takeUp(code: void.code, at: there, options: tabletOptions) } == .codeWrong)
            let typed = offer.code.lowercased().prefix(5) + "-" + offer.code.lowercased().suffix(5)
            let tablet = try await WhiteboardClient.takeUp(code: String(typed), at: there, options: tabletOptions)
            #expect(tablet.user == "alice" && tablet.secret == phone.secret && tablet.device != phone.device)
            #expect(
                await code { _ = try await WhiteboardClient.takeUp(code: offer.code, at: there, options: tabletOptions) } == .codeWrong)
            // It can offer, as any device.
            _ = try await tablet.handOver()
            let again = try await WhiteboardClient.connect(to: address, as: "alice", options: tabletOptions)
            #expect(await end(of: tablet) == .replaced)
            #expect(again.device == tablet.device && again.secret == phone.secret && phone.link.isConnected)
            for client in [phone, again] { await client.close() }
        }
    }

    @Test("[AC17] what came with a code and cannot be kept is an error, and nobody is left behind")
    func notKept() async throws {
        try await withRelay(.keys()) { server, address in
            let phone = try await WhiteboardClient.connect(to: address, as: "alice", options: options(server, "phone"))
            let there = Invitation(address)
            try Data().write(to: folder.appendingPathComponent("file"))
            let code = try await phone.handOver().code, options = options(server, "file")
            #expect(await self.code { _ = try await WhiteboardClient.takeUp(code: code, at: there, options: options) } == .secretNotKept)
            var host = self.options(server, "host")
            host.credential = server.keys.map { .key($0.host) }
            let moderator = try await WhiteboardClient.connect(to: address, as: "host", options: host)
            #expect(try await moderator.moderation.status().users.count { $0.user == "alice" } == 1)
            for client in [phone, moderator] { await client.close() }
        }
    }

    @Test("[SE8] of nine devices that are all here the last is refused")
    func limit() async throws {
        try await withRelay { server, _ in
            var clients: [WhiteboardClient] = []
            for _ in 0..<8 { clients.append(try await WhiteboardClient.connect(to: server.address, as: "alice")) }
            #expect(await code { _ = try await WhiteboardClient.connect(to: server.address, as: "alice") } == .limitReached)
            for client in clients { await client.close() }
        }
    }
}
