/// Reads the frames of a WebSocket client where they lie, and owns nothing but the payload of a control frame.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///     |F|R|R|R| opcode|M| length: 7   | length: 16 if 126, 64 if 127  |
///     |I|S|S|S|  (4)  |A|             |                               |
///     |N|V|V|V|       |S|             | then the key: 4 bytes         |
///     | |1|2|3|       |K|             | then the payload, masked      |
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///
/// Each byte of a head is judged when it comes; a message that would be too large is refused before a byte of it is read.
/// [RFC 6455 §5, WS4, WS5, WS6]
package struct WebSocketDecoder: Sendable {
    package enum Event: Equatable, Sendable {
        /// Bytes of a message, unmasked where they lie: these of the buffer that was given.
        case payload(Range<Int>)
        /// The message is complete; the last payload was its end.
        case message(isText: Bool)
        case ping([UInt8]), pong([UInt8])
        /// The last thing that a client says; without a code there is no reason either.
        case close(WebSocketClose?)
    }

    private enum Opcode: UInt8 {
        case continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    private enum State {
        case first, second
        case length(missing: Int, value: UInt64, least: UInt64)
        case key(missing: Int)
        case payload(missing: Int)
        case ended
    }

    private let messageBytesMax: Int
    private let takesText: Bool

    private var state = State.first
    // The frame that is being read.
    private var opcode = Opcode.binary
    private var isFinal = true
    private var length = 0
    /// Four bytes; the first applies to the next byte of the payload.
    private var key: UInt32 = 0
    private var control: [UInt8] = []
    // The message that it is part of.
    private var message: Opcode?
    private var messageBytes = 0
    private var text = UTF8Check()

    /// - Parameters:
    ///   - messageBytesMax: largest message, over all its fragments.
    ///   - takesText: text is refused where only relay frames are understood.
    package init(messageBytesMax: Int, takesText: Bool = false) {
        self.messageBytesMax = messageBytesMax
        self.takesText = takesText
    }

    /// Reads on.
    ///
    /// - Parameter position: where to begin; afterwards what was read ends there.
    /// - Returns: the next event, or `nil` when all bytes are read. No event follows a `close`.
    /// - Throws: the code and words that close the socket. No event follows that, either.
    package mutating func next(_ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int) throws(WebSocketClose) -> Event? {
        while true {
            if case .payload(let missing) = state {
                if missing == 0 {
                    if let event = try endFrame() { return event }
                    continue
                }
                guard position < bytes.count else { return nil }
                return try payload(bytes, &position, missing: missing)
            }
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            do throws(WebSocketClose) {
                switch state {
                case .first: try first(byte)
                case .second: try second(byte)
                case .length(let missing, let value, let least): try longLength(byte, missing: missing, value: value, least: least)
                case .key(let missing):
                    key |= UInt32(byte) << UInt32((4 - missing) * 8)
                    state = missing == 1 ? .payload(missing: length) : .key(missing: missing - 1)
                case .ended: position = bytes.count
                case .payload: preconditionFailure("a byte of the payload was read as one of the head")
                }
            } catch {
                state = .ended
                throw error
            }
        }
    }

    // MARK: - The head

    private mutating func first(_ byte: UInt8) throws(WebSocketClose) {
        guard byte & 0x70 == 0 else { throw .protocolError("a reserved bit is set without an extension") }
        guard let opcode = Opcode(rawValue: byte & 0x0F) else { throw .protocolError("opcode \(byte & 0x0F) is reserved") }
        isFinal = byte & 0x80 != 0
        switch opcode {
        case .close, .ping, .pong: guard isFinal else { throw .protocolError("a control frame is never a fragment") }
        case .continuation: guard message != nil else { throw .protocolError("a fragment without a message to continue") }
        case .text, .binary:
            guard message == nil else { throw .protocolError("a message begins before the last one is whole") }
            guard opcode == .binary || takesText else { throw .text }
            message = opcode
            messageBytes = 0
            text = UTF8Check()
        }
        self.opcode = opcode
        state = .second
    }

    private mutating func second(_ byte: UInt8) throws(WebSocketClose) {
        guard byte & 0x80 != 0 else { throw .protocolError("a frame of a client is masked") }
        switch byte & 0x7F {
        case 126 where !opcode.isControl: state = .length(missing: 2, value: 0, least: 126)
        case 127 where !opcode.isControl: state = .length(missing: 8, value: 0, least: 65_536)
        case 126, 127: throw .protocolError("the payload of a control frame has at most \(GatewayLimits.controlBytesMax) bytes")
        case let short: try begin(length: UInt64(short))
        }
    }

    private mutating func longLength(_ byte: UInt8, missing: Int, value: UInt64, least: UInt64) throws(WebSocketClose) {
        let value = value << 8 | UInt64(byte)
        guard missing == 1 else {
            state = .length(missing: missing - 1, value: value, least: least)
            return
        }
        // What fits into fewer bytes is written in fewer, and a length has 63 bits. [RFC 6455 §5.2]
        guard value >= least, value >> 63 == 0 else { throw .protocolError("a length is not written in the fewest bytes") }
        try begin(length: value)
    }

    private mutating func begin(length: UInt64) throws(WebSocketClose) {
        if !opcode.isControl {
            guard length <= UInt64(messageBytesMax - messageBytes) else { throw .tooBig(limit: messageBytesMax) }
            messageBytes += Int(length)
        }
        self.length = Int(length)
        key = 0
        state = .key(missing: 4)
    }

    // MARK: - The payload

    private mutating func payload(
        _ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int, missing: Int
    ) throws(WebSocketClose) -> Event? {
        let range = position..<min(bytes.count, position + missing)
        let part = UnsafeMutableRawBufferPointer(rebasing: bytes[range])
        unmask(part)
        position = range.upperBound
        state = .payload(missing: missing - range.count)
        if opcode.isControl {
            control += part
            return try range.count == missing ? endFrame() : nil
        }
        if message == .text, !text.update(UnsafeRawBufferPointer(part)) {
            state = .ended
            throw .notUTF8("a text")
        }
        return .payload(range)
    }

    /// Eight bytes at a time; then the key is turned to where the next piece goes on.
    private mutating func unmask(_ bytes: UnsafeMutableRawBufferPointer) {
        let wide = UInt64(key) << 32 | UInt64(key)
        var index = 0
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ wide
            bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            bytes[index] ^= UInt8(truncatingIfNeeded: key)
            key = key >> 8 | key << 24
            index += 1
        }
    }

    private mutating func endFrame() throws(WebSocketClose) -> Event? {
        state = .first
        let payload = control
        control = []
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close:
            state = .ended
            return .close(try Self.close(payload))
        case .continuation, .text, .binary:
            guard isFinal, let whole = message else { return nil }
            message = nil
            guard whole == .binary || text.isWhole else {
                state = .ended
                throw .notUTF8("a text")
            }
            return .message(isText: whole == .text)
        }
    }

    private static func close(_ payload: [UInt8]) throws(WebSocketClose) -> WebSocketClose? {
        if payload.isEmpty { return nil }
        guard payload.count >= 2 else { throw .protocolError("half a code") }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard WebSocketClose.isValid(code) else { throw .protocolError("no client sends the code \(code)") }
        var check = UTF8Check()
        guard payload[2...].withUnsafeBytes({ check.update($0) }), check.isWhole else { throw .notUTF8("the reason of a close") }
        return WebSocketClose(code, String(decoding: payload[2...], as: UTF8.self))
    }
}
