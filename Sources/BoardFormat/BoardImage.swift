internal import RelayPrimitives
import RelayWire

/// A picture on the board.
public struct BoardImage: Equatable, Sendable {
    /// Formats that only draw: SVG, for example, is a program.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case png = "image/png", jpeg = "image/jpeg", webp = "image/webp"
    }

    public var id: ElementID
    /// As a stroke's.
    public var z: Int
    /// Left upper corner, in 1/100 px.
    public var x: Int
    public var y: Int
    /// The rectangle that the picture fills, in 1/100 px, whatever its proportions.
    public var width: Int
    public var height: Int
    public var kind: Kind
    /// Size of the picture in its file.
    public var pixelWidth: Int
    public var pixelHeight: Int
    /// The file.
    public var data: [UInt8]
    /// What the picture shows, for people who cannot see it.
    public var description: String?
    /// Whether apps leave it as it is.
    public var isLocked: Bool

    public init(
        id: ElementID, z: Int, x: Int, y: Int, width: Int, height: Int, kind: Kind, pixelWidth: Int, pixelHeight: Int, data: [UInt8],
        description: String? = nil, isLocked: Bool = false
    ) {
        self.id = id
        self.z = z
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.kind = kind
        self.pixelWidth = pixelWidth
        self.pixelHeight = pixelHeight
        self.data = data
        self.description = description
        self.isLocked = isLocked
    }

    /// The one record that keeps this image on a board, under its id as key.
    ///
    /// - Throws: `outOfRange` for what the format does not have, `badValue` for a file that is not what the fields say.
    public func record() throws(BoardError) -> WhiteboardRecord { try WhiteboardRecord(id, BoardWords.image, payload()) }
}

extension BoardImage {
    init(_ object: BoardFields) throws(BoardError) {
        id = try ElementID(object.string("id"))
        z = try object.integer("z", in: BoardLimits.z)
        x = try object.integer("x", in: BoardLimits.coordinate)
        y = try object.integer("y", in: BoardLimits.coordinate)
        width = try object.integer("width", in: BoardLimits.side)
        height = try object.integer("height", in: BoardLimits.side)
        guard let kind = Kind(rawValue: try object.string("type")) else {
            throw .badValue(field: "type", problem: "one of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")) is expected")
        }
        self.kind = kind
        pixelWidth = try object.integer("pixelWidth", in: BoardLimits.imagePixels)
        pixelHeight = try object.integer("pixelHeight", in: BoardLimits.imagePixels)
        description = object.optional("description") == nil ? nil : try object.string("description", bytes: BoardLimits.descriptionBytes)
        isLocked = try object.isLocked()
        guard let data = Base64.decode(Array(try object.string("data").utf8)) else {
            throw .badValue(field: "data", problem: "base64 with padding is expected")
        }
        self.data = data
        try checkData()
    }

    func payload() throws(BoardError) -> [UInt8] {
        if let description { try check("description", description.utf8.count, BoardLimits.descriptionBytes) }
        try check("height", height, BoardLimits.side)
        try check("pixelHeight", pixelHeight, BoardLimits.imagePixels)
        try check("pixelWidth", pixelWidth, BoardLimits.imagePixels)
        try check("width", width, BoardLimits.side)
        try check("x", x, BoardLimits.coordinate)
        try check("y", y, BoardLimits.coordinate)
        try check("z", z, BoardLimits.z)
        try checkData()
        // Its digits need no escapes.
        let quote = [UInt8(ascii: "\"")]
        let base64 = quote + Base64.encode(data) + quote
        return JSONText.object { json in
            json.member("data", json: base64)
            if let description { json.member("description", description) }
            json.member("height", height)
            json.member("id", id.text)
            json.lock(isLocked)
            json.member("pixelHeight", pixelHeight)
            json.member("pixelWidth", pixelWidth)
            json.member("type", kind.rawValue)
            json.member("v", BoardLimits.version)
            json.member("width", width)
            json.member("x", x)
            json.member("y", y)
            json.member("z", z)
        }
    }

    /// A small file must not open as a huge picture.
    private func checkData() throws(BoardError) {
        try check("data", data.count, BoardLimits.imageBytes)
        guard let size = ImageHead.size(of: data, kind) else {
            throw .badValue(field: "data", problem: "the file's head is not of \(kind.rawValue), or tells no size")
        }
        guard size == (pixelWidth, pixelHeight) else {
            throw .badValue(
                field: "data", problem: "the file is \(size.width) × \(size.height) pixels, and says \(pixelWidth) × \(pixelHeight)")
        }
    }
}
