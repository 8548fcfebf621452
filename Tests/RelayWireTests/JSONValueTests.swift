import RelayWire
import Testing

@Suite("JSON as a tree")
struct JSONValueTests {
    private var rules: JSONRules {
        var rules = JSONRules()
        rules.root = .array
        rules.fractions = true
        rules.anyKeys = true
        return rules
    }

    @Test("what is written is read again: every kind of value, numbers to the last digit, texts of any length")
    func again() throws {
        let value: JSONValue = [
            true, false, .null, .integer(-(1 << 53) + 1), .integer((1 << 53) - 1), 0, "\"\\/\u{0}\u{1F}\u{7F}é😀",
            .number(0.1), .number(.leastNonzeroMagnitude), .number(.greatestFiniteMagnitude), .number(1e21),
            .string(String(repeating: "a", count: 5_000)),
            [], [:], ["z": 1, "a": ["Ж": [[]]]],
        ]
        #expect(try JSONValue(reading: value.bytes, rules) == value)
    }

    @Test("members that are null are left out, elements are not; what is no number is null")
    func null() {
        let value: JSONValue = [["a": .null, "b": 1], ["c": .null], .null, .number(.nan), .number(-.infinity), .number(2.5)]
        #expect(String(decoding: value.bytes, as: UTF8.self) == #"[{"b":1},{},null,null,null,2.5]"#)
    }
}
