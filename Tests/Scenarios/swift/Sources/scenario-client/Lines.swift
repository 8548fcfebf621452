// The lines of Tests/Scenarios/README.md.
import Foundation
import RelayClient
import RelayPrimitives

struct Command: Decodable, Sendable {
    struct Change: Decodable, Sendable {
        var key: String
        var payload: Data?
    }

    var `do`: String
    var id: String
    var address, user, secret, channel, since, key, topic: String?
    var presenceTimeoutMs: Int?
    var slot: UInt32?
    var payload: Data?
    var changes: [Change]?
}

struct Line: Encodable {
    struct Record: Encodable {
        var key: String
        var offset: UInt64
        var sha256: String
    }

    var `is`: String
    var id, state, channel, user, key, sha256, mark, topic: String?
    var resumed: Bool?
    var code, size: Int?
    var offset, from, to: UInt64?
    var epoch: [UInt32]?
    var flow, sequence, first, last: UInt32?
    var records: [Record]?

    func say() {
        guard let data = try? JSONEncoder().encode(self) else { preconditionFailure("a line that is no JSON") }
        FileHandle.standardOutput.write(data + [0x0A])
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func digest(_ payload: Payload) -> String { hexadecimal(SHA256.hash(payload.bytes)) }

func mark(_ payload: Payload) -> String { String(decoding: payload.bytes.prefix(16), as: UTF8.self) }
