import RelayWire

/// The memory of one kind of things, in bytes, and the addresses that it is charged to.
///
/// An address that has more than a quarter cannot take the last quarter, which others may want.
struct MemoryAccount {
    /// May become less than what is held: then nothing comes to it until there is room.
    var max: Int
    private(set) var used = 0
    private(set) var byAddress = [AddressKey: Int]()
    /// What nobody is charged: it was stored.
    private var nobodys = 0

    init(max: Int) { self.max = max }

    private var share: Int { Swift.max(0, max - nobodys) / 4 }

    /// - Parameter own: of the bytes, those that the address is charged.
    private func leavesOthersTheirs(_ bytes: Int, own: Int, _ address: AddressKey) -> Bool {
        address == .local || used + bytes <= max - share || byAddress[address, default: 0] + own <= share
    }

    /// Whether an address may make the relay hold so much more.
    func hasRoom(_ bytes: Int, for address: AddressKey) -> Bool { used + bytes <= max && leavesOthersTheirs(bytes, own: bytes, address) }

    /// Whether there may be an address that has no room for so much more.
    func isScarce(for bytes: Int) -> Bool { used + bytes > max - share }

    /// Whether something more may wait.
    ///
    /// - Parameters:
    ///   - what: waits.
    ///   - bytes: `nil`: it is not known, or small.
    /// - Throws: `busy`.
    func checkWaiting(_ what: String, of address: AddressKey, _ bytes: Int? = nil) throws(WireError) {
        let isFull = used + (bytes ?? 1) > max
        guard isFull || !leavesOthersTheirs(bytes ?? 1, own: bytes ?? 1, address) else { return }
        let limit = isFull ? max : share
        let actual = (isFull ? used : byAddress[address, default: 0]) + (bytes ?? 0)
        let text = isFull ? "at most \(max) may" : "and come from \(address): the rest is others'"
        throw WireError(
            .busy, "\(actual) bytes of \(what), \(text)", limit: limit, actual: actual,
            retryAfterMilliseconds: bytes == nil ? 100 : 1_000)
    }

    /// Whether an address may make the relay hold more.
    ///
    /// - Parameters:
    ///   - own: what the address is charged besides what it is now; `nil`: all of the bytes.
    ///   - what: is held.
    /// - Throws: `code`.
    func check(_ bytes: Int, own: Int? = nil, of address: AddressKey, _ code: ErrorCode, _ what: String) throws(WireError) {
        guard used + bytes <= max else {
            throw WireError(
                code, "\(used) bytes of \(what) are held, and this takes \(bytes): at most \(max) may be", limit: max,
                actual: used + bytes)
        }
        guard leavesOthersTheirs(bytes, own: own ?? bytes, address) else {
            let held = byAddress[address, default: 0]
            throw WireError(
                code, "\(held) bytes of \(what) are of \(address), and this takes \(own ?? bytes): the rest is others'", limit: share,
                actual: held + (own ?? bytes))
        }
    }

    /// - Parameters:
    ///   - bytes: below 0: they are held no longer.
    ///   - address: `nil`: nobody is charged.
    mutating func hold(_ bytes: Int, _ address: AddressKey?) {
        used += bytes
        guard let address else { return nobodys += bytes }
        let own = byAddress[address, default: 0] + bytes
        byAddress[address] = own == 0 ? nil : own
    }

    /// Who has most, if that is more than a quarter. Not this machine.
    var largestAboveShare: AddressKey? {
        let largest = byAddress.lazy.filter { $0.key != .local }.max { ($0.value, $0.key) < ($1.value, $1.key) }
        return largest.flatMap { $0.value > share ? $0.key : nil }
    }

    /// Who has most.
    var largest: AddressKey? { byAddress.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key }

    func held(by address: AddressKey) -> Int { byAddress[address, default: 0] }

    mutating func hold(_ charges: [AddressKey?: Int]) {
        for (address, bytes) in charges { hold(bytes, address) }
    }

    mutating func holdNothing() { self = MemoryAccount(max: max) }
}

/// What things take in memory, in bytes: measured with what the allocator adds, and rounded up.
enum Footprint {
    /// With its person, its buckets, its connection and queue.
    static let session = 4_096
    static let membership = 640
    /// With its name's room and feed.
    static let channel = 640
    /// With its bucket, and its places in lists.
    static let flow = 1_024
    /// A place among a flow's receivers.
    static let receiver = 64
    static let selection = 320
    static let listedUser = 160
    static let state = 256
    /// Of states that are set before coming in.
    static let statesBefore = 512
    static let userMetadata = 768
    /// A place in the line for a lock, with its deadline.
    static let lockWait = 256
    static let closedFlow = 32
    static let closedFlowContent = 400
    /// A change that waits for the disk, and each entry of its record, besides their bytes.
    static let change = 640
    static let changedEntry = 320
    /// A direct message that waits for its acknowledgement.
    static let pendingDirect = 256
    /// The number of a publish that may come again, with the room behind it.
    static let rememberedPublish = 32
    /// A client object that has no session now, besides the numbers of its publishes.
    static let keptWindow = 384
    /// A part of a change set that waits for the last one, besides its bytes.
    static let stagedPart = 64
    /// A key whose author is noted, besides the bytes of both.
    static let notedAuthor = 160
    /// A key whose author is asked for, besides its bytes.
    static let askedAuthor = 128
    /// An author whose name a catching-up reader has received.
    static let namedAuthor = 96
}

extension Selection {
    var footprint: Int { Footprint.selection + listed.count * Footprint.listedUser }
}

extension [Name: PresenceState] {
    var footprint: Int { reduce(0) { $0 + Footprint.state + $1.key.text.utf8.count + $1.value.text.utf8.count } }
}

extension Membership {
    var footprint: Int {
        Footprint.membership + states.footprint + selections.values.reduce(0) { $0 + $1.footprint } + publishing.count * Footprint.flow
            + Int(receiving) * Footprint.receiver
    }
}

extension Session {
    /// Of what does not hang on its memberships.
    var footprint: Int {
        Footprint.session + window.numberBytes + directsPending * Footprint.pendingDirect
            + statesBeforeBytes + lockWaits * Footprint.lockWait + userMetadata.count * Footprint.userMetadata
            + closedFlows.reduce(0) { $0 + Int($1.bytes) }
    }
}
