#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayIO
import RelayJournal
import RelaySystem

/// A data folder that is written beside its place, and has its name only when all of it is there, durably.
final class NewFolder {
    let target: String
    let draft: String
    let storage: FolderStorage

    /// - Parameters:
    ///   - target: does not exist, or is empty.
    ///   - maker: what writes it, in a word.
    init(_ target: String, by maker: String) throws(RelayServerError) {
        var target = target
        while target.count > 1, target.hasSuffix("/") { target.removeLast() }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: target) {
            guard files.isEmpty else {
                throw RelayServerError(text: "\(target) is not empty: name a folder that does not exist")
            }
        } else if FileManager.default.fileExists(atPath: target) {
            throw RelayServerError(text: "\(target) is no folder")
        }
        self.target = target
        draft = target + ".draft"
        do {
            storage = try FolderStorage(path: draft)
            guard try storage.list() == ["lock"] else {
                storage.close()
                throw RelayServerError(text: "\(draft) is what a \(maker) has left that did not come to its end: remove it")
            }
        } catch {
            throw (error as? RelayServerError) ?? RelayServerError(text: "\(error)")
        }
    }

    /// All is written and synced.
    func finish() throws(FileFailure) {
        try Folder.move(draft, to: target)
        storage.close()
    }

    /// Nothing of it stays.
    func abandon() {
        storage.close()
        try? FileManager.default.removeItem(atPath: draft)
    }
}
