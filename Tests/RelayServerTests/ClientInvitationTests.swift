import Foundation
import RelayClient
import RelayServer
import Testing

/// A code for newcomers between two clients and a relay.
@Suite(.timeLimit(.minutes(10))) struct ClientInvitationTests {
    @Test("[AC20] six letters let a newcomer in, who keeps the key for the next time; the host ends them, or is told of their end")
    func joinCode() async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
        let keys = try #require(server.keys)
        func connect(_ user: String, _ credential: Credential) async throws -> WhiteboardClient {
            var options = ClientOptions()
            options.credential = credential
            options.secret = .digits(String(repeating: user == "host" ? "a" : "b", count: 32))
            options.device = .inMemory
            return try await WhiteboardClient.connect(to: server.address, as: user, options: options)
        }
        let host = try await connect("host", .key(keys.host))
        var codes = host.moderation.joinCodes().makeAsyncIterator()
        #expect(await codes.next() == .some(nil))
        let offer = try await host.moderation.offerJoinCode(to: "lesson")
        #expect(await codes.next() == offer)
        #expect(offer.code.utf8.count == 6 && offer.validFor == .seconds(1_800))
        let guest = try await connect("ann", .joinCode(offer.code.lowercased()))
        let invitation = try #require(guest.invitation)
        #expect(invitation == Invitation(server.address, credential: .key(keys.join), channel: "lesson") && guest.access?.role == .editor)
        let again = try await connect("ann", try #require(invitation.credential))
        #expect(again.invitation == nil && host.invitation == nil)
        try await host.moderation.withdrawJoinCode()
        #expect(await codes.next() == .some(nil))
        do {
            _ = try await connect("ben", .joinCode(offer.code))
            Issue.record("a code that was withdrawn")
        } catch let error as RelayError {
            #expect(error.code == .codeWrong && error.limit == 60 && error.actual == 1, "\(error)")
        }
        let next = try await host.moderation.offerJoinCode(to: "lesson")
        #expect(next.code != offer.code)
        #expect(await codes.next() == next)
        var problems = host.problems().makeAsyncIterator()
        try await server.rotateKeys([.join], endsSessions: false)
        for await event in host.told {
            guard case .joinCodeEnded(let reason) = event else { continue }
            #expect(reason == .keyChanged)
            break
        }
        #expect(await codes.next() == .some(nil))
        #expect(try await problems.next()?.error.code == .keyChanged)
        for client in [again, host] { await client.close() }
        await server.stop()
    }
}
