import Foundation
import RelaySystem
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("completion and man: what shells and readers are given")
struct CompletionTests {
    /// What bash offers for the last of these words.
    private func offered(_ words: String...) async throws -> Set<String> {
        let script = """
            source <(\(try Tool.binary().path) completion bash)
            COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _boardrelay boardrelay "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let pipe = Pipe()
        let bash = try ChildProcess(
            "/bin/bash", ["--norc", "--noprofile", "-c", script], output: .descriptor(pipe.fileHandleForWriting.fileDescriptor))
        try pipe.fileHandleForWriting.close()
        let lines = Lines(pipe.fileHandleForReading)
        #expect(await bash.waitUntilEnd() == .exited(0))
        return Set(await lines.all().split(separator: "\n").map(String.init))
    }

    @Test("bash offers commands, options, the words of an argument and of a value, and nothing where anything may stand")
    func bash() async throws {
        #expect(try await offered("boardrelay", "") == Set(Boardrelay.commands.map(\.name) + ["help", "--help", "--version"]))
        #expect(try await offered("boardrelay", "pr") == ["presence"])
        #expect(try await offered("boardrelay", "help", "pre") == ["presence"])
        #expect(try await offered("boardrelay", "board", "") == ["ls", "export", "import", "rm", "prune", "clear", "undo"])
        #expect(try await offered("boardrelay", "board", "export", "") == [])
        #expect(try await offered("boardrelay", "user", "role", "anna", "") == ["reader", "editor", "coeditor", "own"])
        #expect(try await offered("boardrelay", "serve", "--auth", "") == ["key", "token", "open"])
        #expect(try await offered("boardrelay", "serve", "--port", "") == [])
        #expect(try await offered("boardrelay", "serve", "--max-b") == ["--max-board-bytes", "--max-boards-bytes"])
        #expect(try await offered("boardrelay", "dance", "--") == [])
    }

    @Test("every shell has all commands and options", arguments: Completion.Shell.allCases)
    func all(shell: Completion.Shell) async throws {
        let result = try await Tool.run("completion", shell.rawValue)
        #expect(result.code == 0)
        for command in Boardrelay.commands {
            #expect(result.output.contains(command.name))
            for option in command.options { #expect(result.output.contains(option.name.drop { $0 == "-" }), "\(option.name)") }
        }
        let wrong = try await Tool.run("completion", "tcsh")
        #expect(wrong.code == 2 && wrong.errors.contains("SHELL is one of bash, zsh, fish, not \"tcsh\""))
    }

    @Test("the manual page has each command with its options, and no text is taken for a request of roff")
    func manual() async throws {
        let page = try await Tool.run("man")
        #expect(page.code == 0 && page.output.hasPrefix(".\\\" From 'boardrelay man'.\n.TH BOARDRELAY 1"))
        for command in Boardrelay.commands {
            #expect(page.output.contains(".SS boardrelay \(command.name)"))
            for option in command.options {
                #expect(page.output.contains(option.name.replacing("-", with: "\\-")), "\(option.name)")
            }
        }
        let requests = Set(page.lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }.map { String($0.prefix { $0 != " " }) })
        #expect(requests == [".\\\"", ".TH", ".SH", ".B", ".I", ".SS", ".TP", ".PP", ".br"])
    }
}
