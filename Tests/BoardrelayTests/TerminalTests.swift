import Foundation
import RelayIO
import Testing

@testable import boardrelay
@testable import RelayConsole
import RelaySystem

/// `serve` before a class: a terminal of 80 × 24 on the wall.
@Suite("serve on a terminal", .timeLimit(.minutes(10)))
struct TerminalTests {
    private let folder = ServeTests.folder()
    private var surroundings: [String: String] { ["XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"] }

    private func withTerminal(
        _ words: String..., body: (PseudoTerminal, _ join: String, _ host: String) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let terminal = try PseudoTerminal(["serve", "--port", "0", "--data-dir", "\(folder)/board"] + words, environment: surroundings)
        try #require(await terminal.line(containing: "Ctrl-C ends it") != nil)
        func key(_ name: String) throws -> String {
            try String(contentsOfFile: "\(folder)/board/\(name).key", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        try await body(terminal, key("join"), key("host"))
    }

    /// What stood there before it began to end.
    private func beforeEnd(_ text: String) -> String { String(text.prefix(upTo: text.range(of: "Ending: ")?.lowerBound ?? text.endIndex)) }

    @Test("the last 24 rows hold the code and its address, all of both, and nothing has the host's key")
    func firstScreen() async throws {
        try await withTerminal { terminal, join, host in
            terminal.signal(SIGTERM)
            let (end, text) = await terminal.end()
            #expect(end == .exited(0))
            #expect(!text.contains(host), "it appears when it is asked for")
            let screen = PseudoTerminal.screen(beforeEnd(text), columns: 80, rows: 24)
            let address = try #require(Interfaces.reachable(RelayAddress(host: "::", port: 1)).first)
            guard address.host != "127.0.0.1" else {
                #expect(text.contains("no network") && !text.contains("▀"), "\(text)")
                return
            }
            let row = try #require(screen.firstIndex { $0.contains("#key=\(join)") }, "\(screen)")
            let code = screen[(row + 1)...].prefix { !$0.isEmpty }
            #expect(code.count > 10 && Set(code.map(\.unicodeScalars.count)).count == 1, "all of it: \(screen)")
            #expect(screen[(row + 1 + code.count)...] == [""], "nothing but the cursor below it")
        }
    }

    @Test("on an address that only this machine reaches there is no code, and it says so")
    func loopback() async throws {
        try await withTerminal("--host", "127.0.0.1") { terminal, join, _ in
            terminal.signal(SIGTERM)
            let text = await terminal.end().text
            #expect(text.contains("only this machine") && text.contains("#key=\(join)") && !text.contains("▀"), "\(text)")
        }
    }

    @Test(
        "h shows the host's address; what is typed is not echoed, and the terminal is left as it was found", arguments: [SIGTERM, SIGHUP])
    func pressed(number: Int32) async throws {
        try await withTerminal("--host", "127.0.0.1") { terminal, join, host in
            // No key has a capital letter.
            terminal.press("Xh")
            #expect(await terminal.line(containing: "#key=\(host)&j=\(join)") != nil)
            #expect(!terminal.isAsFound)
            terminal.signal(number)
            let (end, text) = await terminal.end()
            #expect(end == .exited(0) && !text.contains("X"))
            #expect(terminal.isAsFound)
        }
    }

    @Test("after the host's address the screen is as it was with the next key; nothing of it stays where others look on")
    func hidden() async throws {
        try await withTerminal("--host", "127.0.0.1") { terminal, join, host in
            terminal.press("h")
            try #require(await terminal.line(containing: "#key=\(host)&j=\(join)") != nil)
            // The key that takes it away does nothing else.
            terminal.press("cc")
            try #require(await terminal.line(containing: "#key=\(join)") != nil)
            terminal.press("h")
            try #require(await terminal.line(containing: "#key=\(host)&j=\(join)") != nil)
            terminal.signal(SIGTERM)
            let text = await terminal.end().text
            let (other, back) = ("\u{1B}[?1049h", "\u{1B}[?1049l")
            let parts = text.components(separatedBy: other)
            try #require(parts.count == 3, "\(text)")
            #expect(parts.dropFirst().allSatisfy { $0.prefix(upTo: $0.range(of: back)?.lowerBound ?? $0.startIndex).contains(host) })
            let seen = parts[0] + parts.dropFirst().map { $0.suffix(from: $0.range(of: back)!.upperBound) }.joined()
            #expect(!seen.contains(host) && seen.contains("Ending: "), "\(text)")
        }
    }

    @Test(
        "a key that was drawn anew is on the screen at once, in address and code; what the operator did is told to a log, not to a terminal"
    )
    func rotated() async throws {
        try await withTerminal("--host", "127.0.0.1") { terminal, join, host in
            let words = ["key", "rotate", "--json", "--data-dir", "\(folder)/board"]
            let keys = try await Tool.run(words, environment: surroundings).objects().compactMap { $0["key"] as? String }
            try #require(keys.count == 2 && keys != [join, host])
            #expect(await terminal.line(containing: "A key was drawn anew") != nil)
            #expect(await terminal.line(containing: "#key=\(keys[0])") != nil)
            terminal.press("h")
            #expect(await terminal.line(containing: "#key=\(keys[1])&j=\(keys[0])") != nil)
            terminal.signal(SIGTERM)
            let text = await terminal.end().text
            #expect(!text.contains("audit:") && !text.contains("operator"), "\(text)")
        }
    }

    @Test("keys work again after Ctrl-Z, bg and fg", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid")))
    func background() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let shell = ["/bin/bash", "--norc", "--noprofile", "-i"]
        let terminal = try PseudoTerminal(program: shell, environment: surroundings, columns: 200)
        terminal.press("\(try Tool.binary().path) serve --port 0 --host 127.0.0.1 --in-memory; echo left as $?\r")
        try #require(await terminal.line(containing: "Ctrl-C ends it") != nil)
        try #require(await terminal.line(containing: "#key=") != nil)
        terminal.press("\u{1A}")
        try #require(await terminal.line(containing: "Stopped") != nil)
        terminal.press("bg\r")
        try #require(await terminal.line(containing: "&") != nil)
        terminal.press("fg\r")
        try #require(await terminal.line(containing: " serve --port") != nil)
        terminal.press("h")
        #expect(await terminal.line(containing: "&j=") != nil)
        terminal.press("x\u{3}")
        try #require(await terminal.line(containing: "Ending: ") != nil)
        terminal.press("exit\r")
        _ = await terminal.end()
    }
}
