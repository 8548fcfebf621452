import RelayCluster
import RelayPrimitives
import RelayStorage

struct Broken: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// Three nodes of a space, a log, and whatever happens to them: clocks that drift, processes that pause, links that are cut, crashes, disks
/// that fail, an engine that is silent, forgets to answer, or lets a leader speak that was replaced.
final class ClusterSimulation {
    enum World {
        /// Only answers are lost.
        case calm
        case faulty
        /// The log loses entries that it had taken.
        case forgetful
    }

    struct Tally {
        var takeOvers = 0, acts = 0, shown = 0, lostAnswers = 0, staleAnswers = 0
        var hesitations = 0, pauses = 0, cuts = 0, crashes = 0, outages = 0, deaf = 0, mutes = 0
        var diskFailures = 0, resignations = 0, alone = 0, refused = 0, triedAgain = 0, stepDowns = 0, forgotten = 0, stopped = 0

        var counts: [(name: String, count: Int)] {
            Mirror(reflecting: self).children.map { ($0.label!, $0.value as! Int) }
        }

        static func += (sum: inout Tally, more: Tally) {
            sum.takeOvers += more.takeOvers
            sum.acts += more.acts
            sum.shown += more.shown
            sum.lostAnswers += more.lostAnswers
            sum.staleAnswers += more.staleAnswers
            sum.pauses += more.pauses
            sum.cuts += more.cuts
            sum.crashes += more.crashes
            sum.outages += more.outages
            sum.deaf += more.deaf
            sum.mutes += more.mutes
            sum.diskFailures += more.diskFailures
            sum.resignations += more.resignations
            sum.hesitations += more.hesitations
            sum.alone += more.alone
            sum.refused += more.refused
            sum.triedAgain += more.triedAgain
            sum.stepDowns += more.stepDowns
            sum.forgotten += more.forgotten
            sum.stopped += more.stopped
        }
    }

    let world: World
    let settings: ClusterSettings
    var dice: SplitMix64
    var done = Tally()
    var time: UInt64 = 0
    private var agenda = Agenda()
    var log = MemoryLog()
    var isEngineDown = false
    private(set) var nodes: [SimulatedNode] = []
    private let trace: ((String) -> Void)?

    private var changes: UInt64 = 0
    /// Told for certain not to be stored: their users ask again, wherever they come to.
    private var again: [UInt64] = []
    private var shown: [UInt64: Int] = [:]
    /// Which node acted under each start.
    private var owners: [UInt32: Int] = [:]
    private var newestOwner: UInt32 = 0
    private var actedAt: UInt64 = 0
    private var breach: Broken?

    static let second: UInt64 = 1_000_000_000
    static let faultsEnd = 120 * second
    private static let end = 190 * second

    init(seed: UInt64, trace: ((String) -> Void)? = nil) {
        dice = SplitMix64(seed: seed)
        self.trace = trace
        world = switch dice.below(8) {
        case 0: .calm
        case 1: .forgetful
        default: .faulty
        }
        var settings = ClusterSettings()
        settings.orphan = dice.chance(1, in: 2) ? .serve : .stop
        settings.entryBytesMax = 120
        self.settings = settings
        nodes = (0..<3).map { SimulatedNode(name: $0, dice: &dice) }
    }

    /// - Throws: the first promise that does not hold.
    func run() throws {
        for node in nodes { boot(node) }
        if world != .calm { after(20 * Self.second) { $0.fault() } }
        if world == .forgetful { after(40 * Self.second + dice.below(60 * Self.second)) { $0.forget() } }
        while let next = agenda.next(), next.time < Self.end {
            time = next.time
            next.work(self)
            if let breach { throw breach }
        }
        try judge()
    }

    func say(_ text: @autoclosure () -> String) { trace?("\(time / 1_000_000) ms: \(text())") }

    func broken(_ text: String) { breach = breach ?? Broken("\(text), at \(time / 1_000_000) ms") }

    // MARK: - Time

    func after(_ delay: UInt64, _ work: @escaping (ClusterSimulation) -> Void) { agenda.add(at: time + delay, work) }

    /// Something happens to a node, unless it dies before; while it pauses, it waits.
    func on(_ node: SimulatedNode, after delay: UInt64, _ work: @escaping (ClusterSimulation) -> Void) {
        let life = node.life
        after(delay) { world in
            guard node.life == life, node.isAlive else { return }
            guard world.time < node.pausedUntil || !node.backlog.isEmpty else { return work(world) }
            node.backlog.append(work)
            if node.backlog.count == 1 { world.resume(node) }
        }
    }

    /// What has happened to a node while it paused, in this order.
    private func resume(_ node: SimulatedNode) {
        let life = node.life
        after(max(node.pausedUntil, time) - time) { world in
            guard node.life == life else { return }
            if world.time < node.pausedUntil { return world.resume(node) }
            while !node.backlog.isEmpty, node.life == life, world.time >= node.pausedUntil { node.backlog.removeFirst()(world) }
        }
    }

    func every(_ node: SimulatedNode, _ period: UInt64, _ work: @escaping (ClusterSimulation) -> Void) {
        on(node, after: period / 2 + dice.below(period)) { world in
            work(world)
            world.every(node, period, work)
        }
    }

    func boot(_ node: SimulatedNode) {
        node.boot(settings: settings, seed: dice.next(), time: time)
        every(node, Self.second / 5) { $0.turn(node) }
        if !node.isCut { linked(node) }
        arm(node)
    }

    private func arm(_ node: SimulatedNode) {
        guard let deadline = node.machine.nextDeadline, deadline != node.armed else { return }
        node.armed = deadline
        let due = node.time(of: deadline)
        on(node, after: due > time ? due - time : 1) { world in
            guard node.armed == deadline else { return }
            node.armed = nil
            world.handle(.deadlineReached, node)
        }
    }

    // MARK: - The shell

    func handle(_ event: SpaceMachine.Event, _ node: SimulatedNode) {
        carryOut(node.machine.handle(event, at: node.clock(time)), node)
    }

    private func carryOut(_ effects: [SpaceMachine.Effect], _ node: SimulatedNode) {
        for effect in effects {
            switch effect {
            case .call(let call): ask(call, node)
            case .store(let records, let place): write(.init(records: records, place: place), node)
            case .serve(let start):
                say("node \(node.name) serves, start \(start)")
                if node.hub != nil { broken("node \(node.name) serves twice") }
                node.hub = .init(start: start, sequence: node.disk.last?.place.sequence ?? 0)
                act(node)
            case .show(let sequence): show(through: sequence, node)
            case .serveAlone(let undecided): goAlone(undecidedThrough: undecided, node)
            case .stepDown(let reason):
                say("node \(node.name) steps down: \(reason)")
                done.stepDowns += 1
                if node.hub == nil { broken("node \(node.name) steps down and has no hub") }
                node.hub = nil
            case .stop(let reason):
                say("node \(node.name) stops: \(reason)")
                done.stopped += 1
                node.hasStopped = true
                if world != .forgetful { broken("node \(node.name) stops: \(reason)") }
            }
        }
        submit(node)
        arm(node)
    }

    // MARK: - The hub

    /// A turn: users do something.
    private func turn(_ node: SimulatedNode) {
        guard node.hub != nil else { return }
        guard node.machine.mayAct(at: node.clock(time)) else { return handle(.deadlineReached, node) }
        act(node)
        guard node.hub!.intake.count < 20, dice.chance(1, in: 2) else { return }
        let change = again.popLast() ?? (changes + 1)
        changes = max(changes, change)
        if node.hub!.isAlone {
            done.refused += 1
            again.append(change)
        } else {
            node.hub!.intake.append(change)
            submit(node)
        }
    }

    private func submit(_ node: SimulatedNode) {
        guard let hub = node.hub, !hub.intake.isEmpty, node.machine.takesRecords else { return }
        let records = hub.intake.enumerated().map { offset, change in
            // Some are larger than an entry may be.
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: change), count: change.isMultiple(of: 16) ? 250 : 10)
            return JournalRecord(sequence: hub.sequence + UInt64(offset) + 1, entries: [.init(key: Self.key(change), value: value)])
        }
        guard let effects = node.machine.submit(records, at: node.clock(time)) else { return }
        node.hub!.sequence += UInt64(records.count)
        node.hub!.pending += zip(records, hub.intake).map { ($0.sequence, $1) }
        node.hub!.intake = []
        carryOut(effects, node)
    }

    private static func key(_ change: UInt64) -> [UInt8] {
        var key: [UInt8] = []
        key.append(bigEndian: change)
        return key
    }

    private func show(through sequence: UInt64, _ node: SimulatedNode) {
        guard let hub = node.hub, !hub.isAlone else { return broken("node \(node.name) shows a change and owns nothing") }
        act(node)
        for (place, change) in hub.pending where place <= sequence {
            if shown.updateValue(node.name, forKey: change) != nil { broken("change \(change) is shown twice") }
            if node.disk.last.map({ $0.place.sequence < place }) ?? true { broken("change \(change) is shown and not on the own disk") }
            done.shown += 1
        }
        node.hub!.pending.removeAll { $0.sequence <= sequence }
    }

    private func goAlone(undecidedThrough sequence: UInt64, _ node: SimulatedNode) {
        say("node \(node.name) is alone")
        guard let hub = node.hub, settings.orphan == .serve else { return broken("node \(node.name) is alone and was no owner") }
        done.alone += 1
        let failed = hub.intake + hub.pending.filter { $0.sequence > sequence }.map(\.change)
        done.triedAgain += failed.count
        again += failed
        (node.hub!.isAlone, node.hub!.intake, node.hub!.pending) = (true, [], [])
    }

    /// This node shows its users something.
    private func act(_ node: SimulatedNode) {
        done.acts += 1
        // The live lanes of who is alone are his users' own.
        guard let hub = node.hub, !hub.isAlone else { return }
        actedAt = time
        // A start that the log has forgotten may be given again, by a node that never heard of it.
        if done.forgotten > 0 { return }
        if hub.start < newestOwner { broken("node \(node.name) acts under start \(hub.start), and start \(newestOwner) has begun") }
        if hub.start > newestOwner { done.takeOvers += 1 }
        newestOwner = max(newestOwner, hub.start)
        if owners.updateValue(node.name, forKey: hub.start) ?? node.name != node.name { broken("two nodes have start \(hub.start)") }
    }

    // MARK: - The disk

    private func write(_ stored: SimulatedNode.Stored, _ node: SimulatedNode) {
        node.writing.append(stored)
        if node.writing.count == 1 { writeNext(node) }
    }

    private func writeNext(_ node: SimulatedNode) {
        on(node, after: dice.chance(1, in: 200) ? 2 * Self.second : dice.below(8_000_000)) { world in
            guard !node.writing.isEmpty else { return }
            let stored = node.writing.removeFirst()
            world.keep(stored, node)
            if !node.writing.isEmpty { world.writeNext(node) }
            world.handle(.stored(through: stored.place.position), node)
        }
    }

    private func keep(_ stored: SimulatedNode.Stored, _ node: SimulatedNode) {
        if let last = node.disk.last, last.place.position >= stored.place.position {
            broken("node \(node.name) stores what stands at \(stored.place.position) twice")
        }
        node.disk.append(stored)
    }

    /// What was being written is there as far as dice will have it.
    func die(_ node: SimulatedNode) {
        for stored in node.writing.prefix(Int(dice.below(UInt64(node.writing.count + 1)))) { keep(stored, node) }
        (node.writing, node.backlog) = ([], [])
        (node.isAlive, node.hub, node.follows) = (false, nil, nil)
        node.life += 1
        node.link += 1
    }

    // MARK: - Judgement

    private func judge() throws {
        let reference: [SimulatedNode.Stored]
        do { reference = try followed() } catch {
            // What was lost and written anew to the same length may have two histories: not all nodes can be content.
            guard done.forgotten > 0, done.stopped > 0 else { throw error }
            return
        }
        for node in nodes where !node.hasStopped {
            guard reference.starts(with: node.disk) else {
                throw Broken("the disk of node \(node.name) is not as the log, \(node.disk.count) of \(reference.count)")
            }
        }
        guard world != .forgetful else { return }
        let logged = reference.flatMap(\.records).flatMap(\.entries).map(\.key)
        guard Set(logged).count == logged.count else { throw Broken("a change stands twice in the log") }
        let known = Set(logged)
        for change in shown.keys.sorted() where !known.contains(Self.key(change)) {
            throw Broken("change \(change) was shown, and the log lacks it")
        }
        guard time - actedAt < 3 * Self.second else { throw Broken("nobody serves, long after the last fault") }
        for node in nodes where node.hub?.isAlone ?? false { throw Broken("node \(node.name) is alone, and the log is back") }
        if world == .calm, done.takeOvers != 1 { throw Broken("\(done.takeOvers) owners where only answers were lost") }
    }

    /// What a disk has that follows all of the log.
    private func followed() throws -> [SimulatedNode.Stored] {
        let now = Instant(nanoseconds: 0)
        var machine = SpaceMachine(disk: LogPlace(), life: .max, seed: 0, at: now)
        var stored: [SimulatedNode.Stored] = [], number: UInt64 = 0
        func note(_ effects: [SpaceMachine.Effect]) throws {
            for effect in effects {
                switch effect {
                case .call(.follow(_, let follows)): number = follows
                case .store(let records, let place): stored.append(.init(records: records, place: place))
                case .stop(let reason): throw Broken("the log cannot be followed: \(reason)")
                default: break
                }
            }
        }
        try note(machine.handle(.log(.linked), at: now))
        for entry in log.entries {
            try note(machine.handle(.log(.entry(entry.bytes, at: entry.position, number: number)), at: now))
            try note(machine.handle(.stored(through: entry.position), at: now))
        }
        return stored
    }
}

/// What happens when, the earliest first; of two at one time, what was added first.
private struct Agenda {
    struct Item {
        var time: UInt64, order: UInt64
        var work: (ClusterSimulation) -> Void

        func isBefore(_ other: Item) -> Bool { (time, order) < (other.time, other.order) }
    }

    private var heap: [Item] = [], order: UInt64 = 0

    mutating func add(at time: UInt64, _ work: @escaping (ClusterSimulation) -> Void) {
        order += 1
        heap.append(Item(time: time, order: order, work: work))
        var place = heap.count - 1
        while place > 0, heap[place].isBefore(heap[(place - 1) / 2]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func next() -> Item? {
        guard let last = heap.popLast() else { return nil }
        guard let first = heap.first else { return last }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].isBefore(heap[least]) { least = child }
            guard least != place else { return first }
            heap.swapAt(place, least)
            place = least
        }
    }
}
