import RelayWire

/// What a stream must be so that it cannot lose what it has acknowledged.
///
/// One thing no server tells a client, in INFO, in an answer of JetStream or to a user outside of its system account: whether it syncs each
/// write. `syncAdvice` says what an operator sets, and where it can be seen.
///
/// `allow_direct` may be on: a replica that is behind answers direct gets, and this log asks the leader alone.
package struct StreamRules: Sendable {
    package static let durable = StreamRules(replicasMin: 3)
    /// Of a key-value bucket: the newest value of each key stays, and one may end by itself.
    package static let bucket = StreamRules(replicasMin: 3, isBucket: true)

    /// For `serve` and the documentation.
    package static let syncAdvice = """
        set `sync_interval: always` in the jetstream block of each NATS server: by default it acknowledges up to two minutes before it syncs, \
        and a loss of power takes that away. A server tells only its monitoring port: /varz has "sync_always": true
        """

    let replicasMin: Int
    private let isBucket: Bool

    /// Fewer than three replicas are for tests of one server: the initializer is not visible outside of this module, but by `@testable`,
    /// which no release build allows.
    init(replicasMin: Int, isBucket: Bool = false) { (self.replicasMin, self.isBucket) = (replicasMin, isBucket) }

    /// Each setting with the value that is wanted, and the one that it has where it does not stand.
    private var fixed: [(setting: String, wanted: JSONValue, absent: JSONValue)] {
        let own: [(setting: String, wanted: JSONValue, absent: JSONValue)] = [("allow_msg_ttl", .bool(isBucket), false)]
        return Self.fixedOfAll + own + (isBucket ? [("max_msgs_per_subject", 1, -1)] : [])
    }

    private static let fixedOfAll: [(setting: String, wanted: JSONValue, absent: JSONValue)] = [
        ("storage", "file", "file"), ("retention", "limits", "limits"), ("discard", "new", "old"), ("max_age", 0, 0),
        // 2.12: acknowledged before it is written.
        ("persist_mode", "default", "default"),
        ("no_ack", false, false), ("sealed", false, false),
        // An entry could be taken out of the middle.
        ("deny_delete", true, false),
        // One header of whoever may publish there removes all that stands before.
        ("allow_rollup_hdrs", false, false),
        // The log could not be trimmed.
        ("deny_purge", false, false),
        // Somebody else's entries.
        ("mirror", .null, .null), ("sources", .null, .null),
    ]
    private var limits: [String] { ["max_msgs", "max_bytes", "max_msg_size"] + (isBucket ? [] : ["max_msgs_per_subject"]) }

    /// The JSON that creates such a stream. Servers refuse members that they do not know: what all since 2.12 know.
    func creation(of stream: String, subject: String) -> JSONValue {
        let settings: [JSONMember] =
            [
                JSONMember(key: "name", value: .string(stream)), JSONMember(key: "subjects", value: [.string(subject)]),
                JSONMember(key: "num_replicas", value: .integer(replicasMin)),
            ] + fixed.filter { $0.setting != "persist_mode" }.map { JSONMember(key: $0.setting, value: $0.wanted) }
            + limits.map { JSONMember(key: $0, value: -1) }
        return .object(settings)
    }

    /// Examines the answer of STREAM.INFO or STREAM.CREATE, which is the leader's.
    ///
    /// - Returns: `nil` where that is no such answer.
    /// - Throws: `refused` with the first setting that is not as it must be.
    func examine(_ answer: JSONValue, stream: String, subject: String) throws(NATSError) -> LogEnds? {
        guard let config = answer["config"], let state = answer["state"], config["name"]?.text == stream,
            let first = state["first_seq"]?.sequence, let last = state["last_seq"]?.sequence, let count = state["messages"]?.sequence,
            first <= last || count == 0
        else { return nil }
        func expect(_ holds: Bool, _ setting: String, _ value: JSONValue?, _ wanted: String) throws(NATSError) {
            if holds { return }
            throw .refused(Refusal(owner: "stream \(stream)", setting: setting, value: (value ?? .null).shown, wanted: wanted))
        }
        // That of the leader: INFO is of the server that the connection goes to.
        let version = config["metadata"]?["_nats.ver"]
        let isNew = version?.text.flatMap(NATSVersion.init).map { $0 >= .least } ?? false
        try expect(isNew, "_nats.ver", version, "\(NATSVersion.least) or newer")
        try expect(config["subjects"] == [.string(subject)], "subjects", config["subjects"], "[\"\(subject)\"] alone")
        let replicas = config["num_replicas"]
        try expect(replicas?.integer ?? 1 >= replicasMin, "num_replicas", replicas, "at least \(replicasMin)")
        for (setting, wanted, absent) in fixed {
            let value = config[setting] ?? absent
            try expect(value == wanted, setting, value, wanted == .null ? "none" : wanted.shown)
        }
        for setting in limits {
            try expect(config[setting].map { $0.integer ?? 1 <= 0 } ?? true, setting, config[setting], "-1, no limit")
        }
        // With what stands above nothing takes entries out of the middle: they are lost.
        try expect(isBucket || state["num_deleted"] ?? 0 == 0, "num_deleted", state["num_deleted"], "0")
        return LogEnds(first: count == 0 ? last + 1 : first, last: last)
    }
}

extension JSONValue {
    /// For an error's text; its beginning.
    fileprivate var shown: String { (text.map { Array($0.utf8) } ?? bytes).excerpt }
}

/// Where a log begins and ends.
package struct LogEnds: Hashable, Sendable {
    /// The sequence of the first entry that it still has; `last + 1` of an empty one.
    package let first: UInt64
    /// 0 before the first entry ever.
    package let last: UInt64
}
