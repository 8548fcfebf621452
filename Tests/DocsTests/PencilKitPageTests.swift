import Foundation
import RelayIO
import RelayClient
import Testing

/// The class in `docs/pencilkit.md` is compiled as it stands there, against the client library that was built and, of
/// UIKit and PencilKit, the declarations in `Tests/Stubs`.
@Suite("docs/pencilkit.md")
struct PencilKitPageTests {
    @Test("the code of the page compiles")
    func compiles() async throws {
        let code = try Self.code()
        #expect(code.contains("retain: true") && code.contains("import RelayClient"))
        let result = try await Compiler.check(code)
        #expect(result.code == 0, "\(result.text)")
    }

    @Test("code that does not fit the client library does not")
    func doesNot() async throws {
        let code = try Self.code()
        for (right, wrong) in [("retain: true", "retain: 1"), ("client.send(removing: key", "client.remove(key"), ("batch.progress", "batch.percent")] {
            try #require(code.contains(right))
            let result = try await Compiler.check(code.replacing(right, with: wrong))
            #expect(result.code != 0 && result.text.contains("Page.swift"), "\(wrong): \(result.text)")
        }
    }

    /// Every block of Swift on the page.
    static func code() throws -> String {
        let page = try String(contentsOf: Document.root.appending(path: "docs/pencilkit.md"), encoding: .utf8)
        return page.matches(of: /```swift\n((?s).*?)```/).map { String($0.output.1) }.joined(separator: "\n")
    }
}

/// `swiftc` of the toolchain that builds this.
private enum Compiler {
    /// Where this build has put what `import` finds.
    static let modules: URL? = {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let folder = (bundles.first ?? URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()).deletingLastPathComponent()
        let modules = folder.appending(path: "Modules")
        return FileManager.default.fileExists(atPath: modules.appending(path: "RelayClient.swiftmodule").path) ? modules : nil
    }()

    static func check(_ code: String) async throws -> (code: Int32, text: String) {
        let modules = try #require(modules, "the modules of this build lie beside the tests")
        let folder = FileManager.default.temporaryDirectory.appending(path: "pencilkit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for stub in ["UIKit", "PencilKit"] {
            let result = try await swiftc(
                "-emit-module", "-module-name", stub, "-o", folder.appending(path: "\(stub).swiftmodule").path, "-I", folder.path,
                Document.root.appending(path: "Tests/Stubs/\(stub).swift").path)
            guard result.code == 0 else { return result }
        }
        let page = folder.appending(path: "Page.swift")
        try Data(code.utf8).write(to: page)
        let headers = Document.root.appending(path: "Sources/CEpoll")
        return try await swiftc(
            "-typecheck", "-warnings-as-errors", "-I", folder.path, "-I", modules.path, "-I", headers.path, page.path)
    }

    /// On a thread of its own: waiting here would hold up other tests.
    private static func swiftc(_ words: String...) async throws -> (code: Int32, text: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(words) }) }
        }
    }

    private static func run(_ words: [String]) throws -> (code: Int32, text: String) {
        // Into a file: reading a pipe to its end fails when a signal comes in between.
        let file = FileManager.default.temporaryDirectory.appending(path: "swiftc-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        let stream = ChildProcess.Stream.descriptor(output.fileDescriptor)
        let end = try ChildProcess("/usr/bin/env", ["swiftc", "-parse-as-library", "-swift-version", "6"] + words, output: stream, errors: stream).wait()
        return (end == .exited(0) ? 0 : 1, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
