/// The six bytes before every body:
///
///     0        1        2        3        4        5
///     +--------+--------+--------+--------+--------+--------+
///     | length, u32 big-endian            | type   | flags  |   body: length - 2 bytes
///     +--------+--------+--------+--------+--------+--------+
///
/// `length` counts what follows it: type, flags and body. [FR1]
package struct FrameHead: Equatable, Sendable {
    package var type: UInt8
    package var flags: UInt8
    package var bodyBytes: Int

    @inlinable
    package init(type: UInt8, flags: UInt8 = 0, bodyBytes: Int) {
        self.type = type
        self.flags = flags
        self.bodyBytes = bodyBytes
    }

    /// Head and body together, in bytes.
    package var frameBytes: Int { Limits.frameHeadBytes + bodyBytes }

    /// What the front of a buffer holds.
    package enum Reading: Equatable, Sendable {
        /// Not yet the six bytes of a head.
        case incomplete
        case head(FrameHead)
        /// The length field is outside 2…(body limit + 2): the stream cannot be read any further. [FR3]
        case invalid(length: UInt32)
    }

    /// Reads a head without touching the body, so that a length bomb is refused before anything is allocated.
    @inline(__always)
    package static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        guard bytes.count >= 4 else { return .incomplete }
        let length = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        guard length >= 2, length <= UInt32(Limits.frameBodyBytesMax + 2) else { return .invalid(length: length) }
        guard bytes.count >= Limits.frameHeadBytes else { return .incomplete }
        return .head(FrameHead(type: bytes[4], flags: bytes[5], bodyBytes: Int(length) - 2))
    }

    @inline(__always)
    package func write(to writer: inout ByteWriter) {
        writer.integer(UInt32(bodyBytes + 2))
        writer.integer(type)
        writer.integer(flags)
    }
}

/// A whole frame as bytes of its own: for clients, tests and everything that is not the hub's hot path.
package struct Frame: Equatable, Sendable {
    package var type: UInt8
    package var flags: UInt8
    package var body: [UInt8]

    package init(type: UInt8, flags: UInt8 = 0, body: [UInt8] = []) {
        self.type = type
        self.flags = flags
        self.body = body
    }

    package init(_ type: FrameType, flags: FrameFlags = [], body: [UInt8] = []) {
        self.init(type: type.rawValue, flags: flags.rawValue, body: body)
    }

    /// Head and body as they go over the wire.
    package var bytes: [UInt8] {
        let head = FrameHead(type: type, flags: flags, bodyBytes: body.count)
        return [UInt8](unsafeUninitializedCapacity: head.frameBytes) { buffer, count in
            var writer = ByteWriter(buffer.baseAddress!)
            head.write(to: &writer)
            body.withUnsafeBytes { writer.bytes($0) }
            count = head.frameBytes
        }
    }
}

/// Cuts a byte stream into frames, however it arrives. [FR2]
///
/// For clients and tests; the relay reads in place and keeps only what is left of an incomplete frame.
package struct FrameReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0

    package init() {}

    /// Bytes of an incomplete frame that wait for the rest.
    package var pendingBytes: Int { buffer.count - start }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        if start > 0, start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 256 * 1024 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame, or `nil` until more bytes come.
    ///
    /// - Throws: `frameTooLarge` or `protocolError` for a length outside the limits; the stream cannot be read on.
    package mutating func next() throws(WireError) -> Frame? {
        let position = start
        let reading = buffer.withUnsafeBytes { FrameHead.read(UnsafeRawBufferPointer(rebasing: $0[position...])) }
        switch reading {
        case .incomplete:
            return nil
        case .invalid(let length):
            throw FrameHead.lengthError(length)
        case .head(let head):
            guard buffer.count - start >= head.frameBytes else { return nil }
            let body = Array(buffer[(start + Limits.frameHeadBytes)..<(start + head.frameBytes)])
            start += head.frameBytes
            return Frame(type: head.type, flags: head.flags, body: body)
        }
    }
}

extension FrameHead {
    /// The error for a length field outside the limits.
    package static func lengthError(_ length: UInt32) -> WireError {
        guard length >= 2 else {
            return WireError(.protocolError, "a frame's length is at least 2, this one is \(length)", limit: 2, actual: Int(length))
        }
        return WireError(
            .frameTooLarge, "a frame body has at most \(Limits.frameBodyBytesMax) bytes, this one announces \(length - 2)",
            limit: Limits.frameBodyBytesMax, actual: Int(length - 2))
    }
}
