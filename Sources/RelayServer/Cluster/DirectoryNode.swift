internal import Dispatch
import RelayCluster
internal import RelayCore
import RelayIO
import RelayNATS
internal import RelayPrimitives
import RelaySystem
import RelayWire

/// This node's part in a directory of spaces, on a queue of its own: `SpaceDirectory`, and the link to its bucket.
@available(macOS 15, iOS 18, *)
actor DirectoryNode {
    /// What the relay has to do, in this order.
    enum Duty: Sendable {
        case follow(SpaceName, id: String)
        case erase(SpaceName, id: String)
        case hesitate(SpaceName, Duration?)
        case giveAway(SpaceName)
        /// Other nodes serve other spaces than before.
        case changed
    }

    struct Shown: Sendable, Equatable {
        /// Whether the directory was read.
        var isComplete = false
        var spaces: [SpaceName] = []
        /// Where other nodes serve them, as those say; `nil` within: they do not say.
        var owners: [SpaceName: String?] = [:]
        /// Of other nodes that were heard of late.
        var addresses: Set<String> = []
    }

    nonisolated let executor = QueueExecutor(label: "boardrelay.directory")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated let duties: AsyncStream<Duty>
    nonisolated private let duty: AsyncStream<Duty>.Continuation
    nonisolated private let log: @Sendable (LogLine) -> Void
    nonisolated private let shown = Mutex(Shown())
    private let servers: LogServers
    private var directory: SpaceDirectory
    private var link: ServerLink<KeyValueBucket>?
    private var timer: DeadlineTimer?
    private var isEnding = false
    /// Spaces that this node owns, that it has all of, and that it could not serve a moment ago.
    struct Facts { var owns: Set<SpaceName> = [], ready: Set<SpaceName> = [], unfit: Set<SpaceName> = [] }

    private var facts: @Sendable () -> Facts = { Facts() }
    /// The own value was not taken: it is told again with the next step of the timer.
    private var tellsAgain = false
    /// The write that waits for its answer.
    private var writing: (key: String, tell: CheckedContinuation<LogFailure?, Never>)?
    private var removing: CheckedContinuation<LogFailure?, Never>?

    /// One for all relays that use these servers with one login.
    static let bucket = "boardrelay"
    /// Of each that is added another one, also under a name that was removed.
    static func stream(of space: SpaceName, id: String) -> String { "space-\(space)-\(id)" }
    private static let stepEvery = Duration.seconds(1)

    init(_ log: SpaceLogOptions, spacesMax: Int, log say: @escaping @Sendable (LogLine) -> Void) {
        (servers, self.log) = (log.servers, say)
        directory = SpaceDirectory(
            id: String(SystemEntropy.word(), radix: 36), address: log.address?.description, spacesMax: spacesMax, at: Self.now)
        (duties, duty) = AsyncStream.makeStream(of: Duty.self)
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

    func begin(_ facts: @escaping @Sendable () -> Facts) {
        self.facts = facts
        let link = ServerLink(
            servers, KeyValueBucket(name: Self.bucket, login: servers.login, needsTLS: true), title: "the directory", queue: executor.queue,
            log: log, ended: { @Sendable [weak self] in self?.assumeIsolated { $0.failCalls() } },
            handle: { @Sendable [weak self] events in self?.assumeIsolated { $0.handle(events) } })
        self.link = link
        link.start()
        timer = DeadlineTimer(queue: executor.queue) { @Sendable [weak self] in self?.assumeIsolated { $0.stepInTime() } }
        step()
    }

    /// Tells the others first, as far as that is possible now.
    func end() async {
        (timer, isEnding) = (nil, true)
        _ = await put(directory.farewell, expected: nil, endsAfter: SpaceDirectory.entrySeconds)
        link?.close()
        link = nil
        duty.finish()
    }

    /// What the directory tells, for other threads.
    nonisolated func told() -> Shown { shown.withLock { $0 } }

    /// What this node owns may have changed.
    nonisolated func look() { executor.queue.async { [self] in assumeIsolated { $0.step() } } }

    // MARK: - The bucket

    private func handle(_ events: [KeyValueBucket.Event]) {
        for event in events {
            switch event {
            case .startTLS: link?.beginTLS()
            case .opened(let info):
                link?.opened(at: info)
                directory.tellAgain()
            case .notOpened(let failure): link?.warn("the directory cannot be examined: \(failure)")
            case .denied(let text): log(LogLine(.warning, "the directory's server refuses: \(text)"))
            case .entry(let entry):
                let problem = directory.heard(entry.key, entry.value, revision: entry.revision, at: Self.now)
                if let problem { link?.warn(problem) }
            case .complete: directory.complete()
            case .put(let key, let result):
                var failure: LogFailure?
                if case .failure(let problem) = result { failure = problem }
                if let writing, writing.key == key {
                    self.writing = nil
                    writing.tell.resume(returning: failure)
                } else if failure != nil {
                    tellsAgain = true
                }
            case .streamRemoved(_, let failure):
                removing?.resume(returning: failure)
                removing = nil
            }
        }
        step()
    }

    private func failCalls() {
        writing?.tell.resume(returning: .noAnswer(.linkLost))
        removing?.resume(returning: .noAnswer(.linkLost))
        (writing, removing) = (nil, nil)
    }

    private func stepInTime() {
        if tellsAgain { directory.tellAgain() }
        tellsAgain = false
        step()
    }

    private func step() {
        guard link != nil, !isEnding else { return }
        let now = Self.now, facts = facts()
        directory.update(owns: facts.owns, ready: facts.ready, unfit: facts.unfit, at: now)
        for effect in directory.step(at: now) {
            switch effect {
            case .follow(let space, let id): duty.yield(.follow(space, id: id))
            case .erase(let space, let id): duty.yield(.erase(space, id: id))
            case .hesitate(let space, let hesitation): duty.yield(.hesitate(space, hesitation))
            case .giveAway(let space): duty.yield(.giveAway(space))
            case .tell(let key, let value):
                link?.ask { bucket throws(NATSError) in try bucket.put(value, for: key, endsAfter: SpaceDirectory.entrySeconds, at: now) }
            }
        }
        var new = Shown(isComplete: directory.isComplete, spaces: directory.spaces)
        for space in new.spaces { if let address = directory.owner(of: space, at: now) { new.owners[space] = .some(address) } }
        new.addresses = directory.addresses(at: now)
        let isNew = shown.withLock { shown in
            defer { shown = new }
            return shown != new
        }
        if isNew { duty.yield(.changed) }
        timer?.arm(for: (now + Self.stepEvery).nanoseconds)
    }

    /// If the directory still has this one.
    func followAgain(_ space: SpaceName, _ id: String) {
        if directory.entry(of: space).space == SpaceDirectory.Space(id: id) { duty.yield(.follow(space, id: id)) }
    }

    /// After what was added or removed by hand.
    func followIfThere(_ space: SpaceName) {
        let known = directory.entry(of: space).space
        if !known.id.isEmpty, !known.isRemoved { duty.yield(.follow(space, id: known.id)) }
    }

    func hesitation(of space: SpaceName) -> Duration? { directory.hesitation(of: space, at: Self.now) }

    /// Whether other nodes follow a space, or own it, as far as they say.
    func isUsed(_ space: SpaceName) -> Bool { directory.isUsed(space, at: Self.now) }

    // MARK: - What the operator asks

    func drain(_ space: SpaceName) throws(RelayServerError) {
        guard directory.canGiveAway(space, at: Self.now) else {
            throw RelayServerError(text: "no other node could take space \(space) now: each is behind, or has all that it may have")
        }
        directory.drain(space, at: Self.now)
        step()
    }

    enum Added {
        case done
        case refused(String)
        /// No answer came: it may be there.
        case unknown
    }

    func add(_ space: SpaceName, id: String) async -> Added {
        guard writing == nil, directory.canAdd(space) else { return .refused("the directory takes no other name now") }
        let entry = SpaceDirectory.entry(of: space, SpaceDirectory.Space(id: id))
        switch await putWhenLed(entry, expected: directory.entry(of: space).revision) {
        case nil: return .done
        case .noAnswer(.noResponders)?: return .refused("the directory has no leader now")
        case .refused(_, let text)?: return .refused("the directory refuses it: \(text)")
        case .noAnswer?, .badAnswer?: return .unknown
        }
    }

    /// Also of one whose removal was begun: what is left of it then goes.
    ///
    /// - Returns: the id of the space.
    /// - Throws: when it is not known to be done, or there was none.
    func remove(_ space: SpaceName) async throws(RelayServerError) -> String {
        let known = directory.entry(of: space).space
        guard !known.id.isEmpty else { throw RelayServerError(text: "the directory has no space \(space)") }
        if !known.isRemoved { try await write(space, SpaceDirectory.Space(id: known.id, isRemoved: true)) }
        return known.id
    }

    /// Waits for a link and a leader: those of a server that has just died are soon followed by others. What nobody heard is asked again.
    private func putWhenLed(_ entry: (key: String, value: [UInt8]), expected: UInt64) async -> LogFailure? {
        let end = Self.now + .seconds(4)
        while true {
            let failure = link?.connectedTo == nil ? .noAnswer(.noResponders) : await put(entry, expected: expected, endsAfter: nil)
            guard failure == .noAnswer(.noResponders), Self.now < end else { return failure }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func write(_ space: SpaceName, _ new: SpaceDirectory.Space) async throws(RelayServerError) {
        guard writing == nil else { throw RelayServerError(text: "the directory is being written: try again") }
        let failure = await putWhenLed(SpaceDirectory.entry(of: space, new), expected: directory.entry(of: space).revision)
        if let failure { throw RelayServerError(text: "the directory could not be written: \(failure)") }
    }

    /// - Returns: why it is not known to be done.
    private func put(_ entry: (key: String, value: [UInt8]), expected: UInt64?, endsAfter seconds: Int?) async -> LogFailure? {
        await withCheckedContinuation { (tell: CheckedContinuation<LogFailure?, Never>) in
            guard let link, link.connectedTo != nil, writing == nil else { return tell.resume(returning: .noAnswer(.linkLost)) }
            writing = (entry.key, tell)
            let now = Self.now
            link.ask { bucket throws(NATSError) in
                try bucket.put(entry.value, for: entry.key, expected: expected, endsAfter: seconds, at: now)
            }
        }
    }

    /// The log of a space that is removed goes, with all that it has.
    func removeLog(of space: SpaceName, id: String) async throws(RelayServerError) {
        guard removing == nil else { throw RelayServerError(text: "the directory is being written: try again") }
        let failure = await withCheckedContinuation { (tell: CheckedContinuation<LogFailure?, Never>) in
            guard let link, link.connectedTo != nil else { return tell.resume(returning: .noAnswer(.linkLost)) }
            removing = tell
            let now = Self.now
            link.ask { bucket throws(NATSError) in try bucket.removeStream(Self.stream(of: space, id: id), at: now) }
        }
        if let failure { throw RelayServerError(text: "the log of space \(space) could not be removed: \(failure)") }
    }
}
