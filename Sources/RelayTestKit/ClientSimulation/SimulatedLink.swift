internal import RelayCore
import RelayPrimitives
internal import RelayWire

/// One direction of a link: bytes arrive late, cut anywhere, in order; or for a while not at all.
struct SimulatedPipe {
    private var pieces: [(at: UInt64, bytes: [UInt8])] = []
    private var head = 0
    private(set) var inFlight = 0
    /// Nothing arrives before, in nanoseconds.
    var stalledUntil: UInt64 = 0
    /// The sender has closed: the end arrives behind the last byte.
    var isEnded = false

    var isEmpty: Bool { head == pieces.count }
    var next: UInt64? { isEmpty ? nil : max(pieces[head].at, stalledUntil) }

    mutating func append(_ bytes: [UInt8], at moment: UInt64, _ random: inout SplitMix64) {
        var rest = bytes[...]
        var moment = max(moment, head < pieces.count ? pieces[pieces.count - 1].at : 0)
        while !rest.isEmpty {
            // Mostly whole, sometimes in crumbs.
            let count = random.chance(1, in: 3) ? min(rest.count, Int.random(in: 1...40, using: &random)) : rest.count
            pieces.append((moment, Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
            if random.chance(1, in: 4) { moment += UInt64.random(in: 0...3_000_000, using: &random) }
        }
        inFlight += bytes.count
    }

    mutating func popDue(at now: UInt64) -> [UInt8]? {
        guard let next, next <= now else { return nil }
        let bytes = pieces[head].bytes
        head += 1
        inFlight -= bytes.count
        if head == pieces.count {
            pieces = []
            head = 0
        }
        return bytes
    }
}

/// A TCP connection between one client and the relay.
struct SimulatedLink {
    let attempt: UInt64
    let connection: ConnectionID
    /// Bytes that may be under way in one direction before the sender's socket takes no more.
    let window: Int
    let delayNanoseconds: ClosedRange<UInt64>
    var toRelay = SimulatedPipe()
    var toClient = SimulatedPipe()
    /// The client has let go of it; what is under way still reaches the relay.
    var isLetGo = false
    /// Cuts the client's bytes into frames, to see what the relay accepts one by one.
    var frames = FrameReader()

    mutating func stall(until moment: UInt64, both: Bool, _ random: inout SplitMix64) {
        if both || random.chance(1, in: 2) {
            toRelay.stalledUntil = max(toRelay.stalledUntil, moment)
        } else {
            toClient.stalledUntil = max(toClient.stalledUntil, moment)
        }
        if both { toClient.stalledUntil = max(toClient.stalledUntil, moment) }
    }
}
