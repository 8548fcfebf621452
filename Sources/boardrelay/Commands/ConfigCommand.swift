import RelayConsole
import RelayIO
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    private enum ConfigAction: String, CaseIterable { case check, show }

    static let config = Command(
        name: "config",
        summary: "checks and shows the settings of 'serve'",
        arguments: [.action(ConfigAction.self, help: "check: says what is wrong. show: prints each setting, and where it is from.")],
        options: [
            .flag("--defaults", help: "show: prints a settings file in which each setting is explained and commented out."),
            .json,
        ],
        borrowed: serveOptions,
        notes: [
            """
            Takes all options of 'serve', too. A settings file has 'name = value' on a line, the names those of these options without \
            their dashes. A line that begins with # says nothing. An option that may be repeated has a line for each value; a flag is \
            yes or no.
            """,
            """
            In the environment $BOARDRELAY_MAX_HISTORY is --max-history; commas stand between several values. The command line wins \
            over the environment, that over the file.
            """,
            "Secrets and tokens are read, but not shown. Exit code 2: a setting, or a file that it names, is wrong; it is told where.",
        ],
        examples: [
            .init("boardrelay config show --defaults >relay.conf", "A file to begin with."),
            .init("boardrelay config check --config relay.conf", "Whether 'serve --config relay.conf' would take it."),
            .init("boardrelay config show --config relay.conf --port 8000", "What would hold, and which of the three says so."),
        ],
        run: config)

    private static func config(_ arguments: Arguments) async throws -> ExitCode {
        let action: ConfigAction = try arguments.action()
        if action == .check, arguments.flag("--defaults") { throw UsageError("option --defaults is for show") }
        if arguments.flag("--defaults") {
            try Console.print(SettingsFile.example(of: Command.serve))
            return .ok
        }
        let settings = try ServeSettings(arguments).arguments
        let rows = Command.serve.settings.filter { $0.name != "--config" }.flatMap { option -> [ShownSetting] in
            let source = settings.source(option.name)
            // Several values may be of several lines of one file.
            let values = option.value == nil ? [settings.flag(option.name) ? "yes" : "no"] : settings.values(option.name)
            let shown = values.isEmpty ? [option.fallback ?? ""] : values
            return shown.map { ShownSetting(name: option.setting, value: $0, source: source) }
        }
        switch action {
        case .check:
            let count = rows.count { $0.source != nil }
            if arguments.flag("--json") { return try printed(rows) }
            let given = count == 1 ? "1 setting is" : "\(count) settings are"
            try Console.print("Nothing is wrong: \(given) given, the others have their defaults.")
        case .show:
            if arguments.flag("--json") { return try printed(rows) }
            var table = Table(("SETTING", .left), ("VALUE", .left), ("FROM", .left))
            for row in rows { table.add(row.name, row.value, row.origin) }
            for line in table.lines { try Console.print(line) }
        }
        return .ok
    }

    private static func printed(_ rows: [ShownSetting]) throws -> ExitCode {
        for row in rows {
            let object: JSONValue = ["name": .string(row.name), "value": .string(row.value), "from": .string(row.origin)]
            try Console.print(object.line)
        }
        return .ok
    }
}

/// A row of `config show`.
@available(macOS 15, iOS 18, *)
private struct ShownSetting {
    var name: String
    var value: String
    var source: SettingSource?

    /// Where the value is from, for people.
    var origin: String {
        switch source {
        case nil: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): "$\(name)"
        case .commandLine: "command line"
        }
    }
}
