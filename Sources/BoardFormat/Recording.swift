import RelayWire

/// Drawings that were recorded stroke by stroke, one JSON object a line:
/// `{"board":"…","stroke":0,"t0":0,"points":[[x,y,t,p],…]}`, places in px, times in ms, pressure 0…1.
///
/// Real recordings are dirty. What can be repaired is, and is counted in `repairs`; `docs/board-format.md` has the rules.
package struct Recording: Equatable, Sendable {
    /// In the order in which they first occur.
    package private(set) var boards: [RecordedBoard] = []
    package private(set) var repairs = Repairs()

    /// What was not as it should be.
    package struct Repairs: Equatable, Sendable {
        /// Times that ran backwards; taken as the time of the point before.
        package var timesBackwards = 0
        /// Times more than `RecordingLimits.stepMax` after the point before; taken as that much after it.
        package var timesJumped = 0
        /// Places and pressures outside what the format has; moved to its edge.
        package var valuesCut = 0

        package var isEmpty: Bool { self == Repairs() }
    }

    /// - Throws: `RecordingError` with the number of the first line that cannot be read.
    package init(ndjson bytes: [UInt8]) throws(RecordingError) {
        var places: [String: Int] = [:]
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard !line.isBlank else { continue }
            do {
                let object = try BoardFields(reading: Array(line), fractions: true)
                let board = try object.string("board")
                let stroke = try RecordedStroke(object, repairs: &repairs)
                if let place = places[board] {
                    boards[place].strokes.append(stroke)
                } else {
                    places[board] = boards.count
                    boards.append(RecordedBoard(name: board, strokes: [stroke]))
                }
            } catch {
                throw RecordingError(line: number, problem: error)
            }
        }
    }
}

/// One drawing of a recording.
package struct RecordedBoard: Equatable, Sendable {
    package var name: String
    /// In the order of the file.
    package var strokes: [RecordedStroke]

    package init(name: String, strokes: [RecordedStroke]) {
        self.name = name
        self.strokes = strokes
    }
}

/// One line of a recording, in the numbers of the board format.
package struct RecordedStroke: Equatable, Sendable {
    /// Milliseconds from the first stroke of the board to this one, if the recording has a clock.
    package var start: Int?
    /// Those that every point has.
    package var columns: PointColumns
    /// Times never run backwards.
    package var points: [BoardPoint]

    package init(start: Int?, columns: PointColumns, points: [BoardPoint]) {
        self.start = start
        self.columns = columns
        self.points = points
    }
}

/// A line of a recording that cannot be read.
package struct RecordingError: Error, Equatable, Sendable, CustomStringConvertible {
    package var line: Int
    package var problem: BoardError

    package var description: String { "line \(line): \(problem)" }
}

/// Numbers that turn a recording into strokes.
package enum RecordingLimits {
    /// Longest believable time between two points of one stroke, in ms. Beyond it the clock was wrong.
    package static let stepMax = 10_000
}

extension RecordedStroke {
    fileprivate init(_ object: BoardFields, repairs: inout Recording.Repairs) throws(BoardError) {
        var rows: [[Double?]] = []
        for value in try object.array("points") {
            guard case .array(let cells) = value, (2...4).contains(cells.count) else {
                throw .wrongType(field: "points", expected: "an array of [x, y, t, p]")
            }
            var row: [Double?] = []
            for (index, cell) in cells.enumerated() {
                guard cell.anyNumber != nil || (index >= 2 && cell == .null) else {
                    throw .wrongType(field: "points", expected: "an array of numbers (t and p may be null)")
                }
                row.append(cell.anyNumber)
            }
            rows.append(row + Array(repeating: nil, count: 4 - row.count))
        }
        guard !rows.isEmpty else { throw .badValue(field: "points", problem: "at least one point is expected") }

        columns = []
        if rows.allSatisfy({ $0[2] != nil }) { columns.insert(.time) }
        if rows.allSatisfy({ $0[3] != nil }) { columns.insert(.pressure) }

        var clock = StrokeClock()
        points = []
        for row in rows {
            points.append(
                BoardPoint(
                    x: BoardLimits.coordinate.rounding(row[0]! * 100, cut: &repairs.valuesCut),
                    y: BoardLimits.coordinate.rounding(row[1]! * 100, cut: &repairs.valuesCut),
                    pressure: columns.contains(.pressure)
                        ? BoardLimits.pressure.rounding(row[3]! * 255, cut: &repairs.valuesCut) : 0,
                    time: columns.contains(.time) ? clock.next(row[2]!, repairs: &repairs) : 0))
        }
        switch object.optional("t0") {
        case nil: start = nil
        case let value?:
            guard let number = value.anyNumber else { throw .wrongType(field: "t0", expected: "a number") }
            start = (-BoardLimits.integerMax...BoardLimits.integerMax).rounding(number, cut: &repairs.valuesCut)
        }
    }
}

/// Makes times that start at 0, never run backwards and never jump.
private struct StrokeClock {
    private var last: Double?
    private var time = 0.0

    mutating func next(_ raw: Double, repairs: inout Recording.Repairs) -> Int {
        let step = raw - (last ?? raw)
        last = raw
        if step > Double(RecordingLimits.stepMax) {
            repairs.timesJumped += 1
            time += Double(RecordingLimits.stepMax)
        } else if step >= 0 {
            time += step
        } else {
            // Backwards, or the difference of two infinities.
            repairs.timesBackwards += 1
        }
        return BoardLimits.time.rounding(time, cut: &repairs.valuesCut)
    }
}

extension ClosedRange<Int> {
    /// The nearest integer of the range; halves are rounded away from zero.
    func rounding(_ value: Double, cut: inout Int) -> Int {
        let rounded = value.rounded(.toNearestOrAwayFromZero)
        // The bounds are below 2⁵³ and so the same as `Double`.
        if rounded >= Double(lowerBound), rounded <= Double(upperBound) { return Int(rounded) }
        cut += 1
        return rounded > 0 ? upperBound : lowerBound
    }
}
