/// JSON as a tree: what is read without a type of its own, and what commands print.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    /// A number that is no integer within ±(2⁵³−1); only where the rules take fractions.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// In the order in which the members stand.
    case object([JSONMember])

    /// - Throws: `tooLarge`, `badText`, `badRequest` or `badName`, as `JSONScanner` does.
    package init(reading bytes: [UInt8], _ rules: JSONRules) throws(WireError) {
        // Typed throws do not pass through `withUnsafeBytes`.
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(WireError) in
                var place = 0
                return JSONValue(try JSONScanner.tokens(of: bytes, rules), &place)
            }
        }
        self = try result.get()
    }

    /// - Parameter place: of its token; behind it and all that belongs to it afterwards.
    private init(_ tokens: JSONTokens, _ place: inout Int) {
        let token = tokens[place]
        let start = place
        place += 1
        switch token.kind {
        case .null: self = .null
        case .yes: self = .bool(true)
        case .no: self = .bool(false)
        case .integer: self = .integer(Int(String(decoding: tokens.raw(start), as: UTF8.self))!)
        case .fraction: self = .number(Double(String(decoding: tokens.raw(start), as: UTF8.self))!)
        case .text, .escapedText: self = .string(tokens.string(start))
        case .array:
            var elements: [JSONValue] = []
            while place < Int(token.next) { elements.append(JSONValue(tokens, &place)) }
            self = .array(elements)
        case .object:
            var members: [JSONMember] = []
            while place < Int(token.next) {
                let key = tokens.string(place)
                place += 1
                members.append(JSONMember(key: key, value: JSONValue(tokens, &place)))
            }
            self = .object(members)
        }
    }

    /// Its text, in which objects have no members that are `null`.
    package var bytes: [UInt8] { JSONText.bytes(write) }

    private func write(to text: inout JSONText) {
        switch self {
        case .null: text.value(json: Array("null".utf8))
        case .bool(let value): text.value(value)
        case .integer(let value): text.value(isNegative: value < 0, UInt64(value.magnitude))
        case .number(let value): text.value(json: Array((value.isFinite ? "\(value)" : "null").utf8))
        case .string(let value): text.value(value)
        case .array(let values):
            text.beginArray()
            for value in values { value.write(to: &text) }
            text.endArray()
        case .object(let members):
            text.beginObject()
            for member in members where member.value != .null {
                text.key(member.key)
                member.value.write(to: &text)
            }
            text.endObject()
        }
    }
}

/// A key and its value.
package struct JSONMember: Sendable, Equatable {
    package var key: String
    package var value: JSONValue

    package init(key: String, value: JSONValue) {
        self.key = key
        self.value = value
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember(key: $0, value: $1) })
    }
}
