/// Scripts and styles as the whiteboard loads them: what is for people who read them is left out.
///
/// A line that begins with `//`, lines of a block `/* … */` that begins and ends on lines of its own, empty lines, and the
/// blanks at the beginning of each line. The files of this folder keep to what makes that right: no text within quotes goes
/// over several lines, and no comment begins a line that something else ends.
enum SourceText {
    static func withoutComments(_ source: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(source.count)
        var isComment = false
        for line in source.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if text.starts(with: "/*".utf8) { isComment = true }
            let ends = text.count >= 2 && text.suffix(2).elementsEqual("*/".utf8)
            if !isComment, !text.isEmpty, !text.starts(with: "//".utf8) { kept += text + [UInt8(ascii: "\n")] }
            if isComment, ends { isComment = false }
        }
        return kept
    }

    /// Without the lines from one that begins with `// #region` up to the next that begins with `// #endregion`: what the
    /// whiteboard does not use of the client, which others import whole. Regions are not nested.
    static func withoutRegions(_ source: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(source.count)
        var isRegion = false
        for line in source.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if text.starts(with: "// #region".utf8) { isRegion = true }
            if !isRegion { kept += line + [UInt8(ascii: "\n")] }
            if text.starts(with: "// #endregion".utf8) { isRegion = false }
        }
        return kept
    }

    /// A script as the whiteboard loads it.
    static func script(_ source: [UInt8]) -> [UInt8] {
        let lines = withoutComments(withoutRegions(source)).split(separator: UInt8(ascii: "\n")).map(squeezed)
        var kept: [UInt8] = []
        kept.reserveCapacity(source.count)
        for (at, line) in lines.enumerated() {
            let next = at + 1 < lines.count ? lines[at + 1].first : nil
            kept += next.map { goesOn(line, $0) } == true ? line : line + [UInt8(ascii: "\n")]
        }
        return kept
    }

    /// A style as a browser loads it: all of its lines end behind a bracket, a comma or a semicolon.
    static func style(_ source: [UInt8]) -> [UInt8] {
        withoutComments(source).filter { $0 != UInt8(ascii: "\n") }
    }

    /// Whether the end of a line means nothing: behind an open bracket or a comma, and before a closing bracket, where a missing
    /// semicolon is put in without it.
    private static func goesOn(_ line: [UInt8], _ next: UInt8) -> Bool {
        guard let last = line.last, isPlain(line[...]) else { return false }
        return "([{,".utf8.contains(last) || ")]}".utf8.contains(next)
    }

    /// Whether a line has no regular expression, comment or escape, and no slash in templates that may lie in each other.
    private static func isPlain(_ line: ArraySlice<UInt8>) -> Bool {
        guard !line.contains(UInt8(ascii: "\\")) else { return false }
        guard line.contains(UInt8(ascii: "/")) else { return true }
        guard !hasManyTemplates(line) else { return false }
        var quote: UInt8?
        for byte in line {
            if quote == nil, byte == UInt8(ascii: "/") { return false }
            if quotes.contains(byte) { quote = quote == byte ? nil : quote ?? byte }
        }
        return quote == nil
    }

    private static func hasManyTemplates(_ line: ArraySlice<UInt8>) -> Bool { line.count(where: { $0 == UInt8(ascii: "`") }) > 2 }

    private static let alone = Set("()[]{},;:".utf8)
    private static let operators = Set("=<>*?&|!+-%.".utf8)
    private static let quotes = Set("'\"`".utf8)
    private static let point = UInt8(ascii: ".")
    private static let blank = UInt8(ascii: " ")

    /// A line of a script without blanks that mean nothing: outside quotes, beside a bracket, a separator or an operator, unless
    /// an operator stands on both sides.
    ///
    /// So no two tokens become one: brackets and separators are tokens by themselves, an operator and a name have no character
    /// in common, and a point counts only as what keeps a blank (`1 .x`, `a ? .5 : b`). A line that this could misread stays as
    /// it is: with a slash outside quotes, as of a regular expression or comment, an escape, or templates that may lie in each other.
    private static func squeezed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        guard isPlain(line), !hasManyTemplates(line) else { return Array(line) }
        var kept: [UInt8] = []
        var quote: UInt8?
        for at in line.indices {
            let byte = line[at]
            if quote != nil || quotes.contains(byte) {
                quote = quote == byte ? nil : quote ?? byte
                kept.append(byte)
                continue
            }
            let before = at > line.startIndex ? line[at - 1] : blank
            let after = at + 1 < line.endIndex ? line[at + 1] : blank
            if byte != blank || before == blank || after == blank || (operators.contains(before) && operators.contains(after)) {
                kept.append(byte)
            } else if ![before, after].contains(where: { $0 != point && (alone.contains($0) || operators.contains($0)) }) {
                kept.append(byte)
            }
        }
        return kept
    }
}
