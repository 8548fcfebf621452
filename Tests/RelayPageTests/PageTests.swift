@testable import RelayPage
import Testing

@Suite("The page's files") struct PageTests {
    private func stripped(_ text: String) -> String { String(decoding: SourceText.withoutComments(Array(text.utf8)), as: UTF8.self) }

    @Test("comments on lines of their own, empty lines and leading blanks are left out, and nothing else")
    func comments() {
        #expect(stripped("// a\nlet b = 1 // c\n\n  /** d\n   * e\n   */\n\tlet f = '//g'\n") == "let b = 1 // c\nlet f = '//g'\n")
        #expect(stripped("/* one line */\na { }\n  /* two\nlines */\nb { }") == "a { }\nb { }\n")
        #expect(stripped("x /* y */ z\n/**/\nw\n") == "x /* y */ z\nw\n")
        #expect(stripped("") == "")
    }

    @Test("each path stands once, has bytes, and the client stands there as it is and as the whiteboard loads it")
    func paths() throws {
        #expect(Set(Page.files.map(\.path)).count == Page.files.count)
        #expect(Page.files.allSatisfy { !$0.bytes.isEmpty && $0.path.hasPrefix("/") })
        let whole = try #require(Page.files.first { $0.path == "/relay-client.js" })
        let loaded = try #require(Page.files.first { $0.path == "/page/relay-client.js" })
        #expect(SourceText.withoutComments(whole.bytes) == loaded.bytes)
        #expect(Page.files.first { $0.path == "/" }?.mediaType == "text/html; charset=utf-8")
    }

    @Test("what a file of the page names of the others is in the table")
    func references() throws {
        let paths = Set(Page.files.map(\.path))
        for file in Page.files where file.path != "/relay-client.js" {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: #/(?:from|import) ?\(?['"]\./([a-z-]+\.js)['"]/#) { #expect(paths.contains("/page/\(match.1)"), "\(file.path) imports \(match.1)") }
            for match in text.matches(of: #/(?:href|src)="(/[^"]+)"/#) { #expect(paths.contains(String(match.1)), "\(file.path) names \(match.1)") }
        }
    }
}
