import Foundation
import Testing

/// Parts of pages that are made from the code: what stands between `<!-- generated: NAME -->` and `<!-- end -->`.
///
/// `BOARDRELAY_DOCS=write swift test --filter GeneratedTests` writes them anew.
@Suite("Generated parts of pages") struct GeneratedTests {
    static let isWriting = ProcessInfo.processInfo.environment["BOARDRELAY_DOCS"] == "write"

    @Test("each generated part is what the code gives now", arguments: ["command-line.md", "protocol.md", "reference.md", "security.md"])
    func same(page: String) async throws {
        let file = Document.root.appending(path: "docs/\(page)")
        var text = try String(contentsOf: file, encoding: .utf8)
        let names = Self.names(in: text)
        #expect(!names.isEmpty && Set(names).count == names.count, "\(names)")
        for name in names {
            let made = try await Generated.text(name)
            let there = try #require(Self.part(name, of: text), "\(page): \(name) has no end")
            if Self.isWriting { text.replaceSubrange(there, with: made) }
            let isSame = text[Self.part(name, of: text)!] == made
            #expect(isSame, "docs/\(page): \(name) is not what the code gives. '\(Self.command)' writes it.")
        }
        if Self.isWriting { try text.write(to: file, atomically: true, encoding: .utf8) }
    }

    @Test("every generator fills a part of one page")
    func used() throws {
        let pages = try FileManager.default.contentsOfDirectory(atPath: Document.root.appending(path: "docs").path)
        let names = try pages.filter { $0.hasSuffix(".md") }.flatMap { Self.names(in: try Document.named($0).text) }
        #expect(names.sorted() == Generated.names.sorted())
    }

    @Test("the reference tells the command that writes the parts anew")
    func told() throws {
        #expect(try Document.named("reference.md").text.contains(Self.command))
    }

    @Test("metrics that pages name are metrics, and labels of few values are on the page of them")
    func metrics() async throws {
        let metrics = try await Metrics.all()
        let names = Set(metrics.map(\.name))
        #expect(names.count >= 25 && names.count == metrics.count)
        for page in ["operations.md", "reference.md"] {
            for name in try Document.named(page).text.matches(of: /boardrelay_[a-z_]+/) {
                #expect(names.contains(String(name.output)), "\(page): \(name.output)")
            }
        }
        #expect(metrics.filter { $0.label == "reason" && !$0.values.isEmpty }.contains { $0.values.contains("slow_reader") })
    }

    static let command = "BOARDRELAY_DOCS=write swift test --filter GeneratedTests"

    private static func names(in text: String) -> [String] {
        text.matches(of: /<!-- generated: ([a-z ]+) -->/).map { String($0.output.1) }
    }

    private static func part(_ name: String, of text: String) -> Range<String.Index>? {
        guard let head = text.range(of: "<!-- generated: \(name) -->\n"),
            let end = text.range(of: "<!-- end -->", range: head.upperBound..<text.endIndex)
        else { return nil }
        return head.upperBound..<end.lowerBound
    }
}
