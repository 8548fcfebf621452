import Foundation
import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

/// Before a server of NATS, which `Tests/Cluster/nats.py` starts; by themselves they are skipped. Each tells the script that it has run.
@Suite("A log on NATS", .serialized, .enabled(if: !Servers.addresses.isEmpty, "Tests/Cluster/nats.py starts it"))
struct LiveTests {
    /// That nobody has used.
    private static func name() -> String { "T\(String(UInt64.random(in: .min ... .max), radix: 36))" }

    @Test("is made, takes entries in their order, and refuses those at another place")
    func appends() throws {
        let log = LiveLog(stream: Self.name())
        #expect(try log.open() == LogEnds(first: 1, last: 0))
        for number in 0..<20 as Range<UInt64> {
            #expect(try log.append(Array("e\(number)".utf8), after: number, id: "m\(number)").outcome == .taken(number + 1))
        }
        #expect(try log.append([], after: 19, id: "m19").outcome == .taken(20), "asked again")
        #expect(try log.append([], after: 4, id: "m4").outcome == .taken(5), "asked again, late")
        #expect(try log.append([], after: 19, id: "x").outcome == .wrong(last: 20))
        #expect(try log.append([], after: 0, id: "x").outcome == .wrong(last: 20))
        try log.log.append([], after: 25, id: "x", at: log.now)
        #expect(try Self.outcome(log, "x") == .unknown(.refused(code: 10071, "wrong last sequence: 20")), "a log that lost its end")
        #expect(try log.append([], after: 20, id: "x").outcome == .taken(21), "an id that was refused is free")
        let again = LiveLog(stream: log.log.stream)
        #expect(try again.open() == LogEnds(first: 1, last: 21))
        try Servers.report("appended, asked again, refused at the wrong place: 21 entries")
    }

    @Test("gives everything from a sequence, in order, and what comes; what is trimmed is told")
    func follows() throws {
        let log = LiveLog(stream: Self.name()), other = LiveLog(stream: log.log.stream, server: 1)
        let count = 500 as UInt64, body = [UInt8](repeating: 7, count: 16 * 1_024)
        try log.open()
        try other.open()
        try other.log.follow(from: 1, at: other.now)
        // Under way at once, each behind the one before.
        for begin in stride(from: 0, to: count, by: 50) {
            for number in begin..<(begin + 50) { try log.log.append(body, after: number, id: "m\(number)", at: log.now) }
            for number in begin..<(begin + 50) { #expect(try Self.outcome(log, "m\(number)") == .taken(number + 1)) }
        }
        for sequence in 1...count {
            let entry = try Self.entry(other)
            #expect(entry.sequence == sequence && entry.id == "m\(sequence - 1)" && entry.payload == body)
        }
        #expect(try log.append([1], after: count, id: "last").outcome == .taken(count + 1))
        #expect(try Self.entry(other) == StreamEntry(sequence: count + 1, id: "last", payload: [1]))

        try log.log.trim(below: 400, at: log.now)
        try log.log.trim(below: 0, at: log.now)
        let failure: LogFailure? = try log.wait { event in
            if case .trimmed(400, let failure) = event { .some(failure) } else { nil }
        }
        #expect(failure == nil)
        try other.log.follow(from: 400, at: other.now)
        #expect(try Self.entry(other).sequence == 400)
        try other.log.follow(from: 399, at: other.now)
        let ends = try other.wait { event in
            if case .missing(399, let ends) = event { ends } else { nil }
        }
        #expect(ends == LogEnds(first: 400, last: count + 1))
        #expect(other.connections == 1 && log.connections == 1)
        try Servers.report("followed from a sequence, trimmed: \(count + 1) entries of 16 KiB")
    }

    @Test("takes and gives the largest entry")
    func largest() throws {
        let log = LiveLog(stream: Self.name())
        try log.open()
        let body = (0..<log.log.entryBytesMax).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try log.append(body, after: 0, id: String(repeating: "i", count: 64)).outcome == .taken(1))
        try log.log.follow(from: 1, at: log.now)
        #expect(try Self.entry(log).payload == body)
        try log.log.read(1, at: log.now)
        let read = try log.wait { event in
            if case .read(1, let entry) = event { entry } else { nil }
        }
        #expect(try read.get().payload == body)
        #expect(log.connections == 1)
        try Servers.report("the largest entry: \(body.count) bytes")
    }

    @Test("knows its own entry again when the answer was lost with the connection")
    func lostAnswers() throws {
        let log = LiveLog(stream: Self.name())
        try log.open()
        for number in 0..<30 as Range<UInt64> {
            try log.log.append([], after: number, id: "m\(number)", at: log.now)
            try log.send()
            log.drop()
            #expect(try Self.outcome(log, "m\(number)") == .unknown(.noAnswer(.linkLost)))
            #expect(try log.append([], after: number, id: "m\(number)").outcome == .taken(number + 1))
        }
        try log.log.readEnds(at: log.now)
        let ends = try log.wait { event in
            if case .ends(let ends) = event { ends } else { nil }
        }
        #expect(ends == .success(LogEnds(first: 1, last: 30)))
        try Servers.report("30 answers lost: 30 entries")
    }

    /// Each makes a stream that is right but for this.
    static let wrong: [(String, JSONValue)] = [
        ("storage", "memory"), ("num_replicas", 1), ("max_age", 3_600_000_000_000), ("max_bytes", 1_000_000), ("max_msgs", 1_000),
        ("max_msgs_per_subject", 10), ("max_msg_size", 1_000), ("discard", "old"), ("deny_delete", false), ("allow_rollup_hdrs", true),
        ("allow_msg_ttl", true), ("retention", "interest"), ("no_ack", true), ("deny_purge", true), ("subjects", ["boardrelay.>"]),
    ]

    @Test("is refused where the stream may lose what it acknowledged", arguments: wrong)
    func refused(setting: String, value: JSONValue) throws {
        let rules = setting == "num_replicas" ? StreamRules.durable : Servers.rules
        let maker = LiveLog(stream: Self.name()), log = LiveLog(stream: Self.name(), rules: rules)
        try maker.open()
        guard case .object(let members) = rules.creation(of: log.log.stream, subject: "boardrelay.\(log.log.stream)") else { return }
        // Its own subject apart from those of others, or the server refuses the stream.
        let wanted: JSONValue = setting == "subjects" ? [.string("boardrelay.\(log.log.stream)"), .string("x.\(log.log.stream)")] : value
        let config = JSONValue.object(members.map { $0.key == setting ? JSONMember(key: setting, value: wanted) : $0 })
        let more = members.contains { $0.key == setting } ? config : .object(members + [JSONMember(key: setting, value: wanted)])
        try maker.log.machine?.request(
            "$JS.API.STREAM.CREATE.\(log.log.stream)", more.bytes, call: .trim(0), deadline: maker.now + .seconds(5))
        let failure = try maker.wait { event in
            if case .trimmed(0, let failure) = event { failure } else { nil }
        }
        #expect(failure == .badAnswer("no success"), "the server has made it")
        let error = #expect(throws: NATSError.self) { try log.open() }
        guard case .refused(let refusal)? = error else { return unexpected("\(String(describing: error))") }
        #expect(refusal.setting == setting)
        try Servers.report("refused: \(setting)")
    }

    @Test(
        "loses nothing and has nothing twice when leaders are killed in the middle of appends",
        .enabled(if: Servers.lastKill != nil, "the script kills"))
    func kills() throws {
        let log = LiveLog(stream: "KILLS"), follower = LiveLog(stream: "KILLS", server: 1)
        try log.open()
        try follower.open()
        try follower.log.follow(from: 1, at: follower.now)
        var count = 0 as UInt64, asked = 0, most = 0
        let last = try #require(Servers.lastKill)
        while !FileManager.default.fileExists(atPath: last) {
            try #require(count < 200_000, "the script never told of the last kill")
            let (outcome, unknown) = try log.append(Array("\(count)".utf8), after: count, id: "k\(count)")
            try #require(outcome == .taken(count + 1), "entry \(count + 1)")
            count += 1
            asked += unknown
            most = max(most, unknown)
            try follower.step(.zero)
        }
        for reader in [follower, LiveLog(stream: "KILLS")] {
            if reader !== follower {
                #expect(try reader.open() == LogEnds(first: 1, last: count))
                try reader.log.follow(from: 1, at: reader.now)
            }
            for sequence in 1...count {
                let entry = try Self.entry(reader)
                try #require(entry == StreamEntry(sequence: sequence, id: "k\(sequence - 1)", payload: Array("\(sequence - 1)".utf8)))
            }
        }
        #expect(asked > 0, "no answer was lost")
        try Servers.report("leaders killed: \(count) entries, 0 lost, 0 twice; \(asked) asked again, one \(most) times")
    }

    private static func outcome(_ log: LiveLog, _ id: String) throws -> AppendOutcome {
        try log.wait { event in
            if case .appended(id, let outcome) = event { outcome } else { nil }
        }
    }

    private static func entry(_ log: LiveLog) throws -> StreamEntry {
        try log.wait { event in
            if case .entry(let entry) = event { entry } else { nil }
        }
    }
}
