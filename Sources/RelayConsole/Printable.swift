import RelayWire

/// Makes what others wrote safe to show: nothing that a terminal obeys, that turns the line around, or that cannot be seen.
package enum Printable {
    /// One line: control, bidirectional, zero-width and other invisible characters as escapes (`\n`, `\u{202E}`), a
    /// backslash doubled, so that what is shown can be told from what was written.
    package static func escaped(_ text: some StringProtocol) -> String {
        // A relay's log has a line for each that comes in, all of it ASCII but for names.
        if isPlain(text) { return String(text) }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": shown.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": shown.append(contentsOf: "\\n".unicodeScalars)
            case "\r": shown.append(contentsOf: "\\r".unicodeScalars)
            case "\t": shown.append(contentsOf: "\\t".unicodeScalars)
            case _ where scalar.isHidden:
                shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Whether all of it is visible ASCII, without a backslash.
    private static func isPlain(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            for byte in bytes where byte < 0x20 || byte > 0x7E || byte == 0x5C { return false }
            return true
        } ?? false
    }

    /// For messages of this program that repeat what they were given.
    package static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// `734 B`, `1.2 kB`.
    package static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_000: return "\(bytes) B"
        case ..<1_000_000: return fixed(Double(bytes) / 1_000) + " kB"
        case ..<1_000_000_000: return fixed(Double(bytes) / 1_000_000) + " MB"
        default: return fixed(Double(bytes) / 1_000_000_000) + " GB"
        }
    }

    /// One digit after the point.
    package static func fixed(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// `0:07`, `12:40`, `1:02:03`.
    package static func clock(_ duration: Duration) -> String {
        let seconds = max(0, Int(duration.components.seconds))
        func two(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
        let tail = two(seconds % 60)
        return seconds < 3_600 ? "\(seconds / 60):\(tail)" : "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(tail)"
    }

    /// `0.4 ms`, `1.2 s`, `12:40`.
    package static func time(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds < 1_000 { return fixed(milliseconds) + " ms" }
        return milliseconds < 60_000 ? fixed(milliseconds / 1_000) + " s" : clock(duration)
    }

    /// A time as options take it: `365d`, `2h`, `90m`, `5s`, `1500ms`.
    package static func span(_ duration: Duration) -> String {
        let milliseconds = Int((duration / .milliseconds(1)).rounded())
        let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        guard milliseconds != 0, let unit = units.first(where: { milliseconds.isMultiple(of: $0.1) }) else { return "\(milliseconds)ms" }
        return "\(milliseconds / unit.1)\(unit.0)"
    }

    /// `1 record`, `8,192 records`.
    package static func count(_ value: some BinaryInteger, _ noun: String) -> String { "\(count(value)) \(noun)\(value == 1 ? "" : "s")" }

    /// `8,192`.
    package static func count(_ value: some BinaryInteger) -> String {
        var shown = ""
        for (index, digit) in String(value).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3), digit != "-" { shown.append(",") }
            shown.append(digit)
        }
        return String(shown.reversed())
    }
}
