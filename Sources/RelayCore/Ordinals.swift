/// Numbers that only rise, each sequence for itself.
struct Ordinals {
    private var lastHandle: UInt32 = 0
    private var lastIncarnation: UInt32 = 0
    private var lastGeneration: UInt32 = 0
    private var lastDelivery: UInt64 = 0
    private var lastRead: UInt64 = 0
    private var lastOffer: UInt32 = 0
    private var lastState: UInt64 = 0

    mutating func handle() -> UInt32 {
        lastHandle += 1
        return lastHandle
    }

    /// Of a channel's numbering. [CH5]
    mutating func incarnation() -> UInt32 {
        lastIncarnation += 1
        return lastIncarnation
    }

    /// Tells what stands at a place from what stood there before.
    mutating func generation() -> UInt32 {
        lastGeneration &+= 1
        return lastGeneration
    }

    /// Of a direct message.
    mutating func delivery() -> UInt64 {
        lastDelivery += 1
        return lastDelivery
    }

    /// The token of a read of a board.
    mutating func read() -> UInt64 {
        lastRead += 1
        return lastRead
    }

    /// Of what states are set.
    mutating func state() -> UInt64 {
        lastState += 1
        return lastState
    }

    /// Of a code for another device.
    mutating func offer() -> UInt32 {
        lastOffer &+= 1
        return lastOffer
    }
}
