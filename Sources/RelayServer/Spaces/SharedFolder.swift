import RelayIO
import RelaySystem

/// The folder of all spaces, which one process has at a time.
@available(macOS 15, iOS 18, *)
actor SharedFolder {
    nonisolated let executor = QueueExecutor(label: "boardrelay.folder")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var folder: Folder?

    /// - Parameter waits: told who has it; then the queue waits, with nothing else to do. Without it such a folder is an error.
    func lock(_ path: String, _ waits: (@Sendable (_ holder: String) -> Void)?) throws(RelayServerError) {
        do throws(FileFailure) {
            folder = try Folder(path: path)
            try folder?.lockOut(waits: waits)
        } catch {
            throw RelayServerError(text: "\(error)")
        }
    }

    func close() {
        folder?.close()
        folder = nil
    }
}
