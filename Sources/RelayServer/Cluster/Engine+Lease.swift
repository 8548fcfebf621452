internal import RelayCore
import RelayIO

// The hub of a space with a log: it takes turns while its ownership lasts.

/// What a hub of a space with a log begins with.
@available(macOS 15, iOS 18, *)
struct Ownership: Sendable {
    var lease: Lease
    var start: UInt32
    var opened: JournalWriter.Opened
    var journal: JournalWriter
    var node: SpaceNode
}

@available(macOS 15, iOS 18, *)
extension Engine {
    /// Before `restore`.
    ///
    /// - Throws: when it is over already.
    func own(_ ownership: Ownership) async throws(RelayServerError) {
        self.ownership = (ownership.lease, ownership.node)
        guard await ownership.node.attach(self, ownership.lease) else { throw RelayServerError(text: "another node has the space") }
    }

    /// Of a door: the nodes of spaces with a log, with the names of those where there are several.
    func tell(of nodes: [(space: String?, node: SpaceNode)]) { self.nodes = nodes }

    /// Why this process would not even follow: where it follows several, none of them.
    var nodesHindrance: String? {
        let hindrances = nodes.compactMap { $0.node.hindrance }
        return hindrances.count == nodes.count ? hindrances.first : nil
    }

    /// Asked where each turn begins. Where the ownership is over, all connections end first, and none hears anything more.
    func takesTurn() -> Bool {
        guard let ownership, isServing else { return true }
        if ownership.lease.mayAct(at: Self.now().instant) { return true }
        // Nothing revives it: not the node either, which may have heard of the log a moment ago.
        ownership.lease.end()
        ownership.node.leaseIsOver(ownership.lease)
        endLease(saysGoodbye: false)
        return false
    }

    /// No turn follows.
    ///
    /// - Parameters:
    ///   - saysGoodbye: the ownership ends in order: clients are told, and get what is queued for them.
    ///   - shown: what is durable by then.
    func endLease(saysGoodbye: Bool, shown: UInt64? = nil) {
        guard isServing else { return }
        if saysGoodbye, let shown { stored(.persisted(through: shown)) }
        isServing = false
        guard !saysGoodbye else {
            hub.handle(.shutdown, at: Self.now())
            return finishTurn()
        }
        for link in links.compactMap({ $0 }) where link.isUsable { ended(link.id, .byHub) }
    }

    /// The log cannot be reached. [SG5]
    func goOnAlone(undecidedThrough sequence: UInt64) {
        guard takesTurn() else { return }
        hub.handle(.storageAlone(undecidedThrough: sequence), at: Self.now())
        finishTurn()
    }

    /// The log and the own disk have it.
    func shown(through sequence: UInt64) {
        guard let ownership, ownership.lease.mayShow(at: Self.now().instant) else { return }
        stored(.persisted(through: sequence))
    }
}
