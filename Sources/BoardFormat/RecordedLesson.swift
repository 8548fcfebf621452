internal import RelayPrimitives
import RelayWire

/// What happened on a board while it was recorded, as one line says it. `docs/board-format.md` has the lines.
package struct LessonEvent: Equatable, Sendable {
    /// What a line tells.
    package enum Kind: Equatable, Sendable {
        /// The recording began, at this time in ms since 1970.
        case begin(time: Int)
        case record(WhiteboardRecord, by: String)
        case removal(key: String, by: String)
        case clear(by: String)
        /// A message that is not kept.
        case message(WhiteboardRecord.Payload, customType: String?, key: String?, by: String)
        case packet(WhiteboardRecord.Payload, topic: String, by: String, device: String)
        /// A device has stopped publishing there.
        case left(topic: String, by: String, device: String)
        /// The board's paper; `nil`: its item was removed.
        case paper(String?)
        /// The recorder lost its link.
        case broken
        /// What did not come, and how much of it at most; `nil`: nobody knows.
        case missed(Missed, count: Int?)
        /// What stood before does not count.
        case reset
        case end
    }

    package enum Missed: String, Equatable, Sendable { case messages, packets }

    /// In ms since all that stood on the board had come; 0 for what stood there.
    package var at: Int
    package var kind: Kind
    /// The next line belongs to the same change set.
    package var more: Bool

    package init(at: Int, _ kind: Kind, more: Bool = false) {
        self.at = at
        self.kind = kind
        self.more = more
    }
}

/// A lesson as `boardrelay record` wrote it.
package struct RecordedLesson: Equatable, Sendable {
    package let board: String
    /// The first one is `begin`.
    package let events: [LessonEvent]
    /// Whether the recorder ended it, and it was not cut off.
    package var isWhole: Bool { events.last?.kind == .end }

    /// Whether a file begins as one does: other recordings have strokes and no events.
    package static func begins(_ ndjson: [UInt8]) -> Bool {
        // Not all lines: a file may have a million of them.
        let line = ndjson.drop { " \t\r\n".utf8.contains($0) }.prefix { $0 != UInt8(ascii: "\n") }
        let object = try? BoardFields(reading: Array(line), fractions: true)
        return object?.optional("event") != nil
    }

    /// - Throws: `RecordingError` with the number of the first line that cannot be read, or is of another recording. A last line that
    ///   has no end, and is no JSON, is passed over: its recorder was stopped while it wrote.
    package init(ndjson bytes: [UInt8]) throws(RecordingError) {
        var board: String?
        var events: [LessonEvent] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isBlank {
            do throws(BoardError) {
                let object: BoardFields
                do {
                    object = try BoardFields(reading: Array(line))
                } catch {
                    if index == lines.count - 1 { break }
                    throw error
                }
                guard let event = try LessonEvent(object) else { continue }
                let name = try object.string("board")
                guard name.utf8.elementsEqual((board ?? name).utf8) else {
                    throw .badValue(field: "board", problem: "a recorded lesson is of one board")
                }
                board = name
                try event.check(after: events.last)
                events.append(event)
            } catch {
                throw RecordingError(line: index + 1, problem: error)
            }
        }
        guard let board else { throw RecordingError(line: 1, problem: .missingField("event")) }
        self.board = board
        self.events = events
    }
}

extension LessonEvent {
    /// - Returns: `nil` for an event of a newer recorder.
    init?(_ object: BoardFields) throws(BoardError) {
        at = try object.integer("at", in: 0...BoardLimits.integerMax)
        switch object.optional("more") {
        case nil, .bool(false)?: more = false
        case .bool(true)?: more = true
        default: throw .wrongType(field: "more", expected: "true or false")
        }
        switch try object.string("event") {
        case "begin":
            try object.checkVersion()
            kind = .begin(time: try object.integer("time", in: 0...BoardLimits.integerMax))
        case "record":
            let record = WhiteboardRecord(
                key: try object.string("key"), customType: try object.text("customType"), payload: try object.payload())
            try record.validate()
            kind = .record(record, by: try object.string("by"))
        case "remove":
            let key = try object.string("key")
            try WhiteboardRecord(key: key, payload: .bytes([0])).validate()
            kind = .removal(key: key, by: try object.string("by"))
        case "clear": kind = .clear(by: try object.string("by"))
        case "message":
            kind = .message(
                try object.payload(), customType: try object.text("customType"), key: try object.text("key"), by: try object.string("by"))
        case "packet":
            kind = .packet(
                try object.payload(), topic: try object.string("topic"), by: try object.string("by"), device: try object.string("device"))
        case "left": kind = .left(topic: try object.string("topic"), by: try object.string("by"), device: try object.string("device"))
        case "paper": kind = .paper(try object.text("paper"))
        case "broken": kind = .broken
        case "missed":
            guard let what = Missed(rawValue: try object.string("what")) else {
                throw .badValue(field: "what", problem: "messages or packets is expected")
            }
            kind = .missed(what, count: try object.optionalInteger("count", in: 0...BoardLimits.integerMax))
        case "reset": kind = .reset
        case "end": kind = .end
        default: return nil
        }
    }

    fileprivate func check(after last: LessonEvent?) throws(BoardError) {
        var isBegin = false
        if case .begin = kind { isBegin = true }
        guard isBegin == (last == nil) else {
            throw .badValue(field: "event", problem: isBegin ? "a recorded lesson begins once" : "begin is expected first")
        }
        guard let last else { return }
        guard at >= last.at else {
            throw .outOfRange(field: "at", limit: last.at...BoardLimits.integerMax, actual: at)
        }
        guard last.kind != .end else { throw .badValue(field: "event", problem: "nothing may follow the end") }
    }

    /// One line without its end, UTF-8.
    package func line(board: String) -> [UInt8] {
        JSONText.object { json in
            json.member("at", at)
            if case .bytes(let bytes)? = payload { json.member("base64", String(decoding: Base64.encode(bytes), as: UTF8.self)) }
            json.member("board", board)
            if let by { json.member("by", by) }
            if case .missed(_, let count?) = kind { json.member("count", count) }
            if let customType { json.member("customType", customType) }
            if let device { json.member("device", device) }
            json.member("event", word)
            if let key { json.member("key", key) }
            if more { json.member("more", json: Array("true".utf8)) }
            if case .paper(let paper?) = kind { json.member("paper", paper) }
            if case .text(let text)? = payload { json.member("text", text) }
            if case .begin(let time) = kind { json.member("time", time) }
            if let topic { json.member("topic", topic) }
            if case .begin = kind { json.member("v", BoardLimits.version) }
            if case .missed(let what, _) = kind { json.member("what", what.rawValue) }
        }
    }

    private var word: String {
        switch kind {
        case .begin: "begin"
        case .record: "record"
        case .removal: "remove"
        case .clear: "clear"
        case .message: "message"
        case .packet: "packet"
        case .left: "left"
        case .paper: "paper"
        case .broken: "broken"
        case .missed: "missed"
        case .reset: "reset"
        case .end: "end"
        }
    }

    /// Id of the acting user.
    package var by: String? {
        switch kind {
        case .record(_, let by), .removal(_, let by), .clear(let by), .message(_, _, _, let by), .packet(_, _, let by, _),
            .left(_, let by, _):
            by
        case .begin, .paper, .broken, .missed, .reset, .end: nil
        }
    }

    private var payload: WhiteboardRecord.Payload? {
        switch kind {
        case .record(let record, _): record.payload
        case .message(let payload, _, _, _), .packet(let payload, _, _, _): payload
        default: nil
        }
    }

    private var customType: String? {
        switch kind {
        case .record(let record, _): record.customType
        case .message(_, let customType, _, _): customType
        default: nil
        }
    }

    private var key: String? {
        switch kind {
        case .record(let record, _): record.key
        case .removal(let key, _): key
        case .message(_, _, let key, _): key
        default: nil
        }
    }

    private var topic: String? {
        switch kind {
        case .packet(_, let topic, _, _), .left(let topic, _, _): topic
        default: nil
        }
    }

    private var device: String? {
        switch kind {
        case .packet(_, _, _, let device), .left(_, _, let device): device
        default: nil
        }
    }
}

extension BoardFields {
    fileprivate func text(_ key: String) throws(BoardError) -> String? { optional(key) == nil ? nil : try string(key) }

    /// A field `text` or `base64`.
    func payload() throws(BoardError) -> WhiteboardRecord.Payload {
        switch (optional("text"), optional("base64")) {
        case (nil, nil): throw .missingField("text, or base64,")
        case (_?, _?): throw .badValue(field: "base64", problem: "a record has text or base64, not both")
        case (_?, nil): return .text(try string("text"))
        case (nil, _?):
            guard let bytes = Base64.decode(Array(try string("base64").utf8)) else {
                throw .badValue(field: "base64", problem: "base64 with padding is expected")
            }
            return .bytes(bytes)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Of spaces alone.
    var isBlank: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }
}
