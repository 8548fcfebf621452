import RelayPrimitives
import RelayWire

/// A message that is kept, as the frame that delivers it.
struct KeptMessage {
    var offset: UInt64
    var user: Name
    /// Of its publisher, as in the frame.
    var handle: UInt32
    /// The client object that published it, to whom it is not delivered; `nil` if it asked for an echo. [MS6]
    var instance: UInt64?
    var acceptedAt: Instant
    /// Where it came from.
    var address: AddressKey
    /// Not to be kept, and here only because somebody was catching up when it was accepted. [HI1]
    var isTransient: Bool
    /// A change of the board: once it can be read there, a reader that catches up gets it from there. [BL3]
    var isRetained = false
    /// A message, and no `cleared`.
    var isMessage = true
    /// Whether a request for the history gets it. Records it gets from nowhere: the board has them. [HI6]
    var isListed: Bool { isMessage && !isTransient && !isRetained }
    /// `deliver` or `cleared`, whole.
    var frame: [UInt8]
}

/// The newest messages of a channel. [HI1]
struct MessageHistory {
    private var storage: [KeptMessage] = []
    private var start = 0
    private(set) var bytes = 0
    /// Messages up to this offset are gone, except the board's records. All kept messages above it are here.
    private(set) var floor: UInt64 = 0
    /// The same, without regard to the board.
    private(set) var ringFloor: UInt64 = 0
    /// Offset of the newest message that was not meant to be kept and is gone.
    private var transientFloor: UInt64 = 0

    var count: Int { storage.count - start }
    var isEmpty: Bool { start == storage.count }
    var oldest: KeptMessage? { isEmpty ? nil : storage[start] }

    /// Whether more than half of the bytes came from an address.
    func isMostly(from address: AddressKey) -> Bool {
        2 * storage[start...].reduce(0) { $1.address == address ? $0 + $1.frame.count : $0 } > bytes
    }

    /// From the oldest on.
    subscript(index: Int) -> KeptMessage {
        _read { yield storage[start + index] }
    }

    mutating func append(_ message: KeptMessage) {
        storage.append(message)
        bytes += message.frame.count
    }

    mutating func removeOldest() {
        bytes -= storage[start].frame.count
        if storage[start].isRetained {
            ringFloor = storage[start].offset
        } else {
            raiseFloor(to: storage[start].offset, isTransient: storage[start].isTransient)
        }
        // Its memory is given back now; the slots when half of them are vacant.
        storage[start].frame = []
        start += 1
        if start == storage.count {
            storage = []
            start = 0
        } else if start >= 64, start > storage.count / 2 {
            storage.removeFirst(start)
            start = 0
        } else if start >= 8, start > storage.count / 2 {
            // Of thousands of channels that keep few each, vacant slots are the most of what they take.
            storage = Array(storage[start...])
            start = 0
        }
    }

    /// A message that is not kept because nothing is.
    mutating func skip(_ offset: UInt64, isTransient: Bool) { raiseFloor(to: offset, isTransient: isTransient) }

    /// Only a reader that was catching up when a transient message was accepted misses it. [HI1]
    private mutating func raiseFloor(to offset: UInt64, isTransient: Bool) {
        guard !isTransient else { return transientFloor = offset }
        floor = offset
        ringFloor = offset
    }

    /// What was accepted before the channel came to be again is not here.
    mutating func begin(floor: UInt64, head: UInt64) {
        self.floor = floor
        ringFloor = head
    }

    /// Takes out changes of the board that are not durable and will not be.
    mutating func removeRetained(above offset: UInt64) -> [KeptMessage] {
        let isMeant = { (message: KeptMessage) in message.isRetained && message.offset > offset }
        let all = storage[start...]
        storage = all.filter { !isMeant($0) }
        start = 0
        bytes = storage.reduce(0) { $0 + $1.frame.count }
        return all.filter(isMeant)
    }

    /// Up to which offset a reader misses what it has not got, whose catch-up began when `began` was the newest message.
    func floor(began: UInt64) -> UInt64 { transientFloor > began ? max(floor, transientFloor) : floor }

    /// Index of the first message above `offset`; `count` if no message is.
    func index(above offset: UInt64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// What all message channels keep. [HI1]
struct HistoryTotals {
    private(set) var messages = 0
    /// Memory that they take.
    private(set) var memory: MemoryAccount
    var sweepIsSet = false

    init(bytesMax: Int) { memory = MemoryAccount(max: bytesMax) }

    /// May become less than what is held.
    var bytesMax: Int {
        get { memory.max }
        set { memory.max = newValue }
    }

    mutating func add(_ message: KeptMessage) {
        messages += 1
        memory.hold(Self.bytes(of: message), message.address)
    }

    mutating func remove(_ message: KeptMessage) {
        messages -= 1
        memory.hold(-Self.bytes(of: message), message.address)
    }

    /// 256 of a message are the head of its frame's array and its place in the history.
    private static func bytes(of message: KeptMessage) -> Int { message.frame.count + 256 }
}

/// The oldest message of a channel.
struct OldestKept: Comparable {
    var at: Instant
    var channel: Channel.Index

    static func < (left: Self, right: Self) -> Bool { left.at == right.at ? left.channel < right.channel : left.at < right.at }
}
