internal import RelayIO

/// A network interface with its addresses.
package struct LinkInterface: Hashable, Sendable {
    package struct Address: Hashable, Sendable {
        /// 4 of IPv4, 16 of IPv6.
        package let bytes: [UInt8]
        /// How many bits all on the link have in common: at most those that there are.
        package let prefixBits: Int

        /// 169.254/16 and fe80::/10.
        fileprivate static let linkLocal = [
            Address(bytes: [169, 254, 0, 0], prefixBits: 16),
            Address(bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 14), prefixBits: 10),
        ]

        /// As the system writes it: `192.168.1.5`.
        package var text: String {
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        package var isLinkLocal: Bool { Self.linkLocal.contains { $0.isNeighbour(bytes) } }

        func isNeighbour(_ other: [UInt8]) -> Bool {
            let (whole, rest) = prefixBits.quotientAndRemainder(dividingBy: 8)
            guard other.count == bytes.count, other.prefix(whole) == bytes.prefix(whole) else { return false }
            return rest == 0 || (other[whole] ^ bytes[whole]) >> (8 - rest) == 0
        }
    }

    /// Of interfaces, and of addresses of one. A socket of Linux joins 20 groups.
    package static let countMax = 16, addressesMax = 16

    /// The system's number of it.
    package let index: UInt32
    /// 1…16, none twice.
    package let addresses: [Address]

    /// Whether who has this address is on the link: nobody else is heard. (RFC 6762 §11)
    package func reaches(_ source: [UInt8]) -> Bool { (addresses + Address.linkLocal).contains { $0.isNeighbour(source) } }

    /// The same with some of its addresses; `nil` if none is meant.
    package func only(_ isMeant: (Address) -> Bool) -> LinkInterface? {
        let meant = addresses.filter(isMeant)
        return meant.isEmpty ? nil : LinkInterface(index: index, addresses: meant)
    }

    package func has(_ address: [UInt8]) -> Bool { addresses.contains { $0.bytes == address } }

    package func speaks(ipv6: Bool) -> Bool { addresses.contains { ($0.bytes.count == 16) == ipv6 } }
}
