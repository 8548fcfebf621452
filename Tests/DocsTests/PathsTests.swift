import Foundation
import Testing

/// What pages point at is there.
@Suite("What pages name") struct PathsTests {
    /// README.md, all pages below `docs` and the one beside the scenarios, by their path from the top folder.
    private static func pages() throws -> [(path: String, text: String)] {
        let walk = FileManager.default.enumerator(atPath: Document.root.appending(path: "docs").path)
        let docs = (walk?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
        let all = ["README.md", "Tests/Scenarios/README.md"] + docs
        return try all.map { ($0, try String(contentsOf: Document.root.appending(path: $0), encoding: .utf8)) }
    }

    @Test("links between pages lead to a page and to a heading that is on it")
    func links() throws {
        var count = 0
        for (page, text) in try Self.pages() {
            let folder = Document.root.appending(path: page).deletingLastPathComponent()
            for link in text.matches(of: /\]\(([^)#\s]*)(?:#([^)\s]*))?\)/) where !link.output.1.contains("://") {
                let target =
                    link.output.1.isEmpty ? Document.root.appending(path: page) : folder.appending(path: String(link.output.1)).standardized
                #expect(FileManager.default.fileExists(atPath: target.path), "\(page): \(link.output.0)")
                count += 1
                guard let anchor = link.output.2, let other = try? String(contentsOf: target, encoding: .utf8) else { continue }
                #expect(Self.anchors(other).contains(String(anchor)), "\(page): \(link.output.0)")
            }
        }
        #expect(count >= 50, "only \(count) links found: pages are not read rightly")
    }

    /// As the usual hosts make them of headings.
    private static func anchors(_ text: String) -> Set<String> {
        Set(
            text.matches(of: /(?m)^#+ (.*)$/).map { heading in
                String(
                    heading.output.1.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
            })
    }

    @Test("files of the source that the map, the tests' page and the decisions name are there")
    func files() throws {
        var paths: Set<String> = []
        for folder in ["Sources", "Tests"] {
            let walk = FileManager.default.enumerator(atPath: Document.root.appending(path: folder).path)
            for path in walk?.allObjects as? [String] ?? [] { paths.insert(folder + "/" + path) }
        }
        var count = 0
        for (page, text) in try Self.pages() {
            for name in text.matches(of: /`([A-Za-z0-9_+\/.-]+\.(?:swift|py|mjs|patch))`/) where name.output.1 != "guide.mjs" {
                let path = String(name.output.1)
                #expect(paths.contains { $0 == path || $0.hasSuffix("/" + path) }, "\(page): \(path)")
                count += 1
            }
            for name in text.matches(of: /`((?:Sources|Tests)\/[A-Za-z0-9_+\/]+)`/) {
                let path = String(name.output.1.last == "/" ? name.output.1.dropLast() : name.output.1)
                #expect(paths.contains(path), "\(page): \(path)")
            }
        }
        #expect(count >= 10, "only \(count) files found: pages are not read rightly")
    }

    @Test("the map has every module and every queue of the source, and no other")
    func map() throws {
        let page = try Document.named("architecture.md").text
        let manifest = try String(contentsOf: Document.root.appending(path: "Package.swift"), encoding: .utf8)
        let modules = Set(
            manifest.matches(of: /(?m)^ +(?:module\(|\.(?:target|executableTarget|systemLibrary)\(\s*name: )"([A-Za-z]+)"/).map {
                String($0.output.1)
            })
        #expect(modules.count >= 15 && modules.contains("boardrelay"))
        for module in modules { #expect(page.contains(module), "\(module) is not on the map") }
        let named = Set(page.matches(of: /\bRelay(?:[A-Z][A-Za-z]+)/).map { String($0.output) })
        let tests = Set(manifest.matches(of: /tests\("([A-Za-z]+)"/).map { String($0.output.1) })
        #expect(named.subtracting(modules).subtracting(tests) == [])

        let queues = try Set(
            Document.sources().flatMap { source in
                source.matches(of: /(?:DispatchQueue|QueueExecutor)\(label: "([a-z.]+)"\)/).map { String($0.output.1) }
            })
        let told = Set(page.matches(of: /`(boardrelay\.[a-z.]+)`/).map { String($0.output.1) })
        #expect(told == queues, "\(told.symmetricDifference(queues))")
    }
}
