/// An IPv4 or IPv6 address as a value, so that two ways to write one address are equal. IPv4 is kept as IPv6 writes it,
/// `::ffff:192.168.1.5`.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    package private(set) var high: UInt64
    package private(set) var low: UInt64

    private static let mapped: UInt64 = 0xffff << 32

    /// Reads `192.168.1.5` or `fe80::1`, without brackets, port and zone.
    ///
    /// IPv4 has four decimal numbers without leading zeros: the other ways that old systems read (`127.1`, octal, one large
    /// number) are made into this one by every browser before it sends them.
    package init?(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        if let address = Self.ipv4(bytes[...]) {
            self.init(high: 0, low: Self.mapped | UInt64(address))
        } else if bytes.contains(UInt8(ascii: ":")), let groups = Self.ipv6(bytes) {
            func half(_ groups: ArraySlice<UInt16>) -> UInt64 { groups.reduce(0) { $0 << 16 | UInt64($1) } }
            self.init(high: half(groups[..<4]), low: half(groups[4...]))
        } else {
            return nil
        }
    }

    package init?(_ text: String) { self.init(text.utf8) }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

    /// `127.0.0.0/8` and `::1`: nobody but this machine.
    package var isLoopback: Bool { isIPv4 ? low >> 24 & 0xff == 127 : high == 0 && low == 1 }

    /// As people write it: IPv4 with dots, IPv6 in small letters with its longest run of zeros left out. [RFC 5952 §4]
    package var description: String {
        if isIPv4 { return [24, 16, 8, 0].map { String(low >> $0 & 0xff) }.joined(separator: ".") }
        let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> $0) } }
        // Of two that are as long the first; a single zero is written.
        var zeros = 0..<0
        for start in groups.indices {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(1, zeros.count) { zeros = start..<end }
        }
        func text(_ part: some Sequence<UInt16>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        return zeros.isEmpty ? text(groups) : "\(text(groups[..<zeros.lowerBound]))::\(text(groups[zeros.upperBound...]))"
    }

    private static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var number: UInt32 = 0
            for digit in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                number = number * 10 + UInt32(digit - UInt8(ascii: "0"))
            }
            guard number <= 255 else { return nil }
            address = address << 8 | number
        }
        return address
    }

    /// Eight groups; `::` once in place of at least one group of zeros; the last two perhaps as IPv4. [RFC 4291 §2.2]
    private static func ipv6(_ text: [UInt8]) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        let gaps = text.indices.dropLast().filter { text[$0] == colon && text[$0 + 1] == colon }
        guard gaps.count <= 1 else { return nil }
        guard let gap = gaps.first else {
            guard let all = groups(text[...], mayEndInIPv4: true), all.count == 8 else { return nil }
            return all
        }
        guard let front = groups(text[..<gap], mayEndInIPv4: false), let back = groups(text[(gap + 2)...], mayEndInIPv4: true),
            front.count + back.count <= 7
        else { return nil }
        return front + [UInt16](repeating: 0, count: 8 - front.count - back.count) + back
    }

    private static func groups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if mayEndInIPv4, index == parts.count - 1, let address = ipv4(part) {
                groups += [UInt16(address >> 16), UInt16(address & 0xffff)]
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var group: UInt16 = 0
            for byte in part {
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
                group = group << 4 | UInt16(digit)
            }
            groups.append(group)
        }
        return groups
    }
}
