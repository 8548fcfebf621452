#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayConsole
import RelayIO
import RelayServer
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let backup = Command(
        name: "backup",
        summary: "saves the data folder of a relay while it runs",
        options: [
            .value("--to", as: "FILE", help: "Writes this file, whole or not at all; - for standard output."), .json, .url, .space,
        ] + ControlSocket.options,
        notes: [
            """
            The backup has all that was answered as stored before it began: boards, metadata, locks, roles, bans, the relay's keys and its \
            name in the network. It has no settings, secrets of tokens, certificates and quarantined bytes. Whoever can read it has the \
            keys.
            """,
            """
            It is a tar archive (ustar); its manifest.json has version, time, and the length and SHA-256 of each file. \
            'boardrelay restore' checks them.
            """,
            """
            Until a file is copied, what is removed from it stays on the disk; commands that promise erasure, such as 'boardrelay user forget', \
            wait so long. A backup ends with exit code 1 when more than 1 GiB waits for it, or when nothing of it is taken for 60 s. A relay \
            makes one at a time.
            """,
        ],
        examples: [
            .init("boardrelay backup --to board.tar", "Of the relay of this machine on port 7420."),
            .init("boardrelay backup --to - | ssh backups 'cat >board.tar'", "To another machine."),
        ],
        run: backup)

    static let restore = Command(
        name: "restore",
        summary: "makes a data folder from a backup",
        arguments: [.init(name: "FILE", help: "What 'boardrelay backup' wrote; - for standard input.")],
        options: [.value("--data-dir", as: "DIR", help: "Folder to make. It must be empty, or not exist."), .json],
        notes: [
            """
            A backup that is cut or changed is refused. DIR has its name only when all of it is there. As root, give it to the relay's user \
            afterwards (chown -R).
            """,
            "Whatever was removed, forgotten or banned after the backup was made is as it was before: do it again. So with keys.",
        ],
        examples: [.init("boardrelay restore board.tar --data-dir ./restored", "Then 'boardrelay serve --data-dir ./restored'.")],
        run: restore)

    private static func backup(_ arguments: Arguments) async throws -> ExitCode {
        guard let target = arguments.value("--to") else { throw UsageError("option --to FILE is missing: where to write") }
        let isPiped = target == "-"
        if isPiped, arguments.flag("--json") { throw UsageError("option --json is not for --to -: standard output is the backup") }
        if isPiped, Console.outputIsTerminal { throw UsageError("--to -: a backup is not for a terminal") }
        guard let place = try ControlSocket.place(arguments) else {
            throw UsageError("backup asks a relay on this machine; the address names another one")
        }
        let path = try ControlSocket.ask(place, address: \.address) { path throws(RelayServerError) in
            try WhiteboardRelay.status(controlSocket: path)
        }.path
        let space = try arguments.invitation().space
        let report = try await unlessInterrupted(leaving: isPiped ? nil : WholeFile.temporary(target)) {
            try save(isPiped ? nil : WholeFile(target, mode: 0o600), from: path, space)
        }
        let object: JSONValue = [
            "type": "backup", "file": .string(target), "files": .integer(report.files), "bytes": .integer(report.bytes),
        ]
        if arguments.flag("--json") { try Console.print(object.line) }
        Console.note("\(Printable.count(report.files, "file")) saved; the backup has \(Printable.size(report.bytes)).")
        return .ok
    }

    /// - Parameter file: `nil`: standard output.
    private static func save(_ file: WholeFile?, from path: String, _ space: String?) throws -> BackupReport {
        var file = file, bytes = 0
        let progress = Progress()
        defer { progress.end() }
        do {
            let report = try WhiteboardRelay.backup(controlSocket: path, space: space) { piece in
                if file == nil { try pipe(piece) } else { try file!.write(piece) }
                bytes += piece.count
                progress.show("\(Printable.size(bytes)) read")
            }
            try file?.finish()
            return report
        } catch {
            file?.abandon()
            throw error
        }
    }

    /// Whoever reads it and ends has no backup.
    private static func pipe(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.withUnsafeBytes({ Descriptor.write($0, to: STDOUT_FILENO) }) else {
            throw Failure("standard output cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    private static func restore(_ arguments: Arguments) async throws -> ExitCode {
        guard let target = arguments.value("--data-dir") else { throw UsageError("option --data-dir DIR is missing: what to make") }
        let source = arguments.positional[0]
        // Safe: the thread that reads has it alone.
        nonisolated(unsafe) let restore = try FolderRestore(into: target)
        let report = try await unlessInterrupted(leaving: restore.draft) { try read(source, into: restore) }
        let object: JSONValue = [
            "type": "restored", "folder": .string(target), "files": .integer(report.files), "bytes": .integer(report.bytes),
            "relay": .string(report.relay), "made": .string(report.made),
        ]
        if arguments.flag("--json") { try Console.print(object.line) }
        Console.note(
            "\(Printable.escaped(target)) has the \(Printable.count(report.files, "file")) that boardrelay \(Printable.escaped(report.relay)) "
                + "saved on \(Printable.escaped(report.made)).")
        return .ok
    }

    private static func read(_ path: String, into restore: FolderRestore) throws -> RestoreReport {
        let progress = Progress()
        defer { progress.end() }
        do {
            var bytes = 0
            try FileContents.pieces(path) { piece in
                try restore.read(piece)
                bytes += piece.count
                progress.show("\(Printable.size(bytes)) read")
            }
            return try restore.finish()
        } catch {
            restore.abandon()
            throw error
        }
    }

    /// Does what blocks on a thread of its own; Ctrl-C ends the process, and leaves nothing half written.
    ///
    /// - Parameter unfinished: the file or folder that goes then.
    private static func unlessInterrupted<Value: Sendable>(
        leaving unfinished: String?, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let signals = Signals()
        let watch = Task {
            guard await signals.first() != nil else { return }
            if let unfinished { try? FileManager.default.removeItem(atPath: unfinished) }
            Console.endPassing()
            exit(ExitCode.interrupted.rawValue)
        }
        defer { watch.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            SystemThread.detach { continuation.resume(with: Result(catching: body)) }
        }
    }
}
