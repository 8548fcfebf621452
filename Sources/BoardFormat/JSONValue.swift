/// A JSON value as the board format and the recordings use it.
enum JSONValue: Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    /// Only where the reader was told to take fractions.
    case fraction(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Any number.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .fraction(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }
}

/// The fields of an object. Few, so a list is quicker to search than a table is to build.
struct JSONObject: Equatable {
    // A type and not a tuple: with one the compiler (6.3) ends in a "circular reference" when it builds only some files.
    struct Field: Equatable {
        var key: String
        var value: JSONValue
    }

    var fields: [Field] = []

    /// Keys are compared as bytes: `String ==` merges what looks alike.
    private subscript(bytesOf key: String) -> JSONValue? {
        fields.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    /// The value of a field; `null` means the same as absence.
    func optional(_ key: String) -> JSONValue? {
        guard let value = self[bytesOf: key], value != .null else { return nil }
        return value
    }

    func value(_ key: String) throws(BoardError) -> JSONValue {
        guard let value = optional(key) else { throw .missingField(key) }
        return value
    }

    func integer(_ key: String, in range: ClosedRange<Int>) throws(BoardError) -> Int {
        guard case .integer(let value) = try value(key) else { throw .wrongType(field: key, expected: "an integer") }
        guard range.contains(value) else { throw .outOfRange(field: key, limit: range, actual: value) }
        return value
    }

    func optionalInteger(_ key: String, in range: ClosedRange<Int>) throws(BoardError) -> Int? {
        optional(key) == nil ? nil : try integer(key, in: range)
    }

    func string(_ key: String) throws(BoardError) -> String {
        guard case .string(let value) = try value(key) else { throw .wrongType(field: key, expected: "a string") }
        return value
    }

    /// A string whose UTF-8 has a length within `range`.
    func string(_ key: String, bytes range: ClosedRange<Int>) throws(BoardError) -> String {
        let value = try string(key)
        let count = value.utf8.count
        guard range.contains(count) else { throw .outOfRange(field: key, limit: range, actual: count) }
        return value
    }

    func array(_ key: String) throws(BoardError) -> [JSONValue] {
        guard case .array(let values) = try value(key) else { throw .wrongType(field: key, expected: "an array") }
        return values
    }

    func integers(_ key: String) throws(BoardError) -> [Int] {
        let values = try array(key)
        var integers: [Int] = []
        integers.reserveCapacity(values.count)
        for value in values {
            guard case .integer(let integer) = value else {
                throw .wrongType(field: key, expected: "an array of integers")
            }
            integers.append(integer)
        }
        return integers
    }
}
