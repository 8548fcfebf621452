/// What a certificate is for, as OpenSSL's lists have it: `DNS:board.local`, `IP:192.168.1.5`. [x509v3_config(5)]
package struct CertificateName: Hashable, Sendable {
    package let text: String

    /// - Parameter isAddress: of IPv4 or IPv6, without a zone.
    /// - Returns: `nil` for what could begin another entry of the list: a name has letters, digits, `-`, `.` and `*`.
    package init?(_ name: String, isAddress: Bool) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"):
                true
            case UInt8(ascii: ":"): isAddress
            default: false
            }
        }
        guard isPlain, (1...253).contains(name.utf8.count) else { return nil }
        text = (isAddress ? "IP:" : "DNS:") + name
    }
}
