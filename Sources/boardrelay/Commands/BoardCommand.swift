import BoardFormat
import RelayClient
import RelayConsole
import RelayIO
import RelayWire

extension Command {
    /// Why a record may be refused with `notPermitted`, and what helps. [BL10]
    static let board = Command(
        name: "board",
        summary: "lists, exports, imports and clears boards",
        arguments: [
            .action(BoardAction.self, help: "ls, export, import, rm, clear or undo (of the newest clear)."),
            .init(name: "NAME", isOptional: true, help: "The board's message channel; ls takes none."),
            .init(name: "FILE", isOptional: true, help: "import: a file that export wrote; - for standard input."),
        ],
        options: [
            .choice("--format", as: "FORMAT", of: ExportFormat.self, help: "export: json (default), which import reads, or svg, a picture."),
            .value("--of", as: "USER", help: "rm: only the records of this user id."),
            .value("-o", "--output", as: "FILE", help: "export: writes this file, whole or not at all. Default: standard output."),
            .value(
                "--timeout", as: "TIME",
                help: "Gives up after this time with exit code 124. Default: 30s, for export, import and rm none."),
            .json, .url, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            "A board is the newest retained message of each key of a channel: see 'boardrelay pub --retain'.",
            """
            An exported board has one record a line, in order, without authors and times. import checks the whole file first, then \
            replaces records with the same keys and leaves all others: clear the board first to get exactly what was saved. Imported \
            records belong to the user who imports them, to forget and to erase. If the relay refuses a record, the others are written and the \
            exit code is 1.
            """,
            """
            rm cannot be undone and ends when the relay's disk holds nothing of what it removes; Ctrl-C ends only the waiting. With --of \
            it is for moderators: see 'boardrelay user'. clear can be undone for 10 minutes.
            """,
        ],
        examples: [
            .init("boardrelay board ls", "Every board with its records and bytes."),
            .init("boardrelay board export lesson -o lesson.json", "Into a file that a version control compares line by line."),
            .init("boardrelay board export lesson --format svg -o lesson.svg", "As a picture."),
            .init("boardrelay board import copy lesson.json", "All of it on the board of 'copy'."),
            .init("boardrelay board rm lesson --of anna", "What anna drew there goes; what others drew stays."),
            .init("boardrelay board clear lesson && boardrelay board undo lesson", "Empties the board, and brings it back."),
        ],
        run: board)

    private enum BoardAction: String, CaseIterable { case ls, export, `import`, rm, clear, undo }
    private enum ExportFormat: String, CaseIterable { case json, svg }

    private static func board(_ arguments: Arguments) async throws -> ExitCode {
        let action: BoardAction = try arguments.action()
        let name = try arguments.name(argument: 1, "NAME")
        let file = arguments.positional.dropFirst(2).first
        if action == .ls, name != nil { throw UsageError("ls takes no NAME") }
        if action != .ls, name == nil { throw UsageError("NAME is missing") }
        if action == .import, file == nil { throw UsageError("FILE is missing") }
        if action != .import, file != nil { throw UsageError("\(action.rawValue) takes no FILE") }
        for option in ["--format", "-o"] where arguments.flag(option) && action != .export {
            throw UsageError("option \(option) is for export")
        }
        let author = try arguments.name("--of")
        if author != nil, action != .rm { throw UsageError("option --of is for rm") }
        let format = try arguments.choice("--format", of: ExportFormat.self) ?? .json
        if action == .export, arguments.flag("--json") {
            throw UsageError("option --json is not for export: --format json is what it writes")
        }
        let takesLong = action == .export || action == .import || action == .rm
        let timeout = try arguments.duration("--timeout") ?? (takesLong ? nil : .seconds(30))
        let user = try arguments.user()
        let address = try arguments.address()
        // Before anything is asked for: a file that is wrong, or cannot be written, changes nothing.
        let records = try file.map { try read($0) } ?? []
        var output = try action == .export ? BoardOutput(path: arguments.value("-o"), escape: format == .json ? .json : .xml) : nil
        let code: ExitCode
        do {
            code = try await withClient(arguments, as: user, timeout: timeout) { client in
                let json = arguments.flag("--json")
                switch action {
                case .ls: try list(try await client.boards(), json: json)
                case .export: try await export(name!, of: client, as: format, into: &output!)
                case .import: return try await importing(records, into: name!, client, address, as: user, json: json)
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
            output?.abandon()
            throw error
        }
        if code != .ok { output?.abandon() }
        if action == .export || action == .import || action == .ls {
            if code == .timedOut { Console.note("boardrelay board: timed out") }
        } else {
            noteEnd(code, of: "board", isErasing: action == .rm)
        }
        return code
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

    private static func tell(_ object: JSONValue, _ address: RelayAddress, json: Bool, _ words: String) throws {
        guard json else { return Console.note("\(address): \(words)") }
        try Console.print(JSONValue.object([object, ["relay": .string("\(address)")]]).line)
    }

    private static func list(_ boards: [BoardInfo], json: Bool) throws {
        if json {
            for board in boards {
                let object: JSONValue = [
                    "type": "board", "channel": .string(board.channel), "records": .integer(board.records),
                    "bytes": .integer(board.bytes),
                    "changed": .integer(Int(clamping: board.changedMilliseconds)),
                ]
                try Console.print(object.line)
            }
            return
        }
        guard !boards.isEmpty else { return Console.note("There are no boards.") }
        var table = Table(("BOARD", .left), ("RECORDS", .right), ("SIZE", .right), ("CHANGED", .left))
        for board in boards {
            table.add(
                board.channel, Printable.count(board.records), Printable.size(board.bytes),
                Console.localTime(wallMilliseconds: board.changedMilliseconds))
        }
        for line in table.lines { try Console.print(line) }
    }

    // MARK: - Export

    private static func export(_ name: String, of client: WhiteboardClient, as format: ExportFormat, into file: inout BoardOutput)
        async throws
    {
        let board = try await wholeBoard(name, of: client)
        if board.isEmpty, try await !client.boards().contains(where: { $0.channel == name }) {
            throw await noSuch("board", name, client)
        }
        let records = board.ordered
        switch format {
        case .json:
            var writer = BoardExportWriter()
            try file.write(writer.head())
            for record in records { try file.write(try writer.line(record)) }
            try file.write(writer.tail())
        case .svg:
            var picture = WhiteboardPicture()
            for record in records { picture.add(record) }
            try file.write(BoardSVG.document(picture))
            for type in picture.skipped.keys.sorted() {
                let skipped = picture.skipped[type]!
                Console.note(
                    "\(Printable.count(skipped, "record")) \(skipped == 1 ? "is" : "are") not drawn: \(type.isEmpty ? "no custom type" : "custom type \(Printable.quoted(type))")."
                )
            }
            for (key, problem) in picture.broken.prefix(10) { Console.note("Record \(Printable.escaped(key)) is not drawn: \(problem).") }
            if picture.broken.count > 10 { Console.note("… and \(Printable.count(picture.broken.count - 10)) more.") }
        }
        try file.finish()
        Console.note("\(Printable.count(records.count, "record")); the file has \(Printable.size(file.bytes)).")
    }

    /// The board as it is at the moment in which all of it has come.
    private static func wholeBoard(_ name: String, of client: WhiteboardClient) async throws -> KeptBoard {
        let progress = BoardProgress()
        defer { progress.end() }
        try await client.subscribe(name, features: [.messages], quiet: true, since: .beginning)
        var board = KeptBoard(name)
        for await event in client.told {
            board.note(event)
            switch event {
            case .board(let batch): progress.show(batch.progress, Printable.count(board.count, "record"))
            case .caughtUp: return board
            case .link(.closed(let reason)) where reason.code == .clientClosed: break
            case .link(.closed(let reason)): throw Failure(Printable.escaped(EventText.words(reason)))
            default: break
            }
        }
        throw Failure("stopped before all had come")
    }

    // MARK: - Import

    private static func read(_ path: String) throws(Failure) -> [WhiteboardRecord] {
        var reader = BoardExportReader()
        var records: [WhiteboardRecord] = []
        do {
            try FileContents.pieces(path) { piece in try reader.read(piece, into: &records) }
            try reader.finish()
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(path == "-" ? "standard input" : Printable.quoted(path)), \(Printable.escaped("\(error)"))")
        }
        return records
    }

    private static func importing(
        _ records: [WhiteboardRecord], into name: String, _ client: WhiteboardClient, _ address: RelayAddress, as user: String, json: Bool
    ) async throws -> ExitCode {
        let writing = BoardImport(client: client, channel: name)
        let progress = BoardProgress()
        let display = Task {
            while !Task.isCancelled {
                let done = writing.outcome.withLock { $0.records + $0.failed }
                progress.show(
                    Double(done) / Double(max(1, records.count)), "\(Printable.count(done)) of \(Printable.count(records.count, "record"))")
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        defer {
            display.cancel()
            progress.end()
        }
        let outcome: BoardImport.Outcome
        do {
            outcome = try await writing.write(records)
        } catch {
            progress.end()
            Console.note("Not finished: \(kept(writing.outcome.withLock { $0.records }, of: records.count)).")
            throw error
        }
        display.cancel()
        await display.value
        progress.end()
        let object: JSONValue = [
            "type": "imported", "channel": .string(name), "records": .integer(outcome.records), "bytes": .integer(outcome.bytes),
            "failed": .integer(outcome.failed),
            "failures": .object(outcome.failures.keys.sorted().map { .init(key: $0, value: .integer(outcome.failures[$0]!)) }),
        ]
        let owner = outcome.records > 0 ? " All of it belongs to \(Printable.escaped(user)) now; what else is on the board stays." : ""
        try tell(object, address, json: json, "\(kept(outcome.records, of: records.count)).\(owner)")
        if let first = outcome.firstFailure {
            let codes = outcome.failures.keys.sorted().map { "\($0) \(Printable.count(outcome.failures[$0]!))" }.joined(separator: ", ")
            Console.note(
                "\(Printable.count(outcome.failed)) \(outcome.failed == 1 ? "is" : "are") not (\(codes)); the first: \(Printable.escaped(first))"
            )
            if outcome.failures["notPermitted"] != nil { Console.note("notPermitted: \(othersRecords)") }
        }
        return outcome.failed == 0 ? .ok : .failed
    }

    /// `3 of 5 records are kept`.
    private static func kept(_ count: Int, of all: Int) -> String {
        "\(Printable.count(count)) of \(Printable.count(all, "record")) \(count == 1 ? "is" : "are") kept"
    }
}

/// How far it is, on standard error, where that is a terminal.
private struct BoardProgress: Sendable {
    func show(_ fraction: Double, _ words: String) {
        guard Console.errorsAreTerminal else { return }
        let bar = ProgressBar(done: Int(fraction * 1_000), total: 1_000, words: words, remaining: nil)
        Console.noteRaw("\r\u{1B}[K" + bar.line(width: Console.columns - 1))
    }

    func end() {
        if Console.errorsAreTerminal { Console.noteRaw("\r\u{1B}[K") }
    }
}
