public import RelayClient
internal import RelayCore
import RelayPrimitives
import RelayRights

/// A relay in memory whose time a test moves, for the tests and previews of an app. Nothing waits for real seconds.
///
///     let relay = TestRelay()
///     let alice = try relay.client("alice"), ben = try relay.client("ben")
///     let board = try BoardModel(alice.channel("lesson"))
///     try await board.open()
///     let his = try ben.channel("lesson")
///     try await his.open()
///     _ = try await his.board.put("0,0 10,20", key: "s1").stored
///     try await relay.settled()
///     #expect(board.records["s1"] != nil && board.people["ben"] != nil)
///     relay.setReachable(false, for: ben)
///     relay.advance(by: .seconds(10))
///     try await relay.settled()
///     #expect(board.people["ben"] == nil)
///
/// It is the relay's own hub: what it promises and refuses is what `boardrelay` does. It has no sockets, no files, and no time but that of
/// `advance`: a heartbeat, a timeout and a pause before coming back last as long as the test says, and no longer. The same calls in the
/// same order give the same outcome.
///
/// Safe from any thread.
public final class TestRelay: Sendable {
    private let world: World

    /// A relay that starts now, with an empty board. Its rates are so high that no test reaches them; sizes are those of every relay.
    ///
    /// - Parameters:
    ///   - seed: of the clients' dice, which draw the pauses before they come back.
    ///   - change: what of its limits is to be otherwise.
    public init(seed: UInt64 = 1, _ change: (inout ServerLimits) -> Void = { _ in }) {
        var configuration = Configuration()
        configuration.limits.messagesPerSecond = 10_000
        configuration.limits.packetsPerSecond = 10_000
        configuration.limits.directMessagesPerSecond = 10_000
        configuration.limits.requestsPerSecond = 10_000
        configuration.requestsBurst = 10_000
        configuration.metadataCallsPerSecond = 10_000
        configuration.metadataCallsBurst = 10_000
        configuration.credentialPause = .zero
        configuration.isJournaled = true
        change(&configuration.limits)
        world = World(configuration, seed: seed)
    }

    /// A client of this relay. It keeps nothing on this machine.
    ///
    /// - Parameters:
    ///   - user: the user's id, 1…64 bytes of ASCII.
    ///   - role: what it may; the relay has a key for each role.
    ///   - change: what of its options is to be otherwise: a credential of its own, for example a wrong key, or a shorter time for calls.
    /// - Throws: `badName`.
    public func client(
        _ user: String, role: Role = .editor, _ change: (inout ClientOptions) -> Void = { _ in }
    ) throws(RelayError) -> WhiteboardClient {
        var options = ClientOptions()
        options.secret = .inMemory
        options.device = .inMemory
        options.credential = .key(World.key(role))
        change(&options)
        return try WhiteboardClient(Invitation(World.address), user: user, options: options, surroundings: world.surroundings())
    }

    // MARK: - Time

    /// The relay's time, for what the app itself waits for.
    public var clock: TestClock { TestClock(world: world) }

    /// Lets time pass. Everything that falls due meanwhile happens in its order, and is handed over to the clients' readers and to those
    /// who sleep on `clock`, before this returns. A task that wakes goes on by itself: its next sleep begins at the end of this time.
    /// Advance in steps, and wait for the task between them.
    public func advance(by duration: Duration) { world.advance(duration) }

    /// Waits until nothing is under way, nothing is due, and each reader of each client has taken all that it has and waits for more.
    ///
    /// What a task does behind a call or a sleep is not known here: wait for that task.
    ///
    /// - Parameter patience: in real time.
    /// - Throws: `Unsettled` after that; `CancellationError`.
    public func settled(within patience: Duration = .seconds(10)) async throws {
        try await until(within: patience) { world.busyReaders().isEmpty }
    }

    /// Waits until something holds that another task brings about, such as `unanswered(of: alice) == 1`, without any time passing.
    ///
    /// - Parameter patience: in real time.
    /// - Throws: `Unsettled` after that; `CancellationError`.
    public func until(within patience: Duration = .seconds(10), _ holds: () -> Bool) async throws {
        let end = ContinuousClock.now + patience
        var rounds = 0
        while !holds() {
            guard ContinuousClock.now < end else { throw Unsettled(readers: busyReaders) }
            try Task.checkCancellation()
            rounds += 1
            // Other tasks have the first turns. What takes longer is looked at again a thousand times a second.
            if rounds < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// Readers that have not taken everything, or do not wait for more, such as `ben: Events<MessageEvent>`.
    public var busyReaders: [String] { world.busyReaders() }

    /// Calls and receipts of a client that have no answer yet: those of a task that was just begun may not be there.
    public func unanswered(of client: WhiteboardClient) -> Int { client.core.unanswered }

    /// Links that the relay has.
    package var connections: Int { world.connectionCount }

    /// Why `settled` or `until` has given up.
    public struct Unsettled: Error, CustomStringConvertible {
        /// As in `busyReaders`.
        public let readers: [String]
        public var description: String {
            "not after 10 s; these readers do not wait for more: \(readers.isEmpty ? "none" : readers.joined(separator: ", "))"
        }
    }

    // MARK: - Links

    /// Breaks the link of a client: what is under way is lost. The client comes back by itself, after a pause if its last link broke as
    /// well, and sends again after up to a second: advance the time.
    public func cut(_ client: WhiteboardClient) { world.cut(client.transport) }

    /// Whether a client reaches the relay. A link that it has breaks with that, and another one is refused.
    public func setReachable(_ isReachable: Bool, for client: WhiteboardClient) { world.setReachable(isReachable, client.transport) }

    /// Whether the link of a client passes nothing on, either way, as on a network that stalls. Neither side is told.
    public func setHeld(_ isHeld: Bool, for client: WhiteboardClient) { world.setHeld(isHeld, client.transport) }

    /// Whether the relay's disk does nothing: what waits to be stored waits.
    public func setDiskHeld(_ isHeld: Bool) { world.setDiskHeld(isHeld) }

    /// The relay ends and starts again on its disk. All links break; what was stored is there again, messages that were not are lost.
    public func restart() { world.restart() }
}

extension WhiteboardClient {
    fileprivate var transport: MemoryLink {
        guard let link = core.transport as? MemoryLink else { preconditionFailure("this client is not of a TestRelay") }
        return link
    }
}
