import RelayWire

/// One message of a board: a step that, after all before it, gives the picture.
public enum BoardMessage: Equatable, Sendable {
    case stroke(StrokePart)
    case text(BoardText)
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
        case .title: BoardWords.title
        case .erase: BoardWords.erase
        case .move: BoardWords.move
        }
    }
}

/// Words on the board.
public struct BoardText: Equatable, Sendable {
    public var id: ElementID
    /// As a stroke's.
    public var z: Int
    public var color: BoardColor
    /// Left upper corner of the first line, in 1/100 px.
    public var x: Int
    public var y: Int
    /// Height of a line, in 1/100 px.
    public var size: Int
    /// Lines are parted by U+000A; nothing is wrapped.
    public var text: String

    public init(id: ElementID, z: Int, color: BoardColor = .black, x: Int, y: Int, size: Int, text: String) {
        self.id = id
        self.z = z
        self.color = color
        self.x = x
        self.y = y
        self.size = size
        self.text = text
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
        guard [BoardWords.stroke, BoardWords.text, BoardWords.title, BoardWords.erase, BoardWords.move].contains(type) else {
            return nil
        }
        let bytes = payload.count + type.utf8.count
        guard bytes <= bytesMax else { throw .tooLarge(limit: bytesMax, actual: bytes) }
        let object = try BoardFields(reading: payload)
        try object.checkVersion()
        switch type {
        case BoardWords.stroke: return .stroke(try StrokePart(object))
        case BoardWords.text: return .text(try BoardText(object))
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
    /// - Throws: `outOfRange`, or `tooLarge` for a stroke that needs several messages (`Stroke.payloads` cuts it).
    public func encoded() throws(BoardError) -> [UInt8] {
        switch self {
        case .stroke(let part):
            let payload = try part.payload()
            let bytes = payload.count + customType.utf8.count
            guard bytes <= BoardLimits.messageBytesMax else {
                throw .tooLarge(limit: BoardLimits.messageBytesMax, actual: bytes)
            }
            return payload
        case .text(let text): return try text.payload()
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

extension BoardText {
    fileprivate init(_ object: BoardFields) throws(BoardError) {
        id = try ElementID(object.string("id"))
        z = try object.integer("z", in: BoardLimits.z)
        color = try object.color()
        x = try object.integer("x", in: BoardLimits.coordinate)
        y = try object.integer("y", in: BoardLimits.coordinate)
        size = try object.integer("size", in: BoardLimits.textSize)
        text = try object.string("text", bytes: BoardLimits.textBytes)
    }

    fileprivate func payload() throws(BoardError) -> [UInt8] {
        try check("size", size, BoardLimits.textSize)
        try check("text", text.utf8.count, BoardLimits.textBytes)
        try check("x", x, BoardLimits.coordinate)
        try check("y", y, BoardLimits.coordinate)
        try check("z", z, BoardLimits.z)
        return JSONText.object { json in
            json.member("color", color.description)
            json.member("id", id.text)
            json.member("size", size)
            json.member("text", text)
            json.member("v", BoardLimits.version)
            json.member("x", x)
            json.member("y", y)
            json.member("z", z)
        }
    }
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
