import RelayWire

/// A question about authors that the store has not answered.
struct AuthorQuestion {
    var board: Board.Index
    var generation: UInt32
    /// As it stands in `KnownAuthors.asked`.
    var question: [UInt8]
    var key: [UInt8]
}

/// Why a question about a board has no answer.
struct AuthorsFailure {
    var board: UInt64
    var question: [UInt8]
    var text: String
}

/// What is asked about the authors of records, and the connections that wait for the answers. [BL10]
struct AuthorDesk {
    private var asked: [UInt64: AuthorQuestion] = [:]
    /// Keys of all boards whose author is known.
    private(set) var keys = 0
    /// Connections that go on at the end of the call; from `head` on.
    private var woken: [(id: ConnectionID, failure: AuthorsFailure?)] = []
    private var head = 0
    /// Why the frame that is judged anew cannot be judged.
    private(set) var failure: AuthorsFailure?
    /// Frames that were judged anew.
    var judgedAgain = 0
    /// What came from connections that wait, in bytes.
    private(set) var heldBytes = 0

    /// In no order.
    var questions: some Sequence<AuthorQuestion> { asked.values }

    mutating func ask(_ token: UInt64, _ question: AuthorQuestion) { asked[token] = question }

    mutating func answered(_ token: UInt64) -> AuthorQuestion? { asked.removeValue(forKey: token) }

    mutating func count(_ keys: Int) { self.keys += keys }

    mutating func hold(_ bytes: Int) { heldBytes += bytes }

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
