/// What a channel keeps for one key: the newest retained message of it, without author, time and offset.
public struct WhiteboardRecord: Equatable, Sendable {
    /// What the record is kept under.
    public var key: String
    public var customType: String?
    public var payload: Payload

    public enum Payload: Equatable, Sendable {
        case text(String)
        case bytes([UInt8])

        /// Size in bytes; of a text its UTF-8.
        public var count: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .bytes(let bytes): bytes.count
            }
        }

        /// The bytes; of a text its UTF-8.
        public var bytes: [UInt8] {
            switch self {
            case .text(let text): Array(text.utf8)
            case .bytes(let bytes): bytes
            }
        }
    }

    public init(key: String, customType: String? = nil, payload: Payload) {
        self.key = key
        self.customType = customType
        self.payload = payload
    }

    /// The record that keeps an element, under its id.
    ///
    /// - Throws: `tooLarge` beyond `BoardLimits.recordBytesMax`.
    init(_ id: ElementID, _ type: String, _ json: [UInt8]) throws(BoardError) {
        let bytes = json.count + type.utf8.count
        guard bytes <= BoardLimits.recordBytesMax else { throw .tooLarge(limit: BoardLimits.recordBytesMax, actual: bytes) }
        self.init(key: id.text, customType: type, payload: .text(String(decoding: json, as: UTF8.self)))
    }

    /// - Throws: what a relay would refuse: a malformed key or custom type, and an empty payload, which is a removal.
    func validate() throws(BoardError) {
        try check("key", key.utf8.count, BoardLimits.keyBytes)
        for (position, byte) in key.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "\\"):
                throw .badValue(field: "key", problem: "a key has none of * / \\")
            case UInt8(ascii: "_") where position == 0, UInt8(ascii: " ") where position == 0:
                throw .badValue(field: "key", problem: "a key does not start with _ or a space")
            case 0x20...0x7E: continue
            default: throw .badValue(field: "key", problem: "a key is made of ASCII letters, digits, spaces and signs")
            }
        }
        if let customType { try check("customType", customType.utf8.count, BoardLimits.customTypeBytes) }
        guard payload.count > 0 else { throw .badValue(field: payload.field, problem: "a record has at least 1 byte of payload") }
    }
}

extension WhiteboardRecord.Payload {
    /// The field of an exported board that holds it.
    var field: String {
        switch self {
        case .text: "text"
        case .bytes: "base64"
        }
    }
}
