internal import Dispatch
internal import RelayPrimitives
import RelayCluster
internal import RelayCore
import RelayGateway
import RelayIO
import RelayStorage
import RelaySystem

/// A node's part in a space, on a queue of its own: `SpaceMachine`, the link to the log, and who is told what follows of them.
///
/// The engine submits changes, the journal's writer tells what is durable, and neither waits for it. It waits for one turn of the engine
/// where an ownership ends: whatever is asked of the log then comes behind that turn.
@available(macOS 15, iOS 18, *)
actor SpaceNode {
    /// What the relay has to do, in this order.
    enum Duty: Sendable {
        case serve(Lease, start: UInt32, Result<JournalWriter.Opened, RelayServerError>)
        case standBy(SpaceMachine.StepDown)
        /// Another node owns the space, and is reached here.
        case follow(Whereabouts)
        case stopped
    }

    private struct Intake {
        var records: [JournalRecord] = []
        var erasures: [StoreErasure] = []
        var searches: [StoredRecordsRead] = []
        var isScheduled = false
    }

    nonisolated let executor = QueueExecutor(label: "boardrelay.log")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated private let intake = Mutex(Intake())
    nonisolated private let log: @Sendable (LogLine) -> Void
    nonisolated let duties: AsyncStream<Duty>
    nonisolated private let duty: AsyncStream<Duty>.Continuation
    private let options: SpaceLogOptions

    private var machine: SpaceMachine?
    private var link: LogLink?
    private var timer: DeadlineTimer?
    private var journal: JournalWriter?
    /// Of this node, while it owns the space.
    private var lease: Lease?
    private var engine: Engine?
    /// Erasures that wait until what was submitted before them is stored.
    private var erasures: [(behind: UInt64, StoreErasure)] = []
    private var submitted: UInt64 = 0
    /// The newest change that the engine was told of.
    private var durable: UInt64?
    /// While it is alone: changes through this one may be in the log.
    private var undecided: UInt64?
    private var lastRole: SpaceMachine.Role?
    /// The append that is under way, and when it was first sent.
    private var sent: (id: SpaceLog.AppendID, at: Instant)?
    private var told = SpaceReport()
    /// The newest one that it was told; perhaps before it began.
    private var hesitation: Duration??
    /// Seconds from an append to the log's answer.
    private var times = SpaceNode.noTimes
    private static let noTimes = MetricHistogram(bounds: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10])
    /// The same for other threads.
    nonisolated private let shown = Mutex((report: SpaceReport(), times: SpaceNode.noTimes, isCaughtUp: false, owns: false))
    /// What has come to the log since this process began, whoever appended it, and where the next trim ends.
    private var trimming = Trimming()

    init(_ options: SpaceLogOptions, log: @escaping @Sendable (LogLine) -> Void) {
        (self.options, self.log) = (options, log)
        (duties, duty) = AsyncStream.makeStream(of: Duty.self)
        told.space = options.space
    }

    private var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

    // MARK: - Start and end

    /// - Parameter place: what the folder has.
    func begin(_ journal: JournalWriter, at place: LogPlace, hesitation: Duration? = .zero) {
        self.journal = journal
        var settings = options.settings
        settings.startMin = WhiteboardRelay.startNumber(after: 0, wallMilliseconds: SystemClock.wallMilliseconds()) ?? 1
        machine = SpaceMachine(disk: place, life: SystemEntropy.word(), seed: SystemEntropy.word(), settings: settings, at: now)
        timer = DeadlineTimer(queue: executor.queue) { @Sendable [weak self] in self?.assumeIsolated { $0.handle(.deadlineReached) } }
        let link = LogLink(
            options, queue: executor.queue, log: log,
            ended: { @Sendable [weak self] in self?.assumeIsolated { $0.link?.ended() } },
            events: { @Sendable [weak self] events in self?.assumeIsolated { $0.link?.handle(events) } },
            answer: { [unowned self] in answered($0) })
        self.link = link
        link.start()
        hesitate(self.hesitation ?? hesitation)
    }

    /// See `SpaceMachine.Event.hesitate`.
    func hesitate(_ hesitation: Duration?) {
        self.hesitation = .some(hesitation)
        handle(.hesitate(hesitation))
    }

    /// Gives the space to another node: returns when what was under way is finished, or cannot be.
    func resign() async {
        handle(.resign)
        let end = now + options.settings.ownerLease
        while let machine, now < end {
            switch machine.role {
            case .owner, .releasing, .takingOver: break
            case .standby, .doubting, .alone, .diskFailed, .stopped: return
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The same, and does not wait.
    func beginToResign() { handle(.resign) }

    func end() {
        options.places?.giveBack(options.space)
        lease?.end()
        link?.close()
        timer?.arm(for: nil)
        (machine, link, timer, engine) = (nil, nil, nil, nil)
        duty.finish()
    }

    // MARK: - From the engine

    /// Takes changes of an ownership; returns at once.
    nonisolated func submit(
        _ records: [JournalRecord], erasures: [StoreErasure] = [], searches: [StoredRecordsRead] = [], under lease: Lease
    ) {
        // Those of one that is over are nobody's.
        guard !lease.isOver else { return }
        let wakes = intake.withLock { intake in
            intake.records += records
            intake.erasures += erasures
            intake.searches += searches
            defer { intake.isScheduled = true }
            return !intake.isScheduled
        }
        if wakes { executor.queue.async { [self] in assumeIsolated { $0.takeIn() } } }
    }

    private func takeIn() {
        intake.withLock { $0.isScheduled = false }
        submitWaiting()
        settle()
    }

    /// One batch is under way at a time; what comes meanwhile gathers, and goes as the next one.
    private func submitWaiting() {
        guard lease?.isOver == false else { return }
        let (newErasures, searches) = intake.withLock { intake in
            defer { (intake.erasures, intake.searches) = ([], []) }
            return (intake.erasures, intake.searches)
        }
        let newest = intake.withLock { $0.records.last?.sequence } ?? submitted
        erasures += newErasures.map { (newest, $0) }
        if !searches.isEmpty { journal?.erase([], searches: searches) }
        takeErasures()
        if undecided != nil { return refuseWaiting() }
        guard machine?.takesRecords == true else { return }
        let records = intake.withLock { intake in
            defer { intake.records = [] }
            return intake.records
        }
        guard let last = records.last else { return }
        submitted = last.sequence
        // Whose T₁ is over gets the end of that ownership with the next event.
        guard let effects = machine?.submit(records, at: now) else { return }
        carryOut(effects)
    }

    /// What comes while this relay is alone is in no log, nor will be: the hub undoes it.
    private func refuseWaiting() {
        let isAny = intake.withLock { intake in
            defer { intake.records = [] }
            return !intake.records.isEmpty
        }
        guard isAny, let undecided else { return }
        engine?.enter { $0.goOnAlone(undecidedThrough: undecided) }
    }

    /// An erasure is of what was submitted before it.
    private func takeErasures() {
        guard let machine, !erasures.isEmpty else { return }
        let ready = erasures.prefix { $0.behind <= machine.disk.sequence }.map { $0.1 }
        erasures.removeFirst(ready.count)
        if !ready.isEmpty { journal?.erase(ready, searches: []) }
    }

    /// The engine of this ownership serves from now on.
    ///
    /// - Returns: whether the ownership still stands.
    func attach(_ engine: Engine, _ lease: Lease) -> Bool {
        guard self.lease === lease, !lease.isOver else { return false }
        self.engine = engine
        return true
    }

    // MARK: - From the journal's writer

    nonisolated func stored(through position: UInt64) { enter { $0.handle(.stored(through: position)) } }

    nonisolated func diskFailed(_ text: String) {
        note(.error, "nothing can be stored: \(text)")
        enter { node in
            node.handle(.diskFailed)
            node.journal?.acknowledgeFailure()
        }
    }

    nonisolated func diskRecovered() { enter { $0.handle(.diskRecovered) } }

    /// The engine has ended an ownership by its own clock: another node may follow at once.
    nonisolated func leaseIsOver(_ lease: Lease) {
        enter { node in
            guard node.lease === lease else { return }
            node.handle(.resign)
        }
    }

    nonisolated func say(_ text: String) { note(.warning, text) }

    nonisolated func note(_ level: LogLine.Level, _ text: String) {
        var line = LogLine(level, text)
        line.space = options.space
        log(line)
    }

    nonisolated private func enter(_ body: @escaping @Sendable (isolated SpaceNode) -> Void) {
        executor.queue.async { [self] in assumeIsolated { body($0) } }
    }

    // MARK: - The machine

    private func answered(_ answer: SpaceLog.Answer) {
        if case .entry(let bytes, _, _) = answer { grew(by: bytes.count) }
        if case .appended(let id, .taken) = answer, let sent, sent.id == id {
            let took = now - sent.at
            times.observe(Double(took.nanoseconds) / 1e9)
            (told.appendMicroseconds, self.sent) = (Int(took.nanoseconds / 1000), nil)
            told.appends += 1
        }
        handle(.log(answer))
    }

    private func handle(_ event: SpaceMachine.Event) {
        guard let effects = handled(event) else { return }
        extendLease()
        carryOut(effects)
        submitWaiting()
        settle()
    }

    /// Whoever would take over without a place hesitates, and looks again.
    private func handled(_ event: SpaceMachine.Event) -> [SpaceMachine.Effect]? {
        guard machine != nil else { return nil }
        let mustWait = machine!.isLooking && options.places?.take(options.space) == false
        var effects = mustWait ? machine!.handle(.hesitate(nil), at: now) : []
        effects += machine!.handle(event, at: now)
        if mustWait { effects += machine!.handle(.hesitate(hesitation ?? .zero), at: now) }
        switch machine!.role {
        case .takingOver, .owner, .alone: break
        case .standby where machine!.isLooking: break
        case .standby, .doubting, .releasing, .diskFailed, .stopped: options.places?.giveBack(options.space)
        }
        return effects
    }

    /// Nothing durable is shown by a node that is alone.
    private func extendLease() { if let machine, machine.role != .alone, let until = machine.actsUntil { lease?.extend(until: until) } }

    /// Behind each call of the machine.
    private func settle() {
        guard let machine else { return }
        extendLease()
        timer?.arm(for: machine.nextDeadline?.nanoseconds)
        let isNew = machine.role != lastRole
        if isNew { (lastRole, told.role) = (machine.role, "\(machine.role)") }
        told.start = Int(machine.counted.start)
        (told.position, told.storedPosition) = (Int(clamping: machine.counted.position), Int(clamping: machine.disk.position))
        (told.log, told.recordsWaiting) = (link?.connectedTo, intake.withLock { $0.records.count })
        let owns = [.owner, .alone, .takingOver].contains(machine.role)
        shown.withLock { $0 = (told, times, machine.isCaughtUp, owns) }
        guard isNew else { return }
        note(.debug, "this node is \(machine.role), at entry \(machine.counted.position) of the log")
    }

    private func carryOut(_ effects: [SpaceMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .call(let call):
                if case .append(let bytes, _, let id) = call {
                    if sent?.id != id {
                        sent = (id, now)
                        grew(by: bytes.count)
                    }
                }
                link?.call(call)
            case .store(let records, let place):
                journal?.store(records, place)
                let owner = LoggedAddress.whereabouts(in: records.lazy.flatMap(\.entries), own: options.address)
                if lease == nil, let owner { duty.yield(.follow(owner)) }
            case .serve(let start): serve(start)
            case .show(let sequence):
                durable = sequence
                engine?.enter { $0.shown(through: sequence) }
            case .serveAlone(let sequence):
                undecided = sequence
                note(.warning, "the log cannot be reached; this relay goes on alone, and stores nothing")
                engine?.enter { $0.goOnAlone(undecidedThrough: sequence) }
            case .stepDown(let reason): stepDown(reason)
            case .stop(let reason):
                let text = "this relay follows and serves no more: \(reason.text)"
                (told.stopped, erasures) = (text, [])
                note(.error, text)
                duty.yield(.stopped)
            }
        }
    }

    private func grew(by bytes: Int) {
        guard let below = trimming.grew(by: bytes, at: machine?.counted.position ?? 0) else { return }
        // Behind this call of the machine, which is not finished. Only an owner trims.
        enter { $0.handle(.trim(below: below)) }
    }

    private func serve(_ start: UInt32) {
        guard let journal, let until = machine?.actsUntil else { return }
        let lease = Lease(until: until, goesOnAlone: options.goesOnAlone)
        self.lease = lease
        submitted = machine?.disk.sequence ?? 0
        journal.beginServing(start: start) { @Sendable [weak self] result in
            self?.enter { node in
                guard !lease.isOver else { return }
                if case .failure = result { node.handle(.resign) }
                node.duty.yield(.serve(lease, start: start, result))
            }
        }
    }

    private func stepDown(_ reason: SpaceMachine.StepDown) {
        lease?.end()
        // Behind the turn that is under way: none follows.
        if let engine {
            let (saysGoodbye, durable) = (reason == .resigned || reason == .diskFailed, durable)
            engine.executor.queue.sync { engine.assumeIsolated { $0.endLease(saysGoodbye: saysGoodbye, shown: durable) } }
        }
        (lease, engine, erasures, sent, undecided, durable) = (nil, nil, [], nil, nil, nil)
        intake.withLock { ($0.records, $0.erasures, $0.searches) = ([], [], []) }
        journal?.beginFollowing()
        duty.yield(.standBy(reason))
    }

    // MARK: - What it tells

    nonisolated func report() -> SpaceReport { shown.withLock { $0.report } }

    /// See `SpaceMachine.isCaughtUp`.
    nonisolated var isCaughtUp: Bool { shown.withLock { $0.isCaughtUp } }

    /// Whether it owns the space, or is about to.
    nonisolated var owns: Bool { shown.withLock { $0.owns } }

    nonisolated var hasFailedDisk: Bool { report().role == "diskFailed" }

    /// Why this node would not even follow.
    nonisolated var hindrance: String? {
        report().stopped != nil ? "stopped: an operator has to see to it" : hasFailedDisk ? "nothing can be stored" : nil
    }

    /// For /metrics of the door.
    nonisolated func metrics(_ text: inout MetricsText) {
        let (report, times, _, _) = shown.withLock { $0 }
        text.single("boardrelay_owner", .gauge, "Whether this relay owns its space.", report.role == "owner" ? 1 : 0)
        text.single("boardrelay_log_connected", .gauge, "Whether a server of the log answers.", report.log == nil ? 0 : 1)
        text.single("boardrelay_log_position", .gauge, "The newest entry of the log that is known.", UInt64(report.position))
        text.single(
            "boardrelay_standby_behind", .gauge, "Entries that are known and not on this relay's disk; signs of life among them.",
            UInt64(max(0, report.position - report.storedPosition)))
        text.begin("boardrelay_log_seconds", .histogram, "From an entry that is appended to the log's answer.")
        text.histogram(times)
    }
}

/// When an owner trims the log: between one and two times `bytes` stay, for who was away.
struct Trimming {
    /// A standby that lacks more wants a copy of the owner's folder.
    static let bytes = 512 << 20
    /// Of an entry, in the engine.
    private static let headBytes = 256
    private var count = 0
    /// Where the older half begins and ends.
    private var mark: UInt64?

    /// - Returns: below which position the log may be trimmed now, if so.
    mutating func grew(by byteCount: Int, at position: UInt64) -> UInt64? {
        count += byteCount + Self.headBytes
        guard count >= Self.bytes else { return nil }
        defer { (count, mark) = (0, position) }
        return mark
    }
}

extension SpaceMachine.Stop {
    var text: String {
        switch self {
        case .logEndsEarly(let end, let own):
            "the log ends at entry \(end), this node has entry \(own) of it: it has lost what it acknowledged"
        case .diverged(let position): "the log has another history than this node, at entry \(position)"
        case .missing(let after, let before):
            "the log has no entry between \(after), which this node has, and \(before): it wants a copy of another node's folder"
        case .badEntry(let position, let error): "entry \(position) of the log cannot be read: \(error)"
        case .startsUsedUp: "no start number is left"
        }
    }
}
