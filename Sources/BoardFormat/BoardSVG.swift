internal import RelayPrimitives

/// Draws a board's picture as an SVG document: the same picture is the same bytes.
///
/// A line whose pen gave pressure is drawn in runs of about even width. What is translucent is one group with one
/// opacity, so that runs do not show where they overlap.
public enum BoardSVG {
    /// Around everything, in 1/100 px.
    static let margin = 1_000
    /// Widths are told apart in steps of this many per full pressure; finer ones cannot be seen.
    static let pressureSteps = 24

    /// The document, UTF-8.
    public static func document(_ picture: WhiteboardPicture) -> [UInt8] {
        let elements = picture.ordered
        var bounds = Bounds()
        for element in elements { bounds.add(element) }
        let box = bounds.box(margin: margin)

        var svg: [UInt8] = []
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"")
        svg.append(numbers: box.x, box.y, box.width, box.height)
        svg.append("\">\n")
        if let title = picture.title {
            svg.append("<title>")
            svg.append(escaped: title)
            svg.append("</title>\n")
        }
        svg.append("<rect")
        svg.append(box)
        svg.append(" fill=\"#FFFFFF\"/>\n")
        svg.append("<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n")
        for element in elements {
            switch element {
            case .stroke(let parts): stroke(parts, into: &svg)
            case .text(let text): self.text(text, into: &svg)
            case .image(let image): self.image(image, into: &svg)
            }
        }
        svg.append("</g>\n</svg>\n")
        return svg
    }

    // MARK: - Strokes

    private static func stroke(_ parts: [StrokePart], into svg: inout [UInt8]) {
        svg.append("<g stroke=\"")
        svg.append(color: parts[0].stroke.color)
        svg.append(opacity: parts[0].stroke.color, name: "opacity")
        svg.append(">\n")
        // Parts draw by themselves; where one follows the other, both have the joint.
        for part in parts { line(part.stroke, into: &svg) }
        svg.append("</g>\n")
    }

    private static func line(_ stroke: Stroke, into svg: inout [UInt8]) {
        let points = stroke.points
        guard points.contains(where: { $0.x != points[0].x || $0.y != points[0].y }) else {
            return dot(stroke, into: &svg)
        }
        var start = 0
        while start < points.count - 1 {
            let width = width(stroke, from: points[start], to: points[start + 1])
            var end = start + 1
            while end < points.count - 1, self.width(stroke, from: points[end], to: points[end + 1]) == width { end += 1 }
            run(points[start...end], width: width, into: &svg)
            start = end
        }
    }

    /// Points that follow each other, as one path; after the first each as its distance from the one before.
    private static func run(_ points: ArraySlice<BoardPoint>, width: Int, into svg: inout [UInt8]) {
        var last = points[points.startIndex]
        svg.append("<path stroke-width=\"")
        svg.append(hundredths: width)
        svg.append("\" d=\"M")
        svg.append(numbers: Int(last.x), Int(last.y))
        svg.append("l")
        for (place, point) in points.dropFirst().enumerated() {
            if place > 0 { svg.append(" ") }
            svg.append(numbers: Int(point.x) - Int(last.x), Int(point.y) - Int(last.y))
            last = point
        }
        svg.append("\"/>\n")
    }

    /// Renderers do not agree on lines without length, so this is a circle.
    private static func dot(_ stroke: Stroke, into svg: inout [UInt8]) {
        let width = stroke.points.map { self.width(stroke, from: $0, to: $0) }.max() ?? stroke.width
        svg.append("<circle fill=\"")
        svg.append(color: stroke.color)
        svg.append("\" stroke=\"none\"")
        svg.append(" cx", Int(stroke.points[0].x))
        svg.append(" cy", Int(stroke.points[0].y))
        svg.append(" r", max(1, width / 2))
        svg.append("/>\n")
    }

    /// Half the line's width without pressure, one and a half with all of it; between two points their mean.
    private static func width(_ stroke: Stroke, from: BoardPoint, to: BoardPoint) -> Int {
        guard stroke.columns.contains(.pressure) else { return stroke.width }
        let full = 2 * BoardLimits.pressure.upperBound
        let step = ((Int(from.pressure) + Int(to.pressure)) * pressureSteps + full / 2) / full
        return max(1, stroke.width * (pressureSteps + 2 * step) / (2 * pressureSteps))
    }

    // MARK: - Texts and images

    private static func text(_ text: BoardText, into svg: inout [UInt8]) {
        let lines = TextShape.lines(text)
        if let color = text.paper, let paper = TextShape.paper(text, lines: lines.count) {
            svg.append("<rect")
            svg.append(paper)
            svg.append(" fill=\"")
            svg.append(color: color)
            svg.append(opacity: color, name: "fill-opacity")
            svg.append("/>\n")
        }
        svg.append("<text xml:space=\"preserve\" font-family=\"sans-serif\"")
        svg.append(" font-size", TextShape.fontSize(text))
        svg.append(" fill=\"")
        svg.append(color: text.color)
        svg.append(opacity: text.color, name: "fill-opacity")
        svg.append(">")
        for (number, line) in lines.enumerated() where !line.isEmpty {
            svg.append("<tspan")
            svg.append(" x", text.x)
            svg.append(" y", TextShape.baseline(text, line: number))
            svg.append(">")
            svg.append(escaped: line)
            svg.append("</tspan>")
        }
        svg.append("</text>\n")
    }

    private static func image(_ image: BoardImage, into svg: inout [UInt8]) {
        svg.append("<image")
        svg.append((image.x, image.y, image.width, image.height))
        svg.append(" preserveAspectRatio=\"none\" href=\"data:\(image.kind.rawValue);base64,")
        svg.append(contentsOf: Base64.encode(image.data))
        guard let description = image.description else { return svg.append("\"/>\n") }
        svg.append("\"><title>")
        svg.append(escaped: description)
        svg.append("</title></image>\n")
    }
}

/// The smallest box around what was added, in 1/100 px.
private struct Bounds {
    private var xs: ClosedRange<Int>?
    private var ys: ClosedRange<Int>?

    mutating func add(_ element: WhiteboardPicture.Element) {
        switch element {
        case .stroke(let parts):
            for part in parts {
                // The widest that pressure makes a line.
                let reach = part.stroke.columns.contains(.pressure) ? part.stroke.width * 3 / 4 : part.stroke.width / 2
                for point in part.stroke.points {
                    add(x: Int(point.x) - reach, y: Int(point.y) - reach)
                    add(x: Int(point.x) + reach, y: Int(point.y) + reach)
                }
            }
        case .text(let text):
            let lines = TextShape.lines(text)
            let words = (text.x, text.y, TextShape.width(text, lines), lines.count * text.size)
            add(TextShape.paper(text, lines: lines.count) ?? words)
        case .image(let image): add((image.x, image.y, image.width, image.height))
        }
    }

    private mutating func add(_ box: (x: Int, y: Int, width: Int, height: Int)) {
        add(x: box.x, y: box.y)
        add(x: box.x + box.width, y: box.y + box.height)
    }

    private mutating func add(x: Int, y: Int) {
        xs = xs.map { min($0.lowerBound, x)...max($0.upperBound, x) } ?? x...x
        ys = ys.map { min($0.lowerBound, y)...max($0.upperBound, y) } ?? y...y
    }

    func box(margin: Int) -> (x: Int, y: Int, width: Int, height: Int) {
        let (xs, ys) = (xs ?? 0...0, ys ?? 0...0)
        return (xs.lowerBound - margin, ys.lowerBound - margin, xs.count - 1 + 2 * margin, ys.count - 1 + 2 * margin)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) { append(contentsOf: text.utf8) }

    /// An attribute whose value is a length in 1/100 px.
    fileprivate mutating func append(_ name: String, _ hundredths: Int) {
        append("\(name)=\"")
        append(hundredths: hundredths)
        append("\"")
    }

    fileprivate mutating func append(_ box: (x: Int, y: Int, width: Int, height: Int)) {
        append(" x", box.x)
        append(" y", box.y)
        append(" width", box.width)
        append(" height", box.height)
    }

    fileprivate mutating func append(numbers: Int...) {
        for (place, number) in numbers.enumerated() {
            if place > 0 { append(" ") }
            append(hundredths: number)
        }
    }

    /// `#RRGGBB`; its opacity is an attribute of its own, which not every renderer takes from a colour.
    fileprivate mutating func append(color: BoardColor) { append(String(color.description.prefix(7))) }

    /// Ends the attribute before it.
    fileprivate mutating func append(opacity color: BoardColor, name: String) {
        append("\"")
        let alpha = Int(color.rgba & 0xFF)
        guard alpha < 255 else { return }
        append(" \(name)=\"")
        append(hundredths: (alpha * 100 + 127) / 255)
        append("\"")
    }

    /// What XML takes for itself as references; what no XML document may hold as U+FFFD.
    fileprivate mutating func append(escaped text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": append("&amp;")
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "\r": append("&#13;")
            case "\t", "\n": append(String(scalar))
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: append("\u{FFFD}")
            default: append(String(scalar))
            }
        }
    }
}
