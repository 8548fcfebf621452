import RelayConsole
import RelayIO
import RelayServer
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let space = Command(
        name: "space",
        summary: "several relays in one: lists, adds, moves, removes spaces",
        arguments: [
            .action(SpaceAction.self, help: "ls, add, remove, drain or status."),
            .init(name: "NAME", isOptional: true, help: "The space: 1…32 small letters, digits, and hyphens between them; ls takes none."),
        ],
        options: [.flag("--yes", help: "remove: asks nothing."), .json, .url] + ControlSocket.options,
        notes: [
            """
            A relay that was started with 'serve --spaces' has spaces. Each is a relay by itself: with its own folder, keys, users, boards \
            and limits, and a processor of its own while it has work. They share a port. An address names one by its path: \
            http://192.168.1.5:7420/school-a. A login without a space goes to the only one there is.
            """,
            """
            Other commands take --space NAME, or an address with a path. A file 'settings' in the folder DIR/spaces/NAME says what the space \
            has for itself, such as 'pupils = view'; 'boardrelay reload' reads it again.
            """,
            """
            Of a relay with 'serve --spaces --log' the spaces are those of the directory: each of its relays lists all, with the address of \
            the one that serves a space. drain moves a space that this relay serves to another one, within a second. See docs/cluster.md.
            """,
            "remove ends the space for those who are in it, and removes its boards, keys and settings. There is no undo: make a backup first.",
        ],
        examples: [
            .init("boardrelay space add school-a", "Makes a space of the relay of this machine, and serves it."),
            .init("boardrelay key show join --space school-a", "The address for those who are to come in."),
            .init("boardrelay space drain school-a", "Moves it to another relay of the directory."),
            .init("boardrelay space ls --json", "All spaces, with how many people and bytes each has."),
        ],
        run: space)

    private static func space(_ arguments: Arguments) async throws -> ExitCode {
        let action: SpaceAction = try arguments.action()
        if action != .remove, arguments.flag("--yes") { throw UsageError("option --yes is for remove") }
        if action == .ls, arguments.positional.count > 1 { throw UsageError("ls takes no NAME") }
        guard let place = try ControlSocket.place(arguments) else {
            throw UsageError("spaces are looked after on the machine that runs the relay; the address names another one")
        }
        let (report, path) = try ControlSocket.ask(place, address: \.address) { path throws(RelayServerError) in
            try WhiteboardRelay.spaces(controlSocket: path)
        }
        guard action != .ls else { return try show(report, arguments) }
        guard arguments.positional.count > 1 else { throw UsageError("NAME is missing") }
        let name: SpaceName
        do { name = try SpaceName(arguments.positional[1]) } catch { throw UsageError("NAME: \(error.text)") }
        do {
            switch action {
            case .ls: preconditionFailure("listed above")
            case .add:
                let report = try WhiteboardRelay.addSpace(name, controlSocket: path)
                let places = ["--data-dir", "--control", "--port"]
                let place = places.compactMap { option in arguments.value(option).map { " \(option) \($0)" } }
                let hint = "'boardrelay key show --space \(name)\(place.joined())' prints its addresses."
                return try changed(report, name, "is there now. \(Printable.escaped(hint))", arguments)
            case .remove:
                // One that is not listed may be half removed: the relay knows.
                if let space = report.spaces.first(where: { $0.name == name.text }), !mayRemove(space, arguments) { return .failed }
                return try changed(
                    try WhiteboardRelay.removeSpace(name, controlSocket: path), name, "is gone, with all that it has kept.", arguments)
            case .drain:
                let report = try WhiteboardRelay.drainSpace(name, controlSocket: path)
                let place = report.spaces.first { $0.name == name.text }?.servedAt.map { "served at \(Printable.escaped($0))" }
                return try changed(report, name, "is \(place ?? "with another relay") now.", arguments)
            case .status:
                return try show(try WhiteboardRelay.status(controlSocket: path, space: name.text), isJSON: arguments.flag("--json"))
            }
        } catch let error as RelayServerError {
            throw Failure("\(error)")
        }
    }

    private static func mayRemove(_ space: SpacesReport.Space, _ arguments: Arguments) -> Bool {
        guard !arguments.flag("--yes") else { return true }
        let has = "has \(Printable.count(space.boards, "board")), \(Printable.size(space.boardBytes))"
        let what = "space \(space.name) \(space.isOwned == false ? "is served by another relay" : has)"
        guard Question.canBeAsked else {
            Console.note("\(what): 'remove --yes' removes it without a question.")
            return false
        }
        return Question.isYes("\(what), and \(Printable.count(space.users, "user")) in it. Remove it for good?")
    }

    private static func changed(_ report: SpacesReport, _ name: SpaceName, _ words: String, _ arguments: Arguments) throws -> ExitCode {
        if arguments.flag("--json") { return try show(report, arguments) }
        Console.note("\(Printable.escaped(report.address)): space \(name) \(words)")
        return .ok
    }

    private static func show(_ report: SpacesReport, _ arguments: Arguments) throws -> ExitCode {
        if arguments.flag("--json") {
            for space in report.spaces { try Console.print(SpaceText.json(space).line) }
        } else {
            for line in SpaceText.table(report.spaces) { try Console.print(line) }
        }
        return .ok
    }
}

private enum SpaceAction: String, CaseIterable { case ls, add, remove, drain, status }

@available(macOS 15, iOS 18, *)
enum SpaceText {
    static func served(_ names: [SpaceName]) -> String {
        names.isEmpty
            ? "There is no space yet: 'boardrelay space add NAME' makes one."
            : "\(Printable.count(names.count, "space")): \(names.map(\.text).joined(separator: ", "))."
    }

    static func json(_ space: SpacesReport.Space) -> JSONValue {
        [
            "type": "space", "name": .string(space.name), "users": .integer(space.users), "connections": .integer(space.connections),
            "boards": .integer(space.boards), "boardBytes": .integer(space.boardBytes), "problem": .optional(space.problem),
            "isOwned": space.isOwned.map { .bool($0) } ?? .null, "servedAt": .optional(space.servedAt),
        ]
    }

    static func table(_ spaces: [SpacesReport.Space]) -> [String] {
        var table = Table(("space", .left), ("users", .right), ("boards", .right), ("bytes", .right), ("", .left))
        for space in spaces {
            guard space.isOwned != false else {
                table.add(space.name, "", "", "", space.problem ?? "at \(space.servedAt ?? "another relay, which does not say where")")
                continue
            }
            table.add(space.name, "\(space.users)", "\(space.boards)", "\(space.boardBytes)", space.problem ?? "")
        }
        return table.lines
    }
}
