import Foundation
import RelayRights
import RelayWire

/// What a request names. There are two sets: one is there, the other is not.
struct Named: Sendable {
    var channel: String
    var lock: String
    var held: String
    var item: String
    var user: String

    static let there = Named(channel: "lesson", lock: "free", held: "held", item: "title", user: "host")
    static let nowhere = Named(channel: "nowhere", lock: "none", held: "nobodys", item: "missing", user: "nobody")
}

/// One request, as a session without any stay in the channel would send it.
struct Probe: Sendable {
    var name: String
    var type: FrameType
    /// Besides the right of its row.
    var also: Rights
    /// With the right it may still be refused for what is not there.
    var others: Set<ErrorCode>
    var make: @Sendable (Named) -> Frame

    /// Stands for `id` and `number` alike.
    static let id: UInt32 = 77

    init(_ name: String, _ type: FrameType, also: Rights = [], others: Set<ErrorCode> = [], _ make: @escaping @Sendable (Named) -> Frame) {
        self.name = name
        self.type = type
        self.also = also
        self.others = others
        self.make = make
    }

    /// A request with a JSON body.
    init<Body: JSONObject & SendableMetatype>(
        _ name: String, _ type: FrameType, also: Rights = [], others: Set<ErrorCode> = [], body: @escaping @Sendable (UInt32, Named) -> Body
    ) {
        self.init(name, type, also: also, others: others) { .json(type, body(Self.id, $0)) }
    }
}

/// The table of AC6: its rows as the document has them, with requests for each.
struct AccessRow: Sendable {
    var request: String
    var right: String
    var probes: [Probe]

    enum Need: Equatable {
        case channel(Rights), everywhere(Rights), moderator, nothing
    }

    /// What the second column says.
    var need: Need {
        let quoted = right.firstMatch(of: /`([a-z]+)`/).map { String($0.output.1) }
        if right.hasPrefix("none") { return .nothing }
        if right == "the role `moderator`" { return .moderator }
        guard let quoted, let rights = Rights(word: quoted) else { preconditionFailure("\(right) is none of the rights") }
        return right.hasSuffix("in that channel") ? .channel(rights) : .everywhere(rights)
    }

    func allows(_ access: Access, _ probe: Probe, on channel: String) -> Bool {
        let name = try! Name(channel)
        switch need {
        case .nothing: return true
        case .moderator: return access.isModerator
        case .everywhere(let rights): return access.everywhere.isSuperset(of: rights)
        case .channel(let rights): return access.rights(on: name).isSuperset(of: rights.union(probe.also))
        }
    }

    /// Both columns of the table in `docs/protocol.md`.
    static func documented() throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let table = lines.drop { !$0.hasPrefix("* **AC6** ") }.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return table.dropFirst(2).map { row in
            row.dropFirst().dropLast().split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}

/// One way to be let in, and what it is worth.
struct Credential: CustomStringConvertible, Sendable {
    var description: String
    var access: Access

    init(_ role: Role) {
        description = role.rawValue
        access = Access(role: role)
    }

    init(_ grants: [String: [String]]) {
        description = grants.map { "\($0.key): \($0.value.joined(separator: " "))" }.joined(separator: ", ")
        access = Access(role: nil, grants: try! Grants(words: grants))
    }

    /// Each role; each right alone on the channel, on a beginning of its name, on all, and on another one.
    static var all: [Credential] {
        let words = Rights.words.map(\.word)
        let ofChannels = words.filter { $0 != "direct" }
        return Role.allCases.map { Credential($0) } + words.map { Credential(["*": [$0]]) }
            + ["lesson", "les*", "lessons"].flatMap { pattern in ofChannels.map { Credential([pattern: [$0]]) } }
            + [Credential(["lesson": ["subscribe", "presence"]]), Credential(["lesson": ofChannels]), Credential(["other": ofChannels])]
    }
}
