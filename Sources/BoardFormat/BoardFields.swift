import RelayWire

/// The fields of one JSON object of the format.
///
/// Few, so a list is quicker to search than a table is to build.
struct BoardFields {
    let members: [JSONMember]

    /// - Parameter fractions: whether numbers may have fractions: those of recordings have, those of the board format have not.
    /// - Throws: `badJSON`.
    init(reading bytes: [UInt8], fractions: Bool = false) throws(BoardError) {
        guard case .object(let members) = try JSONValue(ofBoard: bytes, .object, fractions: fractions) else {
            throw .badJSON("one object is expected")
        }
        self.members = members
    }

    init(_ members: [JSONMember]) { self.members = members }

    /// Keys are compared as bytes: `String ==` merges what looks alike.
    private subscript(bytesOf key: String) -> JSONValue? {
        members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
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

// MARK: - Fields that several kinds of messages have

extension BoardFields {
    func color(_ key: String = "color") throws(BoardError) -> BoardColor {
        guard let color = BoardColor(try string(key)) else { throw .badValue(field: key, problem: "#RRGGBBAA is expected") }
        return color
    }

    func isLocked() throws(BoardError) -> Bool {
        switch optional("locked") {
        case nil: return false
        case .bool(let value)?: return value
        default: throw .wrongType(field: "locked", expected: "true or false")
        }
    }

    /// `nil` also for a shape that this library does not know: what has it is drawn as its points.
    func shape() throws(BoardError) -> StrokeShape? {
        optional("shape") == nil ? nil : StrokeShape(rawValue: try string("shape"))
    }

    /// - Throws: `unsupportedVersion` for one that is newer than this library.
    func checkVersion() throws(BoardError) {
        let version = try integer("v", in: 1...BoardLimits.integerMax)
        guard version <= BoardLimits.version else {
            throw .unsupportedVersion(limit: BoardLimits.version, actual: version)
        }
    }
}

extension JSONText {
    /// What is not locked has no such field.
    mutating func lock(_ isLocked: Bool) {
        if isLocked { member("locked", json: Array("true".utf8)) }
    }
}

extension JSONValue {
    /// - Throws: `badJSON`.
    init(ofBoard bytes: [UInt8], _ root: JSONRules.Root, fractions: Bool) throws(BoardError) {
        var rules = JSONRules()
        rules.root = root
        rules.bytesMax = .max
        rules.depthMax = BoardLimits.depthMax
        rules.anyKeys = true
        rules.fractions = fractions
        do {
            try self.init(reading: bytes, rules)
        } catch {
            throw .badJSON(error.text)
        }
    }

    /// Any number.
    var anyNumber: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
