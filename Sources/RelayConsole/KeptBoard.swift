import BoardFormat
import RelayClient
import RelayClientCore

/// The records of a channel as far as its events have told them: what a reader from the beginning holds.
package struct KeptBoard: Sendable {
    private var records: [String: (offset: UInt64, record: WhiteboardRecord)] = [:]
    private var kept: @Sendable (String) -> Bool
    /// Of keys, custom types and payloads.
    package private(set) var bytes = 0
    /// The highest offset that was told of.
    package private(set) var newest: UInt64 = 0
    package let channel: String

    /// - Parameter keys: which keys are looked at.
    package init(_ channel: String, keys: @escaping @Sendable (String) -> Bool = { _ in true }) {
        self.channel = channel
        kept = keys
    }

    package var count: Int { records.count }
    package var isEmpty: Bool { records.isEmpty }

    /// Which of two boards this is; the order of records does not matter.
    package var digest: BoardDigest { BoardDigest(records.values.lazy.map(\.record)) }

    /// In the order of offsets.
    package var ordered: [WhiteboardRecord] { records.values.sorted { $0.offset < $1.offset }.map(\.record) }

    package mutating func note(_ event: ClientEvent) {
        switch event {
        case .message(let message) where message.channel == channel: note(message)
        case .board(let batch) where batch.channel == channel: for message in batch.messages { note(message) }
        case .cleared(let cleared) where cleared.channel == channel:
            newest = max(newest, cleared.offset)
            removeAll()
        case .messagesMissed(let missed) where missed.channel == channel:
            // All that is kept follows, in another numbering.
            guard case .reset = missed.extent else { return }
            newest = 0
            removeAll()
        case .caughtUp(channel, let head): newest = max(newest, head)
        default: break
        }
    }

    private mutating func note(_ message: Message) {
        newest = max(newest, message.offset)
        guard message.isRetained, let key = message.key, kept(key) else { return }
        remove(key)
        guard !message.isRemoval else { return }
        let record = WhiteboardRecord(key: key, customType: message.customType, payload: WhiteboardRecord.Payload(message.payload))
        records[key] = (message.offset, record)
        bytes += record.bytes
    }

    private mutating func remove(_ key: String) {
        if let old = records.removeValue(forKey: key) { bytes -= old.record.bytes }
    }

    private mutating func removeAll() {
        records = [:]
        bytes = 0
    }
}

extension WhiteboardRecord {
    /// Key, custom type and payload.
    package var bytes: Int { key.utf8.count + (customType?.utf8.count ?? 0) + payload.count }
}

extension WhiteboardRecord.Payload {
    package init(_ payload: RelayPayload) {
        switch payload {
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }

    /// As it is published.
    package var published: RelayPayload {
        switch self {
        case .text(let text): .text(text)
        case .bytes(let bytes): .bytes(bytes)
        }
    }
}

/// What the client library calls `Payload`, where a record's is meant by that name.
package typealias RelayPayload = RelayClientCore.Payload
