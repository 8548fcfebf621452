/// The metadata of a channel or user: small texts by key that outlive everybody's session.
///
///     let board = try client.metadata(of: .message("lesson"))
///     let (items, majorRevision) = …
///     try await board.set(["title": "Herbst"], majorRevision: seen)     // refused if somebody else wrote meanwhile
///
/// Neither a subscription nor membership is needed. To be told of changes, subscribe the channel with the
/// feature `metadata`, or a user's with `subscribe()`.
public struct Metadata: Sendable {
    let core: ClientCore
    let owner: MetadataOwner

    /// A set as it was at one moment.
    public struct Contents: Sendable, Equatable {
        /// In order of key.
        public var items: [MetadataItem]
        /// Counts the changes of the set; 0 of one that was never written.
        public var majorRevision: UInt64

        /// As a test or a preview makes one.
        public init(items: [MetadataItem], majorRevision: UInt64) { (self.items, self.majorRevision) = (items, majorRevision) }
    }

    // MARK: - Changes

    /// Creates or replaces items, all of them or none.
    ///
    /// - Parameters:
    ///   - revisions: the revision that each item must have, by key; 0: the item must not exist.
    ///   - majorRevision: the one the set must have; `nil` for any.
    ///   - lock: a lock of the channel that this user must hold.
    ///   - recordsUser: whether to keep the author with the items.
    ///   - recordsTime: whether to keep when.
    /// - Returns: the set's major revision after it, which is also the revision of each item written.
    /// - Throws: `revisionMismatch` (with the revision found as `actual`), `lockNotFound`, `lockNotHeld`, `tooLarge` (over
    ///   65,536 bytes of keys and values), `limitReached` (over 1,000 items), `storageFull`, `storageFailed`, `busy`,
    ///   `rateLimited`, `badName`; nothing was changed then. `outcomeUnknown` when the link broke before the answer.
    @discardableResult
    public func set(
        _ values: [String: String], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil, lock: String? = nil,
        recordsUser: Bool = false, recordsTime: Bool = false
    ) async throws(RelayError) -> UInt64 {
        try await write(values, false, revisions, majorRevision, lock, recordsUser, recordsTime)
    }

    /// As `set`, of items that exist.
    ///
    /// - Throws: `itemNotFound` if one does not; otherwise as `set`.
    @discardableResult
    public func update(
        _ values: [String: String], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil, lock: String? = nil,
        recordsUser: Bool = false, recordsTime: Bool = false
    ) async throws(RelayError) -> UInt64 {
        try await write(values, true, revisions, majorRevision, lock, recordsUser, recordsTime)
    }

    /// Removes items, all of them or none.
    ///
    /// - Throws: `itemNotFound` if one is not there; otherwise as `set`.
    @discardableResult
    public func remove(
        _ keys: [String], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil, lock: String? = nil
    ) async throws(RelayError) -> UInt64 {
        var items: [RemoveMetadataRequest.Item] = []
        for key in keys { items.append(RemoveMetadataRequest.Item(key: try checkedName(key), revision: revisions[key])) }
        return try await change(.removeMetadata(owner, items, majorRevision: majorRevision, lock: try name(lock)))
    }

    /// Removes every item. The major revision goes on counting.
    ///
    /// - Throws: as `set`.
    @discardableResult
    public func removeAll(majorRevision: UInt64? = nil, lock: String? = nil) async throws(RelayError) -> UInt64 {
        try await change(.removeMetadata(owner, nil, majorRevision: majorRevision, lock: try name(lock)))
    }

    private func write(
        _ values: [String: String], _ mustExist: Bool, _ revisions: [String: UInt64], _ majorRevision: UInt64?, _ lock: String?,
        _ recordsUser: Bool, _ recordsTime: Bool
    ) async throws(RelayError) -> UInt64 {
        var items: [MetadataWrite.Item] = []
        for key in values.keys.sorted() {
            items.append(.init(key: RemoveMetadataRequest.Item(key: try checkedName(key), revision: revisions[key]), value: values[key]!))
        }
        let write = MetadataWrite(
            items: items, mustExist: mustExist, majorRevision: majorRevision, lock: try name(lock), recordsUser: recordsUser,
            recordsTime: recordsTime)
        return try await change(.writeMetadata(owner, write))
    }

    private func change(_ request: ClientRequest) async throws(RelayError) -> UInt64 {
        guard case .majorRevision(let revision) = try await core.ask(request) else { throw .wrongAnswer }
        return revision
    }

    private func name(_ text: String?) throws(RelayError) -> Name? {
        guard let text else { return nil }
        return try checkedName(text)
    }

    // MARK: - Reading

    /// Everything, as it was at one moment, over as many pages as it takes.
    ///
    /// - Throws: `rateLimited`, or why the relay was not reached; `busy` if the set changed each time it was read.
    public func get() async throws(RelayError) -> Contents {
        for _ in 0..<8 {
            if let contents = try await read() { return contents }
        }
        throw RelayError(.busy, "the metadata of \(owner) changed each time it was read")
    }

    /// - Returns: `nil` when it changed between two pages.
    private func read() async throws(RelayError) -> Contents? {
        var contents: Contents?
        var after: Name?
        repeat {
            guard case .metadata(let revision, let items, let next) = try await core.ask(.getMetadata(owner, after: after)) else {
                throw .wrongAnswer
            }
            if let seen = contents?.majorRevision, seen != revision { return nil }
            contents = Contents(items: (contents?.items ?? []) + items, majorRevision: revision)
            after = next
        } while after != nil
        return contents
    }

    // MARK: - Being told

    /// Receives the changes of a user's metadata as `metadata` events, beginning with all of it. A channel's come with
    /// the feature `metadata` of its subscription.
    ///
    /// - Throws: `badRequest` for a channel's; `limitReached` over 100 users.
    public func subscribe() async throws(RelayError) { _ = try await core.ask(.subscribeUserMetadata(try user())) }

    /// Ends `subscribe()`.
    ///
    /// - Throws: `notSubscribed`; `badRequest` for a channel's.
    public func unsubscribe() async throws(RelayError) { _ = try await core.ask(.unsubscribeUserMetadata(try user())) }

    private func user() throws(RelayError) -> Name {
        guard case .user(let user) = owner else {
            throw RelayError(.badRequest, "a channel's metadata comes with its subscription: subscribe it with the feature metadata")
        }
        return user
    }
}

extension RelayClient {
    /// The metadata of a channel or user.
    ///
    /// - Throws: `badName`.
    public func metadata(of reference: MetadataReference) throws(RelayError) -> Metadata {
        let owner: MetadataOwner
        switch reference {
        case .message(let name): owner = .channel(ChannelID(kind: .message, channel: try checkedName(name)))
        case .stream(let name): owner = .channel(ChannelID(kind: .stream, channel: try checkedName(name)))
        case .user(let user): owner = .user(try checkedName(user))
        }
        return Metadata(core: core, owner: owner)
    }

    /// The locks of a channel.
    ///
    /// - Throws: `badName`.
    public func locks(of channel: ChannelReference) throws(RelayError) -> Locks {
        switch channel {
        case .message(let name): Locks(core: core, channel: ChannelID(kind: .message, channel: try checkedName(name)))
        case .stream(let name): Locks(core: core, channel: ChannelID(kind: .stream, channel: try checkedName(name)))
        }
    }
}
