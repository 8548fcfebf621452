import Foundation
import Testing

/// The tables of `docs/swift.md`, held against the source.
@Suite("docs/swift.md") struct SwiftGuideTests {
    @Test("the table of events has every case of RelayEvent, in its order, and no other")
    func events() throws {
        let rows = try Document.named("swift.md").table("Events")
        let cases = Self.members(of: "public enum RelayEvent", in: try Document.source("RelayClientCore/RelayEvent.swift"), after: "case ")
        #expect(cases.count >= 11, "the file is not read rightly")
        #expect(rows.map { Document.plain($0[0]) } == cases)
    }

    @Test("the table of readers has every call that makes one, and no other")
    func readers() throws {
        let source = try Document.files("Sources/RelayClient").map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        let made = source.matches(of: /public func ([a-zA-Z]+)\([^)]*\) -> (?:Events|Latest)</).map { String($0.output.1) }
        let told = try Document.named("swift.md").table("Read").flatMap { row in
            row[0].matches(of: /([a-zA-Z]+)\((?:from:)?\)/).map { String($0.output.1) }
        }
        #expect(made.count == 15 && made.sorted() == told.sorted())
    }

    @Test("each event is told with all that it carries, and with nothing that is not there")
    func carried() throws {
        let source = try Document.sources().joined(separator: "\n")
        var declared = Set(source.matches(of: /(?m)^ +public (?:var|let|func) ([a-zA-Z]+)/).map { String($0.output.1) })
        for list in source.matches(of: /(?m)^ +case ([a-z].*)$/) {
            declared.formUnion(list.output.1.matches(of: /[a-zA-Z]+/).map { String($0.output) })
        }
        var count = 0
        for row in try Document.named("swift.md").table("Events") {
            let named = Set(row[1].matches(of: /`([a-z][A-Za-z]+)/).map { String($0.output.1) })
            #expect(named.subtracting(declared) == [], "\(row[0])")
            // Only what carries a struct is told by its fields.
            guard let type = row[0].firstMatch(of: /\(([A-Z][A-Za-z]+)\)/)?.output.1 else { continue }
            let fields = Self.members(of: "public struct \(type):", in: source, after: "public var ").map(Self.name)
            #expect(fields.filter { !named.contains(String($0)) } == [], "\(row[0])")
            count += fields.count
        }
        #expect(count >= 40, "only \(count) found")
    }

    @Test("the states of the link are those of LinkState")
    func link() throws {
        let cases = Self.members(of: "public enum LinkState", in: try Document.source("RelayClientCore/LinkState.swift"), after: "case ")
        let told = try Document.named("swift.md").table("The link").map { Self.name(Document.plain($0[0])) }
        #expect(cases.count == 5 && Set(told) == Set(cases.map(Self.name)))
    }

    private static func name(_ member: String) -> Substring { member.prefix(while: \.isLetter) }

    /// Lines of a declaration's body that begin so, without that.
    private static func members(of head: String, in source: String, after word: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { !$0.contains(head) }.prefix { $0 != "}" }.filter { $0.hasPrefix("    \(word)") }.map {
            String($0.dropFirst(4 + word.count))
        }
    }
}
