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

    @Test("regions are left out from mark to mark, and nothing else")
    func regions() {
        let text = { (source: String) in String(decoding: SourceText.withoutRegions(Array(source.utf8)), as: UTF8.self) }
        #expect(text("a\n  // #region locks\n  b\n\n\t// c\n  // #endregion\nd\n// #region x\n// #endregion\ne") == "a\nd\ne\n")
        #expect(text("a // #region x\n// region\nb") == "a // #region x\n// region\nb\n")
    }

    @Test("in a script blanks that part no two tokens are left out, and in quotes none", arguments: [
        ("const {a, b} = c(d, [e])", "const{a,b}=c(d,[e])"),
        ("x => !y && z ?? w", "x=> !y&&z??w"),
        ("a + +b - -c", "a+ +b- -c"),
        ("a ? .5 : b = !c", "a? .5:b= !c"),
        ("1 .x", "1 .x"),
        ("return 'a = b' + \"c ( d\"", "return 'a = b'+\"c ( d\""),
        ("f(`a = ${b + c}`, d)", "f(`a = ${b + c}`,d)"),
        ("f(`a ${`b = c`} = d`, e)", "f(`a ${`b = c`} = d`, e)"),
        ("a = b / c", "a = b / c"),
        ("import {a, b} from './c.js'", "import{a,b}from './c.js'"),
        ("f('/', a / b)", "f('/', a / b)"),
        ("a = 'b\\' = c'", "a = 'b\\' = c'"),
        ("async *pages (x) {", "async*pages(x){"),
        ("let a  = b", "let a  =b")
    ])
    func blanks(source: String, loaded: String) {
        #expect(String(decoding: SourceText.script(Array(source.utf8)), as: UTF8.self) == loaded + "\n")
    }

    @Test("in a script ends of lines beside brackets and behind commas are left out", arguments: [
        ("f(a,\nb,\n[\nc\n]\n)\nd", "f(a,b,[c])\nd"),
        ("if(a){\nreturn\n}\nb\n(c)", "if(a){return}\nb\n(c)"),
        ("a = b / c // {\n}", "a = b / c // {\n}"),
        ("a='\\'('\n)", "a='\\'('\n)"),
        ("f(){", "f(){")
    ])
    func lineEnds(source: String, loaded: String) {
        #expect(String(decoding: SourceText.script(Array(source.utf8)), as: UTF8.self) == loaded + "\n")
    }

    /// Without any compression: what a tablet in a full classroom has to fetch before it can draw.
    private let bytesMax = 152_000

    @Test("all that the whiteboard loads has at most 152,000 bytes")
    func weight() {
        let loaded = Page.files.filter { $0.path == "/" || $0.path.hasPrefix("/page/") && !$0.path.hasPrefix("/page/status") }
        let bytes = loaded.reduce(0) { $0 + $1.bytes.count }
        #expect(bytes <= bytesMax, "\(loaded.map { "\($0.path) \($0.bytes.count)" }.joined(separator: ", ")): \(bytes)")
    }

    @Test("each path stands once, has bytes, and the client stands there as it is and as the whiteboard loads it")
    func paths() throws {
        #expect(Set(Page.files.map(\.path)).count == Page.files.count)
        #expect(Page.files.allSatisfy { !$0.bytes.isEmpty && $0.path.hasPrefix("/") })
        let whole = try #require(Page.files.first { $0.path == "/relay-client.js" })
        let loaded = try #require(Page.files.first { $0.path == "/page/relay-client.js" })
        #expect(SourceText.script(whole.bytes) == loaded.bytes)
        #expect(loaded.bytes.count < SourceText.withoutComments(SourceText.withoutRegions(whole.bytes)).count)
        for file in Page.files where file.path != whole.path { #expect(!String(decoding: file.bytes, as: UTF8.self).contains("#region"), "\(file.path)") }
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
