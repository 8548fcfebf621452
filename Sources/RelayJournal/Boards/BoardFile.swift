import RelayPrimitives
import RelayStorage

/// The file of a board. Big-endian.
///
///     0         8           12       16        24    28
///     magic u64 version u32 mark u32 board u64 0 u32 CRC-32C u32
///
/// and then records, one behind the other:
///
///     0        4          8           12
///     mark u32 length u32 CRC-32C u32 body, `length` bytes: a change (BoardForm)
///
/// The CRC of a record covers its length and body, that of the header its first 28 bytes. The file's contents are what its
/// changes make of an empty board, in their order; how far it counts stands in the journal (BoardCheckpoint).
/// The mark is the journal's, which nobody is told: by it a reader finds the next sound record behind a damaged one.
enum BoardFile {
    static let headerBytes = 32
    static let versionSupported: UInt32 = 1
    /// Of a file that is read; the next ones have higher numbers.
    static let generationMax = UInt32.max / 2
    /// "brboard\0"
    private static let magic: UInt64 = 0x6272_626F_6172_6400

    enum Header: Equatable { case sound(mark: UInt32, board: UInt64), newer(UInt32), damaged }

    static func header(mark: UInt32, board: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerBytes)
        bytes.append(bigEndian: magic)
        bytes.append(bigEndian: versionSupported)
        bytes.append(bigEndian: mark)
        bytes.append(bigEndian: board)
        bytes.append(bigEndian: UInt32(0))
        let crc = bytes.withUnsafeBytes { CRC32C.of($0) }
        bytes.append(bigEndian: crc)
        return bytes
    }

    static func readHeader(_ bytes: UnsafeRawBufferPointer) -> Header {
        guard bytes.count >= headerBytes, bytes.bigEndian(at: 0) == magic else { return .damaged }
        guard bytes.bigEndian(at: 28) == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<28])) else { return .damaged }
        let version: UInt32 = bytes.bigEndian(at: 8)
        guard version <= versionSupported else { return .newer(version) }
        return .sound(mark: bytes.bigEndian(at: 12), board: bytes.bigEndian(at: 16))
    }

    // MARK: - Names

    static func name(_ board: UInt64, _ generation: UInt32) -> String {
        "board-\(hexadecimal(board))-\(hexadecimal(generation)).log"
    }

    /// Board and generation in a file's name; `nil` for every other name.
    static func parse(_ name: String) -> (board: UInt64, generation: UInt32)? {
        let text = name.utf8
        guard text.count == 35, let board = UInt64(Substring(text.dropFirst(6).prefix(16)), radix: 16),
            let generation = UInt32(Substring(text.dropFirst(23).prefix(8)), radix: 16), generation <= generationMax,
            self.name(board, generation) == name
        else { return nil }
        return (board, generation)
    }

    static func quarantine(_ file: String, at offset: Int) -> String { "quarantine-\(file)-\(offset).bin" }
}

/// A record of a board's file.
enum BoardFileRecord {
    static let headBytes = 12

    static func append(_ body: [UInt8], mark: UInt32, to pieces: inout Pieces) {
        var head: [UInt8] = [], crc = CRC32C()
        head.reserveCapacity(headBytes)
        head.append(bigEndian: mark)
        head.append(bigEndian: UInt32(body.count))
        head[4...].withUnsafeBytes { crc.update($0) }
        body.withUnsafeBytes { crc.update($0) }
        head.append(bigEndian: crc.value)
        pieces.append(head)
        pieces.append(body)
    }

    enum Reading {
        case body(Range<Int>)
        /// It says that it has so many bytes, head included, and they are not all there.
        case longer(Int)
        case damaged
    }

    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int, mark: UInt32) -> Reading {
        guard bytes.count - offset >= headBytes else { return .longer(headBytes) }
        guard bytes.bigEndian(at: offset) == mark else { return .damaged }
        let count = Int(bytes.bigEndian(at: offset + 4, as: UInt32.self))
        guard count <= RecordHead.valueBytesMax else { return .damaged }
        let end = offset + headBytes + count
        guard end <= bytes.count else { return .longer(headBytes + count) }
        let record = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
        guard checksum(record) == bytes.bigEndian(at: offset + 8) else { return .damaged }
        return .body((offset + headBytes)..<end)
    }

    private static func checksum(_ record: UnsafeRawBufferPointer) -> UInt32 {
        var crc = CRC32C()
        crc.update(UnsafeRawBufferPointer(rebasing: record[4..<8]))
        crc.update(UnsafeRawBufferPointer(rebasing: record[headBytes...]))
        return crc.value
    }
}

/// Where a record stands in a board's file.
struct BoardPlace: Hashable {
    var start: Int
    var count: Int
    var end: Int { start + count }
}

/// A change in a board's file, without its payload.
struct PlacedChange {
    var change: StoredChange
    var payloadBytes: Int
    var place: BoardPlace
}
