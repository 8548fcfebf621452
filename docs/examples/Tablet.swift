// docs/swift.md links to this file.
import RelayClient

/// On the tablet: whoever the phone is. From the next start on it is `WhiteboardClient(invitation, user:)` with that user id.
func enterTablet(from phone: WhiteboardClient, by invitation: Invitation, options: ClientOptions = .init()) async throws -> WhiteboardClient {
    let offer = try await phone.handOver()
    print("Type \(offer.code) within \(offer.validFor)")
    let tablet = try WhiteboardClient(invitation, code: offer.code, options: options)
    try await tablet.connect()
    print("You are \(tablet.user ?? "")")
    return tablet
}
