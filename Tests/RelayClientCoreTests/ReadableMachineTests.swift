import RelayPrimitives
import RelayWire
import Testing

@testable import RelayClientCore

/// What readers of handles and of calls are told of a machine's events.
@Suite struct ReadableMachineTests {
    private var readable = ReadableMachine(ClientMachine(settings: MachineDriver.settings()))
    private let start = Instant(nanoseconds: 0)

    private func rest(_ reader: ReaderFeed.ID, of readable: inout ReadableMachine) -> [ClientEvent] {
        var found: [ClientEvent] = []
        while case .item(let item) = readable.take(reader, at: start) {
            if case .event(let event) = item.content { found.append(event) }
        }
        return found
    }

    private static func place(_ kind: ChannelKind) -> ChannelID { ChannelID(kind: kind, name: "lesson") }

    @Test("problems that nobody reads: one a minute is logged; the first reader gets the last 100 and the number of earlier ones")
    func problems() {
        var readable = readable
        var logged = 0
        for number in 1...105 {
            let problem = Problem(subject: .record, channel: "lesson", receipt: UInt64(number), error: RelayError(.boardFull, "full"))
            readable.tell(problem, at: start + .seconds(number))
            for case .log in readable.takeTasks() { logged += 1 }
        }
        #expect(logged == 2, "at 1 s and at 61 s")
        let first = readable.openProblems(at: start)
        let told = rest(first, of: &readable).compactMap { if case .refused(let problem) = $0 { problem } else { nil } }
        #expect(told.map(\.receipt) == (6...105).map { UInt64($0) })
        #expect(told.map(\.omitted) == [5] + Array(repeating: 0, count: 99))
        let second = readable.openProblems(at: start)
        readable.tell(Problem(subject: .token, error: RelayError(.tokenInvalid, "no")), at: start + .seconds(500))
        let (news, late, tasks) = (rest(first, of: &readable), rest(second, of: &readable), readable.takeTasks())
        #expect(news.count == 1 && late.count == 1, "what was read is not told again")
        #expect(tasks.isEmpty, "somebody reads them")
    }

    @Test("for handles both channels of a name are one: presence and locks are the message channel's, a freeze is told once")
    func kinds() {
        var readable = readable
        let handles = readable.open(at: start) { $0.audience.contains(.handles) ? $0 : nil }
        let calls = readable.open(at: start) { $0.audience.contains(.calls) ? $0 : nil }
        readable.channels["lesson"] = ChannelView()
        for kind in [ChannelKind.message, .stream] {
            readable.machine.emit(.presence(PresenceChange(place: Self.place(kind), kind: .left(user: "ann"))))
            readable.machine.emit(.locks(LocksChange(place: Self.place(kind), kind: .snapshot, locks: [])))
            readable.machine.emit(.channelMode(ChannelModeChange(place: Self.place(kind), mode: .frozen, isOn: true)))
        }
        readable.tell(at: start)
        #expect(readable.modes("lesson") == [.frozen])
        for kind in [ChannelKind.message, .stream] {
            readable.machine.emit(.channelMode(ChannelModeChange(place: Self.place(kind), mode: .frozen, isOn: false)))
        }
        readable.tell(at: start)
        let all = rest(calls, of: &readable)
        #expect(all.count == 8)
        let told = rest(handles, of: &readable)
        #expect(told.allSatisfy { $0.place?.kind != .stream || $0.isMode } && told.filter { !$0.isMode }.count == 2)
        #expect(told.compactMap { if case .channelMode(let change) = $0 { change.isOn } else { nil } } == [true, false])
        #expect(readable.modes("lesson") == [])
    }

    @Test("a board that is read for the client itself is in records() and in no reader of handles; opening it meanwhile is told")
    func apart() throws {
        var readable = readable
        let handles = readable.open(channel: "lesson", at: start) { $0.audience.contains(.handles) ? $0 : nil }
        let record = Message(channel: "lesson", sender: "ann", offset: 1, wallMilliseconds: 0, key: "s1", isRetained: true, payload: "x")
        guard case .apart(isFirst: true) = readable.beginReading("lesson"), case .apart(isFirst: false) = readable.beginReading("lesson")
        else { return #expect(Bool(false), "nobody is in it") }
        readable.machine.emit(.message(record))
        readable.tell(at: start)
        let unseen = rest(handles, of: &readable)
        #expect(readable.records("lesson")["s1"] != nil && unseen.isEmpty)
        let ends = (readable.endReading("lesson"), readable.endReading("lesson"))
        #expect(ends == (false, true) && readable.records("lesson").isEmpty, "the second read went on")
        let name = try Name("lesson")
        readable.machine.connect(token: nil, at: start)
        let opening = try readable.open(name, [.messages], from: nil, quiet: false, token: 7, at: start)
        guard case .open = readable.beginReading("lesson") else { return #expect(Bool(false), "it is open") }
        readable.machine.emit(.message(record))
        readable.tell(at: start)
        let seen = rest(handles, of: &readable)
        #expect(seen.count { if case .message = $0 { true } else { false } } == 1)
        readable.endOpening(opening, RelayError(.timedOut, "late", outcome: .nothingHappened))
        guard case .apart = readable.beginReading("lesson") else { return #expect(Bool(false), "it was never opened") }
    }

    @Test("a long snapshot is read on, a page at a time; pages of an earlier one are void")
    func members() {
        var readable = readable
        readable.channels["lesson"] = ChannelView()
        readable.channels["lesson"]!.asked.message = true
        func snapshot(_ user: String) -> Int? {
            readable.machine.emit(
                .presence(PresenceChange(place: Self.place(.message), kind: .snapshot(members: [Member(user: user)], total: 3))))
            readable.tell(at: start)
            for case .readMembers("lesson", after: user, let snapshot) in readable.takeTasks() { return snapshot }
            return nil
        }
        let first = snapshot("ann"), second = snapshot("bea")
        readable.read([Member(user: "old")], in: "lesson", of: first ?? 0)
        readable.read([Member(user: "cleo")], in: "lesson", of: second ?? 0)
        #expect(first != nil && first != second && readable.members("lesson").keys.sorted() == ["bea", "cleo"])
    }
}

extension ClientEvent {
    fileprivate var isMode: Bool { if case .channelMode = self { true } else { false } }
}
