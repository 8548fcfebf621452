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
        case follow(SpaceName)
        case erase(SpaceName)
        case hesitate(SpaceName, Duration?)
        case giveAway(SpaceName)
        /// Other nodes serve other spaces than before.
        case changed
    }

    struct Shown: Sendable, Equatable {
        var spaces: [SpaceName] = []
        /// Where other nodes serve them, as those say; `nil` within: they do not say.
        var owners: [SpaceName: String?] = [:]
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
    /// Which spaces this node owns, and which it has all of.
    private var facts: @Sendable () -> (owns: Set<SpaceName>, ready: Set<SpaceName>) = { ([], []) }
    /// The write that waits for its answer.
    private var writing: (key: String, tell: CheckedContinuation<LogFailure?, Never>)?
    private var removing: CheckedContinuation<LogFailure?, Never>?

    /// One for all relays that use these servers with one login.
    static let bucket = "boardrelay"
    static func stream(of space: SpaceName) -> String { "space-\(space)" }
    private static let stepEvery = Duration.seconds(1)

    init(_ log: SpaceLogOptions, spacesMax: Int, log say: @escaping @Sendable (LogLine) -> Void) {
        (servers, self.log) = (log.servers, say)
        directory = SpaceDirectory(
            id: String(SystemEntropy.word(), radix: 36), address: log.address?.description, spacesMax: spacesMax, at: Self.now)
        (duties, duty) = AsyncStream.makeStream(of: Duty.self)
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

    func begin(_ facts: @escaping @Sendable () -> (owns: Set<SpaceName>, ready: Set<SpaceName>)) {
        self.facts = facts
        let link = ServerLink(
            servers, KeyValueBucket(name: Self.bucket, login: servers.login, needsTLS: true), title: "the directory", queue: executor.queue,
            log: log, ended: { @Sendable [weak self] in self?.assumeIsolated { $0.failCalls() } },
            handle: { @Sendable [weak self] events in self?.assumeIsolated { $0.handle(events) } })
        self.link = link
        link.start()
        timer = DeadlineTimer(queue: executor.queue) { @Sendable [weak self] in self?.assumeIsolated { $0.step() } }
        step()
    }

    func end() {
        link?.close()
        timer?.arm(for: nil)
        (link, timer) = (nil, nil)
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
                    directory.tellAgain()
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

    private func step() {
        guard link != nil else { return }
        let now = Self.now, (owns, ready) = facts()
        directory.update(owns: owns, ready: ready, at: now)
        for effect in directory.step(at: now) {
            switch effect {
            case .follow(let space): duty.yield(.follow(space))
            case .erase(let space): duty.yield(.erase(space))
            case .hesitate(let space, let hesitation): duty.yield(.hesitate(space, hesitation))
            case .giveAway(let space): duty.yield(.giveAway(space))
            case .tell(let key, let value):
                link?.ask { bucket throws(NATSError) in try bucket.put(value, for: key, endsAfter: SpaceDirectory.entrySeconds, at: now) }
            }
        }
        var new = Shown(spaces: directory.spaces)
        for space in new.spaces { if let node = directory.owner(of: space, at: now) { new.owners[space] = .some(node.address) } }
        let isNew = shown.withLock { shown in
            defer { shown = new }
            return shown != new
        }
        if isNew { duty.yield(.changed) }
        timer?.arm(for: (now + Self.stepEvery).nanoseconds)
    }

    // MARK: - What the operator asks

    func drain(_ space: SpaceName) throws(RelayServerError) {
        guard directory.canGiveAway(space, at: Self.now) else {
            throw RelayServerError(text: "no other node could take space \(space) now: each is behind, or has all that it may have")
        }
        directory.drain(space, at: Self.now)
        step()
    }

    /// Adds a space, or says that it is removed.
    ///
    /// - Throws: when that is not known to be done.
    func write(_ space: SpaceName, isRemoved: Bool) async throws(RelayServerError) {
        guard writing == nil else { throw RelayServerError(text: "the directory is being written: try again") }
        let entry = SpaceDirectory.entry(of: space, isRemoved: isRemoved), expected = directory.revision(of: space)
        let failure = await withCheckedContinuation { (tell: CheckedContinuation<LogFailure?, Never>) in
            guard let link, link.connectedTo != nil else { return tell.resume(returning: .noAnswer(.linkLost)) }
            writing = (entry.key, tell)
            let now = Self.now
            link.ask { bucket throws(NATSError) in try bucket.put(entry.value, for: entry.key, expected: expected, at: now) }
        }
        if let failure { throw RelayServerError(text: "the directory could not be written: \(failure)") }
    }

    /// The log of a space that is removed goes, with all that it has.
    func removeLog(of space: SpaceName) async throws(RelayServerError) {
        guard removing == nil else { throw RelayServerError(text: "the directory is being written: try again") }
        let failure = await withCheckedContinuation { (tell: CheckedContinuation<LogFailure?, Never>) in
            guard let link, link.connectedTo != nil else { return tell.resume(returning: .noAnswer(.linkLost)) }
            removing = tell
            let now = Self.now
            link.ask { bucket throws(NATSError) in try bucket.removeStream(Self.stream(of: space), at: now) }
        }
        if let failure { throw RelayServerError(text: "the log of space \(space) could not be removed: \(failure)") }
    }
}
