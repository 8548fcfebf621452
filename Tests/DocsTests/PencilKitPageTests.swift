import Foundation
import Testing

/// The class in `docs/pencilkit.md` is compiled as it stands there (`SwiftPagesTests`), against the client library that was built and, of
/// UIKit and PencilKit, the declarations in `Tests/Stubs`.
@Suite("docs/pencilkit.md")
struct PencilKitPageTests {
    @Test("the page is about what is kept for good, by the client library")
    func subject() throws {
        let code = try Self.code()
        #expect(code.contains("retain: true") && code.contains("import RelayClient"))
    }

    @Test("code that does not fit the client library does not")
    func doesNot() async throws {
        let code = try Self.code()
        for (right, wrong) in [("retain: true", "retain: 1"), ("client.send(removing: key", "client.remove(key"), ("batch.progress", "batch.percent")] {
            try #require(code.contains(right))
            let result = try await SwiftCompiler.check(code.replacing(right, with: wrong))
            #expect(result.code != 0 && result.text.contains("Page.swift"), "\(wrong): \(result.text)")
        }
    }

    /// Every block of Swift on the page.
    static func code() throws -> String {
        let page = try String(contentsOf: Document.root.appending(path: "docs/pencilkit.md"), encoding: .utf8)
        return page.matches(of: /```swift\n((?s).*?)```/).map { String($0.output.1) }.joined(separator: "\n")
    }
}
