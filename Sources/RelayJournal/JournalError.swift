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
    /// It failed before and waits for `recoverFromFailure`.
    case failed(String)

    package var description: String {
        switch self {
        case .storage(let error): error.description
        case .newerFormat(let file, let found, let supported):
            "\(file) has format version \(found), this program knows versions up to \(supported)"
        case .unknownRecord(let file, let offset, let type, let flags):
            "\(file) has a record of type \(type), flags \(flags), at \(offset), which this program does not know: a newer one wrote it"
        case .misnamed(let file, let number): "\(file) is segment \(number) of a journal by its content: it was renamed or copied"
        case .missing(let file): "\(file) of the journal is gone or cut"
        case .failed(let text): text
        }
    }
}
