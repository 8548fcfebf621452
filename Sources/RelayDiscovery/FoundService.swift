internal import RelayIO

/// A relay that was found. All of it is what somebody on the link said: escape it before it is shown.
package struct FoundService: Hashable, Sendable {
    /// What people call it: `boardrelay`.
    package var name: String
    /// `boardrelay.local`.
    package var host: String
    package var port: UInt16
    /// `key=value`, together at most 1,300 bytes.
    package var text: [String]
    /// 1…16.
    package var addresses: [Address] = []

    package struct Address: Hashable, Sendable, CustomStringConvertible {
        /// 4 of IPv4, 16 of IPv6.
        package let bytes: [UInt8]
        /// The interface behind which it is, of a link-local address of IPv6: others mean the same on all.
        package let scope: UInt32?

        /// As the system reads it: `192.168.1.5`, `fe80::1%2`.
        package var description: String {
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + (scope.map { "%\($0)" } ?? "")
        }
    }

    mutating func add(_ found: [[UInt8]], on interface: UInt32) {
        for bytes in found where addresses.count < LinkInterface.addressesMax {
            let isScoped = bytes.count == 16 && LinkInterface.Address(bytes: bytes, prefixBits: 128).isLinkLocal
            let address = Address(bytes: bytes, scope: isScoped ? interface : nil)
            if !addresses.contains(address) { addresses.append(address) }
        }
    }

    /// Strings, each behind its length. (RFC 6763 §6.1)
    static func fields(_ data: [UInt8]) -> [String] {
        var fields: [String] = [], rest = data[...]
        while let length = rest.popFirst(), length <= rest.count {
            if length > 0 { fields.append(String(decoding: rest.prefix(Int(length)), as: UTF8.self)) }
            rest = rest.dropFirst(Int(length))
        }
        return fields
    }
}
