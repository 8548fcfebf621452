import Foundation
import Testing

/// The class in `docs/pencilkit.md` is compiled as it stands there, against the client library that was built and, of
/// UIKit and PencilKit, the declarations in `Tests/Stubs`.
@Suite("docs/pencilkit.md")
struct PencilKitPageTests {
    @Test("the code of the page compiles")
    func compiles() async throws {
        let code = try Self.code()
        #expect(code.contains("retain: true") && code.contains("import RelayClient"))
        let result = try await Compiler.check(["Page.swift": code], stubs: ["UIKit", "PencilKit"])
        #expect(result.code == 0, "\(result.text)")
    }

    @Test("code that does not fit the client library does not")
    func doesNot() async throws {
        let code = try Self.code()
        for (right, wrong) in [("retain: true", "retain: 1"), ("client.send(removing: key", "client.remove(key"), ("batch.progress", "batch.percent")] {
            try #require(code.contains(right))
            let result = try await Compiler.check(["Page.swift": code.replacing(right, with: wrong)], stubs: ["UIKit", "PencilKit"])
            #expect(result.code != 0 && result.text.contains("Page.swift"), "\(wrong): \(result.text)")
        }
    }

    /// Every block of Swift on the page.
    static func code() throws -> String {
        try Document.named("pencilkit.md").swift
    }
}
