import RelayWire

/// Connections that have not logged in: others make them go. [SE5]
struct Greetings {
    private(set) var count = 0
    /// All that came, the oldest first, with those that have gone on since; from `head` on.
    private var queue: [ConnectionID] = []
    private var head = 0
    private(set) var held = [AddressKey: Int]()
    /// How many addresses have so many.
    private var addresses: [Int] = [0]
    /// What the address has that has most of them.
    private(set) var most = 0

    func held(from address: AddressKey) -> Int { held[address, default: 0] }

    mutating func add(_ id: ConnectionID, from address: AddressKey) {
        count += 1
        queue.append(id)
        change(address, by: 1)
    }

    /// It is another one's than it seemed.
    mutating func move(from address: AddressKey, to other: AddressKey) {
        change(address, by: -1)
        change(other, by: 1)
    }

    /// One has logged in, or is gone.
    ///
    /// - Returns: whether those that have gone on should be removed from the queue now.
    mutating func endOne(from address: AddressKey) -> Bool {
        count -= 1
        change(address, by: -1)
        guard count == 0 else { return queue.count - head > 4 * max(count, 1024) || head >= 1024 }
        queue.removeAll(keepingCapacity: queue.count <= 1024)
        head = 0
        return false
    }

    private mutating func change(_ address: AddressKey, by one: Int) {
        let before = held(from: address), after = before + one
        held[address] = after > 0 ? after : nil
        if after == addresses.count { addresses.append(0) }
        if before > 0 { addresses[before] -= 1 }
        if after > 0 { addresses[after] += 1 }
        if after > most || before == most && addresses[before] == 0 { most = after }
    }

    /// Those that stand in the queue, the oldest first.
    var waiting: ArraySlice<ConnectionID> { queue[head...] }

    /// The first ones have gone on.
    mutating func drop(_ gone: Int) { head += gone }

    mutating func replace(with left: [ConnectionID]) {
        queue = left
        head = 0
    }
}
