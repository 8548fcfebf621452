import Testing

/// Which blocks of Swift README.md and docs have. `Tests/Documented/swift_blocks.py` compiles and runs each as it stands there.
@Suite("Swift on pages") struct SwiftPagesTests {
    @Test("comments on Swift are known ones before a block, and one block is the manifest")
    func comments() throws {
        let pages = try SwiftPage.all()
        #expect(pages.flatMap(\.problems) == [])
        let blocks = pages.flatMap(\.blocks)
        #expect(blocks.count >= 4 && blocks.count { $0.kind == .manifest } == 1)
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

    @Test("a page's blocks, fragments and manifest are told apart")
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
            <!-- swift: manifest -->
            \(fence)swift
            let c = 3
            \(fence)
            <!-- swift: fragments -->
            <!-- swift: fragment -->
            words
            """)
        #expect(page.blocks.map(\.kind) == [.file, .fragment, .manifest])
        #expect(page.blocks.map(\.line) == [2, 7, 11])
        #expect(page.problems == ["x.md:13: <!-- swift: fragments -->", "x.md:15: a comment on Swift without a block"])
        #expect(page.blocks.map(\.code) == [["let a = 1"], ["let b = 2"], ["let c = 3"]])
    }
}
