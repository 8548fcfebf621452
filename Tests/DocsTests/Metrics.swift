import Foundation
import RelayServer

@testable import RelayIO

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

    static func all() async throws -> [Metrics] {
        let server = try await WhiteboardRelay.start(.init(host: "127.0.0.1", port: 0))
        let head = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:\(server.address.port)\r\nConnection: close\r\n\r\n"
        let text = try answer(to: head, at: server.address)
        await server.stop()
        return parse(text)
    }

    /// All that comes until the end of the connection.
    private static func answer(to request: String, at address: RelayAddress) throws -> String {
        let target = try SocketAddress.resolve(host: address.host, port: address.port)[0]
        let descriptor = socket(target.family, SocketConstants.stream, 0)
        defer { close(descriptor) }
        let count = request.utf8.count
        guard target.withPointer({ connect(descriptor, $0, $1) }) == 0, write(descriptor, request, count) == count else {
            throw SocketAddress.Failure("connect to \(address)", code: errno)
        }
        var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func parse(_ text: String) -> [Metrics] {
        var found: [Metrics] = [], help: Substring = ""
        for line in text.split(whereSeparator: \.isNewline) {
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
