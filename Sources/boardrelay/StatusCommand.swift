import Foundation
import RelayCore
import RelayIO
import RelayServer

/// `boardrelay status`: asks the relay of this user on this machine.
enum StatusCommand: Command {
    static let name = "status"
    static let summary = "who is connected, which channels there are, what waits"
    static let options: [Option] = [.value("port"), .value("control"), .flag("json")]
    static let help = """
        usage: boardrelay status [options]

        Asks a relay that runs on this machine, as this user, for its census.

          --port PORT      the relay's port, 7420 if absent
          --control PATH   its control socket, if it was started with --control
          --json           one JSON object on stdout

        examples:
          boardrelay status
          boardrelay status --json
        """

    static func run(_ arguments: Arguments) async throws {
        try arguments.expectNoRest()
        let port = UInt16(try arguments.number("port", 1...65535) ?? 7420)
        let path = arguments.value("control") ?? RelayServer.defaultControlSocket(port: port)
        let status = try RelayServer.status(controlSocket: path)
        if arguments.has("json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(status), as: UTF8.self))
        } else {
            print(text(status))
        }
    }

    static func text(_ status: Status) -> String {
        let census = status.census
        let counters = census.counters
        var lines = [
            "\(status.address)  pid \(status.pid)  up \(status.uptimeSeconds) s",
            "\(census.connections) connections, \(census.sessionsPresent) sessions (\(census.sessionsAway) away), "
                + "\(census.channels.count) channels, \(census.queueMemoryBytes) bytes of queues",
            "accepted \(counters.messagesAccepted) messages, \(counters.packetsAccepted) packets; "
                + "shed \(counters.packetsShedSlow + counters.packetsShedExpired), dropped over the rate \(counters.packetsDroppedRate)",
        ]
        if !census.sessions.isEmpty {
            lines += ["", Table.row(["user", "peer", "channels", "queued", "lost"])]
            lines += census.sessions.map {
                Table.row([
                    $0.user, $0.away ? "away" : $0.peer, "\($0.messageChannels)+\($0.streamChannels)", "\($0.queuedBytes)", "\($0.packetsLost)",
                ])
            }
        }
        if !census.channels.isEmpty {
            lines += ["", Table.row(["channel", "kind", "inside", "seen", "topics"])]
            lines += census.channels.map { Table.row([$0.name, $0.kind, "\($0.subscribers)", "\($0.members)", "\($0.topics)"]) }
        }
        return lines.joined(separator: "\n")
    }
}

private enum Table {
    private static let widths = [24, 28, 10, 10, 8]

    static func row(_ cells: [String]) -> String {
        zip(cells, widths).map { cell, width in
            cell.count >= width ? cell + " " : cell + String(repeating: " ", count: width - cell.count)
        }.joined().trimmingCharacters(in: .whitespaces)
    }
}
