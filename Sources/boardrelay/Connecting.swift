import Foundation
import RelayBoard
import RelayClient
import RelayIO
import RelayWire

extension Command.Option {
    static let url = value(
        "--url", as: "URL", help: "The relay: relay://host:7420. Not given: $BOARDRELAY_URL, or this machine.")
    static let user = value("--as", as: "USER", help: "The user id to log in with; cli- and some digits if not given.")
    static let json = flag("--json", help: "One JSON object a line on standard output.")
}

extension Arguments {
    /// Where the relay is.
    func address(environment: [String: String] = ProcessInfo.processInfo.environment) throws(UsageError) -> RelayAddress {
        let fallback = environment["BOARDRELAY_URL"].flatMap { $0.isEmpty ? nil : $0 }
        guard let text = value("--url") ?? fallback else { return RelayAddress(host: "127.0.0.1") }
        guard let address = RelayAddress(text) else {
            let source = value("--url") == nil ? "$BOARDRELAY_URL" : "option --url"
            throw UsageError("\(source) wants an address such as relay://host:7420, not \(Printable.quoted(text))")
        }
        return address
    }

    /// Who to be.
    func user() throws(UsageError) -> String {
        guard value("--as") != nil else {
            return "cli-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
        }
        return try name("--as")!
    }

    /// An option whose value is a name on the wire.
    func name(_ option: String) throws(UsageError) -> String? {
        guard let text = value(option) else { return nil }
        return try Self.checked(text, "option \(option)")
    }

    func names(_ option: String) throws(UsageError) -> [String] {
        var names: [String] = []
        for text in values(option) { names.append(try Self.checked(text, "option \(option)")) }
        return names
    }

    /// The first argument.
    func channel() throws(UsageError) -> String {
        guard let text = positional.first else { throw UsageError("CHANNEL is missing") }
        return try Self.checked(text, "CHANNEL")
    }

    /// An argument that is a name on the wire.
    func name(argument index: Int, _ what: String) throws(UsageError) -> String? {
        guard positional.indices.contains(index) else { return nil }
        return try Self.checked(positional[index], what)
    }

    /// The first argument, one of a few words.
    func action<Action: RawRepresentable<String> & CaseIterable>() throws(UsageError) -> Action {
        guard let action = Action(rawValue: positional[0]) else {
            let words = Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("ACTION is one of \(words), not \(Printable.quoted(positional[0]))")
        }
        return action
    }

    private static func checked(_ text: String, _ what: String) throws(UsageError) -> String {
        do {
            return try Name(text).text
        } catch {
            throw UsageError("\(what): \(error.text)")
        }
    }
}

/// Logs in.
func connect(_ arguments: Arguments, as user: String) async throws -> RelayClient {
    let address = try arguments.address()
    var options = ClientOptions()
    options.description = "boardrelay \(Boardrelay.version)"
    // A user id of its own choice is met again; one that was drawn is not.
    options.secret = arguments.value("--as") == nil ? .inMemory : .kept()
    do {
        return try await RelayClient.connect(to: address, as: user, options: options)
    } catch {
        let hint = error.code == .connectFailed ? " (is it running? 'boardrelay serve' starts one)" : ""
        throw Failure("\(address): \(error.text)\(hint)")
    }
}

extension Failure {
    /// With limit and size, where they are what is wrong.
    init(_ error: RelayError) {
        var text = error.text
        if let limit = error.limit, let actual = error.actual, !(text.contains("\(limit)") && text.contains("\(actual)")) {
            text += "; limit \(limit), here \(actual)"
        }
        self.init(Printable.escaped("\(text) (\(error.name))"))
    }
}

/// Runs a command that listens, and looks out for Ctrl-C and the end of its time: either closes the clients, which
/// ends their events.
func untilEnded(
    timeout: Duration?, closing clients: [RelayClient], _ body: () async throws -> ExitCode
) async throws -> ExitCode {
    let signals = Signals()
    let cause = Lock<ExitCode?>(nil)
    @Sendable func end(_ code: ExitCode) async {
        cause.withLock { $0 = $0 ?? code }
        for client in clients { await client.close() }
    }
    let interrupt = Task.detached {
        await signals.first()
        if !Task.isCancelled { await end(.interrupted) }
    }
    let timer = timeout.map { timeout in
        Task.detached {
            try await Task.sleep(for: timeout)
            await end(.timedOut)
        }
    }
    defer {
        interrupt.cancel()
        timer?.cancel()
    }
    do {
        let code = try await body()
        return cause.withLock { $0 } ?? code
    } catch {
        if let code = cause.withLock({ $0 }) { return code }
        if let error = error as? RelayError { throw Failure(error) }
        throw error
    }
}
