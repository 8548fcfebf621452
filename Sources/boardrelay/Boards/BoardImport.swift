import BoardFormat
import RelayClient
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
    static let recordsUnderWayMax = 128

    let client: RelayClient
    let channel: String
    let outcome = Mutex(Outcome())

    func write(_ records: [BoardRecord]) async throws -> Outcome {
        var underWay: [(record: BoardRecord, receipt: StoredReceipt)] = []
        var first = 0
        var bytes = 0
        for record in records {
            while underWay.count - first >= Self.recordsUnderWayMax || bytes + record.bytes > Self.bytesUnderWayMax, first < underWay.count
            {
                bytes -= underWay[first].record.bytes
                try await settle(underWay[first].record, underWay[first].receipt)
                first += 1
            }
            if first > Self.recordsUnderWayMax {
                underWay.removeSubrange(..<first)
                first = 0
            }
            do {
                let receipt = try client.sendLarge(
                    record.payload.published, to: channel, customType: record.customType, key: record.key, retain: true)
                underWay.append((record, receipt))
                bytes += record.bytes
                // What comes in parts gives way to what is sent after it: the next one waits, so that the order stays.
                if record.bytes - record.key.utf8.count > BoardLimits.messageBytesMax { _ = try? await receipt.accepted }
            } catch {
                try failed(record, error)
            }
        }
        for (record, receipt) in underWay[first...] { try await settle(record, receipt) }
        return outcome.withLock { $0 }
    }

    private func settle(_ record: BoardRecord, _ receipt: StoredReceipt) async throws {
        do throws(RelayError) {
            _ = try await receipt.stored
            outcome.withLock {
                $0.records += 1
                $0.bytes += record.bytes
            }
        } catch {
            try failed(record, error)
        }
    }

    /// - Throws: when nothing more can be sent.
    private func failed(_ record: BoardRecord, _ error: RelayError) throws {
        guard error.code != .clientClosed else { throw error }
        outcome.withLock {
            $0.failures[error.name, default: 0] += 1
            $0.firstFailure = $0.firstFailure ?? "\(record.key): \(error.text) (\(error.name))"
        }
    }
}
