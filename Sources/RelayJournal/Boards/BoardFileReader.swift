import RelayPrimitives
import RelayStorage

/// Reads a board's file piece by piece: its whole changes, and where it is damaged between them.
struct BoardFileReader {
    /// Changes of one piece, and the bytes that they stand in.
    struct Piece {
        var changes: [PlacedChange] = []
        fileprivate(set) var bytes: [UInt8] = []
        fileprivate var start = 0

        /// A change as it stands in the file, without its record's head.
        func body(of placed: PlacedChange) -> [UInt8] {
            Array(bytes[(placed.place.start - start + BoardFileRecord.headBytes)..<(placed.place.end - start)])
        }
    }

    let file: String
    let board: UInt64
    let end: Int
    private(set) var offset: Int
    private(set) var damage: [Range<Int>] = []
    /// Where what is not sound began, if its end is not found yet.
    private var damageStart: Int?
    /// `nil`: the file's header says it.
    private var mark: UInt32?

    init(file: String, board: UInt64, mark: UInt32?, from start: Int = 0, to end: Int) {
        self.file = file
        self.board = board
        self.mark = mark
        self.end = end
        offset = start
    }

    var isAtEnd: Bool { offset >= end }

    /// - Parameter bytesMax: read at most, or one record if that is longer.
    mutating func step(_ storage: some JournalStorage, bytesMax: Int) throws(StorageError) -> Piece {
        var piece = Piece(start: offset)
        guard !isAtEnd else { return piece }
        piece.bytes = try storage.read(file, at: offset, count: min(bytesMax, end - offset))
        guard !piece.bytes.isEmpty else {
            // Shorter than it was: what is not there is damaged.
            damage.append((damageStart ?? offset)..<end)
            offset = end
            damageStart = nil
            return piece
        }
        var position = offset == 0 ? try readHeader(piece.bytes) : 0
        let mark = mark ?? 0
        while position < piece.bytes.count {
            switch piece.bytes.withUnsafeBytes({ BoardFileRecord.read($0, at: position, mark: mark) }) {
            case .body(let body):
                let decoded = piece.bytes.withUnsafeBytes {
                    StoredChange.decode(UnsafeRawBufferPointer(rebasing: $0[body]), board: board, keepsPayload: false)
                }
                guard let decoded else { fallthrough }
                if let start = damageStart {
                    damage.append(start..<(offset + position))
                    damageStart = nil
                }
                let place = BoardPlace(start: offset + position, count: body.upperBound - position)
                piece.changes.append(PlacedChange(change: decoded.change, payloadBytes: decoded.payloadBytes, place: place))
                position = body.upperBound
            case .damaged:
                // The next one is looked for byte by byte.
                damageStart = damageStart ?? offset + position
                position += 1
                position = piece.bytes[position...].firstIndex(of: UInt8(mark >> 24)) ?? piece.bytes.count
            case .longer(let count) where offset + position + count <= end && offset + piece.bytes.count < end:
                guard position == 0 else {
                    offset += position
                    return piece
                }
                let more = try storage.read(file, at: offset, count: count)
                guard more.count == count else { fallthrough }
                piece.bytes = more
            case .longer:
                damageStart = damageStart ?? offset + position
                position += 1
            }
        }
        offset += position
        if isAtEnd, let start = damageStart {
            damage.append(start..<end)
            damageStart = nil
        }
        return piece
    }

    /// - Returns: where the records begin.
    private mutating func readHeader(_ bytes: [UInt8]) throws(StorageError) -> Int {
        let start = min(BoardFile.headerBytes, bytes.count)
        switch bytes.withUnsafeBytes({ BoardFile.readHeader($0) }) {
        case .sound(let found, let id) where id == board && found == mark ?? found: mark = found
        case .newer(let version):
            let text = "it has format version \(version), this program knows versions up to \(BoardFile.versionSupported)"
            throw StorageError(.read, path: file, code: 0, text: text)
        case .sound, .damaged:
            damageStart = 0
            // The first record still tells it.
            if mark == nil, bytes.count - start >= 4 { mark = bytes.withUnsafeBytes { $0.bigEndian(at: start) } }
        }
        return start
    }
}
