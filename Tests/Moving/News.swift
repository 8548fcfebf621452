import RelayRTM

/// `RelayRTM` alone is imported, also for what hosted RTM has no word for.
class News: RTMClientDelegate {
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveRelayEvent event: RelayEvent) {
        if case .packetsLost(let lost) = event { print(lost) }
    }

    func replay(_ options: RTMSubscribeOptions, _ kit: RTMClientKit) async throws {
        options.since = .board
        _ = try await kit.relayClient?.channel("lesson").history()
    }
}
