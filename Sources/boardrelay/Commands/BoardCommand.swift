import BoardFormat
import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    static let board = Command(
        name: "board",
        summary: "lists, exports, imports, clears and removes boards",
        arguments: [
            .action(BoardAction.self, help: "ls, export, import, rm, prune, clear or undo (of the newest clear)."),
            .init(
                name: "NAME", isOptional: true, help: "The board's message channel; ls and prune take none. import --all: the folder."),
            .init(name: "FILE", isOptional: true, help: "import: a file that export wrote; - for standard input."),
        ],
        options: [
            .flag("--all", help: "export, import: all boards, a file each in a folder."),
            .choice("--sort", as: "ORDER", of: BoardOrder.self, help: "ls: by name (default), size, used or created."),
            .value("--unused", as: "TIME", help: "ls, prune: boards that nobody has used for so long, such as 180d."),
            .value("--owner", as: "USER", help: "ls, prune: boards that this user began."),
            .flag("--dry-run", help: "prune: lists the boards, and removes none."),
            .flag("--yes", help: "prune: does not ask at a terminal."),
            .choice(
                "--format", as: "FORMAT", of: BoardTransfer.Format.self,
                help: "export: json (default), which import reads, or svg, a picture."),
            .value("--of", as: "USER", help: "rm: only the records of this user id."),
            .value(
                "-o", "--output", as: "FILE",
                help: "export: writes this file, whole or not at all; with --all a folder. Default: standard output."),
            .value(
                "--timeout", as: "TIME",
                help: "Gives up after this time with exit code 124. Default: 30s, for export, import, rm and prune none."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "A board is the newest retained message of each key of a channel: see 'boardrelay pub --retain'.",
            """
            An exported board has one record a line, in order, and its paper, without authors and times. import checks the whole file \
            first, then replaces records with the same keys and leaves all others: clear the board first to get exactly what was saved. \
            Imported records belong to the user who imports them, to forget and to erase. If the relay refuses a record, the others are \
            written and the exit code is 1.
            """,
            """
            A change is a use of a board, and so is being in its channel, but not hidden as export, record and sub --quiet are. Of being \
            there the relay keeps the last day (UTC) alone. The relay removes no board that somebody is on, or was used meanwhile.
            """,
            """
            rm and prune cannot be undone and end when the relay's disk holds nothing of what they remove; Ctrl-C ends only the waiting. \
            With --of rm is for moderators: see 'boardrelay user'. clear can be undone for 10 minutes.
            """,
        ],
        examples: [
            .init("boardrelay board ls --sort size", "Every board with its size, last use and owner, the largest first."),
            .init("boardrelay board export lesson -o lesson.json", "Into a file that a version control compares line by line."),
            .init("boardrelay board export lesson --format svg -o lesson.svg", "As a picture."),
            .init("boardrelay board import copy lesson.json", "All of it on the board of 'copy'."),
            .init("boardrelay board export --all -o boards", "Each board into a file; 'board import --all boards' reads them."),
            .init("boardrelay board prune --unused 180d --dry-run", "What would go; without --dry-run it goes."),
            .init("boardrelay board rm lesson --of anna", "What anna drew there goes; what others drew stays."),
            .init("boardrelay board clear lesson && boardrelay board undo lesson", "Empties the board, and brings it back."),
        ],
        run: board)

    private enum BoardAction: String, CaseIterable { case ls, export, `import`, rm, prune, clear, undo }

    private static func board(_ arguments: Arguments) async throws -> ExitCode {
        let action: BoardAction = try arguments.action(), isAll = arguments.flag("--all")
        try checkWords(action, isAll, arguments)
        try checkOptions(action, isAll, arguments)
        let name = isAll ? nil : try arguments.name(argument: 1, "NAME")
        let author = try arguments.name("--of")
        let unused = try arguments.duration("--unused"), owner = try arguments.name("--owner")
        if action == .prune, unused == nil { throw UsageError("option --unused is missing: prune --unused 180d") }
        let order = try arguments.choice("--sort", of: BoardOrder.self) ?? .name
        let timeout = try arguments.duration("--timeout") ?? ([.ls, .clear, .undo].contains(action) ? .seconds(30) : nil)
        let user = try arguments.user()
        let address = try arguments.address()
        let json = arguments.flag("--json")
        var transfer = try BoardTransfer(arguments, to: address, as: user)
        // Before anything is asked for: a file that is wrong, or cannot be written, changes nothing.
        if action == .import { try transfer.read(isAll, arguments) }
        if action == .export { try transfer.open(isAll, arguments) }
        let code: ExitCode
        do {
            let tells = [.export, .import, .prune].contains(action)
            code = try await withClient(arguments, as: user, timeout: timeout, tells: tells) { client in
                switch action {
                case .ls:
                    let boards = order.sorted(try await client.boards(unusedFor: unused).of(owner))
                    if boards.isEmpty, !json { Console.note("There are no \(unused == nil && owner == nil ? "" : "such ")boards.") }
                    if !boards.isEmpty { try boards.list(json: json) }
                case .prune:
                    return try await BoardPruning(
                        client: client, address: "\(address)", unused: unused!, owner: owner, isDryRun: arguments.flag("--dry-run"),
                        asks: Question.canBeAsked && !arguments.flag("--yes"), json: json
                    ).run()
                case .export: return try await transfer.export(name, of: client)
                case .import: return try await transfer.importing(into: name, client)
                case .rm: try await remove(name!, of: author, client, address, json: json)
                case .clear:
                    let change = try await client.board(of: name!).clear()
                    try tell(
                        fields("cleared", name!, change), address, json: json,
                        "\(Printable.count(change.records, "record")) went; 'boardrelay board undo \(name!)' brings back what went, for 10 minutes."
                    )
                case .undo:
                    let change = try await client.board(of: name!).undoClear()
                    try tell(
                        fields("restored", name!, change), address, json: json,
                        "The cleared records are back (\(Printable.count(change.records, "record"))), except keys that were written since.")
                }
                return .ok
            }
        } catch {
            transfer.abandon()
            throw error
        }
        if code != .ok { transfer.abandon() }
        switch action {
        case .export, .import, .ls: if code == .timedOut { Console.note("boardrelay board: timed out") }
        case .rm, .prune, .clear, .undo: noteEnd(code, of: "board", isErasing: action == .rm || action == .prune)
        }
        return code
    }

    private static func checkWords(_ action: BoardAction, _ isAll: Bool, _ arguments: Arguments) throws {
        let given = arguments.positional.count - 1
        switch action {
        case .ls, .prune: if given > 0 { throw UsageError("\(action.rawValue) takes no NAME") }
        case .export where isAll: if given > 0 { throw UsageError("export --all takes no NAME") }
        case .import where isAll:
            if given == 0 { throw UsageError("the folder is missing: import --all FOLDER") }
            if given > 1 { throw UsageError("import --all takes a folder, and no FILE") }
        default:
            if given == 0 { throw UsageError("NAME is missing") }
            if action == .import, given == 1 { throw UsageError("FILE is missing") }
            if action != .import, given > 1 { throw UsageError("\(action.rawValue) takes no FILE") }
        }
    }

    private static func checkOptions(_ action: BoardAction, _ isAll: Bool, _ arguments: Arguments) throws {
        let owners: [(String, [BoardAction])] = [
            ("--format", [.export]), ("-o", [.export]), ("--of", [.rm]), ("--all", [.export, .import]), ("--sort", [.ls]),
            ("--unused", [.ls, .prune]), ("--owner", [.ls, .prune]), ("--dry-run", [.prune]), ("--yes", [.prune]),
        ]
        for (option, actions) in owners where arguments.flag(option) && !actions.contains(action) {
            throw UsageError("option \(option) is for \(actions.map(\.rawValue).joined(separator: " and "))")
        }
        guard action == .export else { return }
        if isAll {
            if arguments.flag("--format") { throw UsageError("option --format is not for export --all: it writes what import reads") }
            if [nil, "-"].contains(arguments.value("-o")) { throw UsageError("the folder is missing: export --all --output FOLDER") }
        } else if arguments.flag("--json") {
            throw UsageError("option --json is not for export of one board: --format json is what it writes")
        }
    }

    private static func remove(_ name: String, of user: String?, _ client: WhiteboardClient, _ address: RelayAddress, json: Bool)
        async throws
    {
        var fields: JSONValue = ["type": "removed", "channel": .string(name)]
        var words = "The board of \(name) is gone, from the relay's disk, too."
        if let user {
            var records = 0
            try await untilErased { records = try await client.moderation.removeRecords(of: user, from: name) }
            fields = .object([fields, ["of": .string(user), "records": .integer(records)]])
            words = "\(Printable.count(records, "record")) of \(user) went from the board of \(name), and from the relay's disk."
        } else {
            try await untilErased { try await client.removeBoard(name) }
        }
        try tell(fields, address, json: json, words)
    }

    private static func fields(_ type: String, _ name: String, _ change: BoardClearing) -> JSONValue {
        [
            "type": .string(type), "channel": .string(name), "offset": .integer(Int(clamping: change.offset)),
            "records": .integer(Int(clamping: change.records)),
        ]
    }

    static func tell(_ object: JSONValue, _ address: RelayAddress, json: Bool, _ words: String) throws {
        guard json else { return Console.note("\(address): \(words)") }
        try Console.print(JSONValue.object([object, ["relay": .string("\(address)")]]).line)
    }
}
