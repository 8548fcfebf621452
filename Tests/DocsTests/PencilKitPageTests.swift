import Foundation
import Testing

/// The class in `docs/pencilkit.md` is compiled as it stands there by `Tests/Documented/swift_blocks.py`, against the declarations in
/// `Tests/Stubs` of what UIKit and PencilKit have.
@Suite("docs/pencilkit.md")
struct PencilKitPageTests {
    @Test("the page is about what is kept for good, by the client library")
    func subject() throws {
        let code = try Self.code()
        #expect(code.contains("retain: true") && code.contains("import RelayClient"))
    }

    /// Every block of Swift on the page.
    static func code() throws -> String {
        let page = try String(contentsOf: Document.root.appending(path: "docs/pencilkit.md"), encoding: .utf8)
        return page.matches(of: /```swift\n((?s).*?)```/).map { String($0.output.1) }.joined(separator: "\n")
    }
}
