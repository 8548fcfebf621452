import RelayPrimitives
import RelayStorage

/// What can be saved of a data folder that no relay has: read as at a start, but nothing in it is changed, and nothing refused.
package struct Salvage {
    let storage: any JournalStorage
    let opening: Opening
    var boards: [SavedBoard] = []

    /// By file.
    package private(set) var findings: [FolderFinding] = []
    /// Why a relay does not start on the folder, if so.
    package let refusal: JournalError?
    /// Sequence of the newest change in the journal; 0 if it has no change.
    package let lastSequence: UInt64
    /// Of the journal, but for boards, in the order of keys.
    package let entries: [JournalEntry]

    /// - Throws: when a file cannot be read, or a newer program wrote it.
    package init(_ storage: any JournalStorage) throws(JournalError) {
        self.storage = storage
        let (journal, opening) = try Journal.read(storage, JournalSettings(mark: 0))
        self.opening = opening
        lastSequence = journal.lastSequence
        refusal = try opening.loss(lastSequence: journal.lastSequence)
        entries = opening.entries.filter { !StoredChange.isBoardEntry($0.key) }
        findings += segments()
        findings += try anchor()
        let files = try opening.storing { () throws(StorageError) in try storage.list() }.inOrder()
        try findBoards(files)
        for file in files where file.hasPrefix("quarantine-") {
            findings.append(FolderFinding(.quarantine, file, .whole, bytes: try size(of: file)))
        }
    }

    /// Of the anchor.
    package var start: UInt32 { opening.anchor?.start ?? 0 }
    /// There is nothing to save.
    package var isEmpty: Bool { entries.isEmpty && boards.isEmpty }
    /// The journal has lost nothing: what it does not name is not needed.
    var isJournalWhole: Bool { refusal == nil && opening.report.damage.isEmpty && opening.report.isAnchored }

    mutating func add(_ finding: FolderFinding) { findings.append(finding) }

    func size(of file: String) throws(JournalError) -> Int {
        try opening.storing { () throws(StorageError) in try storage.size(of: file) }
    }

    private func segments() -> [FolderFinding] {
        let counted = Set(opening.chain.map(\.found))
        var findings = opening.found.indices.map { index in
            let found = opening.found[index]
            var finding = FolderFinding(.segment, found.file, counted.contains(index) ? .whole : .unused, bytes: found.size)
            finding.damage = opening.report.damage.filter { $0.file == found.file }.map { $0.offset..<($0.offset + $0.byteCount) }
            finding.changes = found.records
            if index == opening.chain.last?.found { finding.unfinishedBytes = opening.report.cutBytes }
            if !finding.damage.isEmpty { finding.state = .damaged }
            if opening.missing.contains(found.file) { finding.state = .missing }
            return finding
        }
        let files = Set(findings.map(\.file))
        findings += opening.missing.filter { !files.contains($0) }.map { FolderFinding(.segment, $0, .missing) }
        return findings.inOrder { $0.file < $1.file }
    }

    private func anchor() throws(JournalError) -> [FolderFinding] {
        guard opening.anchor != nil || opening.isAnchorDamaged else { return [FolderFinding(.anchor, JournalAnchor.file, .missing)] }
        let state = opening.isAnchorDamaged ? FolderFinding.State.damaged : .whole
        return [FolderFinding(.anchor, JournalAnchor.file, state, bytes: try size(of: JournalAnchor.file))]
    }
}

/// What a salvage has written.
package struct SalvageReport: Equatable, Sendable {
    /// Keys, but for boards.
    package var entries = 0
    /// In order of their ids.
    package var boards: [BoardSummary] = []
    /// Number of a start below which none may come.
    package var start: UInt32 = 0
    /// What was left out, and why.
    package var lines: [String] = []
}

extension Salvage {
    /// Keys and values of one record.
    private static var batchBytes: Int { 1024 * 1024 }

    /// Writes what can be saved into an empty folder.
    ///
    /// - Parameters:
    ///   - settings: with another mark than the old folder's.
    ///   - start: number of the newest start that is known besides.
    package func write(to new: some JournalStorage, _ settings: JournalSettings, start: UInt32) throws(JournalError) -> SalvageReport {
        let (journal, _, _) = try Journal.open(new, settings)
        let store = BoardStore(journal: journal, storage: new)
        var report = SalvageReport()
        report.entries = entries.count
        // No number is given a second time, and none of a board is beyond the journal's.
        let newest = boards.reduce(max(lastSequence, opening.anchor?.lastSequence ?? 0, 1)) { max($0, $1.newest) }
        try journal.append([JournalRecord(sequence: newest, entries: [])])
        var batch: [JournalEntry] = [], bytes = 0
        for entry in entries {
            batch.append(entry)
            bytes += entry.key.count + (entry.value?.count ?? 0)
            guard bytes >= Self.batchBytes else { continue }
            try journal.amend(batch)
            (batch, bytes) = ([], 0)
        }
        try journal.amend(batch)
        report.boards = try write(boardsTo: store, lines: &report.lines)
        try store.checkpoint()
        report.start = report.boards.flatMap(\.epochs).reduce(max(self.start, start)) { max($0, $1.id.start) }
        try journal.anchor(start: report.start)
        store.close()
        journal.close()
        return report
    }
}
