import RelayWire

/// A board as existing whiteboard apps save it in a channel's metadata: one JSON array of all its strokes, which each
/// save writes anew as a whole. `docs/board-format.md` has the form.
///
/// What others put into the array stays byte for byte as it was, whether this module understands it or not.
package struct SavedBoard: Equatable, Sendable {
    /// The array, UTF-8; its last byte is the closing bracket.
    package private(set) var json: [UInt8]
    /// How many elements it has.
    package private(set) var count: Int
    /// As bytes: `String ==` merges what looks alike.
    private var ids: Set<[UInt8]>

    /// One without strokes.
    package init() {
        json = Array("[]".utf8)
        count = 0
        ids = []
    }

    /// One that somebody saved.
    ///
    /// - Throws: `badJSON` for anything but an array; what its elements are does not matter.
    package init(json bytes: [UInt8]) throws(BoardError) {
        guard case .array(let elements) = try JSONValue(ofBoard: bytes, .array, fractions: true) else {
            throw .badJSON("one array is expected")
        }
        json = bytes
        while json.last != UInt8(ascii: "]") { json.removeLast() }
        count = elements.count
        ids = []
        for case .object(let object) in elements {
            if case .string(let id)? = BoardFields(object).optional("id") { ids.insert(Array(id.utf8)) }
        }
    }

    package func contains(_ id: ElementID) -> Bool { ids.contains(Array(id.text.utf8)) }

    package mutating func append(_ stroke: SavedStroke) {
        json.removeLast()
        if count > 0 { json.append(UInt8(ascii: ",")) }
        json.append(contentsOf: stroke.json)
        json.append(UInt8(ascii: "]"))
        count += 1
        ids.insert(Array(stroke.id.text.utf8))
    }
}

/// A stroke as existing whiteboard apps save it: places in px, and neither layer nor pressure nor time.
package struct SavedStroke: Equatable, Sendable {
    package let id: ElementID
    /// One object, UTF-8.
    package let json: [UInt8]

    package init(_ stroke: Stroke) {
        id = stroke.id
        var points: [UInt8] = [UInt8(ascii: "[")]
        for (index, point) in stroke.points.enumerated() {
            points.append(contentsOf: index == 0 ? "[".utf8 : ",[".utf8)
            points.append(hundredths: Int(point.x))
            points.append(UInt8(ascii: ","))
            points.append(hundredths: Int(point.y))
            points.append(UInt8(ascii: "]"))
        }
        points.append(UInt8(ascii: "]"))
        var width: [UInt8] = []
        width.append(hundredths: stroke.width)
        json = JSONText.object { json in
            json.member("color", stroke.color.description)
            json.member("id", stroke.id.text)
            json.member("lineWidth", json: width)
            json.member("points", json: points)
        }
    }
}

extension [UInt8] {
    /// 1234 is `12.34`, −50 is `-0.5`, 300 is `3`: what `JSON.stringify` gives for the number.
    mutating func append(hundredths value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 100)
        append(contentsOf: String(whole).utf8)
        guard rest > 0 else { return }
        append(UInt8(ascii: "."))
        append(UInt8(ascii: "0") + UInt8(rest / 10))
        if rest % 10 > 0 { append(UInt8(ascii: "0") + UInt8(rest % 10)) }
    }
}
