import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting

/// A board store for one purpose, with changes made by hand.
final class BoardBench {
    let storage: SimulatedStorage
    let settings: BoardSettings
    private(set) var journal: Journal
    private(set) var store: BoardStore
    private(set) var recovery: BoardRecovery
    var wall: UInt64 = 1_000_000
    private var offsets: [UInt64: UInt64] = [:]

    init(_ storage: SimulatedStorage = SimulatedStorage(), _ settings: BoardSettings = BoardSettings(), mark: UInt32 = 0xA1B2_C3D4) throws {
        self.storage = storage
        self.settings = settings
        let opened = try Journal.open(storage, JournalSettings(mark: mark))
        journal = opened.journal
        store = BoardStore(journal: journal, storage: storage, settings: settings)
        recovery = try store.recover(entries: opened.entries.filter { StoredChange.isBoardEntry($0.key) })
        for board in recovery.boards { offsets[board.board] = board.head }
    }

    func reopened(_ storage: SimulatedStorage? = nil, _ settings: BoardSettings? = nil) throws -> BoardBench {
        let bench = try BoardBench(storage ?? self.storage.restarted(), settings ?? self.settings)
        bench.wall = wall
        return bench
    }

    /// All in one record. Offsets follow each other.
    func apply(_ changes: [(board: UInt64, kind: StoredChange.Kind)], author: String = "ann") throws {
        let sequence = journal.lastSequence + 1
        let entries = changes.enumerated().map { index, made in
            var change = StoredChange(
                board: made.board, epoch: BoardEpoch.ID(start: 1, incarnation: 1), author: Array(author.utf8), wallMilliseconds: wall,
                kind: made.kind)
            switch made.kind {
            case .create, .part, .drop: break
            case .put, .remove, .clear: offsets[made.board, default: 0] += 1
            case .undo(_, let count): offsets[made.board, default: 0] += count + 1
            }
            if case .create = made.kind {} else { change.offset = offsets[made.board] ?? 0 }
            return change.entry(sequence: sequence, index: index)
        }
        let records = [JournalRecord(sequence: sequence, entries: entries)]
        try journal.append(records)
        try store.apply(records)
    }

    func create(_ board: UInt64) throws { try apply([(board, .create(name: Array("board".utf8)))]) }

    static func put(_ key: String, _ payload: [UInt8]) -> StoredChange.Kind {
        .put(BoardPut(key: Array(key.utf8), isText: false, customType: nil, payload: payload))
    }

    func read(_ board: UInt64 = 1, above: UInt64 = 0, partsKnown: UInt16 = 0, bytesMax: Int = 100_000, isFresh: Bool = false) throws
        -> BoardBlock
    {
        store.read(BoardRead(token: 1, board: board, above: above, partsKnown: partsKnown, bytesMax: bytesMax, isFresh: isFresh))
        for _ in 0..<10_000 {
            if let block = store.takeBlocks().first { return block }
            _ = try store.step(wall: wall)
        }
        throw Broken("no answer")
    }

    func work() throws { for _ in 0..<10_000 { guard try store.step(wall: wall) else { return } } }

    func count(_ operation: StorageError.Operation, _ name: String = "") -> Int {
        storage.calls.filter { $0.operation == operation && $0.name.hasPrefix(name) }.count
    }

    var boardFiles: [String] { storage.disk.list.filter { $0.hasPrefix("board-") } }
}

extension BoardBlock.Item {
    /// Key and offset, `-key` for a removal, `clear`.
    var short: String {
        switch content {
        case .record(let put, let part, let parts):
            "\(String(decoding: put.key, as: UTF8.self))@\(offset)" + (parts > 1 ? ".\(part)" : "")
        case .removal(let key): "-\(String(decoding: key, as: UTF8.self))@\(offset)"
        case .clear: "clear@\(offset)"
        }
    }
}
