import Foundation
import RelayWire
import Testing

/// The table of frames is what the codec of this package reads and writes. JavaScript's and Python's have tests of their own.
@Suite("The table of frames and the Swift codec") struct FrameTableTests {
    @Test("numbers, names and senders are those of FrameType")
    func types() throws {
        let rows = try FrameTable.read().frames.map { "\($0.number) \($0.name) \($0.from)" }
        let types = FrameType.allCases.sorted { $0.rawValue < $1.rawValue }.map { type in
            let digits = String(type.rawValue, radix: 16, uppercase: true)
            return "0x\(digits.count == 1 ? "0" : "")\(digits) \(type.name) \(type.sender)"
        }
        #expect(rows == types, "\(rows.difference(from: types))")
    }

    @Test("each frame has exactly the flags that it may have")
    func flags() throws {
        let common: [String: FrameFlags] = [
            "text": .text, "customType": .customType, "key": .key, "part": .part, "echo": .echo, "retain": .retain,
            "noHistory": .noHistory, "extensions": .extensions,
        ]
        let ofPackets: [String: FrameFlags] = [
            "text": .text, "slot": .slot, "senderTime": .senderTime, "echo": .echo, "extensions": .extensions,
        ]
        for row in try FrameTable.read().frames {
            let type = try #require(FrameType.allCases.first { $0.name == row.name })
            let allowed = type.isBinary ? type.flagsAllowed.union(.extensions) : type.flagsAllowed
            let names = type == .packet || type == .publishPacket ? ofPackets : common
            let expected = names.filter { allowed.contains($0.value) }.mapValues(\.rawValue)
            #expect(row.flags == expected, "\(row.name)")
            #expect(Set((row.fields ?? []).compactMap(\.flag)).isSubset(of: row.flags.keys), "\(row.name)")
            #expect((row.body == "binary") == type.isBinary, "\(row.name)")
        }
    }

    @Test("fields of binary bodies are read from frames.tsv as its third column tells them")
    func binary() throws {
        let frames = Dictionary(uniqueKeysWithValues: try FrameTable.read().frames.map { ($0.name, $0) })
        let text = try String(contentsOf: Document.root.appending(path: "docs/vectors/frames.tsv"), encoding: .utf8)
        var seen: Set<String> = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let cells = line.split(separator: "\t").map(String.init)
            let row = try #require(frames[String(cells[0].prefix { $0 != "." })], "\(cells[0])")
            guard row.body == "binary" else { continue }
            seen.insert(row.name)
            var reader = BodyReader(hex: cells[1])
            let words = reader.words(of: row)
            let told = try #require(words, "\(cells[0]) has other fields")
            for word in told { #expect(" \(cells[2]) ".contains(" \(word)"), "\(cells[0]): \(word)") }
        }
        #expect(seen == Set(frames.values.filter { $0.body == "binary" }.map(\.name)))
    }

    @Test("JSON bodies and answers have the fields, their types and no others")
    func json() throws {
        let table = try FrameTable.read()
        for row in table.frames where row.body == "json" || row.body == "texts" {
            let type = try #require(FrameBodies.body(row.name), "\(row.name)")
            check(type, row.fields ?? [], table, row.name)
            if let answer = row.answer {
                let type: any JSONObject.Type = FrameBodies.answers[row.name] ?? EmptyAnswer.self
                check(type, answer, table, "answer to \(row.name)")
            }
        }
    }

    private func check<Body: JSONObject>(_ type: Body.Type, _ fields: [FrameTable.Field], _ table: FrameTable, _ place: String) {
        func decode(_ object: [String: Any]) throws -> Body {
            try Array(Self.json(object)).withUnsafeBytes { try JSONBody.decode(type, from: $0, bytesMax: Limits.frameBodyBytesMax) }
        }
        let whole = table.sample(of: fields)
        do {
            let body = try decode(whole)
            let written = try JSONSerialization.jsonObject(with: Data(JSONBody.encode(body))) as? [String: Any] ?? [:]
            let (here, there) = (try Self.json(whole), try Self.json(written))
            #expect(here == there, "\(place): \(String(decoding: here, as: UTF8.self)) becomes \(String(decoding: there, as: UTF8.self))")
            #expect(Self.absent(in: body) == FrameBodies.others[place, default: []], "\(place): the table has not these fields")
        } catch {
            Issue.record("\(place): \(error) of \(whole)")
        }
        for field in fields {
            var less = whole, wrong = whole
            less[field.name] = nil
            wrong[field.name] = FrameTable.wrong(for: field.type)
            let mayLack = field.optional == true || FrameBodies.lacking.contains("\(place).\(field.name)")
            #expect(((try? decode(less)) != nil) == mayLack, "\(place) without \(field.name)")
            #expect((try? decode(wrong)) == nil, "\(place) with \(field.name) of another type")
        }
    }

    private static func json(_ object: [String: Any]) throws -> Data {
        try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    }

    /// Properties without a value, at any depth: of a whole body those that the table does not have.
    private static func absent(in value: Any) -> Set<String> {
        guard !(value is Since), !(value is Name) else { return [] }
        return Mirror(reflecting: value).children.reduce(into: []) { found, child in
            let inside = Mirror(reflecting: child.value)
            if inside.displayStyle == .optional, inside.children.isEmpty {
                if let label = child.label { found.insert(label) }
            } else {
                found.formUnion(absent(in: child.value))
            }
        }
    }

    @Test("bounds of fields are those of the code")
    func bounds() throws {
        let table = try FrameTable.read()
        var found: [String: [Int]] = [:]
        for row in table.frames {
            for field in row.fields ?? [] {
                let bounds = [field.min, field.max, field.bytesMin, field.bytesMax, field.itemsMin, field.itemsMax]
                let there = bounds.compactMap { $0 }
                if !there.isEmpty, field.name != "id" { found["\(row.name).\(field.name)"] = there }
            }
        }
        let expected = Self.expectedBounds
        #expect(found.filter { expected[$0.key] != $0.value } == [:])
        #expect(expected.filter { found[$0.key] == nil } == [:])
    }

    private static var expectedBounds: [String: [Int]] {
        func ends(_ range: ClosedRange<Int>) -> [Int] { [range.lowerBound, range.upperBound] }
        let page = [1, 100]
        return [
            "setReaderLimits.packetsPerSecond": ends(Limits.readerPacketsPerSecond),
            "setReaderLimits.bytesPerSecond": ends(Limits.readerBytesPerSecond),
            "setReaderLimits.waitingBytes": ends(Limits.readerWaitingBytes),
            "login.instance": [16, 16], "login.device": [16, 16], "flowOpened.device": [16, 16], "revokeLock.ownerDevice": [16, 16],
            "locks.device": [16, 16], "login.secret": [32, 32], "welcome.secret": [32, 32], "offerDevice.secret": [32, 32],
            "welcome.relay": [32, 32], "welcome.resumeToken": [32, 32],
            "login.key": [1, Limits.keyBytesMax], "renew.key": [1, Limits.keyBytesMax], "login.token": [Limits.tokenBytesMax],
            "renew.token": [Limits.tokenBytesMax], "join.token": [Limits.tokenBytesMax],
            "login.presenceTimeoutMs": ends(Limits.presenceTimeoutMilliseconds), "login.client": [Limits.clientDescriptionBytesMax],
            "closing.address": [Limits.addressBytesMax],
            "endSession.reason": [Limits.endReasonBytesMax], "endChannel.reason": [Limits.endReasonBytesMax],
            "banUser.forMs": ends(Limits.banMilliseconds),
            "joinTopic.meta": [Limits.topicMetaBytesMax], "joinTopic.lifetimeMs": ends(Limits.packetLifetimeMilliseconds),
            "subscribeTopic.users": [Limits.usersPerRequestMax], "unsubscribeTopic.users": [Limits.usersPerRequestMax],
            "setLock.ttlMs": ends(Limits.lockTTLMilliseconds), "acquireLock.waitMs": ends(Limits.lockWaitMilliseconds),
            "setMetadata.items": [1], "updateMetadata.items": [1],
            "getBans.limit": page, "status.limit": page, "boards.limit": page, "who.limit": [1, Limits.membersPerPageMax],
        ]
    }
}

extension FrameTable {
    /// A value of each field, at the end of what its type may be.
    func sample(of fields: [Field]) -> [String: Any] {
        Dictionary(uniqueKeysWithValues: fields.map { ($0.name, sample(of: $0.type, $0.values)) })
    }

    private func sample(of type: String, _ values: [String]?) -> Any {
        if type.hasPrefix("[") { return [sample(of: String(type.dropFirst().dropLast()), nil)] }
        if type.hasPrefix("{") { return ["a": type == "{[u53]}" ? [1, 2, 3] : sample(of: String(type.dropFirst().dropLast()), nil)] }
        switch type {
        case "u16": return Int(UInt16.max)
        case "u32": return Int(UInt32.max)
        case "u53": return Int(Limits.integerMax)
        case "bool": return true
        case "text": return values?[0] ?? "messages"
        case "name": return "lesson"
        case "kind": return "stream"
        case "since": return ["epoch": ["incarnation": 1, "start": 2], "offset": 3, "own": true]
        default: return sample(of: shapes[type] ?? [])
        }
    }

    static func wrong(for type: String) -> Any { type == "text" || type == "name" || type == "kind" ? 7 : "text" }
}

/// Reads a binary body by its row of the table.
private struct BodyReader {
    private let flags: UInt8
    private var rest: ArraySlice<UInt8>

    init(hex: String) {
        let digits = Array(hex.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)! }
        (flags, rest) = (bytes[5], bytes[6...])
    }

    /// `name=value` of each field but those that are told in other words; `nil` if the body ends elsewhere.
    mutating func words(of row: FrameTable.Row) -> [String]? {
        if flags & 0x80 != 0 { guard let count = integer(2), take(count) != nil else { return nil } }
        var words: [String] = [], last: [String: Int] = [:]
        for field in row.fields ?? [] {
            if let flag = field.flag, let bit = row.flags[flag], flags & bit == 0 { continue }
            switch field.type {
            case "rest": rest = []
            case "ranges": guard take(last["count"]! * 12) != nil else { return nil }
            case "text8":
                guard let count = integer(1), let text = take(count) else { return nil }
                words.append("\(field.name)=\"\(String(decoding: text, as: UTF8.self))\"")
            default:
                guard let bits = Int(field.type.dropFirst()), let value = integer(bits / 8) else { return nil }
                last[field.name] = value
                if !["part", "parts", "count", "reason"].contains(field.name) { words.append("\(field.name)=\(value)") }
            }
        }
        return rest.isEmpty ? words : nil
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func integer(_ bytes: Int) -> Int? { take(bytes).map { $0.reduce(0) { $0 << 8 | Int($1) } } }
}
