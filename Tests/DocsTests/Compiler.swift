import Foundation
import RelayClient
import RelayRTM
import Testing

/// `swiftc` of the toolchain that builds this: checks code against what was built.
enum Compiler {
    /// Where this build has put what `import` finds.
    private static let modules: URL? = {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let folder = (bundles.first ?? URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()).deletingLastPathComponent()
        let modules = folder.appending(path: "Modules")
        return FileManager.default.fileExists(atPath: modules.appending(path: "RelayClient.swiftmodule").path) ? modules : nil
    }()

    /// Checks files, by name, as one module; `stubs` of `Tests/Stubs` stand in for what is not on this machine.
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

    /// On a thread of its own: waiting here would hold up other tests.
    private static func swiftc(_ words: [String]) async throws -> (code: Int32, text: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(words) }) }
        }
    }

    private static func run(_ words: [String]) throws -> (code: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swiftc", "-parse-as-library"] + words
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
