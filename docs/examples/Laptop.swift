// docs/swift.md links to this file.
import RelayClient

/// On the laptop: whoever is given six letters. From the next start on its own invitation lets it in.
func enterLaptop(from host: WhiteboardClient, at address: RelayAddress, as user: String) async throws -> WhiteboardClient {
    let offer = try await host.moderation.offerJoinCode(to: "lesson")
    print("Type \(offer.code) within \(offer.validFor)")
    let laptop = try WhiteboardClient(Invitation(address, credential: .joinCode(offer.code)), user: user)
    try await laptop.connect()
    print("The board is \(laptop.invitation?.channel ?? ""); keep laptop.invitation?.text")
    return laptop
}
