import RelayCluster
import RelayPrimitives
import RelayStorage
import Testing

@Suite struct OwnerTests {
    /// Alone with a log, and serving.
    private static func owner(_ change: (inout ClusterSettings) -> Void = { _ in }) -> TestSpace {
        let space = TestSpace([TestNode(change)])
        space.wait(.seconds(1))
        #expect(space.takeEffects(0).said == [.serve(start: 1)])
        return space
    }

    private static func append(_ calls: [SpaceLog.Call]) -> (bytes: [UInt8], after: UInt64, id: SpaceLog.AppendID)? {
        for case .append(let bytes, let after, let id) in calls { return (bytes, after, id) }
        return nil
    }

    @Test("a node serves when the log has its start number and its own disk has it, too") func opening() throws {
        let node = TestNode()
        node.tell(.end([], at: 0, number: node.asks))
        node.wait(.milliseconds(200))
        node.tell(.end([], at: 0, number: node.asks))
        let start = try #require(Self.append(node.takeCalls()))
        #expect(try LogEntry(start.bytes).body == .start(life: 7))
        #expect(node.effects.isEmpty && !node.machine.mayAct(at: node.now))
        node.tell(.appended(start.id, .taken(at: 1)))
        #expect(node.effects.said.isEmpty && node.effects.stores == [[]] && !node.machine.mayAct(at: node.now))
        node.handle(.stored(through: 1))
        #expect(node.effects.said == [.serve(start: 1)] && node.machine.mayAct(at: node.now))
    }

    @Test("a change goes to the log, then to the own disk, and is shown when both have it") func showing() throws {
        let space = Self.owner(), node = space.nodes[0]
        #expect(node.submit([record(1), record(2)]) && !node.submit([record(3)]))
        let append = try #require(Self.append(node.takeCalls()))
        #expect(node.effects.isEmpty)
        node.tell(.appended(append.id, .taken(at: append.after + 1)))
        #expect(node.takeEffects() == [.store([record(1), record(2)], node.place(append))] && !node.submit([record(3)]))
        node.handle(.stored(through: append.after + 1))
        #expect(node.takeEffects() == [.show(through: 2)] && node.machine.disk.sequence == 2 && node.submit([record(3)]))
    }

    @Test("an owner acts until T₁ after it first sent what was taken, and not a nanosecond longer, however often it has asked again")
    func lease() throws {
        let space = Self.owner(), node = space.nodes[0]
        node.wait(.seconds(1))
        let sent = node.now
        #expect(node.submit([record(1)]))
        let id = try #require(Self.append(node.calls)).id
        node.wait(.milliseconds(4_500))
        node.tell(.appended(id, .taken(at: 2)))
        let end = sent + ClusterSettings().ownerLease
        #expect(node.machine.actsUntil == end)
        #expect(node.machine.mayAct(at: Instant(nanoseconds: end.nanoseconds - 1)) && !node.machine.mayAct(at: end))
        // It appends something again as soon as it can.
        #expect(Self.append(Array(node.calls.suffix(1)))?.after == 2)
        // It was stopped meanwhile: what the disk tells now is not shown.
        node.now = end
        _ = node.takeEffects()
        node.handle(.stored(through: 2))
        #expect(node.takeEffects() == [.stepDown(.leaseOver)] && !node.machine.mayAct(at: end) && !node.submit([record(2)]))
    }

    @Test("an owner that has nothing to say appends a beat each 2 s") func beats() throws {
        let space = Self.owner()
        space.wait(.seconds(60))
        let node = space.nodes[0]
        #expect((29...31).contains(space.log.end - 1) && space.takeEffects(0).isEmpty && node.machine.mayAct(at: node.now))
    }

    @Test("what has no answer is asked again each second, with the same id, bytes and place, and once more over a new link")
    func askingAgain() throws {
        let space = Self.owner(), node = space.nodes[0]
        #expect(node.submit([record(1)]))
        let first = node.takeCalls()
        node.tell(.appended(try #require(Self.append(first)).id, .unknown))
        #expect(node.calls.isEmpty)
        node.wait(.milliseconds(3_500))
        #expect(node.takeCalls() == first + first + first)
        node.tell(.linked)
        #expect(node.takeCalls() == first && node.effects.isEmpty)
    }

    @Test("an owner whose entry the log refuses steps down, and follows who else appends") func replaced() throws {
        let space = Self.owner(), node = space.nodes[0]
        #expect(node.submit([record(1)]))
        node.tell(.appended(try #require(Self.append(node.takeCalls())).id, .wrong(end: 9)))
        #expect(node.takeEffects() == [.stepDown(.replaced)] && node.calls.first == .follow(from: 2, number: node.follows))
        #expect(!node.machine.mayAct(at: node.now))
    }

    @Test("a log that takes an entry elsewhere than behind what the owner knows stops it") func unfenced() throws {
        let space = Self.owner(), node = space.nodes[0]
        #expect(node.submit([record(1)]))
        node.tell(.appended(try #require(Self.append(node.takeCalls())).id, .taken(at: 3)))
        #expect(node.takeEffects() == [.stepDown(.replaced), .stop(.diverged(at: 3))] && node.machine.nextDeadline == nil)
    }

    @Test("who resigns finishes what is under way, ends its hub, and only then says so; the next one serves within a second")
    func resigning() throws {
        let space = TestSpace([TestNode(life: 1, seed: 1), TestNode(life: 2, seed: 2)])
        space.wait(.seconds(1))
        let first = space.nodes.firstIndex { $0.machine.mayAct(at: $0.now) }!, node = space.nodes[first]
        _ = space.takeEffects(first)
        #expect(node.submit([record(1)]))
        node.handle(.resign)
        #expect(node.effects.isEmpty && node.machine.mayAct(at: node.now))
        space.settle()
        #expect(space.takeEffects(first).said == [.show(through: 1), .stepDown(.resigned)])
        #expect(try LogEntry(#require(space.log.entries.last).bytes).body == .release)
        space.wait(.seconds(1))
        #expect(space.takeEffects(1 - first).said == [.serve(start: 2)])
    }

    @Test("who resigns and is alone takes over again after T₂ and not before") func resigningAlone() {
        let space = Self.owner()
        space.nodes[0].handle(.resign)
        space.wait(.seconds(13))
        #expect(space.takeEffects(0).said == [.stepDown(.resigned)])
        space.wait(.seconds(3))
        #expect(space.takeEffects(0).said == [.serve(start: 2)])
    }

    @Test("an owner whose disk fails steps down, follows what its disk lacks again, and serves when all is there")
    func diskFailure() throws {
        let space = Self.owner(), node = space.nodes[0]
        space.isDiskLate = [0]
        #expect(node.submit([record(1)]))
        space.settle()
        _ = space.takeEffects(0)
        node.handle(.diskFailed)
        #expect(node.effects == [.stepDown(.diskFailed)] && !node.machine.mayAct(at: node.now) && node.machine.nextDeadline == nil)
        space.wait(.seconds(30))
        space.isDiskLate = []
        node.handle(.diskRecovered)
        space.wait(.seconds(1))
        let told = space.takeEffects(0)
        #expect(told.stores == [[record(1)], []] && told.said == [.stepDown(.diskFailed), .serve(start: 2)])
    }

    @Test("nothing that the own disk lacks is trimmed, nor the newest of what it has") func trimming() {
        let space = Self.owner(), node = space.nodes[0]
        #expect(node.submit([record(1)]))
        space.isDiskLate = [0]
        space.settle()
        node.handle(.trim(below: 100))
        #expect(node.takeCalls().contains(.trim(below: 1)))
        node.handle(.stored(through: 2))
        node.handle(.trim(below: 2))
        #expect(node.takeCalls().contains(.trim(below: 2)))
    }

    // MARK: - Without a log

    private static func orphan() -> (TestSpace, TestNode) {
        let space = owner {
            $0.orphan = .serve
            $0.entryBytesMax = 100
        }
        let node = space.nodes[0]
        #expect(node.submit([record(1)]))
        space.settle()
        _ = space.takeEffects(0)
        space.cut = [0]
        // The first of them fit into an entry, which is sent.
        #expect(node.submit((2...9).map { record($0) }))
        return (space, node)
    }

    @Test(
        "with `serve` an owner without a log goes on alone, is told what may be in the log, takes no change, and resigns when the log is back"
    )
    func alone() {
        let (space, node) = Self.orphan()
        node.wait(.milliseconds(10_500))
        // It may be the one that was stopped: it asks first.
        #expect(node.effects.isEmpty && !node.machine.mayAct(at: node.now))
        node.wait(.seconds(1))
        #expect(node.takeEffects() == [.serveAlone(undecidedThrough: 3)] && node.machine.mayAct(at: node.now + .seconds(100)))
        #expect(!node.submit([record(10)]))
        node.wait(.seconds(100))
        #expect(node.effects.isEmpty && node.machine.mayAct(at: node.now))
        _ = node.takeCalls()
        space.cut = []
        node.wait(.seconds(1))
        space.settle()
        #expect(space.takeEffects(0).said == [.stepDown(.logIsBack)] && !node.machine.mayAct(at: node.now))
        space.wait(.seconds(1))
        #expect(space.takeEffects(0).said == [.serve(start: 2)])
    }

    @Test("with `serve` an owner that was stopped, and reaches the log, steps down and is never alone") func pausedOrphan() {
        let (space, node) = Self.orphan()
        space.cut = []
        node.now = node.now + .seconds(20)
        #expect(!node.machine.mayAct(at: node.now))
        _ = node.takeCalls()
        node.handle(.deadlineReached)
        #expect(node.effects.isEmpty)
        space.settle()
        #expect(space.takeEffects(0).said == [.stepDown(.leaseOver)])
    }

    @Test("with `stop` an owner without a log steps down at T₁") func stopping() {
        let space = Self.owner(), node = space.nodes[0]
        space.cut = [0]
        space.wait(.seconds(11))
        #expect(space.takeEffects(0) == [.stepDown(.leaseOver)] && !node.machine.mayAct(at: node.now))
    }

    @Test("T₁ and T₂ of any two clocks that drift 2 % are apart, and T₁ outlasts an election of 7.3 s behind a beat")
    func settings() {
        let settings = ClusterSettings()
        #expect(settings.ownerLease * 1.02 < settings.standbyWait * 0.98)
        #expect(settings.ownerLease * 0.98 - settings.beat * 1.02 > .milliseconds(7_300))
    }
}

extension TestNode {
    /// The place behind an entry that was appended.
    func place(_ append: (bytes: [UInt8], after: UInt64, id: SpaceLog.AppendID)) -> LogPlace {
        var place = machine.disk
        place.position = append.after + 1
        place.checksum = append.bytes.withUnsafeBytes { $0.bigEndian(at: 0) }
        place.sequence = 2
        return place
    }
}
