import BoardFormat
import RelayClient
import RelayClientCore
import RelayConsole
import RelayIO

/// Writes records to a channel's board, in their order, and waits until each is durable.
struct BoardImport: Sendable {
    /// What became of them.
    struct Outcome: Sendable, Equatable {
        var records = 0
        /// Of the records that are durable: keys, custom types and payloads.
        var bytes = 0
        /// By the code's name.
        var failures: [String: Int] = [:]
        /// The first that failed, in words.
        var firstFailure: String?
        var failed: Int { failures.values.reduce(0, +) }
    }

    /// Payloads that may be under way at once: half of what a relay lets wait for its disk.
    static let bytesUnderWayMax = 8 * 1024 * 1024
    /// Records of one change set, and their bytes.
    static let setRecordsMax = 512
    static let setBytesMax = 1024 * 1024

    let client: WhiteboardClient
    let channel: String
    let outcome = Mutex(Outcome())

    private struct Sent {
        var records: ArraySlice<WhiteboardRecord>
        var receipt: StoredReceipt
        var bytes: Int { records.reduce(0) { $0 + $1.bytes } }
        var comesInParts: Bool { records.contains { BoardImport.isLarge($0) } }
    }

    /// Records go in change sets, each of which the relay takes as a whole; what is too large for that goes in parts.
    func write(_ records: [WhiteboardRecord]) async throws -> Outcome {
        var underWay: [Sent] = []
        var rest = records[...]
        while !rest.isEmpty {
            let set = rest.prefix(Self.nextSet(rest))
            rest = rest.dropFirst(set.count)
            let bytes = set.reduce(0) { $0 + $1.bytes }
            while underWay.reduce(bytes, { $0 + $1.bytes }) > Self.bytesUnderWayMax && !underWay.isEmpty
                || Self.isLarge(set.first!) && underWay.count(where: \.comesInParts) >= ClientLimits.drawingsMax
            {
                try await settle(underWay.removeFirst())
            }
            do {
                let sent = Sent(records: set, receipt: try send(set))
                underWay.append(sent)
                // What comes in parts gives way to what is sent after it: the next one waits, so that the order stays.
                if sent.comesInParts { _ = try? await sent.receipt.accepted }
            } catch {
                for record in set { try failed(record, error) }
            }
        }
        for sent in underWay { try await settle(sent) }
        return outcome.withLock { $0 }
    }

    /// How many of these records go next, together.
    private static func nextSet(_ records: ArraySlice<WhiteboardRecord>) -> Int {
        var (count, bytes) = (0, 0)
        for record in records.prefix(setRecordsMax) {
            bytes += record.bytes
            guard !isLarge(record), bytes <= setBytesMax else { break }
            count += 1
        }
        return max(1, count)
    }

    /// It takes more than one message.
    private static func isLarge(_ record: WhiteboardRecord) -> Bool {
        record.bytes - record.key.utf8.count > BoardLimits.messageBytesMax
    }

    private func send(_ records: ArraySlice<WhiteboardRecord>) throws(RelayError) -> StoredReceipt {
        let first = records[records.startIndex]
        guard !Self.isLarge(first) else {
            return try client.sendLarge(
                first.payload.published, to: channel, customType: first.customType, key: first.key, retain: true)
        }
        return try client.send(
            changes: records.map { RecordChange(key: $0.key, payload: $0.payload.published, customType: $0.customType) }, to: channel)
    }

    private func settle(_ sent: Sent) async throws {
        do throws(RelayError) {
            _ = try await sent.receipt.stored
            outcome.withLock {
                $0.records += sent.records.count
                $0.bytes += sent.bytes
            }
        } catch {
            // One that the relay does not take keeps out the others of its set: they go one by one.
            guard sent.records.count > 1, error.changeIndex != nil else {
                for record in sent.records { try failed(record, error) }
                return
            }
            for record in sent.records {
                let receipt: StoredReceipt
                do throws(RelayError) {
                    receipt = try send([record])
                } catch {
                    try failed(record, error)
                    continue
                }
                try await settle(Sent(records: [record], receipt: receipt))
            }
        }
    }

    /// - Throws: when nothing more can be sent.
    private func failed(_ record: WhiteboardRecord, _ error: RelayError) throws {
        guard !error.isTheEnd else { throw error }
        // `change 1: ` means nothing where one record is named.
        let text = error.changeIndex == nil ? error.text : String(error.text.drop { $0 != ":" }.dropFirst(2))
        outcome.withLock {
            $0.failures[error.name, default: 0] += 1
            $0.firstFailure = $0.firstFailure ?? "\(record.key): \(text) (\(error.name))"
        }
    }
}
