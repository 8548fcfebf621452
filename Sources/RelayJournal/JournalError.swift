/// Why a journal cannot be opened, or does not take anything.
package enum JournalError: Error, Equatable, Sendable, CustomStringConvertible {
    case storage(StorageError)
    /// Written by a later version of this program. Nothing was touched.
    case newerFormat(file: String, found: UInt32, writer: ProgramVersion?, supported: UInt32)
    /// A sound record that only a later version knows. Nothing was touched.
    case unknownRecord(file: String, offset: Int, type: UInt8, flags: UInt8)
    /// A segment under another's name: in which order they were written is not known. Nothing was touched.
    case misnamed(file: String, number: UInt64)
    /// Files of the journal are missing, or shorter than before.
    case missing(file: String)
    /// A segment that should be there is not, or holds nothing. Nothing was touched.
    case segmentMissing(file: String)
    /// The journal's files lack durable changes. Nothing was touched.
    case endsEarly(at: UInt64, durable: UInt64)
    /// The same, by the file of a board, which has a later change. Nothing was touched.
    case endsBeforeBoard(at: UInt64, file: String, change: UInt64)
    /// The anchor is there and cannot be read. Nothing was touched.
    case anchorDamaged
    /// It failed before and waits for `recoverFromFailure`.
    case failed(String)

    /// What an operator can do where some of the journal is missing, or of a newer version; `nil` for other errors.
    package func remedy(folder: String, program: String) -> String? {
        switch self {
        case .segmentMissing, .endsEarly, .endsBeforeBoard, .anchorDamaged:
            "put the newest copy of the folder back, or save what is there: 'boardrelay check \(folder)' lists it, "
                + "'boardrelay repair \(folder) --to NEWFOLDER' writes it elsewhere"
        case .newerFormat, .unknownRecord:
            "boardrelay \(program) cannot use \(folder): install the version that wrote it or a newer one, or restore a backup that "
                + "\(program) made"
        case .storage, .misnamed, .missing, .failed: nil
        }
    }

    package var description: String {
        switch self {
        case .storage(let error): error.description
        case .newerFormat(let file, let found, let writer, let supported):
            "\(file) has format version \(found)\(writer.map { ", of boardrelay \($0)" } ?? ""), this program knows versions up to \(supported)"
        case .unknownRecord(let file, let offset, let type, let flags):
            "\(file) has a record of type \(type), flags \(flags), at \(offset), which this program does not know: a newer one wrote it"
        case .misnamed(let file, let number): "\(file) is segment \(number) of a journal by its content: it was renamed or copied"
        case .missing(let file): "\(file) of the journal is gone or cut"
        case .segmentMissing(let file): "\(file) of the journal is missing or empty"
        case .endsEarly(let sequence, let durable): "the journal ends with change \(sequence), and change \(durable) was durable"
        case .endsBeforeBoard(let sequence, let file, let change):
            (sequence == 0 ? "the journal is missing or empty" : "the journal ends with change \(sequence)")
                + ", and \(file) has change \(change)"
        case .anchorDamaged: "\(JournalAnchor.file) is damaged"
        case .failed(let text): text
        }
    }
}
