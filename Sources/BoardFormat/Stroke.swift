import RelayWire

/// A line that somebody drew, finished.
public struct Stroke: Equatable, Sendable {
    public var id: ElementID
    /// The layer: what has more lies above. Equal layers lie in the order of their ids.
    public var z: Int
    public var color: BoardColor
    /// Width of the line, in 1/100 px.
    public var width: Int
    public var columns: PointColumns
    public var points: [BoardPoint]
    /// What the points are, if they are more than a line by hand.
    public var shape: StrokeShape?
    /// Whether apps leave it as it is.
    public var isLocked: Bool

    public init(
        id: ElementID, z: Int, color: BoardColor = .black, width: Int = 300, columns: PointColumns = [], points: [BoardPoint],
        shape: StrokeShape? = nil, isLocked: Bool = false
    ) {
        self.id = id
        self.z = z
        self.color = color
        self.width = width
        self.columns = columns
        self.points = points
        self.shape = shape
        self.isLocked = isLocked
    }
}

/// What one `stroke` message carries: a whole stroke, or a run of its points that can be drawn by itself.
public struct StrokePart: Equatable, Sendable {
    public var stroke: Stroke
    /// Counts from 1.
    public var part: Int
    public var parts: Int

    public init(_ stroke: Stroke, part: Int = 1, parts: Int = 1) {
        self.stroke = stroke
        self.part = part
        self.parts = parts
    }
}

extension Stroke {
    /// The messages that draw this stroke: one, or as few as each stay within `bytesMax`, cut at points. The last
    /// point of each is the first of the next, so that each is a whole line.
    ///
    /// - Parameter bytesMax: payload and custom type together.
    /// - Throws: `outOfRange` for a width or layer that the format does not have, for more parts than it has
    ///   (`field` is then `parts`), `badValue` without points, or with points that are not those of its shape.
    public func payloads(bytesMax: Int = BoardLimits.messageBytesMax) throws(BoardError) -> [[UInt8]] {
        try checkFields()
        let typeBytes = BoardWords.stroke.utf8.count
        let whole = PointCoding.encode(
            points[...], columns: columns, bytesMax: bytesMax - typeBytes - payload(points: [], part: 1, parts: 1).count)
        if whole.end == points.endIndex { return [payload(points: whole.json, part: 1, parts: 1)] }

        let most = BoardLimits.parts.upperBound
        let bytesForPoints = bytesMax - typeBytes - payload(points: [], part: most, parts: most).count
        var runs: [[UInt8]] = []
        var start = 0
        while start < points.count - 1 {
            guard runs.count < most else { throw .outOfRange(field: "parts", limit: BoardLimits.parts, actual: most + 1) }
            let run = PointCoding.encode(points[start...], columns: columns, bytesMax: bytesForPoints)
            runs.append(run.json)
            guard run.end > start + 1 else { throw .tooLarge(limit: bytesMax, actual: bytesMax + 1) }
            start = run.end == points.endIndex ? run.end : run.end - 1
        }
        return runs.enumerated().map { payload(points: $1, part: $0 + 1, parts: runs.count) }
    }

    /// The one record that keeps this stroke on a board, under its id as key, however long it is.
    ///
    /// - Throws: as `payloads`; `tooLarge` beyond `BoardLimits.recordBytesMax`.
    public func record() throws(BoardError) -> WhiteboardRecord {
        try checkFields()
        let all = PointCoding.encode(points[...], columns: columns, bytesMax: .max)
        return try WhiteboardRecord(id, BoardWords.stroke, payload(points: all.json, part: 1, parts: 1))
    }

    /// Puts the parts of one stroke together again.
    ///
    /// - Returns: `nil` unless these are all parts of one stroke, in order, each beginning where the last one ended.
    public static func joining(_ parts: [StrokePart]) -> Stroke? {
        guard var whole = parts.first?.stroke else { return nil }
        for (index, part) in parts.enumerated() {
            guard part.part == index + 1, part.parts == parts.count, part.stroke.id == whole.id,
                part.stroke.columns == whole.columns
            else { return nil }
            if index == 0 { continue }
            guard part.stroke.points.first == whole.points.last else { return nil }
            whole.points.append(contentsOf: part.stroke.points.dropFirst())
        }
        return whole
    }

    fileprivate func checkFields() throws(BoardError) {
        try check("z", z, BoardLimits.z)
        try check("width", width, BoardLimits.width)
        guard !points.isEmpty else { throw .badValue(field: "points", problem: "at least one point is expected") }
        try shape?.check(points: points.count, columns)
    }

    fileprivate func payload(points: [UInt8], part: Int, parts: Int) -> [UInt8] {
        return JSONText.object { json in
            json.member("color", color.description)
            json.member("cols", columns.text)
            json.member("id", id.text)
            json.lock(isLocked)
            if parts > 1 {
                json.member("part", part)
                json.member("parts", parts)
            }
            json.member("points", json: points)
            if let shape { json.member("shape", shape.rawValue) }
            json.member("v", BoardLimits.version)
            json.member("width", width)
            json.member("z", z)
        }
    }
}

extension StrokePart {
    func payload() throws(BoardError) -> [UInt8] {
        try stroke.checkFields()
        try check("parts", parts, BoardLimits.parts)
        try check("part", part, 1...parts)
        try stroke.shape?.check(parts: parts)
        let all = PointCoding.encode(stroke.points[...], columns: stroke.columns, bytesMax: .max)
        return stroke.payload(points: all.json, part: part, parts: parts)
    }

    init(_ object: BoardFields) throws(BoardError) {
        let columns = try PointColumns(text: object.string("cols"))
        stroke = Stroke(
            id: try ElementID(object.string("id")),
            z: try object.integer("z", in: BoardLimits.z),
            color: try object.color(),
            width: try object.integer("width", in: BoardLimits.width),
            columns: columns,
            points: try PointCoding.decode(object.integers("points"), columns: columns),
            shape: try object.shape(),
            isLocked: try object.isLocked())
        parts = try object.optionalInteger("parts", in: BoardLimits.parts) ?? 1
        part = try object.optionalInteger("part", in: 1...parts) ?? 1
        guard parts == 1 || object.optional("part") != nil else { throw .missingField("part") }
        try stroke.shape?.check(points: stroke.points.count, columns)
        try stroke.shape?.check(parts: parts)
    }
}
