import RelayClient

/// One key and value of a channel's or user's metadata.
public final class RTMMetadataItem: RTMValue {
    /// 1…64 bytes of ASCII.
    public var key = ""
    /// Any text.
    public var value = ""
    /// Who wrote it last, if that was recorded.
    public var authorUserId = ""
    /// As read: of the change that wrote it. As a condition: −1 none, 0 there is no such item, else the revision it must have.
    public var revision: Int64 = -1
    /// When it was written, in milliseconds since 1970, if that was recorded; else 0.
    public var updateTs: UInt64 = 0

    convenience init(_ item: MetadataItem) {
        self.init()
        (key, value, revision) = (item.key, item.value, Int64(clamping: item.revision))
        (authorUserId, updateTs) = (item.author ?? "", item.wallMilliseconds ?? 0)
    }
}

/// A set of items to write, or of items that were read.
public final class RTMMetadata: RTMObject {
    /// As read: how often the set was changed, 0 of one that was never written. As a condition: −1 none, else what it must be.
    public var majorRevision: Int64 = -1
    /// `nil` or empty, given to `remove…`: all items.
    public var items: [RTMMetadataItem]?

    /// An empty one. Never `nil`; it may fail in hosted RTM, whose apps unwrap it.
    public init?() { super.init(()) }

    init(_ items: [MetadataItem], majorRevision: UInt64) {
        super.init(())
        (self.majorRevision, self.items) = (Int64(clamping: majorRevision), items.map { RTMMetadataItem($0) })
    }

    /// Adds an item, or replaces the one of its key.
    public func setMetadataItem(_ item: RTMMetadataItem) { items = getItems().filter { $0.key != item.key } + [item] }
    /// The items.
    public func getItems() -> [RTMMetadataItem] { items ?? [] }
    /// Removes the items from this object, and its condition.
    public func clear() { (items, majorRevision) = (nil, -1) }
    /// As the property.
    public func setMajorRevision(_ revision: Int64) { majorRevision = revision }
    /// As the property.
    public func getMajorRevision() -> Int64 { majorRevision }
    /// Nothing: the object goes with its last reference.
    @discardableResult
    public func destroy() -> Int32 { 0 }

    /// What a write says, checked when it is made.
    struct Values: Sendable {
        var items: [(key: String, value: String, revision: Int64)]
        var majorRevision: Int64

        /// Values by key; of an item given twice the last counts.
        var texts: [String: String] { items.reduce(into: [:]) { $0[$1.key] = $1.value } }
        func revisions() throws -> [String: UInt64] { try items.reduce(into: [:]) { $0[$1.key] = try condition($1.revision) } }
        func major() throws -> UInt64? { try condition(majorRevision) }

        private func condition(_ revision: Int64) throws -> UInt64? {
            guard revision >= -1 else {
                throw RTMErrorInfo(.storageInvalidRevision, "a revision is −1 (any), 0 (none yet) or one that was read, not \(revision)")
            }
            return revision == -1 ? nil : UInt64(revision)
        }
    }

    var values: Values { Values(items: getItems().map { ($0.key, $0.value, $0.revision) }, majorRevision: majorRevision) }
}

/// What to record with a write.
public final class RTMMetadataOptions: RTMValue {
    /// When it was.
    public var recordTs = false
    /// Who wrote it.
    public var recordUserId = false

    var values: (time: Bool, user: Bool) { (recordTs, recordUserId) }
}
