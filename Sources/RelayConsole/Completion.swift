/// What a shell offers behind the Tab key, made from the table that makes the help: commands, options, and the words that may stand there.
/// For anything else it offers files.
package enum Completion {
    package enum Shell: String, CaseIterable { case bash, zsh, fish }

    package static func script(for shell: Shell, _ commands: [Command]) -> String {
        switch shell {
        case .bash: bash(commands)
        case .zsh: zsh(commands)
        case .fish: fish(commands)
        }
    }

    // MARK: - bash

    private static func bash(_ commands: [Command]) -> String {
        var byOption: [String] = []
        var byCommand: [String] = []
        for command in commands {
            for option in command.allOptions where option.value != nil {
                let names = option.names.map { "\(command.name):\($0)" }.joined(separator: "|")
                byOption.append("    \(names)) words='\(option.words.joined(separator: " "))' ;;")
            }
            let options = command.allOptions.flatMap(\.names).joined(separator: " ")
            byCommand.append("        \(command.name):*:-*) words='\(options)' ;;")
            for (place, argument) in command.arguments.enumerated() where !argument.words.isEmpty {
                byCommand.append("        \(command.name):\(place + 2):*) words='\(argument.words.joined(separator: " "))' ;;")
            }
        }
        let names = commands.map(\.name).joined(separator: " ")
        return """
            # What bash offers behind 'boardrelay', from 'boardrelay completion bash'.
            _boardrelay() {
                local current=$2 before=$3 command=${COMP_WORDS[1]} words=
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W 'help \(names) --help --version' -- "$current"))
                    return
                fi
                case $command:$before in
                help:*) words='\(names)' ;;
            \(byOption.joined(separator: "\n"))
                *)
                    case $command:$COMP_CWORD:$current in
            \(byCommand.joined(separator: "\n"))
                    esac
                    ;;
                esac
                COMPREPLY=($(compgen -W "$words" -- "$current"))
            }
            complete -o default -F _boardrelay boardrelay
            """
    }

    // MARK: - zsh

    private static func zsh(_ commands: [Command]) -> String {
        let described = commands.map { "        \(quoted($0.name + ":" + $0.summary))" }.joined(separator: "\n")
        let cases = commands.map { command in
            let options = command.allOptions.map(zshOption)
            let arguments = command.arguments.map { argument in
                quoted("\(argument.isOptional ? "::" : ":")\(argument.name):\(zshAction(argument.name, argument.words))")
            }
            return "    \(command.name)) _arguments -s \\\n        \((options + arguments).joined(separator: " \\\n        ")) ;;"
        }
        return """
            #compdef boardrelay
            # What zsh offers behind 'boardrelay', from 'boardrelay completion zsh'.
            _boardrelay() {
                local -a commands=(
            \(described)
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    _arguments '(-h --help)'{-h,--help}'[Lists the commands.]' '--version[Shows the version.]'
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in
                help) _describe command commands ;;
            \(cases.joined(separator: "\n"))
                esac
            }
            if [ "$funcstack[1]" = _boardrelay ]; then _boardrelay "$@"; else compdef _boardrelay boardrelay; fi
            """
    }

    private static func zshOption(_ option: Command.Option) -> String {
        let help = firstSentence(option.help).replacing("[", with: "\\[").replacing("]", with: "\\]")
        let behind = option.value.map { "[\(help)]:\(zshWord($0)):\(zshAction($0, option.words))" } ?? "[\(help)]"
        let names = option.names.map { name in option.value == nil ? name : name + (name.hasPrefix("--") ? "=" : "+") }
        if option.repeats { return quoted("*" + names.last! + behind) }
        guard names.count > 1 else { return quoted(names[0] + behind) }
        return "\(quoted("(" + option.names.joined(separator: " ") + ")")){\(names.joined(separator: ","))}\(quoted(behind))"
    }

    private static func zshAction(_ value: String, _ words: [String]) -> String {
        if !words.isEmpty { return "(\(words.joined(separator: " ")))" }
        if isFolder(value) { return "_files -/" }
        return isFile(value) ? "_files" : " "
    }

    /// Within a specification a colon ends a part.
    private static func zshWord(_ text: String) -> String { text.replacing(":", with: "\\:") }

    // MARK: - fish

    private static func fish(_ commands: [Command]) -> String {
        var lines = ["# What fish offers behind 'boardrelay', from 'boardrelay completion fish'.", "complete -c boardrelay -f"]
        lines.append("complete -c boardrelay -n __fish_use_subcommand -l version -d 'Shows the version.'")
        for command in commands {
            lines.append("complete -c boardrelay -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
        }
        for command in commands {
            let begin = "complete -c boardrelay -n '__fish_seen_subcommand_from \(command.name)'"
            for option in command.allOptions {
                let names = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
                let behind = option.value.map { fishValue($0, option.words) } ?? ""
                lines.append("\(begin) \(names.joined(separator: " "))\(behind) -d \(quoted(firstSentence(option.help)))")
            }
            let words = command.arguments.flatMap(\.words)
            if !words.isEmpty { lines.append("\(begin) -a '\(words.joined(separator: " "))'") }
            if command.arguments.contains(where: { isFile($0.name) }) { lines.append("\(begin) -F") }
        }
        return lines.joined(separator: "\n")
    }

    private static func fishValue(_ value: String, _ words: [String]) -> String {
        if !words.isEmpty { return " -x -a '\(words.joined(separator: " "))'" }
        return isFile(value) ? " -r -F" : " -x"
    }

    // MARK: - Words

    private static func isFolder(_ value: String) -> Bool { ["DIR", "FOLDER"].contains(value) }
    private static func isFile(_ value: String) -> Bool { isFolder(value) || value.hasSuffix("FILE") || value == "PATH" }

    private static func firstSentence(_ text: String) -> String {
        let end = text.ranges(of: ". ").first?.lowerBound ?? text.endIndex
        return String(text[..<end]).replacing("\n", with: " ")
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
