import Dispatch
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
        #if os(Linux)
            let found = Mutex<[FoundService]>([])
            let browser = try Browser(queue: DispatchQueue(label: "boardrelay.find")) { services in found.withLock { $0 = services } }
            try await Task.sleep(for: time)
            browser.close()
            let services = found.withLock { $0 }.sorted { ($0.name, $0.host) < ($1.name, $1.host) }
            guard !services.isEmpty else { throw Failure("no relay announced itself in \(Printable.time(time))") }
            try show(services, json: arguments.flag("--json"))
            return .ok
        #else
            throw Failure("this version finds relays on Linux only; dns-sd -B _boardrelay._tcp lists them here")
        #endif
    }

    private static func show(_ services: [FoundService], json: Bool) throws {
        var table = Table(("NAME", .left), ("WHITEBOARD", .left), ("RELAY", .left))
        for service in services {
            let page = "http://\(service.host):\(service.port)/"
            let addresses = service.addresses.map { address in
                "relay://" + (address.bytes.count == 4 ? "\(address)" : "[\(address)]") + ":\(service.port)"
            }.sorted()
            table.add(service.name, page, addresses.joined(separator: " "))
            guard json else { continue }
            let object: JSONValue = [
                "name": .string(service.name), "url": .string(page), "relays": .array(addresses.map(JSONValue.string)),
                "text": .array(service.text.map(JSONValue.string)),
            ]
            try Console.print(object.line)
        }
        if !json { for line in table.lines { try Console.print(line) } }
    }
}
