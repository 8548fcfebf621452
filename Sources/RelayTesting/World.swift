import Dispatch
import RelayClient
import RelayClientCore
internal import RelayCore
import RelayIO
import RelayPrimitives
import RelayRights

/// A hub, the links of its clients, and their time, on a queue of its own.
final class World: @unchecked Sendable {
    // Safe: all that is mutable is touched on `queue` only, but for what stands behind a lock.
    private let queue = DispatchQueue(label: "boardrelay.testing")
    private var relay: HubDriver
    private var starts: UInt32 = 1
    private var isDiskHeld = false
    private var links: [Weak] = []
    private var sleepers: [Sleeper] = []
    /// Sleeps that were cancelled before they began.
    private var cancelled: Set<UInt64> = []
    private let shared: Mutex<Shared>

    private struct Weak { weak var link: MemoryLink? }

    private struct Sleeper {
        var id: UInt64
        var until: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// What every thread reads.
    private struct Shared {
        var now = World.beginning
        var dice: SplitMix64
        var isWoken = false
        var lastSleeper: UInt64 = 0
    }

    static let beginning = Instant(nanoseconds: 1_000_000_000_000)
    static let address = RelayAddress(host: "relay.invalid", port: RelayAddress.defaultPort)
    static func key(_ role: Role) -> String { "key-of-each-\(role)" }

    init(_ configuration: Configuration, seed: UInt64) {
        let access = AccessRules(keys: Role.allCases.map { .init(Self.key($0), $0) }, tokens: nil, joinKey: Self.key(.editor))
        relay = HubDriver(configuration: configuration, start: 1, entropy: seed, access: access)
        shared = Mutex(Shared(dice: SplitMix64(seed: seed)))
    }

    var now: Instant { shared.withLock { $0.now } }

    func surroundings() -> ClientSurroundings {
        let (seed, instance) = shared.withLock { ($0.dice.next(), $0.dice.next()) }
        return ClientSurroundings(transport: MemoryLink(world: self), seed: seed, instance: instance) { self.now }
    }

    // MARK: - From any thread

    func add(_ link: MemoryLink) {
        queue.async {
            self.links.append(Weak(link: link))
            // What it wants may have been looked for before it was here.
            self.exchange()
        }
    }

    /// A client has gone, and with it its link.
    func drop(_ connection: ConnectionID, of start: UInt32) {
        queue.async {
            guard start == self.starts else { return }
            self.relay.cut(connection)
            self.exchange()
        }
    }

    /// What happens next: soon the queue has a turn.
    func wake() {
        let isFirst = shared.withLock { shared in
            defer { shared.isWoken = true }
            return !shared.isWoken
        }
        guard isFirst else { return }
        queue.async {
            self.shared.withLock { $0.isWoken = false }
            self.exchange()
        }
    }

    func advance(_ duration: Duration) {
        queue.sync {
            exchange()
            let end = now + duration
            while let next = nextDeadline, next <= end {
                move(to: max(next, now))
                exchange()
            }
            move(to: end)
            exchange()
        }
    }

    /// Readers that have something to take, or do not wait for more.
    func busyReaders() -> [String] {
        queue.sync {
            exchange()
            return present.flatMap { $0.core?.busyReaders() ?? [] }
        }
    }

    var connectionCount: Int { queue.sync { relay.openCount } }

    var sleeperCount: Int { queue.sync { sleepers.count } }

    func cut(_ link: MemoryLink) {
        queue.sync {
            end(link, "the link was cut")
            exchange()
        }
    }

    func setReachable(_ isReachable: Bool, _ link: MemoryLink) {
        queue.sync {
            link.state.isReachable = isReachable
            if !isReachable { end(link, "the link was cut") }
            exchange()
        }
    }

    func setHeld(_ isHeld: Bool, _ link: MemoryLink) {
        queue.sync {
            link.state.isHeld = isHeld
            exchange()
        }
    }

    func setDiskHeld(_ isHeld: Bool) {
        queue.sync {
            isDiskHeld = isHeld
            exchange()
        }
    }

    func restart() {
        queue.sync {
            for link in present { end(link, "the relay has ended") }
            starts += 1
            relay = relay.restarted(start: starts, entropy: UInt64(starts))
            exchange()
        }
    }

    func sleep(until moment: Instant) async throws {
        let id = shared.withLock { shared in
            shared.lastSleeper += 1
            return shared.lastSleeper
        }
        defer { queue.async { self.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                queue.async {
                    if self.cancelled.remove(id) != nil {
                        continuation.resume(throwing: CancellationError())
                    } else if moment <= self.now {
                        continuation.resume()
                    } else {
                        self.sleepers.append(Sleeper(id: id, until: moment, continuation: continuation))
                    }
                }
            }
        } onCancel: {
            queue.async {
                guard let index = self.sleepers.firstIndex(where: { $0.id == id }) else {
                    self.cancelled.insert(id)
                    return
                }
                self.sleepers.remove(at: index).continuation.resume(throwing: CancellationError())
            }
        }
    }

    // MARK: - On the queue

    private var present: [MemoryLink] {
        links.removeAll { $0.link == nil }
        return links.compactMap(\.link)
    }

    private var nextDeadline: Instant? {
        var next = relay.hub.nextDeadline
        for link in present { next = Instant.earlier(next, link.core?.nextDeadline) }
        for sleeper in sleepers { next = Instant.earlier(next, sleeper.until) }
        return next
    }

    private func move(to moment: Instant) {
        relay.advance(moment - relay.now.instant)
        shared.withLock { $0.now = moment }
        let due = sleepers.filter { $0.until <= moment }.sorted { ($0.until, $0.id) < ($1.until, $1.id) }
        sleepers.removeAll { $0.until <= moment }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// All that can happen at this moment.
    private func exchange() {
        var goesOn = true
        while goesOn {
            goesOn = false
            for link in present {
                guard let core = link.core else { continue }
                if let deadline = core.nextDeadline, deadline <= now {
                    core.deadline()
                    goesOn = true
                }
                for note in link.takeNotes() {
                    carryOut(note, link)
                    goesOn = true
                }
                if open(link, core) || write(link, core) || read(link, core) { goesOn = true }
            }
            if let deadline = relay.hub.nextDeadline, deadline <= now {
                relay.advance(.zero)
                goesOn = true
            }
            if !isDiskHeld, !relay.unpersisted.isEmpty {
                relay.persist()
                goesOn = true
            }
        }
    }

    private func carryOut(_ note: MemoryLink.Note, _ link: MemoryLink) {
        switch note {
        case .kick(let began): began()
        case .goOn: link.state.isHeldBack = false
        case .effects(let effects):
            for effect in effects {
                switch effect {
                case .openLink(let attempt):
                    letGo(link)
                    (link.state.attempt, link.state.isOpening) = (attempt, true)
                case .closeLink(let attempt) where attempt == link.state.attempt: letGo(link)
                case .closeLink, .goElsewhere, .completed: break
                }
            }
        }
    }

    private func open(_ link: MemoryLink, _ core: ClientCore) -> Bool {
        guard link.state.isOpening else { return false }
        link.state.isOpening = false
        guard link.state.isReachable else {
            core.linkEnded(link.state.attempt, "refused")
            return true
        }
        (link.state.connection, link.state.start) = (relay.open(asWebSocket: false), starts)
        core.linkOpened(link.state.attempt)
        return true
    }

    private func write(_ link: MemoryLink, _ core: ClientCore) -> Bool {
        guard !link.state.isHeld, let connection = link.state.connection else { return false }
        let bytes = core.gather()
        guard !bytes.isEmpty else { return false }
        relay.send(bytes, from: connection)
        core.wrote(bytes.count)
        return true
    }

    private func read(_ link: MemoryLink, _ core: ClientCore) -> Bool {
        guard !link.state.isHeld, !link.state.isHeldBack, let connection = link.state.connection else { return false }
        let bytes = relay.takeBytes(connection, limit: 64 * 1024)
        if bytes.isEmpty {
            guard !relay.isOpen(connection) || relay.isClosing(connection) else { return false }
            end(link, "the relay closed the connection")
            return true
        }
        link.state.isHeldBack = !bytes.withUnsafeBytes { core.received($0, link.state.attempt) }
        return true
    }

    /// The client has let go of its link.
    private func letGo(_ link: MemoryLink) {
        if let connection = link.state.connection { relay.cut(connection) }
        (link.state.connection, link.state.isOpening, link.state.isHeldBack) = (nil, false, false)
    }

    /// The link breaks, and the client sees that.
    private func end(_ link: MemoryLink, _ why: String) {
        let hadOne = link.state.connection != nil || link.state.isOpening
        letGo(link)
        if hadOne { link.core?.linkEnded(link.state.attempt, why) }
    }
}
