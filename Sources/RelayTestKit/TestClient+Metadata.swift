internal import RelayTesting
package import RelayWire

// Metadata and locks as a test writes them down.

/// A set of metadata as a client has been told it: a snapshot, and what changed since.
package struct MetadataPicture: Equatable {
    package var majorRevision: UInt64 = 0
    package var values: [String: String] = [:]
    package var revisions: [String: UInt64] = [:]

    package init() {}

    package mutating func take(_ head: MetadataEventHead, _ values: [[UInt8]], isContinued: Bool) {
        if head.event == .snapshot, !isContinued { self = MetadataPicture() }
        majorRevision = head.majorRevision
        for key in head.removed ?? [] { (self.values[key.text], revisions[key.text]) = (nil, nil) }
        for (item, value) in zip(head.items, values) {
            self.values[item.key.text] = String(decoding: value, as: UTF8.self)
            revisions[item.key.text] = item.revision
        }
    }
}

private struct Sizes: JSONObject {
    struct Item: JSONObject {
        var bytes = 0

        mutating func fields(_ json: inout JSONFields) { json("bytes", &bytes) }
    }

    var items: [Item] = []

    mutating func fields(_ json: inout JSONFields) { json("items", &items) }
}

extension TestClient {
    package static func owner(_ text: String) -> MetadataOwner {
        if let user = text.split(separator: ":").last, text.hasPrefix("user:") { return .user(try! Name(String(user))) }
        if text.hasPrefix("stream:") { return .channel(ChannelID(kind: .stream, channel: try! Name(String(text.dropFirst(7))))) }
        return .channel(ChannelID(kind: .message, channel: try! Name(text)))
    }

    /// Sends `setMetadata`, without reading what comes.
    ///
    /// - Returns: the request's id.
    @discardableResult
    package func sendSet(
        _ owner: String, _ items: [(key: String, value: String)], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil,
        lock: String? = nil, record: Bool = false, update: Bool = false
    ) -> UInt32 {
        let id = nextRequest()
        let request = WriteMetadataRequest(
            id: id, Self.owner(owner),
            items: items.map { .init(key: try! Name($0.key), bytes: $0.value.utf8.count, revision: revisions[$0.key]) },
            majorRevision: majorRevision, lock: lock.map { try! Name($0) }, recordUser: record ? true : nil, recordTime: record ? true : nil
        )
        let body = TextBody.encode(head: request, texts: items.map { Array($0.value.utf8) })
        driver.send(Frame(update ? .updateMetadata : .setMetadata, body: body), from: self.id)
        return id
    }

    /// Sets, and reads the answer: the major revision.
    @discardableResult
    package func set(
        _ owner: String, _ items: [(key: String, value: String)], revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil,
        lock: String? = nil, record: Bool = false, update: Bool = false
    ) -> Outcome {
        outcome(sendSet(owner, items, revisions: revisions, majorRevision: majorRevision, lock: lock, record: record, update: update))
    }

    @discardableResult
    package func remove(
        _ owner: String, _ keys: [String]? = nil, revisions: [String: UInt64] = [:], majorRevision: UInt64? = nil, lock: String? = nil
    ) -> Outcome {
        request(.removeMetadata) { id in
            RemoveMetadataRequest(
                id: id, Self.owner(owner), items: keys?.map { .init(key: try! Name($0), revision: revisions[$0]) },
                majorRevision: majorRevision,
                lock: lock.map { try! Name($0) })
        }
    }

    /// All pages of a set, or of its items behind a key.
    package func metadata(_ owner: String, after start: String? = nil) -> MetadataPicture? {
        var picture = MetadataPicture()
        var after = start.map { try! Name($0) }
        repeat {
            let id = nextRequest()
            driver.send(.json(.getMetadata, GetMetadataRequest(id: id, Self.owner(owner), after: after)), from: self.id)
            var page: MetadataPageHead?
            for frame in frames() {
                guard frame.type == FrameType.metadataPage.rawValue else {
                    others.append(frame)
                    continue
                }
                let (head, values) = Self.text(MetadataPageHead.self, frame)
                page = head
                picture.majorRevision = head.majorRevision
                for (item, value) in zip(head.items, values) {
                    picture.values[item.key.text] = String(decoding: value, as: UTF8.self)
                    picture.revisions[item.key.text] = item.revision
                }
            }
            guard let page else { return nil }
            after = page.next
        } while after != nil
        return picture
    }

    /// Head and values of a frame with texts.
    package static func text<Head: JSONObject>(_ type: Head.Type, _ frame: Frame) -> (Head, [[UInt8]]) {
        frame.body.withUnsafeBytes { body in
            let (head, texts) = try! TextBody.read(body)
            let sizes = try! JSONBody.decode(Sizes.self, from: head, bytesMax: Limits.frameBodyBytesMax)
            return (
                try! JSONBody.decode(type, from: head, bytesMax: Limits.frameBodyBytesMax),
                try! TextBody.cut(texts, sizes.items.map(\.bytes))
            )
        }
    }

    /// Metadata events that have come, in order.
    package func metadataEvents() -> [(head: MetadataEventHead, values: [String])] {
        takeOthers(.metadata).map { frame in
            let (head, values) = Self.text(MetadataEventHead.self, frame)
            return (head, values.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    package func locksEvents() -> [LocksEvent] { takeOthers(.locks).map { Self.decode(LocksEvent.self, $0.body) } }

    // MARK: - Locks

    package static func channel(_ text: String) -> ChannelID {
        guard case .channel(let id) = owner(text) else { preconditionFailure("\(text) is no channel") }
        return id
    }

    @discardableResult
    package func setLock(_ channel: String, _ lock: String, ttlMs: Int? = nil) -> Outcome {
        let id = Self.channel(channel)
        return request(.setLock) { SetLockRequest(id: $0, kind: id.kind, channel: id.channel, lock: try! Name(lock), ttlMs: ttlMs) }
    }

    @discardableResult
    package func acquire(_ channel: String, _ lock: String, waitMs: Int? = nil) -> Outcome {
        outcome(sendAcquire(channel, lock, waitMs: waitMs))
    }

    /// Without reading what comes.
    @discardableResult
    package func sendAcquire(_ channel: String, _ lock: String, waitMs: Int? = nil) -> UInt32 {
        let id = Self.channel(channel), request = nextRequest()
        driver.send(
            .json(.acquireLock, AcquireLockRequest(id: request, kind: id.kind, channel: id.channel, lock: try! Name(lock), waitMs: waitMs)),
            from: self.id)
        return request
    }

    @discardableResult
    package func lock(_ type: FrameType, _ channel: String, _ lock: String, owner: String? = nil, device: String? = nil) -> Outcome {
        let id = Self.channel(channel)
        return request(type) {
            LockRequest(
                id: $0, kind: id.kind, channel: id.channel, lock: try! Name(lock), owner: owner.map { try! Name($0) }, ownerDevice: device)
        }
    }

    package func locks(_ channel: String) -> [LockDetail] {
        let id = Self.channel(channel)
        return answer(LocksAnswer.self, request(.getLocks) { GetLocksRequest(id: $0, kind: id.kind, channel: id.channel) })?.locks ?? []
    }
}
