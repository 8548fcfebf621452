import RelayJournal
import RelayPrimitives

/// How far a node's own disk, or what it has counted, has come in the log. The disk keeps it beside the records, in the same record.
package struct LogPlace: Equatable, Sendable {
    package var position: UInt64 = 0
    /// CRC of the newest entry that is no beat.
    package var checksum: UInt32 = 0
    /// The newest start.
    package var start: UInt32 = 0
    /// Of the newest record.
    package var sequence: UInt64 = 0
    /// The disk has the first records of the next entry, too, and lacks others: a crash has cut a batch.
    package var isPartial = false

    /// Before the first entry.
    package init() {}

    /// Of a folder that has served without a log, and of its copies. Who has another folder, or none, cannot follow them: it notices.
    ///
    /// - Parameters:
    ///   - start: its newest start number.
    ///   - sequence: of its newest record.
    package init(start: UInt32, sequence: UInt64) {
        (self.start, self.sequence) = (start, sequence)
        checksum = encoded.withUnsafeBytes { CRC32C.of($0) }
    }

    package static let byteCount = 25
    /// Its key in the journal, which no hub knows and no entry of a log has.
    package static let key = Array("Cplace".utf8)
    /// Positions and sequences are below this, so that none overflows.
    static let numberMax: UInt64 = 1 << 53

    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: position)
        bytes.append(bigEndian: checksum)
        bytes.append(bigEndian: start)
        bytes.append(bigEndian: sequence)
        bytes.append(isPartial ? 1 : 0)
        return bytes
    }

    /// `nil` for what is no place.
    package init?(encoded bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init()
        (position, checksum, start, sequence) = bytes.withUnsafeBytes {
            ($0.bigEndian(at: 0), $0.bigEndian(at: 8), $0.bigEndian(at: 12), $0.bigEndian(at: 16))
        }
        isPartial = bytes[24] == 1
        guard position < Self.numberMax, sequence < Self.numberMax, bytes[24] <= 1 else { return nil }
    }
}
