import RelayClient

func expectEqual<Value: Equatable>(_ left: Value, _ right: Value) { precondition(left == right, "\(left) is not \(right)") }

@main enum Main {
    @MainActor static func main() async throws {
        try await Relay.run { client, lesson in
            let invitation = try Invitation(Relay.printed)
            let bob = try await enter(printed: Relay.printed, user: "bob")
            try await bob.channel("lesson").open()
            var other = ClientOptions()
            other.secret = .inMemory
            let tablet = try await enterTablet(from: bob, by: invitation, options: other)
            try Relay.expect(tablet.user == "bob", "the tablet is \(tablet.user ?? "nobody")")
            await tablet.close()
            let laptop = try await enterLaptop(from: client, at: invitation.addresses[0], as: "ann")
            try Relay.expect(laptop.invitation?.channel == "lesson", "the code led nowhere")
            await laptop.close()
            // A task that has ended already says nothing in the network.
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await listNearby()
            }.value
            try await fragment1(client: client, lesson: lesson)
            try await fragment2(client: client, lesson: lesson)
            try await fragment3(client: client, lesson: lesson)
            try await twoClients()
            try await awayAfterTenSeconds()
            try await stalledLink()
            try await Calls.all(client, with: bob)
            await bob.close()
        }
    }
}
