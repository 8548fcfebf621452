import RelayClient
import RelayRTM

/// What hosted RTM has no word for is in `RelayClient`.
class News: RTMClientDelegate {
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveRelayEvent event: RelayEvent) {
        if case .packetsLost(let lost) = event { print(lost) }
    }

    func replay(_ options: RTMSubscribeOptions, _ kit: RTMClientKit) async throws {
        options.since = .board
        _ = try await kit.relayClient?.channel("lesson").history()
    }
}
