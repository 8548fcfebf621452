internal import RelayJournal
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
    /// What was kept up to this offset is not any more, but for what the board has; everything kept above it is here.
    private(set) var floor: UInt64 = 0
    /// The same, whatever the board has.
    private(set) var ringFloor: UInt64 = 0
    /// The newest of those that were not to be kept and are not here any more.
    private var transientFloor: UInt64 = 0

    var count: Int { storage.count - start }
    var isEmpty: Bool { start == storage.count }
    var oldest: KeptMessage? { isEmpty ? nil : storage[start] }

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

    /// Changes of the board that are not durable and will not be.
    mutating func removeRetained(above offset: UInt64) -> (messages: Int, bytes: Int) {
        let before = (count, bytes)
        let left = storage[start...].filter { !($0.isRetained && $0.offset > offset) }
        storage = left
        start = 0
        bytes = left.reduce(0) { $0 + $1.frame.count }
        return (before.0 - count, before.1 - bytes)
    }

    /// Up to which offset a reader misses what it has not got, whose catch-up began when `began` was the newest message.
    func floor(began: UInt64) -> UInt64 { transientFloor > began ? max(floor, transientFloor) : floor }

    /// Index of the first message above `offset`; `count` if there is none.
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
    private var frameBytes = 0
    var sweepIsSet = false

    /// That they take of the memory. 256 of a message are the head of its frame's array and its place in the history. [HI1]
    var bytes: Int { frameBytes + messages * 256 }

    mutating func add(_ message: KeptMessage) {
        messages += 1
        frameBytes += message.frame.count
    }

    mutating func remove(messages: Int, bytes: Int) {
        self.messages -= messages
        frameBytes -= bytes
    }
}

/// The oldest message of a channel.
struct OldestKept: Comparable {
    var at: Instant
    var channel: Channel.Index

    static func < (left: Self, right: Self) -> Bool { left.at == right.at ? left.channel < right.channel : left.at < right.at }
}
