#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
package import RelayCore
import RelayGateway
import RelayIO
internal import RelayRights
public import RelaySystem
public import RelayWire

/// Answers the operator on a Unix socket that only this user can open, or its group.
///
/// One line in, one JSON object out, then the end. One caller at a time, each with 2 s to say its line. Beside them goes a backup.
@available(macOS 15, iOS 18, *)
final class ControlServer: Sendable {
    private let listener: UnixListener

    /// - Parameters:
    ///   - isForGroup: the group of this process may ask, too.
    init(path: String, isForGroup: Bool, _ answers: ControlAnswers) throws {
        listener = try UnixListener(path: path, isForGroup: isForGroup) { line in
            func say(_ answer: any JSONObject) -> UnixListener.Answer { .line(String(decoding: JSONBody.encode(answer), as: UTF8.self)) }
            var (answers, rest) = (answers, Substring(line))
            if rest.first == "@" {
                let name = rest.dropFirst().prefix { $0 != " " }
                rest = rest[name.endIndex...].drop { $0 == " " }
                guard let space = answers.space(String(name)) else {
                    let text = "this relay has no space \(name.prefix(64).debugDescription)"
                    return rest == "backup" ? .stream { Backup.refuse(text, by: $0) } : say(ControlRefusal(text))
                }
                answers = space
            }
            guard let request = ControlRequest(line: String(rest)) else { return say(ControlRefusal(ControlRequest.all)) }
            if request == .backup { return .stream(answers.backup) }
            return say(answers.answer(request) ?? ControlRefusal("the relay has ended"))
        }
    }

    func close() { listener.close() }
}

/// What answers on control sockets.
struct ControlAnswers: Sendable {
    /// Asked for each request but a backup, on the queue of a socket; `nil` when the relay is gone.
    var answer: @Sendable (ControlRequest) -> (any JSONObject)?
    /// Called for a backup, on a thread of its own.
    var backup: @Sendable (([UInt8]) -> Bool) -> Void
    /// Those of a space; `nil`: there is none of that name.
    var space: @Sendable (String) -> ControlAnswers? = { _ in nil }
}

/// What can be asked on the control socket, as one line of words.
enum ControlRequest: Sendable, Equatable {
    case about
    case status
    case usage
    case keys
    case rotate(Set<AccessKeys.Kind>, endsSessions: Bool)
    case reload
    case backup
    case spaces
    case addSpace(String)
    case removeSpace(String)
    case drainSpace(String)

    static let all = "requests are: about, status, usage, keys, backup, reload, rotate [join|host] [end], spaces, add NAME, "
        + "remove NAME, drain NAME; with @NAME before it a space is asked"

    init?(line: String) {
        var words = line.split(separator: " ").map(String.init)
        guard !words.isEmpty else { return nil }
        switch words.removeFirst() {
        case "about" where words.isEmpty: self = .about
        case "status" where words.isEmpty: self = .status
        case "usage" where words.isEmpty: self = .usage
        case "keys" where words.isEmpty: self = .keys
        case "reload" where words.isEmpty: self = .reload
        case "backup" where words.isEmpty: self = .backup
        case "spaces" where words.isEmpty: self = .spaces
        case "add" where words.count == 1: self = .addSpace(words[0])
        case "remove" where words.count == 1: self = .removeSpace(words[0])
        case "drain" where words.count == 1: self = .drainSpace(words[0])
        case "rotate":
            let endsSessions = words.last == "end"
            if endsSessions { words.removeLast() }
            let kinds = words.compactMap(AccessKeys.Kind.init)
            guard kinds.count == words.count else { return nil }
            self = .rotate(kinds.isEmpty ? Set(AccessKeys.Kind.allCases) : Set(kinds), endsSessions: endsSessions)
        default: return nil
        }
    }

    /// - Parameter space: the one that is asked.
    func line(for space: String?) -> String { (space.map { "@\($0) " } ?? "") + line }

    private var line: String {
        switch self {
        case .about: "about"
        case .status: "status"
        case .usage: "usage"
        case .keys: "keys"
        case .reload: "reload"
        case .backup: "backup"
        case .spaces: "spaces"
        case .addSpace(let name): "add \(name)"
        case .removeSpace(let name): "remove \(name)"
        case .drainSpace(let name): "drain \(name)"
        case .rotate(let kinds, let endsSessions):
            (["rotate"] + AccessKeys.Kind.allCases.filter(kinds.contains).map(\.rawValue) + (endsSessions ? ["end"] : [])).joined(
                separator: " ")
        }
    }
}

/// Comes back instead of an answer.
package struct ControlRefusal: JSONObject {
    private(set) var error = ""

    package init() {}
    package init(_ error: String) { self.error = error }

    package mutating func fields(_ json: inout JSONFields) { json("error", &error) }
}

/// How a command reaches the relay.
package struct RelayAbout: JSONObject, Sendable {
    /// Where the relay listens.
    package var address = ""
    /// Where it speaks TLS itself.
    package var tls: TLSReport?

    package init() {}

    init(_ address: RelayAddress, _ tls: TLSReport?) { (self.address, self.tls) = (address.description, tls) }

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("tls", &tls)
    }
}

/// What `boardrelay reload --json` prints.
package struct ReloadReport: JSONObject, Sendable {
    /// Where the relay listens.
    package var address = ""
    /// Settings whose new values hold now.
    package var changed: [String] = []
    /// Settings whose new values hold after a restart.
    package var needRestart: [String] = []

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("changed", &changed)
        json("needRestart", &needRestart)
    }
}

/// What `boardrelay key show --json` prints.
@available(macOS 15, iOS 18, *)
public struct KeysReport: JSONObject, Sendable {
    /// Where the relay listens.
    public var address = ""
    /// Names by which it may be asked for besides the addresses of its machine: see `WhiteboardRelay.Web.hostNames`.
    public var hostNames: [String] = []
    /// The name by which the local network knows it now: `boardrelay.local`.
    package var announcedName: String?
    /// Where it speaks TLS itself.
    package var tls: TLSReport?
    /// Whether a proxy speaks TLS for it.
    package var isBehindTLS = false
    /// What the join key lets do: `reader` or `editor`.
    public var joinRole = ""
    /// What the join key says.
    public var join = ""
    /// What the host key says.
    public var host = ""
    /// Which of a relay's spaces it is.
    package var space: String?

    package init() {}

    init(address: RelayAddress, web: WhiteboardRelay.Web, role: Role, keys: AccessKeys) {
        self.address = address.description
        hostNames = web.hostNames
        announcedName = web.announcedName
        tls = web.tls
        isBehindTLS = !web.trustedProxies.isEmpty
        space = web.space
        joinRole = role.rawValue
        join = keys.join
        host = keys.host
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("announcedName", &announcedName)
        json("host", &host)
        json("hostNames", &hostNames)
        json("isBehindTLS", &isBehindTLS)
        json("join", &join)
        json("joinRole", &joinRole)
        json("space", &space)
        json("tls", &tls)
    }

    /// Whether browsers may ask the relay by this name, as `page(named:)` writes it.
    ///
    /// - Parameters:
    ///   - names: of its machine.
    ///   - addresses: of its machine.
    package func answers(to name: String, names: [String], addresses: [String]) -> Bool {
        guard let page = page(named: name), let relay = RelayAddress(address) else { return false }
        guard let authority = Authority(page.split(separator: "/")[1].utf8) else { return false }
        let given = hostNames.compactMap { Authority($0) }
        return HostCheck(port: relay.port, addresses: addresses, names: names + [announcedName].compactMap { $0 }, given: given).allows(
            authority)
    }

    /// The whiteboard's address by a name, `board.example` or `board.example:8080`.
    ///
    /// Without a port it is the relay's own, or, behind TLS, the usual one.
    ///
    /// - Returns: `nil` for what is no name.
    public func page(named name: String) -> String? {
        guard let authority = Authority(name) else { return nil }
        let port = authority.port == nil && !isBehindTLS ? RelayAddress(address).map { ":\($0.port)" } ?? "" : ""
        let isProtected = isBehindTLS || tls?.names.isEmpty == false
        return "http\(isProtected ? "s" : "")://\(name)\(port)/"
    }
}

/// What `boardrelay status --json` prints.
package struct Status: JSONObject, Sendable {
    /// Where the relay listens.
    package var address = ""
    /// Its process.
    package var pid = 0
    /// Since it started.
    package var uptimeSeconds: UInt64 = 0
    /// What its process has used.
    package var process = ProcessUsage()
    /// Everything counted, at the moment of the question.
    package var census = Census()
    /// How what outlives the relay is kept; absent with `--in-memory`.
    package var journal: JournalStatus?
    /// Of a space with a log: this node's part in it.
    package var space: SpaceReport?

    package init() {}

    /// - Parameter since: of the monotonic clock, in nanoseconds.
    init(address: RelayAddress, since: UInt64, census: Census, journal: JournalStatus?) {
        self.address = address.description
        pid = Int(getpid())
        process = SystemProcess.usage()
        uptimeSeconds = (SystemClock.monotonicNanoseconds() - since) / 1_000_000_000
        self.census = census
        self.journal = journal
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("address", &address)
        json("census", &census)
        json("journal", &journal)
        json("pid", &pid)
        json("process", &process)
        json("space", &space)
        json("uptimeSeconds", &uptimeSeconds)
    }
}

extension ProcessUsage: JSONObject {
    package mutating func fields(_ json: inout JSONFields) {
        json("clockMicroseconds", &clockMicroseconds)
        json("residentBytes", &residentBytes)
        json("systemMicroseconds", &systemMicroseconds)
        json("userMicroseconds", &userMicroseconds)
    }
}

@available(macOS 15, iOS 18, *)
extension WhiteboardRelay {
    /// Where a relay on this port has its control socket unless told otherwise: `$XDG_RUNTIME_DIR`, or a folder of
    /// this user's in the temporary directory.
    public static func defaultControlSocket(port: UInt16) -> String {
        if let directory = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !directory.isEmpty {
            return "\(directory)/boardrelay-\(port).sock"
        }
        return "/tmp/boardrelay-\(getuid())/\(port).sock"
    }

    /// Asks the relay behind a control socket how it is reached.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s.
    package static func about(controlSocket path: String) throws(RelayServerError) -> RelayAbout { try ask(.about, path, nil) }

    /// Asks the relay behind a control socket how it is.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s.
    package static func status(controlSocket path: String, space: String? = nil) throws(RelayServerError) -> Status {
        try ask(.status, path, space)
    }

    /// Asks the relay behind a control socket what its process has used. Its work goes on beside that.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s.
    package static func usage(controlSocket path: String) throws(RelayServerError) -> ProcessUsage { try ask(.usage, path, nil) }

    /// Asks the relay behind a control socket for its keys.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s, or the relay has none.
    public static func keys(controlSocket path: String, space: String? = nil) throws(RelayServerError) -> KeysReport {
        try ask(.keys, path, space)
    }

    /// Has the relay behind a control socket draw keys anew: see `rotateKeys(_:endsSessions:)`.
    public static func rotateKeys(
        _ kinds: Set<AccessKeys.Kind>, endsSessions: Bool, controlSocket path: String, space: String? = nil
    ) throws(RelayServerError) -> KeysReport {
        try ask(.rotate(kinds, endsSessions: endsSessions), path, space)
    }

    /// Has the relay behind a control socket read its settings again.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s, or the settings cannot be used.
    package static func reload(controlSocket path: String) throws(RelayServerError) -> ReloadReport { try ask(.reload, path, nil) }

    /// Asks the relay behind a control socket for its spaces.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s, or the relay has none.
    package static func spaces(controlSocket path: String) throws(RelayServerError) -> SpacesReport { try ask(.spaces, path, nil) }

    /// Has the relay behind a control socket make a space, and serve it.
    package static func addSpace(_ name: SpaceName, controlSocket path: String) throws(RelayServerError) -> SpacesReport {
        try ask(.addSpace(name.text), path, nil)
    }

    /// Has the relay behind a control socket end a space, and remove all that it has kept.
    package static func removeSpace(_ name: SpaceName, controlSocket path: String) throws(RelayServerError) -> SpacesReport {
        try ask(.removeSpace(name.text), path, nil)
    }

    /// Has the node behind a control socket give a space to another one of its directory.
    package static func drainSpace(_ name: SpaceName, controlSocket path: String) throws(RelayServerError) -> SpacesReport {
        try ask(.drainSpace(name.text), path, nil)
    }

    private static func ask<Answer: JSONObject>(
        _ request: ControlRequest, _ path: String, _ space: String?
    ) throws(RelayServerError) -> Answer {
        let answer: String
        do {
            answer = try UnixListener.query(path: path, line: request.line(for: space))
        } catch {
            var failure = RelayServerError(text: "\(error)", nobodyAnswers: [ENOENT, ECONNREFUSED].contains(error.code))
            failure.isForbidden = [EACCES, EPERM].contains(error.code)
            throw failure
        }
        func read<Body: JSONObject>(_ type: Body.Type) -> Body? {
            Array(answer.utf8).withUnsafeBytes { try? JSONBody.decode(type, from: $0, bytesMax: .max) }
        }
        if let answer = read(Answer.self) { return answer }
        if let refusal = read(ControlRefusal.self) { throw RelayServerError(text: refusal.error) }
        throw RelayServerError(text: "\(path): this version does not know the answer")
    }
}
