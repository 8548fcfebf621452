import RelayConsole
import RelaySystem

/// What shells and `man` are given.
@available(macOS 15, iOS 18, *)
extension Command {
    static let completion = Command(
        name: "completion",
        summary: "prints what a shell offers behind 'boardrelay'",
        arguments: [
            .init(name: "SHELL", words: Completion.Shell.allCases.map(\.rawValue), help: "bash, zsh or fish.")
        ],
        examples: [
            .init("boardrelay completion bash >completions.bash", "Then 'source completions.bash', in ~/.bashrc for each new bash."),
            .init("boardrelay completion zsh >_boardrelay", "In a folder of $fpath it counts for each new zsh."),
            .init("boardrelay completion fish | source", "For this fish; in config.fish for each new one."),
        ]
    ) { arguments in
        guard let shell = Completion.Shell(rawValue: arguments.positional[0]) else {
            throw UsageError("SHELL is one of bash, zsh, fish, not \(Printable.quoted(arguments.positional[0]))")
        }
        try Console.print(Completion.script(for: shell, Boardrelay.commands))
        return .ok
    }

    static let man = Command(
        name: "man",
        summary: "prints the manual page",
        examples: [.init("boardrelay man | man -l -", "Shows it, where it is not installed.")]
    ) { _ in
        try Console.print(Manual.page(Boardrelay.commands, version: Program.version, notes: Boardrelay.notes))
        return .ok
    }
}
