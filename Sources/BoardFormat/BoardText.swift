import RelayWire

/// Words on the board, on a sticky note or without.
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
    /// Lines are parted by U+000A.
    public var text: String
    /// Where lines wrap, in 1/100 px from `x`; `nil`: nowhere.
    public var width: Int?
    /// Of the sticky note under the words, which needs `width`.
    public var paper: BoardColor?
    /// Whether apps leave it as it is.
    public var isLocked: Bool

    public init(
        id: ElementID, z: Int, color: BoardColor = .black, x: Int, y: Int, size: Int, text: String, width: Int? = nil,
        paper: BoardColor? = nil, isLocked: Bool = false
    ) {
        self.id = id
        self.z = z
        self.color = color
        self.x = x
        self.y = y
        self.size = size
        self.text = text
        self.width = width
        self.paper = paper
        self.isLocked = isLocked
    }

    /// The one record that keeps this text on a board, under its id as key.
    ///
    /// - Throws: `outOfRange` for what the format does not have: more than `BoardLimits.textBytes`, for example; `missingField` for
    ///   paper without a width.
    public func record() throws(BoardError) -> WhiteboardRecord { try WhiteboardRecord(id, BoardWords.text, payload()) }
}

extension BoardText {
    init(_ object: BoardFields) throws(BoardError) {
        id = try ElementID(object.string("id"))
        z = try object.integer("z", in: BoardLimits.z)
        color = try object.color()
        x = try object.integer("x", in: BoardLimits.coordinate)
        y = try object.integer("y", in: BoardLimits.coordinate)
        size = try object.integer("size", in: BoardLimits.textSize)
        text = try object.string("text", bytes: BoardLimits.textBytes)
        width = try object.optionalInteger("width", in: BoardLimits.side)
        paper = object.optional("paper") == nil ? nil : try object.color("paper")
        isLocked = try object.isLocked()
        guard paper == nil || width != nil else { throw .missingField("width") }
    }

    func payload() throws(BoardError) -> [UInt8] {
        try check("size", size, BoardLimits.textSize)
        try check("text", text.utf8.count, BoardLimits.textBytes)
        if let width { try check("width", width, BoardLimits.side) }
        guard paper == nil || width != nil else { throw .missingField("width") }
        try check("x", x, BoardLimits.coordinate)
        try check("y", y, BoardLimits.coordinate)
        try check("z", z, BoardLimits.z)
        return JSONText.object { json in
            json.member("color", color.description)
            json.member("id", id.text)
            json.lock(isLocked)
            if let paper { json.member("paper", paper.description) }
            json.member("size", size)
            json.member("text", text)
            json.member("v", BoardLimits.version)
            if let width { json.member("width", width) }
            json.member("x", x)
            json.member("y", y)
            json.member("z", z)
        }
    }
}
