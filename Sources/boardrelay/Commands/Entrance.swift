import RelayAccess
import RelayGateway
import RelayIO
import RelayServer

/// How people come in: what `serve` says at its start, and again when the machine's addresses are others.
struct Entrance {
    let access: RelayServer.Access
    let keys: AccessKeys?
    /// Whether a person reads it. What a service writes ends in somebody's log, where keys have no place.
    let isTerminal: Bool
    let columns: Int
    /// On which it listens.
    var port = RelayAddress.defaultPort

    /// Who may, as one sentence.
    var rule: String {
        switch access {
        case .open: "Everybody who can reach it may come in."
        case .tokens: "Who has a token may come in."
        case .keys:
            "Who has a key may come in: 'boardrelay key show\(port == RelayAddress.defaultPort ? "" : " --port \(port)")' tells "
                + (keys == nil || !isTerminal ? "both." : "all addresses.")
        }
    }

    /// - Parameter addresses: the best first.
    func lines(_ addresses: [RelayAddress]) -> [String] {
        guard isTerminal, let first = addresses.first else { return [] }
        switch access {
        case .open, .tokens: return page(KeyText.url(first), "Open in a browser")
        case .keys(let role, _):
            guard let keys else { return [] }
            return page(KeyText.url(first, keys.join), "join (\(role.rawValue))")
                + ["host (moderator):  \(KeyText.hostURL(first, host: keys.host, join: keys.join))  (for you alone)"]
        }
    }

    private func page(_ url: String, _ label: String) -> [String] {
        ["\(label):  \(url)"] + (Self.code(url, columns: columns).map { [""] + $0 + [""] } ?? [])
    }

    /// - Returns: `nil` if the terminal is too narrow for it, or the address too long for what a camera reads at a glance.
    static func code(_ url: String, columns: Int) -> [String]? {
        guard let code = QRCode(Array(url.utf8)), code.size + 2 * QRCode.quietZone <= columns else { return nil }
        return code.terminalLines
    }

    /// For who has waited for two minutes and nobody came.
    static func hint(port: UInt16) -> String {
        "Nobody has come in yet. Is the other device in the same network (a guest Wi-Fi keeps devices apart), and does this machine's firewall let TCP port \(port) in?"
    }
}
