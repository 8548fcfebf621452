import RelayPrimitives
@testable import RelayClientCore
import RelayWire
import Testing

/// The relay's frames about boards, and the calls that they answer.
extension MachineDriver {
    struct Stored {
        var accepted: ClientToken
        var stored: ClientToken
        var tokens: StoredTokens { StoredTokens(accepted: accepted, stored: stored) }
    }

    private func tokens() -> Stored { Stored(accepted: token(), stored: token()) }

    @discardableResult
    func retain(_ text: String, key: String = "k", channel: String = "lesson", echo: Bool = false) throws -> Stored {
        let stored = tokens()
        try machine.send(.text(text), to: channel, customType: nil, retainedAs: key, echo: echo, tokens: stored.tokens, at: now)
        carryOut()
        return stored
    }

    @discardableResult
    func remove(_ key: String) throws -> Stored {
        let stored = tokens()
        try machine.send(removing: key, from: "lesson", tokens: stored.tokens, at: now)
        carryOut()
        return stored
    }

    @discardableResult
    func large(_ payload: Payload, key: String? = "big", retain: Bool = true, customType: String? = nil, echo: Bool = false) throws
        -> Stored
    {
        let stored = tokens()
        try machine.sendLarge(
            payload, to: "lesson", customType: customType, key: key, retain: retain, echo: echo, tokens: stored.tokens, at: now)
        carryOut()
        return stored
    }

    @discardableResult
    func change(_ changes: [RecordChange], to channel: String = "lesson") throws -> Stored {
        let stored = tokens()
        try machine.send(changes: changes, to: channel, tokens: stored.tokens, at: now)
        carryOut()
        return stored
    }

    /// `+` with the offset, the error's name, or `nil` while nobody knows.
    func outcome(_ token: ClientToken) -> String? {
        switch completed[token] {
        case .success(.offset(let offset))?: "+\(offset)"
        case .success(let answer)?: "\(answer)"
        case .failure(let error)?: error.name
        case nil: nil
        }
    }

    /// The link breaks; another one is there `after` this, or as soon as the machine asks for it then.
    func comeBack(resumed: Bool, start: UInt32 = 1000, forgotten: Bool = false, after pause: Duration = .seconds(1)) {
        let links = linksAsked.count
        cut()
        pass(pause)
        // Attempts of meanwhile came to nothing; the newest makes it.
        if linksAsked.count == links { pass(.seconds(20)) }
        open()
        logIn(resumed: resumed, start: start, forgotten: forgotten)
    }

    /// What was published, as its reader would see it.
    func published() -> [Published] { sent(.publish).map(Published.init) }

    struct Published {
        var number: UInt64
        var key: String?
        var part: UInt16
        var parts: UInt16
        var flags: FrameFlags
        var customType: String?
        var payload: [UInt8]
        var text: String { String(decoding: payload, as: UTF8.self) }

        init(_ frame: Frame) {
            self = frame.body.withUnsafeBytes { bytes in
                let publish = try! PublishFrame(flags: frame.flags, body: bytes)
                return Published(publish)
            }
        }

        private init(_ publish: PublishFrame) {
            number = publish.number
            key = publish.flags.contains(.key) ? String(decoding: publish.key, as: UTF8.self) : nil
            (part, parts, flags) = (publish.part, publish.parts, publish.flags)
            customType = publish.flags.contains(.customType) ? String(decoding: publish.customType, as: UTF8.self) : nil
            payload = Array(publish.payload)
        }
    }

    // MARK: - Frames

    static func stored(_ number: UInt64, offset: UInt64) -> Frame { Frame(.stored, body: accepted(number, offset: offset).body) }

    static func notStored(_ number: UInt64) -> Frame {
        .json(.notStored, NotStored(number: number, WireError(.storageFailed, "the disk is gone")))
    }

    static func refused(_ number: UInt64, _ code: ErrorCode) -> Frame { .json(.error, ErrorBody(WireError(code, "no"), number: number)) }

    /// A record, or with `retain: false` a message or a part of one.
    static func record(
        _ offset: UInt64, key: String? = "k", _ payload: [UInt8], isText: Bool = true, part: (UInt16, UInt16)? = nil, retain: Bool = true,
        publisher: UInt32 = 2, customType: String? = nil, channel: UInt32 = 10
    ) -> Frame {
        var body: [UInt8] = []
        var flags: FrameFlags = isText ? .text : []
        body.append(bigEndian: channel)
        body.append(bigEndian: publisher)
        body.append(bigEndian: offset)
        body.append(bigEndian: UInt64(1_700_000_000_000))
        if let customType { body.append(short: customType); flags.insert(.customType) }
        if let key { body.append(short: key); flags.insert(.key) }
        if let part {
            body.append(bigEndian: part.0)
            body.append(bigEndian: part.1)
            flags.insert(.part)
        }
        if retain { flags.insert(.retain) }
        body.append(contentsOf: payload)
        return Frame(.deliver, flags: flags, body: body)
    }

    static func record(
        _ offset: UInt64, key: String? = "k", _ text: String, part: (UInt16, UInt16)? = nil, retain: Bool = true, publisher: UInt32 = 2,
        customType: String? = nil, channel: UInt32 = 10
    ) -> Frame {
        record(
            offset, key: key, Array(text.utf8), part: part, retain: retain, publisher: publisher, customType: customType, channel: channel)
    }

    static func reset(incarnation: UInt32 = 2, head: UInt64) -> Frame {
        .json(.reset, ChannelReset(channel: 10, epoch: Epoch(start: 1000, incarnation: incarnation), head: head))
    }

    static func caughtUp(_ head: UInt64, channel: UInt32 = 10) -> Frame { .json(.caughtUp, CaughtUp(channel: channel, head: head)) }

    static func catchingUp(after: UInt64, channel: UInt32 = 10) -> Frame {
        .json(.catchingUp, CatchingUp(channel: channel, after: after))
    }

    static func cleared(_ offset: UInt64) -> Frame {
        .json(.cleared, Cleared(channel: 10, offset: offset, user: try! Name("bob"), time: 5))
    }

    /// Several frames as one chunk of bytes.
    func feed(_ frames: [Frame]) { feed(frames.flatMap(\.bytes)) }

    /// In message channel `lesson` from the beginning; `head` of what follows.
    func readBoard(head: UInt64, after: UInt64 = 0) throws {
        try ask(.subscribe(try Name("lesson"), features: [.messages], quiet: false, since: .beginning)) {
            Self.subscribed(id: $0, handle: 10, head: head, after: after)
        }
        feed(Self.userNamed(2, "bob"))
    }

    /// The position that a login would tell now.
    var position: UInt64? { machine.known.positions[try! Name("lesson")]?.offset }
}

extension [ClientEvent] {
    /// One word for each event about messages: `3` a message, `3r` a record, `3-` a removal, `[1r 2r]` a batch.
    var words: [String] {
        withoutLink.map { event in
            switch event {
            case .message(let message): Self.word(message)
            case .board(let batch): "[" + batch.messages.map(Self.word).joined(separator: " ") + "]"
            case .cleared(let cleared): "cleared \(cleared.offset) \(cleared.user)"
            case .caughtUp(channel: _, let head): "caughtUp \(head)"
            case .messagesMissed(let missed):
                switch missed.extent {
                case .reset: "reset"
                case .range(let range): "missed \(range.lowerBound)…\(range.upperBound)"
                }
            case .packet(let packet): "packet \(packet.sequence)"
            default: "\(event)"
            }
        }
    }

    private static func word(_ message: Message) -> String {
        "\(message.offset)" + (message.isRemoval ? "-" : message.isRetained ? "r" : "")
    }
}
