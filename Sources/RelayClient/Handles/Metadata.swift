/// The metadata of a channel or user: small texts by key that outlive everybody's session.
///
///     let seen = try await lesson.metadata.get()
///     try await lesson.metadata.set(["title": "Herbst"], majorRevision: seen.majorRevision)     // refused if it has changed meanwhile
///
/// The channel need not be open. To be told of changes, open it with the part `metadata`, or follow a user's.
public struct Metadata: Sendable {
    let client: WhiteboardClient
    let owner: MetadataOwner

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
        recordsUser: Bool = false, recordsTime: Bool = false, call: CallOptions = .init()
    ) async throws(RelayError) -> UInt64 {
        try await write(values, false, revisions, majorRevision, lock, recordsUser, recordsTime, call)
    }

    /// As `set`, of items that exist.
    ///
    /// - Throws: `itemNotFound` if one does not; otherwise as `set`.
    @discardableResult
    public func update(
        _ values: [String: String], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil, lock: String? = nil,
        recordsUser: Bool = false, recordsTime: Bool = false, call: CallOptions = .init()
    ) async throws(RelayError) -> UInt64 {
        try await write(values, true, revisions, majorRevision, lock, recordsUser, recordsTime, call)
    }

    /// Removes items, all of them or none.
    ///
    /// - Throws: `itemNotFound` if one is not there; otherwise as `set`.
    @discardableResult
    public func remove(
        _ keys: [String], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil, lock: String? = nil,
        call: CallOptions = .init()
    ) async throws(RelayError) -> UInt64 {
        var items: [RemoveMetadataRequest.Item] = []
        for key in keys { items.append(RemoveMetadataRequest.Item(key: try checkedName(key), revision: revisions[key])) }
        return try await change(.removeMetadata(owner, items, majorRevision: majorRevision, lock: try name(lock)), call)
    }

    /// Removes every item. The major revision goes on counting.
    ///
    /// - Throws: as `set`.
    @discardableResult
    public func removeAll(majorRevision: UInt64? = nil, lock: String? = nil, call: CallOptions = .init()) async throws(RelayError) -> UInt64
    {
        try await change(.removeMetadata(owner, nil, majorRevision: majorRevision, lock: try name(lock)), call)
    }

    private func write(
        _ values: [String: String], _ mustExist: Bool, _ revisions: [String: UInt64], _ majorRevision: UInt64?, _ lock: String?,
        _ recordsUser: Bool, _ recordsTime: Bool, _ call: CallOptions
    ) async throws(RelayError) -> UInt64 {
        var items: [MetadataWrite.Item] = []
        for key in values.keys.sorted() {
            items.append(.init(key: RemoveMetadataRequest.Item(key: try checkedName(key), revision: revisions[key]), value: values[key]!))
        }
        let write = MetadataWrite(
            items: items, mustExist: mustExist, majorRevision: majorRevision, lock: try name(lock), recordsUser: recordsUser,
            recordsTime: recordsTime)
        return try await change(.writeMetadata(owner, write), call)
    }

    private func change(_ request: ClientRequest, _ call: CallOptions) async throws(RelayError) -> UInt64 {
        guard case .majorRevision(let revision) = try await client.core.ask(request, call) else { throw .wrongAnswer }
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
    public func get(call: CallOptions = .init()) async throws(RelayError) -> MetadataContents {
        for _ in 0..<8 {
            if let contents = try await read(call) { return contents }
        }
        throw RelayError(.busy, "the metadata of \(owner) changed each time it was read")
    }

    /// - Returns: `nil` when it changed between two pages.
    private func read(_ call: CallOptions) async throws(RelayError) -> MetadataContents? {
        var contents: MetadataContents?
        var after: Name?
        repeat {
            guard case .metadata(let revision, let items, let next) = try await client.core.ask(.getMetadata(owner, after: after), call)
            else {
                throw .wrongAnswer
            }
            if let seen = contents?.majorRevision, seen != revision { return nil }
            contents = contents ?? MetadataContents(majorRevision: revision)
            for item in items { contents!.items[item.key] = item }
            after = next
        } while after != nil
        return contents
    }

    // MARK: - Being told

    /// The whole set, whenever it changes: a channel's comes with the part `metadata` of `open`, a user's while it is followed.
    public func contents() -> Latest<MetadataContents> {
        switch owner {
        case .channel(let place):
            let name = place.channel.text
            return Latest(client, standing: { $0.contentsStanding(name) }) { readable, _ in readable.contents(name) }
        case .user(let user):
            let user = user.text
            return Latest(client, standing: { $0.contentsStanding(ofUser: user) }) { readable, _ in readable.contents(ofUser: user) }
        }
    }

    /// Receives the changes of a user's metadata, beginning with all of it.
    ///
    /// - Throws: `badRequest` for a channel's; `limitReached` over 100 users, `notPermitted`, or why the relay was not reached.
    public func follow(call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.subscribeUserMetadata(try user()), call)
    }

    /// Ends `follow()`.
    ///
    /// - Throws: `notSubscribed`; `badRequest` for a channel's, or why the relay was not reached.
    public func unfollow(call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.unsubscribeUserMetadata(try user()), call)
    }

    private func user() throws(RelayError) -> Name {
        guard case .user(let user) = owner else {
            throw RelayError(.badRequest, "a channel's metadata comes with its part metadata: open it with that")
        }
        return user
    }
}
