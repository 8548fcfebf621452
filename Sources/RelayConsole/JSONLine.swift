import RelayWire

/// JSON to be printed: one line, fields in the order given, everything invisible escaped, so that it is safe on a
/// terminal, too.
extension JSONValue {
    package static func optional(_ value: Int?) -> JSONValue { value.map { .integer($0) } ?? .null }
    package static func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    package static func texts(_ values: [String: String]) -> JSONValue {
        .object(values.keys.sorted().map { JSONMember(key: $0, value: .string(values[$0]!)) })
    }

    package var line: String { shown(bytes) }
}

extension JSONObject {
    package var line: String { shown(JSONBody.encode(self)) }
}

/// The same JSON with nothing in it that a terminal obeys. What is invisible stands in texts: an escape says the same.
package func shown(_ json: [UInt8]) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
        if scalar.value < 0x7F || !scalar.isHidden {
            shown.append(scalar)
        } else {
            for unit in String(scalar).utf16 { shown.append(contentsOf: escape(unit).unicodeScalars) }
        }
    }
    return String(shown)
}

private func escape(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
}
