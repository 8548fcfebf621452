import Foundation
import Testing

/// Pages for who moves an app here: each row of a table whose last column is "test" names one that there is.
@Suite("docs/moving-from-…") struct MovingPagesTests {
    @Test("each row names a test that there is")
    func named() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Document.root.appending(path: "docs").path).filter { $0.hasPrefix("moving-from-") }
        #expect(files.contains("moving-from-twilio.md"))
        let tests = try Self.tests()
        #expect(tests.contains("MovingPagesTests.named") && !tests.contains("MovingPagesTests.rows"))
        for file in files.sorted() {
            let rows = try Self.rows(Document.named(file))
            #expect(rows.count >= 10, "only \(rows.count) rows found in \(file)")
            for row in rows {
                let named = row.matches(of: /`([A-Za-z]+\.[A-Za-z]+)`/).map { String($0.output.1) }
                #expect(!named.isEmpty, "\(file): \(row)")
                for name in named { #expect(tests.contains(name), "\(file): there is no test \(name)") }
            }
        }
    }

    /// The last cells of rows in tables whose last head is "test".
    private static func rows(_ document: Document) -> [String] {
        var rows: [String] = [], isIn = false
        for line in document.lines {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if !line.hasPrefix("|") { isIn = false }
            if isIn, let last = cells.last, !last.hasPrefix("---") { rows.append(last) }
            if cells.last == "test" { isIn = true }
        }
        return rows
    }

    /// `Suite.function` of every test in Swift.
    private static func tests() throws -> Set<String> {
        var found: Set<String> = []
        for file in try Document.files("Tests") {
            let source = try String(contentsOf: file, encoding: .utf8)
            let suite = file.deletingPathExtension().lastPathComponent
            // Each attribute's own function is the first behind it.
            for test in source.components(separatedBy: "@Test").dropFirst() {
                if let name = test.firstMatch(of: /\bfunc ([A-Za-z0-9]+)\(/) { found.insert("\(suite).\(name.output.1)") }
            }
        }
        return found
    }
}
