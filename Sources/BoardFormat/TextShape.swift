/// How words stand on the board, as far as that can be said without a font.
enum TextShape {
    /// As they are drawn: parted by U+000A, and wrapped.
    static func lines(_ text: BoardText) -> [String] {
        // By bytes: `split` by Character would not part CR LF, nor a line feed before a combining mark.
        let lines = Array(text.text.utf8).split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard let width = text.width else { return lines }
        return lines.flatMap { wrapped(Array($0.unicodeScalars), width: width, fontSize: fontSize(text)) }
    }

    /// Letters take five sixths of a line's height.
    static func fontSize(_ text: BoardText) -> Int { text.size * 5 / 6 }

    /// Where the letters of a line stand, counted from 0.
    static func baseline(_ text: BoardText, line: Int) -> Int { text.y + line * text.size + text.size * 4 / 5 }

    /// Of the longest of these lines.
    static func width(_ text: BoardText, _ lines: [String]) -> Int {
        fontSize(text) * (lines.map { hundredths($0.unicodeScalars) }.max() ?? 0) / 100
    }

    /// The sticky note under so many lines.
    static func paper(_ text: BoardText, lines: Int) -> (x: Int, y: Int, width: Int, height: Int)? {
        guard text.paper != nil, let width = text.width else { return nil }
        let padding = text.size / 2
        return (text.x - padding, text.y - padding, width + 2 * padding, max(lines, 4) * text.size + 2 * padding)
    }

    // MARK: - Wrapping

    /// Lines that are at most `width` wide. Spaces at a break are in none.
    private static func wrapped(_ line: [Unicode.Scalar], width: Int, fontSize: Int) -> [String] {
        var lines: [String] = []
        // The line under way, and how wide it is.
        var (start, end, taken) = (0, 0, 0)
        func fits(_ hundredths: Int) -> Bool { fontSize * hundredths / 100 <= width }
        while let word = line[end...].firstIndex(where: { $0 != " " }) {
            let next = line[word...].firstIndex(of: " ") ?? line.count
            let more = hundredths(line[end..<next])
            if fits(taken + more) {
                (end, taken) = (next, taken + more)
            } else if word > start {
                lines.append(text(line[start..<end]))
                (start, end, taken) = (word, word, 0)
            } else {
                // The word is alone, and too wide.
                while end < next {
                    let piece = line[end..<nextBreak(line[end..<next])]
                    if end > start, !fits(taken + hundredths(piece)) {
                        lines.append(text(line[start..<end]))
                        (start, taken) = (end, 0)
                    }
                    (end, taken) = (piece.endIndex, taken + hundredths(piece))
                }
            }
        }
        return lines + [text(line[start...])]
    }

    /// Where a word may break next: not before what joins the letter before it, nor behind the joiner U+200D.
    private static func nextBreak(_ word: ArraySlice<Unicode.Scalar>) -> Int {
        word.indices.dropFirst().first { place in
            switch word[place].value {
            case 0x300...0x36F, 0x200D, 0xFE00...0xFE0F, 0x1F3FB...0x1F3FF: false
            default: word[place - 1].value != 0x200D
            }
        } ?? word.endIndex
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// Of the letters' height. Wide enough for most words: nobody can measure without the font that will be used.
    private static func hundredths(_ scalars: some Sequence<Unicode.Scalar>) -> Int {
        scalars.reduce(0) { $0 + ($1.value >= 0x1100 ? 100 : 62) }
    }
}
