import Foundation
import RelayGateway
import Testing

@Suite("The document") struct DocumentTests {
    private func lines() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let lines = try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8).split(separator: "\n").map(
            String.init)
        return Array(lines.drop { $0 != "## HTTP" }.prefix { $0 != "## Errors" })
    }

    @Test("[HT1] the table of refusals names each reason once, with its status")
    func refusals() throws {
        var found: [String: UInt16] = [:]
        for line in try lines() where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let reasons = cells[0].split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            var statuses = cells[1].split(separator: ",").compactMap { UInt16($0.trimmingCharacters(in: .whitespaces)) }
            // One stands for all of a line.
            if statuses.count == 1 { statuses = reasons.map { _ in statuses[0] } }
            try #require(statuses.count == reasons.count, "\(line)")
            for (reason, status) in zip(reasons, statuses) {
                #expect(found.updateValue(status, forKey: reason) == nil, "\(reason) stands twice")
            }
        }
        #expect(found == Dictionary(uniqueKeysWithValues: HTTPRefusal.allCases.map { ($0.rawValue, $0.status.rawValue) }))
    }

    @Test("[HT2, HT3, HT4, WS4] the limits are those of the document")
    func limits() throws {
        let rows = Dictionary(
            try lines().filter { $0.hasPrefix("| ") }.map { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                let numbers = cells[1].replacing(",", with: "").split { !$0.isNumber }.compactMap { Int($0) }
                return (cells[0], numbers)
            }, uniquingKeysWith: { first, _ in first })
        #expect(rows["head of a request"] == [GatewayLimits.headBytesMax, GatewayLimits.fieldsMax, GatewayLimits.headMilliseconds / 1_000])
        #expect(rows["bytes behind a request that is not answered"] == [GatewayLimits.pipelinedBytesMax])
        #expect(rows["requests of one connection"] == [GatewayLimits.requestsPerConnectionMax])
        #expect(rows["message of a client on a WebSocket"] == [GatewayLimits.messageBytesMax])
        #expect(rows["payload of a control frame"] == [GatewayLimits.controlBytesMax])
    }

    @Test("[HT6] the fields on every answer are those of the document")
    func fields() throws {
        let row = try #require(try lines().first { $0.hasPrefix("|on every answer|") })
        for (name, value) in HTTPResponse.securityFields { #expect(row.contains("`\(name): \(value)`")) }
    }
}
