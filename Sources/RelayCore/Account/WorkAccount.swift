import RelayPrimitives

/// What requests may cost before others have their turn, and the frames that wait for it. [DL12]
///
/// The unit is a byte of answers; `looked` says what else counts. Nothing is timed, so that the same calls cost the same.
struct WorkAccount {
    /// What one connection may still have answered.
    struct Share {
        fileprivate var left: Int32 = 0
        fileprivate var turn: UInt32 = 0
    }

    /// A member, record or receiver that a request makes the relay look at, in bytes.
    static let lookedBytes = 64
    /// A frame that is handled, besides its own bytes.
    static let frameBytes = 256
    /// How much more it takes to read a byte of a request than to write one of an answer.
    static let readFactor = 16

    /// The engine's.
    var turn = Turn()
    /// Everybody's.
    var unserved = Unserved()
    private let turnBytes: Int
    private let shareBytes: Int
    private var ordinal: UInt32 = 1
    /// What all may still have answered in this turn; below 0 what they had above it.
    private var left: Int
    /// What addresses have had that their shares of later turns pay for. This machine has none.
    private var debts = [AddressKey: Int]()
    /// Connections with a frame that waits for the next turn.
    private var line = FairLine<AddressKey, ConnectionID>()
    private var looked = 0
    /// Frames, and changes of sets, that were handled so far.
    private(set) var frames: UInt64 = 0
    /// Frames that had to wait, so far.
    private(set) var framesHeld: UInt64 = 0
    /// What all requests have cost so far, and the dearest of them and of the change sets.
    private(set) var charged = 0
    private(set) var dearest = 0

    init(_ configuration: Configuration) {
        turnBytes = max(1, configuration.requestTurnBytes)
        shareBytes = max(1, min(configuration.requestShareBytes, Int(Int32.max) / 2))
        left = turnBytes
    }

    // MARK: - Turns

    var someWait: Bool { !line.isEmpty }

    /// Others have been read and written to: there is a new share for everybody. What was had too much is taken off it.
    ///
    /// - Returns: how many wait for it.
    mutating func begin() -> Int {
        ordinal &+= 1
        left = min(turnBytes, left + turnBytes)
        if !debts.isEmpty { debts = debts.compactMapValues { [shareBytes] debt in debt > shareBytes ? debt - shareBytes : nil } }
        return line.count
    }

    /// Whose frame is next, while there is something left of the turn.
    mutating func next() -> ConnectionID? {
        guard left > 0 else { return nil }
        return line.next { [debts, shareBytes] address in debts[address, default: 0] < shareBytes }
    }

    /// Whether there is something left in this turn for a connection from an address.
    mutating func has(_ share: inout Share, of address: AddressKey) -> Bool {
        if share.turn != ordinal {
            let turns = Int(min(ordinal &- share.turn, 1 << 16))
            share.left = Int32(min(shareBytes, Int(share.left) + turns * shareBytes))
            share.turn = ordinal
        }
        return left > 0 && share.left > 0 && debts[address, default: 0] < shareBytes
    }

    mutating func charge(_ bytes: Int, _ share: inout Share, of address: AddressKey) {
        charged += bytes
        take(bytes, &share, of: address)
    }

    private mutating func take(_ bytes: Int, _ share: inout Share, of address: AddressKey) {
        dearest = max(dearest, bytes)
        if address != .local { debts[address, default: 0] += bytes }
        left -= bytes
        share.left = Int32(clamping: Int(share.left) - bytes)
    }

    /// A frame of any kind is handled.
    @inline(__always)
    mutating func handlesOne() {
        frames &+= 1
        left -= Self.frameBytes
    }

    /// The changes of a set are looked at: each is as much work as a frame of its own.
    mutating func handles(changes: Int, _ share: inout Share, of address: AddressKey) {
        frames &+= UInt64(changes)
        take(changes * Self.frameBytes, &share, of: address)
    }

    /// What a connection has had above its share.
    func overdrawn(_ share: Share) -> Int { Int(-share.left) }

    mutating func wait(_ id: ConnectionID, of address: AddressKey) { line.append(id, of: address) }

    // MARK: - What waits

    /// What the request that is being handled has looked at, besides receivers.
    mutating func look(at count: Int) { looked += count }

    mutating func takeLooked() -> Int {
        defer { looked = 0 }
        return looked
    }

    mutating func heldOne() { framesHeld += 1 }
}

/// Time in which nobody took what was sent, for buckets that are made by what came in it. [DL12]
struct Unserved {
    private var time = Duration.zero
    private var end = Instant(nanoseconds: 0)

    /// What came in it is handled so soon.
    private static let handled = Duration.seconds(1)

    /// It is over now. What began soon after an earlier one goes on with that.
    mutating func add(_ time: Duration, at now: Instant) {
        self.time = now - end < Self.handled + time ? self.time + time : time
        end = now
    }

    func time(at now: Instant) -> Duration { now - end < Self.handled ? time : .zero }
}

/// From the first call of a turn of the engine to its end: a request that comes late in a long turn had to wait. [DL12]
struct Turn {
    private var began: Instant?

    /// Shorter waits are within what a rate's second forgives.
    private static let noticed = Duration.milliseconds(250)

    /// A call is made.
    ///
    /// - Returns: for how long nobody was served, told once.
    mutating func enter(at now: Instant) -> Duration? {
        guard let began else {
            self.began = now
            return nil
        }
        guard now - began >= Self.noticed else { return nil }
        self.began = now
        return now - began
    }

    mutating func end() { began = nil }
}
