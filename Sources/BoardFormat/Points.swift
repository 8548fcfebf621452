/// One point of a stroke.
public struct BoardPoint: Hashable, Sendable {
    /// In 1/100 px.
    public let x: Int32
    public let y: Int32
    /// 0…255; 0 where the stroke has no pressure.
    public let pressure: UInt8
    /// Milliseconds since the stroke began; 0 where the stroke has no clock.
    public let time: Int32

    /// Values outside `BoardLimits` become the nearest inside.
    public init(x: Int, y: Int, pressure: Int = 0, time: Int = 0) {
        self.x = Int32(BoardLimits.coordinate.clamp(x))
        self.y = Int32(BoardLimits.coordinate.clamp(y))
        self.pressure = UInt8(BoardLimits.pressure.clamp(pressure))
        self.time = Int32(BoardLimits.time.clamp(time))
    }
}

extension ClosedRange<Int> {
    func clamp(_ value: Int) -> Int { Swift.min(Swift.max(value, lowerBound), upperBound) }
}

/// What is known of each point of a stroke besides its place.
public struct PointColumns: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let pressure = Self(rawValue: 1), time = Self(rawValue: 2)

    /// The field `cols`.
    var text: String { "xy" + (contains(.pressure) ? "p" : "") + (contains(.time) ? "t" : "") }

    /// Integers per point.
    var count: Int { text.utf8.count }

    init(text: String) throws(BoardError) {
        switch text {
        case "xy": self = []
        case "xyp": self = .pressure
        case "xyt": self = .time
        case "xypt": self = [.pressure, .time]
        default: throw .badValue(field: "cols", problem: "one of xy, xyp, xyt, xypt is expected")
        }
    }
}

/// Points as one flat array of integers: the first point absolute, each other as the difference to the one before.
enum PointCoding {
    /// Writes as many of the points as fit. A time before the one of the point before it is written as equal to it.
    ///
    /// - Parameter bytesMax: what the array may take, brackets included. The first point is written in any case.
    /// - Returns: the array as JSON, and the index of the first point that is not in it.
    static func encode(
        _ points: ArraySlice<BoardPoint>, columns: PointColumns, bytesMax: Int
    ) -> (json: [UInt8], end: Int) {
        var json: [UInt8] = [UInt8(ascii: "[")]
        var previous = BoardPoint(x: 0, y: 0)
        var time = 0
        for index in points.indices {
            let point = points[index]
            let before = json.count
            if index > points.startIndex { json.append(UInt8(ascii: ",")) }
            json.append(integer: Int(point.x) - Int(previous.x))
            json.append(UInt8(ascii: ","))
            json.append(integer: Int(point.y) - Int(previous.y))
            if columns.contains(.pressure) {
                json.append(UInt8(ascii: ","))
                json.append(integer: Int(point.pressure) - Int(previous.pressure))
            }
            if columns.contains(.time) {
                json.append(UInt8(ascii: ","))
                json.append(integer: max(0, Int(point.time) - time))
            }
            if index > points.startIndex, json.count + 1 > bytesMax {
                json.removeSubrange(before...)
                json.append(UInt8(ascii: "]"))
                return (json, index)
            }
            previous = point
            time = max(time, Int(point.time))
        }
        json.append(UInt8(ascii: "]"))
        return (json, points.endIndex)
    }

    /// - Throws: `badValue` when the integers are no whole number of points, `outOfRange` when a sum leaves its range.
    static func decode(_ integers: [Int], columns: PointColumns) throws(BoardError) -> [BoardPoint] {
        let width = columns.count
        guard !integers.isEmpty else { throw .badValue(field: "points", problem: "at least one point is expected") }
        guard integers.count.isMultiple(of: width) else {
            throw .badValue(field: "points", problem: "\(integers.count) integers are no whole number of points of \(width)")
        }
        var points: [BoardPoint] = []
        points.reserveCapacity(integers.count / width)
        var x = 0
        var y = 0
        var pressure = 0
        var time = 0
        for start in stride(from: 0, to: integers.count, by: width) {
            try add(integers[start], to: &x, "points x", BoardLimits.coordinate)
            try add(integers[start + 1], to: &y, "points y", BoardLimits.coordinate)
            if columns.contains(.pressure) {
                try add(integers[start + 2], to: &pressure, "points p", BoardLimits.pressure)
            }
            if columns.contains(.time) {
                let step = integers[start + width - 1]
                guard step >= 0 else { throw .badValue(field: "points t", problem: "time does not run backwards") }
                try add(step, to: &time, "points t", BoardLimits.time)
            }
            points.append(BoardPoint(x: x, y: y, pressure: pressure, time: time))
        }
        return points
    }

    /// Integers are within ±2⁵³ and sums within their range, so nothing can overflow here.
    private static func add(
        _ difference: Int, to sum: inout Int, _ field: String, _ range: ClosedRange<Int>
    ) throws(BoardError) {
        sum += difference
        guard range.contains(sum) else { throw .outOfRange(field: field, limit: range, actual: sum) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(integer value: Int) { append(contentsOf: String(value).utf8) }
}
