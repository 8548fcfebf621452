// Big-endian integers in raw memory, with every read checked against the end.

/// Reads fields from the front of a frame body. Never reads past its end; never copies.
package struct ByteReader {
    package private(set) var rest: UnsafeRawBufferPointer

    @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    @inline(__always)
    package mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
        guard rest.count >= MemoryLayout<T>.size else { return nil }
        let value = T(bigEndian: rest.loadUnaligned(as: T.self))
        rest = UnsafeRawBufferPointer(rebasing: rest[MemoryLayout<T>.size...])
        return value
    }

    @inline(__always)
    package mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard rest.count >= count else { return nil }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    /// One length byte, then that many bytes.
    @inline(__always)
    package mutating func shortBytes() -> UnsafeRawBufferPointer? {
        guard let count = integer(UInt8.self) else { return nil }
        return bytes(Int(count))
    }
}

/// Writes fields into memory that the caller made large enough.
package struct ByteWriter {
    package private(set) var position: UnsafeMutableRawPointer

    @inline(__always)
    package init(_ start: UnsafeMutableRawPointer) { position = start }

    @inline(__always)
    package mutating func integer<T: FixedWidthInteger>(_ value: T) {
        position.storeBytes(of: value.bigEndian, as: T.self)
        position += MemoryLayout<T>.size
    }

    @inline(__always)
    package mutating func bytes(_ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { position.copyMemory(from: base, byteCount: bytes.count) }
        position += bytes.count
    }

    @inline(__always)
    package mutating func shortBytes(_ bytes: UnsafeRawBufferPointer) {
        integer(UInt8(bytes.count))
        self.bytes(bytes)
    }
}

/// Whether the bytes are well-formed UTF-8 (Unicode 16, table 3-7): no overlong form, no surrogate, nothing over U+10FFFF.
package func isValidUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    let count = bytes.count
    while index < count {
        if index + 8 <= count, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
            index += 8
            continue
        }
        let first = bytes[index]
        let length: Int
        var secondRange: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0x00...0x7F: index += 1; continue
        case 0xC2...0xDF: length = 2
        case 0xE0: length = 3; secondRange = 0xA0...0xBF
        case 0xED: length = 3; secondRange = 0x80...0x9F
        case 0xE1...0xEF: length = 3
        case 0xF0: length = 4; secondRange = 0x90...0xBF
        case 0xF4: length = 4; secondRange = 0x80...0x8F
        case 0xF1...0xF3: length = 4
        default: return false
        }
        guard index + length <= count, secondRange.contains(bytes[index + 1]) else { return false }
        for position in (index + 2)..<max(index + 2, index + length) where bytes[position] & 0xC0 != 0x80 { return false }
        index += length
    }
    return true
}
