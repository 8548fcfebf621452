import Foundation
import Testing

/// The table of events in `docs/swift.md`, held against the source.
@Suite("docs/swift.md") struct SwiftGuideTests {
    @Test("the table of events has every case of RelayEvent and every method of the delegate, as they are written, and no other")
    func events() throws {
        let rows = try Document.named("swift.md").table("Events")
        let cases = try Self.members(of: "public enum RelayEvent", in: "RelayClientCore/RelayEvent.swift", after: "case ")
        let methods = try Self.members(of: "public protocol RelayClientDelegate", in: "RelayClient/RelayClientDelegate.swift", after: "func ")
        #expect(cases.count >= 18 && methods.count == cases.count + 1, "the files are not read rightly")
        #expect(rows.map { Document.plain($0[1]) } == methods)
        #expect(rows.dropFirst().map { Document.plain($0[0]) } == cases)
    }

    @Test("what events and links are told to carry is there")
    func carried() throws {
        let source = try ["RelayAccess", "RelayClientCore", "RelayWire"].flatMap { try Document.files("Sources/\($0)") }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let declared = Set(source.matches(of: /(?:public (?:var|let) |case |, )([a-zA-Z]+)\b/).map { String($0.output.1) })
        let page = try Document.named("swift.md")
        let cells = page.table("Events").dropFirst().map { $0[2] } + page.table("The link").map { $0[0] }
        let names = cells.flatMap { cell in cell.matches(of: /`([a-z][A-Za-z]+)/).map { String($0.output.1) } }
        #expect(names.count >= 80, "only \(names.count) found")
        // Calls that rows point at.
        #expect(Set(names).subtracting(declared) == ["renew", "joinTopic"])
    }

    @Test("the states of the link are those of LinkState")
    func link() throws {
        let cases = try Self.members(of: "public enum LinkState", in: "RelayClientCore/LinkState.swift", after: "case ")
        let told = try Document.named("swift.md").table("The link").map { Self.name(Document.plain($0[0])) }
        #expect(Set(told) == Set(cases.map(Self.name)))
    }

    private static func name(_ member: String) -> Substring { member.prefix(while: \.isLetter) }

    /// Lines of a declaration's body that begin so, without that.
    private static func members(of head: String, in file: String, after word: String) throws -> [String] {
        let lines = try Document.source(file).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { !$0.contains(head) }.prefix { $0 != "}" }.filter { $0.hasPrefix("    \(word)") }.map { String($0.dropFirst(4 + word.count)) }
    }
}
