import RelayPrimitives

// Many changes of one board in one frame, decoded in place. [BL11]

/// `publishChanges`, client to relay: one part of a change set.
///
///     number u64 | n u8, channel | part u16, parts u16 | changes, one behind the other
package struct PublishChangesFrame {
    package var number: UInt64
    package var channel: UnsafeRawBufferPointer
    package var part: UInt16
    package var parts: UInt16
    /// One `EncodedChange` or more.
    package var changes: UnsafeRawBufferPointer

    package init(flags: UInt8, body: UnsafeRawBufferPointer) throws(WireError) {
        _ = try FrameFlags.checked(flags, allowed: [])
        var reader = ByteReader(body)
        guard let number = reader.integer(UInt64.self), let channel = reader.shortBytes(), let part = reader.integer(UInt16.self),
            let parts = reader.integer(UInt16.self)
        else { throw .truncated("publishChanges") }
        guard (1...Limits.integerMax).contains(number) else { throw .badNumber }
        guard part >= 1, part <= parts else {
            throw WireError(.badRequest, "parts are numbered 1…parts: not \(part) of \(parts)")
        }
        (self.number, self.channel, self.part, self.parts) = (number, channel, part, parts)
        changes = reader.rest
    }
}

/// One change of a change set: a record, or the removal of one.
///
///     n u32, then n bytes: flags u8 | [extensions] | [n u8, customType] | n u8, key | payload
package struct EncodedChange {
    package var flags: FrameFlags
    package var customType: UnsafeRawBufferPointer
    package var key: UnsafeRawBufferPointer
    /// Empty: the record was removed.
    package var payload: UnsafeRawBufferPointer
    /// The block of extensions, empty without one. [FR9]
    package var extensions: UnsafeRawBufferPointer

    package static let flagsAllowed: FrameFlags = [.text, .customType]

    /// Bytes of what is bounded in a part: all but the key.
    package var contentBytes: Int { payload.count + customType.count + extensions.count }

    /// Takes the next change off the front of a part.
    ///
    /// - Throws: `badRequest`.
    package static func take(from rest: inout UnsafeRawBufferPointer) throws(WireError) -> EncodedChange {
        var reader = ByteReader(rest)
        guard let count = reader.integer(UInt32.self), var body = reader.bytes(Int(count)), var flags = body.first else {
            throw .truncated("publishChanges")
        }
        rest = reader.rest
        body = UnsafeRawBufferPointer(rebasing: body[1...])
        let extensions = try Extensions.take(from: &body, &flags)
        let checked = try FrameFlags.checked(flags, allowed: flagsAllowed)
        reader = ByteReader(body)
        var customType = UnsafeRawBufferPointer(start: nil, count: 0)
        if checked.contains(.customType) {
            guard let bytes = reader.shortBytes() else { throw .truncated("publishChanges") }
            customType = bytes
        }
        guard let key = reader.shortBytes() else { throw .truncated("publishChanges") }
        return EncodedChange(flags: checked, customType: customType, key: key, payload: reader.rest, extensions: extensions)
    }
}

extension Frame {
    /// `publishChanges`. Names and sizes are not checked here: whoever sends checks, whoever receives refuses.
    package static func publishChanges(number: UInt64, channel: String, part: (number: UInt16, of: UInt16), changes: some Collection<UInt8>)
        -> Frame
    {
        var body: [UInt8] = []
        body.reserveCapacity(8 + 1 + channel.utf8.count + 4 + changes.count)
        body.append(bigEndian: number)
        body.append(short: channel)
        body.append(bigEndian: part.number)
        body.append(bigEndian: part.of)
        body.append(contentsOf: changes)
        return Frame(.publishChanges, body: body)
    }
}

extension [UInt8] {
    /// One change, as it stands in a part of a change set.
    package mutating func append(change key: String, customType: String?, isText: Bool, payload: some Collection<UInt8>) {
        append(bigEndian: UInt32(2 + key.utf8.count + (customType.map { 1 + $0.utf8.count } ?? 0) + payload.count))
        append((isText ? FrameFlags.text : []).union(customType == nil ? [] : .customType).rawValue)
        if let customType { append(short: customType) }
        append(short: key)
        append(contentsOf: payload)
    }
}
