/// What a later version of the protocol adds to binary frames: a block in front of the body, announced by one flag. [FR9]
///
///     n u16 | n bytes: entries of type u16, length u16, as many bytes as it says
package enum Extensions {
    /// Takes the block off the front of a body, if the flags announce one, and the flag off the flags.
    ///
    /// Flags and body are then those of the frame without it, also where this throws and the block was whole.
    ///
    /// - Returns: the block as it stands in the frame, `n` included; empty without the flag.
    /// - Throws: `badRequest`, also for an entry that must not be passed over: this version knows none.
    @inline(__always)
    package static func take(from body: inout UnsafeRawBufferPointer, _ flags: inout UInt8) throws(WireError) -> UnsafeRawBufferPointer {
        guard flags & FrameFlags.extensions.rawValue != 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        flags &= ~FrameFlags.extensions.rawValue
        return try takeBlock(from: &body)
    }

    @inline(never)
    private static func takeBlock(from body: inout UnsafeRawBufferPointer) throws(WireError) -> UnsafeRawBufferPointer {
        var reader = ByteReader(body)
        guard let count = reader.integer(UInt16.self) else { throw .truncated("extensions") }
        guard count <= Limits.extensionBytesMax else {
            throw WireError(
                .badRequest, "extensions have at most \(Limits.extensionBytesMax) bytes, not \(count)", limit: Limits.extensionBytesMax,
                actual: Int(count))
        }
        guard let entries = reader.bytes(Int(count)) else { throw .truncated("extensions") }
        let block = UnsafeRawBufferPointer(rebasing: body[..<(2 + Int(count))])
        body = reader.rest
        reader = ByteReader(entries)
        while !reader.rest.isEmpty {
            guard let type = reader.integer(UInt16.self), let length = reader.integer(UInt16.self), reader.bytes(Int(length)) != nil else {
                throw .truncated("extensions")
            }
            guard type & criticalBit == 0 else { throw WireError(.badRequest, "extension \(type & ~criticalBit) must be known") }
        }
        return block
    }

    /// Bit of an entry's type: a peer that does not know the type refuses the frame.
    package static let criticalBit: UInt16 = 0x8000
}

extension FrameFlags {
    /// These flags in a frame with a block of extensions in front, or with none.
    @inline(__always)
    package func and(_ extensions: UnsafeRawBufferPointer) -> UInt8 { extensions.isEmpty ? rawValue : union(.extensions).rawValue }
}
