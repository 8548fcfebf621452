import RelayCluster
import RelayJournal
import RelayPrimitives
import RelayStorage
import Testing

@Suite struct StandbyTests {
    /// Entries of a log as an owner of life 1 writes it, one behind the other.
    private struct Script {
        var entries: [[UInt8]] = []
        var start: UInt32 = 0

        mutating func add(_ body: LogEntry.Body, start: UInt32? = nil) {
            self.start = start ?? self.start
            entries.append(LogEntry(start: self.start, previous: checksum, body: body).encoded())
        }

        var checksum: UInt32 {
            let entry = entries.last { try! LogEntry($0).body != .beat }
            return entry?.withUnsafeBytes { $0.bigEndian(at: 0) } ?? 0
        }

        func tell(_ node: TestNode, from position: Int = 1) {
            for place in position..<(entries.count + 1) {
                node.tell(.entry(entries[place - 1], at: UInt64(place), number: node.follows))
                if case .store(_, let stored)? = node.effects.last { node.handle(.stored(through: stored.position)) }
            }
        }
    }

    /// Has followed a start and a record of somebody else, and its disk has both.
    private static func standby(
        seed: UInt64 = 1, _ change: (inout ClusterSettings) -> Void = { _ in }
    ) -> (node: TestNode, script: Script) {
        let node = TestNode(seed: seed, change)
        var script = Script()
        script.add(.start(life: 1), start: 4)
        script.add(body([record(1)]))
        script.tell(node)
        #expect(node.machine.disk.position == 2 && node.effects.said.isEmpty)
        _ = node.takeEffects()
        return (node, script)
    }

    private static func body(_ records: [JournalRecord]) -> LogEntry.Body {
        .records(records.flatMap { RecordForm.encode($0, mark: 0x726C_6F67) })
    }

    private static func appends(_ node: TestNode) -> Int { node.calls.count { if case .append = $0 { true } else { false } } }

    // MARK: - Waiting

    @Test("of two that may take over a free space the one that hesitates less does; one that would not own it only follows")
    func hesitation() throws {
        let space = TestSpace([TestNode(life: 1), TestNode(life: 2), TestNode(life: 3)])
        space.nodes[0].handle(.hesitate(nil))
        space.nodes[1].handle(.hesitate(.milliseconds(400)))
        space.wait(.milliseconds(500))
        #expect(space.takeEffects(2).said == [.serve(start: 1)])
        space.nodes[2].handle(.resign)
        space.wait(.milliseconds(500))
        #expect(space.nodes.map(\.machine.role) == [.standby, .standby, .standby])
        space.wait(.milliseconds(200))
        #expect(space.nodes.map(\.machine.role) == [.standby, .owner, .standby])
        // Nobody but the first is left: it takes over as soon as it may.
        space.nodes.removeSubrange(1...)
        space.wait(.seconds(60))
        #expect(space.nodes[0].machine.role == .standby)
        space.nodes[0].handle(.hesitate(.zero))
        space.wait(.seconds(16))
        #expect(space.nodes[0].machine.role == .owner)
    }

    @Test("a standby has caught up when its disk has all that the log had when it was asked, signs of life among them")
    func caughtUp() throws {
        var (node, script) = Self.standby()
        #expect(!node.machine.isCaughtUp)
        script.add(.beat)
        node.tell(.end(script.entries[2], at: 3, number: node.asks))
        #expect(!node.machine.isCaughtUp)
        script.tell(node, from: 3)
        #expect(node.machine.isCaughtUp)
        script.add(Self.body([record(2)]))
        node.tell(.entry(script.entries[3], at: 4, number: node.follows))
        #expect(node.machine.isCaughtUp)
        for position in 5...67 as ClosedRange<UInt64> {
            script.add(Self.body([record(position)]))
            node.tell(.entry(script.entries[Int(position) - 1], at: position, number: node.follows))
        }
        #expect(!node.machine.isCaughtUp, "the disk is behind")
        node.handle(.stored(through: 67))
        #expect(node.machine.isCaughtUp)
        node.tell(.linked)
        #expect(!node.machine.isCaughtUp, "nobody has said where the log ends now")
    }

    @Test("a folder that begins a log waits for nobody")
    func begins() throws {
        let space = TestSpace([TestNode(disk: LogPlace(start: 5, sequence: 9))])
        space.wait(.milliseconds(300))
        #expect(space.takeEffects(0).said == [.serve(start: 6)])
    }

    @Test("who hesitates otherwise while it waits waits so much longer, or less long", arguments: 1...5 as ClosedRange<UInt64>)
    func changed(seed: UInt64) throws {
        let (node, _) = Self.standby(seed: seed)
        node.handle(.hesitate(.seconds(10)))
        node.wait(.milliseconds(22_900))
        let asked = node.asks
        node.handle(.hesitate(.seconds(1)))
        node.wait(.milliseconds(1))
        #expect(node.asks == asked + 1)
    }

    @Test(
        "a standby asks where the log ends when it has heard nothing for T₂ and up to 2 s, and any entry begins that anew",
        arguments: 1...20 as ClosedRange<UInt64>)
    func waiting(seed: UInt64) throws {
        var (node, script) = Self.standby(seed: seed)
        node.wait(.milliseconds(12_999))
        script.add(.beat)
        script.tell(node, from: 3)
        let heard = node.now, asks = node.asks
        let due = try #require(node.machine.nextDeadline)
        #expect((13_000...15_001).contains((due - heard).milliseconds))
        node.wait(due - heard)
        #expect(node.asks == asks + 1 && Self.appends(node) == 0)
        node.tell(.end(script.entries[2], at: 3, number: node.asks))
        guard case .append(let bytes, 3, _)? = node.calls.last else { return #expect(Bool(false)) }
        #expect(try LogEntry(bytes) == LogEntry(start: 5, previous: script.checksum, body: .start(life: 7)))
    }

    @Test("a standby that hears of others' entries while it wants to take over goes on waiting") func late() {
        var (node, script) = Self.standby()
        node.wait(.seconds(16))
        node.tell(.end(script.entries[1], at: 2, number: node.asks))
        #expect(Self.appends(node) >= 1)
        script.add(.start(life: 2), start: 5)
        script.tell(node, from: 3)
        let due = node.machine.nextDeadline!
        #expect((due - node.now).milliseconds >= 13_000)
        // Its own comes too late, and counts for nothing.
        guard case .append(_, _, let id)? = node.calls.last(where: { if case .append = $0 { true } else { false } }) else { return }
        node.tell(.appended(id, .wrong(end: 3)))
        #expect(node.machine.nextDeadline == due && node.effects.said.isEmpty)
    }

    @Test("of two standbys that want the same place one serves") func two() {
        let space = TestSpace([TestNode(life: 1), TestNode(life: 2), TestNode(life: 3)])
        space.wait(.seconds(60))
        let served = (0..<3).map { space.takeEffects($0).said }
        #expect(served.flatMap { $0 } == [.serve(start: 1)])
        #expect(space.nodes.count { $0.machine.mayAct(at: $0.now) } == 1)
    }

    @Test("a node that the log tells of its own start before the answer counts it once, in either order", arguments: [true, false])
    func ownEntry(isToldFirst: Bool) throws {
        let (node, script) = Self.standby()
        node.wait(.seconds(13) + .seconds(2))
        let follows = node.follows, sent = node.now
        node.tell(.end(script.entries[1], at: 2, number: node.asks))
        guard case .append(let bytes, 2, let id)? = node.calls.last else { return #expect(Bool(false)) }
        node.now = node.now + .milliseconds(500)
        let answers: [SpaceLog.Answer] = [.entry(bytes, at: 3, number: follows), .appended(id, .taken(at: 3))]
        for answer in isToldFirst ? answers : answers.reversed() { node.tell(answer) }
        node.tell(answers[0])
        #expect(node.effects.stores == [[]])
        node.handle(.stored(through: 3))
        #expect(node.effects.said == [.serve(start: 5)] && node.machine.actsUntil == sent + ClusterSettings().ownerLease)
    }

    @Test("a disk with the first records of an entry gets the others, and does not take over before the log has told of them")
    func partial() throws {
        let script = {
            var script = Script()
            script.add(.start(life: 1), start: 4)
            script.add(Self.body([record(1), record(2), record(3)]))
            return script
        }()
        var place = LogPlace()
        (place.position, place.start, place.checksum) = (1, 4, script.entries[0].withUnsafeBytes { $0.bigEndian(at: 0) })
        (place.sequence, place.isPartial) = (2, true)
        #expect(LogPlace(encoded: place.encoded) == place)
        let node = TestNode(disk: place)
        node.wait(.seconds(15))
        node.tell(.end(script.entries[0], at: 1, number: node.asks))
        #expect(!node.calls.contains { if case .append = $0 { true } else { false } }, "the log has lost what it had")
        node.tell(.entry(script.entries[1], at: 2, number: node.follows))
        #expect(node.effects.stores == [[record(3)]] && node.machine.counted.sequence == 3 && !node.machine.counted.isPartial)
    }

    @Test(
        "a change of a board that cannot be read, and what a store keeps for itself, stop a node before they are stored",
        arguments: [[0x52] + [UInt8](repeating: 0, count: 18), [0x52, 1], [0x42, 1], [0x51, 1], LogPlace.key] as [[UInt8]])
    func unsound(key: [UInt8]) {
        let (node, script) = Self.standby()
        var longer = script
        longer.add(Self.body([JournalRecord(sequence: 2, entries: [JournalEntry(key: key, value: [1, 2, 3])])]))
        node.tell(.entry(longer.entries[2], at: 3, number: node.follows))
        #expect(node.effects.stores.isEmpty && node.effects.said == [.stop(.badEntry(at: 3, .records))])
    }

    @Test("a node that has asked to follow the log waits for it, however often it looks where the log ends, for T₁")
    func slowly() {
        let node = TestNode()
        var script = Script()
        script.add(.start(life: 1), start: 4)
        let asked = node.follows
        for _ in 0..<20 {
            node.wait(.milliseconds(400))
            node.tell(.end(script.entries[0], at: 1, number: node.asks))
        }
        #expect(node.follows == asked)
        for _ in 0..<10 {
            node.wait(.milliseconds(400))
            node.tell(.end(script.entries[0], at: 1, number: node.asks))
        }
        #expect(node.follows == asked + 1)
    }

    @Test("no start number is below the least of a node, and each is greater than the one before", arguments: [3, 5, 1_000] as [UInt32])
    func starts(least: UInt32) {
        let (node, script) = Self.standby { $0.startMin = least }
        node.wait(.seconds(15))
        node.tell(.end(script.entries[1], at: 2, number: node.asks))
        guard case .append(let bytes, 2, _)? = node.calls.last else { return #expect(Bool(false)) }
        #expect((try? LogEntry(bytes))?.start == max(5, least))
    }

    @Test("a take-over that is known only when T₁ is over serves nobody") func tooLate() {
        let (node, script) = Self.standby()
        node.wait(.seconds(15))
        node.tell(.end(script.entries[1], at: 2, number: node.asks))
        guard case .append(_, 2, let id)? = node.calls.last else { return #expect(Bool(false)) }
        node.now = node.now + .seconds(10)
        node.tell(.appended(id, .taken(at: 3)))
        node.handle(.stored(through: 3))
        #expect(node.effects.said.isEmpty && !node.machine.mayAct(at: node.now))
    }

    @Test("a standby whose disk lacks something does not take over before it has it") func lateDisk() {
        let (node, script) = Self.standby()
        var longer = script
        longer.add(Self.body([record(2)]))
        node.tell(.entry(longer.entries[2], at: 3, number: node.follows))
        _ = node.takeCalls()
        node.wait(.seconds(60))
        #expect(node.calls.isEmpty && node.machine.nextDeadline == nil)
        node.handle(.stored(through: 3))
        #expect(node.asks > 0)
    }

    @Test("beyond 1,024 entries that the disk has not stored a standby reads no more, and goes on there when the disk has all")
    func boundOfTheDisk() {
        let node = TestNode()
        var script = Script()
        script.add(.start(life: 1), start: 1)
        for sequence in 1...1_024 { script.add(Self.body([record(UInt64(sequence))])) }
        for (place, entry) in script.entries.enumerated() { node.tell(.entry(entry, at: UInt64(place) + 1, number: node.follows)) }
        #expect(node.effects.stores.count == 1_024 && node.calls.last == .follow(from: nil, number: node.follows))
        node.handle(.stored(through: 1_023))
        #expect(node.calls.last == .follow(from: nil, number: node.follows))
        node.handle(.stored(through: 1_024))
        #expect(node.calls.contains(.follow(from: 1_025, number: node.follows)))
        script.tell(node, from: 1_025)
        #expect(node.machine.disk.position == 1_025 && node.effects.said.isEmpty)
    }

    // MARK: - Records

    @Test("a record in pieces is stored when it is whole, and one that its owner left half is never") func pieces() {
        let (node, _) = Self.standby()
        let large = record(2, bytes: 300)
        let bytes = RecordForm.encode(large, mark: 0x726C_6F67)
        let (other, followed) = Self.standby()
        var script = followed
        script.add(.piece(Array(bytes[..<100])))
        script.add(.piece(Array(bytes[100..<200])))
        var whole = script
        whole.add(.records(Array(bytes[200...])))
        whole.tell(node, from: 3)
        #expect(node.takeEffects().stores == [[large]] && node.machine.disk.position == 5)
        script.add(.start(life: 2), start: 5)
        script.add(Self.body([record(2)]))
        script.tell(other, from: 3)
        #expect(other.effects.stores == [[], [record(2)]] && other.effects.said.isEmpty)
        // The rest of what was left half is no record.
        script.add(.records(Array(bytes[200...])))
        script.tell(other, from: 7)
        #expect(other.effects.said == [.stop(.badEntry(at: 7, .records))])
    }

    @Test("pieces of a record that is larger than any stop the node") func piecesBound() {
        let node = TestNode { $0.recordBytesMax = 200 }
        var script = Script()
        script.add(.start(life: 1), start: 1)
        script.add(.piece(.init(repeating: 0, count: 100)))
        script.add(.piece(.init(repeating: 0, count: 99)))
        script.tell(node)
        #expect(node.effects.said.isEmpty)
        script.add(.piece([0]))
        script.tell(node, from: 4)
        #expect(node.effects.said == [.stop(.badEntry(at: 4, .recordSize(200, max: 200)))])
    }

    @Test("entries that cannot follow stop the node, each for its reason")
    func badEntries() throws {
        func stop(_ make: (inout Script) -> Void) -> [SpaceMachine.Effect] {
            let (node, script) = Self.standby()
            var longer = script
            make(&longer)
            longer.tell(node, from: 3)
            #expect(node.machine.nextDeadline == nil)
            return node.effects.said
        }
        #expect(stop { $0.entries.append([1, 2, 3]) } == [.stop(.badEntry(at: 3, .size(3)))])
        #expect(stop { $0.add(.beat, start: 5) } == [.stop(.badEntry(at: 3, .start(found: 5, current: 4)))])
        #expect(stop { $0.add(.release, start: 3) } == [.stop(.badEntry(at: 3, .start(found: 3, current: 4)))])
        #expect(stop { $0.add(.start(life: 9), start: 4) } == [.stop(.badEntry(at: 3, .start(found: 4, current: 4)))])
        #expect(stop { $0.add(Self.body([record(1)])) } == [.stop(.badEntry(at: 3, .order(found: 1, after: 1)))])
        #expect(stop { $0.add(.records([1])) } == [.stop(.badEntry(at: 3, .records))])
        #expect(stop { $0.add(Self.body([record(1 << 53)])) } == [.stop(.badEntry(at: 3, .order(found: 1 << 53, after: 1)))])
        #expect(stop { $0.entries.append(LogEntry(start: 4, previous: 1, body: .beat).encoded()) } == [.stop(.diverged(at: 3))])
    }

    @Test("behind the last start number there is no other") func startsUsedUp() {
        var (node, script) = Self.standby()
        script.add(.start(life: 2), start: .max)
        script.tell(node, from: 3)
        _ = node.takeEffects()
        node.wait(.seconds(15))
        node.tell(.end(script.entries[2], at: 3, number: node.asks))
        #expect(node.effects == [.stop(.startsUsedUp)])
    }

    @Test("a position that no log reaches stops the node") func positionBound() {
        let (node, script) = Self.standby()
        var longer = script
        longer.add(.beat)
        node.tell(.entry(longer.entries[2], at: (1 << 53) - 1, number: node.follows))
        #expect(node.effects.isEmpty)
        node.tell(.entry(longer.entries[2], at: 1 << 53, number: node.follows))
        #expect(node.effects == [.stop(.diverged(at: 1 << 53))])
    }

    @Test("a folder that has served without a log goes on with its numbers; its copy follows it, and a node without one stops")
    func founding() {
        let place = LogPlace(start: 1_700_000_000, sequence: 40)
        let space = TestSpace([TestNode(disk: place, life: 1), TestNode(disk: place, life: 2, seed: 2), TestNode(life: 3)])
        space.cut = [2]
        space.wait(.seconds(20))
        #expect(space.nodes[0].submit([record(41)]) || space.nodes[1].submit([record(41)]))
        space.settle()
        let told = [space.takeEffects(0), space.takeEffects(1)]
        #expect(told.map(\.stores) == [[[], [record(41)]], [[], [record(41)]]])
        #expect(told.flatMap(\.said) == [.serve(start: 1_700_000_001), .show(through: 41)])
        space.cut = []
        space.nodes[2].tell(.linked)
        space.settle()
        #expect(space.takeEffects(2) == [.stop(.diverged(at: 1))])
    }

    // MARK: - A log that lost something

    @Test("beats may be missing, other entries not: then the node stops, and wants a copy") func missing() {
        let (node, script) = Self.standby(), (other, _) = Self.standby()
        var longer = script
        longer.add(.beat)
        longer.add(.beat)
        longer.tell(node, from: 4)
        #expect(node.effects.isEmpty)
        longer.add(Self.body([record(2)]))
        longer.add(.beat)
        longer.tell(other, from: 6)
        #expect(other.effects == [.stop(.missing(after: 2, before: 6))])
    }

    @Test("a node that has more than the log asks again, and stops when that stays so for T₂") func endsEarly() {
        let (node, script) = Self.standby()
        node.tell(.linked)
        node.tell(.end(script.entries[0], at: 1, number: node.asks))
        for _ in 0..<13 {
            node.wait(.seconds(1))
            #expect(node.effects.isEmpty && Self.appends(node) == 0)
            // What was asked before is no news.
            node.tell(.end(script.entries[0], at: 1, number: node.asks - 1))
            node.tell(.end(script.entries[0], at: 1, number: node.asks))
        }
        #expect(node.effects == [.stop(.logEndsEarly(end: 1, own: 2))])
    }

    @Test("a leader that was replaced, and says an end of then, stops nobody") func staleEnd() {
        let (node, script) = Self.standby()
        node.tell(.linked)
        node.tell(.end(script.entries[0], at: 1, number: node.asks))
        node.wait(.seconds(9))
        node.tell(.end(script.entries[1], at: 2, number: node.asks))
        node.wait(.seconds(12))
        node.tell(.end(script.entries[0], at: 1, number: node.asks))
        #expect(node.effects.isEmpty && node.machine.nextDeadline != nil)
    }

    @Test("a log that was lost and has grown to the same end by others is noticed before a take-over") func regrown() {
        let (node, script) = Self.standby()
        var other = Script()
        other.add(.start(life: 1), start: 4)
        other.add(Self.body([record(1, bytes: 4)]))
        node.wait(.seconds(15))
        node.tell(.end(other.entries[1], at: 2, number: node.asks))
        #expect(node.effects == [.stop(.diverged(at: 2))] && Self.appends(node) == 0 && script.entries.count == 2)
    }

    @Test("a standby that is told nothing more without a word follows again before it takes over") func deaf() {
        let (node, script) = Self.standby()
        node.wait(.seconds(15))
        let follows = node.follows
        node.tell(.end(script.entries[1], at: 5, number: node.asks))
        #expect(node.calls.last == .follow(from: 3, number: follows + 1) && Self.appends(node) == 0)
        // Of the one before nothing counts.
        node.tell(.entry(script.entries[1], at: 3, number: follows))
        #expect(node.effects.isEmpty)
    }
}
