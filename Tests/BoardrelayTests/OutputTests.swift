import Foundation
import RelayWire
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("what is printed")
struct OutputTests {
    @Test("nothing that a terminal obeys, that turns a line around or cannot be seen gets through")
    func escapes() {
        #expect(
            Printable.escaped("a\u{1B}[2J\u{202E}b\u{200B}c\u{FEFF}\u{85}\u{2028}\u{AD}\u{3164}")
                == #"a\u{1B}[2J\u{202E}b\u{200B}c\u{FEFF}\u{85}\u{2028}\u{AD}\u{3164}"#)
        #expect(Printable.escaped("a\nb\tc\r\\") == #"a\nb\tc\r\\"#)
        #expect(Printable.escaped("Grüße, 世界 👍🏽 ❤️ é") == "Grüße, 世界 👍🏽 ❤️ é")
    }

    @Test("every character of the first planes that is a control, format or separator is escaped in JSON and text")
    func all() {
        for value in (0...0x3FFF as ClosedRange<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                #expect(Printable.escaped(String(scalar)).hasPrefix("\\"))
                #expect(JSONValue.string(String(scalar)).line.hasPrefix("\"\\"))
            default: break
            }
        }
    }

    @Test("JSON is read by others as it was meant, one line each")
    func json() throws {
        let nasty = "\"\\/\n\r\t\u{0}\u{1F}\u{7F}\u{202E}\u{200D}é😀\u{E0041}"
        let line = JSONValue.object([
            .init(key: "type", value: "x"), .init(key: nasty, value: .string(nasty)), .init(key: "n", value: .integer(-5)),
            .init(key: "none", value: .null), .init(key: "list", value: [1, true, .null, .number(0.5)]),
        ]).line
        #expect(!line.contains("\n") && !line.contains("none"))
        #expect(line.hasPrefix(#"{"type":"x","#))
        let read = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect((read[nasty] as? String)?.unicodeScalars.elementsEqual(nasty.unicodeScalars) == true)
        #expect(read["n"] as? Int == -5)
        #expect((read["list"] as? [Any])?.count == 4)
    }

    @Test("a table is as wide as its cells, numbers to the right, nobody's escape codes in it")
    func table() {
        var table = Table(("USER", .left), ("QUEUE", .right), ("PEER", .left))
        table.add("alice", "12", "10.0.0.1:1")
        table.add("b\u{1B}", "1,234,567", "")
        #expect(
            table.lines == [
                "USER         QUEUE  PEER",
                "alice           12  10.0.0.1:1",
                "b\\u{1B}  1,234,567",
            ])
    }

    @Test("the progress bar fits any width and never runs back")
    func progress() {
        var last = 0
        for done in 0...471 {
            let bar = ProgressBar(done: done, total: 471, words: "\(done) of 471 strokes", remaining: .seconds(75))
            for width in [0, 3, 10, 30, 60, 80, 200] { #expect(bar.line(width: width).count <= width) }
            let filled = bar.line(width: 80).filter { $0 == "█" }.count
            #expect(filled >= last)
            last = filled
        }
        #expect(
            ProgressBar(done: 1, total: 2, words: "x", remaining: .seconds(62)).line(width: 30)
                == "▕████▌    ▏  50%  x  1:02 left")
        #expect(ProgressBar(done: 5, total: 5, words: "x", remaining: nil).line(width: 20) == "▕██████████▏ 100%  x")
        #expect(ProgressBar(done: 0, total: 0, words: "", remaining: nil).line(width: 40).contains("100%"))
    }

    @Test("numbers for people")
    func numbers() {
        #expect(Printable.count(1_234_567) == "1,234,567" && Printable.count(999) == "999" && Printable.count(-1_000) == "-1,000")
        #expect(Printable.size(999) == "999 B" && Printable.size(32_768) == "32.8 kB" && Printable.size(5_000_000) == "5.0 MB")
        #expect(Printable.clock(.seconds(7)) == "0:07" && Printable.clock(.seconds(3_723)) == "1:02:03")
        #expect(Printable.time(.microseconds(420)) == "0.4 ms" && Printable.time(.milliseconds(1_250)) == "1.3 s")
        #expect(Printable.time(.seconds(75)) == "1:15")
        #expect(
            Printable.count(1, "record") == "1 record" && Printable.count(0, "item") == "0 items"
                && Printable.count(1_234, "grant") == "1,234 grants")
    }

    @Test(
        "a time is told as options take it: what is shown means the same when it is given",
        arguments: [
            "365d", "1d", "25h", "2h", "90m", "61s", "5s", "1500ms", "0ms",
        ])
    func spans(text: String) throws {
        #expect(Printable.span(try #require(Duration(text: text))) == text)
    }

    @Test("the largest unit without a rest is told")
    func spanUnits() {
        #expect(
            Printable.span(.seconds(365 * 86_400)) == "365d" && Printable.span(.seconds(7_200)) == "2h"
                && Printable.span(.seconds(60)) == "1m")
    }

    @Test("a ban that ends in the minute in which it began is told with seconds, one that was set without an end as for good")
    func banTimes() {
        let began: UInt64 = 1_795_269_787_000
        let short = Command.banTimes(since: began, until: began + 5_000), long = Command.banTimes(since: began, until: began + 53_000)
        #expect(short.since.contains(":07 ") && short.until.contains(":12 ") && short.since.dropLast(10) == short.until.dropLast(10))
        #expect(
            long.since.dropLast(7) == short.since.dropLast(10) && long.until.utf8.count == long.since.utf8.count && long.until != long.since
        )
        #expect(Command.banTimes(since: began, until: nil) == (long.since, "for good"))
    }

    @Test("seconds of a time are shown where they are asked for")
    func localTimes() {
        let (short, long) = (
            Console.localTime(wallMilliseconds: 1_795_269_787_000), Console.localTime(wallMilliseconds: 1_795_269_787_000, seconds: true)
        )
        #expect(short.wholeMatch(of: /[0-9-]{10} [0-9]{2}:[0-9]{2} [+-][0-9]{2}:[0-9]{2}/) != nil)
        #expect(long == short.dropLast(7) + ":07" + short.suffix(7))
        #expect([0, 330, -210, 60].map { Console.zone(minutesEast: $0) } == ["+00:00", "+05:30", "-03:30", "+01:00"])
    }

    @Test("percentiles are the nearest rank")
    func percentiles() {
        var latencies = Latencies()
        #expect(latencies.percentile(50) == nil)
        for sample in (1...100).shuffled() { latencies.add(.milliseconds(sample)) }
        #expect(latencies.percentile(50) == .milliseconds(50))
        #expect(latencies.percentile(99) == .milliseconds(99))
        #expect(latencies.percentile(100) == .milliseconds(100))
        var one = Latencies()
        one.add(.seconds(1))
        #expect(one.percentile(50) == .seconds(1) && one.percentile(99) == .seconds(1))
        latencies.add(one)
        #expect(latencies.count == 101 && latencies.percentile(100) == .seconds(1))
    }
}
