import RelayCore
import RelayMonitoring
import RelayWire
import Testing

@testable import RelayServer
import RelaySystem

@Suite("what the control socket answers")
struct ControlAnswerTests {
    @Test("every figure stands under its own name, in order, and is read again")
    func figures() throws {
        try check(Counters())
        try check(Census.Channel())
        try check(ProcessUsage())
        var keys = KeysReport()
        keys.announcedName = "boardrelay.local"
        (keys.tls, keys.space) = (TLSReport(), "a")
        try check(keys)
        try check(TLSReport())
        var about = RelayAbout()
        about.tls = TLSReport()
        try check(about)
        var census = Census()
        census.storageFailure = "full"
        try check(census)
        var journal = JournalStatus()
        (journal.failure, journal.lastError) = ("full", "was full")
        try check(journal)
        var status = Status()
        status.journal = journal
        status.space = SpaceReport()
        try check(status)
    }

    @Test("a list of ten thousand sessions is read again")
    func long() throws {
        var census = Census()
        census.sessions = Array(repeating: RelayStatus.User(), count: 10_000)
        for number in 0..<10_000 { census.sessions[number].user = "user-\(number)" }
        #expect(try read(JSONBody.encode(census), as: Census.self).sessions == census.sessions)
    }

    /// Gives each number of a body a value of its own, reads that, and looks for it in the property of that name.
    private func check<Body: JSONObject>(_ body: Body) throws {
        var members = try members(JSONBody.encode(body))
        for index in members.indices {
            if case .integer = members[index].value { members[index].value = .integer(index + 1) }
        }
        let numbered = JSONValue.object(members).bytes
        let read = try read(numbered, as: Body.self)
        #expect(text(JSONBody.encode(read)) == text(numbered), "\(Body.self)")
        let properties = Mirror(reflecting: read).children.map { (name: $0.label ?? "", value: $0.value) }
        #expect(members.map(\.key) == properties.map(\.name).sorted(), "\(Body.self)")
        for (index, member) in members.enumerated() {
            guard case .integer = member.value, let property = properties.first(where: { $0.name == member.key }) else { continue }
            #expect("\(property.value)" == "\(index + 1)", "\(Body.self).\(member.key)")
        }
    }

    private func text(_ json: [UInt8]) -> String { String(decoding: json, as: UTF8.self) }

    private func members(_ json: [UInt8]) throws -> [JSONMember] {
        guard case .object(let members) = try JSONValue(reading: json, JSONRules()) else { return [] }
        return members
    }

    private func read<Body: JSONObject>(_ json: [UInt8], as type: Body.Type) throws -> Body {
        try json.withUnsafeBytes { try JSONBody.decode(type, from: $0, bytesMax: .max) }
    }
}
