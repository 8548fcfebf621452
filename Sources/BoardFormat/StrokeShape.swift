/// What the points of a stroke are, so that an app can resize it as a whole. Whoever does not ask draws the points.
public enum StrokeShape: String, Hashable, Sendable, CaseIterable {
    case line, arrow, rectangle, ellipse

    /// How many points it has: an ellipse is cut into 64 pieces.
    public var points: Int {
        switch self {
        case .line: 2
        case .arrow, .rectangle: 5
        case .ellipse: 65
        }
    }

    /// Its points from one end to the other, or in the box that has these corners.
    ///
    /// - Parameter width: of the line, on which an arrow's barbs depend.
    public func points(from: BoardPoint, to: BoardPoint, width: Int) -> [BoardPoint] {
        let (x0, y0, x1, y1) = (Int(from.x), Int(from.y), Int(to.x), Int(to.y))
        switch self {
        case .line: return Self.places([(x0, y0), (x1, y1)])
        case .arrow: return Self.arrow(tail: (x0, y0), tip: (x1, y1), width: width)
        case .rectangle: return Self.places([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])
        case .ellipse:
            let (left, right, top, bottom) = (min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1))
            return (0...64).map { step in
                BoardPoint(
                    x: Self.rounded(Double(left + right) / 2 + Double(right - left) / 2 * Self.cosine(step)),
                    y: Self.rounded(Double(top + bottom) / 2 + Double(bottom - top) / 2 * Self.cosine(step + 48)))
            }
        }
    }

    private static func arrow(tail: (x: Int, y: Int), tip: (x: Int, y: Int), width: Int) -> [BoardPoint] {
        let (dx, dy) = (Double(tail.x - tip.x), Double(tail.y - tip.y))
        let length = (dx * dx + dy * dy).squareRoot()
        guard length > 0 else { return places(Array(repeating: tip, count: 5)) }
        let scale = min(Double(600 + 4 * width), length / 2) / length
        // 30° to either side of the way back.
        let (cosine, sine) = (3.0.squareRoot() / 2 * scale, 0.5 * scale)
        func barb(_ sine: Double) -> (Int, Int) {
            (rounded(Double(tip.x) + cosine * dx - sine * dy), rounded(Double(tip.y) + sine * dx + cosine * dy))
        }
        return places([tail, tip, barb(sine), tip, barb(-sine)])
    }

    private static func places(_ places: [(Int, Int)]) -> [BoardPoint] { places.map { BoardPoint(x: $0.0, y: $0.1) } }

    /// Of 1/64 of a turn, `step` times. The standard library has no cosine, and symmetric ellipses need a symmetric one.
    private static func cosine(_ step: Int) -> Double {
        let step = step % 64
        let mirrored = min(step, 64 - step)
        return mirrored <= 16 ? quarter[mirrored] : -quarter[32 - mirrored]
    }

    private static let quarter = [
        1, 0.9951847266721969, 0.9807852804032304, 0.9569403357322088, 0.9238795325112867, 0.881921264348355, 0.8314696123025452,
        0.773010453362737, 0.7071067811865476, 0.6343932841636455, 0.5555702330196023, 0.4713967368259978, 0.38268343236508984,
        0.29028467725446233, 0.19509032201612833, 0.09801714032956077, 0,
    ]

    /// Halves away from zero. Places are within their range, and so is what lies between them.
    private static func rounded(_ value: Double) -> Int { Int(value.rounded(.toNearestOrAwayFromZero)) }

    // MARK: - What a reader refuses

    func check(points count: Int, _ columns: PointColumns) throws(BoardError) {
        try check(columns)
        guard count == points else {
            throw .badValue(field: "shape", problem: "\(rawValue) has \(points) points, here are \(count)")
        }
    }

    func check(_ columns: PointColumns) throws(BoardError) {
        guard columns.isEmpty else { throw .badValue(field: "shape", problem: "a shape has cols xy, here it is \(columns.text)") }
    }

    func check(parts: Int) throws(BoardError) {
        guard parts == 1 else { throw .badValue(field: "shape", problem: "a shape has 1 part, here it has \(parts)") }
    }
}
