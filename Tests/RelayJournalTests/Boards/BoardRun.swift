import RelayJournal
import RelayStorage
import RelayPrimitives
import RelayTestKit
import RelayTesting

/// A board store that is used at random, and a model of what it holds.
final class BoardRun<Storage: JournalStorage> {
    static var users: [[UInt8]] { ["ann", "bob", "cid"].map { Array($0.utf8) } }

    var dice: SplitMix64
    let settings: BoardSettings
    let journalSettings: JournalSettings
    private(set) var storage: Storage
    private(set) var journal: Journal
    private(set) var store: BoardStore
    /// Told durable.
    private(set) var model = BoardsModel()
    /// Being made durable: after a crash any number of them is there, from the first on.
    private(set) var pending: [JournalRecord] = []
    private(set) var wall: UInt64 = 1_000_000

    private var sequence: UInt64 = 0
    private var nextBoard: UInt64 = 1
    private var nextUpload: UInt64 = 1
    private var heads: [UInt64: UInt64] = [:]
    private var uploads: [(board: UInt64, upload: UInt64, parts: UInt16, wall: UInt64)] = []
    private var copies: [UInt64: BoardCopy] = [:]
    /// As the store has told.
    private var summaries: [UInt64: BoardSummary] = [:]
    private var userBytes: [[UInt8]: Int] = [:]
    private(set) var compactions = 0
    private(set) var belowFloor = 0
    private(set) var kinds: [String: Int] = [:]
    var boardsMax = 3
    var dropsOneIn = 3
    /// The disk does not always work.
    var hasFaults = false
    var payloadMax = 120

    init(_ storage: Storage, seed: UInt64, _ settings: BoardSettings = .small, segmentBytes: Int = 8192) throws {
        self.storage = storage
        self.settings = settings
        dice = SplitMix64(seed: seed)
        var journalSettings = JournalSettings(mark: 0xA1B2_C3D4)
        journalSettings.segmentBytes = segmentBytes
        self.journalSettings = journalSettings
        let opened = try Journal.open(storage, journalSettings)
        journal = opened.journal
        store = BoardStore(journal: journal, storage: storage, settings: settings)
        try recover(opened.entries, lastSequence: opened.report.lastSequence)
    }

    // MARK: - Doing

    /// A batch of changes, durable and applied.
    func act() throws {
        wall += UInt64.random(in: 0...4000, using: &dice)
        let before = (heads, sequence)
        let records = (0..<Int.random(in: 1...3, using: &dice)).map { _ in record() }
        pending = records
        do throws(JournalError) {
            try journal.append(records)
        } catch {
            heads = before.0
            uploads = []
            throw error
        }
        for record in records { model.apply(record) }
        pending = []
        try store.apply(records)
    }

    func step(_ count: Int = 1) throws {
        for _ in 0..<count { guard try store.step(wall: wall) else { break } }
        for _ in 0..<count { guard try journal.compactStep(bytesMax: 1000) else { break } }
    }

    func wait(_ milliseconds: UInt64) { wall += milliseconds }

    /// What the writer does after a failure.
    func recoverFromFailure() throws {
        try journal.recoverFromFailure()
        pending = []
        try store.retry()
    }

    func restart(_ storage: Storage) throws {
        compactions += store.counters.compactions
        self.storage = storage
        let opened = try Journal.open(storage, journalSettings)
        journal = opened.journal
        guard opened.report.damage.isEmpty else { throw Broken("taken for damage: \(opened.report.lines)") }
        store = BoardStore(journal: journal, storage: storage, settings: settings)
        try recover(opened.entries, lastSequence: opened.report.lastSequence)
    }

    /// The same on what a crash has left, while this one goes on.
    func copy(on storage: SimulatedStorage) throws -> BoardRun<SimulatedStorage> {
        let run = try BoardRun<SimulatedStorage>(
            copying: model, pending, on: storage, settings, journalSettings, wall: wall, sequence: sequence)
        run.nextBoard = nextBoard
        run.nextUpload = nextUpload
        return run
    }

    private init(
        copying model: BoardsModel, _ pending: [JournalRecord], on storage: Storage, _ settings: BoardSettings,
        _ journalSettings: JournalSettings,
        wall: UInt64, sequence: UInt64
    ) throws {
        self.model = model
        self.pending = pending
        self.storage = storage
        self.settings = settings
        self.journalSettings = journalSettings
        self.wall = wall
        self.sequence = sequence
        dice = SplitMix64(seed: sequence)
        let opened = try Journal.open(storage, journalSettings)
        journal = opened.journal
        guard opened.report.damage.isEmpty else { throw Broken("taken for damage: \(opened.report.lines)") }
        store = BoardStore(journal: journal, storage: storage, settings: settings)
        try recover(opened.entries, lastSequence: opened.report.lastSequence)
    }

    func close() {
        store.close()
        journal.close()
    }

    private func recover(_ entries: [JournalEntry], lastSequence: UInt64) throws {
        for record in pending where record.sequence <= lastSequence { model.apply(record) }
        pending = []
        uploads = []
        let found = try store.recover(entries: entries.filter { StoredChange.isBoardEntry($0.key) })
        guard found.lines.isEmpty else { throw Broken("taken for damage: \(found.lines)") }
        summaries = Dictionary(uniqueKeysWithValues: found.boards.map { ($0.board, $0) })
        userBytes = found.userBytes
        heads = model.boards.mapValues(\.head)
    }

    // MARK: - Changes

    private func record() -> JournalRecord {
        sequence += 1
        var changes: [StoredChange] = []
        for _ in 0..<Int.random(in: 1...4, using: &dice) { changes += self.changes() }
        for change in changes { kinds[String("\(change.kind)".prefix { $0 != "(" }), default: 0] += 1 }
        return JournalRecord(sequence: sequence, entries: changes.enumerated().map { $1.entry(sequence: sequence, index: $0) })
    }

    private func change(_ board: UInt64, _ kind: StoredChange.Kind, steps: UInt64? = 1) -> StoredChange {
        var change = StoredChange(
            board: board, epoch: BoardEpoch.ID(start: 1, incarnation: 2), author: Self.users.randomElement(using: &dice) ?? [],
            instance: dice.next() >> 40, number: 3, wallMilliseconds: wall, kind: kind)
        if let steps {
            heads[board, default: 0] += steps + UInt64.random(in: 0...2, using: &dice)
            change.offset = heads[board] ?? 0
        }
        return change
    }

    private func changes() -> [StoredChange] {
        let boards = heads.keys.sorted()
        guard let board = boards.randomElement(using: &dice), boards.count == boardsMax || !dice.chance(1, in: 8) else {
            defer { nextBoard += 1 }
            heads[nextBoard] = 0
            return [change(nextBoard, .create(name: Array("board \(nextBoard)".utf8)), steps: nil)]
        }
        let key = Array("k\(Int.random(in: 0..<14, using: &dice))".utf8)
        switch Int.random(in: 0..<60, using: &dice) {
        case 0 where boards.count > 1 && dice.chance(1, in: dropsOneIn):
            heads[board] = nil
            uploads.removeAll { $0.board == board }
            return [change(board, .drop, steps: nil)]
        case 1: return [change(board, .clear)]
        case 2...5: return undo(board)
        case 6...18: return [change(board, .remove(key: key))]
        case 19...22: return stage(board)
        case 23...28:
            guard let index = uploads.indices.randomElement(using: &dice) else { return [] }
            let upload = uploads.remove(at: index)
            guard upload.wall + 30_000 > wall else { return [] }
            let put = BoardPut(
                key: key, isText: false, customType: nil, extensions: extensions(), payload: [], upload: upload.upload, parts: upload.parts)
            return [change(upload.board, .put(put))]
        default:
            let type = dice.chance(1, in: 3) ? Array("type".utf8) : nil
            let isText = dice.chance(1, in: 2)
            return [
                change(board, .put(BoardPut(key: key, isText: isText, customType: type, extensions: extensions(), payload: bytes())))
            ]
        }
    }

    private func extensions() -> [UInt8] { dice.chance(1, in: 5) ? [0, 5, 0, 7, 0, 1, UInt8.random(in: 0...255, using: &dice)] : [] }

    private func bytes() -> [UInt8] {
        let stamp = dice.next()
        return (0..<Int.random(in: 1...payloadMax, using: &dice)).map { UInt8(truncatingIfNeeded: stamp >> UInt64($0 & 7 * 8)) }
    }

    /// Of the state that the journal has told durable; what else is in this batch must not matter to it.
    private func undo(_ board: UInt64) -> [StoredChange] {
        guard let known = model.boards[board], heads[board] == known.head, let cleared = known.cleared,
            wall <= cleared.wall + settings.undoMilliseconds
        else { return [] }
        let count = UInt64(cleared.records.count)
        return [change(board, .undo(clear: cleared.offset, count: count), steps: count + 1)]
    }

    private func stage(_ board: UInt64) -> [StoredChange] {
        let parts = UInt16.random(in: 2...5, using: &dice)
        defer { nextUpload += 1 }
        uploads.append((board, nextUpload, parts, wall))
        return (1...parts).map { change(board, .part(upload: nextUpload, number: $0, payload: bytes()), steps: nil) }
    }

    // MARK: - Looking

    /// One answer, however many steps it takes.
    func block(_ read: BoardRead) throws -> BoardBlock {
        store.read(read)
        for _ in 0..<10_000 {
            if let block = store.takeBlocks().first { return block }
            _ = try store.step(wall: wall)
        }
        throw Broken("no answer to \(read)")
    }

    /// A client reads some more.
    func follow(blocks: Int) throws {
        guard let board = model.boards.keys.sorted().randomElement(using: &dice) else { return }
        for _ in 0..<blocks { guard try follow(board) else { return } }
    }

    /// - Returns: whether there may be more.
    private func follow(_ board: UInt64) throws -> Bool {
        var copy = copies[board] ?? BoardCopy()
        defer { copies[board] = copy }
        let block = try block(copy.next(board, bytesMax: [1, 100, 400, 100_000].randomElement(using: &dice) ?? 1))
        switch block.outcome {
        case .read: try copy.take(block)
        case .belowFloor:
            belowFloor += 1
            copy.begin()
        case .gone, .failed: throw Broken("board \(board): \(block.outcome)")
        }
        return copy.above < summaries[board]?.head ?? model.boards[board]?.head ?? 0 || block.outcome == .belowFloor
    }

    func noteReport() {
        let report = store.takeReport()
        for summary in report.boards { summaries[summary.board] = summary }
        for board in report.dropped {
            summaries[board] = nil
            copies[board] = nil
        }
        for (user, bytes) in report.userBytes { userBytes[user] = bytes == 0 ? nil : bytes }
    }

    /// Everything that was told durable is there, and nothing else.
    func verify() throws {
        for _ in 0..<10_000 { guard try store.step(wall: wall) else { break } }
        noteReport()
        guard userBytes == model.userBytes else { throw Broken("sums of users \(userBytes), expected \(model.userBytes)") }
        guard Set(summaries.keys) == Set(model.boards.keys) else {
            throw Broken("boards \(summaries.keys.sorted()), expected \(model.boards.keys.sorted())")
        }
        for (id, board) in model.boards.sorted(by: { $0.key < $1.key }) {
            guard let summary = summaries[id], summary.records == board.live.count, summary.bytes == board.bytes, summary.head == board.head
            else {
                throw Broken(
                    "\(String(describing: summaries[id])), expected \(board.live.count) records, \(board.bytes) bytes, head \(board.head)")
            }
            guard summary.name == Array("board \(id)".utf8) else { throw Broken("board \(id) has another name") }
            try verifyFresh(id, board)
            try verifyAuthors(id, board)
            while try follow(id) {}
            let copy = copies[id]?.records.mapValues { $0.offset } ?? [:]
            guard copy == board.live.mapValues(\.offset),
                copies[id]?.records.allSatisfy({ board.live[$0.key]?.payload == $0.value.payload }) == true
            else { throw Broken("board \(id): a client has \(copy.count) records, expected \(board.live.count)") }
        }
        let lines = store.takeLines()
        guard lines.allSatisfy({ hasFaults && $0.hasPrefix("no compaction") }) else { throw Broken("lines \(lines)") }
    }

    /// Unless the disk is about to fail.
    func verifyIfQuiet() throws {
        guard let storage = storage as? SimulatedStorage, storage.faults.isEmpty, storage.capacity == .max else { return }
        try verify()
    }

    /// Of all keys at once, and of one.
    private func verifyAuthors(_ id: UInt64, _ board: BoardsModel.Model) throws {
        let keys = board.live.keys.sorted { $0.lexicographicallyPrecedes($1) } + [Array("none".utf8)]
        let key = keys[Int.random(in: 0..<keys.count, using: &dice)]
        for keysMax in [board.live.count, board.live.count - 1] {
            store.readAuthors(BoardAuthorsRead(token: 7, board: id, keys: [key], keysMax: keysMax))
            while try store.step(wall: wall) {}
            guard let answer = store.takeAuthors().first, answer.token == 7, answer.through == board.head else {
                throw Broken("board \(id): no authors")
            }
            switch answer.outcome {
            case .all(let table):
                guard keysMax == board.live.count, table.count == board.live.count, keys.allSatisfy({ table[$0] == board.live[$0]?.author })
                else {
                    throw Broken("board \(id): other authors")
                }
            case .each(let authors):
                guard keysMax < board.live.count, authors == [board.live[key]?.author] else {
                    throw Broken("board \(id): another author of \(key)")
                }
            case .gone, .failed: throw Broken("board \(id): \(answer.outcome)")
            }
        }
    }

    private func verifyFresh(_ id: UInt64, _ board: BoardsModel.Model) throws {
        var items: [BoardBlock.Item] = []
        var read = BoardRead(token: 1, board: id, above: 0, bytesMax: Int.random(in: 1...600, using: &dice), isFresh: true)
        var known: [UInt64: UInt16] = [:]
        repeat {
            read.partsKnown = known[read.above + 1] ?? 0
            let block = try block(read)
            guard block.outcome == .read else { throw Broken("board \(id): \(block.outcome)") }
            items += block.items
            for item in block.items { if case .record(_, let part, _) = item.content { known[item.offset] = part } }
            guard !block.items.isEmpty || block.through == board.head else { throw Broken("board \(id): nothing above \(read.above)") }
            read.above = block.through
        } while read.above < board.head
        let expected = board.inOrder.flatMap { key, record in
            record.parts.enumerated().map { number, payload -> BoardBlock.Item in
                let put = BoardPut(
                    key: key, isText: record.isText, customType: record.customType, extensions: number == 0 ? record.extensions : [],
                    payload: payload)
                return BoardBlock.Item(
                    offset: record.offset, author: record.author, instance: record.instance, wallMilliseconds: record.wall,
                    content: .record(put, part: UInt16(number + 1), parts: UInt16(record.parts.count)))
            }
        }
        guard items == expected else { throw Broken("board \(id): read \(items.map(\.offset)), expected \(expected.map(\.offset))") }
    }
}

extension BoardSettings {
    /// In which everything happens often.
    static var small: BoardSettings {
        var settings = BoardSettings()
        settings.checkpointBytes = 1500
        settings.stepBytes = 700
        settings.compactionBytes = 600
        settings.compactionPauseMilliseconds = 10_000
        settings.markersMax = 3
        settings.gapBytes = 64
        return settings
    }
}
