import RelayClient
import RelayConsole
import RelayRights
import RelayWire

extension Command {
    static let user = Command(
        name: "user",
        summary: "sets roles, ends sessions, bans and forgets users",
        arguments: [
            .action(UserAction.self, help: "role, end, ban, unban, bans (lists them) or forget."),
            .init(name: "USER", isOptional: true, help: "A user id; at a terminal also the name of a person who is here. bans takes none."),
            .init(
                name: "ROLE", isOptional: true, words: SetRole.allCases.map(\.rawValue),
                help: "role: reader, editor, coeditor, or own (what the key or token gives)."),
        ],
        options: [
            .value("--reason", as: "TEXT", help: "end: text for the user, at most 256 bytes."),
            .flag("--with-records", help: "forget: also removes what the user drew from all boards."),
            .value("--for", as: "TIME", help: "ban: how long, 1s to 365d. Default: until unban."),
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124. Default: 30s, for forget none."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            For moderators. On the relay's machine, its own user needs no key; elsewhere use --key-file. Roles and bans survive \
            restarts. The relay logs each change with the id that --as gives.
            """,
            """
            If no user has the id and one person here has the name, a terminal shows name and id and asks. Without a terminal, or if \
            several people have the name, nothing happens: the exit code is 2. Hidden users (sub --quiet) need their id.
            """,
            """
            ban keeps out the id and the client that used it last. A person with a shared key can come back under another id: \
            'boardrelay key rotate join --end-sessions' prevents that.
            """,
            """
            forget removes the user's metadata, role and ownership of boards, and frees the id once the user has left: run it again then. \
            It says what went and what stays, and ends when no file in the data folder holds what went; Ctrl-C ends only the waiting. \
            Imported records belong to the user who imported them.
            """,
        ],
        examples: [
            .init("boardrelay user role anna reader", "From here on anna only looks on."),
            .init("boardrelay user end anna --reason 'See you tomorrow.'", "Ends her session; she may come in again."),
            .init("boardrelay user ban anna --for 2h", "She may not, for two hours."),
            .init("boardrelay user bans --json", "Who is banned, one JSON object a line."),
            .init("boardrelay user forget anna", "Removes what the relay keeps of her."),
            .init("boardrelay user forget anna --with-records", "And all that she drew."),
        ],
        run: moderateUser)

    private enum UserAction: String, CaseIterable { case role, end, ban, unban, bans, forget }
    private enum SetRole: String, CaseIterable {
        case reader, editor, coeditor, own

        var role: Role? {
            switch self {
            case .reader: .reader
            case .editor: .editor
            case .coeditor: .coeditor
            case .own: nil
            }
        }
    }

    private static func checkWords(_ action: UserAction, user: String?, role word: String?, _ arguments: Arguments) throws {
        if action == .bans, user != nil { throw UsageError("bans takes no USER") }
        if action != .bans, user == nil { throw UsageError("USER is missing") }
        if action == .role, word == nil { throw UsageError("ROLE is missing") }
        if action != .role, word != nil { throw UsageError("\(action.rawValue) takes no ROLE") }
        let owners = [("--reason", UserAction.end), ("--for", .ban), ("--with-records", .forget)]
        for (option, owner) in owners where arguments.flag(option) && action != owner {
            throw UsageError("option \(option) is for \(owner.rawValue)")
        }
    }

    private static func moderateUser(_ arguments: Arguments) async throws -> ExitCode {
        let action: UserAction = try arguments.action()
        // Banned users are not here: a name says nothing.
        var user = action == .unban ? try arguments.name(argument: 1, "USER") : arguments.positional.dropFirst().first
        let word = arguments.positional.dropFirst(2).first
        try checkWords(action, user: user, role: word, arguments)
        let role = word.map { SetRole(rawValue: $0) } ?? .own
        guard let role else { throw UsageError("ROLE is one of reader, editor, coeditor, own, not \(Printable.quoted(word!))") }
        let time = try arguments.duration("--for"), reason = arguments.value("--reason")
        let allowed = Limits.banMilliseconds
        if let time, !(.milliseconds(allowed.lowerBound)...(.milliseconds(allowed.upperBound))).contains(time) {
            throw UsageError("option --for wants 1s to 365d")
        }
        try checkReason(reason)
        let json = arguments.flag("--json")
        let address = try arguments.address()
        let given = try arguments.duration("--timeout")
        var timeout = given ?? .seconds(30)
        var known = JSONValue.null
        if let word = user, let question = question(action, role) {
            let began = ContinuousClock.now
            let found = try await Whom(word: word, question: question).find(arguments, timeout: timeout)
            (user, timeout) = (found.user, max(.zero, timeout - (found.at - began)))
            known = .bool(found.isKnown)
        }
        return try await moderate(
            "user", arguments, timeout: action == .forget && given == nil ? nil : timeout, isErasing: action == .forget
        ) { client in
            let moderation = client.moderation
            var fields: JSONValue = [
                "type": .string(action.rawValue), "user": .optional(user), "known": known, "relay": .string("\(address)"),
            ]
            var words = ""
            switch action {
            case .role:
                try await moderation.setRole(role.role, of: user!)
                fields = .object([fields, ["role": .string(role.rawValue)]])
                words = "\(user!) is \(role == .editor ? "an editor" : "a \(role.rawValue)")."
                if role == .own { words = "\(user!) may do what its key or token gives." }
            case .end:
                try await moderation.endSession(of: user!, reason: reason)
                words = "The session of \(user!) has ended."
            case .ban:
                try await moderation.ban(user!, for: time)
                fields = .object([fields, ["forMs": .optional(time.map { Int($0 / .milliseconds(1)) })]])
                let end = time.map { " for \(Printable.span($0)), or" } ?? ","
                words = "\(user!) is banned\(end) until 'boardrelay user unban \(user!)'."
            case .unban:
                try await unban(user!, moderation)
                words = "\(user!) may come in again."
            case .bans: return try list(try await moderation.bans(), json: json)
            case .forget:
                let withRecords = arguments.flag("--with-records")
                var forgotten = Forgotten()
                try await untilErased { forgotten = try await moderation.forgetting(user: user!, withRecords: withRecords) }
                fields = .object([fields, withRecords ? ["withRecords": true] : [:], forgotten.fields])
                words = forgotten.words(of: user!)
            }
            if json { try Console.print(fields.line) } else { Console.note(Printable.escaped("\(address): \(words)")) }
        }
    }

    static func checkReason(_ reason: String?) throws(UsageError) {
        guard let reason, reason.utf8.count > Limits.endReasonBytesMax else { return }
        throw UsageError("option --reason has at most \(Limits.endReasonBytesMax) bytes, not \(reason.utf8.count)")
    }

    /// - Throws: `Failure` for an id that is not banned, such as a banned user's name.
    private static func unban(_ user: String, _ moderation: Moderation) async throws {
        do {
            try await moderation.unban(user)
        } catch {
            guard error.code == .notBanned else { throw error }
            throw Failure("no banned user has the id \(Printable.quoted(user)): 'boardrelay user bans' lists the ids")
        }
    }

    /// The question before a command acts on a user given by name instead of an id.
    private static func question(_ action: UserAction, _ role: SetRole) -> ((String) -> String)? {
        switch action {
        case .role where role == .own: { "Give \($0) back what their key or token gives?" }
        case .role where role == .editor: { "Make \($0) an editor?" }
        case .role: { "Make \($0) a \(role.rawValue)?" }
        case .end: { "End the session of \($0)?" }
        case .ban: { "Ban \($0)?" }
        case .forget: { "Forget \($0)?" }
        case .unban, .bans: nil
        }
    }

    private static func list(_ bans: [BanInfo], json: Bool) throws {
        if json {
            for ban in bans {
                let object: JSONValue = [
                    "type": "banned", "user": .string(ban.user), "by": .string(ban.by),
                    "time": .integer(Int(clamping: ban.wallMilliseconds)),
                    "until": .optional(ban.endMilliseconds.map { Int(clamping: $0) }),
                ]
                try Console.print(object.line)
            }
            return
        }
        guard !bans.isEmpty else { return Console.note("Nobody is banned.") }
        var table = Table(("USER", .left), ("UNTIL", .left), ("BY", .left), ("SINCE", .left))
        for ban in bans {
            let times = banTimes(since: ban.wallMilliseconds, until: ban.endMilliseconds)
            table.add(ban.user, times.until, ban.by, times.since)
        }
        for line in table.lines { try Console.print(line) }
    }

    /// With seconds where a short ban ends in the minute in which it began.
    static func banTimes(since: UInt64, until: UInt64?) -> (since: String, until: String) {
        guard let until else { return (Console.localTime(wallMilliseconds: since), "for good") }
        let isShort = since / 60_000 == until / 60_000
        return (Console.localTime(wallMilliseconds: since, seconds: isShort), Console.localTime(wallMilliseconds: until, seconds: isShort))
    }

    /// Logs in, does one thing that wants a moderator, and leaves.
    ///
    /// - Parameter timeout: `nil`: as long as it takes.
    static func moderate(
        _ command: String, _ arguments: Arguments, timeout: Duration?, isErasing: Bool = false,
        _ body: (WhiteboardClient) async throws -> Void
    ) async throws -> ExitCode {
        let code = try await withClient(arguments, as: try arguments.user(), timeout: timeout) { client in
            try await body(client)
            return .ok
        }
        noteEnd(code, of: command, isErasing: isErasing)
        return code
    }
}
