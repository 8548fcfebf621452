#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
internal import RelayCore
import RelayIO
import RelayJournal
import RelaySystem

/// A data folder that is looked at, or saved, while no relay has it. Nothing in it is changed.
@available(macOS 15, iOS 18, *)
package final class FolderSalvage {
    package let path: String
    private let salvage: Salvage
    private let storage: any JournalStorage
    private let keys: [AccessKeys.Kind: [UInt8]]

    /// What stands in it, by kind and name.
    package let findings: [FolderFinding]
    /// Number of the newest start; 0: none is known.
    package let start: UInt32

    /// Why a relay does not start on it, if so.
    package var refusal: String? { salvage.refusal?.description }
    /// Sequence of the newest change in the journal; 0 if it has no change.
    package var lastSequence: UInt64 { salvage.lastSequence }
    /// Keys of the journal that are live, but for boards.
    package var entries: Int { salvage.entries.count }
    package var isWrong: Bool { salvage.refusal != nil || findings.contains(where: \.isWrong) }

    /// - Parameter progress: called with the bytes read so far.
    /// - Throws: when a relay has the folder, or something in it cannot be read, or is of a newer version.
    package init(reading path: String, progress: @escaping (_ bytes: Int) -> Void) throws(RelayServerError) {
        self.path = path
        var read = 0
        do throws(FileFailure) {
            storage = try FolderStorage(reading: path) { bytes in
                read += bytes
                progress(read)
            }
        } catch {
            throw RelayServerError(text: "\(error)\(error.code == EBUSY ? ": end that relay first" : "")")
        }
        do throws(JournalError) {
            salvage = try Salvage(storage)
        } catch {
            throw RelayServerError(error, folder: path)
        }
        var keys: [AccessKeys.Kind: [UInt8]] = [:], findings = salvage.findings
        for kind in AccessKeys.Kind.allCases {
            do throws(PrivateFile.Failure) {
                keys[kind] = try PrivateFile.read(KeyRing.path(kind, path), bytesMax: KeyRing.fileBytesMax)
            } catch {
                throw RelayServerError(text: "\(error)")
            }
            let state = keys[kind].map { KeyRing.key(in: $0) == nil ? FolderFinding.State.damaged : .whole } ?? .missing
            findings.append(FolderFinding(.key, kind.rawValue + ".key", state, bytes: keys[kind]?.count ?? 0))
        }
        self.keys = keys
        self.findings = findings
        start = JournalWriter.start(in: salvage.entries, or: salvage.start)
    }

    // MARK: - Repair

    /// Writes what can be saved into a new folder, which has its name only when all of it is there, durably.
    ///
    /// - Parameter target: does not exist, or is empty.
    /// - Throws: when there is nothing to save, or it cannot be written.
    package func write(to target: String) throws(RelayServerError) -> (saved: SalvageReport, keys: [AccessKeys.Kind]) {
        guard !salvage.isEmpty else { throw RelayServerError(text: "nothing can be saved: \(path) has no whole change") }
        try checkPlace(target)
        let folder = try NewFolder(target, by: "repair"), new = folder.storage
        var settings = JournalSettings(mark: 0)
        settings.program = ProgramVersion(Program.version)
        repeat { settings.mark = UInt32(truncatingIfNeeded: SystemEntropy.word()) } while settings.mark == 0
        do {
            let saved = try salvage.write(to: new, settings, start: start)
            var savedKeys: [AccessKeys.Kind] = []
            for kind in AccessKeys.Kind.allCases {
                guard let bytes = keys[kind], KeyRing.key(in: bytes) != nil else { continue }
                try PrivateFile.replace(KeyRing.path(kind, folder.draft), content: bytes)
                savedKeys.append(kind)
            }
            try folder.finish()
            return (saved, savedKeys)
        } catch {
            folder.abandon()
            throw (error as? RelayServerError) ?? RelayServerError(text: "\(error)")
        }
    }

    private func checkPlace(_ target: String) throws(RelayServerError) {
        func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
        let above = real(URL(fileURLWithPath: target).deletingLastPathComponent().path)
        guard above != real(path), !above.hasPrefix(real(path) + "/") else {
            throw RelayServerError(text: "\(target) is in \(path): what is saved is written elsewhere")
        }
    }
}
