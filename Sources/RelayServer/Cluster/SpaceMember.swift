internal import Dispatch
import RelayCluster
internal import RelayCore
import RelayIO
import RelayStorage
import RelayWire

/// One space with a log, at this node: its folder, its part in the log, and the relay of each ownership. Calls are safe from anywhere.
///
/// Whoever has it leads the door to `owner`, or tells who asks that others serve (`whereabouts`), each time that it is told of a change.
@available(macOS 15, iOS 18, *)
final class SpaceMember: Sendable {
    let node: SpaceNode
    let space: String
    private let journal: JournalWriter
    private let folder: String
    private let keys: LoggedKeys?
    /// Where clients reach this node, as others say.
    private let shownAddress: RelayAddress?
    private let place: RelayPlace
    private let options: Mutex<WhiteboardRelay.Options>
    private let relay = Mutex<WhiteboardRelay?>(nil)
    private let known: Mutex<Whereabouts>
    /// When an ownership could not be served.
    private let failedAt = Mutex<ContinuousClock.Instant?>(nil)
    private static let unfitFor = Duration.seconds(60)
    private let duties = Mutex<Task<Void, Never>?>(nil)
    private let changed = Mutex<(@Sendable () async -> Void)?>(nil)
    /// What the folder had of the log.
    private let end: LogPlace

    private init(
        _ node: SpaceNode, _ journal: JournalWriter, _ log: SpaceLogOptions, _ folder: String, _ options: WhiteboardRelay.Options,
        behind place: RelayPlace, _ known: Whereabouts, at end: LogPlace
    ) {
        (self.node, self.journal, space, self.folder, self.options) = (node, journal, log.space, folder, Mutex(options))
        (keys, shownAddress) = (log.secret.map { LoggedKeys(secret: $0, space: log.space) }, log.address)
        (self.place, self.known, self.end) = (place, Mutex(known), end)
    }

    /// Opens the folder.
    ///
    /// - Parameters:
    ///   - options: of the relay of an ownership; the folder is its storage.
    ///   - leavesLog: whether the folder, if it is of another log, becomes one of this log.
    /// - Throws: when the folder cannot be had, or is not one of this log.
    static func open(
        _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions, behind place: RelayPlace, leavesLog: Bool = false
    ) async throws(RelayServerError) -> SpaceMember {
        guard case .folder(let path) = options.storage else {
            throw RelayServerError(text: "a space with a log is kept in a data folder")
        }
        if case .keys = options.access, log.secret == nil {
            throw RelayServerError(text: "a relay with keys and a log wants a secret that seals the keys")
        }
        let node = SpaceNode(log, log: options.log)
        let journal = JournalWriter(path: path, indexBytesMax: options.hub.boardIndexBytesMax, log: node)
        var opened = try await journal.open(waits: options.waitsForFolder, progress: options.didRead)
        do throws(RelayServerError) {
            if leavesLog, opened.entries.contains(where: { JournalWriter.isOfLog($0.key) }) { try await journal.leaveLog(&opened) }
            let end = try JournalWriter.place(in: opened)
            let known = LoggedAddress.whereabouts(in: opened.entries, own: log.address) ?? .unknown
            return SpaceMember(node, journal, log, path, options, behind: place, known, at: end)
        } catch {
            await journal.close()
            throw error
        }
    }

    /// Follows the log: who owns the space is decided there.
    ///
    /// - Parameters:
    ///   - hesitation: see `SpaceMachine.Event.hesitate`.
    ///   - changed: called when `owner` or `whereabouts` is another one.
    func begin(hesitation: Duration? = .zero, _ changed: @escaping @Sendable () async -> Void) async {
        self.changed.withLock { $0 = changed }
        duties.withLock { $0 = Task { [weak self, node] in for await duty in node.duties { await self?.carryOut(duty) } } }
        await node.begin(journal, at: end, hesitation: hesitation)
    }

    /// The relay that serves, while this node owns the space.
    var owner: WhiteboardRelay? { relay.withLock { $0 } }

    /// Whether this node could not serve it a moment ago.
    var isUnfit: Bool { failedAt.withLock { $0.map { .now < $0 + Self.unfitFor } ?? false } }

    /// Where another node serves it, as the log says.
    var whereabouts: Whereabouts { known.withLock { $0 } }

    // MARK: - Ownerships

    private func carryOut(_ duty: SpaceNode.Duty) async {
        switch duty {
        case .serve(let lease, let start, let result): await serve(lease, start, result)
        case .follow(let owner): if relay.withLock({ $0 == nil }) { await follow(owner) }
        case .standBy(let reason):
            await end()
            node.note(.info, "\(reason.text). This relay stands by.")
        case .stopped: await end()
        }
    }

    private func serve(_ lease: Lease, _ start: UInt32, _ result: Result<JournalWriter.Opened, RelayServerError>) async {
        do throws(RelayServerError) {
            // The node gives it back by itself.
            if case .failure = result { failedAt.withLock { $0 = .now } }
            let opened = try result.get()
            let isKnown = try keys?.take(opened.sealedKeys, into: folder) ?? true
            let ownership = Ownership(lease: lease, start: start, opened: opened, journal: journal, node: node)
            let relay = try await WhiteboardRelay.start(
                ofOwnership(), permit: { _ in }, as: .space(space), behind: place, owning: ownership)
            self.relay.withLock { $0 = relay }
            // What a reload has changed meanwhile.
            try relay.apply(ofOwnership())
            if !isKnown { keepKeys() }
            let own = LoggedAddress.entry(of: shownAddress)
            relay.engine.enter { if $0.isServing { $0.hub.handle(.keep(own), at: Engine.now()) } }
            guard !lease.isOver else { return }
            await tellChange()
            node.note(.info, "this relay owns it, with start \(start), and serves.")
        } catch {
            if case .failure = result { return node.note(.error, "it cannot be served: \(error)") }
            guard !lease.isOver else { return }
            failedAt.withLock { $0 = .now }
            node.note(.error, "it cannot be served: \(error)")
            await node.resign()
        }
    }

    private func ofOwnership() -> WhiteboardRelay.Options {
        var own = options.withLock { $0 }
        let changed = own.keysChanged
        own.keysChanged = { @Sendable [weak self] in
            self?.keepKeys()
            changed()
        }
        return own
    }

    /// Of the first owner, and keys that were drawn anew: in the log before anybody is let in with one, as far as that is shown.
    private func keepKeys() {
        guard let keys, let relay = owner else { return }
        relay.engine.enter { [weak relay] engine in
            // Of two changes of keys the later one is read by both.
            guard engine.isServing, let present = relay?.keys else { return }
            engine.hub.handle(.keep(keys.entry(of: present)), at: Engine.now())
        }
    }

    /// Whose ownership it was takes no turn any more.
    private func end() async {
        let relay = relay.withLock { relay in
            defer { relay = nil }
            return relay
        }
        await follow(.unknown)
        await relay?.stop()
    }

    private func follow(_ owner: Whereabouts) async {
        known.withLock { $0 = owner }
        await tellChange()
    }

    private func tellChange() async { await changed.withLock { $0 }?() }

    // MARK: - Settings, and the end

    /// Lets other options hold: see `WhiteboardRelay.apply`.
    func apply(_ options: WhiteboardRelay.Options) throws(RelayServerError) {
        self.options.withLock { own in
            var new = options
            // Those of the start.
            (new.log, new.keysChanged, new.reload, new.storage, new.flush) = (own.log, own.keysChanged, own.reload, own.storage, own.flush)
            new.hub.limits = own.hub.limits
            own = new
        }
        try owner?.apply(ofOwnership())
    }

    /// - Parameter handsOver: gives the space to another node first.
    func stop(handsOver: Bool = true) async {
        if handsOver { await node.resign() }
        await node.end()
        await duties.withLock { $0 }?.value
        await end()
        await journal.close()
    }

    // MARK: - The operator

    /// - Parameter status: of what is asked while this node does not own the space.
    func answers(whileFollowing status: @escaping @Sendable () -> Status?) -> ControlAnswers {
        let standsBy: @Sendable () -> String = { [weak self] in
            guard case .at(let address)? = self?.whereabouts else { return "this relay stands by: ask the one that serves" }
            return "this relay stands by: ask the one that serves, \(address)"
        }
        return ControlAnswers(
            answer: { @Sendable [weak self] request in
                guard let self else { return nil }
                switch request {
                case .status:
                    guard var report = owner.map({ $0.control.answer(.status) as? Status }) ?? status() else { return nil }
                    report.space = node.report()
                    return report
                case .rotate where node.report().role != "owner":
                    // The log would bring the old key back.
                    return ControlRefusal("keys cannot be drawn anew here now: this relay does not own its space")
                default: return owner.map { $0.control.answer(request) } ?? ControlRefusal(standsBy())
                }
            },
            backup: { @Sendable [weak self] send in
                guard let owner = self?.owner else { return Backup.refuse(standsBy(), by: send) }
                owner.control.backup(send)
            })
    }
}

extension SpaceMachine.StepDown {
    var text: String {
        switch self {
        case .resigned: "this node has given it to others"
        case .leaseOver: "the log has taken nothing for too long"
        case .replaced: "another node owns it"
        case .logIsBack: "the log is back"
        case .diskFailed: "the own disk has failed"
        }
    }
}
