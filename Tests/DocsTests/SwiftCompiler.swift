import Foundation
import RelayIO
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

    /// Of one page.
    static func check(_ code: String, stubs: [String] = ["UIKit", "PencilKit"]) async throws -> (code: Int32, text: String) {
        try await check(["Page.swift": code], stubs: stubs)
    }

    /// - Parameters:
    ///   - files: of one module, by name.
    ///   - stubs: modules of which `Tests/Stubs` has the declarations, each after those it imports.
    ///   - version: of the language.
    static func check(_ files: [String: String], stubs: [String] = [], version: Int = 6) async throws -> (code: Int32, text: String) {
        let modules = try #require(modules, "the modules of this build lie beside the tests")
        let folder = FileManager.default.temporaryDirectory.appending(path: "checked-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for stub in stubs {
            let result = try await swiftc([
                "-swift-version", "6", "-emit-module", "-module-name", stub, "-o", folder.appending(path: "\(stub).swiftmodule").path, "-I", folder.path,
                Document.root.appending(path: "Tests/Stubs/\(stub).swift").path,
            ])
            guard result.code == 0 else { return result }
        }
        for (name, code) in files { try Data(code.utf8).write(to: folder.appending(path: name)) }
        let headers = Document.root.appending(path: "Sources/CEpoll")
        return try await swiftc(
            ["-swift-version", "\(version)", "-typecheck", "-warnings-as-errors", "-I", folder.path, "-I", modules.path, "-I", headers.path]
                + files.keys.sorted().map { folder.appending(path: $0).path })
    }

    private static func swiftc(_ words: [String]) async throws -> (code: Int32, text: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "swiftc-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        let stream = ChildProcess.Stream.descriptor(output.fileDescriptor)
        let process = try ChildProcess("/usr/bin/env", ["swiftc", "-parse-as-library"] + words, output: stream, errors: stream)
        let end = await process.waitUntilEnd()
        return (end == .exited(0) ? 0 : 1, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
