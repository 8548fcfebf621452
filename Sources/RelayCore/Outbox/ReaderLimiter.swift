import RelayPrimitives
import RelayWire

/// What one reader has said that it takes, and the packets that are held back for it. [DL11]
struct ReaderLimiter {
    typealias Index = Slab<ReaderLimiter>.Index

    /// Between two turns in which some of the held packets are chosen.
    static let turnInterval = Duration.milliseconds(20)

    private var packets: Allowance?
    private var bytes: Allowance?
    /// Of packets that may wait.
    let waitingBytes: Int
    /// What the held ones are.
    private(set) var held = PacketSum()
    /// Bytes of the packet whose turn is next.
    private var nextBytes = 1
    private var lastTurn: Instant?
    /// When the connection is woken for its turn.
    var wakesAt: Instant?
    /// The sender that was served last when senders took turns.
    private(set) var lastServed: UInt32 = 0

    /// - Parameter packetFrameBytesMax: of the largest packet there is.
    init(_ limits: ReaderLimits, packetFrameBytesMax: Int, at now: Instant) {
        packets = limits.packetsPerSecond.map { Allowance(rate: $0, most: 1, at: now) }
        bytes = limits.bytesPerSecond.map { Allowance(rate: $0, most: packetFrameBytesMax, at: now) }
        waitingBytes = limits.waitingBytes ?? .max
    }

    mutating func hold(_ bytes: Int) { held.add(bytes) }

    /// Others are held now.
    mutating func holds(_ sum: PacketSum) { held = sum }

    // MARK: - Choosing

    /// Comes before what follows is asked.
    mutating func refill(at now: Instant) {
        packets?.refill(at: now)
        bytes?.refill(at: now)
    }

    func has(_ sum: PacketSum, onCredit: Bool = false) -> Bool {
        packets?.has(sum.packets, onCredit: onCredit) != false && bytes?.has(sum.bytes, onCredit: onCredit) != false
    }

    mutating func take(_ sum: PacketSum) {
        packets?.take(sum.packets)
        bytes?.take(sum.bytes)
    }

    /// A packet of a sender whose turn it is.
    ///
    /// - Returns: whether it was let go.
    mutating func serve(_ sender: UInt32, bytes: Int, onCredit: Bool) -> Bool {
        let packet = PacketSum(packets: 1, bytes: bytes)
        guard has(packet, onCredit: onCredit) else { return false }
        take(packet)
        lastServed = sender
        return true
    }

    // MARK: - Turns

    /// When the next packet may be let go; `now` is the moment of `refill`.
    func nextTurn(at now: Instant) -> Instant {
        let wait = max(packets?.wait(for: 1) ?? 0, bytes?.wait(for: nextBytes) ?? 0)
        return max(lastTurn.map { $0 + Self.turnInterval } ?? now, now + .nanoseconds(Int64(clamping: wait)))
    }

    mutating func beginRound(at now: Instant) { (lastTurn, nextBytes) = (now, 1) }

    /// The next turn wants so many bytes.
    mutating func waits(for bytes: Int) { nextBytes = bytes }
}

/// Packets and their frames' bytes.
struct PacketSum: Equatable {
    var packets = 0
    var bytes = 0

    mutating func add(_ bytes: Int) { (packets, self.bytes) = (packets + 1, self.bytes + bytes) }

    mutating func remove(_ bytes: Int) { (packets, self.bytes) = (packets - 1, self.bytes - bytes) }
}

/// What may be taken: `rate` a second for ever, a quarter of a second's worth at one instant, and a second's worth on credit, which later
/// time repays. In exact integers, as `TokenBucket` has them: units are counted in 1/10⁹. [DL11]
struct Allowance {
    private let rate: UInt64
    private let capacity: UInt64
    private var spent: UInt64 = 0
    private var last: Instant

    private static let one: UInt64 = 1_000_000_000

    /// - Parameter most: what is taken at once at most: the capacity is no less.
    init(rate: Int, most: Int, at now: Instant) {
        self.rate = UInt64(rate)
        capacity = max(self.rate * (Self.one / 4), UInt64(most) * Self.one)
        last = now
    }

    mutating func refill(at now: Instant) {
        guard now > last else { return }
        let (gained, overflow) = (now.nanoseconds - last.nanoseconds).multipliedReportingOverflow(by: rate)
        spent = overflow || gained >= spent ? 0 : spent - gained
        last = now
    }

    func has(_ units: Int, onCredit: Bool = false) -> Bool {
        spent + UInt64(units) * Self.one <= capacity + (onCredit ? rate * Self.one : 0)
    }

    mutating func take(_ units: Int) { spent += UInt64(units) * Self.one }

    /// The nanoseconds until there are so many.
    func wait(for units: Int) -> UInt64 {
        let wanted = spent + UInt64(units) * Self.one
        return wanted <= capacity ? 0 : (wanted - capacity + rate - 1) / rate
    }
}
