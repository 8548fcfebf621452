import Testing

/// Each block of Swift in README.md and docs is compiled as it stands there.
@Suite("Swift on pages") struct SwiftPagesTests {
    /// Blocks that may be left out, each with its reason on the page.
    static let notCompiledMax = 2

    @Test("the Swift of each page compiles")
    func compiles() async throws {
        let pages = try SwiftPage.all().filter { !$0.blocks.isEmpty }
        #expect(pages.map(\.name).contains("README.md") && pages.map(\.name).contains("docs/moving-from-twilio.md"))
        for page in pages {
            let result = try await SwiftCompiler.check(page.code)
            #expect(result.code == 0, "\(page.name)\n\(result.text)")
        }
    }

    @Test("what is left out is little, and comments on Swift are known ones before a block")
    func comments() throws {
        let pages = try SwiftPage.all()
        #expect(pages.flatMap(\.problems) == [])
        let left = pages.flatMap(\.blocks).filter { if case .notCompiled = $0.kind { true } else { false } }
        #expect(left.count <= Self.notCompiledMax)
    }

    @Test("no block that looks like Swift hides behind another name or none")
    func hidden() throws {
        for page in try SwiftPage.all() {
            let text = try page.name == "README.md" ? Document.readme().text : Document.named(String(page.name.dropFirst(5))).text
            let others = text.replacing(/```(?:swift|js)\n(?s:.*?)```/, with: "")
            for match in others.matches(of: /\n(?:    |```[a-z]*\n)((?:import Relay|let [a-z]+ = |try await )[^\n]*)/) {
                Issue.record("\(page.name): \(match.output.1)")
            }
        }
    }

    @Test("code that does not fit the libraries is told with its place on the page", arguments: [
        ("README.md", "access: .open", "access: .closed"), ("docs/moving-from-twilio.md", "lifetime: .milliseconds(300)", "lifetime: 300"),
        ("docs/moving-from-twilio.md", "Credential(address: printed)", "Credential(printed)"),
    ])
    func wrong(name: String, right: String, wrong: String) async throws {
        let page = try #require(try SwiftPage.all().first { $0.name == name })
        try #require(page.code.contains(right))
        let result = try await SwiftCompiler.check(page.code.replacing(right, with: wrong), stubs: [])
        #expect(result.code != 0 && result.text.contains("\(name):"), "\(result.text)")
    }

    @Test("a page's blocks, fragments and what is left out are told apart")
    func reading() {
        let fence = "```"
        let page = SwiftPage("x.md", """
            \(fence)swift
            let a = 1
            \(fence)
            <!-- swift: fragment -->

            \(fence)swift
            let b = 2
            \(fence)
            <!-- swift: not compiled: it is a picture -->
            \(fence)swift
            let c = 3
            \(fence)
            <!-- swift: fragments -->
            <!-- swift: fragment -->
            words
            """)
        #expect(page.blocks.map(\.kind) == [.file, .fragment, .notCompiled("it is a picture")])
        #expect(page.blocks.map(\.line) == [2, 7, 11])
        #expect(page.problems == ["x.md:13: <!-- swift: fragments -->", "x.md:15: a comment on Swift without a block"])
        #expect(page.code.contains("func fragment1(") && page.code.contains("let a = 1") && !page.code.contains("let c"))
    }
}
