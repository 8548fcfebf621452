#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayConsole
import RelayGateway
import RelayIO
import RelayRights
import RelayServer

/// How people come in: what `serve` says at its start, and again when the machine's addresses are others.
@available(macOS 15, iOS 18, *)
struct Entrance: Sendable {
    /// Of a relay with spaces: each has its own.
    var isShared = false
    let access: WhiteboardRelay.Access
    let keys: AccessKeys?
    /// On which it listens.
    var host: String?
    var port = RelayAddress.defaultPort
    var service: Service?
    /// Whether a person reads it. What a service writes ends in somebody's log, where keys have no place.
    var isTerminal: Bool
    /// Of the terminal.
    var columns: Int
    var rows: Int

    /// Who may come in, as one sentence.
    var rule: String {
        if isShared { return "Its spaces have keys of their own: '\(keyCommand) --space NAME' prints them." }
        return switch access {
        case .open: "Anyone who can reach it may take part, without a key."
        case .tokens: "To come in takes a token."
        case .keys: "To come in takes a key: '\(keyCommand)' prints the one for guests and the one for the host."
        }
    }

    /// How the operator of a service, another user, asks it: by its data folder, or as root, where that and a group may.
    enum Service { case folder(String), group }

    private var keyCommand: String {
        let command = "boardrelay key show", port = port == RelayAddress.defaultPort ? "" : " --port \(port)"
        return switch service {
        case .folder(let folder): "\(command) --data-dir \(folder)"
        case .group: "sudo \(command)\(port)"
        case nil: command + port
        }
    }

    /// The address for others, and its code as the last thing, so that the terminal shows all of it. The host's address is left out:
    /// a projector may show the terminal.
    func lines(_ ways: Ways) -> [String] {
        guard isTerminal, !isShared, let first = ways.entrances.first else { return [] }
        switch access {
        case .open, .tokens: return page(first, KeyText.url(first), "Open in a browser")
        case .keys(let role, _): return keys.map { page(first, KeyText.url(first, $0.join), "join (\(role.rawValue))") } ?? []
        }
    }

    /// Whether there is a code to be shown: only where others reach the relay, and where it fits.
    func hasCode(_ ways: Ways) -> Bool { lines(ways).count > 2 }

    /// For whoever runs the lesson, when asked for; `nil` if there is no host key.
    func hostLine(_ ways: Ways) -> String? {
        guard let keys, let first = ways.entrances.first else { return nil }
        return "host (moderator):  \(KeyText.hostURL(first, host: keys.host, join: keys.join))  (for you alone)"
    }

    private func page(_ address: RelayAddress, _ url: String, _ label: String) -> [String] {
        // What no browser opens an app reads.
        let isForApps = address.protection != .plain && address.protection != .certified
        let line = (isForApps ? "For apps" : label) + ":  \(url)"
        if IPAddress(address.host)?.isLoopback ?? (address.host == "localhost") {
            let isEvery = host == nil || host == "::" || host == "0.0.0.0"
            let why = isEvery ? "This machine has no network" : "The relay listens on \(address.host)"
            return ["\(why): only this machine reaches it.", line]
        }
        // The cursor stands below it all.
        let left = rows - (line.count + columns - 1) / columns - 1
        return switch Self.code(url, columns: columns, rows: left) {
        case .lines(let code): [line] + code
        case .needs(let wide, let high):
            [
                "A QR code of this address needs a terminal of \(wide) columns and \(high + rows - left) rows, not \(columns) and \(rows).",
                line,
            ]
        case .tooLong: ["This address is too long for a QR code.", line]
        }
    }

    enum Code: Equatable {
        case lines([String])
        /// More room than there is.
        case needs(columns: Int, rows: Int)
        /// For what a camera reads at a glance.
        case tooLong
    }

    /// With less error correction where that makes it fit.
    static func code(_ url: String, columns: Int, rows: Int) -> Code {
        var smallest = Code.tooLong
        for level in [QRLevel.medium, .low] {
            guard let code = QRCode(Array(url.utf8), level: level) else { continue }
            let lines = code.terminalLines
            let width = code.size + 2 * QRCode.quietZone
            if width <= columns, lines.count <= rows { return .lines(lines) }
            smallest = .needs(columns: width, rows: lines.count)
        }
        return smallest
    }

    /// For a host who has waited for two minutes while nobody came.
    static func hint(port: UInt16) -> String {
        "Nobody has come in yet. Is the other device in the same network (a guest Wi-Fi keeps devices apart), and does this machine's firewall let TCP port \(port) in?"
    }
}

@available(macOS 15, iOS 18, *)
extension Entrance {
    /// For the terminal as it is now.
    init(_ options: WhiteboardRelay.Options, _ server: WhiteboardRelay, isShared: Bool = false) {
        let (columns, rows) = Console.size
        let folder = ProcessInfo.processInfo.environment["STATE_DIRECTORY"]
        self.init(
            isShared: isShared, access: options.access, keys: server.keys, host: options.host, port: server.address.port,
            service: options.groupSocket == nil ? folder.map { .folder($0) } : .group, isTerminal: Console.errorsAreTerminal,
            columns: columns, rows: rows)
    }

    func show(_ ways: Ways) {
        for line in lines(ways) { Console.note(line) }
    }

    /// Alone on the screen; what stood there is above it.
    func showAlone(_ ways: Ways) {
        Console.noteRaw(String(repeating: "\n", count: rows))
        show(ways)
    }
}
