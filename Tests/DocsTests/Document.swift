import Foundation

/// `docs/protocol.md` or another page, and where everything else lies from here.
struct Document {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    let text: String

    static func `protocol`() throws -> Document { try named("protocol.md") }

    /// A page of `docs`.
    static func named(_ file: String) throws -> Document {
        Document(text: try String(contentsOf: root.appending(path: "docs/\(file)"), encoding: .utf8))
    }

    static func readme() throws -> Document { Document(text: try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)) }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The ids of all rules, in order: lines that begin with `* **FR1**`.
    var rules: [String] {
        lines.compactMap { line in line.firstMatch(of: #/^\* \*\*([A-Z]{2}[0-9]+)\*\* /#).map { String($0.1) } }
    }

    /// The cells of the first table under a heading, without its head. Empty if there is no such heading or table.
    func table(_ heading: String) -> [[String]] {
        let section = lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let table = section.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return table.dropFirst(2).map { row in
            row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The numbers in a cell: `**8,388,608** bytes` has one, `50…1,000 ms` has two.
    static func numbers(in cell: String) -> [UInt64] {
        cell.matches(of: /[0-9]+(,[0-9]{3})*/).compactMap { UInt64($0.output.0.replacing(",", with: "")) }
    }

    /// A cell without the marks of code.
    static func plain(_ cell: String) -> String { cell.replacing("`", with: "") }
}

/// The rules that titles of tests name.
enum TestTitles {
    /// Rule ids by the file that names them: `"[FR2] …"`, `"[DL4 DL6] …"`, `"[FR2, JS5] …"` in Swift and in Python.
    static func rules() throws -> [String: Set<String>] {
        let folder = Document.root.appending(path: "Tests")
        guard let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else { return [:] }
        var found: [String: Set<String>] = [:]
        for case let file as URL in walk {
            let isInterop = file.pathExtension == "py" && file.deletingLastPathComponent().lastPathComponent == "Interop"
            guard file.pathExtension == "swift" || isInterop else { continue }
            let rules = Self.rules(in: try String(contentsOf: file, encoding: .utf8))
            if !rules.isEmpty { found[file.lastPathComponent, default: []].formUnion(rules) }
        }
        return found
    }

    static func rules(in source: String) -> Set<String> {
        var rules: Set<String> = []
        for match in source.matches(of: /["']\[([A-Z]{2}[0-9]+(?:,? [A-Z]{2}[0-9]+)*)\]/) {
            for id in match.output.1.matches(of: /[A-Z]{2}[0-9]+/) { rules.insert(String(id.output)) }
        }
        return rules
    }
}
