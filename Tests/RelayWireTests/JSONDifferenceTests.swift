import Foundation
import RelayPrimitives
import RelayWire
import Testing

/// The relay's own reader and writer of JSON beside Foundation's: the same bytes out, the same bodies taken and refused.
@Suite struct JSONDifferenceTests {
    /// The body as it is written again once it was read.
    private func ours<T: JSONObject>(_ type: T.Type, _ body: [UInt8], bytesMax: Int) throws -> Result<[UInt8], WireError> {
        do {
            return .success(try body.withUnsafeBytes { JSONBody.encode(try JSONBody.decode(type, from: $0, bytesMax: bytesMax)) })
        } catch let error as WireError {
            return .failure(error)
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// - Parameter fields: some that the type has.
    private func compare<T: JSONObject>(_ type: T.Type, _ body: [UInt8], bytesMax: Int, fields: Set<String> = []) throws {
        let comment = Comment(rawValue: "\(type): \(String(decoding: body, as: UTF8.self))")
        let reference = Result { () throws(WireError) in try ReferenceJSON.decode(ReferenceValue.self, from: body, bytesMax: bytesMax) }
        switch (try ours(type, body, bytesMax: bytesMax), reference) {
        case (.success(let written), .success(let there)):
            let value = try ReferenceValue(written)
            #expect(written == (try ReferenceJSON.encode(value)), comment)
            #expect(value.isPart(of: there), comment)
            #expect(fields.allSatisfy { there[$0] == nil || there[$0] == .null || value[$0] != nil }, comment)
        case (.failure(let error), .success(let there)):
            #expect(error.code == .badName || error.code == .badRequest && there.explains(error.text), "\(comment): \(error.text)")
        case (.failure(let error), .failure(let expected)):
            #expect(error == expected, comment)
        case (.success, .failure(let error)):
            Issue.record("\(comment) is taken: \(error.text)")
        }
    }

    @Test("[JS1] every body of the vectors is written as Foundation writes it", arguments: FrameVector.json)
    func written(vector: FrameVector) throws {
        let written = try ours(vector.bodyType!, vector.frame.body, bytesMax: vector.bodyBytesMax).get()
        #expect(text(written) == text(try ReferenceJSON.encode(ReferenceValue(written))))
    }

    @Test(
        "[JS1–JS5] bodies that are changed at random are read, or refused, as by Foundation behind the strict check",
        arguments: FrameVector.json)
    func mutants(vector: FrameVector) throws {
        let type = vector.bodyType!
        guard case .object(let fields) = try ReferenceValue(vector.frame.body) else {
            Issue.record("\(vector.name) is no object")
            return
        }
        var mutation = Mutation(seed: vector.bytes.reduce(7) { $0 &* 31 &+ UInt64($1) })
        for body in [vector.frame.body] + (0..<50).map({ _ in mutation.mutate(vector.frame.body) }) {
            try compare(type, body, bytesMax: vector.bodyBytesMax, fields: Set(fields.keys))
        }
    }

    @Test(
        "[JS1] random values, with every kind of character and nesting, are written as Foundation writes them",
        arguments: 0..<200 as Range<UInt64>)
    func values(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let value = Something(&random, depth: 0)
        #expect(String(decoding: JSONBody.encode(value), as: UTF8.self) == String(decoding: try ReferenceJSON.encode(value), as: UTF8.self))
    }

    @Test(
        "[JS1] bodies are written as Foundation writes them, and read again, whichever fields are there",
        arguments: 0..<200 as Range<UInt64>)
    func fields(seed: UInt64) throws {
        func check<Body: JSONObject>(_ body: Body) throws {
            let written = JSONBody.encode(body)
            #expect(text(written) == text(try ReferenceJSON.encode(ReferenceValue(written))))
            #expect(try ours(Body.self, written, bytesMax: Limits.frameBodyBytesMax).get() == written)
        }
        var random = RandomBody(seed)
        try check(random.welcome())
        try check(random.subscribeAnswer())
        try check(random.presenceEvent())
        try check(random.closeNotice())
        try check(EmptyAnswer(id: random.integer()))
    }

    @Test("[JS1] every escape and every byte of a string, as text and as key, is written as Foundation writes it")
    func characters() throws {
        for scalar in (0..<0x250).map({ UInt32($0) }) + [0x2028, 0x2029, 0xFEFF, 0xFFFF, 0x1F600, 0x10FFFF] {
            let text = "a" + String(Character(Unicode.Scalar(scalar)!)) + "b"
            let value = Texts(texts: scalar < 0x80 ? [text: text] : ["key": text])
            #expect(JSONBody.encode(value) == (try ReferenceJSON.encode(value)), "U+\(String(scalar, radix: 16))")
        }
    }

    @Test("[JS1] a body is written whole, however large it is")
    func sizes() throws {
        for count in [0, 1, 10_000] + Array(1_900...2_100) {
            let texts = Texts(texts: ["a": String(repeating: "x", count: count), "b": "", "c": "\n"])
            #expect(JSONBody.encode(texts) == (try ReferenceJSON.encode(texts)), "\(count)")
        }
    }

    @Test("[JS2] a key that stands twice is found among few keys and among many, wherever both stand", arguments: [2, 15, 16, 17, 18, 40])
    func duplicates(count: Int) throws {
        for first in 0..<count - 1 {
            for second in first + 1..<count {
                let keys = (0..<count).map { $0 == second ? first : $0 }.map {
                    $0 == first && $0.isMultiple(of: 2) ? #""\u006b\#($0)":0"# : #""k\#($0)":0"#
                }
                try compare(Texts.self, Array("{\(keys.joined(separator: ","))}".utf8), bytesMax: Limits.jsonBodyBytesMax)
            }
        }
    }
}

private struct Texts: JSONObject, Encodable {
    var texts: [String: String]?

    mutating func fields(_ json: inout JSONFields) { json("texts", &texts) }
}

/// Anything, any number of times within itself.
private struct Something: JSONObject, Encodable {
    var text = ""
    var flag: Bool?
    var number = 0
    var small: UInt16?
    var large: UInt64 = 0
    var b: [Something] = []
    var a10: [String: String] = [:]
    var a9: [[Int64]] = []
    var A: [Something]?
    var nothing: [String: Int] = [:]

    init() {}

    mutating func fields(_ json: inout JSONFields) {
        json("A", &A)
        json("a10", &a10)
        json("a9", &a9)
        json("b", &b)
        json("flag", &flag)
        json("large", &large)
        json("nothing", &nothing)
        json("number", &number)
        json("small", &small)
        json("text", &text)
    }

    init(_ random: inout SplitMix64, depth: Int) {
        func count() -> Int { depth > 2 ? 0 : Int.random(in: 0...3, using: &random) }
        text = random.text()
        flag = .random(in: 0...2, using: &random) == 0 ? nil : .random(using: &random)
        number = .random(in: -9_007_199_254_740_991...9_007_199_254_740_991, using: &random)
        small = .random(using: &random) ? nil : .random(in: 0...UInt16.max, using: &random)
        large = .random(in: 0...9_007_199_254_740_991, using: &random)
        for _ in 0..<count() { b.append(Something(&random, depth: depth + 1)) }
        for _ in 0..<count() * 3 { a10[random.key()] = random.text() }
        for _ in 0..<count() { a9.append((0..<count()).map { Int64($0) - 1 }) }
        guard .random(using: &random) else { return }
        A = (0..<count()).map { _ in Something(&random, depth: depth + 1) }
    }
}

extension SplitMix64 {
    fileprivate mutating func text() -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            let limit: UInt32 = [0x20, 0x80, 0x80, 0x80, 0x800, 0x1_0000, 0x11_0000].randomElement(using: &self)!
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &self)) { text.unicodeScalars.append(scalar) }
        }
        return text
    }

    /// ASCII.
    fileprivate mutating func key() -> String {
        String(decoding: (0..<Int.random(in: 0...6, using: &self)).map { _ in UInt8.random(in: 0..<0x80, using: &self) }, as: UTF8.self)
    }
}

/// Changes a body here and there.
private struct Mutation {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    private static let values = [
        "null", "0", "-0", "-1", "1", "65535", "65536", "4294967295", "4294967296", "9007199254740991", "9007199254740992", "1.0", "1e2",
        "true",
        "\"\"", "\"x\"", "\"a/b\"", "\"\\u0061\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\u{E9}\"", "[]", "[1]", "[null]", "[[]]", "{}",
        "{\"a\":1}", "{\"a\":null}",
        "\"message\"", "\"snapshot\"", "\"moderator\"",
    ]
    private static let pieces: [[UInt8]] =
        ["{", "}", "[", "]", "\"", ":", ",", "-", "0", "9", ".", "e", "\\", "\\u0061", " ", "\n", "null", "\u{E9}"].map { Array($0.utf8) }
        + [[0x80], [0], [0xED, 0xA0, 0x80]]

    mutating func mutate(_ body: [UInt8]) -> [UInt8] {
        var body = body
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: replaceValue(&body)
            case 4: removeMember(&body)
            case 5: body = rename(body)
            case 6: if let place = body.indices.randomElement(using: &random) { body.remove(at: place) }
            case 7: body.insert(contentsOf: Self.pieces.randomElement(using: &random)!, at: Int.random(in: 0...body.count, using: &random))
            case 8: body = escapeLetter(body)
            default:
                if let place = body.indices.randomElement(using: &random) { body[place] = Self.pieces.randomElement(using: &random)![0] }
            }
        }
        return body
    }

    /// What stands between a colon, comma or bracket and the next comma or bracket.
    private mutating func replaceValue(_ body: inout [UInt8]) {
        let begins = body.indices.filter { [UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: ",")].contains(body[$0]) }
        guard let begin = begins.randomElement(using: &random) else { return }
        let end =
            body[(begin + 1)...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains($0) } ?? body.endIndex
        body.replaceSubrange(begin + 1..<end, with: Array(Self.values.randomElement(using: &random)!.utf8))
    }

    private mutating func removeMember(_ body: inout [UInt8]) {
        guard let begin = body.indices.filter({ body[$0] == UInt8(ascii: ",") }).randomElement(using: &random) else { return }
        let end =
            body[(begin + 1)...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains($0) } ?? body.endIndex
        body.removeSubrange(begin..<end)
    }

    /// One key becomes another, or a second time the same.
    private mutating func rename(_ body: [UInt8]) -> [UInt8] {
        let parts = body.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false).map(Array.init)
        guard parts.count > 3 else { return body }
        var changed = parts
        changed[Int.random(in: 0..<parts.count / 2, using: &random) * 2 + 1] =
            parts[Int.random(in: 0..<parts.count / 2, using: &random) * 2 + 1]
        return Array(changed.joined(separator: [UInt8(ascii: "\"")]))
    }

    private mutating func escapeLetter(_ body: [UInt8]) -> [UInt8] {
        let letters = body.indices.filter { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(body[$0]) }
        guard let place = letters.randomElement(using: &random) else { return body }
        return Array(body[..<place]) + Array("\\u00".utf8) + Array([body[place]].hex.utf8) + Array(body[(place + 1)...])
    }
}

/// Bodies with any of their fields.
private struct RandomBody {
    private var random: SplitMix64

    init(_ seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
        T(truncatingIfNeeded: UInt64.random(in: 0...(1 << 53) - 1, using: &random) >> UInt64.random(in: 0...52, using: &random))
    }

    private mutating func maybe<T>(_ value: T) -> T? { .random(using: &random) ? value : nil }
    private mutating func flag() -> Bool { .random(using: &random) }
    private mutating func name() -> Name { try! Name("n" + random.key().filter { $0 >= " " && !"*/\\\u{7F}".contains($0) }) }
    private mutating func states() -> [String: String] {
        Dictionary((0..<Int.random(in: 0...4, using: &random)).map { _ in (random.key(), random.text()) }) { $1 }
    }

    private mutating func members() -> [Member] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in Member(user: name().text, states: states()) }
    }
    private mutating func names() -> [Name] { (0..<Int.random(in: 0...3, using: &random)).map { _ in name() } }

    mutating func closeNotice() -> CloseNotice { CloseNotice(code: ErrorCode(rawValue: integer()), text: random.text()) }

    mutating func welcome() -> Welcome {
        let grants = Dictionary((0..<Int.random(in: 0...3, using: &random)).map { _ in (random.key(), ["publish", random.text()]) }) { $1 }
        let access = AccessBody(role: maybe("editor"), grants: maybe(grants), untilMs: maybe(integer()))
        var limits = ServerLimits()
        limits.messageBytesMax = integer()
        return Welcome(
            id: integer(), relay: String(repeating: "0", count: 32), user: name(), handle: integer(), resumeToken: random.text(),
            resumed: flag(), lastEnd: maybe(closeNotice()),
            start: integer(),
            heartbeatMs: integer(), presenceTimeoutMs: integer(), access: access, limits: limits)
    }

    mutating func subscribeAnswer() -> SubscribeAnswer {
        SubscribeAnswer(
            id: maybe(integer()), kind: flag() ? .message : .stream, channel: name(), handle: integer(),
            features: Feature.allCases.filter { _ in flag() },
            quiet: flag(), epoch: maybe(Epoch(start: integer(), incarnation: integer())), head: maybe(integer()), recovered: maybe(flag()),
            missed: maybe(OffsetRange(from: integer(), to: integer())), reset: maybe(flag()), after: maybe(integer()),
            modes: maybe(names().map(\.text))
        )
    }

    mutating func presenceEvent() -> PresenceEvent {
        let kinds: [PresenceEvent.Kind] = [.snapshot, .join, .leave, .timeout, .stateChanged, .interval]
        var event = PresenceEvent(channel: integer(), event: kinds.randomElement(using: &random)!)
        event.members = maybe(members())
        event.total = maybe(integer())
        event.user = maybe(name())
        event.states = maybe(states())
        event.removed = maybe(names())
        event.joined = maybe(members())
        event.changed = maybe(members())
        event.left = maybe(names())
        event.timedOut = maybe(names())
        return event
    }
}
