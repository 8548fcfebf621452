// docs/swift.md links to this file.
import RelayClient

/// On the tablet: whoever the phone is. From the next start on it is `RelayClient.connect(to:as:)` with that user id.
func enterTablet(from phone: RelayClient, at address: RelayAddress, options: ClientOptions) async throws -> RelayClient {
    let offer = try await phone.offerDevice()
    print("Type \(offer.code) within \(offer.validFor)")
    let tablet = try await RelayClient.takeUp(code: offer.code, at: address, options: options)
    print("You are \(tablet.user), on device \(tablet.device)")
    return tablet
}
