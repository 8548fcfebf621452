import RelayJournal
import RelayStorage

// Data folders. An input is pieces; checksums and marks, which no dice find, are put right unless a piece is to stand as it is.

private let mark: UInt32 = 0xB0A7_D1CE
private let settings = JournalSettings(mark: mark)
private let board: UInt64 = 1

/// A journal: of each piece the kind says to which of three segments, or to the anchor, it is added (bits 0 and 1), and whether that
/// file then stays as it is (bit 7). [SG4]
func journal(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var files: [[UInt8]] = Array(repeating: [], count: 4)
    var isRaw = Array(repeating: false, count: 4)
    var input = Input(bytes)
    while let piece = input.piece() {
        files[Int(piece.kind & 3)] += piece.bytes
        if piece.kind & 0x80 != 0 { isRaw[Int(piece.kind & 3)] = true }
    }
    let folder = MemoryStorage()
    if !files[0].isEmpty { folder.add("journal.anchor", isRaw[0] ? files[0] : files[0].headed("branchor", bytes: 56)) }
    for number in 1...3 where !files[number].isEmpty {
        var segment = files[number]
        if !isRaw[number] {
            segment = segment.headed("brjournl", bytes: 64)
            segment.markRecords(from: 64, headBytes: 22, checkedFrom: 12)
        }
        folder.add("journal-000000000000000\(number).log", segment)
    }
    judge(folder)
    return true
}

/// One board: pieces are records of its file (kind 0), bytes there (1), its next file (2), or entries of the journal: its checkpoint
/// (3), a change (4), what its user has (5).
func boards(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var files = [header]
    var entries: [JournalEntry] = []
    var input = Input(bytes)
    while let piece = input.piece() {
        let last = files.count - 1
        switch piece.kind {
        case 0: files[last] += record(piece.bytes)
        case 1: files[last] += piece.bytes
        case 2: if files.count < 3 { files.append(header) }
        case 3: entries.append(JournalEntry(key: key("B"), value: piece.bytes))
        case 4: entries.append(JournalEntry(key: key("R") + bigEndian(UInt64(entries.count + 1)) + [0, 0], value: piece.bytes))
        case 5: entries.append(JournalEntry(key: Array("Qanna".utf8), value: piece.bytes))
        default: return false
        }
    }
    let folder = MemoryStorage()
    do {
        let (journal, _, _) = try Journal.open(folder, settings)
        for (number, entry) in entries.enumerated() {
            try journal.append([JournalRecord(sequence: UInt64(number + 1), entries: [entry])])
        }
        journal.close()
    } catch {
        fatalError("\(error)")
    }
    for (number, file) in files.enumerated() where file.count > header.count {
        folder.add("board-0000000000000001-0000000\(number + 1).log", file)
    }
    judge(folder)
    return true
}

/// What `repair` writes of a folder is whole, and has what `check` has found, which changes nothing. Then the folder is opened as a relay
/// opens it, or refused, as `check` says; it opens again and has the same.
private func judge(_ folder: MemoryStorage) {
    let salvage = try? Salvage(folder)
    if let salvage { repair(salvage) }
    let opened = open(folder)
    if let opened {
        let again = open(folder)
        must(again?.others == opened.others, "\(opened.others) open again as \(String(describing: again?.others))")
    }
    guard let salvage else { return }
    let refusal = salvage.refusal.map { "\($0)" } ?? "nothing"
    must((salvage.refusal == nil) == (opened != nil), "check finds \(refusal), a start \(opened == nil ? "refuses" : "opens")")
    if let opened { must(salvage.entries == opened.others, "check finds \(salvage.entries), a start \(opened.others)") }
}

private func repair(_ salvage: Salvage) {
    let new = MemoryStorage()
    do {
        let report = try salvage.write(to: new, JournalSettings(mark: 77), start: 0)
        let again = try Salvage(new)
        must(!again.findings.contains(where: \.isWrong), "a folder that was repaired has \(again.findings.filter(\.isWrong))")
        must(again.entries == salvage.entries, "\(salvage.entries) are repaired as \(again.entries)")
        must(open(new)?.boards == report.boards.count, "\(report.boards) are written")
    } catch {
        fatalError("what was found cannot be repaired: \(error)")
    }
}

private struct Opened {
    /// But for boards.
    var others: [JournalEntry]
    var boards: Int
}

/// Opens, recovers and reads all boards, as a start and readers do; `nil`: it is refused.
private func open(_ folder: MemoryStorage) -> Opened? {
    guard let (journal, entries, _) = try? Journal.open(folder, settings) else { return nil }
    let store = BoardStore(journal: journal, storage: folder)
    let recovery = try? store.recover(entries: entries.filter { StoredChange.isBoardEntry($0.key) })
    for (number, board) in (recovery?.boards ?? []).enumerated() {
        store.read(BoardRead(token: UInt64(number), board: board.board, above: 0, bytesMax: 1 << 20, isFresh: false))
    }
    // What is there is read, and later what is old goes.
    for wall in [0, 1 << 50] as [UInt64] { while (try? store.step(wall: wall)) == true {} }
    store.close()
    journal.close()
    return Opened(others: entries.filter { !StoredChange.isBoardEntry($0.key) }, boards: recovery?.boards.count ?? 0)
}

// MARK: - Layouts, as SegmentHeader, JournalAnchor, RecordHead and BoardFile draw them

private let header: [UInt8] = {
    var bytes = Array("brboard\0".utf8) + bigEndian(UInt32(1)) + bigEndian(mark) + bigEndian(board) + bigEndian(UInt32(0))
    bytes += bigEndian(bytes.withUnsafeBytes { CRC32C.of($0) })
    return bytes
}()

private func record(_ body: [UInt8]) -> [UInt8] {
    var bytes = bigEndian(mark) + bigEndian(UInt32(body.count)) + [0, 0, 0, 0] + body
    bytes.markRecords(from: 0, headBytes: 12, checkedFrom: 12)
    return bytes
}

private func key(_ prefix: Character) -> [UInt8] { [prefix.asciiValue!] + bigEndian(board) }

private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

extension MemoryStorage {
    fileprivate func add(_ name: String, _ bytes: [UInt8]) {
        do {
            try create(name)
            try write(bytes, to: name, at: 0)
        } catch {
            fatalError("\(error)")
        }
    }
}

extension [UInt8] {
    /// With magic, version, mark and checksum in the head of a file.
    fileprivate func headed(_ magic: String, bytes: Int) -> [UInt8] {
        guard count >= bytes else { return self }
        var file = self
        file.replaceSubrange(0..<12, with: Array(magic.utf8) + bigEndian(UInt32(1)))
        if bytes == 64 { file.replaceSubrange(12..<16, with: bigEndian(mark)) }
        file.replaceSubrange(bytes - 4..<bytes, with: bigEndian(file[..<(bytes - 4)].withUnsafeBytes { CRC32C.of($0) }))
        return file
    }

    /// Puts the mark and the checksum of records right, as far as their lengths say where they stand.
    fileprivate mutating func markRecords(from start: Int, headBytes: Int, checkedFrom: Int) {
        var offset = start
        while count - offset >= headBytes {
            let length = self[(offset + 4)..<(offset + 8)].reduce(0) { $0 << 8 | Int($1) }
            let end = offset + headBytes + length
            guard end <= count else { return }
            var crc = CRC32C()
            self[(offset + 4)..<(offset + 8)].withUnsafeBytes { crc.update($0) }
            self[(offset + checkedFrom)..<end].withUnsafeBytes { crc.update($0) }
            replaceSubrange(offset..<(offset + 4), with: bigEndian(mark))
            replaceSubrange((offset + 8)..<(offset + 12), with: bigEndian(crc.value))
            offset = end
        }
    }
}
