import Foundation
import RelayConsole
import Testing

@testable import boardrelay

/// A limit that changes in the code is red on every page, and in every `--help`, that states it.
@Suite("Limits that pages and --help state") struct StatedLimitsTests {
    /// README.md, the pages of `docs`, the one beside the scenarios and the help of each command, without what is made from the code.
    /// protocol.md has tests of its own.
    private static func places() throws -> [String: String] {
        var places: [String: String] = ["README.md": try Document.readme().text]
        let pages = try FileManager.default.contentsOfDirectory(atPath: Document.root.appending(path: "docs").path)
        for page in pages where page.hasSuffix(".md") && page != "protocol.md" && page != "benchmarks.md" {
            places["docs/\(page)"] = try Document.named(page).text.replacing(/<!-- generated:(?s:.*?)<!-- end -->/, with: "")
        }
        let scenarios = "Tests/Scenarios/README.md"
        places[scenarios] = try String(contentsOf: Document.root.appending(path: scenarios), encoding: .utf8)
        for command in Boardrelay.commands {
            places["help \(command.name)"] = Help.text(for: command).replacing(/\s+/, with: " ")
        }
        return places
    }

    @Test("each place states the numbers of the code")
    func statements() throws {
        let places = try Self.places()
        for (place, words) in StatedLimits.statements {
            let text = try #require(places[place], "\(place)")
            let isThere = text.contains(words)
            #expect(isThere, "\(place) does not say: \(words)")
        }
        #expect(StatedLimits.statements.count >= 40)
    }

    /// What `bench` sends is no limit.
    @Test("each size, rate and count on a page is a number of the code, or known to be something else")
    func sweep() throws {
        let counts = StatedLimits.counts
        var found = 0
        for (place, text) in try Self.places() where place != "help bench" {
            let others = StatedLimits.others[place] ?? []
            for (quantity, bytes) in Self.sizes(in: text) where !others.contains(quantity) {
                let isLimit = StatedLimits.sizes.contains(bytes)
                #expect(isLimit, "\(place) states \(quantity), which is no limit")
                found += 1
            }
            for (quantity, number, word) in Self.counts(in: text) where !others.contains(quantity) {
                let isLimit = counts[word]!.contains(number)
                #expect(isLimit, "\(place) states \(quantity), which is no limit")
                found += 1
            }
        }
        #expect(found >= 25, "only \(found) found: pages are not read rightly")
    }

    /// Sizes such as `32,768 bytes`, `32 KB`, `256MiB`, not those of a range.
    private static func sizes(in text: String) -> [(quantity: String, bytes: Int)] {
        let units = ["bytes": 1, "KB": 1 << 10, "KiB": 1 << 10, "MB": 1 << 20, "MiB": 1 << 20, "GB": 1 << 30, "GiB": 1 << 30]
        return text.matches(of: /(^|[^0-9,.…])([0-9]+(?:,[0-9]{3})*) ?(bytes|KB|KiB|MB|MiB|GB|GiB)\b/).compactMap { match in
            number(match.output.2).map { (String(match.output.0.dropFirst(match.output.1.count)), $0 * units[String(match.output.3)]!) }
        }
    }

    /// Rates such as `60/s` and `200 packets a second`, counts such as `1,000 items`.
    private static func counts(in text: String) -> [(quantity: String, number: Int, word: String)] {
        let rate = /(^|[^0-9,.…])([0-9]+(?:,[0-9]{3})*)( [a-z]+)?(\/s\b| a second\b| per second\b)/
        let count = /(^|[^0-9,.…])([0-9]+(?:,[0-9]{3})*) (messages|packets|items|members|metadata calls)\b/
        let rates = text.matches(of: rate).compactMap { match in
            number(match.output.2).map { (String(match.output.0.dropFirst(match.output.1.count)), $0, "a second") }
        }
        return rates + text.matches(of: count).compactMap { match in
            number(match.output.2).map { (String(match.output.0.dropFirst(match.output.1.count)), $0, String(match.output.3)) }
        }
    }

    private static func number(_ text: Substring) -> Int? { Int(text.replacing(",", with: "")) }

    @Test("sizes, rates and counts are found as pages write them")
    func reading() {
        #expect(Self.sizes(in: "32,768 bytes, up to 8 MiB or 64MB; 32…1024 bytes").map(\.bytes) == [32_768, 8 << 20, 64 << 20])
        #expect(Self.counts(in: "60/s, 200 packets a second and 1,000 items").map(\.number) == [60, 200, 200, 1_000])
    }
}
