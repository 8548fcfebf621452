import RelayIO
import RelayJournal
import RelaySystem
import RelayWire

/// What `boardrelay restore --json` prints, with the folder.
package struct RestoreReport: Sendable {
    package var files = 0
    package var bytes = 0
    /// Version of the relay that has made the backup.
    package var relay = ""
    /// When.
    package var made = ""
}

/// A backup on its way into a new data folder.
package final class FolderRestore {
    private let folder: NewFolder
    private var reader = BackupReader(relay: Program.version)
    private var file = ""
    private var offset = 0

    /// - Parameter target: does not exist, or is empty.
    package init(into target: String) throws(RelayServerError) { folder = try NewFolder(target, by: "restore") }

    /// What becomes the folder.
    package var draft: String { folder.draft }

    /// The archive's next bytes.
    package func read(_ piece: [UInt8]) throws(RelayServerError) {
        try reader.read(piece) { part throws(RelayServerError) in
            do throws(StorageError) {
                try write(part)
            } catch {
                throw RelayServerError(text: "\(error)")
            }
        }
    }

    private func write(_ part: BackupReader.Part) throws(StorageError) {
        switch part {
        case .begin(let name):
            (file, offset) = (name, 0)
            try folder.storage.create(name)
        case .bytes(let bytes):
            try folder.storage.write(Array(bytes), to: file, at: offset)
            offset += bytes.count
        case .end: try folder.storage.sync(file)
        }
    }

    /// The archive has ended: the folder takes its name, if all is as it was saved.
    package func finish() throws(RelayServerError) -> RestoreReport {
        let manifest = try reader.finish()
        do {
            try folder.storage.syncFolder()
            try folder.finish()
        } catch {
            throw RelayServerError(text: "\(error)")
        }
        return RestoreReport(
            files: manifest.files.count, bytes: manifest.files.reduce(0) { $0 + $1.bytes }, relay: manifest.head.relay,
            made: manifest.head.made)
    }

    /// Nothing is left.
    package func abandon() { folder.abandon() }
}
