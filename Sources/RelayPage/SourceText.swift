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
}
