import BoardFormat
import PencilKit
import RelayClient
import UIKit

/// A stroke of the board with its ink. docs/board-format.md has the units; this file turns them into PencilKit's points and back.
struct DrawnStroke {
    let ink: PKStroke
    let payload: Payload
    let layer: Int
    let isLocked: Bool

    /// What this person drew.
    ///
    /// - Throws: what the format cannot hold.
    init(_ ink: PKStroke, key: String, layer: Int) throws {
        // PencilKit's path is a spline, the board's a chain of points: one every 2 pt, and the end.
        let path = ink.path, end = path.interpolatedPoint(at: CGFloat(path.count - 1))
        var points = Array(path.interpolatedPoints(by: .distance(2)))
        if points.last?.location != end.location { points.append(end) }
        let widths = points.map { Double($0.size.width) }
        // A line with pressure is drawn with half to one and a half of its width.
        let width = max(0.01, (widths.min()! + widths.max()!) / 2)
        let hasPressure = widths.max()! - widths.min()! > 0.1
        let stroke = Stroke(
            id: try ElementID(key), z: layer, color: BoardColor(ink.ink.color), width: hundredths(width),
            columns: hasPressure ? [.pressure, .time] : .time,
            points: points.map { point in
                let place = point.location.applying(ink.transform)
                let pressure = (Double(point.size.width) / width - 0.5) * 255
                return BoardPoint(
                    x: hundredths(place.x), y: hundredths(place.y), pressure: hasPressure ? Int(pressure.rounded()) : 0,
                    time: Int((point.timeOffset * 1_000).rounded()))
            })
        self.ink = ink
        self.layer = layer
        isLocked = false
        payload = .text(String(decoding: try stroke.record().payload.bytes, as: UTF8.self))
    }

    /// What a record has.
    ///
    /// - Parameter seed: tells it from all others on the canvas.
    init(_ stroke: Stroke, _ payload: Payload, seed: UInt32) {
        let hasPressure = stroke.columns.contains(.pressure)
        let points = stroke.points.flatMap { point in
            let width = Double(stroke.width) / 100 * (hasPressure ? 0.5 + Double(point.pressure) / 255 : 1)
            let inked = PKStrokePoint(
                location: CGPoint(x: Double(point.x) / 100, y: Double(point.y) / 100), timeOffset: Double(point.time) / 1_000,
                size: CGSize(width: width, height: width), opacity: 1, force: 1, azimuth: 0, altitude: .pi / 2)
            // A spline leads through what it is told three times, and is straight in between: corners stay.
            return repeatElement(inked, count: 3)
        }
        ink = PKStroke(
            ink: PKInk(hasPressure ? .pen : .monoline, color: UIColor(stroke.color)),
            path: PKStrokePath(controlPoints: points, creationDate: Date()), randomSeed: seed)
        self.payload = payload
        layer = stroke.z
        isLocked = stroke.isLocked
    }
}

/// Where somebody has the pen, as the whiteboard page tells it.
struct Cursor {
    static let topic = "cursors"
    /// In the canvas's points; `nil`: not over the board.
    let place: CGPoint?

    private struct Body: Codable {
        var v = 1
        var x, y: Int?
    }

    init(place: CGPoint?) { self.place = place }

    init?(_ payload: Payload) {
        guard let body = try? payload.decode(as: Body.self) else { return nil }
        place = if let x = body.x, let y = body.y { CGPoint(x: Double(x) / 100, y: Double(y) / 100) } else { nil }
    }

    var payload: Payload {
        let body = Body(x: place.map { hundredths($0.x) }, y: place.map { hundredths($0.y) })
        return (try? Payload(json: body)) ?? "{\"v\":1}"
    }
}

/// The board's places and widths are in 1/100 px, halves rounded away from zero.
private func hundredths(_ points: Double) -> Int { Int((min(max(points, -1e7), 1e7) * 100).rounded()) }

extension BoardColor {
    init(_ color: UIColor) {
        var parts: (red: CGFloat, green: CGFloat, blue: CGFloat, opacity: CGFloat) = (0, 0, 0, 1)
        color.getRed(&parts.red, green: &parts.green, blue: &parts.blue, alpha: &parts.opacity)
        self.init(rgba: [parts.red, parts.green, parts.blue, parts.opacity].reduce(0) {
            $0 << 8 | UInt32((min(max(Double($1), 0), 1) * 255).rounded())
        })
    }
}

extension UIColor {
    convenience init(_ color: BoardColor) {
        func part(_ shift: UInt32) -> CGFloat { CGFloat(color.rgba >> shift & 0xFF) / 255 }
        self.init(red: part(24), green: part(16), blue: part(8), alpha: part(0))
    }
}
