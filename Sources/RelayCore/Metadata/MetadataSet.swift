import RelayPrimitives
import RelayWire

/// One value of a set. [MD1]
struct MetadataSetItem: Equatable {
    /// UTF-8; its identity is its bytes.
    var value: [UInt8]
    var revision: UInt64
    var author: Name?
    /// Milliseconds since 1970.
    var time: UInt64?
    /// Whom it is charged to, while the relay runs: the address that wrote it; `nil`: it was stored. [MD4]
    var payer: AddressKey?
}

/// The items of one channel or user, and how often they were written. A value: what was revealed and what waits to be
/// durable are two of them that share what they have in common. [MD1, MD2]
struct MetadataSet {
    private(set) var items = [Name: MetadataSetItem]()
    /// 0: never written. Survives the removal of all items.
    private(set) var majorRevision: UInt64 = 0
    /// Of keys and values.
    private(set) var byteCount = 0

    /// What must hold for a change to happen at all. [MD5]
    struct Conditions {
        var majorRevision: UInt64?
        /// By key; 0 for "there is no such item".
        var revisions = [Name: UInt64]()
    }

    // MARK: - What a request would change

    /// - Parameter mustExist: `update` instead of `set`. [MD6]
    /// - Throws: `revisionMismatch`, `itemNotFound`, `tooLarge` or `limitReached`, with limit and value.
    func writing(
        _ items: [Name: MetadataSetItem], mustExist: Bool, _ conditions: Conditions
    ) throws(WireError) -> MetadataSetChange {
        try check(conditions)
        if mustExist { try checkExist(items.keys) }
        var change = MetadataSetChange(majorRevision: majorRevision + 1)
        change.items = items.mapValues { [revision = change.majorRevision] item in
            var item = item
            item.revision = revision
            return item
        }
        let count = self.items.count + items.keys.count { self.items[$0] == nil }
        guard count <= Limits.metadataItemsMax else {
            throw WireError(
                .limitReached, "a set of metadata has at most \(Limits.metadataItemsMax) items, not \(count)",
                limit: Limits.metadataItemsMax,
                actual: count)
        }
        let bytes = byteCount + growth(change)
        guard bytes <= Limits.metadataBytesMax else {
            throw WireError(
                .tooLarge, "keys and values of a set of metadata have at most \(Limits.metadataBytesMax) bytes, not \(bytes)",
                limit: Limits.metadataBytesMax, actual: bytes)
        }
        return change
    }

    /// - Parameter keys: `nil` for all there are. [MD6]
    /// - Returns: `nil` when there is nothing to remove.
    /// - Throws: `revisionMismatch` or `itemNotFound`.
    func removing(_ keys: Set<Name>?, _ conditions: Conditions) throws(WireError) -> MetadataSetChange? {
        try check(conditions)
        if let keys { try checkExist(keys) }
        let removed = keys ?? Set(items.keys)
        guard !removed.isEmpty else { return nil }
        var change = MetadataSetChange(majorRevision: majorRevision + 1)
        change.removed = removed
        return change
    }

    private func check(_ conditions: Conditions) throws(WireError) {
        if let expected = conditions.majorRevision, expected != majorRevision {
            throw WireError(
                .revisionMismatch, "the major revision is \(majorRevision), not \(expected)", limit: Int(clamping: expected),
                actual: Int(clamping: majorRevision))
        }
        for (key, expected) in conditions.revisions.inOrder() {
            let actual = items[key]?.revision ?? 0
            guard expected == actual else {
                throw WireError(
                    .revisionMismatch, actual == 0 ? "there is no item \(key)" : "the revision of \(key) is \(actual), not \(expected)",
                    limit: Int(clamping: expected), actual: Int(clamping: actual))
            }
        }
    }

    private func checkExist(_ keys: some Sequence<Name>) throws(WireError) {
        if let missing = keys.filter({ items[$0] == nil }).min() { throw WireError(.itemNotFound, "there is no item \(missing)") }
    }

    // MARK: - Changing

    /// Bytes of keys and values that a change adds; negative when it takes some away.
    func growth(_ change: MetadataSetChange) -> Int {
        var growth = 0
        for (key, item) in change.items { growth += size(key, item) - stored(key) }
        for key in change.removed { growth -= stored(key) }
        return growth
    }

    /// What it takes in memory, in bytes, and whom that is charged to. [MD4]
    var charges: [AddressKey?: Int] { MetadataSet().charges(of: MetadataSetChange(majorRevision: 0, items: items)) }

    /// The charges that a change adds; negative: the bytes that it frees.
    func charges(of change: MetadataSetChange) -> [AddressKey?: Int] {
        var charges = Charges()
        for (key, item) in change.items {
            charges.add(size(key, item) + Limits.metadataItemOverheadBytes, item.payer)
            if let old = items[key] { charges.add(-size(key, old) - Limits.metadataItemOverheadBytes, old.payer) }
        }
        for key in change.removed { charges.add(-stored(key) - Limits.metadataItemOverheadBytes, items[key]!.payer) }
        return charges.all
    }

    /// Most items of a change are one address's: the sums of the newest are not looked up.
    private struct Charges {
        private var others = [AddressKey?: Int]()
        private var newest: (payer: AddressKey?, bytes: Int)?

        mutating func add(_ bytes: Int, _ payer: AddressKey?) {
            if newest?.payer != payer { (others, newest) = (all, (payer, 0)) }
            newest = (payer, (newest?.bytes ?? 0) + bytes)
        }

        var all: [AddressKey?: Int] {
            guard let newest else { return others }
            return others.merging([newest.payer: newest.bytes], uniquingKeysWith: +)
        }
    }

    private func stored(_ key: Name) -> Int { items[key].map { size(key, $0) } ?? 0 }

    private func size(_ key: Name, _ item: MetadataSetItem) -> Int { key.text.utf8.count + item.value.count }

    mutating func apply(_ change: MetadataSetChange) {
        byteCount += growth(change)
        for (key, item) in change.items { items[key] = item }
        for key in change.removed { items[key] = nil }
        majorRevision = change.majorRevision
    }

    /// From storage.
    mutating func restore(majorRevision: UInt64) { self.majorRevision = max(self.majorRevision, majorRevision) }

    mutating func restore(_ key: Name, _ item: MetadataSetItem) {
        byteCount += size(key, item) - stored(key)
        items[key] = item
    }

    var keysInOrder: [Name] { items.keys.inOrder() }
}

/// What one request changed in a set. [MD7]
struct MetadataSetChange {
    /// After it.
    var majorRevision: UInt64
    var items = [Name: MetadataSetItem]()
    var removed: Set<Name> = []
}

/// The metadata of one channel or user as the hub holds it.
struct MetadataBook {
    var owner: MetadataOwner?
    /// For a user's metadata: the address of the user who made it; `nil`: it was stored.
    var address: AddressKey?
    var generation: UInt32 = 0
    /// With every change that was accepted; conditions and limits are judged by it.
    var applied = MetadataSet()
    /// What is durable, and all that anybody is shown. [SG1]
    var revealed = MetadataSet()
    /// Changes between the two.
    var unrevealed = 0
    /// Sessions that subscribed to a user's metadata; a channel has its own list.
    var receivers: [Session.Index] = []
    var lastWritten = Instant(nanoseconds: 0)
    /// Whether a `metadataEnd` deadline is set.
    var endIsSet = false

    /// Nothing in it, and nobody looks.
    var isUnused: Bool { applied.majorRevision == 0 && revealed.majorRevision == 0 && unrevealed == 0 && receivers.isEmpty }
}

/// The metadata of all channels and users.
struct MetadataShelf {
    private var books = Shelf<MetadataBook, MetadataOwner>(vacant: MetadataBook())
    /// Those of users.
    private(set) var users = Places()

    var count: Int { books.count }
    var indices: some Sequence<MetadataBook.Index> { books.indices }

    @inline(__always)
    subscript(index: MetadataBook.Index) -> MetadataBook {
        _read { yield books[index] }
        _modify { yield &books[index] }
    }

    subscript(of owner: MetadataOwner) -> MetadataBook.Index? { books[named: owner] }

    mutating func insert(_ owner: MetadataOwner, from address: AddressKey?, generation: UInt32) -> MetadataBook.Index {
        if case .user = owner { users.take(address) }
        return books.insert(MetadataBook(owner: owner, address: address, generation: generation), named: owner)
    }

    mutating func remove(_ index: MetadataBook.Index) {
        let owner = books[index].owner!
        if case .user = owner { users.giveBack(books[index].address) }
        books.remove(index, named: owner)
    }
}
