/// A relay that was found. All of it is what somebody on the link said: escape it before it is shown.
package struct FoundService: Hashable, Sendable {
    /// What people call it: `boardrelay`.
    package var name: String
    /// `boardrelay.local`.
    package var host: String
    package var port: UInt16
    /// `key=value`, together at most 1,300 bytes.
    package var text: [String]
    /// 1…16, as the system reads them: `192.168.1.5`, `fe80::1%2`. A link-local one of IPv6 says behind which interface it is.
    package var addresses: [String] = []

    /// Says in `text` that the relay takes nobody without TLS. Whoever is on the link could leave it out.
    package static let tlsField = "tls=required"
    package var wantsTLS: Bool { text.contains(Self.tlsField) }

    /// The whiteboard's page; of a relay that wants TLS, whose certificate browsers need not trust, the address for apps.
    package var place: String { Self.place(host, port, wantsTLS: wantsTLS) }

    package static func place(_ host: String, _ port: UInt16, wantsTLS: Bool) -> String {
        wantsTLS ? "relays://\(host):\(port)" : "http://\(host):\(port)/"
    }

    mutating func add(_ found: [[UInt8]], on interface: UInt32) {
        for bytes in found where addresses.count < LinkInterface.addressesMax {
            let address = LinkInterface.Address(bytes: bytes, prefixBits: 128)
            let text = address.text + (bytes.count == 16 && address.isLinkLocal ? "%\(interface)" : "")
            if !addresses.contains(text) { addresses.append(text) }
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
