#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayJournal
import RelayServer
import RelayStorage
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    private static let folder = Argument(name: "FOLDER", help: "The data folder. No relay may run on it.")

    static let check = Command(
        name: "check",
        summary: "says what a data folder holds, and what is wrong with it",
        arguments: [folder],
        options: [.json],
        notes: [
            """
            Lists the files of the journal and of the boards with their whole changes, what is damaged or missing, and the keys. \
            Changes nothing.
            """,
            "State unused: the next start removes that file. unnamed: the journal does not name this file, which alone may have the board.",
            "Exit code 0: nothing is wrong. 1: something is damaged or missing, or cannot be read.",
        ],
        examples: [
            .init("boardrelay check ./board", "Says what is in ./board."),
            .init("boardrelay check ./board --json | grep damaged", "Only what is damaged."),
        ],
        run: { arguments in
            let salvage = try read(arguments, progress: Progress())
            try show(salvage, json: arguments.flag("--json"))
            if salvage.isWrong {
                Console.note("'boardrelay repair \(salvage.path) --to NEWFOLDER' writes what can be saved into a new folder.")
            }
            return salvage.isWrong ? .failed : .ok
        })

    static let repair = Command(
        name: "repair",
        summary: "writes what can be saved of a data folder into a new one",
        arguments: [folder],
        options: [.value("--to", as: "NEWFOLDER", help: "Folder to write. It must be empty, or not exist."), .json],
        notes: [
            "Prints what 'boardrelay check' does, then each board that was saved. Changes nothing in FOLDER.",
            """
            A relay starts on NEWFOLDER. Damaged and missing changes are lost; drawings that only a board's file has are saved. \
            Clients read the boards again.
            """,
            "Exit code 0: saved. 1: nothing can be saved, or the new folder cannot be written.",
        ],
        examples: [.init("boardrelay repair ./board --to ./saved", "Then 'boardrelay serve --data-dir ./saved'.")],
        run: { arguments in
            guard let target = arguments.value("--to") else { throw UsageError("option --to NEWFOLDER is missing: where to write") }
            let json = arguments.flag("--json"), progress = Progress()
            let salvage = try read(arguments, progress: progress)
            try show(salvage, json: json)
            do throws(RelayServerError) {
                let (saved, keys) = try salvage.write(to: target)
                progress.end()
                try? show(saved, keys.map(\.rawValue), in: target, json: json)
            } catch {
                progress.end()
                throw Failure("\(error)")
            }
            return .ok
        })

    private static func read(_ arguments: Arguments, progress: Progress) throws -> FolderSalvage {
        let path = arguments.positional[0]
        guard FileManager.default.fileExists(atPath: path + "/.") else {
            throw UsageError("FOLDER: there is no folder \(Printable.quoted(path))")
        }
        defer { progress.end() }
        do throws(RelayServerError) {
            return try FolderSalvage(reading: path) { progress.show("\(Printable.size($0)) read") }
        } catch {
            throw Failure("\(error)")
        }
    }

    // MARK: - What is printed

    private static func show(_ salvage: FolderSalvage, json: Bool) throws {
        if json {
            for finding in salvage.findings { try Console.print(finding.json.line) }
            let object: JSONValue = [
                "type": "folder", "folder": .string(salvage.path), "starts": .bool(salvage.refusal == nil),
                "reason": .optional(salvage.refusal), "isWrong": .bool(salvage.isWrong), "entries": .integer(salvage.entries),
                "lastSequence": .integer(Int(clamping: salvage.lastSequence)), "start": .integer(Int(salvage.start)),
            ]
            return try Console.print(object.line)
        }
        var table = Table(("kind", .left), ("file", .left), ("state", .left), ("size", .right), ("holds", .left))
        for finding in salvage.findings {
            table.add(finding.kind.rawValue, finding.file, finding.state.rawValue, Printable.size(finding.bytes), finding.holds)
        }
        for line in table.lines { try Console.print(line) }
        try Console.print("\(Printable.count(salvage.entries, "key")) besides boards, start number \(salvage.start).")
        let path = Printable.escaped(salvage.path)
        if let refusal = salvage.refusal {
            try Console.print("A relay does not start on \(path): \(Printable.escaped(refusal)).")
        } else {
            try Console.print("A relay starts on \(path)\(salvage.isWrong ? ", without what is damaged or missing" : "").")
        }
    }

    private static func show(_ saved: SalvageReport, _ keys: [String], in folder: String, json: Bool) throws {
        for line in saved.lines { Console.note(Printable.escaped(line)) }
        for board in saved.boards {
            let channel = String(decoding: board.name, as: UTF8.self)
            if json {
                let object: JSONValue = [
                    "type": "saved", "channel": .string(channel), "records": .integer(board.records), "bytes": .integer(board.bytes),
                ]
                try Console.print(object.line)
            } else {
                let counts = "\(Printable.count(board.records, "record")), \(Printable.size(board.bytes))"
                try Console.print("saved \(Printable.escaped(channel)): \(counts)")
            }
        }
        if json {
            let object: JSONValue = [
                "type": "repaired", "folder": .string(folder), "entries": .integer(saved.entries), "boards": .integer(saved.boards.count),
                "keys": .array(keys.map(JSONValue.string)), "start": .integer(Int(saved.start)),
            ]
            return try Console.print(object.line)
        }
        let kept = keys.isEmpty ? "no key of the relay" : "the \(keys.joined(separator: " and ")) key\(keys.count == 1 ? "" : "s")"
        let counts = "\(Printable.count(saved.boards.count, "board")), \(Printable.count(saved.entries, "key")) besides boards"
        try Console.print("\(Printable.escaped(folder)) has \(counts), and \(kept).")
    }
}

extension FolderFinding {
    fileprivate var holds: String {
        var parts: [String] = []
        if let channel { parts.append(channel) }
        if let changes { parts.append(Printable.count(changes, "whole change")) }
        parts += damage.map { "\(Printable.count($0.count, "byte")) from \($0.lowerBound) on damaged" }
        if unfinishedBytes > 0 { parts.append("\(Printable.count(unfinishedBytes, "byte")) unfinished at the end") }
        return parts.joined(separator: ", ")
    }

    fileprivate var json: JSONValue {
        [
            "type": .string(kind.rawValue), "file": .string(file), "state": .string(state.rawValue), "bytes": .integer(bytes),
            "channel": .optional(channel), "changes": .optional(changes),
            "damage": damage.isEmpty
                ? .null : .array(damage.map { ["offset": .integer($0.lowerBound), "bytes": .integer($0.count)] }),
            "unfinishedBytes": unfinishedBytes > 0 ? .integer(unfinishedBytes) : .null,
        ]
    }
}
