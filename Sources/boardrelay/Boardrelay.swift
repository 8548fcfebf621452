import RelayBench
import RelayConsole
import RelayCore
import RelayIO
import RelayPage
import RelayReplay
import RelaySystem

/// The program: a relay among other things, so it needs the system that a relay needs.
@main
enum Main {
    static func main() async {
        guard #available(macOS 15, iOS 18, *) else {
            Console.note("boardrelay needs macOS 15 or newer")
            exit(ExitCode.failed.rawValue)
        }
        await Boardrelay.main()
    }
}

/// The command line.
@available(macOS 15, iOS 18, *)
enum Boardrelay {
    static let commands: [Command] = [
        .serve, .space, .config, .reload, .service, .tls, .find, .demo, .sub, .pub, .history, .presence, .meta, .lock, .board, .user,
        .channel, .device, .record, .replay, .status, .key, .token, .check, .repair, .backup, .restore, .bench(.own), .completion, .man,
    ]

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow is an error of the write, as a full disk is.
        signal(SIGXFSZ, SIG_IGN)
        let code = await run(Array(CommandLine.arguments.dropFirst()))
        Console.endPassing()
        exit(code.rawValue)
    }

    /// Does what the words say, and tells on standard error what went wrong.
    static func run(_ words: [String]) async -> ExitCode {
        var words = words
        guard !words.isEmpty else {
            Console.note(help)
            return .usage
        }
        let first = words.removeFirst()
        switch first {
        case "--version": return show(versionText(commit: Page.commit))
        case "--help", "-h": return show(help)
        case "help":
            guard let topic = words.first else { return show(help) }
            guard let command = commands.first(where: { $0.name == topic }) else { return unknown(topic) }
            return show(Help.text(for: command))
        default: break
        }
        guard let command = commands.first(where: { $0.name == first }) else { return unknown(first) }
        /// A log in JSON has nothing else.
        func tell(_ text: String, hint: String? = nil) {
            if command.name == "serve", ServeSettings.logsJSON(words) {
                ServeLog(level: .error, isJSON: true).write(LogLine(.error, text))
            } else {
                Console.note("boardrelay \(command.name): \(text)")
                if let hint { Console.note(hint) }
            }
        }
        do {
            let arguments = try Arguments(words, for: command, own: ControlSocket.own)
            if arguments.wantsHelp { return show(Help.text(for: command)) }
            return try await command.run(arguments)
        } catch let error as UsageError {
            tell("\(error)", hint: "'boardrelay \(command.name) --help' tells what it takes.")
            return .usage
        } catch let failure as Failure {
            tell("\(failure)")
            return failure.exitCode
        } catch let closed as Console.OutputClosed {
            // `head` has enough: nothing went wrong.
            if closed.isReaderGone { return .ok }
            tell("standard output cannot be written: \(String(cString: strerror(closed.code)))")
            return .failed
        } catch {
            tell("\(error)")
            return .failed
        }
    }

    /// - Parameter commit: what a packaged build was made from; `nil` in a plain build.
    static func versionText(commit: String?) -> String {
        "boardrelay \(Program.version) (\(commit.map { "commit \($0)" } ?? "plain build"))"
    }

    private static func show(_ text: String) -> ExitCode {
        try? Console.print(text)
        return .ok
    }

    private static func unknown(_ word: String) -> ExitCode {
        let near = commands.map { (distance: editDistance($0.name, word), name: $0.name) }.min { $0.distance < $1.distance }
        let suggestion = near.map { $0.distance <= 2 ? ", did you mean \($0.name)?" : "" } ?? ""
        Console.note("boardrelay: unknown \(word.hasPrefix("-") ? "option" : "command") \(Printable.quoted(word))\(suggestion)")
        Console.note("'boardrelay --help' lists the commands.")
        return .usage
    }

    static var help: String {
        Help.overview(
            commands,
            notes: notes,
            examples: [.init("boardrelay serve", "Runs a relay on this machine, port 7420, until Ctrl-C.")])
    }

    /// What holds for every command.
    static let notes = [
        ("--help, --version", "What a command takes, with examples; this program's version."),
        ("$BOARDRELAY_URL", "The relay to use where --url is not given: relay://host:7420, the port may be left out."),
        (
            "$BOARDRELAY_KEY, $BOARDRELAY_TOKEN",
            "What lets in at a relay that is not open, where neither --key-file nor --token-file is given."
        ),
        ("$BOARDRELAY_MAX_HISTORY, …", "Options of 'serve', such as --max-history: see 'boardrelay config'."),
        (
            "output",
            "Data on standard output, one JSON object a line with --json; everything else on standard error. A terminal there shows how "
                + "far it is, or what it waits for, when that takes longer than a second."
        ),
        ("exit code", "0 done, 1 failed, 2 the command line is wrong, 124 timed out, 130 Ctrl-C."),
    ]
}
