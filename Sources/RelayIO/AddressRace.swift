/// Which of a host's addresses is tried when: one after the other, both families in turn, the next one 250 ms after the last began or
/// as soon as one has failed. (RFC 8305, sections 4 and 5)
///
/// Pure: moments are an argument, in nanoseconds of any clock.
struct AddressRace<Address> {
    private var waiting: ArraySlice<Address>
    private var runningCount = 0
    /// When the next address has its turn.
    private var turn: UInt64 = 0
    private let end: UInt64

    /// RFC 8305's "Connection Attempt Delay", in nanoseconds.
    static var delay: UInt64 { 250_000_000 }

    enum Step {
        case begin(Address)
        /// Until one of those that began succeeds or fails, or the moment comes.
        case wait(until: UInt64)
        /// Every address has failed, or the time is over.
        case over
    }

    /// - Parameters:
    ///   - addresses: in the system's order, which says what it prefers.
    ///   - end: the bound for all addresses together.
    init(_ addresses: [Address], end: UInt64, isSameFamily: (Address, Address) -> Bool) {
        waiting = Self.interleaved(addresses, isSameFamily)[...]
        self.end = end
    }

    /// The addresses that never had their turn.
    var untriedCount: Int { waiting.count }

    mutating func step(at now: UInt64) -> Step {
        guard now < end, runningCount > 0 || !waiting.isEmpty else { return .over }
        guard runningCount == 0 || now >= turn, let next = waiting.popFirst() else {
            return .wait(until: waiting.isEmpty ? end : min(turn, end))
        }
        runningCount += 1
        turn = now + Self.delay
        return .begin(next)
    }

    /// One of those that began has failed: the next one does not wait.
    mutating func failed() {
        runningCount -= 1
        turn = 0
    }

    private static func interleaved(_ addresses: [Address], _ isSameFamily: (Address, Address) -> Bool) -> [Address] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { isSameFamily($0, first) }, others = addresses.filter { !isSameFamily($0, first) }
        return (0..<max(preferred.count, others.count)).flatMap { preferred[safe: $0] + others[safe: $0] }
    }
}

extension Array {
    /// What stands there, if anything does.
    fileprivate subscript(safe index: Int) -> ArraySlice<Element> { self[Swift.min(index, count)..<Swift.min(index + 1, count)] }
}
