package import RelayPrimitives

/// One half of multicast DNS. Pure: who has it carries out its effects, in their order, after each call.
package protocol MulticastMachine: Sendable {
    associatedtype News: Sendable

    var effects: [MulticastEffect<News>] { get set }
    var nextDeadline: Instant? { get }
    /// - Parameter interfaces: all of them, at most `LinkInterface.countMax`, without loopback. To be called first.
    mutating func interfacesChanged(_ interfaces: [LinkInterface], at now: Instant)
    mutating func receive(_ datagram: Datagram, at now: Instant)
    mutating func deadlineReached(at now: Instant)
    /// The end. Nothing is called afterwards.
    mutating func close()
}

package enum MulticastEffect<News: Sendable>: Sendable { case send(Datagram), tell(News) }

/// Bytes that came or that go, over one interface.
package struct Datagram: Hashable, Sendable {
    /// 4 or 16 bytes of an address, and a UDP port.
    package struct Peer: Hashable, Sendable {
        package let address: [UInt8]
        package let port: UInt16

        var isIPv6: Bool { address.count == 16 }
    }

    /// That of multicast DNS. (RFC 6762 §3)
    package static let port: UInt16 = 5353

    package let bytes: [UInt8]
    package let interface: UInt32
    /// Its sender, or its receiver. `nil`: everybody on the link, over IPv4, IPv6 or both, as the interface has addresses.
    package let peer: Peer?

    package init(_ message: DNSMessage, interface: UInt32, peer: Peer? = nil) {
        self.init(bytes: message.bytes, interface: interface, peer: peer)
    }

    init(bytes: [UInt8], interface: UInt32, peer: Peer?) { (self.bytes, self.interface, self.peer) = (bytes, interface, peer) }
}
