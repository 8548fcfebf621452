import RelayPrimitives
import RelayStorage

/// What the journal says of a board as far as its file is synced: the value of its `B` key. Big-endian.
///
///     0          1              5          13
///     version u8 generation u32 length u64 head, last unretained, marker floor, records, bytes, wall: u64 each
///     61 clear u8 (1: offset u64 · wall u64 · records u64) · n u16, name · n u8 epochs: start u32, incarnation u32, last u64
struct BoardCheckpoint: Equatable {
    var summary: BoardSummary
    var generation: UInt32
    /// Of the file: what stands behind it is in the journal, or nowhere.
    var length: Int

    func encoded() -> [UInt8] {
        var bytes = [BoardForm.version]
        bytes.append(bigEndian: generation)
        bytes.append(bigEndian: UInt64(length))
        let counts = [UInt64(summary.records), UInt64(summary.bytes)]
        for field in [summary.head, summary.lastUnretained, summary.markerFloor] + counts + [summary.wallMilliseconds] {
            bytes.append(bigEndian: field)
        }
        bytes.append(summary.clear == nil ? 0 : 1)
        if let clear = summary.clear {
            for field in [clear.offset, clear.wallMilliseconds, clear.records] { bytes.append(bigEndian: field) }
        }
        bytes.append(bigEndian: UInt16(summary.name.count))
        bytes += summary.name
        bytes.append(UInt8(summary.epochs.count))
        for epoch in summary.epochs {
            bytes.append(bigEndian: epoch.id.start)
            bytes.append(bigEndian: epoch.id.incarnation)
            bytes.append(bigEndian: epoch.last)
        }
        return bytes
    }

    init(summary: BoardSummary, generation: UInt32, length: Int) {
        self.summary = summary
        self.generation = generation
        self.length = length
    }

    /// - Returns: `nil` when this version has not written it.
    init?(key: [UInt8], value: [UInt8]) {
        guard key.count == 9, let read = value.withUnsafeBytes({ Self.read($0, board: key.withUnsafeBytes { $0.bigEndian(at: 1) }) }) else {
            return nil
        }
        self = read
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, board: UInt64) -> BoardCheckpoint? {
        var reader = FieldReader(bytes)
        guard reader.integer(UInt8.self) == BoardForm.version, let generation = reader.integer(UInt32.self),
            generation <= BoardFile.generationMax, let length = reader.number(), let head = reader.number(),
            let lastUnretained = reader.number(), let floor = reader.number(), let records = reader.number(), let sum = reader.number(),
            let wall = reader.number(), let hasClear = reader.integer(UInt8.self)
        else { return nil }
        var clear: BoardSummary.Clear?
        if hasClear == 1 {
            guard let offset = reader.number(), let wall = reader.number(), let records = reader.number() else { return nil }
            clear = BoardSummary.Clear(offset: offset, wallMilliseconds: wall, records: records)
        }
        guard let nameBytes = reader.integer(UInt16.self), let name = reader.bytes(Int(nameBytes)), let epochs = reader.integer(UInt8.self)
        else { return nil }
        var summary = BoardSummary(board: board, name: name)
        for _ in 0..<epochs {
            guard let start = reader.integer(UInt32.self), let incarnation = reader.integer(UInt32.self),
                let last = reader.number()
            else { return nil }
            summary.epochs.append(BoardEpoch(id: BoardEpoch.ID(start: start, incarnation: incarnation), last: last))
        }
        guard reader.isAtEnd else { return nil }
        summary.head = head
        summary.lastUnretained = lastUnretained
        summary.markerFloor = floor
        summary.records = Int(records)
        summary.bytes = Int(sum)
        summary.wallMilliseconds = wall
        summary.clear = clear
        return BoardCheckpoint(summary: summary, generation: generation, length: Int(length))
    }
}
