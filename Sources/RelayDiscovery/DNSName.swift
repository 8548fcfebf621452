/// A name of DNS, such as `boardrelay.local`. Names that differ in the case of ASCII letters are the same. (RFC 6762 §16)
package struct DNSName: Hashable, Sendable {
    /// Labels of 1…63 bytes, each behind its length, and a zero: at most 255 bytes. (RFC 1035 §3.1)
    package let bytes: [UInt8]

    /// Each relay's service is listed here.
    package static let service = DNSName("_boardrelay", "_tcp", "local")
    /// Where the types of all services are listed. (RFC 6763 §9)
    package static let serviceTypes = DNSName("_services", "_dns-sd", "_udp", "local")

    /// - Parameter bytes: as they stand in a message, without pointers.
    init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// - Parameter labels: 1…63 bytes of UTF-8 each. A dot in one of them is part of it.
    package init(_ labels: String...) {
        bytes = labels.flatMap { [UInt8(min(63, $0.utf8.count))] + $0.utf8.prefix(63) } + [0]
    }

    /// From the left. What is not UTF-8 is replaced: for people, not for comparing.
    var labels: [String] {
        bytes[0] == 0 ? [] : [String(decoding: bytes.dropFirst().prefix(Int(bytes[0])), as: UTF8.self)] + parent.labels
    }

    /// The name without its first label, which it must have.
    var parent: DNSName { DNSName(bytes: bytes.dropFirst(1 + Int(bytes[0]))) }

    /// No length of a label looks like a letter.
    private var folded: [UInt8] { bytes.map { (65...90).contains($0) ? $0 | 32 : $0 } }

    package static func == (left: Self, right: Self) -> Bool { left.bytes.count == right.bytes.count && left.folded == right.folded }

    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}
