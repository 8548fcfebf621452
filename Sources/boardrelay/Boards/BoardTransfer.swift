import BoardFormat
import RelayClient
import RelayClientCore
import RelayConsole
import RelayIO
import RelayWire

/// Boards on their way into files, and out of them.
struct BoardTransfer: Sendable {
    enum Format: String, CaseIterable { case json, svg }

    private let address: RelayAddress
    private let user: String
    private let json: Bool
    private let format: Format
    private var output: BoardOutput?
    /// Of all boards.
    private var folder: String?
    private var files: [(channel: String, path: String)] = []
    private var document: BoardDocument?

    init(_ arguments: Arguments, to address: RelayAddress, as user: String) throws {
        (self.address, self.user, json) = (address, user, arguments.flag("--json"))
        format = try arguments.choice("--format", of: Format.self) ?? .json
    }

    mutating func abandon() { output?.abandon() }

    // MARK: - Export

    /// - Throws: where it cannot be written.
    mutating func open(_ isAll: Bool, _ arguments: Arguments) throws {
        guard isAll else { return output = try BoardOutput(path: arguments.value("-o"), escape: format == .json ? .json : .xml) }
        folder = arguments.value("-o")
        try BoardFolder.make(folder!)
    }

    /// - Parameter name: `nil`: all boards.
    mutating func export(_ name: String?, of client: WhiteboardClient) async throws -> ExitCode {
        guard let name else { return try await exportAll(client) }
        let progress = Progress()
        defer { progress.end() }
        let (board, paper) = try await whole(name, of: client) { progress.show($0, Printable.count($1, "record")) }
        if board.isEmpty, try await !client.boards().contains(where: { $0.channel == name }) {
            throw await noSuch("board", name, client)
        }
        progress.end()
        let writing = Waiting("Writing \(Printable.count(board.count, "record"))")
        defer { writing.end() }
        try write(board.ordered, paper, into: &output!)
        Console.note("\(Printable.count(board.count, "record")); the file has \(Printable.size(output!.bytes)).")
        return .ok
    }

    /// One that ends meanwhile is left out.
    private mutating func exportAll(_ client: WhiteboardClient) async throws -> ExitCode {
        let boards = try await Waiting.during("Waiting for the list of boards") { try await client.boards() }
        let progress = Progress()
        defer { progress.end() }
        var (written, bytes) = (0, 0)
        for (index, info) in boards.enumerated() {
            let words = "\(Printable.count(index)) of \(Printable.count(boards.count, "board"))"
            let (board, paper) = try await whole(info.channel, of: client) { part, _ in
                progress.show((Double(index) + part) / Double(boards.count), words)
            }
            if board.isEmpty, info.records > 0, try await !client.boards().contains(where: { $0.channel == info.channel }) {
                Console.note("\(info.channel) has ended meanwhile.")
                continue
            }
            let path = "\(folder!)/\(BoardFolder.file(of: info.channel))"
            output = try BoardOutput(path: path, escape: .json)
            try write(board.ordered, paper, into: &output!)
            (written, bytes) = (written + 1, bytes + output!.bytes)
            guard json else { continue }
            let object: JSONValue = [
                "type": "exported", "channel": .string(info.channel), "records": .integer(board.count), "bytes": .integer(output!.bytes),
                "file": .string(path), "relay": .string("\(address)"),
            ]
            try Console.print(object.line)
        }
        Console.note("\(address): \(Printable.count(written, "board")); the files have \(Printable.size(bytes)).")
        return .ok
    }

    private func write(_ records: [WhiteboardRecord], _ paper: String?, into file: inout BoardOutput) throws {
        switch format {
        case .json:
            var writer = BoardExportWriter()
            try file.write(writer.head(paper: paper))
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
    }

    /// The board, and its paper, as they are at the moment in which all of it has come. Nobody sees the reader, and it uses nothing.
    private func whole(_ name: String, of client: WhiteboardClient, _ progress: (Double, Int) -> Void) async throws -> (
        KeptBoard, String?
    ) {
        try await client.subscribe(name, features: [.messages, .metadata], quiet: true, since: .beginning)
        var board = KeptBoard(name), paper: String?
        for await event in client.told {
            board.note(event)
            switch event {
            case .board(let batch) where batch.channel == name: progress(batch.progress, board.count)
            case .metadata(let change) where change.owner == .message(name): paper = change.items[BoardWords.paperItem]?.value
            case .caughtUp(name, _):
                try await client.unsubscribe(name)
                return (board, paper)
            case .link(.closed(let reason)) where reason.code == .clientClosed: break
            case .link(.closed(let reason)): throw Failure(Printable.escaped(EventText.words(reason)))
            default: break
            }
        }
        throw Failure("stopped before all had come")
    }

    // MARK: - Import

    /// - Throws: `Failure` that names the file; nothing was sent then.
    mutating func read(_ isAll: Bool, _ arguments: Arguments) throws(Failure) {
        if isAll { files = try BoardFolder.boards(in: arguments.positional[1]) } else {
            let path = arguments.positional[2]
            let reading = Waiting("Reading \(Printable.escaped(path))")
            defer { reading.end() }
            document = try BoardDocument(reading: path)
        }
    }

    /// - Parameter name: `nil`: all boards of the folder, one after the other; each file is checked before anything of it is sent.
    func importing(into name: String?, _ client: WhiteboardClient) async throws -> ExitCode {
        if let name { return try await write(document!, to: name, client) ? .ok : .failed }
        var failed = 0
        for (index, file) in files.enumerated() {
            let document: BoardDocument
            do {
                document = try BoardDocument(reading: file.path)
            } catch {
                Console.note("\(error)")
                failed += 1
                continue
            }
            let place = "\(Printable.count(index + 1)) of \(Printable.count(files.count, "board")), "
            if try await !write(document, to: file.channel, client, place) { failed += 1 }
        }
        Console.note("\(address): \(Printable.count(files.count - failed)) of \(Printable.count(files.count, "board")) came in whole.")
        return failed == 0 ? .ok : .failed
    }

    /// - Parameter place: of this board among others, for the progress.
    /// - Returns: whether all of it was taken.
    private func write(_ document: BoardDocument, to name: String, _ client: WhiteboardClient, _ place: String = "") async throws -> Bool {
        let records = document.records
        let writing = BoardImport(client: client, channel: name)
        let progress = Progress()
        let display = Task {
            while !Task.isCancelled {
                let done = writing.outcome.withLock { $0.records + $0.failed }
                progress.show(
                    Double(done) / Double(max(1, records.count)),
                    "\(place)\(Printable.count(done)) of \(Printable.count(records.count, "record"))")
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
            if let paper = document.paper { try await set(paper, of: name, client) }
        } catch {
            display.cancel()
            Console.note("Not finished: \(kept(writing.outcome.withLock { $0.records }, of: records.count)).")
            throw error
        }
        display.cancel()
        await display.value
        progress.end()
        try tell(outcome, of: records.count, name)
        return outcome.failed == 0
    }

    /// Metadata has a rate of its own (RT7).
    private func set(_ paper: String, of name: String, _ client: WhiteboardClient) async throws {
        while true {
            do throws(RelayError) {
                try await client.metadata(of: .message(name)).set([BoardWords.paperItem: paper])
                return
            } catch {
                guard error.code == .rateLimited, let wait = error.retryAfter else { throw error }
                try await Task.sleep(for: wait)
            }
        }
    }

    private func tell(_ outcome: BoardImport.Outcome, of records: Int, _ name: String) throws {
        let object: JSONValue = [
            "type": "imported", "channel": .string(name), "records": .integer(outcome.records), "bytes": .integer(outcome.bytes),
            "failed": .integer(outcome.failed),
            "failures": .object(outcome.failures.keys.sorted().map { .init(key: $0, value: .integer(outcome.failures[$0]!)) }),
        ]
        let owner = outcome.records > 0 ? " All of it belongs to \(Printable.escaped(user)) now; what else is on the board stays." : ""
        let which = files.isEmpty ? "" : "\(name): "
        try Command.tell(object, address, json: json, "\(which)\(kept(outcome.records, of: records)).\(owner)")
        guard let first = outcome.firstFailure else { return }
        let codes = outcome.failures.keys.sorted().map { "\($0) \(Printable.count(outcome.failures[$0]!))" }.joined(separator: ", ")
        Console.note(
            "\(Printable.count(outcome.failed)) \(outcome.failed == 1 ? "is" : "are") not (\(codes)); the first: \(Printable.escaped(first))")
        if outcome.failures["notPermitted"] != nil { Console.note("notPermitted: \(Command.othersRecords)") }
    }

    /// `3 of 5 records are kept`.
    private func kept(_ count: Int, of all: Int) -> String {
        "\(Printable.count(count)) of \(Printable.count(all, "record")) \(count == 1 ? "is" : "are") kept"
    }
}
