import BoardFormat
import Dispatch
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayIO
import RelaySystem
import RelayWire

extension Command.Option {
    package static let url = value(
        "--url", as: "URL",
        help: "Relay address, such as relay://host:7420, with TLS relays://host:7420. Default: $BOARDRELAY_URL, else this machine. "
            + "Other users here can see a key in it."
    )
    package static let space = value(
        "--space", as: "NAME", help: "Space of a relay that has several. Default: $BOARDRELAY_SPACE, else the path of its address.")
    package static let key = value("--key", as: "KEY", help: "Key of the relay. Other users here can see it: prefer --key-file.")
    package static let keyFile = value("--key-file", as: "FILE", help: "File with the relay's key.")
    package static let tokenFile = value("--token-file", as: "FILE", help: "File with a token for this user.")
    package static let token = value("--token", as: "TOKEN", help: "Token for this user. Other users here can see it: prefer --token-file.")
    package static let user = value("--as", as: "USER", help: "User id. Default: cli- and random digits.")
    package static let json = flag("--json", help: "Prints JSON, one object a line.")
}

extension Arguments {
    /// Where the relay is, with what stands behind `#`.
    package func invitation(environment: [String: String] = ProcessInfo.processInfo.environment) throws(UsageError) -> Invitation {
        var invitation = try place(environment)
        if let space = try space(environment: environment) { invitation.space = space }
        return invitation
    }

    /// The space that an option or the environment names.
    package func space(environment: [String: String] = ProcessInfo.processInfo.environment) throws(UsageError) -> String? {
        let given = declares("--space") ? value("--space") : nil
        guard let name = given ?? environment["BOARDRELAY_SPACE"].flatMap({ $0.isEmpty ? nil : $0 }) else { return nil }
        do {
            return try SpaceName(name).text
        } catch {
            throw UsageError("\(given == nil ? "$BOARDRELAY_SPACE" : "option --space"): \(error.text)")
        }
    }

    private func place(_ environment: [String: String]) throws(UsageError) -> Invitation {
        let fallback = environment["BOARDRELAY_URL"].flatMap { $0.isEmpty ? nil : $0 }
        guard let text = value("--url") ?? fallback else { return Invitation(RelayAddress(host: "127.0.0.1")) }
        let source = value("--url") == nil ? "$BOARDRELAY_URL" : "option --url"
        do {
            return try Invitation(text)
        } catch {
            // What stands behind # may be a key.
            let place = String(text.prefix { $0 != "#" })
            guard RelayAddress(place) == nil else { throw UsageError("\(source): \(Printable.escaped(error.text))") }
            throw UsageError("\(source) wants an address such as relay://host:7420, not \(Printable.quoted(place))")
        }
    }

    /// Where the relay is; of several addresses the first.
    package func address() throws(UsageError) -> RelayAddress { try invitation().addresses[0] }

    /// What lets in: an option, what stands in the address behind `#`, the environment, or the key of a relay that this user runs.
    package func credential(for address: RelayAddress, environment: [String: String] = ProcessInfo.processInfo.environment) throws
        -> Credential?
    {
        let options = ["--key", "--key-file", "--token", "--token-file"].filter { value($0) != nil }
        guard options.count <= 1 else { throw UsageError("options \(options.joined(separator: " and ")) exclude each other") }
        if let key = value("--key") { return .key(key) }
        if let token = value("--token") { return .token(token) }
        if let path = value("--key-file") {
            return .key(try Self.secret(in: path, ifMissing: "; the relay keeps join.key and host.key in its data folder"))
        }
        if let path = value("--token-file") { return .token(try Self.secret(in: path)) }
        func set(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let invitation = try invitation(environment: environment)
        if let credential = invitation.credential { return credential }
        if let key = set("BOARDRELAY_KEY") { return .key(key) }
        if let token = set("BOARDRELAY_TOKEN") { return .token(token) }
        return own.hostKey(address, invitation.space).map { .key($0) }
    }

    package static func secret(in path: String) throws -> String { try secret(in: path, ifMissing: "") }

    private static func secret(in path: String, ifMissing hint: String) throws -> String {
        guard let bytes = try PrivateFile.read(path, bytesMax: Limits.tokenBytesMax + 2) else {
            throw Failure("\(path): no such file\(hint)", exitCode: .usage)
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmed
        guard !text.isEmpty else { throw Failure("\(path) is empty") }
        return text
    }

    /// The user to be.
    package func user() throws(UsageError) -> String {
        guard value("--as") != nil else {
            return "cli-" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
        }
        return try name("--as")!
    }

    /// An option whose value is a name on the wire.
    package func name(_ option: String) throws(UsageError) -> String? {
        guard let text = value(option) else { return nil }
        return try Self.checked(text, "option \(option)")
    }

    package func names(_ option: String) throws(UsageError) -> [String] {
        var names: [String] = []
        for text in values(option) { names.append(try Self.checked(text, "option \(option)")) }
        return names
    }

    /// The first argument.
    package func channel() throws(UsageError) -> String {
        guard let text = positional.first else { throw UsageError("CHANNEL is missing") }
        return try Self.checked(text, "CHANNEL")
    }

    /// An argument that is a name on the wire.
    package func name(argument index: Int, _ what: String) throws(UsageError) -> String? {
        guard positional.indices.contains(index) else { return nil }
        return try Self.checked(positional[index], what)
    }

    /// The first argument, one of a few words.
    package func action<Action: RawRepresentable<String> & CaseIterable>() throws(UsageError) -> Action {
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
            guard error.limit == nil else { throw UsageError("\(what): \(error.text)") }
            throw UsageError(
                "\(what) takes no \(Printable.quoted(text)): names are ASCII, without * / \\ anywhere and without _ or a space in front")
        }
    }
}

extension Command {
    /// What `notPermitted` means for a record.
    package static let othersRecords =
        "the key or token only looks on, or another user has the record; the host key may replace it, and so may --as with the user who wrote it"
}

/// Says what has changed, and at which relay: on a terminal only, as programs do this many times a second.
package func noteChange(_ words: String, at address: RelayAddress) {
    if Console.errorsAreTerminal { Console.note(Printable.escaped("\(address): \(words)")) }
}

/// Logs in, runs the body, and logs out, also after a failure: a failed command leaves no absent user behind.
///
/// - Parameters:
///   - timeout: for all of it, coming in as well.
///   - patience: for coming in, if that is not `timeout`.
///   - listens: whether the command ends without an error when the reader of standard output is gone.
///   - tells: whether the body says by itself what it waits for; a terminal is told of the others. One that listens does.
/// - Throws: a `Failure` with exit code 124 when the time is over before the relay has let in: nothing was asked of it then.
package func withClient(
    _ arguments: Arguments, as user: String, timeout: Duration?, patience: Duration? = nil, listens: Bool = false, tells: Bool = false,
    _ body: (WhiteboardClient) async throws -> ExitCode
) async throws -> ExitCode {
    try await withClient(arguments, .user(user), timeout: timeout, patience: patience, listens: listens, tells: tells, body)
}

/// Who comes in.
package enum Entering: Sendable {
    case user(String)
    /// The user whose device has offered it. [AC17]
    case code(String)
}

package func withClient(
    _ arguments: Arguments, _ entering: Entering, timeout: Duration?, patience: Duration? = nil, listens: Bool = false,
    tells: Bool = false,
    _ body: (WhiteboardClient) async throws -> ExitCode
) async throws -> ExitCode {
    let began = ContinuousClock.now
    guard let client = try await inTime(patience ?? timeout, { try await connect(arguments, entering) }) else {
        throw Failure("timed out before \(try arguments.address()) let this client in", exitCode: .timedOut)
    }
    let left = timeout.map { max(.zero, $0 - (ContinuousClock.now - began)) }
    let waiting = listens || tells ? nil : Waiting("Waiting for \(try arguments.address())")
    defer { waiting?.end() }
    do {
        let code = try await untilEnded(timeout: left, closing: [client], listens: listens) { try await body(client) }
        await client.close()
        return code
    } catch {
        await client.close()
        throw error
    }
}

/// What `body` gives, or `nil` when the time is over first. What is late is not waited for: the command ends.
private func inTime<Value: Sendable>(_ timeout: Duration?, _ body: @escaping @Sendable () async throws -> Value) async throws -> Value? {
    guard let timeout else { return try await body() }
    let (results, result) = AsyncThrowingStream.makeStream(
        of: Value?.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(1))
    Task.detached {
        do {
            result.yield(try await body())
        } catch {
            result.finish(throwing: error)
        }
    }
    let timer = Task.detached {
        try await Task.sleep(for: timeout)
        result.yield(nil)
    }
    defer { timer.cancel() }
    for try await first in results { return first }
    return nil
}

/// For what waits without letting its thread go, which a timer may want.
private func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}

extension RelayError {
    /// Whether nothing more can be done: the client is closed, or the task was cancelled.
    package var isTheEnd: Bool { code == .clientClosed || code == .cancelled }
}

/// Logs in.
package func connect(_ arguments: Arguments, as user: String) async throws -> WhiteboardClient { try await connect(arguments, .user(user)) }

private func connect(_ arguments: Arguments, _ entering: Entering) async throws -> WhiteboardClient {
    let invitation = try arguments.invitation(), address = invitation.addresses[0]
    let waiting = Waiting("Connecting to \(address)")
    defer { waiting.end() }
    var options = ClientOptions()
    // A command ends by its own `--timeout`.
    options.requestTimeout = .seconds(86_400)
    // Asks a relay of this machine for its key, which may answer late.
    options.credential = try await onThreadOfItsOwn { try arguments.credential(for: address) }
    options.description = "boardrelay \(Program.version)"
    // A user id of its own choice is met again; one that was drawn is not.
    if case .user = entering { options.secret = arguments.value("--as") == nil ? .inMemory : .kept() }
    do throws(RelayError) {
        do throws(RelayError) {
            return try await enter(invitation, entering, options)
        } catch {
            // A relay of this user tells how: nobody need copy its pin.
            guard error.code == .tlsRequired, let protection = try? await onThreadOfItsOwn({ arguments.own.protection(address) }) else {
                throw error
            }
            var protected = invitation
            for index in protected.addresses.indices { protected.addresses[index].protection = protection }
            return try await enter(protected, entering, options)
        }
    } catch {
        if error.code == .timedOut { throw Failure("\(address): the relay could not be reached in time (\(error.name))") }
        let hint =
            switch error.code {
            case .connectFailed where address.protection == .plain:
                " (is it running? 'boardrelay serve' starts one; for another port give --url \(address.origin):PORT or set $BOARDRELAY_URL)"
            case .credentialRequired:
                " (give --key-file or --token-file, or set $BOARDRELAY_KEY, "
                    + "or $BOARDRELAY_URL to the address with #key=… that the relay printed; "
                    + "as the relay's own user, 'sudo -u USER boardrelay …', no key is needed, nor beside a service as root or in the "
                    + "group boardrelay)"
            default: ""
            }
        throw Failure("\(address): \(Failure(error))\(hint)")
    }
}

private func enter(
    _ invitation: Invitation, _ entering: Entering, _ options: ClientOptions
) async throws(RelayError) -> WhiteboardClient {
    switch entering {
    case .user(let user): try await WhiteboardClient.connect(to: invitation, as: user, options: options)
    case .code(let code): try await WhiteboardClient.takeUp(code: code, at: invitation, options: options)
    }
}

extension Failure {
    /// With limit and size, where they are what is wrong.
    package init(_ error: RelayError) {
        var text = error.text
        if let limit = error.limit, let actual = error.actual, !(text.contains("\(limit)") && text.contains("\(actual)")) {
            text += "; limit \(limit), here \(actual)"
        }
        self.init(Printable.escaped("\(text) (\(error.name))"))
    }
}

/// Runs a command that listens, and looks out for Ctrl-C and the end of its time: either closes the clients, which
/// ends their events. One that only listens ends so when its reader has gone, too.
package func untilEnded(
    timeout: Duration?, closing clients: [WhiteboardClient], listens: Bool = false, _ body: () async throws -> ExitCode
) async throws -> ExitCode {
    let signals = Signals()
    let cause = Mutex<ExitCode?>(nil)
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
    if listens {
        Console.whenOutputCloses { Task.detached { await end(.ok) } }
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
