import Foundation
public import RelayCore
import RelayGateway
import RelayIO
internal import RelayRights

/// Answers the operator on a Unix socket that only this user can open.
///
/// One line in, one JSON object out, then the end. One caller at a time, each with 2 s to say its line.
final class ControlServer: Sendable {
    private let listener: UnixListener

    /// - Parameter answer: asked for each caller, on a queue of this server's; `nil` when the relay is gone.
    init(path: String, answer: @escaping @Sendable (ControlRequest) -> ControlAnswer?) throws {
        listener = try UnixListener(path: path) { line in
            guard let request = ControlRequest(line: line) else {
                return ControlAnswer.refused("requests are: status, usage, keys, rotate [join|host] [end]").json
            }
            return (answer(request) ?? .refused("the relay has ended")).json
        }
    }

    func close() { listener.close() }
}

/// What can be asked on the control socket, as one line of words.
enum ControlRequest: Sendable, Equatable {
    case status
    case usage
    case keys
    case rotate(Set<AccessKeys.Kind>, endsSessions: Bool)

    init?(line: String) {
        var words = line.split(separator: " ").map(String.init)
        guard !words.isEmpty else { return nil }
        switch words.removeFirst() {
        case "status" where words.isEmpty: self = .status
        case "usage" where words.isEmpty: self = .usage
        case "keys" where words.isEmpty: self = .keys
        case "rotate":
            let endsSessions = words.last == "end"
            if endsSessions { words.removeLast() }
            let kinds = words.compactMap(AccessKeys.Kind.init)
            guard kinds.count == words.count else { return nil }
            self = .rotate(kinds.isEmpty ? Set(AccessKeys.Kind.allCases) : Set(kinds), endsSessions: endsSessions)
        default: return nil
        }
    }

    var line: String {
        switch self {
        case .status: "status"
        case .usage: "usage"
        case .keys: "keys"
        case .rotate(let kinds, let endsSessions):
            (["rotate"] + AccessKeys.Kind.allCases.filter(kinds.contains).map(\.rawValue) + (endsSessions ? ["end"] : [])).joined(
                separator: " ")
        }
    }
}

/// What comes back.
enum ControlAnswer: Sendable {
    case status(Status)
    case usage(ProcessUsage)
    case keys(KeysReport)
    case refused(String)

    /// One line, keys sorted.
    var json: String {
        switch self {
        case .status(let status): Self.encode(status)
        case .usage(let usage): Self.encode(usage)
        case .keys(let keys): Self.encode(keys)
        case .refused(let text): Self.encode(ControlRefusal(error: text))
        }
    }

    private static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { preconditionFailure("\(type(of: value)) cannot be encoded") }
        return String(decoding: data, as: UTF8.self)
    }
}

private struct ControlRefusal: Codable { var error: String }

/// What `boardrelay key show --json` prints.
public struct KeysReport: Codable, Sendable {
    /// Where the relay listens.
    public var address: String
    /// Names by which it may be asked for besides the addresses of its machine: see `RelayServer.Web.hostNames`.
    public var hostNames: [String]
    /// Whether a proxy speaks TLS for it.
    public var isBehindTLS: Bool
    /// What the join key lets do: `reader` or `editor`.
    public var joinRole: String
    /// What the join key says.
    public var join: String
    /// What the host key says.
    public var host: String

    init(address: RelayAddress, web: RelayServer.Web, role: Role, keys: AccessKeys) {
        self.address = address.description
        hostNames = web.hostNames
        isBehindTLS = !web.trustedProxies.isEmpty
        joinRole = role.rawValue
        join = keys.join
        host = keys.host
    }

    /// Whether browsers may ask the relay by this name, as `page(named:)` writes it.
    ///
    /// - Parameters:
    ///   - names: of its machine.
    ///   - addresses: of its machine.
    package func answers(to name: String, names: [String], addresses: [String]) -> Bool {
        guard let page = page(named: name), let relay = RelayAddress(address) else { return false }
        let scheme = isBehindTLS ? 8 : 7
        guard let authority = Authority(String(page.dropFirst(scheme).dropLast())) else { return false }
        let given = hostNames.compactMap { Authority($0) }
        return HostCheck(port: relay.port, addresses: addresses, names: names, given: given).allows(authority)
    }

    /// The whiteboard's address by a name, `board.example` or `board.example:8080`.
    ///
    /// Without a port it is the relay's own, or, behind TLS, the usual one.
    ///
    /// - Returns: `nil` for what is no name.
    public func page(named name: String) -> String? {
        guard let authority = Authority(name) else { return nil }
        let port = authority.port == nil && !isBehindTLS ? RelayAddress(address).map { ":\($0.port)" } ?? "" : ""
        return "http\(isBehindTLS ? "s" : "")://\(name)\(port)/"
    }
}

/// What `boardrelay status --json` prints.
public struct Status: Codable, Sendable {
    /// Where the relay listens.
    public var address: String
    /// Its process.
    public var pid: Int32
    /// Since it started.
    public var uptimeSeconds: UInt64
    /// What its process has used.
    public var process: ProcessUsage
    /// Everything counted, at the moment of the question.
    public var census: Census
    /// How what outlives the relay is kept; absent with `--in-memory`.
    public var journal: JournalStatus?

    /// - Parameter since: of the monotonic clock, in nanoseconds.
    init(address: RelayAddress, since: UInt64, census: Census, journal: JournalStatus?) {
        self.address = address.description
        pid = ProcessInfo.processInfo.processIdentifier
        process = ProcessUsage()
        uptimeSeconds = (SystemClock.monotonicNanoseconds() - since) / 1_000_000_000
        self.census = census
        self.journal = journal
    }
}

extension RelayServer {
    /// Where a relay on this port has its control socket unless told otherwise: `$XDG_RUNTIME_DIR`, or a folder of
    /// this user's in the temporary directory.
    public static func defaultControlSocket(port: UInt16) -> String {
        if let directory = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !directory.isEmpty {
            return "\(directory)/boardrelay-\(port).sock"
        }
        return "/tmp/boardrelay-\(getuid())/\(port).sock"
    }

    /// Asks the relay behind a control socket how it is.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s.
    public static func status(controlSocket path: String) throws(RelayServerError) -> Status { try ask(.status, path) }

    /// Asks the relay behind a control socket what its process has used. Its work goes on beside that.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s.
    public static func usage(controlSocket path: String) throws(RelayServerError) -> ProcessUsage { try ask(.usage, path) }

    /// Asks the relay behind a control socket for its keys.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s, or the relay has none.
    public static func keys(controlSocket path: String) throws(RelayServerError) -> KeysReport { try ask(.keys, path) }

    /// Has the relay behind a control socket draw keys anew: see `rotateKeys(_:endsSessions:)`.
    public static func rotateKeys(
        _ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, controlSocket path: String
    ) throws(RelayServerError) -> KeysReport {
        try ask(.rotate(kinds, endsSessions: endsSessions), path)
    }

    private static func ask<Answer: Decodable>(_ request: ControlRequest, _ path: String) throws(RelayServerError) -> Answer {
        let answer: String
        do {
            answer = try UnixListener.query(path: path, line: request.line)
        } catch {
            throw RelayServerError(text: "\(error)", nobodyAnswers: [ENOENT, ECONNREFUSED].contains(error.code))
        }
        let data = Data(answer.utf8)
        if let answer = try? JSONDecoder().decode(Answer.self, from: data) { return answer }
        if let refusal = try? JSONDecoder().decode(ControlRefusal.self, from: data) { throw RelayServerError(text: refusal.error) }
        throw RelayServerError(text: "\(path): the answer is none that this version knows")
    }
}
