import Foundation

/// The blocks of Swift on a page.
///
/// `Tests/Documented/swift_blocks.py` compiles and runs them, and says what the comments before them mean.
struct SwiftPage {
    struct Block {
        enum Kind: Equatable { case file, fragment, manifest }

        var kind: Kind
        /// Of its first line of code, from 1.
        var line: Int
        var code: [Substring]
    }

    let name: String
    var blocks: [Block] = []
    /// Comments that say nothing known, or that no block follows, by line.
    var problems: [String] = []

    /// - Parameter name: from the top folder: `docs/pencilkit.md`.
    init(_ name: String, _ text: String) {
        self.name = name
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...].enumerated().map { (number: $0 + 1, text: $1) }[...]
        var pending: Block.Kind?
        while let (number, line) = lines.popFirst() {
            if line.hasPrefix("<!-- swift:") {
                switch line {
                case "<!-- swift: fragment -->": pending = .fragment
                case "<!-- swift: manifest -->": pending = .manifest
                default: problems.append("\(name):\(number): \(line)")
                }
            } else if line.hasPrefix("```") {
                let code = lines.prefix { $0.text != "```" }
                lines = lines.dropFirst(code.count + 1)
                if line == "```swift" {
                    blocks.append(Block(kind: pending ?? .file, line: number + 1, code: code.map(\.text)))
                } else if pending != nil {
                    problems.append("\(name):\(number): a comment on Swift before \(line)")
                }
                pending = nil
            } else if !line.isEmpty, pending != nil {
                problems.append("\(name):\(number): a comment on Swift without a block")
                pending = nil
            }
        }
    }

    /// README.md and all of `docs`.
    static func all() throws -> [SwiftPage] {
        let files = try FileManager.default.contentsOfDirectory(atPath: Document.root.appending(path: "docs").path).filter {
            $0.hasSuffix(".md")
        }
        return try (["README.md"] + files.sorted().map { "docs/" + $0 }).map { file in
            SwiftPage(file, try String(contentsOf: Document.root.appending(path: file), encoding: .utf8))
        }
    }
}
