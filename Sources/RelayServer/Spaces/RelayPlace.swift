import RelayIO

/// Where a relay is reached; known when its port is open, before anybody asks.
final class RelayPlace: Sendable {
    private let known = Mutex<RelayAddress?>(nil)

    func opens(at address: RelayAddress) { known.withLock { $0 = address } }

    var address: RelayAddress {
        guard let address = known.withLock({ $0 }) else { preconditionFailure("a relay whose port is not open was asked for its address") }
        return address
    }
}
