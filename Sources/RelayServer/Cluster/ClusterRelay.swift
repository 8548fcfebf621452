internal import Dispatch
import RelayCluster
internal import RelayCore
import RelayIO
import RelayWire

/// One node of a space with a log: it serves the space while it owns it, and follows whoever else does.
///
/// The port is a *door*'s, as with `SharedRelay`: it stands while ownerships come and go, and tells who asks that this node stands by. Each
/// ownership is a relay behind it, on the node's folder. Calls are safe from anywhere.
@available(macOS 15, iOS 18, *)
package final class ClusterRelay: Sendable {
    package let door: WhiteboardRelay
    private let node: SpaceNode
    private let journal: JournalWriter
    private let space: String
    private let folder: String
    private let keys: LoggedKeys?
    /// Where clients reach it, as others say.
    private let shownAddress: RelayAddress?
    private let place = RelayPlace()
    private let options: Mutex<WhiteboardRelay.Options>
    private let relay = Mutex<WhiteboardRelay?>(nil)
    private let controls = Mutex<[ControlServer]>([])
    private let duties = Mutex<Task<Void, Never>?>(nil)

    private init(
        _ door: WhiteboardRelay, _ node: SpaceNode, _ journal: JournalWriter, _ log: SpaceLogOptions, _ folder: String,
        _ options: WhiteboardRelay.Options
    ) {
        (self.door, self.node, self.journal, space, self.folder, self.options) = (door, node, journal, log.space, folder, Mutex(options))
        (keys, shownAddress) = (log.secret.map { LoggedKeys(secret: $0, space: log.space) }, log.address)
        place.opens(at: door.address)
    }

    /// Opens the folder and the port, and follows the log; who owns the space is decided there.
    ///
    /// - Throws: when the port or the folder cannot be had, or the folder is not one of this log.
    package static func start(
        _ options: WhiteboardRelay.Options, _ log: SpaceLogOptions
    ) async throws(RelayServerError) -> ClusterRelay {
        guard case .folder(let path) = options.storage else {
            throw RelayServerError(text: "a space with a log is kept in a data folder")
        }
        if case .keys = options.access, log.secret == nil {
            throw RelayServerError(text: "a relay with keys and a log wants a secret that seals the keys")
        }
        let (duties, duty) = AsyncStream.makeStream(of: SpaceNode.Duty.self)
        let node = SpaceNode(log, log: options.log, duties: duty)
        let journal = JournalWriter(path: path, indexBytesMax: options.hub.boardIndexBytesMax, log: node)
        let opened = try await journal.open(waits: options.waitsForFolder, progress: options.didRead)
        do throws(RelayServerError) {
            let place = try JournalWriter.place(in: opened)
            let part = RelayPart.door(to: [], elsewhere: [log.space: .unknown])
            let door = try await WhiteboardRelay.start(ofDoor(options), permit: { _ in }, as: part)
            let cluster = ClusterRelay(door, node, journal, log, path, options)
            do {
                let controls = try WhiteboardRelay.controls(options, door.address, cluster.answers())
                cluster.controls.withLock { $0 = controls }
            } catch {
                await door.stop()
                throw RelayServerError(text: "\(error)")
            }
            await door.engine.tellMetrics(of: node)
            await cluster.follow(LoggedAddress.whereabouts(in: opened.entries, own: log.address) ?? .unknown)
            cluster.duties.withLock { $0 = Task { [weak cluster] in for await duty in duties { await cluster?.carryOut(duty) } } }
            await node.begin(journal, at: place)
            return cluster
        } catch {
            await journal.close()
            throw error
        }
    }

    /// It keeps nothing, and lets nobody in.
    private static func ofDoor(_ options: WhiteboardRelay.Options) -> WhiteboardRelay.Options {
        var door = options
        (door.storage, door.access, door.sharers) = (.inMemory, .open, 2)
        door.hub = Configuration(memory: 16 << 20)
        door.hub.connectionsMax = options.hub.connectionsMax
        return door
    }

    private func ofSpace() -> WhiteboardRelay.Options {
        var own = options.withLock { $0 }
        (own.web.tls, own.sharers, own.tls) = (door.tls, 2, nil)
        let changed = own.keysChanged
        own.keysChanged = { @Sendable [weak self] in
            self?.keepKeys()
            changed()
        }
        return own
    }

    // MARK: - Ownerships

    private func carryOut(_ duty: SpaceNode.Duty) async {
        switch duty {
        case .serve(let lease, let start, let result): await serve(lease, start, result)
        case .follow(let owner): if relay.withLock({ $0 == nil }) { await follow(owner) }
        case .standBy(let reason):
            await end()
            log(.info, "space \(space): \(reason.text). This relay stands by.")
        case .stopped: await end()
        }
    }

    private func serve(_ lease: Lease, _ start: UInt32, _ result: Result<JournalWriter.Opened, RelayServerError>) async {
        do throws(RelayServerError) {
            let opened = try result.get()
            let isKnown = try keys?.take(opened.sealedKeys, into: folder) ?? true
            let ownership = Ownership(lease: lease, start: start, opened: opened, journal: journal, node: node)
            let relay = try await WhiteboardRelay.start(
                ofSpace(), permit: { _ in }, as: .space(space), behind: place, owning: ownership)
            self.relay.withLock { $0 = relay }
            // What a reload has changed meanwhile.
            try relay.apply(ofSpace())
            if !isKnown { keepKeys() }
            let own = LoggedAddress.entry(of: shownAddress)
            relay.engine.enter { if $0.isServing { $0.hub.handle(.keep(own), at: Engine.now()) } }
            guard !lease.isOver else { return }
            await door.engine.lead(to: [space: relay.engine], failed: [])
            log(.info, "space \(space): this relay owns it, with start \(start), and serves.")
        } catch {
            guard !lease.isOver else { return }
            log(.error, "space \(space) cannot be served: \(error)")
            await node.resign()
        }
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
        await follow(.unknown)
        let relay = relay.withLock { relay in
            defer { relay = nil }
            return relay
        }
        await relay?.stop()
    }

    private func follow(_ owner: Whereabouts) async { await door.engine.lead(to: [:], failed: [], elsewhere: [space: owner]) }

    private func log(_ level: LogLine.Level, _ text: String) { options.withLock { $0.log }(LogLine(level, text)) }

    /// Lets other options hold: see `WhiteboardRelay.apply`.
    package func apply(_ options: WhiteboardRelay.Options) throws(RelayServerError) {
        try door.apply(Self.ofDoor(options))
        self.options.withLock { own in
            var new = options
            // Those of the start.
            (new.log, new.keysChanged, new.reload, new.storage, new.flush) = (own.log, own.keysChanged, own.reload, own.storage, own.flush)
            new.hub.limits = own.hub.limits
            own = new
        }
        try relay.withLock { $0 }?.apply(ofSpace())
    }

    /// The relay that serves, while this node owns the space.
    package var owner: WhiteboardRelay? { relay.withLock { $0 } }

    package func announced(as name: String?) {
        door.announced(as: name)
        owner?.announced(as: name)
    }

    /// Gives the space to another node first, then ends.
    package func stop() async {
        for control in controls.withLock({ $0 }) { control.close() }
        await node.resign()
        await node.end()
        await duties.withLock { $0 }?.value
        await end()
        await door.stop()
        await journal.close()
    }

    // MARK: - The operator

    private func answers() -> ControlAnswers {
        ControlAnswers(
            answer: { @Sendable [weak self] request in
                guard let self else { return nil }
                switch request {
                case .about, .usage, .reload: return door.control.answer(request)
                case .status:
                    guard var status = (owner ?? door).control.answer(request) as? Status else { return nil }
                    status.space = node.report()
                    return status
                case .rotate where node.report().role != "owner":
                    // The log would bring the old key back.
                    return ControlRefusal("keys cannot be drawn anew here now: this relay does not own its space")
                case .keys, .rotate, .backup, .spaces, .addSpace, .removeSpace:
                    return owner.map { $0.control.answer(request) } ?? ControlRefusal(Self.standsBy)
                }
            },
            backup: { @Sendable [weak self] send in
                guard let owner = self?.owner else { return Backup.refuse(Self.standsBy, by: send) }
                owner.control.backup(send)
            })
    }

    private static let standsBy = "this relay stands by: ask the one that serves"
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
