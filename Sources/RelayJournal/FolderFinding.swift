/// One file of a data folder, or one that should be there: what a check says of it.
package struct FolderFinding: Equatable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case segment, anchor, board, key
        /// Bytes that a start has kept aside.
        case quarantine
    }

    package enum State: String, Equatable, Sendable {
        case whole, damaged, missing
        /// The next start removes it: what it holds stands elsewhere, or was given up or removed.
        case unused
        /// Of a board, and the journal does not name it: what it holds may stand nowhere else.
        case unnamed
    }

    package var kind: Kind
    package var file: String
    package var state: State
    package var bytes = 0
    /// Whole ones; `nil` where there are none by nature.
    package var changes: Int?
    package var damage: [Range<Int>] = []
    /// At the end of the journal: of changes that nobody was told to be durable.
    package var unfinishedBytes = 0
    /// Of a board, if it is known.
    package var channel: String?

    package init(_ kind: Kind, _ file: String, _ state: State, bytes: Int = 0) {
        self.kind = kind
        self.file = file
        self.state = state
        self.bytes = bytes
    }

    /// Something is lost, or would be.
    package var isWrong: Bool {
        switch state {
        case .damaged, .unnamed: true
        // A relay that needs no keys has none, and a folder of an older version has no anchor.
        case .missing: kind != .key && kind != .anchor
        case .whole, .unused: false
        }
    }
}
