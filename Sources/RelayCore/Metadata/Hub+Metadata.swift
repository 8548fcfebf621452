import RelayPrimitives
import RelayWire

// Requests about metadata. [MD1–MD9]

extension Hub {
    // MARK: - Changes

    /// `setMetadata` and, with `mustExist`, `updateMetadata`.
    mutating func writeMetadata(
        _ body: UnsafeRawBufferPointer, mustExist: Bool, _ session: Session.Index, _ connection: Connection.Index
    ) throws(WireError) {
        let (head, texts) = try TextBody.read(body)
        let request = try decode(WriteMetadataRequest.self, head)
        let owner = try MetadataOwnerFields(request).owner()
        try requireMetadata(owner, isWrite: true, session)
        try spendMetadataCall(owner, session, connection)
        guard connections[connection].isOpen else { return }
        guard !request.items.isEmpty else { throw WireError(.badRequest, "field items is empty") }
        let values = try TextBody.cut(texts, request.items.map(\.bytes))

        // A thousand items are looked up as few times as may be: others wait meanwhile.
        var items = [Name: MetadataSetItem](minimumCapacity: values.count)
        var conditions = MetadataSet.Conditions(majorRevision: request.majorRevision)
        for (item, value) in zip(request.items, values) {
            let known = items.updateValue(
                MetadataSetItem(
                    value: value, revision: 0, author: request.recordUser == true ? sessions[session].user : nil,
                    time: request.recordTime == true ? now.wallMilliseconds : nil, payer: accounts.payer),
                forKey: item.key)
            guard known == nil else { throw WireError(.badRequest, "item \(item.key) stands twice in one request") }
            if let revision = item.revision { conditions.revisions[item.key] = revision }
        }
        try checkLock(request.lock, owner, session)
        let set = book(of: owner).map { metadata[$0].applied } ?? MetadataSet()
        let change = try set.writing(items, mustExist: mustExist, conditions)
        try checkStorage()
        let charges = set.charges(of: change)
        try checkTotal(charges)
        let book = try bookFor(owner, by: session)
        changeMetadata(book, change, charges, requester(connection, request.id, .majorRevision(change.majorRevision)))
    }

    mutating func removeMetadata(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError)
    {
        let request = try decode(RemoveMetadataRequest.self, body)
        let owner = try MetadataOwnerFields(request).owner()
        try requireMetadata(owner, isWrite: true, session)
        try spendMetadataCall(owner, session, connection)
        guard connections[connection].isOpen else { return }
        var keys: Set<Name>?
        var conditions = MetadataSet.Conditions(majorRevision: request.majorRevision)
        if let items = request.items {
            guard !items.isEmpty else { throw WireError(.badRequest, "field items is empty: without it everything is removed") }
            keys = Set(items.map(\.key))
            guard keys!.count == items.count else { throw WireError(.badRequest, "an item stands twice in one request") }
            for item in items { conditions.revisions[item.key] = item.revision }
        }
        try checkLock(request.lock, owner, session)
        let known = book(of: owner)
        let set = known.map { metadata[$0].applied } ?? MetadataSet()
        guard let change = try set.removing(keys, conditions) else {
            return answerInOrder(requester(connection, request.id, .majorRevision(set.majorRevision)))
        }
        try checkStorage()
        changeMetadata(known!, change, set.charges(of: change), requester(connection, request.id, .majorRevision(change.majorRevision)))
    }

    private mutating func changeMetadata(
        _ book: MetadataBook.Index, _ change: MetadataSetChange, _ charges: [AddressKey?: Int], _ requester: Requester?
    ) {
        applyMetadata(book, change, charges)
        store(StoredForm.entries(metadata[book].owner!, change), .metadata(book, change), requester)
    }

    /// Changes are judged by it from here on.
    ///
    /// - Parameter charges: those of the change, where they are known.
    mutating func applyMetadata(_ book: MetadataBook.Index, _ change: MetadataSetChange, _ charges: [AddressKey?: Int]? = nil) {
        accounts.metadata.hold(charges ?? metadata[book].applied.charges(of: change))
        metadata[book].applied.apply(change)
        metadata[book].lastWritten = now.instant
    }

    // MARK: - Checks

    /// Channels' and users' metadata are counted apart. [RT7]
    private mutating func spendMetadataCall(_ owner: MetadataOwner, _ session: Session.Index, _ connection: Connection.Index)
        throws(WireError)
    {
        let key: BucketKey =
            switch owner {
            case .channel: .channelMetadata
            case .user: .userMetadata
            }
        let rate = configuration.metadataCallsPerSecond
        let bucket = bucket(key, of: session)
        if let wait = try spend(bucket, rate: rate, capacity: configuration.metadataCallsBurst, connection, "metadata calls") {
            throw .overRate("metadata calls", rate: rate, wait: wait)
        }
    }

    /// A change may ask for a lock of the channel that its author holds. [MD5]
    private func checkLock(_ name: Name?, _ owner: MetadataOwner, _ session: Session.Index) throws(WireError) {
        guard let name else { return }
        guard case .channel(let id) = owner else { throw WireError(.badRequest, "field lock is for the metadata of channels") }
        guard let lock = lock(name, of: id), let state = locks[lock].applied else {
            throw WireError(.lockNotFound, "there is no lock \(name) in \(id)")
        }
        guard state.owner == lockOwner(session) else {
            throw WireError(.lockNotHeld, state.owner.map { "lock \(name) is held by \($0.user)" } ?? "lock \(name) is held by nobody")
        }
    }

    /// - Throws: `storageFull`. [MD4]
    private func checkTotal(_ charges: [AddressKey?: Int]) throws(WireError) {
        let growth = charges.values.reduce(0, +)
        guard growth > 0 else { return }
        try accounts.metadata.check(growth, own: charges[accounts.payer], of: accounts.payer, .storageFull, "metadata")
    }

    // MARK: - Books

    /// The metadata of a channel or user, if there is a place for it.
    func book(of owner: MetadataOwner) -> MetadataBook.Index? {
        metadata[of: owner]
    }

    /// - Throws: `relayFull` when there may be no further channel or user with metadata.
    mutating func bookFor(_ owner: MetadataOwner, by session: Session.Index?) throws(WireError) -> MetadataBook.Index {
        if let book = book(of: owner) { return book }
        switch owner {
        case .channel(let id):
            let channel = try channelFor(id, by: session)
            let book = metadata.insert(owner, from: nil, generation: ordinals.generation())
            channels[channel].metadata = book
            return book
        case .user:
            try checkPlace(metadata.users, of: session, max: configuration.userMetadataMax, "users with metadata")
            return metadata.insert(owner, from: session.map { sessions[$0].address }, generation: ordinals.generation())
        }
    }

    // MARK: - Questions

    mutating func getMetadata(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(GetMetadataRequest.self, body)
        let owner = try MetadataOwnerFields(request).owner()
        try requireMetadata(owner, isWrite: false, session)
        try spendMetadataCall(owner, session, connection)
        guard connections[connection].isOpen else { return }
        let set = book(of: owner).map { metadata[$0].revealed } ?? MetadataSet()
        let keys = set.keysInOrder
        work.look(at: keys.count)
        let start = request.after.map { after in keys.firstIndex { after < $0 } ?? keys.count } ?? 0
        var page = MetadataPage()
        var position = start
        while position < keys.count, page.add(keys[position], set.items[keys[position]]!) { position += 1 }
        let head = MetadataPageHead(
            id: request.id, majorRevision: set.majorRevision, items: page.heads, next: position < keys.count ? keys[position - 1] : nil)
        enqueueText(connection, .metadataPage, TextBody.encode(head: head, texts: page.values))
    }

    // MARK: - Subscribing a user's metadata

    mutating func subscribeUserMetadata(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index)
        throws(WireError)
    {
        let request = try decode(UserRequest.self, body)
        try requireMetadata(.user(request.user), isWrite: false, session)
        if !sessions[session].userMetadata.contains(request.user) {
            let count = sessions[session].userMetadata.count
            guard count < configuration.subscribedUserMetadataMax else {
                throw WireError(
                    .limitReached, "a session subscribes to the metadata of at most \(configuration.subscribedUserMetadataMax) users",
                    limit: configuration.subscribedUserMetadataMax, actual: count + 1)
            }
            try checkMemory(Footprint.userMetadata, of: session)
            let book = try bookFor(.user(request.user), by: session)
            sessions[session].userMetadata.insert(request.user)
            recount(session)
            metadata[book].receivers.append(session)
        }
        answer(connection, EmptyAnswer(id: request.id))
        sendMetadataSnapshot(.user(request.user), to: connection)
    }

    mutating func unsubscribeUserMetadata(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index)
        throws(WireError)
    {
        let request = try decode(UserRequest.self, body)
        guard sessions[session].userMetadata.contains(request.user) else {
            throw WireError(.notSubscribed, "the metadata of user \(request.user) is not subscribed")
        }
        stopUserMetadata(request.user, session)
        answer(connection, EmptyAnswer(id: request.id))
    }

    mutating func stopUserMetadata(_ user: Name, _ session: Session.Index) {
        sessions[session].userMetadata.remove(user)
        recount(session)
        guard let book = metadata[of: .user(user)] else { return }
        metadata[book].receivers.removeFirst(of: session)
        endMetadataIfUnused(book)
    }

    /// The session is over, or handed over.
    mutating func stopUserMetadata(of session: Session.Index) {
        for user in sessions[session].userMetadata.inOrder() { stopUserMetadata(user, session) }
    }
}

extension MetadataOwnerFields {
    init(_ request: WriteMetadataRequest) { self.init(request.kind, request.channel, request.user) }
    init(_ request: RemoveMetadataRequest) { self.init(request.kind, request.channel, request.user) }
    init(_ request: GetMetadataRequest) { self.init(request.kind, request.channel, request.user) }
}
