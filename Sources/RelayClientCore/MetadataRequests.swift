import RelayWire

/// What `set` and `update` write. [MD3–MD6]
package struct MetadataWrite: Equatable, Sendable {
    package struct Item: Equatable, Sendable {
        package var key: RemoveMetadataRequest.Item
        package var value: String

        package init(key: RemoveMetadataRequest.Item, value: String) {
            self.key = key
            self.value = value
        }
    }

    package var items: [Item]
    package var mustExist: Bool
    package var majorRevision: UInt64?
    package var lock: Name?
    package var recordsUser: Bool
    package var recordsTime: Bool

    package init(items: [Item], mustExist: Bool, majorRevision: UInt64?, lock: Name?, recordsUser: Bool, recordsTime: Bool) {
        self.items = items
        self.mustExist = mustExist
        self.majorRevision = majorRevision
        self.lock = lock
        self.recordsUser = recordsUser
        self.recordsTime = recordsTime
    }

    /// Keys and values.
    var byteCount: Int { items.reduce(0) { $0 + $1.key.key.text.utf8.count + $1.value.utf8.count } }

    func frame(id: UInt32, _ owner: MetadataOwner) -> Frame {
        Frame(
            mustExist ? .updateMetadata : .setMetadata,
            body: TextBody.encode(head: head(id: id, owner), texts: items.map { Array($0.value.utf8) }))
    }

    private func head(id: UInt32, _ owner: MetadataOwner) -> WriteMetadataRequest {
        WriteMetadataRequest(
            id: id, owner, items: items.map { .init(key: $0.key.key, bytes: $0.value.utf8.count, revision: $0.key.revision) },
            majorRevision: majorRevision, lock: lock, recordUser: recordsUser ? true : nil, recordTime: recordsTime ? true : nil)
    }

    /// A body that is too large for a frame would end the connection.
    ///
    /// - Throws: `tooLarge` with limit and size.
    func check(_ owner: MetadataOwner) throws(RelayError) {
        guard byteCount <= Limits.metadataBytesMax else {
            throw RelayError(
                .tooLarge, "keys and values of a set of metadata have at most \(Limits.metadataBytesMax) bytes, not \(byteCount)",
                limit: Limits.metadataBytesMax, actual: byteCount)
        }
        let bytes = JSONBody.encode(head(id: .max, owner)).count
        guard bytes <= Limits.jsonBodyBytesMax - 2 else {
            throw RelayError(
                .tooLarge,
                "the keys of one change take at most \(Limits.jsonBodyBytesMax - 2) bytes as JSON, these \(bytes): write them in several changes",
                limit: Limits.jsonBodyBytesMax - 2, actual: bytes)
        }
    }
}

/// A lock of a channel.
package struct LockID: Hashable, Comparable, Sendable {
    package var channel: ChannelID
    package var name: Name

    package init(channel: ChannelID, name: Name) {
        self.channel = channel
        self.name = name
    }

    package static func < (left: Self, right: Self) -> Bool { (left.channel, left.name) < (right.channel, right.name) }

    /// - Parameter device: of the owner; `nil`: whichever has it.
    func request(id: UInt32, owner: Name? = nil, device: String? = nil) -> LockRequest {
        LockRequest(id: id, kind: channel.kind, channel: channel.channel, lock: name, owner: owner, ownerDevice: device)
    }
}
