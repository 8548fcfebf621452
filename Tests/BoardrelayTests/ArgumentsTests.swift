import RelayCore
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("reading a command line")
struct ArgumentsTests {
    enum Fruit: String, CaseIterable { case apple, pear }

    static let command = Command(
        name: "test", summary: "tests", arguments: [.init(name: "CHANNEL", help: "where")],
        options: [
            .flag("--json", help: "as JSON"), .value("-n", "--count", as: "COUNT", help: "how many"),
            .value("--timeout", as: "TIME", help: "how long"), .list("--topic", as: "T", help: "which"),
            .value("-m", "--message", as: "TEXT", help: "what"), .value("--fruit", as: "F", help: "which"),
        ],
        run: { _ in .ok })

    func parse(_ words: String...) throws(UsageError) -> Arguments { try Arguments(words, for: Self.command) }

    func problem(_ words: String...) -> String? {
        do throws(UsageError) {
            let arguments = try Arguments(words, for: Self.command)
            _ = try arguments.integer("-n", in: 1...10)
            _ = try arguments.duration("--timeout")
            _ = try arguments.choice("--fruit", of: Fruit.self)
            try arguments.exclude("--json", "-m")
            return nil
        } catch {
            return error.description
        }
    }

    @Test("options stand in any order and place, with their value after them or after an equals sign")
    func forms() throws {
        for words in [
            ["lesson", "--json", "-n", "5", "--topic", "a", "--topic", "b"],
            ["--topic=a", "--json", "lesson", "-n5", "--topic=b"],
            ["--topic=a", "-n=5", "--topic", "b", "lesson", "--json"],
            ["--count=5", "--topic=a", "--topic=b", "--json", "--", "lesson"],
        ] {
            let arguments = try Arguments(words, for: Self.command)
            #expect(arguments.positional == ["lesson"])
            #expect(arguments.flag("--json"))
            #expect(try arguments.integer("-n", in: 1...10) == 5)
            #expect(arguments.values("--topic") == ["a", "b"])
            #expect(arguments.value("--message") == nil)
        }
    }

    @Test("a value may begin with a dash, be empty or hold an equals sign; a dash alone is an argument")
    func values() throws {
        #expect(try parse("c", "-m", "-x").value("-m") == "-x")
        #expect(try parse("c", "-m", "--json").flag("--json") == false)
        #expect(try parse("c", "--message=").value("-m") == "")
        #expect(try parse("c", "--message=a=b").value("-m") == "a=b")
        #expect(try parse("-").positional == ["-"])
        #expect(try parse("--", "--json").positional == ["--json"])
    }

    @Test("what is wrong is named")
    func problems() {
        #expect(problem() == "CHANNEL is missing: where")
        #expect(problem("a", "b\u{1B}") == #"unexpected argument "b\u{1B}""#)
        #expect(problem("a", "--jsn") == "unknown option --jsn, did you mean --json?")
        #expect(problem("a", "--nothing-like-it") == "unknown option --nothing-like-it")
        #expect(problem("a", "-x") == "unknown option -x")
        #expect(problem("a", "-n") == "option -n wants a value: -n COUNT")
        #expect(problem("a", "--json=yes") == "option --json takes no value")
        #expect(problem("a", "-n", "1", "--count", "2") == "option --count stands twice")
        #expect(problem("a", "-n", "11") == #"option -n wants a whole number within 1…10, not "11""#)
        #expect(problem("a", "-n", "x") == #"option -n wants a whole number within 1…10, not "x""#)
        #expect(problem("a", "--timeout", "10") == #"option --timeout wants a time such as 10s, 500ms or 1m, not "10""#)
        #expect(problem("a", "--fruit", "plum") == #"option --fruit wants one of apple, pear, not "plum""#)
        #expect(problem("a", "--json", "-m", "x") == "options --json and -m exclude each other")
        #expect(problem("a") == nil)
    }

    @Test("help is given whatever else is missing")
    func help() throws {
        #expect(try parse("--help").wantsHelp)
        #expect(try parse("-h").wantsHelp)
    }

    @Test(
        "times have a unit",
        arguments: [
            ("10s", Duration.seconds(10)), ("500ms", .milliseconds(500)), ("1m", .seconds(60)), ("1.5s", .milliseconds(1_500)),
            ("2h", .seconds(7_200)), ("0s", .zero), ("90d", .seconds(7_776_000)),
        ] as [(String, Duration)])
    func durations(text: String, duration: Duration) { #expect(Duration(text: text) == duration) }

    @Test(
        "what is no time is refused",
        arguments: ["", "s", "10", "-1s", "1 s", "1e3s", "infs", "nans", "٣s", "1..5s", "1001d", "9999999999999999999999m"])
    func noDurations(text: String) { #expect(Duration(text: text) == nil) }

    @Test(
        "sizes are bytes, or have a unit of tens or of twos",
        arguments: [
            ("0", 0), ("1000", 1_000), ("64MB", 64_000_000), ("1.5GB", 1_500_000_000), ("256MiB", 268_435_456), ("4GiB", 4_294_967_296),
            ("1kB", 1_000), ("1KiB", 1_024),
        ])
    func sizes(text: String, bytes: Int) { #expect(byteCount(text) == bytes) }

    @Test(
        "what is no size is refused",
        arguments: ["", "MB", "1.5", "-1", "1 MB", "1mb", "1TB", "1e3", "٣", "1..5MB", "1000001GB", "99999999999999999999"])
    func noSizes(text: String) { #expect(byteCount(text) == nil) }

    @Test("[BL7] serve's options set the bounds of boards, and leave what is not given")
    func boardBounds() throws {
        func bounds(_ words: String...) throws -> Configuration {
            var hub = Configuration()
            try ServeSettings.setBounds(of: &hub, Arguments(words, for: .serve))
            return hub
        }
        #expect("\(try bounds())" == "\(Configuration())", "in every property")
        let set = try bounds("--max-board-bytes", "1MiB", "--max-boards-bytes=2GB", "--expire-boards", "90d")
        #expect(set.boardBytesMax == 1_048_576 && set.boardBytesTotalMax == 2_000_000_000 && set.boardExpiry == .seconds(7_776_000))
        #expect(try bounds("--max-boards-bytes", "0").boardBytesTotalMax == 0)
    }

    @Test("help fits a terminal of 80 columns and shows every option and example")
    func helpText() {
        let text = Help.text(for: Self.command)
        #expect(text.hasPrefix("boardrelay test: tests\n\nUsage: boardrelay test CHANNEL [options]\n"))
        for option in Self.command.allOptions { #expect(text.contains(option.names.joined(separator: ", "))) }
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(Help.wrap("aaa bb c dddd", width: 6) == ["aaa bb", "c dddd"])
    }
}
