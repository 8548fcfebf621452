import Foundation
import RelayIO
import RelayServer

extension Command {
    static let key = Command(
        name: "key",
        summary: "shows and changes the keys of a relay on this machine",
        arguments: [
            .init(name: "ACTION", help: "show: the addresses with which to come in; rotate: draws keys anew, and shows them."),
            .init(name: "WHICH", isOptional: true, help: "join or host, of which nothing but the addresses is printed, one a line; both, each under its name, if not given."),
        ],
        options: [
            .flag("--end-sessions", help: "rotate: whoever came in by the old key is closed; without it they stay until their link ends."),
            .json,
        ] + ControlSocket.options,
        notes: [
            "Asks over a Unix socket that only the user who runs the relay can open.",
            "The join key lets draw (with 'serve --pupils view': look on), the host key lets do everything. What is printed is a secret: show it to those who are meant to come in.",
            "After 'rotate' no link that is lost comes back with the old key, not even within its presence timeout.",
        ],
        examples: [
            .init("boardrelay key show join", "The address for the class."),
            .init("boardrelay key rotate join --end-sessions", "Everybody out who came in by the join key; a new one for the next lesson."),
        ],
        run: key)

    private enum Action: String, CaseIterable { case show, rotate }

    private static func key(_ arguments: Arguments) async throws -> ExitCode {
        let action: Action = try arguments.action()
        var kinds = Set(AccessKeys.Kind.allCases)
        if arguments.positional.count > 1 {
            guard let kind = AccessKeys.Kind(rawValue: arguments.positional[1]) else {
                throw UsageError("WHICH is one of join, host, not \(Printable.quoted(arguments.positional[1]))")
            }
            kinds = [kind]
        }
        let sockets = try ControlSocket.sockets(arguments)
        let report: KeysReport
        switch action {
        case .show:
            guard !arguments.flag("--end-sessions") else { throw UsageError("option --end-sessions is for rotate") }
            report = try ControlSocket.ask(sockets) { path throws(RelayServerError) in try RelayServer.keys(controlSocket: path) }
        case .rotate:
            let endsSessions = arguments.flag("--end-sessions")
            report = try ControlSocket.ask(sockets) { path throws(RelayServerError) in
                try RelayServer.rotateKeys(kinds, endsSessions: endsSessions, controlSocket: path)
            }
        }
        for kind in AccessKeys.Kind.allCases where kinds.contains(kind) {
            for line in KeyText.lines(report, kind, json: arguments.flag("--json"), isNamed: kinds.count > 1) { try Console.print(line) }
        }
        return .ok
    }
}

/// Addresses with a key in them.
enum KeyText {
    /// - Parameter isNamed: says whose addresses these are, where there are others.
    static func lines(_ report: KeysReport, _ kind: AccessKeys.Kind, json: Bool, isNamed: Bool) -> [String] {
        let key = kind == .join ? report.join : report.host
        let role = kind == .join ? report.joinRole : "moderator"
        let addresses = RelayAddress(report.address).map { Interfaces.reachable($0) } ?? []
        let urls = addresses.map { kind == .join ? url($0, key) : hostURL($0, host: key, join: report.join) }
        if json {
            return [
                (["kind": .string(kind.rawValue), "role": .string(role), "key": .string(key), "urls": .array(urls.map(JSON.string))] as JSON).line
            ]
        }
        return isNamed ? ["\(kind.rawValue) (\(role)):"] + urls.map { "  \($0)" } : urls
    }

    /// The page of who has come in by it invites others by the join key, and nobody as a moderator.
    static func hostURL(_ address: RelayAddress, host: String, join: String) -> String { url(address, host) + "&j=\(join)" }

    /// Opens the whiteboard. What stands behind `#` no browser sends to anybody.
    static func url(_ address: RelayAddress, _ key: String? = nil) -> String {
        address.pageURL + (key.map { "#key=\($0)" } ?? "")
    }
}
