import Foundation
import RelayPrimitives
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@testable import BoardFormat

@Suite("a board as SVG")
struct BoardSVGTests {
    static func record(_ message: BoardMessage, key: String) throws -> WhiteboardRecord {
        WhiteboardRecord(key: key, customType: message.customType, payload: .text(text(try message.encoded())))
    }

    static func stroke(
        _ id: String, z: Int = 1, color: UInt32 = 0x1B1B_1BFF, width: Int = 300, columns: PointColumns = [], _ points: [BoardPoint]
    ) throws -> WhiteboardRecord {
        try Stroke(id: ElementID(id), z: z, color: BoardColor(rgba: color), width: width, columns: columns, points: points).record()
    }

    static func picture(_ records: WhiteboardRecord...) -> WhiteboardPicture {
        var picture = WhiteboardPicture()
        for record in records { picture.add(record) }
        return picture
    }

    /// The document as its reader sees it.
    static func parse(_ svg: [UInt8]) throws -> Elements {
        let elements = Elements()
        let parser = XMLParser(data: Data(svg))
        parser.delegate = elements
        guard parser.parse() else {
            throw NotXML(problem: "\(String(describing: parser.parserError)), line \(parser.lineNumber): \(text(svg))")
        }
        return elements
    }

    struct NotXML: Error { var problem: String }

    final class Elements: NSObject, XMLParserDelegate {
        private var open: [Int] = []
        var list: [(name: String, attributes: [String: String], text: String)] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
        ) {
            open.append(list.count)
            list.append((name, attributes, ""))
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) { open.removeLast() }

        func parser(_ parser: XMLParser, foundCharacters text: String) { list[open.last!].text += text }

        func named(_ name: String) -> [(name: String, attributes: [String: String], text: String)] { list.filter { $0.name == name } }
    }

    @Test("a line, a dot, a text and the title, in an exact document")
    func document() throws {
        let picture = Self.picture(
            try Self.record(.title("Ink & <more>"), key: "title"),
            try Self.stroke("a", [BoardPoint(x: 1_000, y: 2_000), BoardPoint(x: 1_050, y: 1_999), BoardPoint(x: 900, y: 1_999)]),
            try Self.stroke("b", z: 2, color: 0xFF00_0080, width: 401, [BoardPoint(x: 0, y: -5)]),
            try Self.record(.text(BoardText(id: ElementID("t"), z: 3, x: 0, y: 0, size: 1_200, text: "a<b\n\n\u{1}&\"é")), key: "t"))
        #expect(
            text(BoardSVG.document(picture)) == """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12.05 46.8 58.05">
                <title>Ink &amp; &lt;more&gt;</title>
                <rect x="-12" y="-12.05" width="46.8" height="58.05" fill="#FFFFFF"/>
                <g fill="none" stroke-linecap="round" stroke-linejoin="round">
                <g stroke="#1B1B1B">
                <path stroke-width="3" d="M10 20l0.5 -0.01 -1.5 0"/>
                </g>
                <g stroke="#FF0000" opacity="0.5">
                <circle fill="#FF0000" stroke="none" cx="0" cy="-0.05" r="2"/>
                </g>
                <text xml:space="preserve" font-family="sans-serif" font-size="10" fill="#000000"><tspan x="0" y="9.6">a&lt;b</tspan><tspan x="0" y="33.6">\u{FFFD}&amp;"é</tspan></text>
                </g>
                </svg>

                """)
    }

    @Test("a note that wraps, a protected text and an image, in an exact document")
    func notes() throws {
        let note = BoardText(
            id: try ElementID("n"), z: 1, x: 1_000, y: 2_000, size: 1_200, text: "one two\nthree", width: 3_000,
            paper: BoardColor(rgba: 0xFFF3_A380))
        var image = try BoardImageTests.image()
        image.description = "Ink & <water>"
        let picture = Self.picture(
            try image.record(), try note.record(),
            try BoardText(id: ElementID("t"), z: 2, x: 0, y: 0, size: 1_200, text: "a b", width: 100, isLocked: true).record())
        #expect((picture.texts, picture.images, picture.strokes) == (2, 1, 0))
        #expect(
            text(BoardSVG.document(picture)) == """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 120 94">
                <rect x="-10" y="-10" width="120" height="94" fill="#FFFFFF"/>
                <g fill="none" stroke-linecap="round" stroke-linejoin="round">
                <rect x="4" y="14" width="42" height="60" fill="#FFF3A3" fill-opacity="0.5"/>
                <text xml:space="preserve" font-family="sans-serif" font-size="10" fill="#000000"><tspan x="10" y="29.6">one</tspan><tspan x="10" y="41.6">two</tspan><tspan x="10" y="53.6">thre</tspan><tspan x="10" y="65.6">e</tspan></text>
                <text xml:space="preserve" font-family="sans-serif" font-size="10" fill="#000000"><tspan x="0" y="9.6">a</tspan><tspan x="0" y="21.6">b</tspan></text>
                <image x="0" y="0" width="100" height="50" preserveAspectRatio="none" href="data:image/png;base64,\(text(Base64.encode(image.data)))"><title>Ink &amp; &lt;water&gt;</title></image>
                </g>
                </svg>

                """)
    }

    @Test("a note grows with its lines, and is never lower than four")
    func noteHeight() throws {
        func height(_ words: String) throws -> String? {
            let note = BoardText(id: try ElementID("n"), z: 1, x: 0, y: 0, size: 1_000, text: words, width: 5_000, paper: .black)
            return try Self.parse(BoardSVG.document(Self.picture(try note.record()))).named("rect")[1].attributes["height"]
        }
        let words = [" ", "a\nb\nc\nd", "a\nb\nc\nd\ne", "aaaaaaaaa aaaaaaaaa a b c aaaaaaaaa aaaaaaaaa"]
        #expect(try words.map(height) == ["50", "50", "60", "60"])
    }

    /// A letter of these is 6.2 or 10 px wide.
    @Test(
        "words wrap as the page says",
        arguments: [
            ("", 6_200, [""]), ("a", 100, ["a"]), ("ab cd", 3_100, ["ab cd"]), ("ab cd", 3_099, ["ab", "cd"]),
            ("ab   cd", 3_000, ["ab", "cd"]), ("ab cd  ", 3_100, ["ab cd  "]), ("ab\n\ncd", 3_100, ["ab", "", "cd"]),
            ("  ab", 2_480, ["  ab"]), ("  ab", 2_479, ["", "ab"]), ("   ", 100, ["   "]),
            ("a bcdefgh i", 3_100, ["a", "bcdef", "gh i"]), ("abcdefgh", 620, ["a", "b", "c", "d", "e", "f", "g", "h"]),
            ("ab\u{A0}cd", 2_480, ["ab\u{A0}c", "d"]), ("ab-cd", 1_860, ["ab-", "cd"]),
            ("e\u{301}e\u{301}e\u{301}", 2_480, ["e\u{301}e\u{301}", "e\u{301}"]), ("e\u{301}e\u{301}", 100, ["e\u{301}", "e\u{301}"]),
            ("\u{301}a", 100, ["\u{301}", "a"]), ("日本語", 2_000, ["日本", "語"]),
            ("👩\u{200D}🚀👩🏽", 2_620, ["👩\u{200D}🚀", "👩🏽"]), ("☀\u{FE0F}☀", 1_000, ["☀\u{FE0F}", "☀"]),
        ])
    func wraps(words: String, width: Int, lines: [String]) throws {
        let text = BoardText(id: try ElementID("n"), z: 1, x: 0, y: 0, size: 1_200, text: words.isEmpty ? " " : words, width: width)
        #expect(TextShape.lines(text).map { Array($0.utf8) } == (words.isEmpty ? [" "] : lines).map { Array($0.utf8) })
    }

    @Test("whatever words wrap, no letter is lost, and no line is wider unless it is one letter")
    func wrapsAnything() throws {
        var dice = SplitMix64(seed: 5)
        for _ in 0..<500 {
            let letters = ["a", "b", " ", " ", "\n", "\u{301}", "日", "\u{200D}", "😀"]
            let words = (0..<Int.random(in: 1...60, using: &dice)).map { _ in letters.randomElement(using: &dice)! }.joined()
            let text = BoardText(
                id: try ElementID("n"), z: 1, x: 0, y: 0, size: 1_200, text: words, width: .random(in: 100...8_000, using: &dice))
            let lines = TextShape.lines(text)
            let without: (String) -> [Unicode.Scalar] = { $0.unicodeScalars.filter { $0 != " " && $0 != "\n" } }
            #expect(without(lines.joined()) == without(words))
            for line in lines where line.unicodeScalars.last != " " && TextShape.width(text, [line]) > text.width! {
                let joiners = line.unicodeScalars.count { $0 == "\u{200D}" }
                #expect(line.unicodeScalars.count { $0 != "\u{301}" } <= 1 + 2 * joiners)
            }
        }
    }

    @Test("whatever is in texts and titles, the document is XML and says the same")
    func escapes() throws {
        var dice = SplitMix64(seed: 11)
        for _ in 0..<200 {
            let words = String(
                String.UnicodeScalarView(
                    (0..<20).compactMap { _ in
                        Unicode.Scalar(UInt32.random(in: Bool.random(using: &dice) ? 1...0x7F : 0x80...0x1_F64F, using: &dice))
                    }))
            let svg = BoardSVG.document(
                Self.picture(
                    try Self.record(.title(words), key: "title"),
                    try Self.record(.text(BoardText(id: ElementID("t"), z: 3, x: 0, y: 0, size: 1_200, text: words)), key: "t")))
            let expected = String(
                String.UnicodeScalarView(
                    words.unicodeScalars.map {
                        ($0.value < 0x20 && ![9, 10, 13].contains($0.value)) || [0xFFFE, 0xFFFF].contains($0.value) ? "\u{FFFD}" : $0
                    }))
            let elements = try Self.parse(svg)
            #expect(Array(try #require(elements.named("title").first).text.utf8) == Array(expected.utf8))
            let lines = elements.named("tspan").map { Array($0.text.utf8) }
            #expect(lines == Array(expected.utf8).split(separator: 0x0A).map(Array.init))
        }
    }

    @Test("what has more z lies above, whenever it was drawn; equal ones lie in the order of their ids")
    func layers() throws {
        let dot = [BoardPoint(x: 0, y: 0)]
        let records = try [("c", 5), ("b", 5), ("a", 9), ("z", -3)].map {
            try Self.stroke($0.0, z: $0.1, color: UInt32($0.0.utf8.first!) << 24 | 0xFF, dot)
        }
        var forwards = WhiteboardPicture(), backwards = WhiteboardPicture()
        for record in records { forwards.add(record) }
        for record in records.reversed() { backwards.add(record) }
        let svg = BoardSVG.document(forwards)
        #expect(svg == BoardSVG.document(backwards), "the same picture is the same bytes")
        let colors = try Self.parse(svg).named("circle").map { $0.attributes["fill"] }
        #expect(colors == ["#7A0000", "#620000", "#630000", "#610000"])
    }

    @Test("pressure makes a line wider: half of its width without, one and a half with all of it")
    func pressure() throws {
        let points = [0, 0, 255, 255].enumerated().map { BoardPoint(x: $0 * 100, y: 0, pressure: $1) }
        let paths = try Self.parse(BoardSVG.document(Self.picture(try Self.stroke("p", width: 480, columns: .pressure, points)))).named(
            "path")
        #expect(paths.map { $0.attributes["stroke-width"] } == ["2.4", "4.8", "7.2"])
        #expect(paths.map { $0.attributes["d"] } == ["M0 0l1 0", "M1 0l1 0", "M2 0l1 0"], "each run begins where the last one ended")
        let even = try Self.parse(BoardSVG.document(Self.picture(try Self.stroke("p", width: 480, points)))).named("path")
        #expect(even.map { $0.attributes["d"] } == ["M0 0l1 0 1 0 1 0"])
    }

    @Test("a stroke in several records is all of its parts; a new part 1 takes the place of all")
    func parts() throws {
        let whole = try StrokeTests.stroke(points: 500)
        let parts = try whole.payloads(bytesMax: 2_000).enumerated().map { index, payload in
            WhiteboardRecord(key: "s1+\(index + 1)", customType: "stroke", payload: .text(text(payload)))
        }
        try #require(parts.count > 3)
        var picture = WhiteboardPicture()
        for part in parts { picture.add(part) }
        #expect(picture.strokes == 1)
        #expect(try Self.parse(BoardSVG.document(picture)).named("path").count == parts.count)
        picture.add(parts[0])
        #expect(try Self.parse(BoardSVG.document(picture)).named("path").count == 1)
        picture.add(parts[2])
        picture.add(parts[1])
        guard case .stroke(let held)? = picture.ordered.first else { throw NotXML(problem: "no stroke") }
        #expect(held.map(\.part) == [1, 2, 3])
    }

    @Test("the box holds every line with its width; an empty board has one, too")
    func bounds() throws {
        let wide = try Self.stroke("w", width: 1_000, [BoardPoint(x: -20_000, y: 0), BoardPoint(x: 30_000, y: 10_000)])
        #expect(try Self.parse(BoardSVG.document(Self.picture(wide))).list[0].attributes["viewBox"] == "-215 -15 530 130")
        #expect(try Self.parse(BoardSVG.document(WhiteboardPicture())).list[0].attributes["viewBox"] == "-10 -10 20 20")
    }

    @Test("unknown types are skipped and counted, broken records passed over and named, and steps are no records")
    func skipped() throws {
        var picture = Self.picture(
            WhiteboardRecord(key: "k", payload: .text("{}")), WhiteboardRecord(key: "p", customType: "poll", payload: .text("{}")),
            WhiteboardRecord(key: "q", customType: "poll", payload: .bytes([1])),
            try Self.record(.erase([ElementID("a")]), key: "e"), WhiteboardRecord(key: "s", customType: "stroke", payload: .text("{}")),
            WhiteboardRecord(key: "b", customType: "stroke", payload: .bytes([1])), try Self.stroke("a", [BoardPoint(x: 0, y: 0)]))
        #expect(picture.skipped == ["": 1, "poll": 2, "erase": 1, "stroke": 1])
        #expect(picture.broken.map(\.key) == ["s"] && picture.strokes == 1 && picture.texts == 0)
        picture.add(try Self.record(.title("x"), key: "title"))
        #expect(picture.title == "x")
        picture.add(try Self.record(.title(""), key: "title"))
        #expect(picture.title == nil)
    }

    @Test("every recorded drawing is a document that a parser reads", arguments: Files.allDrawings)
    func drawings(name: String) throws {
        var picture = WhiteboardPicture()
        let plan = try ReplayPlan(Files.drawings(name).boards, .init(idPrefix: "s"))
        for stroke in plan.drawing { picture.add(try stroke.record()) }
        #expect(picture.strokes == plan.strokes && picture.broken.isEmpty)
        let elements = try Self.parse(BoardSVG.document(picture))
        // One group around all, one for each stroke.
        #expect(elements.named("g").count == plan.strokes + 1)
    }
}
