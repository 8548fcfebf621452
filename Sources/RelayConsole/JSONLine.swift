import RelayWire

/// JSON to be printed: one line, fields in the order given, everything invisible escaped, so that it is safe on a
/// terminal, too.
extension JSONValue {
    package static func optional(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
    package static func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    package static func texts(_ values: [String: String]) -> JSONValue {
        .object(values.keys.sorted().map { JSONMember(key: $0, value: .string(values[$0]!)) })
    }

    /// An object's text has no fields that are `null`.
    package var line: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? String(value) : "null"
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            var isFirst = true
            for field in fields where field.value != .null {
                if !isFirst { text += "," }
                isFirst = false
                Self.write(field.key, to: &text)
                text += ":"
                field.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x7F && scalar.value >= 0x20: text.unicodeScalars.append(scalar)
            case _ where Printable.isHidden(scalar): for unit in String(scalar).utf16 { text += escape(unit) }
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
