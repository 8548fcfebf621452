import RelayStorage

/// A board as the store knows it, at rest or in use.
final class StoredBoard {
    /// A change that the journal holds, and no checkpoint covers.
    struct Unsaved {
        var key: [UInt8]
        /// Of the value, and of what remembers it here and in the journal.
        var byteCount: Int

        static let memoryBytes = 160
    }

    enum Content {
        case unloaded
        case loading(BoardLoad)
        case loaded(BoardIndex)
    }

    /// What is wrong with the file.
    enum Trouble {
        /// Changes are not in it.
        case behind
        /// A sync has failed: what was written since the checkpoint may be there or not, whatever the system shows.
        case suspect
    }

    let id: UInt64
    /// As of the changes that were applied.
    var summary: BoardSummary
    /// The same, with the size of the file.
    var told: BoardSummary {
        var told = summary
        told.fileBytes = written
        return told
    }
    var generation: UInt32
    /// That any file of it was ever given.
    var newestGeneration: UInt32
    var file: String { BoardFile.name(id, generation) }
    /// Of the file, sound.
    var written = 0
    /// So far the changes were applied.
    var appliedEnd = 0
    /// The file's name is not known to be durable.
    var isNew: Bool { newSince != nil }
    /// Failures that might have taken the name, when it was made (`BoardStore.folderFailures`).
    var newSince: Int?
    /// As the journal has it.
    var saved: (generation: UInt32, length: Int)?
    /// Files that go when the journal has another one.
    var outdated: [String] = []

    /// In order. The first `applied` are in the summary, the first `filed` in the file.
    var unsaved: [Unsaved] = []
    var filed = 0
    var applied = 0
    var unsavedBytes = 0
    /// The summary has changed by other means.
    var isTouched = false
    var trouble: Trouble?

    var content = Content.unloaded
    /// In the file, and not applied yet.
    var pending: [PlacedChange] = []
    /// Wait until it is loaded.
    var readers: [BoardRead] = []
    var askers: [BoardAuthorsRead] = []
    var searchers: [StoredRecordsRead] = []
    /// Wall clock.
    var lastUsed: UInt64 = 0
    /// Wall clock: its index is in memory since then.
    var loadedAt: UInt64 = 0
    /// Of the sums of users before it had to be loaded once more.
    var formerSums: [[UInt8]: Int]?
    var reloads = 0
    /// Damaged bytes in it could not be kept aside.
    var keepsDamage = false
    var compactionResumesAt: UInt64 = 0

    init(id: UInt64, summary: BoardSummary, generation: UInt32) {
        self.id = id
        self.summary = summary
        self.generation = generation
        newestGeneration = generation
    }

    func nextGeneration() -> UInt32 {
        newestGeneration += 1
        return newestGeneration
    }

    var isDropped = false

    var isAwaited: Bool { !readers.isEmpty || !askers.isEmpty || !searchers.isEmpty }
    var isLoaded: Bool { if case .loaded = content { true } else { false } }
    /// Its index takes memory, whole or not.
    var isInMemory: Bool {
        switch content {
        case .unloaded: false
        case .loading(let load): load.hasBegun
        case .loaded: true
        }
    }
    var isLoading: Bool { if case .loading = content { true } else { false } }
    /// Changes that were applied are in the file, and not known to be durable there.
    var isUnsynced: Bool { applied > 0 || isNew && appliedEnd > 0 }
    var isSuspect: Bool { trouble == .suspect }

    /// Gives the index out for a change, without a copy of it.
    func withIndex<Result>(_ body: (inout BoardIndex) -> Result) -> Result {
        guard case .loaded(var index) = content else { preconditionFailure("board \(id): not loaded") }
        content = .unloaded
        defer { content = .loaded(index) }
        return body(&index)
    }
}

/// A file that is being read, as far as its changes were applied.
struct BoardLoad {
    var index = BoardIndex()
    var reader: BoardFileReader

    init(_ board: StoredBoard, mark: UInt32) {
        reader = BoardFileReader(file: board.file, board: board.id, mark: mark, to: board.appliedEnd)
    }

    var hasBegun: Bool { reader.offset > 0 }
}
