import RelayWire

/// One message of a board: a step that, after all before it, gives the picture.
public enum BoardMessage: Equatable, Sendable {
    case stroke(StrokePart)
    case text(BoardText)
    case image(BoardImage)
    /// The board's title; empty takes it away. The newest counts.
    case title(String)
    /// Takes these away; what is not there is passed over.
    case erase([ElementID])
    /// Shifts these by 1/100 px; their layer stays. What is not there is passed over.
    case move([ElementID], dx: Int, dy: Int)

    /// What the message is published with.
    public var customType: String {
        switch self {
        case .stroke: BoardWords.stroke
        case .text: BoardWords.text
        case .image: BoardWords.image
        case .title: BoardWords.title
        case .erase: BoardWords.erase
        case .move: BoardWords.move
        }
    }
}

extension BoardMessage {
    /// Reads a message of a board.
    ///
    /// - Parameters:
    ///   - payload: of a text message, its UTF-8.
    ///   - bytesMax: payload and custom type together; `BoardLimits.recordBytesMax` for a record of a board.
    /// - Returns: `nil` for a custom type that the format does not have: such a message is no part of the picture.
    /// - Throws: what is wrong with a message whose type the format has; it is passed over as a whole.
    public static func decode(
        customType: String?, payload: [UInt8], bytesMax: Int = BoardLimits.messageBytesMax
    ) throws(BoardError) -> BoardMessage? {
        let type = customType ?? ""
        guard BoardWords.messages.contains(type) else { return nil }
        let bytes = payload.count + type.utf8.count
        guard bytes <= bytesMax else { throw .tooLarge(limit: bytesMax, actual: bytes) }
        let object = try BoardFields(reading: payload)
        try object.checkVersion()
        switch type {
        case BoardWords.stroke: return .stroke(try StrokePart(object))
        case BoardWords.text: return .text(try BoardText(object))
        case BoardWords.image: return .image(try BoardImage(object))
        case BoardWords.title: return .title(try object.string("text", bytes: BoardLimits.titleBytes))
        case BoardWords.erase: return .erase(try object.ids())
        default:
            return .move(
                try object.ids(), dx: try object.integer("dx", in: BoardLimits.coordinate),
                dy: try object.integer("dy", in: BoardLimits.coordinate))
        }
    }

    /// Writes the message; what it holds is checked as a reader would.
    ///
    /// - Throws: `outOfRange`, or `tooLarge` for what is larger than a message: `Stroke.payloads` cuts a stroke, and `record` of
    ///   any element keeps it as a whole.
    public func encoded() throws(BoardError) -> [UInt8] {
        let payload = try payload()
        let bytes = payload.count + customType.utf8.count
        guard bytes <= BoardLimits.messageBytesMax else { throw .tooLarge(limit: BoardLimits.messageBytesMax, actual: bytes) }
        return payload
    }

    private func payload() throws(BoardError) -> [UInt8] {
        switch self {
        case .stroke(let part): return try part.payload()
        case .text(let text): return try text.payload()
        case .image(let image): return try image.payload()
        case .title(let text):
            try check("text", text.utf8.count, BoardLimits.titleBytes)
            return JSONText.object { json in
                json.member("text", text)
                json.member("v", BoardLimits.version)
            }
        case .erase(let ids):
            try check("ids", ids.count, BoardLimits.ids)
            return JSONText.object { json in
                json.member("ids", ids.map(\.text))
                json.member("v", BoardLimits.version)
            }
        case .move(let ids, let dx, let dy):
            try check("ids", ids.count, BoardLimits.ids)
            try check("dx", dx, BoardLimits.coordinate)
            try check("dy", dy, BoardLimits.coordinate)
            return JSONText.object { json in
                json.member("dx", dx)
                json.member("dy", dy)
                json.member("ids", ids.map(\.text))
                json.member("v", BoardLimits.version)
            }
        }
    }
}

/// - Throws: `outOfRange`.
func check(_ field: String, _ value: Int, _ range: ClosedRange<Int>) throws(BoardError) {
    guard range.contains(value) else { throw .outOfRange(field: field, limit: range, actual: value) }
}

extension BoardFields {
    fileprivate func ids() throws(BoardError) -> [ElementID] {
        let values = try array("ids")
        try check("ids", values.count, BoardLimits.ids)
        var ids: [ElementID] = []
        for value in values {
            guard case .string(let text) = value else { throw .wrongType(field: "ids", expected: "an array of strings") }
            ids.append(try ElementID(text, field: "ids"))
        }
        return ids
    }
}
