import Foundation
import Testing

/// `swiftc` of the toolchain that builds this, against the libraries that were built.
enum SwiftCompiler {
    /// Where this build has put what `import` finds.
    private static let modules: URL? = {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let folder = (bundles.first ?? URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()).deletingLastPathComponent()
        let modules = folder.appending(path: "Modules")
        return FileManager.default.fileExists(atPath: modules.appending(path: "RelayClient.swiftmodule").path) ? modules : nil
    }()

    /// - Parameter stubs: modules of which `Tests/Stubs` has the declarations, each after those it imports.
    static func check(_ code: String, stubs: [String] = ["UIKit", "PencilKit"]) async throws -> (code: Int32, text: String) {
        let modules = try #require(modules, "the modules of this build lie beside the tests")
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for stub in stubs {
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
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swiftc", "-parse-as-library", "-swift-version", "6"] + words
        // Into a file: reading a pipe to its end fails when a signal comes in between.
        let file = FileManager.default.temporaryDirectory.appending(path: "swiftc-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
