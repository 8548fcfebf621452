/// A host with or without a port, as `Host` and `Origin` name it. [RFC 9110 §7.2]
package struct Authority: Equatable, Sendable {
    package enum Host: Hashable, Sendable {
        case address(IPAddress)
        /// In small letters and without the dot that may end it.
        case name(String)
    }

    package var host: Host
    package var port: UInt16?

    package init(host: Host, port: UInt16? = nil) {
        self.host = host
        self.port = port
    }

    /// Reads `board.local:7420`, `192.168.1.5`, `[fe80::1]:7420`.
    ///
    /// A name has letters, digits, `-`, `_` and `.`, at most 253 of them, no step of it empty or longer than 63: what a browser
    /// sends of a name in another script is in this form already. User information, percent signs and zones are refused.
    package init?(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        let host: ArraySlice<UInt8>, rest: ArraySlice<UInt8>
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (host, rest) = (bytes[1..<end], bytes[(end + 1)...])
            guard host.contains(UInt8(ascii: ":")), let address = IPAddress(host) else { return nil }
            self.host = .address(address)
        } else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            (host, rest) = (bytes[..<end], bytes[end...])
            if let address = IPAddress(host) {
                self.host = .address(address)
            } else if let name = Self.name(host) {
                self.host = .name(name)
            } else {
                return nil
            }
        }
        guard let colon = rest.first else { return }
        // A colon without digits behind it is allowed, and means no port. [RFC 3986 §3.2.3]
        guard colon == UInt8(ascii: ":") else { return nil }
        guard rest.count > 1 else { return }
        guard let port = Self.port(rest.dropFirst()) else { return nil }
        self.port = port
    }

    package init?(_ text: String) { self.init(text.utf8) }

    private static func name(_ text: ArraySlice<UInt8>) -> String? {
        let name = text.last == UInt8(ascii: ".") ? text.dropLast() : text
        guard (1...253).contains(name.count) else { return nil }
        for step in name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...63).contains(step.count) else { return nil }
            for byte in step {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    break
                default: return nil
                }
            }
        }
        return String(decoding: name.map(lowercased), as: UTF8.self)
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard digits.count <= 5 else { return nil }
        var number: UInt32 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + UInt32(digit - UInt8(ascii: "0"))
        }
        return number > 0 ? UInt16(exactly: number) : nil
    }
}
