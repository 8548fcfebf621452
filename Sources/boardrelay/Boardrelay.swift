import Foundation
import RelayServer

/// The command line. Data goes to stdout, everything else to stderr; exit codes 0 ok, 1 failed, 2 usage, 124 time-out.
@main
struct Boardrelay {
    static let version = "0.1.0"

    static var commands: [any Command.Type] { [ServeCommand.self, StatusCommand.self] }

    static func main() async {
        var words = Array(CommandLine.arguments.dropFirst())
        guard let first = words.first else { exit(Usage.failed("which command?\n\n" + help)) }
        if first == "--help" || first == "-h" || first == "help" {
            guard words.count > 1, let command = commands.first(where: { $0.name == words[1] }) else {
                print(help)
                exit(0)
            }
            print(command.help)
            exit(0)
        }
        if first == "--version" {
            print("boardrelay \(version)")
            exit(0)
        }
        guard let command = commands.first(where: { $0.name == first }) else {
            exit(Usage.failed("there is no command '\(first)'\n\n" + help))
        }
        words.removeFirst()
        do {
            let arguments = try Arguments(words, options: command.options)
            if arguments.has("help") {
                print(command.help)
                exit(0)
            }
            try await command.run(arguments)
            exit(0)
        } catch let usage as Usage {
            exit(Usage.failed("\(usage.text)\nboardrelay help \(command.name) tells more"))
        } catch {
            complain("boardrelay \(command.name): \(error)")
            exit(1)
        }
    }

    static var help: String {
        let rows = commands.map { "  \($0.name.padding(toLength: 10, withPad: " ", startingAt: 0))\($0.summary)" }
        return """
            boardrelay \(version): a whiteboard relay for your own network

            usage: boardrelay COMMAND [options]

            \(rows.joined(separator: "\n"))

            boardrelay help COMMAND   options and examples
            boardrelay --version
            """
    }
}

/// One subcommand.
protocol Command: Sendable {
    static var name: String { get }
    static var summary: String { get }
    static var options: [Option] { get }
    static var help: String { get }
    static func run(_ arguments: Arguments) async throws
}

/// One line to stderr.
func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
