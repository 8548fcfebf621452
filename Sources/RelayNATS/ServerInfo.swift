import RelayWire

/// What INFO says of a server.
package struct ServerInfo: Equatable, Sendable {
    package let name: String
    package let version: NATSVersion
    package let hasHeaders: Bool
    package let hasJetStream: Bool
    /// Of a message with its header, in bytes. 0 without one.
    package let payloadBytesMax: Int
    package let wantsLogin: Bool
    package let wantsTLS: Bool
    package let offersTLS: Bool
    /// HOST:PORT of the cluster's servers, as they stand there: no place to go without the operator's leave.
    package let addresses: [String]

    /// - Throws: `badAnswer`.
    init(_ json: [UInt8]) throws(NATSError) {
        let fields = try JSONValue(answer: json, bytesMax: NATSLimits.infoBytesMax)
        guard let version = fields["version"]?.text.flatMap(NATSVersion.init) else { throw .badAnswer("INFO has no version") }
        self.version = version
        name = fields["server_name"]?.text ?? "without a name"
        hasHeaders = fields["headers"] == .bool(true)
        hasJetStream = fields["jetstream"] == .bool(true)
        payloadBytesMax = fields["max_payload"]?.integer ?? 0
        wantsLogin = fields["auth_required"] == .bool(true)
        wantsTLS = fields["tls_required"] == .bool(true)
        offersTLS = wantsTLS || fields["tls_available"] == .bool(true)
        addresses = fields["connect_urls"]?.elements.compactMap(\.text) ?? []
    }

    /// What keeps this server from being a log's, if anything does.
    package var refusal: Refusal? {
        func refusal(_ setting: String, _ value: String, _ wanted: String) -> Refusal {
            Refusal(owner: "NATS server \(name)", setting: setting, value: value, wanted: wanted)
        }
        if version < .least { return refusal("version", "\(version)", "\(NATSVersion.least) or newer") }
        if !hasJetStream { return refusal("jetstream", "false", "true") }
        if !hasHeaders { return refusal("headers", "false", "true") }
        if payloadBytesMax < NATSLimits.payloadBytesMin {
            return refusal("max_payload", "\(payloadBytesMax)", "at least \(NATSLimits.payloadBytesMin)")
        }
        return nil
    }
}

/// A server's version: `2.12.0`, `2.14.0-RC.1`.
package struct NATSVersion: Comparable, Sendable, CustomStringConvertible {
    package let numbers: [UInt64]
    /// `-RC.1`: older than the version that it comes before.
    package let suffix: String

    /// Since then a leader has all that was acknowledged before it takes a conditional append, and `sync_interval: always` works.
    package static let least = NATSVersion("2.12.0")!

    package init?(_ text: String) {
        let end = text.firstIndex { $0 == "-" || $0 == "+" } ?? text.endIndex
        let numbers = text[..<end].split(separator: ".", omittingEmptySubsequences: false).compactMap(decimal)
        guard numbers.count == 3, text[..<end].utf8.count <= 20 else { return nil }
        (self.numbers, suffix) = (numbers, String(text[end...]))
    }

    package static func < (left: NATSVersion, right: NATSVersion) -> Bool {
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        return left.suffix.hasPrefix("-") && !right.suffix.hasPrefix("-")
    }

    package var description: String { numbers.map(String.init).joined(separator: ".") + suffix }
}

/// How a relay shows a server who it is. The words are secrets.
package struct NATSLogin: Equatable, Sendable {
    package enum Proof: Equatable, Sendable {
        case none
        case password(user: String, String)
        case token(String)
    }

    package var proof: Proof
    /// Shown in the server's list of connections.
    package var name: String

    package init(_ proof: Proof = .none, name: String = "boardrelay") { (self.proof, self.name) = (proof, name) }

    /// The JSON of CONNECT.
    func connect(isTLS: Bool) -> [UInt8] {
        var members = [
            JSONMember(key: "verbose", value: false), JSONMember(key: "pedantic", value: false), JSONMember(key: "headers", value: true),
            JSONMember(key: "no_responders", value: true), JSONMember(key: "protocol", value: 1), JSONMember(key: "lang", value: "swift"),
            JSONMember(key: "version", value: "1"), JSONMember(key: "name", value: .string(name)),
            JSONMember(key: "tls_required", value: .bool(isTLS)),
        ]
        switch proof {
        case .none: break
        case .password(let user, let password):
            members += [JSONMember(key: "user", value: .string(user)), JSONMember(key: "pass", value: .string(password))]
        case .token(let token): members.append(JSONMember(key: "auth_token", value: .string(token)))
        }
        return JSONValue.object(members).bytes
    }
}

extension JSONValue {
    /// An answer, whose numbers may be of any size: the time since a replica was heard is in nanoseconds.
    ///
    /// - Throws: `badAnswer`.
    init(answer bytes: [UInt8], bytesMax: Int) throws(NATSError) {
        var rules = JSONRules.body(bytesMax: bytesMax, anyKeys: true)
        rules.fractions = true
        rules.depthMax = 16
        do throws(WireError) {
            self = try JSONValue(reading: bytes, rules)
        } catch {
            throw .badAnswer(error.text)
        }
    }

    subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    var elements: [JSONValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var integer: Int? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    var sequence: UInt64? { integer.flatMap(UInt64.init(exactly:)) }
}
