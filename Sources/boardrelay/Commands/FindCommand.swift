import RelayClient
import RelayConsole
import RelayDiscovery
import RelayIO
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let find = Command(
        name: "find",
        summary: "lists the relays of the local network",
        options: [
            .value("--timeout", as: "TIME", default: "3s", help: "How long to look."),
            .json,
        ],
        notes: [
            """
            Lists relays that announce themselves by Multicast DNS. Without any it ends with 1. Anyone in the network can claim a name. Keys \
            are never announced.
            """
        ],
        examples: [
            .init("boardrelay find", "Name, whiteboard and address of each."),
            .init("boardrelay find --timeout 10s --json", "Looks longer, and prints one JSON object a line."),
        ],
        run: find)

    private static func find(_ arguments: Arguments) async throws -> ExitCode {
        let time = try arguments.duration("--timeout") ?? .seconds(3)
        let waiting = Waiting("Looking for relays, for \(Printable.time(time))")
        defer { waiting.end() }
        let search = Task {
            var found: [NearbyRelay] = []
            for try await relays in NearbyRelays() { found = relays }
            return found
        }
        let end = Task {
            try await Task.sleep(for: time)
            search.cancel()
        }
        defer { end.cancel() }
        let relays = try await search.value.sorted { ($0.service.name, $0.service.host) < ($1.service.name, $1.service.host) }
        guard !relays.isEmpty else { throw Failure("no relay announced itself in \(Printable.time(time))") }
        try show(relays, json: arguments.flag("--json"))
        return .ok
    }

    private static func show(_ relays: [NearbyRelay], json: Bool) throws {
        var table = Table(("NAME", .left), ("WHITEBOARD", .left), ("RELAY", .left))
        for relay in relays {
            let page = relay.service.place
            let addresses = relay.addresses.map(\.description)
            table.add(relay.service.name, page, addresses.joined(separator: " "))
            guard json else { continue }
            let object: JSONValue = [
                "name": .string(relay.service.name), "url": .string(page), "relays": .array(addresses.map(JSONValue.string)),
                "text": .array(relay.service.text.map(JSONValue.string)),
            ]
            try Console.print(object.line)
        }
        if !json { for line in table.lines { try Console.print(line) } }
    }
}
