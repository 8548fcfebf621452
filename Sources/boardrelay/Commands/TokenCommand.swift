import RelayConsole
import RelayIO
import RelayRights
import RelayTokens
import RelayWire

extension Command {
    static let token = Command(
        name: "token",
        summary: "makes and checks tokens",
        arguments: [
            .action(Action.self, help: "create: prints a token. check: reads one from standard input and explains it.")
        ],
        options: [
            .list("--secret-file", as: "[ID=]FILE", help: "Secret that signs tokens: 32…1024 bytes. check takes several, with an id each."),
            .value("--user", as: "USER", help: "create: the token's user id. check: accepts only a token of this user."),
            .value("--role", as: "ROLE", help: "create: reader, editor, coeditor or moderator, in every channel."),
            .list(
                "--grant", as: "PATTERN=RIGHT,…",
                help: "create: rights in the channels of a pattern, such as board-*=subscribe,presence."),
            .value("--expires-in", as: "TIME", help: "create: how long the token is valid. Default: 12h."),
            .value("--audience", as: "NAME", help: "create: the token's audience. check: this relay's audience."),
            .json,
        ],
        notes: [
            """
            Rights are \(Rights.all.words.joined(separator: ", ")). 'serve --auth token --token-secret-file FILE' takes the tokens \
            that FILE signs.
            """,
            "A token is a secret: it is read from standard input, and never an argument, which others on the machine can see.",
        ],
        examples: [
            .init("boardrelay token create --secret-file k --user ann --role editor", "ann may draw, for 12 hours."),
            .init(
                "boardrelay token create --secret-file k --user bob --grant 'l-*=subscribe'",
                "bob may receive what channels carry whose names begin with l-."),
            .init("boardrelay token check --secret-file k < token.txt", "Prints what it says; exit code 1 if it is not taken."),
        ],
        run: token)

    private enum Action: String, CaseIterable { case create, check }

    private static func token(_ arguments: Arguments) async throws -> ExitCode {
        let action: Action = try arguments.action()
        let secrets = try TokenSecrets.read(arguments.values("--secret-file"))
        guard !secrets.isEmpty else { throw UsageError("option --secret-file is missing") }
        switch action {
        case .create: return try create(arguments, secrets)
        case .check: return try check(arguments, secrets)
        }
    }

    private static func create(_ arguments: Arguments, _ secrets: [TokenSecret]) throws -> ExitCode {
        guard secrets.count == 1 else { throw UsageError("create signs with one secret: --secret-file stands \(secrets.count) times") }
        guard let user = try arguments.name("--user") else { throw UsageError("option --user is missing") }
        var role: Role?
        if let word = arguments.value("--role") {
            role = Role(rawValue: word)
            guard role != nil else {
                throw UsageError("option --role wants one of reader, editor, coeditor, moderator, not \(Printable.quoted(word))")
            }
        }
        var words: [String: [String]] = [:]
        for grant in arguments.values("--grant") {
            guard let equals = grant.lastIndex(of: "=") else {
                throw UsageError("option --grant wants PATTERN=RIGHT,…, not \(Printable.quoted(grant))")
            }
            words[String(grant[..<equals]), default: []] += grant[grant.index(after: equals)...].split(separator: ",").map(String.init)
        }
        guard role != nil || !words.isEmpty else { throw UsageError("a token has a role or a grant: --role or --grant is missing") }
        let life = try arguments.duration("--expires-in") ?? .seconds(12 * 3600)
        guard life >= .seconds(1) else { throw UsageError("option --expires-in is at least 1s") }
        let now = Int64(SystemClock.wallMilliseconds() / 1000)
        do throws(WireError) {
            let grants = try Grants(words: words)
            guard role != nil || grants.entries.contains(where: { !$0.rights.isEmpty }) else {
                throw WireError(.badRequest, "option --grant names no right")
            }
            let claims = TokenClaims(
                subject: try Name(user), expires: now + Int64(life / .seconds(1)), issuedAt: now,
                audience: arguments.value("--audience").map { [$0] },
                role: role, grants: grants)
            try? Console.print(try TokenMint.mint(claims, secret: secrets[0]))
        } catch {
            throw UsageError(error.text)
        }
        return .ok
    }

    private static func check(_ arguments: Arguments, _ secrets: [TokenSecret]) throws -> ExitCode {
        let rules = try TokenSecrets.rules(secrets, audience: arguments.value("--audience"))
        guard let line = readLine(strippingNewline: true), !line.isEmpty else { throw UsageError("no token on standard input") }
        let checked: CheckedToken
        do throws(WireError) {
            checked = try rules.check(line, wallMilliseconds: SystemClock.wallMilliseconds())
        } catch {
            throw Failure("\(error.text) (\(error.code.name))")
        }
        if let user = try arguments.name("--user"), checked.subject.text != user {
            throw Failure("the token is for user \(Printable.escaped(checked.subject.text)), not \(Printable.escaped(user))")
        }
        let left = (Int64(clamping: checked.expires) - Int64(clamping: SystemClock.wallMilliseconds())) / 1000
        if arguments.flag("--json") {
            let grants = checked.access.grants.words
            let listed = grants.sorted { $0.key < $1.key }.map { JSONMember(key: $0.key, value: .array($0.value.map(JSONValue.string))) }
            let object: JSONValue = [
                "user": .string(checked.subject.text), "expiresInSeconds": .integer(Int(left)),
                "role": .optional(checked.access.role?.rawValue),
                "grants": listed.isEmpty ? .null : .object(listed),
            ]
            try Console.print(object.line)
            return .ok
        }
        try Console.print("user     \(Printable.escaped(checked.subject.text))")
        try Console.print("role     \(checked.access.role?.rawValue ?? "none")")
        for (pattern, rights) in checked.access.grants.words.sorted(by: { $0.key < $1.key }) {
            try Console.print("grant    \(Printable.escaped(pattern)): \(rights.joined(separator: ", "))")
        }
        try Console.print("holds    \(Printable.clock(.seconds(left))) more")
        return .ok
    }
}

/// What signs tokens, read from files: secrets are no arguments.
enum TokenSecrets {
    /// - Parameter options: `FILE` or `ID=FILE`.
    static func read(_ options: [String]) throws -> [TokenSecret] {
        var secrets: [TokenSecret] = []
        for option in options {
            var id: String?
            var path = option
            if let equals = option.firstIndex(of: "="), !option[..<equals].contains("/") {
                id = String(option[..<equals])
                path = String(option[option.index(after: equals)...])
            }
            let bytes = try bytes(in: path)
            do {
                secrets.append(try TokenSecret(id: id, bytes: bytes))
            } catch {
                throw Failure("\(path): \(error)")
            }
        }
        return secrets
    }

    static func bytes(in path: String) throws -> [UInt8] {
        guard var bytes = try PrivateFile.read(path, bytesMax: Limits.tokenSecretBytes.upperBound + 2) else {
            throw Failure("\(path): no such file", exitCode: .usage)
        }
        // An editor's line end is not meant; a byte that only looks like one, at the end of random ones, is.
        if bytes.last == UInt8(ascii: "\n"), bytes.dropLast().allSatisfy({ (0x20...0x7E).contains($0) }) { bytes.removeLast() }
        return bytes
    }

    static func rules(_ secrets: [TokenSecret], audience: String?) throws -> TokenRules {
        do {
            return try TokenRules(secrets: secrets, audience: audience)
        } catch {
            throw Failure("\(error)")
        }
    }
}
