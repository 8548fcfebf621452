extension [UInt8] {
    @inlinable
    package mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    @inlinable
    package mutating func replace(at offset: Int, bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { bytes in
            for (index, byte) in bytes.enumerated() { self[offset + index] = byte }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The caller has seen that the bytes are there.
    @inlinable
    package func bigEndian<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type = Value.self) -> Value {
        Value(bigEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

/// A number in all its hexadecimal digits, as it stands in names of files.
package func hexadecimal<Value: FixedWidthInteger>(_ value: Value) -> String {
    String(unsafeUninitializedCapacity: Value.bitWidth / 4) { text in
        for place in text.indices {
            let digit = UInt8(truncatingIfNeeded: value >> (Value.bitWidth - 4 - place * 4)) & 15
            text.initializeElement(at: place, to: digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        }
        return text.count
    }
}
