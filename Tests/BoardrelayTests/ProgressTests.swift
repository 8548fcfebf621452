import Foundation
import RelayIO
import RelaySystem
import Testing

@testable import RelayConsole
@testable import RelayServer
@testable import boardrelay

/// What takes longer than a second, at a terminal and without one.
@Suite("progress on standard error", .timeLimit(.minutes(10)))
struct ProgressTests {
    private let folder = ServeTests.folder()

    private func withFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body()
    }

    /// What stays of what a terminal was shown.
    private func stays(_ text: String) -> String {
        text.replacing("\r\n", with: "\n").replacing("^C", with: "").replacing(/[^\r\n]*\r\x1B\[K/, with: "")
    }

    private func surroundings(_ port: UInt16) -> [String: String] {
        ["BOARDRELAY_URL": "relay://127.0.0.1:\(port)", "BOARDRELAY_KEY": "k", "XDG_RUNTIME_DIR": folder]
    }

    /// Feeds a pipe a piece at a time as long as the body takes.
    private func feeding(_ pipe: FileHandle, _ piece: Data, _ body: () async -> Bool) async -> Bool {
        let feeder = Task {
            while !Task.isCancelled {
                try pipe.write(contentsOf: piece)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        defer { feeder.cancel() }
        return await body()
    }

    @Test("a relay that does not let in, and one that does not answer, is named after a second; nothing of it stays")
    func waiting() async throws {
        try await withFolder {
            let silent = try SilentRelay(folder: folder), deaf = try LoginOnlyRelay()
            defer { silent.close() }
            for (port, words) in [(silent.port, "Connecting to"), (deaf.port, "Waiting for")] {
                let terminal = try PseudoTerminal(["meta", "get", "lesson", "--timeout", "10m"], environment: surroundings(port))
                #expect(await terminal.shows("\r\u{1B}[K\(words) relay://127.0.0.1:\(port) …"))
                terminal.signal(SIGINT)
                let (end, text) = await terminal.end()
                guard port == deaf.port else { continue }
                #expect(end == .exited(130) && stays(text) == "", "\(text)")
            }
        }
    }

    @Test("without a terminal nothing says so, and with --json neither")
    func silent() async throws {
        try await withFolder {
            for more in [[], ["--json"]] {
                let deaf = try LoginOnlyRelay()
                let words = ["meta", "get", "lesson", "--timeout", "3s"] + more
                let result = try await Tool.run(words, environment: surroundings(deaf.port))
                #expect(result.code == 124 && result.output == "" && !result.errors.contains("Waiting"), "\(result)")
            }
        }
    }

    @Test("a control socket that does not answer is waited for visibly")
    func control() async throws {
        try await withFolder {
            let silent = try SilentRelay(folder: folder)
            defer { silent.close() }
            for words in [["status"], ["key", "show"], ["reload"], ["backup", "--to", "\(folder)/b.tar"]] {
                let terminal = try PseudoTerminal(words + ["--port", "\(silent.port)"], environment: ["XDG_RUNTIME_DIR": folder])
                #expect(await terminal.shows("\r\u{1B}[KWaiting for the relay …"), "\(words)")
                terminal.signal(SIGKILL)
                _ = await terminal.end()
            }
        }
    }

    @Test("restore shows what it has read, and takes that away at its end")
    func restore() async throws {
        try await withFolder {
            mkfifo(folder + "/pipe", 0o600)
            let terminal = try PseudoTerminal(["restore", folder + "/pipe", "--data-dir", folder + "/new"])
            let pipe = try FileHandle(forWritingTo: URL(filePath: folder + "/pipe"))
            let head = TarHeader(name: "journal-0000000000000001.log", fileBytes: 1 << 30).encoded()
            try pipe.write(contentsOf: Data(head))
            #expect(await feeding(pipe, Data(count: 1_000)) { await terminal.shows(" kB read") })
            try pipe.close()
            let (end, text) = await terminal.end()
            #expect(end == .exited(1), "\(text)")
            #expect(stays(text).hasPrefix("boardrelay restore: the backup ends early, after "), "\(text)")
        }
    }

    @Test("pub --lines shows how many lines were sent, unless they are typed")
    func lines() async throws {
        try await withFolder {
            mkfifo(folder + "/pipe", 0o600)
            try await BoardrelayTests.withRelay(.init(port: 0)) { relay in
                let shell = "exec \(try Tool.binary().path) pub lesson --lines <\(folder)/pipe"
                let environment = ["BOARDRELAY_URL": "\(relay.address)", "BOARDRELAY_KEY": ""]
                let terminal = try PseudoTerminal(program: ["/bin/sh", "-c", shell], environment: environment)
                let pipe = try FileHandle(forWritingTo: URL(filePath: folder + "/pipe"))
                #expect(await feeding(pipe, Data("line\n".utf8)) { await terminal.shows(" lines sent") })
                try pipe.close()
                let (end, text) = await terminal.end()
                #expect(end == .exited(0) && stays(text).wholeMatch(of: /relay:[^ ]*: [0-9]+ lines sent\.\n/) != nil, "\(text)")
            }
        }
    }

    @Test("without a terminal nothing is said at once")
    func early() {
        let said = Mutex<[String]>([])
        let progress = Progress(isTerminal: false) { line in said.withLock { $0.append(line) } }
        for number in 0..<1_000 { progress.show("\(number)") }
        for number in 0..<1_000 { progress.show(0.5, "\(number)") }
        #expect(said.withLock { $0 } == [])
    }
}
