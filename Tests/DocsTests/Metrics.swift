import Foundation
import RelayIO
import RelayServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The metrics of a relay, as `/metrics` of one that has just started tells them.
struct Metrics {
    var name: String
    var kind: String
    var help: String
    var label: String?
    /// In the order of the text; none of a label whose values come with events.
    var values: [String] = []

    /// Labels without a value at the start of a relay.
    private static let labelsOfEvents = ["boardrelay_http_answers_total": "status", "boardrelay_http_ends_total": "reason"]

    static func read() async throws -> [Metrics] {
        let server = try await RelayServer.start(.init(host: "127.0.0.1", port: 0))
        let address = URL(string: "http://127.0.0.1:\(server.address.port)/metrics")!
        let (data, _) = try await URLSession.shared.data(from: address)
        await server.stop()
        return parse(String(decoding: data, as: UTF8.self))
    }

    static func parse(_ text: String) -> [Metrics] {
        var found: [Metrics] = [], help: Substring = ""
        for line in text.split(separator: "\n") {
            if let head = line.firstMatch(of: /^# HELP [a-z_0-9]+ (.*)$/) {
                help = head.output.1
            } else if let head = line.firstMatch(of: /^# TYPE ([a-z_0-9]+) ([a-z]+)$/) {
                let name = String(head.output.1)
                found.append(Metrics(name: name, kind: String(head.output.2), help: String(help), label: labelsOfEvents[name]))
            } else if let sample = line.firstMatch(of: /^[a-z_0-9]+\{([a-z]+)="([^"]*)"/), sample.output.1 != "le" {
                let last = found.count - 1
                found[last].label = String(sample.output.1)
                if labelsOfEvents[found[last].name] == nil { found[last].values.append(String(sample.output.2)) }
            }
        }
        return found
    }
}
