import RelayConsole
import RelayIO
import RelayServer
import RelaySystem

/// What a relay does that may have to wait until nobody else has its data folder.
@available(macOS 15, iOS 18, *)
final class FolderWait: Sendable {
    private let log: ServeLog
    private let manager: ServiceManager?
    /// The signal that ends the process; nobody else serves for it meanwhile.
    private let signal: Task<Int32?, Never>
    private let waited = Mutex(false)

    init(_ log: ServeLog, _ manager: ServiceManager?, _ signal: Task<Int32?, Never>) {
        (self.log, self.manager, self.signal) = (log, manager, signal)
    }

    /// Whether somebody else had the folder.
    var hasWaited: Bool { waited.withLock { $0 } }

    /// Says for whom it waits, once.
    func begins(_ folder: String, _ holder: String) {
        waited.withLock { $0 = true }
        log.note("The data folder \(folder) is in use by \(holder). This relay waits, and serves when that process has ended.")
        manager?.tellWaiting("Waits for \(folder), in use by \(holder)")
    }

    /// - Returns: `nil` when a signal has come first. What `body` does then goes on until the process ends.
    func orSignal<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        let (results, result) = AsyncStream.makeStream(of: Result<Value?, Failure>.self)
        Task {
            do throws(Failure) { result.yield(.success(try await body())) } catch { result.yield(.failure(error)) }
        }
        Task { [signal] in
            _ = await signal.value
            result.yield(.success(nil))
        }
        for await first in results { return try first.get() }
        return nil
    }
}

@available(macOS 15, iOS 18, *)
extension Command {
    /// - Returns: `nil` when a signal has come before it serves; only where it may wait.
    static func start(
        _ settings: ServeSettings, _ options: WhiteboardRelay.Options, _ log: ServeLog, _ manager: ServiceManager?, _ wait: FolderWait?
    ) async throws -> ServedRelay? {
        if !settings.isShared { try settings.checkNoSpaces() }
        guard let wait, let folder = settings.folder else { return try await served(settings, options, log, manager) }
        var waiting = options
        waiting.waitsForFolder = { @Sendable holder in wait.begins(folder, holder) }
        return try await wait.orSignal { [waiting] () throws(Failure) in try await served(settings, waiting, log, manager) }
    }

    private static func served(
        _ settings: ServeSettings, _ options: WhiteboardRelay.Options, _ log: ServeLog, _ manager: ServiceManager?
    ) async throws(Failure) -> ServedRelay {
        if let own = settings.log, settings.isShared {
            let directory = try await starting(options, log, manager) { options throws(RelayServerError) in
                try await DirectoryRelay.start(
                    options, own, in: settings.folder!, spacesMax: settings.spacesMax, spaces: settings.spaces, optionsOf: settings.options,
                    folderOf: settings.folder(of:), make: settings.makeFolder, remove: settings.removeFolder)
            }
            return ServedRelay(relay: directory.door, shared: nil, directory: directory)
        }
        if let own = settings.log {
            let cluster = try await starting(options, log, manager) { options throws(RelayServerError) in
                try await ClusterRelay.start(options, own)
            }
            return ServedRelay(relay: cluster.door, shared: nil, cluster: cluster)
        }
        guard settings.isShared else { return ServedRelay(relay: try await startRelay(options, log, manager), shared: nil) }
        let shared = try await starting(options, log, manager) { options throws(RelayServerError) in
            try await SharedRelay.start(
                options, in: settings.folder, spaces: settings.spaces, optionsOf: settings.options, make: settings.makeFolder,
                remove: settings.removeFolder)
        }
        return ServedRelay(relay: shared.door, shared: shared)
    }

    static func startRelay(
        _ options: WhiteboardRelay.Options, _ log: ServeLog, _ manager: ServiceManager? = nil
    ) async throws(Failure) -> WhiteboardRelay {
        try await starting(options, log, manager) { options throws(RelayServerError) in try await WhiteboardRelay.start(options) }
    }

    /// - Throws: `Failure`, with what helps where somebody else has the port or the data folder.
    private static func starting<Relay: Sendable>(
        _ options: WhiteboardRelay.Options, _ log: ServeLog, _ manager: ServiceManager?,
        _ start: (WhiteboardRelay.Options) async throws(RelayServerError) -> Relay
    ) async throws(Failure) -> Relay {
        // From the first bytes on: before that it may have waited for its folder.
        let progress = Mutex<Progress?>(nil)
        defer { progress.withLock { $0?.end() } }
        var options = options
        options.didRead = { @Sendable bytes in
            manager?.tellReading()
            let shown = progress.withLock { progress in
                progress = progress ?? Progress(isTerminal: log.isTerminal && !log.isJSON, say: log.note)
                return progress!
            }
            shown.show("\(Printable.size(bytes)) read")
        }
        do throws(RelayServerError) {
            return try await start(options)
        } catch {
            let port = options.port == RelayAddress.defaultPort ? "" : " --port \(options.port)"
            let hint = ". Another relay may be running: 'boardrelay status\(port)' tells. '--port 0' takes a port that is free."
            throw Failure("the relay cannot start: \(error)\(error.isAddressInUse ? hint : other(on: options.storage))")
        }
    }

    /// The relay that has the data folder, if one answers there.
    private static func other(on storage: WhiteboardRelay.Storage) -> String {
        guard case .folder(let folder) = storage,
            let status = try? WhiteboardRelay.status(controlSocket: ControlSocket.path(inFolder: folder)),
            let port = RelayAddress(status.address)?.port
        else { return "" }
        return ". That is a relay on port \(port), pid \(status.pid): 'boardrelay status --port \(port)' tells more."
    }
}
