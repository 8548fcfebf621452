import RelayWire

/// Numbers that only rise, each sequence for itself; but handles begin again behind the last one.
struct Ordinals {
    /// Handles are given out in runs of 65,536. Those of the run that name something are left out.
    private var lastHandle: UInt32 = 0
    private var runEnd: UInt32 = Self.runLength - 1
    private var inUse: Set<UInt32> = []
    private static let runLength: UInt32 = 65_536
    private var lastIncarnation: UInt32 = 0
    private var lastGeneration: UInt32 = 0
    private var lastDelivery: UInt64 = 0
    private var lastRead: UInt64 = 0
    private var lastOffer: UInt32 = 0
    private var lastState: UInt64 = 0

    /// - Returns: `nil` at the end of a run: `beginRun` comes next.
    mutating func handle() -> UInt32? {
        while lastHandle < runEnd {
            lastHandle += 1
            if !inUse.contains(lastHandle) { return lastHandle }
        }
        return nil
    }

    /// The run behind this one. 0 is no handle.
    var nextRun: ClosedRange<UInt32> { max(1, runEnd &+ 1)...runEnd &+ Self.runLength }

    mutating func beginRun(without inUse: Set<UInt32>) {
        (lastHandle, runEnd) = (nextRun.lowerBound - 1, nextRun.upperBound)
        self.inUse = inUse
    }

    /// Of a channel's numbering. [CH5]
    mutating func incarnation() -> UInt32 {
        lastIncarnation &+= 1
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

extension Hub {
    /// A handle that names nothing else: no client knows it as the name of what is still there.
    mutating func newHandle() -> UInt32 {
        while true {
            if let handle = ordinals.handle() { return handle }
            ordinals.beginRun(without: handlesInUse(in: ordinals.nextRun))
        }
    }

    /// What is given out again must name no channel, device or flow, and nobody whose messages or packets are still delivered.
    private func handlesInUse(in run: ClosedRange<UInt32>) -> Set<UInt32> {
        var inUse: Set<UInt32> = []
        func note(_ handle: UInt32) { if run.contains(handle) { inUse.insert(handle) } }
        for index in channels.indices {
            note(channels[index].handle)
            for handle in channels[index].named { note(handle) }
            for message in 0..<channels[index].history.count { note(channels[index].history[message].handle) }
        }
        for index in sessions.indices {
            note(sessions[index].handle)
            for closed in sessions[index].closedFlows { note(closed.content.opened.flow) }
        }
        for index in flows.indices { note(flows[index].handle) }
        for index in catchUps.indices { for handle in catchUps[index].handlesTold { note(handle) } }
        return inUse
    }
}
