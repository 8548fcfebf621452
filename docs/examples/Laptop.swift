// docs/swift.md links to this file.
import RelayClient

/// On the laptop: whoever is given six letters. The key is for the next start on.
func enterLaptop(from host: RelayClient, at address: RelayAddress, as user: String) async throws -> RelayClient {
    let offer = try await host.moderation.offerJoinCode(to: "lesson")
    print("Type \(offer.code) within \(offer.validFor)")
    var options = ClientOptions()
    options.credential = .joinCode(offer.code)
    let guest = try await RelayClient.connect(to: address, as: user, options: options)
    print("The board is \(guest.invitation?.channel ?? ""); keep guest.invitation?.key")
    return guest
}
