import RelayPrimitives
internal import RelayStorage
import RelayWire

/// Who wrote the keys of a board, as far as the hub knows it. [BL10]
///
/// There only while a user writes who may not replace what others wrote. What the board's file has is told by the store, of all
/// keys at once if they are few; what was accepted since is noted as it comes. Both are joined by offsets: an answer counts if it has
/// every change that
/// was not noted.
struct KnownAuthors {
    /// What was noted, and answers about single keys: an author, empty for a key without a record.
    private var noted = [[UInt8]: [UInt8]]()
    private var notedBytes = 0
    /// What the file had, of all its keys.
    private var table: BoardAuthorTable?
    /// A key that is in neither has no record.
    private var isComplete = false
    /// Changes above this offset were noted: an answer that does not reach it says nothing.
    private(set) var floor: UInt64 = 0
    /// Too many keys to be told at once.
    private(set) var isLarge = false

    /// Questions that are under way, and since when: by key, the empty one for all keys.
    var asked = [[UInt8]: Instant]()
    /// Connections whose next frame waits for an answer, by the question, the first to come first.
    var waiting = [[UInt8]: [ConnectionID]]()
    /// One deadline looks after all questions.
    var deadlineIsSet = false
    var lastUsed: Instant

    /// - Parameter pending: what was accepted and is not in the file, whose newest change is that at `fileHead`.
    init(_ pending: [PendingRecord], fileHead: UInt64, at now: Instant) {
        lastUsed = now
        begin(pending, fileHead: fileHead)
    }

    /// Forgets what it knows, but for what is under way.
    mutating func begin(_ pending: [PendingRecord], fileHead: UInt64) {
        forgetAll()
        floor = fileHead
        isLarge = false
        isComplete = fileHead == 0
        for record in pending { note(record.change, by: Array(record.user.text.utf8), at: record.offset) }
    }

    private mutating func forgetAll() {
        noted = [:]
        notedBytes = 0
        table = nil
    }

    private mutating func note(_ author: [UInt8], of key: [UInt8]) {
        let old = noted.updateValue(author, forKey: key)
        notedBytes += author.count - (old?.count ?? -key.count - Footprint.notedAuthor)
    }

    var count: Int { noted.count + (table?.count ?? 0) }
    /// Of memory.
    var bytes: Int { notedBytes + (table?.memoryBytes ?? 0) }

    /// - Returns: empty: the key has no record; `nil`: it has to be asked for.
    func author(of key: [UInt8]) -> [UInt8]? {
        if let author = noted[key] { return author }
        return isComplete ? table?[key] ?? [] : nil
    }

    /// A change was accepted.
    mutating func note(_ change: PendingRecord.Change, by user: [UInt8], at offset: UInt64) {
        switch change {
        case .put(let key): note(user, of: key)
        case .remove(let key): note([], of: key)
        case .clear:
            forgetAll()
            isComplete = true
        case .undo:
            // Whose records come back, the file alone knows, when it has this change.
            forgetAll()
            isComplete = false
            isLarge = false
            floor = offset
        }
    }

    /// The store has answered about `keys`, or about all.
    mutating func take(_ answer: BoardAuthors, _ keys: [[UInt8]]) {
        guard !isComplete, answer.through >= floor else { return }
        switch answer.outcome {
        case .all(let table):
            self.table = table
            isComplete = true
        case .each(let authors):
            isLarge = true
            for (key, author) in zip(keys, authors) where noted[key] == nil { note(author ?? [], of: key) }
        case .gone, .failed: break
        }
    }
}

/// A question about authors that the store has not answered.
struct AuthorQuestion {
    var board: ShelvedBoard.Index
    var generation: UInt32
    /// As they stand in `KnownAuthors.asked`.
    var questions: [[UInt8]]
    var keys: [[UInt8]]
    /// What is charged of it, to whom.
    var bytes: Int
    var payer: AddressKey
}

/// Why a question about a board has no answer.
struct AuthorsFailure {
    var board: UInt64
    var question: [UInt8]
    var text: String
}

/// What is asked about the authors of records, and the connections that wait for the answers. [BL10]
struct AuthorDesk {
    private var asked = [UInt64: AuthorQuestion]()
    /// Memory of all keys whose author is known.
    private(set) var bytes = 0
    /// Connections that go on at the end of the call; from `head` on.
    private var woken: [(id: ConnectionID, failure: AuthorsFailure?)] = []
    private var head = 0
    /// Why the frame that is judged anew cannot be judged.
    private(set) var failure: AuthorsFailure?
    /// Frames that were judged anew.
    var judgedAgain = 0

    /// In no order.
    var questions: some Sequence<AuthorQuestion> { asked.values }

    mutating func ask(_ token: UInt64, _ question: AuthorQuestion) { asked[token] = question }

    mutating func answered(_ token: UInt64) -> AuthorQuestion? { asked.removeValue(forKey: token) }

    mutating func count(_ bytes: Int) { self.bytes += bytes }

    mutating func wake(_ waiting: [ConnectionID], _ failure: AuthorsFailure?) { woken += waiting.map { ($0, failure) } }

    var someAreWoken: Bool { !woken.isEmpty }

    /// The next one that goes on. `failure` is its own until this is called again.
    mutating func nextWoken() -> ConnectionID? {
        guard head < woken.count else {
            woken.removeAll(keepingCapacity: true)
            head = 0
            failure = nil
            return nil
        }
        head += 1
        failure = woken[head - 1].failure
        return woken[head - 1].id
    }
}
