import RelayPrimitives
import RelayWire

// Events of metadata, and when the hub forgets a set. [MD7–MD10]

extension Hub {
    // MARK: - Durable, or not

    mutating func revealMetadata(_ book: MetadataBook.Index, _ change: MetadataSetChange) {
        metadata[book].unrevealed -= 1
        metadata[book].revealed.apply(change)
        // From here on the two share their items again.
        if metadata[book].unrevealed == 0 { metadata[book].revealed = metadata[book].applied }
        let owner = metadata[book].owner!
        let receivers: [Session.Index]
        switch owner {
        case .user: receivers = metadata[book].receivers
        case .channel(let id): receivers = channels[channels[named: id]!].metadataReceivers
        }
        if !receivers.isEmpty {
            for body in MetadataPage.bodies(
                emptyEvent(owner, .changed, change.majorRevision), change.items, removed: change.removed.inOrder())
            {
                tellMetadata(owner, body, to: receivers)
            }
        }
        endMetadataIfUnused(book)
    }

    mutating func undoMetadata(_ book: MetadataBook.Index) {
        guard metadata[book].unrevealed > 0 else { return }
        metadata[book].unrevealed = 0
        for (address, bytes) in metadata[book].applied.charges { accounts.metadata.hold(-bytes, address) }
        metadata[book].applied = metadata[book].revealed
        accounts.metadata.hold(metadata[book].applied.charges)
    }

    mutating func settleUndoneMetadata(_ book: MetadataBook.Index) {
        guard metadata[book].owner != nil else { return }
        endMetadataIfUnused(book)
    }

    // MARK: - Events

    /// The whole picture of a channel's or user's metadata. [MD7]
    mutating func sendMetadataSnapshot(_ owner: MetadataOwner, to connection: Connection.Index) {
        let set = book(of: owner).map { metadata[$0].revealed } ?? MetadataSet()
        for body in MetadataPage.bodies(emptyEvent(owner, .snapshot, set.majorRevision), set.items, removed: []) {
            enqueueText(connection, .metadata, body)
        }
    }

    private func emptyEvent(_ owner: MetadataOwner, _ event: MetadataEventHead.Event, _ revision: UInt64) -> MetadataEventHead {
        switch owner {
        case .channel(let id):
            MetadataEventHead(channel: channels[channels[named: id]!].handle, user: nil, event: event, majorRevision: revision)
        case .user(let user): MetadataEventHead(channel: nil, user: user, event: event, majorRevision: revision)
        }
    }

    private mutating func tellMetadata(_ owner: MetadataOwner, _ body: [UInt8], to receivers: [Session.Index]) {
        switch owner {
        case .channel(let id):
            let head = FrameHead(type: FrameType.metadata.rawValue, bodyBytes: body.count)
            enqueueShared(room: channels[channels[named: id]!].room, head: head, to: receivers) { writer in
                body.withUnsafeBytes { writer.bytes($0) }
            }
        case .user:
            for session in receivers { if let connection = outbox.connection(of: session) { enqueueText(connection, .metadata, body) } }
        }
    }

    mutating func enqueueText(_ connection: Connection.Index, _ type: FrameType, _ body: [UInt8]) {
        enqueuePrivate(connection, head: FrameHead(type: type.rawValue, bodyBytes: body.count)) { writer in
            body.withUnsafeBytes { writer.bytes($0) }
        }
    }

    // MARK: - The end

    /// A set that was never written goes with its last reader, one that was emptied some time later. [MD2]
    mutating func endMetadataIfUnused(_ book: MetadataBook.Index) {
        guard metadata[book].unrevealed == 0, metadata[book].applied.items.isEmpty else { return }
        if metadata[book].isUnused { return forgetMetadata(book) }
        guard !metadata[book].endIsSet else { return }
        metadata[book].endIsSet = true
        deadlines.set(
            .metadataEnd(book: book, generation: metadata[book].generation),
            at: metadata[book].lastWritten + configuration.emptyMetadataLinger)
    }

    mutating func metadataEndDeadline(_ book: MetadataBook.Index) {
        metadata[book].endIsSet = false
        guard metadata[book].unrevealed == 0, metadata[book].applied.items.isEmpty else { return }
        let isOver = metadata[book].lastWritten + configuration.emptyMetadataLinger <= now.instant
        let owner = metadata[book].owner!
        guard isOver, metadata[book].receivers.isEmpty, !isInside(owner), storage.failure == nil else {
            if isOver { metadata[book].lastWritten = now.instant }
            return endMetadataIfUnused(book)
        }
        store(StoredForm.forgetting(owner), .forgotten(book, generation: metadata[book].generation), nil)
    }

    /// It is gone when that is durable, unless somebody has written to it or looks at it by then.
    mutating func revealForgotten(_ book: MetadataBook.Index, _ generation: UInt32) {
        guard metadata[book].generation == generation, let owner = metadata[book].owner else { return }
        guard metadata[book].unrevealed == 0, metadata[book].applied.items.isEmpty, metadata[book].receivers.isEmpty, !isInside(owner),
            metadata[book].lastWritten + configuration.emptyMetadataLinger <= now.instant
        else {
            // The journal has forgotten it, unless what came since has written it there again.
            if metadata[book].unrevealed == 0 { store([StoredForm.head(owner, metadata[book].applied.majorRevision)], .nothing, nil) }
            return keepForgotten(book, generation)
        }
        forgetMetadata(book)
    }

    /// It is not gone.
    mutating func keepForgotten(_ book: MetadataBook.Index, _ generation: UInt32) {
        guard metadata[book].generation == generation, metadata[book].owner != nil else { return }
        metadata[book].lastWritten = now.instant
        endMetadataIfUnused(book)
    }

    /// Its channel has ended: nobody is inside. The journal has forgotten it unless it has changed since.
    mutating func forgetEmptyMetadata(_ book: MetadataBook.Index) {
        if metadata[book].unrevealed == 0, metadata[book].applied.items.isEmpty { forgetMetadata(book) }
    }

    private func isInside(_ owner: MetadataOwner) -> Bool {
        guard case .channel(let id) = owner, let channel = channels[named: id] else { return false }
        return !channels[channel].inside.isEmpty
    }

    private mutating func forgetMetadata(_ book: MetadataBook.Index) {
        let owner = metadata[book].owner!
        metadata.remove(book)
        guard case .channel(let id) = owner, let channel = channels[named: id] else { return }
        channels[channel].metadata = nil
        endChannelIfUnused(channel)
    }
}

/// Items for one frame: as many as fit. [MD9]
struct MetadataPage {
    private(set) var heads: [MetadataItemHead] = []
    private(set) var values: [[UInt8]] = []
    private var headBytes = 0
    private var valueBytes = 0

    /// - Returns: whether there was room; there always is for one.
    mutating func add(_ key: Name, _ item: MetadataSetItem) -> Bool {
        let head = MetadataItemHead(key: key, bytes: item.value.count, revision: item.revision, author: item.author, time: item.time)
        guard
            heads.isEmpty
                || headBytes + head.pageBytes <= Limits.jsonPageBytes && valueBytes + item.value.count <= Limits.metadataPageBytes
        else { return false }
        heads.append(head)
        values.append(item.value)
        headBytes += head.pageBytes
        valueBytes += item.value.count
        return true
    }

    /// Whether a key that was removed fits as well.
    mutating func addRemoved(_ key: Name) -> Bool {
        let bytes = 2 * key.text.utf8.count + 4
        guard headBytes == 0 || headBytes + bytes <= Limits.jsonPageBytes else { return false }
        headBytes += bytes
        return true
    }

    /// The bodies of one event: one frame, or several of which all but the last say `more`.
    static func bodies(_ event: MetadataEventHead, _ items: [Name: MetadataSetItem], removed: [Name]) -> [[UInt8]] {
        var pages: [(page: MetadataPage, removed: [Name])] = [(MetadataPage(), [])]
        for key in removed {
            if !pages[pages.count - 1].page.addRemoved(key) {
                pages.append((MetadataPage(), []))
                _ = pages[pages.count - 1].page.addRemoved(key)
            }
            pages[pages.count - 1].removed.append(key)
        }
        for key in items.keys.inOrder() where !pages[pages.count - 1].page.add(key, items[key]!) {
            pages.append((MetadataPage(), []))
            _ = pages[pages.count - 1].page.add(key, items[key]!)
        }
        return pages.enumerated().map { index, entry in
            var head = event
            head.items = entry.page.heads
            if !entry.removed.isEmpty { head.removed = entry.removed }
            if index + 1 < pages.count { head.more = true }
            return TextBody.encode(head: head, texts: entry.page.values)
        }
    }
}
