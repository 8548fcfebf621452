import RelayWire

/// What a message or packet carries: text or bytes.
///
///     try lesson.send("hello")
///     try lesson.board.put(Payload(drawing.dataRepresentation()), key: "s1")
public enum Payload: Hashable, Sendable {
    /// Text, well-formed UTF-8 on the wire.
    case text(String)
    /// Bytes as they are.
    case bytes([UInt8])

    /// Bytes: `Data`, `[UInt8]` or any other sequence of them.
    public init(_ bytes: some Sequence<UInt8>) { self = .bytes(Array(bytes)) }

    /// Text.
    public init(_ text: some StringProtocol) { self = .text(String(text)) }

    /// Size in bytes, as limits count it.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }

    /// The text; `nil` of bytes, which may be text all the same.
    public var text: String? {
        switch self {
        case .text(let text): text
        case .bytes: nil
        }
    }

    /// The bytes; of a text its UTF-8.
    public var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        }
    }

    var flags: FrameFlags {
        switch self {
        case .text: .text
        case .bytes: []
        }
    }

    /// - Throws: `badText`, when the relay calls something text that is not.
    init(flags: FrameFlags, bytes: UnsafeRawBufferPointer) throws(WireError) {
        if flags.contains(.text) {
            self = .text(try checkedText(bytes))
        } else {
            self = .bytes(Array(bytes))
        }
    }
}

extension Payload: ExpressibleByStringInterpolation {
    /// Text.
    public init(stringLiteral text: String) { self = .text(text) }
}

extension Payload: ExpressibleByArrayLiteral {
    /// Bytes.
    public init(arrayLiteral bytes: UInt8...) { self = .bytes(bytes) }
}

/// - Throws: `badText`.
func checkedText(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> String {
    guard isValidUTF8(bytes) else { throw WireError(.badText, "text that is not well-formed UTF-8") }
    return String(decoding: bytes, as: UTF8.self)
}
