import RelayWire

/// Connections that have not logged in: the longest waiting one makes room for others. [SE5]
struct Greetings {
    private(set) var count = 0
    /// All that came, the oldest first, with those that have gone on since; from `head` on.
    private var queue: [ConnectionID] = []
    private var head = 0

    mutating func add(_ id: ConnectionID) {
        count += 1
        queue.append(id)
    }

    /// The one that came first of those not asked for yet, unless it is the newcomer.
    mutating func next(except newcomer: ConnectionID) -> ConnectionID? {
        guard head < queue.count, queue[head] != newcomer else { return nil }
        head += 1
        return queue[head - 1]
    }

    /// One has logged in, or is gone.
    ///
    /// - Returns: whether those that have gone on should be removed from the queue now.
    mutating func endOne() -> Bool {
        count -= 1
        guard count == 0 else { return head >= 1024 || queue.count - head > 4 * max(count, 1024) }
        queue.removeAll(keepingCapacity: queue.count <= 1024)
        head = 0
        return false
    }

    /// Those that stand in the queue, the oldest first.
    var waiting: ArraySlice<ConnectionID> { queue[head...] }

    mutating func replace(with left: [ConnectionID]) {
        queue = left
        head = 0
    }
}
