import RelayClient
import RelayConsole
import RelayWire

extension Command {
    static let device = Command(
        name: "device",
        summary: "lets another device be the same user",
        arguments: [
            .action(DeviceAction.self, help: "offer: prints a code for another device. take: becomes the user whose code it is."),
            .init(name: "CODE", isOptional: true, help: "take: the code, in capital or small letters. offer takes none."),
        ],
        options: [
            .value("--timeout", as: "TIME", help: "Ends after this time with exit code 124. Default: offer when the code ends, take 30s."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            offer needs --as, and stays until the code's 2 minutes are over: with it the code ends. Whoever has the code becomes this \
            user, once.
            """,
            """
            take prints the user id and keeps its secret on this machine: other commands are this user with --as. It replaces a secret \
            that was kept for this id.
            """,
        ],
        examples: [
            .init("boardrelay device offer --as alice", "Prints a code for one more device of alice."),
            .init("boardrelay device take 3J7XQ-0M9TZ", "On the other device: prints alice."),
        ],
        run: device)

    private enum DeviceAction: String, CaseIterable { case offer, take }

    private static func device(_ arguments: Arguments) async throws -> ExitCode {
        let action: DeviceAction = try arguments.action()
        let code = arguments.positional.count > 1 ? arguments.positional[1] : nil
        let timeout = try arguments.duration("--timeout")
        switch action {
        case .offer:
            if code != nil { throw UsageError("offer takes no CODE") }
            guard let user = try arguments.name("--as") else { throw UsageError("offer wants --as USER: whose device it is") }
            return try await offer(arguments, as: user, timeout: timeout)
        case .take:
            guard let code else { throw UsageError("CODE is missing") }
            for option in ["--as", "--token", "--token-file"] where arguments.value(option) != nil {
                throw UsageError("option \(option) is for offer: the code names the user")
            }
            return try await take(code, arguments, timeout: timeout ?? .seconds(30))
        }
    }

    private static func offer(_ arguments: Arguments, as user: String, timeout: Duration?) async throws -> ExitCode {
        try await withClient(arguments, as: user, timeout: timeout, tells: true) { client in
            let offer = try await client.handOver()
            let offered: JSONValue = [
                "type": "offered", "code": .string(offer.code), "validMs": .integer(Int((offer.validFor / .milliseconds(1)).rounded())),
            ]
            try Console.print(arguments.flag("--json") ? offered.line : offer.code)
            Console.note(
                "On the other device: boardrelay device take \(offer.code). The code is good for \(Printable.time(offer.validFor)), "
                    + "once, while this command runs. Ctrl-C ends it.")
            // The end of the client, by Ctrl-C or of itself, is the end of the code.
            let timer = Task {
                try await Task.sleep(for: offer.validFor)
                await client.close()
            }
            defer { timer.cancel() }
            for await event in client.told {
                if case .link(.closed(let reason)) = event, reason.code != .clientClosed { throw Failure(EventText.words(reason)) }
            }
            return .ok
        }
    }

    private static func take(_ code: String, _ arguments: Arguments, timeout: Duration?) async throws -> ExitCode {
        let address = try arguments.address()
        return try await withClient(arguments, .code(code), timeout: timeout) { client in
            let user = client.user ?? ""
            let taken: JSONValue = ["type": "taken", "user": .string(user), "relay": .string("\(address)")]
            try Console.print(arguments.flag("--json") ? taken.line : Printable.escaped(user))
            noteChange("this machine is a device of \(user): it is that user with --as \(user).", at: address)
            return .ok
        }
    }
}
