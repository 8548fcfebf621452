import RelayPrimitives

/// Takes big-endian fields from bytes, one after the other; `nil` where they end.
package struct FieldReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var left: Int { bytes.count - offset }
    package var isAtEnd: Bool { left == 0 }

    package mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        let count = Value.bitWidth / 8
        guard left >= count else { return nil }
        defer { offset += count }
        return bytes.bigEndian(at: offset)
    }

    /// A count, a place or a time: below 2⁵³, so that no sum of such overflows.
    package mutating func number() -> UInt64? { integer(UInt64.self).flatMap { $0 < 1 << 53 ? $0 : nil } }

    package mutating func bytes(_ count: Int) -> [UInt8]? {
        guard left >= count else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    /// Up to 255 bytes behind their number.
    package mutating func short() -> [UInt8]? { integer(UInt8.self).flatMap { bytes(Int($0)) } }

    package mutating func rest() -> [UInt8] {
        defer { offset = bytes.count }
        return Array(bytes[offset...])
    }

    package mutating func skipRest() { offset = bytes.count }
}

extension [UInt8] {
    package mutating func append(short bytes: [UInt8]) {
        append(UInt8(bytes.count))
        self += bytes
    }
}
