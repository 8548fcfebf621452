import RelayCluster
import RelayPrimitives
import RelayStorage

/// A node on a clock moved by hand, whose calls somebody else answers.
final class TestNode {
    var machine: SpaceMachine
    var now = Instant(nanoseconds: 1_000_000_000_000)
    /// All that was asked of the log, and all else, in order.
    private(set) var calls: [SpaceLog.Call] = [], effects: [SpaceMachine.Effect] = []

    init(disk: LogPlace = LogPlace(), life: UInt64 = 7, seed: UInt64 = 1, _ change: (inout ClusterSettings) -> Void = { _ in }) {
        var settings = ClusterSettings()
        change(&settings)
        machine = SpaceMachine(disk: disk, life: life, seed: seed, settings: settings, at: now)
        tell(.linked)
    }

    func handle(_ event: SpaceMachine.Event) { note(machine.handle(event, at: now)) }
    func tell(_ answer: SpaceLog.Answer) { handle(.log(answer)) }

    func submit(_ records: [JournalRecord]) -> Bool {
        guard let effects = machine.submit(records, at: now) else { return false }
        note(effects)
        return true
    }

    /// Lets time pass, with the machine's deadlines.
    func wait(_ duration: Duration) {
        let end = now + duration
        while let due = machine.nextDeadline, due <= end {
            now = max(now, due)
            handle(.deadlineReached)
        }
        now = end
    }

    private func note(_ new: [SpaceMachine.Effect]) {
        for effect in new { if case .call(let call) = effect { calls.append(call) } else { effects.append(effect) } }
    }

    func takeEffects() -> [SpaceMachine.Effect] {
        defer { effects = [] }
        return effects
    }

    func takeCalls() -> [SpaceLog.Call] {
        defer { calls = [] }
        return calls
    }

    var follows: UInt64 { numbers { if case .follow(_, let number) = $0 { number } else { nil } } }
    var asks: UInt64 { numbers { if case .readEnd(let number) = $0 { number } else { nil } } }
    private var newest: [UInt64] = [0, 0]

    private func numbers(_ number: (SpaceLog.Call) -> UInt64?) -> UInt64 { calls.compactMap(number).last ?? 0 }
}

/// Nodes and a log that answers each of them at once, unless it is told not to.
final class TestSpace {
    var log = MemoryLog()
    var nodes: [TestNode] = []
    /// Nodes that the log does not hear.
    var cut: Set<Int> = []
    /// Nodes whose disks wait.
    var isDiskLate: Set<Int> = []
    private var follows: [Int: UInt64] = [:], read: [Int: Int] = [:], stored: [Int: Int] = [:]
    private var told: [Int: [SpaceMachine.Effect]] = [:]

    init(_ nodes: [TestNode]) { self.nodes = nodes }

    /// What a node was told, but for calls.
    func takeEffects(_ place: Int) -> [SpaceMachine.Effect] { told.removeValue(forKey: place) ?? [] }

    /// Until nobody has anything to say.
    func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for (place, node) in nodes.enumerated() {
                for call in node.takeCalls() where !cut.contains(place) {
                    isBusy = true
                    answer(call, place)
                }
                let effects = node.takeEffects()
                told[place, default: []] += effects
                guard !isDiskLate.contains(place) else { continue }
                for case .store(_, let stored) in effects { node.handle(.stored(through: stored.position)) }
                isBusy = isBusy || !effects.isEmpty
            }
        }
    }

    func wait(_ duration: Duration) {
        for _ in 0..<(duration.milliseconds / 100) {
            for node in nodes { node.wait(.milliseconds(100)) }
            settle()
        }
    }

    private func answer(_ call: SpaceLog.Call, _ place: Int) {
        switch call {
        case .append(let bytes, let after, let id):
            let end = log.end
            nodes[place].tell(.appended(id, log.append(bytes, after: after, id: id)))
            if log.end > end, let entry = log.entries.last { for other in nodes.indices { push(entry, other) } }
        case .readEnd(let number): nodes[place].tell(.end(log.entries.last?.bytes ?? [], at: log.end, number: number))
        case .follow(let position, let number):
            follows[place] = position == nil ? nil : number
            if let position { for entry in log.entries(from: position) { push(entry, place) } }
        case .trim(let position): log.trim(below: position)
        }
    }

    private func push(_ entry: (position: UInt64, bytes: [UInt8]), _ place: Int) {
        guard let number = follows[place], !cut.contains(place) else { return }
        nodes[place].tell(.entry(entry.bytes, at: entry.position, number: number))
    }
}

func record(_ sequence: UInt64, bytes: Int = 3) -> JournalRecord {
    let key = [1, UInt8(truncatingIfNeeded: sequence)]
    return JournalRecord(sequence: sequence, entries: [.init(key: key, value: .init(repeating: 5, count: bytes))])
}

extension [SpaceMachine.Effect] {
    /// What is not for the disk.
    var said: Self { filter { if case .store = $0 { false } else { true } } }
    var stores: [[JournalRecord]] { compactMap { if case .store(let records, _) = $0 { records } else { nil } } }
}
