import RelayRights
import RelayWire
import Testing

@Suite("patterns of channels") struct ChannelPatternTests {
    static let longest = String(repeating: "a", count: 64)

    @Test(
        "what matches and what does not",
        arguments: [
            ("*", ["a", "board-7", longest, "~"], []),
            ("a", ["a"], ["A", "aa", "b", "a b"]),
            ("board-*", ["board-", "board-7", "board-a b", "board--"], ["board", "Board-7", "oard-7", "xboard-7", "boar", "b"]),
            ("a b*", ["a b", "a bc", "a b c"], ["a", "a c"]),
            (longest, [longest], [String(longest.dropLast())]),
            (longest + "*", [longest], [String(longest.dropLast())]),
            ("!*", ["!", "!!"], ["\"", "a!"]),
        ])
    func matches(pattern: String, matching: [String], others: [String]) throws {
        let read = try ChannelPattern(pattern)
        #expect(read.description == pattern)
        for name in matching { #expect(read.matches(try Name(name)), "\(name)") }
        for name in others { #expect(!read.matches(try Name(name)), "\(name)") }
        #expect(read.isEveryChannel == (pattern == "*"))
    }

    @Test(
        "what is no pattern is badName",
        arguments: [
            "", "**", "a**", "*a", "a*b", "*a*", "a/b", "a/*", "a\\", "\\*", "_a", "_*", "_", " ", " *", " a", "é", "é*", "a\n", "a\n*",
            "a\u{0}",
            "\u{7F}", longest + "a", longest + "a*", "*\u{301}", "＊",
        ])
    func refused(text: String) {
        do throws(WireError) {
            let read = try ChannelPattern(text)
            Issue.record("\(text) was read as \(read)")
        } catch {
            #expect(error.code == .badName)
        }
    }
}
