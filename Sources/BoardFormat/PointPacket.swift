import RelayWire

/// What a packet on topic `points` carries: points of a stroke that is being drawn.
///
/// A packet may be lost, so each one stands by itself: its first point is absolute, and it names colour and width.
public struct PointPacket: Equatable, Sendable {
    /// Of the stroke that a message will bring when it is finished.
    public var id: ElementID
    /// Index of the first point here in the stroke.
    public var first: Int
    public var color: BoardColor
    public var width: Int
    public var columns: PointColumns
    public var points: [BoardPoint]
    /// What the stroke will be; a packet from point 0 on then takes the place of all before it.
    public var shape: StrokeShape?

    public init(
        id: ElementID, first: Int, color: BoardColor, width: Int, columns: PointColumns, points: [BoardPoint], shape: StrokeShape? = nil
    ) {
        self.id = id
        self.first = first
        self.color = color
        self.width = width
        self.columns = columns
        self.points = points
        self.shape = shape
    }

    /// - Parameter payload: of a text packet, its UTF-8.
    public static func decode(_ payload: [UInt8]) throws(BoardError) -> PointPacket {
        guard payload.count <= BoardLimits.packetBytesMax else {
            throw .tooLarge(limit: BoardLimits.packetBytesMax, actual: payload.count)
        }
        let object = try BoardFields(reading: payload)
        try object.checkVersion()
        let columns = try PointColumns(text: object.string("cols"))
        let shape = try object.shape()
        try shape?.check(columns)
        return PointPacket(
            id: try ElementID(object.string("id")),
            first: try object.integer("first", in: BoardLimits.pointIndex),
            color: try object.color(),
            width: try object.integer("width", in: BoardLimits.width),
            columns: columns,
            points: try PointCoding.decode(object.integers("points"), columns: columns),
            shape: shape)
    }

    /// - Throws: `outOfRange`, or `tooLarge` for points that need several packets (`payloads` cuts them).
    public func encoded() throws(BoardError) -> [UInt8] {
        let payloads = try payloads(bytesMax: .max)
        guard payloads[0].count <= BoardLimits.packetBytesMax else {
            throw .tooLarge(limit: BoardLimits.packetBytesMax, actual: payloads[0].count)
        }
        return payloads[0]
    }

    /// The packets that carry these points: one, or as few as each stay within `bytesMax`.
    public func payloads(bytesMax: Int = BoardLimits.packetBytesMax) throws(BoardError) -> [[UInt8]] {
        try check("width", width, BoardLimits.width)
        guard !points.isEmpty else { throw .badValue(field: "points", problem: "at least one point is expected") }
        try shape?.check(columns)
        var payloads: [[UInt8]] = []
        var start = 0
        while start < points.count {
            try check("first", first + start, BoardLimits.pointIndex)
            let head = payload(first: first + start, points: []).count
            let run = PointCoding.encode(points[start...], columns: columns, bytesMax: bytesMax == .max ? .max : bytesMax - head)
            payloads.append(payload(first: first + start, points: run.json))
            start = run.end
        }
        return payloads
    }

    private func payload(first: Int, points: [UInt8]) -> [UInt8] {
        return JSONText.object { json in
            json.member("color", color.description)
            json.member("cols", columns.text)
            json.member("first", first)
            json.member("id", id.text)
            json.member("points", json: points)
            if let shape { json.member("shape", shape.rawValue) }
            json.member("v", BoardLimits.version)
            json.member("width", width)
        }
    }
}
