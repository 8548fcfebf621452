import RelayClient
import RelayConsole
import RelayIO
import RelayServer
import RelaySystem
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let key = Command(
        name: "key",
        summary: "shows or replaces the keys of a relay on this machine",
        arguments: [
            .action(
                Action.self,
                help: "show: prints the addresses that include the keys. rotate: makes new keys and shows them. "
                    + "code: prints six letters that stand for the join key."),
            .init(
                name: "WHICH", isOptional: true, words: AccessKeys.Kind.allCases.map(\.rawValue),
                help: "join or host: prints one address to copy. Default: all addresses of both. code takes none."),
        ],
        options: [
            .flag("--end-sessions", help: "rotate: disconnects users of the old key. Default: they stay until their connection ends."),
            .value("--host-name", as: "NAME",
                help: "Prints the address with this name or NAME:PORT of 'serve --host-name'."),
            .value("--board", as: "NAME", help: "code: the board to which it leads. Default: board."),
            .json, .url, .space,
        ] + ControlSocket.options,
        notes: [
            "Asks through a Unix socket that only the relay's user can open, and the group of a service. The output is secret.",
            """
            The join key makes editors (with 'serve --pupils view' readers, with 'revise' coeditors), the host key moderators. After rotate the old key is \
            invalid at once: a lost connection cannot come back with it.
            """,
            """
            code runs for the 30 minutes for which its letters hold; they end with it. Others open the address without a key, and type them.
            """,
        ],
        examples: [
            .init("boardrelay key show join", "The address for the class."),
            .init("boardrelay key show join --host-name board.example", "The same by a name of this machine."),
            .init("boardrelay key rotate join --end-sessions", "Ends every session of the join key, and makes a new one for the next lesson."),
            .init("boardrelay key code --board lesson", "Six letters for people without a camera."),
        ],
        run: key)

    private enum Action: String, CaseIterable { case show, rotate, code }

    private static func key(_ arguments: Arguments) async throws -> ExitCode {
        let action: Action = try arguments.action()
        if action == .code, arguments.positional.count > 1 { throw UsageError("code takes no WHICH") }
        if action != .code, arguments.value("--board") != nil { throw UsageError("option --board is for code") }
        let board = try arguments.name("--board") ?? "board"
        var kinds = Set(AccessKeys.Kind.allCases)
        if arguments.positional.count > 1 {
            guard let kind = AccessKeys.Kind(rawValue: arguments.positional[1]) else {
                throw UsageError("WHICH is one of join, host, not \(Printable.quoted(arguments.positional[1]))")
            }
            kinds = [kind]
        }
        let endsSessions = arguments.flag("--end-sessions")
        if action != .rotate, endsSessions { throw UsageError("option --end-sessions is for rotate") }
        guard let place = try ControlSocket.place(arguments) else {
            throw Failure("\(try arguments.address()) is another machine's: keys are shown and changed on the machine that runs the relay")
        }
        // Found before anything changes.
        let space = try arguments.invitation().space
        var (report, path) = try ControlSocket.ask(place, address: \.address) { path throws(RelayServerError) in
            try ControlSocket.keys(on: path, space)
        }
        if let name = arguments.value("--host-name"), report.page(named: name) == nil {
            throw UsageError("option --host-name: \(Printable.quoted(name)) is no name with or without a port")
        }
        if action == .rotate {
            let waiting = Waiting("Waiting for the relay")
            defer { waiting.end() }
            do throws(RelayServerError) {
                report = try WhiteboardRelay.rotateKeys(kinds, endsSessions: endsSessions, controlSocket: path, space: space)
            } catch {
                throw Failure("\(error)")
            }
            let names = kinds.count > 1 ? "both keys are" : "the \(kinds.first!.rawValue) key is"
            Console.note("\(Printable.escaped(KeyText.relay(report))): \(names) new.")
        }
        if action == .code { return try await code(report, to: board, arguments) }
        let (names, addresses) = (Interfaces.names(), Interfaces.addresses())
        if let name = arguments.value("--host-name"), !report.answers(to: name, names: names, addresses: addresses) {
            Console.note("warning: by the name \(name) this relay gives browsers no whiteboard: start it with 'serve --host-name \(name)'.")
        }
        let pages = KeyText.pages(report, name: arguments.value("--host-name"))
        for kind in AccessKeys.Kind.allCases where kinds.contains(kind) {
            let lines = KeyText.lines(report, kind, pages: pages, json: arguments.flag("--json"), isAlone: kinds.count == 1)
            for line in lines { try Console.print(line) }
        }
        return .ok
    }
}

@available(macOS 15, iOS 18, *)
extension Command {
    /// Prints a join code, and another one if the relay has started anew meanwhile. [AC20]
    private static func code(_ report: KeysReport, to board: String, _ arguments: Arguments) async throws -> ExitCode {
        guard let address = RelayAddress(report.address).flatMap({ Interfaces.reachable($0).first }) else {
            throw Failure("\(Printable.escaped(report.address)) is no address")
        }
        var options = ClientOptions()
        options.credential = .key(report.host)
        options.secret = .inMemory
        options.description = "boardrelay \(Program.version)"
        let user = "cli-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
        let client: WhiteboardClient
        let reached = report.tls?.links([address]).first ?? address
        let invitation = Invitation(reached, space: report.space)
        do { client = try await WhiteboardClient.connect(to: invitation, as: user, options: options) } catch { throw Failure(error) }
        let page = KeyText.pages(report, name: arguments.value("--host-name")).first ?? address.pageURL
        return try await untilEnded(timeout: nil, closing: [client]) {
            var shown: String?
            for await event in client.told {
                switch event {
                case .link(.connected):
                    let offer = try await client.moderation.offerJoinCode(to: board)
                    guard offer.code != shown else { continue }
                    shown = offer.code
                    let offered: JSONValue = [
                        "type": "offered", "code": .string(offer.code), "board": .string(board), "url": .string(page),
                        "validMs": .integer(Int((offer.validFor / .milliseconds(1)).rounded())),
                    ]
                    try Console.print(arguments.flag("--json") ? offered.line : offer.code)
                    Console.note(
                        "Others go to \(page) and type \(offer.code). It is good for \(Printable.time(offer.validFor)), while this command "
                            + "runs. Ctrl-C ends it.")
                case .joinCodeEnded(.expired): return .ok
                case .joinCodeEnded(let reason): throw Failure(EventText.words(reason))
                case .link(.closed(let reason)) where reason.code != .clientClosed: throw Failure(EventText.words(reason))
                default: break
                }
            }
            return .ok
        }
    }
}

/// Addresses with a key in them.
@available(macOS 15, iOS 18, *)
enum KeyText {
    /// Addresses of the whiteboard without a key, the best first: by the names that the relay was given, then by its addresses.
    ///
    /// - Parameter name: the address by this name alone.
    static func pages(_ report: KeysReport, name: String? = nil) -> [String] {
        roots(report, name: name).map { $0 + (report.space ?? "") }
    }

    private static func roots(_ report: KeysReport, name: String?) -> [String] {
        if let name { return report.page(named: name).map { [$0] } ?? [] }
        let reachable = RelayAddress(report.address).map { Interfaces.reachable($0) } ?? []
        let addresses = report.tls?.pages(reachable) ?? reachable
        if let tls = report.tls, addresses.isEmpty { return tls.links(reachable).map { "\($0)/" } }
        // Not every device knows such a name: it comes last.
        let hasCertificate = report.isBehindTLS || report.tls?.names.isEmpty == false
        let announced = hasCertificate ? nil : report.announcedName.flatMap { report.page(named: $0) }
        let given = report.hostNames.compactMap { report.page(named: $0) }
        return given + addresses.map(\.pageURL) + [announced].compactMap { $0 }
    }

    /// - Parameter isAlone: prints one address of one key, to copy.
    static func lines(_ report: KeysReport, _ kind: AccessKeys.Kind, pages: [String], json: Bool, isAlone: Bool) -> [String] {
        let key = kind == .join ? report.join : report.host
        let role = kind == .join ? report.joinRole : "moderator"
        let pin = report.tls.map { "&pin=\($0.pin)" } ?? ""
        let urls = pages.map { page in
            "\(page)#key=\(key)" + (kind == .join ? "" : "&j=\(report.join)") + (page.hasPrefix("relays:") ? pin : "")
        }
        if json {
            let object: JSONValue = [
                "kind": .string(kind.rawValue), "role": .string(role), "key": .string(key), "urls": .array(urls.map(JSONValue.string)),
                "relay": .string(relay(report)),
            ]
            return [object.line]
        }
        return isAlone ? Array(urls.prefix(1)) : ["\(kind.rawValue) (\(role)):"] + urls.map { "  \($0)" }
    }

    /// Which relay it is: an address at which it is reached.
    static func relay(_ report: KeysReport) -> String {
        RelayAddress(report.address).flatMap { Interfaces.reachable($0).first }?.description ?? report.address
    }

    /// The page of a user with this key invites others with the join key, never as moderators.
    static func hostURL(_ address: RelayAddress, host: String, join: String) -> String { url(address, host) + "&j=\(join)" }

    /// Opens the whiteboard. What stands behind `#` no browser sends to anybody.
    static func url(_ address: RelayAddress, _ key: String? = nil) -> String {
        guard case .pinned = address.protection else { return address.pageURL + (key.map { "#key=\($0)" } ?? "") }
        return link(address, key)
    }

    /// For programs: with the pin, where there is one.
    static func link(_ address: RelayAddress, _ key: String? = nil) -> String {
        var parts = key.map { ["key=\($0)"] } ?? []
        if case .pinned(let pin) = address.protection { parts.append("pin=\(pin)") }
        return "\(address)" + (parts.isEmpty ? "" : "/#\(parts.joined(separator: "&"))")
    }
}
