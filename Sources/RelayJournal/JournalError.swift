/// Why a journal cannot be opened, or does not take anything.
package enum JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    case storage(StorageError)
    /// Written by a later version of this program. Nothing was touched.
    case newerFormat(file: String, found: UInt32, supported: UInt32)
    /// A sound record that only a later version knows. Nothing was touched.
    case unknownRecord(file: String, offset: Int, type: UInt8, flags: UInt8)
    /// A segment under another's name: in which order they were written is not known. Nothing was touched.
    case misnamed(file: String, number: UInt64)
    /// Files of the journal that were there are not there any more, or are shorter.
    case missing(file: String)
    /// A segment that should be there is not, or holds nothing. Nothing was touched.
    case segmentMissing(file: String)
    /// Changes that were durable are in none of its files. Nothing was touched.
    case endsEarly(at: UInt64, durable: UInt64)
    /// The anchor is there and cannot be read. Nothing was touched.
    case anchorDamaged
    /// The journal has no record, and files of boards are there, which only records name. Nothing was touched.
    case boardsWithoutJournal(files: Int, first: String)
    /// It failed before and waits for `recoverFromFailure`.
    case failed(String)

    private static let remedy = "or remove \(JournalAnchor.file) to go on with what is left"

    package var description: String {
        switch self {
        case .storage(let error): error.description
        case .newerFormat(let file, let found, let supported):
            "\(file) has format version \(found), this program knows versions up to \(supported)"
        case .unknownRecord(let file, let offset, let type, let flags):
            "\(file) has a record of type \(type), flags \(flags), at \(offset), which this program does not know: a newer one wrote it"
        case .misnamed(let file, let number): "\(file) is segment \(number) of a journal by its content: it was renamed or copied"
        case .missing(let file): "\(file) of the journal is gone or cut"
        case .segmentMissing(let file): "\(file) of the journal is missing or empty: put it back, \(Self.remedy)"
        case .endsEarly(let sequence, let durable):
            "the journal ends with change \(sequence), and change \(durable) was durable: put the newest copy of its files back, \(Self.remedy)"
        case .anchorDamaged: "\(JournalAnchor.file) is damaged: put it back, \(Self.remedy)"
        case .boardsWithoutJournal(let files, let first):
            "the journal is missing or empty, but \(files == 1 ? "a file of a board is" : "\(files) files of boards are") there (\(first)): "
                + "put the journal's files back, or move those of the boards away"
        case .failed(let text): text
        }
    }
}
