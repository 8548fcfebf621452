/// What is wrong with a payload that claims to be of the board format.
public enum BoardError: Error, Equatable, Sendable {
    /// More bytes than `limit`; nothing was read.
    case tooLarge(limit: Int, actual: Int)
    /// Not JSON, or JSON that the format does not use (fractions, a key twice, too deep).
    case badJSON(String)
    case missingField(String)
    /// A field that holds another kind of value.
    case wrongType(field: String, expected: String)
    /// A number, length or count outside what the format allows.
    case outOfRange(field: String, limit: ClosedRange<Int>, actual: Int)
    /// A value of the right kind that means nothing.
    case badValue(field: String, problem: String)
    /// Written by a newer program, in a way that this one cannot read.
    case unsupportedVersion(limit: Int, actual: Int)

    /// The case's name, as the vectors have it.
    public var name: String {
        switch self {
        case .tooLarge: "tooLarge"
        case .badJSON: "badJSON"
        case .missingField: "missingField"
        case .wrongType: "wrongType"
        case .outOfRange: "outOfRange"
        case .badValue: "badValue"
        case .unsupportedVersion: "unsupportedVersion"
        }
    }
}

extension BoardError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge(let limit, let actual): "at most \(limit) bytes are allowed, here are \(actual)"
        case .badJSON(let problem): problem
        case .missingField(let field): "field \(field) is missing"
        case .wrongType(let field, let expected): "field \(field) is \(expected)"
        case .outOfRange(let field, let limit, let actual):
            "field \(field) is within \(limit.lowerBound)…\(limit.upperBound), here it is \(actual)"
        case .badValue(let field, let problem): "field \(field): \(problem)"
        case .unsupportedVersion(let limit, let actual): "version \(actual) is newer than \(limit), the newest known here"
        }
    }
}
