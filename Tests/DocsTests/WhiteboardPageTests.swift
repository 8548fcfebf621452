import Foundation
import Testing

@Suite("docs/whiteboard.md") struct WhiteboardPageTests {
    @Test("the table of shortcuts has every key that the whiteboard handles, and no other")
    func shortcuts() throws {
        let source = try Document.source("RelayPage/page/app.js")
        let body = try #require(source.firstMatch(of: #/(?s)function keyDown\(event\) \{(.*?)\n\}/#)).output.1
        var handled: Set<String> = []
        let tools = try Document.source("RelayPage/page/tools/index.js")
        handled.formUnion(tools.matches(of: #/(?:key: |shape\()'([a-z])'/#).map { String($0.output.1) })
        let plain = try #require(body.firstMatch(of: #/(?s)const plain = \{(.*?)\n  \}/#)).output.1
        for match in plain.matches(of: #/(?:^|[\n,] *)(?:'([^']+)'|([a-z0-9]+)): /#) {
            let name = String(match.output.1 ?? match.output.2 ?? "")
            handled.insert(name == " " ? "space" : name)
        }
        let held = try #require(body.firstMatch(of: #/ctrlKey \|\| metaKey \? \{(.*?)\}\[name\]/#)).output.1
        handled.formUnion(held.matches(of: #/(?:^|,\s+)([a-z]): /#).map { "ctrl+\($0.output.1)" })
        // What is done with what is selected.
        let bar = try Document.source("RelayPage/page/edit-bar.js")
        let controls = try #require(bar.firstMatch(of: #/const controls = \{(.*?)\n/#)).output.1
        handled.formUnion(controls.matches(of: #/([a-zA-Z]): \(\)/#).map { "ctrl+\($0.output.1.lowercased())" })
        let shifted = try #require(bar.firstMatch(of: #/: shiftKey && \{(.*?)\}\[key\]/#)).output.1
        handled.formUnion(shifted.matches(of: #/([A-Z][A-Za-z]+): /#).map { $0.output.1.lowercased() })
        for (event, key) in ["copy": "c", "cut": "x"] where bar.contains("on('\(event)'") { handled.insert("ctrl+\(key)") }
        if try Document.source("RelayPage/page/given.js").contains("addEventListener('paste'") { handled.insert("ctrl+v") }
        // What keys alone do on the board.
        let alone = try Document.source("RelayPage/page/everyone/board-keys.js")
        let run = try #require(alone.firstMatch(of: #/(?s)const step = (.*?)\n    if \(!run\)/#)).output.1
        handled.formUnion(run.matches(of: #/'([^']+)'/#).map { $0.output.1.lowercased() })
        #expect(handled.count >= 20, "the file is not read rightly: \(handled)")

        var told: Set<String> = []
        for row in try Document.named("whiteboard.md").table("Shortcuts") {
            for match in row[0].matches(of: #/(Ctrl\+(?:Shift\+)?)?`([^`]+)`/#) {
                told.insert((match.output.1 == nil ? "" : "ctrl+") + match.output.2.lowercased())
            }
        }
        // The colours are counted, not named.
        let colors = try #require(source.firstMatch(of: #/(?s)const colors = \{(.*?)\}/#)).output.1.matches(of: #/[a-z]+: '/#).count
        #expect(told.subtracting(handled) == ["1", "\(colors)"])
        #expect(handled.subtracting(told) == [])
    }
}
