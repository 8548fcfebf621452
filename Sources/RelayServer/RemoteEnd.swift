internal import RelayCore
import RelayGateway
import RelayIO

/// The other end of a link, as the system has it.
struct RemoteEnd: Sendable {
    /// Numeric address and port.
    let text: String
    let address: IPAddress

    init(_ address: SocketAddress) {
        text = address.description
        // A link-local address has the name of an interface behind it.
        self.address = IPAddress(address.numeric.host.utf8.prefix { $0 != UInt8(ascii: "%") }) ?? IPAddress("::")!
    }

    init(text: String, address: IPAddress) {
        self.text = text
        self.address = address
    }
}

extension AddressKey {
    /// - Parameter isForwarded: a proxy is on the way: not even loopback is this machine itself.
    init(_ address: IPAddress, isForwarded: Bool = false) {
        if address.isLoopback, !isForwarded {
            self = .local
        } else {
            self = address.isIPv4 ? .ipv4(UInt32(truncatingIfNeeded: address.low)) : .ipv6(address.high)
        }
    }
}
