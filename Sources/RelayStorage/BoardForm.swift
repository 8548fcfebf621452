import RelayPrimitives

// What stands of boards in the journal, as keys and values. A key begins with what it is:
//
//     R board u64, sequence u64, index u16  a change that no checkpoint covers: the sequence of its journal record, its place in it
//     B board u64                           the checkpoint of a board (BoardCheckpoint)
//     Q user                                version u8 (2) · u64, bytes of all live records of the user
//
// A change, here and as the body of a record in a board's file. Big-endian.
//
//     0          1       2          10        14              18                 26           34         42       50           58
// version u8 kind u8 offset u64 start u32 incarnation u32 last unretained u64 instance u64 number u64 wall u64 sequence u64 n u8,
// author
//
// and then by kind:
//
//     1 create   the name
//     2 put      flags u8 (1 text, 2 custom type, 4 upload, 8 extensions) · n u8, key · [n u8, custom type] ·
//                [upload u64 · parts u16] · [n u16, extensions] · payload
//     3 remove   the key
//     4 part     upload u64 · number u16 · payload
//     5 clear
//     6 undo     clear u64 · count u64
//     7 drop

package enum BoardForm {
    package static let version: UInt8 = 2
    package static let change = UInt8(ascii: "R")
    package static let checkpoint = UInt8(ascii: "B")
    package static let user = UInt8(ascii: "Q")
    /// Of a change's offset: what is copied with another one is patched there.
    package static let offsetPosition = 2
    /// The same of its publisher: one that an undo has brought back is spared nobody.
    package static let instancePosition = 26

    package static func checkpointKey(_ board: UInt64) -> [UInt8] { key(checkpoint, board) }
    package static func userKey(_ user: [UInt8]) -> [UInt8] { [Self.user] + user }

    package static func key(_ prefix: UInt8, _ board: UInt64) -> [UInt8] {
        var key = [prefix]
        key.append(bigEndian: board)
        return key
    }

    package static func userValue(_ bytes: Int) -> [UInt8] {
        var value = [version]
        value.append(bigEndian: UInt64(bytes))
        return value
    }

    package static func userBytes(_ value: [UInt8]) -> Int? {
        value.withUnsafeBytes { bytes in
            var reader = FieldReader(bytes)
            guard reader.integer(UInt8.self) == version, let sum = reader.number(), reader.isAtEnd else { return nil }
            return Int(sum)
        }
    }
}

extension StoredChange {
    /// Whether an entry of the journal belongs to the board store.
    package static func isBoardEntry(_ key: [UInt8]) -> Bool {
        key.first == BoardForm.change || key.first == BoardForm.checkpoint || key.first == BoardForm.user
    }

    /// The entry that makes this change durable.
    ///
    /// - Parameters:
    ///   - sequence: of the record that it stands in.
    ///   - index: of this entry among the record's, 0…65,535.
    ///   - payload: of the `part` or the `put` without parts, whose own is empty: it is copied once, into the entry. Others have none.
    package func entry(sequence: UInt64, index: Int, payload: UnsafeRawBufferPointer? = nil) -> JournalEntry {
        var key = BoardForm.key(BoardForm.change, board)
        key.append(bigEndian: sequence)
        key.append(bigEndian: UInt16(index))
        var change = self
        change.sequence = sequence
        return JournalEntry(key: key, value: change.encoded(kind.takesPayload ? payload : nil))
    }

    package func entry(sequence: UInt64, index: Int, payload: ArraySlice<UInt8>) -> JournalEntry {
        payload.withUnsafeBytes { entry(sequence: sequence, index: index, payload: $0) }
    }

    /// - Returns: `nil` when the entry is no change that this version writes.
    package init?(key: [UInt8], value: [UInt8]) {
        guard let board = Self.board(key), let decoded = value.withUnsafeBytes({ Self.decode($0, board: board) }) else { return nil }
        self = decoded.change
    }

    /// The board that the key of a change names.
    package static func board(_ key: [UInt8]) -> UInt64? {
        guard key.count == 19, key[0] == BoardForm.change else { return nil }
        return key.withUnsafeBytes { $0.bigEndian(at: 1) }
    }

    package func encoded(_ payload: UnsafeRawBufferPointer? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        // Grown step by step, a large value would be copied again.
        bytes.reserveCapacity(59 + author.count + kind.byteCount + (payload?.count ?? 0))
        bytes += [BoardForm.version, kind.code]
        bytes.append(bigEndian: offset)
        bytes.append(bigEndian: epoch.start)
        bytes.append(bigEndian: epoch.incarnation)
        for field in [lastUnretained, instance, number, wallMilliseconds, sequence] { bytes.append(bigEndian: field) }
        bytes.append(short: author)
        switch kind {
        case .create(let name): bytes += name
        case .put(let put): put.encode(to: &bytes)
        case .remove(let key): bytes += key
        case .part(let upload, let number, let payload):
            bytes.append(bigEndian: upload)
            bytes.append(bigEndian: number)
            bytes += payload
        case .undo(let clear, let count):
            bytes.append(bigEndian: clear)
            bytes.append(bigEndian: count)
        case .clear, .drop: break
        }
        if let payload { bytes += payload }
        return bytes
    }

    /// - Parameter keepsPayload: the payload is in the change, and not only counted.
    package static func decode(_ bytes: UnsafeRawBufferPointer, board: UInt64, keepsPayload: Bool = true) -> (
        change: StoredChange, payloadBytes: Int
    )? {
        var reader = FieldReader(bytes)
        guard reader.integer(UInt8.self) == BoardForm.version, let code = reader.integer(UInt8.self),
            let offset = reader.number(), let start = reader.integer(UInt32.self), let incarnation = reader.integer(UInt32.self),
            let lastUnretained = reader.number(), let instance = reader.integer(UInt64.self), let number = reader.number(),
            let wall = reader.number(), let sequence = reader.number(),
            let author = reader.short(),
            let (kind, payloadBytes) = Kind.decode(code, &reader, keepsPayload), reader.isAtEnd
        else { return nil }
        var change = StoredChange(
            board: board, offset: offset, epoch: BoardEpoch.ID(start: start, incarnation: incarnation), lastUnretained: lastUnretained,
            author: author, instance: instance, number: number, wallMilliseconds: wall, kind: kind)
        change.sequence = sequence
        return (change, payloadBytes)
    }
}

extension StoredChange.Kind {
    fileprivate var takesPayload: Bool {
        switch self {
        case .put(let put): put.upload == nil
        case .part: true
        case .create, .remove, .clear, .undo, .drop: false
        }
    }

    /// At most so many bytes stand behind the author.
    fileprivate var byteCount: Int {
        switch self {
        case .create(let name): name.count
        case .put(let put): 13 + put.key.count + (put.customType?.count ?? 0) + put.extensions.count + put.payload.count
        case .remove(let key): key.count
        case .part(_, _, let payload): 10 + payload.count
        case .clear, .undo, .drop: 16
        }
    }

    fileprivate var code: UInt8 {
        switch self {
        case .create: 1
        case .put: 2
        case .remove: 3
        case .part: 4
        case .clear: 5
        case .undo: 6
        case .drop: 7
        }
    }

    fileprivate static func decode(_ code: UInt8, _ reader: inout FieldReader, _ keepsPayload: Bool) -> (Self, Int)? {
        switch code {
        case 1: return (.create(name: reader.rest()), 0)
        case 2:
            guard var put = BoardPut(&reader) else { return nil }
            let count = reader.left
            if keepsPayload { put.payload = reader.rest() } else { reader.skipRest() }
            return (.put(put), count)
        case 3: return reader.left <= UInt8.max ? (.remove(key: reader.rest()), 0) : nil
        case 4:
            guard let upload = reader.integer(UInt64.self), let number = reader.integer(UInt16.self) else { return nil }
            let count = reader.left
            if !keepsPayload { reader.skipRest() }
            return (.part(upload: upload, number: number, payload: reader.rest()), count)
        case 5: return (.clear, 0)
        case 6:
            guard let clear = reader.number(), let count = reader.number() else { return nil }
            return (.undo(clear: clear, count: count), 0)
        case 7: return (.drop, 0)
        default: return nil
        }
    }
}

extension BoardPut {
    private static let textFlag: UInt8 = 1, customTypeFlag: UInt8 = 2, uploadFlag: UInt8 = 4, extensionsFlag: UInt8 = 8

    fileprivate func encode(to bytes: inout [UInt8]) {
        bytes.append(
            (isText ? Self.textFlag : 0) | (customType == nil ? 0 : Self.customTypeFlag) | (upload == nil ? 0 : Self.uploadFlag)
                | (extensions.isEmpty ? 0 : Self.extensionsFlag))
        bytes.append(short: key)
        if let customType { bytes.append(short: customType) }
        if let upload {
            bytes.append(bigEndian: upload)
            bytes.append(bigEndian: parts)
        }
        bytes += extensions
        bytes += payload
    }

    /// All but the payload.
    fileprivate init?(_ reader: inout FieldReader) {
        let known = Self.textFlag | Self.customTypeFlag | Self.uploadFlag | Self.extensionsFlag
        guard let flags = reader.integer(UInt8.self), flags & ~known == 0, let key = reader.short()
        else { return nil }
        self.init(key: key, isText: flags & Self.textFlag != 0, customType: nil, payload: [])
        if flags & Self.customTypeFlag != 0 {
            guard let type = reader.short() else { return nil }
            customType = type
        }
        if flags & Self.uploadFlag != 0 {
            guard let upload = reader.integer(UInt64.self), let parts = reader.integer(UInt16.self), parts > 0 else { return nil }
            self.upload = upload
            self.parts = parts
        }
        if flags & Self.extensionsFlag != 0 {
            guard let count = reader.integer(UInt16.self), let entries = reader.bytes(Int(count)) else { return nil }
            extensions.append(bigEndian: count)
            extensions += entries
        }
    }
}
