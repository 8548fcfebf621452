import Foundation
import RelayIO
import RelaySystem

/// `Tests/TLS/proxy.py` before a relay: a server of TLS that is not ours, with a certificate of its own.
final class TLSProxy: Sendable {
    private struct Start: Decodable {
        var port: UInt16
        var pin: String
    }

    let port: UInt16
    /// Of its key, as the openssl program computes it.
    let pin: String
    private let folder: URL
    private let process: ChildProcess
    private let commands: FileHandle
    private let output: Lines

    /// The root that its certificate comes from.
    var root: String { folder.appending(path: "root.pem").path }

    /// - Parameter words: how it is, as the program's first lines tell.
    init(to port: UInt16, _ words: [String] = []) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "boardrelay-tls-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let program = tests.appending(path: "TLS/proxy.py").path
        let (inPipe, outPipe) = (Pipe(), Pipe())
        process = try ChildProcess(
            "/usr/bin/env",
            ["python3", "-B", "-W", "ignore", program, "--to", "\(port)", "--folder", folder.path] + words,
            input: .descriptor(inPipe.fileHandleForReading.fileDescriptor),
            output: .descriptor(outPipe.fileHandleForWriting.fileDescriptor),
            errors: .descriptor(FileHandle.standardError.fileDescriptor))
        for given in [inPipe.fileHandleForReading, outPipe.fileHandleForWriting] { try given.close() }
        commands = inPipe.fileHandleForWriting
        output = Lines(outPipe.fileHandleForReading)
        let line = await output.next(containing: "port") ?? ""
        let start = try JSONDecoder().decode(Start.self, from: Data(line.utf8))
        (self.port, pin) = (start.port, start.pin)
    }

    /// Every link ends without a word of TLS.
    func cut() async throws {
        try commands.write(contentsOf: Data("cut\n".utf8))
        _ = await output.next(containing: "cut")
    }

    func stop() async {
        try? commands.close()
        _ = await process.waitUntilEnd()
        try? FileManager.default.removeItem(at: folder)
    }
}
