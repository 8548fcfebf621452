import RelayStorage

/// Entries of an index in order of offsets, and where the newest one of each key stands.
///
/// An entry takes 48 bytes. A key takes its bytes and some 10 more, however many entries it has. So the memory is about what the records
/// count besides their payloads. [BL7]
struct BoardEntries {
    struct Entry {
        enum Kind: UInt8 { case dead, record, marker, clear }

        var offset: UInt64
        /// Of a record: that of the change which wrote it. Of a marker: milliseconds since 1970.
        var sequence: UInt64
        private var start: UInt64
        private var count: UInt32
        /// Where its key stands.
        fileprivate var key: UInt32 = 0
        private var authorNumber: UInt32
        private var head: UInt32
        private var payload: UInt32
        fileprivate(set) var kind: Kind
        /// The index knows the parts that its payload stands in.
        var hasParts = false
        /// Its key was written or removed since a `clear` took it away.
        var isChanged = false

        init(
            _ kind: Kind, at offset: UInt64, _ place: BoardPlace, sequence: UInt64 = 0, author: Int = 0, headBytes: Int = 0,
            payloadBytes: Int = 0
        ) {
            self.offset = offset
            self.sequence = sequence
            start = UInt64(place.start)
            count = UInt32(place.count)
            authorNumber = UInt32(author)
            head = UInt32(headBytes)
            payload = UInt32(payloadBytes)
            self.kind = kind
        }

        var place: BoardPlace {
            get { BoardPlace(start: Int(start), count: Int(count)) }
            set { (start, count) = (UInt64(newValue.start), UInt32(newValue.count)) }
        }
        var author: Int { Int(authorNumber) }
        /// Key, custom type and extensions.
        var headBytes: Int { Int(head) }
        var payloadBytes: Int { Int(payload) }
        /// As it counts. [BL7]
        var bytes: Int { headBytes + payloadBytes + BoardSummary.recordOverheadBytes }
    }

    /// It grows by a chunk: nothing is copied then, and no commit waits for it.
    private var chunks: [[Entry]] = []
    private var dead = 0
    /// Length and bytes of each key.
    private var keys: [UInt8] = []
    /// A hash table with linear probing: 0, or 1 and the number of the newest entry of a key, which may be dead.
    private var slots: [UInt32] = []
    private var usedSlots = 0

    private static let chunkEntries = 4096

    init() {}

    /// - Parameter keys: expected. A table that grows by doubling makes a commit wait while it does.
    init(keys: Int) { slots = Self.slots(for: keys) }

    /// That it takes. [BL7]
    var memoryBytes: Int {
        let entries = max(0, chunks.count - 1) * Self.chunkEntries + (chunks.last?.capacity ?? 0)
        return entries * MemoryLayout<Entry>.stride + keys.capacity + slots.count * MemoryLayout<UInt32>.stride
    }

    // MARK: - The list

    /// Entries, dead ones counted.
    var count: Int { chunks.isEmpty ? 0 : (chunks.count - 1) * Self.chunkEntries + chunks[chunks.count - 1].count }
    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Entry {
        get { chunks[index / Self.chunkEntries][index % Self.chunkEntries] }
        _modify { yield &chunks[index / Self.chunkEntries][index % Self.chunkEntries] }
    }

    var all: some Sequence<Entry> { chunks.lazy.joined() }
    var records: some Sequence<Entry> { all.lazy.filter { $0.kind == .record } }

    /// Of the first entry with a higher offset.
    func position(above offset: UInt64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Behind all others; it is the newest one of its key.
    ///
    /// - Parameter key: 1…255 bytes; `nil`: it has none.
    mutating func append(_ entry: Entry, key: [UInt8]?) {
        var entry = entry
        if let key {
            let slot = find(key)
            if slots[slot] == 0 {
                entry.key = UInt32(keys.count)
                keys.append(UInt8(key.count))
                keys.append(contentsOf: key)
                usedSlots += 1
            } else {
                entry.key = self[Int(slots[slot]) - 1].key
            }
            slots[slot] = UInt32(count + 1)
        }
        push(entry)
    }

    private mutating func push(_ entry: Entry) {
        if chunks.isEmpty || chunks[chunks.count - 1].count == Self.chunkEntries { chunks.append([]) }
        chunks[chunks.count - 1].append(entry)
    }

    mutating func kill(_ index: Int) {
        guard self[index].kind != .dead else { return }
        self[index].kind = .dead
        dead += 1
    }

    /// Takes out what is dead, when that is the most of it.
    mutating func sweep() {
        guard dead > 64, dead * 2 > count else { return }
        var swept = BoardEntries(keys: count - dead)
        for entry in all where entry.kind != .dead { swept.append(entry, key: entry.kind == .clear ? nil : key(of: entry)) }
        self = swept
    }

    // MARK: - Keys

    func key(of entry: Entry) -> [UInt8] { Array(keyBytes(of: entry)) }

    private func keyBytes(of entry: Entry) -> ArraySlice<UInt8> {
        let start = Int(entry.key) + 1
        return keys[start..<(start + Int(keys[start - 1]))]
    }

    /// The newest entry of a key, if it is not dead.
    subscript(key: [UInt8]) -> Int? {
        guard !slots.isEmpty else { return nil }
        let index = Int(slots[slot(of: key[...])]) - 1
        return index >= 0 && self[index].kind != .dead ? index : nil
    }

    /// The slot of a key, with room for it if it is new.
    private mutating func find(_ key: [UInt8]) -> Int {
        if (usedSlots + 1) * 4 > slots.count * 3 {
            let old = slots
            slots = Self.slots(for: usedSlots + 1)
            for number in old where number != 0 { slots[slot(of: keyBytes(of: self[Int(number) - 1]))] = number }
        }
        return slot(of: key[...])
    }

    private func slot(of key: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        key.withUnsafeBytes { hasher.combine(bytes: $0) }
        var slot = hasher.finalize() & (slots.count - 1)
        while slots[slot] != 0, keyBytes(of: self[Int(slots[slot]) - 1]) != key { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// At most half of them are used.
    private static func slots(for keys: Int) -> [UInt32] {
        var count = 16
        while count < keys * 2 { count *= 2 }
        return [UInt32](repeating: 0, count: count)
    }
}
