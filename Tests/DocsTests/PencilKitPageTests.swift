import Foundation
import Testing

/// `Tests/Documented/swift_blocks.py` compiles the class of `docs/examples/SharedCanvas.swift` against the declarations in `Tests/Stubs`
/// of what UIKit and PencilKit have.
@Suite("docs/pencilkit.md")
struct PencilKitPageTests {
    @Test("the class keeps strokes for good, by the client library, and the page names no member that it lacks")
    func subject() throws {
        let code = try String(contentsOf: Document.root.appending(path: "docs/examples/SharedCanvas.swift"), encoding: .utf8)
        #expect(code.contains("board.put(") && code.contains("import RelayClient"))
        let page = try Document.named("pencilkit.md").text
        #expect(page.contains("](examples/SharedCanvas.swift)"))
        for name in ["showProgress", "showProblem", "showPen", "run()", "undo()", "PenWatch", "shared", "pkstroke"] {
            #expect(page.contains(name) && code.contains(name), "\(name)")
        }
    }
}
