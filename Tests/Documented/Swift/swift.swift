import RelayClient

/// Knows who is in the channel, and says so.
@MainActor
final class Listener: RelayClientDelegate {
    private var people = People()
    let names: AsyncStream<[String: String]>
    private let tell: AsyncStream<[String: String]>.Continuation

    init() { (names, tell) = AsyncStream.makeStream() }

    func relayClient(_ client: WhiteboardClient, presenceChanged change: PresenceChange) {
        guard change.channel.kind == .message else { return }
        people.apply(change)
        tell.yield(people.names)
    }
}

@main enum Main {
    @MainActor static func main() async throws {
        try await Relay.run { client, stream, address in
            let listener = Listener()
            let bob = try await enter(printed: Relay.printed, user: "bob", delegate: listener)
            try await bob.subscribe("lesson")
            var other = ClientOptions()
            other.secret = .inMemory
            other.credential = try Invitation(Relay.printed).credential
            let tablet = try await enterTablet(from: bob, at: address, options: other)
            guard tablet.user == "bob" else { throw RelayError(.relayFault, "the tablet is \(tablet.user)") }
            await tablet.close()
            // A relay of its own, in this process.
            let laptop = try await enterLaptop(from: client, at: address, as: "ann")
            guard laptop.invitation?.channel == "lesson" else { throw RelayError(.relayFault, "the code led nowhere") }
            await laptop.close()
            try await fragment1(client: client, stream: stream, address: address)
            try await fragment2(client: client, stream: stream, address: address)
            try await Calls.all(client)
            // It calls the moderator Alice.
            for await names in listener.names where names["host"] == "Alice" { break }
            await bob.close()
        }
    }
}
