import RelayClient
import RelayConsole
import RelayIO
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let meta = Command(
        name: "meta",
        summary: "reads and writes the metadata of channels and users",
        arguments: [
            .action(MetaAction.self, help: "get, set (creates or replaces), update (replaces an existing item) or remove."),
            .init(name: "CHANNEL", help: "The channel's name; with --user a user id."),
            .init(name: "KEY", isOptional: true, help: "One item; get and remove without it mean all."),
            .init(name: "VALUE", isOptional: true, help: "The text to write, unless -f gives it."),
        ],
        options: [
            .value("-f", "--file", as: "FILE", help: "Writes the contents of this UTF-8 file, - for standard input."),
            .flag("--stream", help: "Uses the stream channel of this name instead of the message channel."),
            .flag("--user", help: "Uses the metadata of a user: CHANNEL is a user id."),
            .value("--if-revision", as: "N", help: "Only if the item has this revision; 0: only if it does not exist."),
            .value("--if-major-revision", as: "N", help: "Only if the set has this revision; 0: only if nobody ever wrote it."),
            .value("--lock", as: "LOCK", help: "Only if this user holds this lock of the channel."),
            .flag("--record", help: "Keeps author and time with the item."),
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124. Default: 30s."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            A set has at most 65,536 bytes of keys and values and 1,000 items. If a condition or limit fails, nothing changes and the \
            exit code is 1.
            """
        ],
        examples: [
            .init("boardrelay meta set lesson title 'Herbst'", "Writes one item of the message channel 'lesson'."),
            .init("boardrelay meta get lesson", "Everything, with revisions."),
            .init("boardrelay meta set lesson board -f board.json --if-revision 7", "Only if nobody else wrote it meanwhile."),
            .init("boardrelay meta remove alice --user", "All metadata of user alice."),
        ],
        run: meta)

    private enum MetaAction: String, CaseIterable { case get, set, update, remove }

    private static func meta(_ arguments: Arguments) async throws -> ExitCode {
        let action: MetaAction = try arguments.action()
        try arguments.exclude("--stream", "--user")
        let name = try arguments.name(argument: 1, "CHANNEL")!
        let key = try arguments.name(argument: 2, "KEY")
        let value = try metaValue(arguments, action, key)
        if action == .get {
            for option in ["--if-revision", "--if-major-revision", "--lock", "--record"] where arguments.flag(option) {
                throw UsageError("option \(option) is for set, update and remove")
            }
        }
        let revision = try arguments.integer("--if-revision", in: 0...Int.max).map { UInt64($0) }
        if revision != nil, key == nil { throw UsageError("option --if-revision wants KEY") }
        let major = try arguments.integer("--if-major-revision", in: 0...Int.max).map { UInt64($0) }
        let lock = try arguments.name("--lock")
        let timeout = try arguments.duration("--timeout") ?? .seconds(30)
        let user = try arguments.user()
        let reference: MetadataReference =
            arguments.flag("--user") ? .user(name) : arguments.flag("--stream") ? .stream(name) : .message(name)
        let address = try arguments.address()
        let record = arguments.flag("--record"), json = arguments.flag("--json")
        let code = try await withClient(arguments, as: user, timeout: timeout) { client in
            let metadata = try client.metadata(of: reference)
            let revisions = key.flatMap { key in revision.map { [key: $0] } } ?? [:]
            let after: UInt64
            switch action {
            case .get:
                let contents = try await metadata.get()
                guard key != nil || contents.majorRevision > 0 else {
                    throw Failure("there is no metadata of \(arguments.flag("--user") ? "user " : "")\(name)")
                }
                try show(contents, key: key, of: name, json: json)
                return .ok
            case .set:
                after = try await metadata.set(
                    [key!: value!], revisions: revisions, majorRevision: major, lock: lock, recordsUser: record, recordsTime: record)
            case .update:
                after = try await metadata.update(
                    [key!: value!], revisions: revisions, majorRevision: major, lock: lock, recordsUser: record, recordsTime: record)
            case .remove:
                after =
                    try await key == nil
                    ? metadata.removeAll(majorRevision: major, lock: lock)
                    : metadata.remove([key!], revisions: revisions, majorRevision: major, lock: lock)
            }
            if json {
                let fields: JSONValue = ["type": "changed", "majorRevision": .integer(Int(clamping: after)), "relay": .string("\(address)")]
                try Console.print(fields.line)
            } else {
                Console.note("\(address): the major revision is \(after).")
            }
            return .ok
        }
        if code == .timedOut { Console.note("boardrelay meta: timed out; a change may have happened or not") }
        return code
    }

    private static func metaValue(_ arguments: Arguments, _ action: MetaAction, _ key: String?) throws -> String? {
        let text = arguments.positional.dropFirst(3).first
        guard action == .set || action == .update else {
            if text != nil || arguments.flag("-f") { throw UsageError("\(action.rawValue) takes no value") }
            return nil
        }
        guard key != nil else { throw UsageError("KEY is missing") }
        if text != nil, arguments.flag("-f") { throw UsageError("VALUE and option -f exclude each other") }
        if let text { return text }
        guard let path = arguments.value("-f") else { throw UsageError("what to write is missing: VALUE or -f FILE") }
        guard let read = String(validating: try FileContents.read(path), as: UTF8.self) else {
            throw Failure("\(path == "-" ? "standard input" : Printable.quoted(path)) is not UTF-8 text, which metadata is")
        }
        return read
    }

    private static func show(_ contents: MetadataContents, key: String?, of name: String, json: Bool) throws {
        let items = contents.inOrder.filter { key == nil || $0.key == key }
        if let key, items.isEmpty { throw Failure("there is no item \(key) in the metadata of \(name)") }
        if json {
            let fields: JSONValue = [
                "majorRevision": .integer(Int(clamping: contents.majorRevision)), "items": .array(items.map(EventJSON.item)),
            ]
            return try Console.print(fields.line)
        }
        // Into a pipe as it is; a terminal must not be changed by what others wrote.
        if key != nil { return try Console.print(Console.outputIsTerminal ? Printable.escaped(items[0].value) : items[0].value) }
        Console.note("\(Printable.count(items.count, "item")) of \(name), major revision \(contents.majorRevision)")
        var table = Table(("key", .left), ("revision", .right), ("author", .left), ("value", .left))
        for item in items {
            let shown = item.value.count > 60 ? "\(item.value.prefix(60))… (\(item.value.utf8.count) bytes)" : item.value
            table.add(item.key, "\(item.revision)", item.author ?? "", shown)
        }
        if !table.isEmpty { for line in table.lines { try Console.print(line) } }
    }
}
