// JSON bodies about coming into channels and going out of them. [CH1–CH9]

/// A channel: its kind and its name.
package struct ChannelID: JSONObject, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Message or stream.
    package var kind: ChannelKind = .message
    /// Its name.
    package var name = ""

    package init() {}

    /// The channel of this kind and name.
    package init(kind: ChannelKind, name: String) { (self.kind, self.name) = (kind, name) }

    package init(kind: ChannelKind, channel: Name) { self.init(kind: kind, name: channel.text) }

    /// What the relay and the client make of a name that was checked.
    package var channel: Name { Name(unchecked: name) }

    package static func < (left: Self, right: Self) -> Bool {
        left.channel == right.channel ? left.kind < right.kind : left.channel < right.channel
    }

    package var description: String { "\(kind.rawValue):\(name)" }

    package mutating func fields(_ json: inout JSONFields) {
        json.name("channel", &name)
        json("kind", &kind)
    }
}

/// What a session wants to receive from a channel.
public enum Feature: String, JSONElement, Hashable, Sendable, CaseIterable {  // [CH3]
    case messages, presence, metadata, locks
}

/// What moderators set of a name's message and stream channel, until they take it back.
public enum ChannelMode: String, Hashable, Sendable, CaseIterable {  // [AC11]
    /// Everybody but moderators has a reader's rights.
    case frozen
    /// Who may publish may also replace and remove others' records.
    case openEditing
}

/// `subscribe` (message channels).
package struct SubscribeRequest: JSONObject, Equatable {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    package internal(set) var features: [String]?
    package internal(set) var quiet: Bool?
    package internal(set) var since: Since?

    package init() {}

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, since: Since? = nil) {
        (self.id, self.channel, self.features, self.quiet, self.since) = (id, channel, features, quiet, since)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("features", &features)
        json("id", &id)
        json("quiet", &quiet)
        json("since", &since)
    }
}

/// `join` (stream channels).
package struct JoinRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    package internal(set) var features: [String]?
    package internal(set) var quiet: Bool?
    package internal(set) var token: String?

    package init() {}

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, token: String? = nil) {
        (self.id, self.channel, self.features, self.quiet, self.token) = (id, channel, features, quiet, token)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("features", &features)
        json("id", &id)
        json("quiet", &quiet)
        json("token", &token)
    }
}

/// `unsubscribe` and `leave`.
package struct ChannelRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread

    package init() {}

    package init(id: UInt32, channel: Name) { (self.id, self.channel) = (id, channel) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
    }
}

/// Answer to `subscribe`, and body of `restored` for a message channel. [CH4, SE9]
package struct SubscribeAnswer: JSONObject {
    /// Absent in `restored`.
    package var id: UInt32?
    package var kind: ChannelKind = .message
    package var channel = Name.unread
    package var handle: UInt32 = 0
    package var features: [Feature] = []
    package var quiet = false
    /// Message channels only.
    package var epoch: Epoch?
    /// Message channels only: the offset of the newest message, 0 before the first.
    package var head: UInt64?
    /// Message channels only, when `since` was given: whether nothing after it is missing.
    package var recovered: Bool?
    package var missed: OffsetRange?
    package var reset: Bool?
    /// When `since` was given, or a resumption has something to catch up with: what is kept above this offset follows.
    package var after: UInt64?
    /// Those that are on; absent: none. [AC11]
    package var modes: [String]?

    package init() {}

    package init(
        id: UInt32?, kind: ChannelKind, channel: Name, handle: UInt32, features: [Feature], quiet: Bool,
        epoch: Epoch? = nil, head: UInt64? = nil, recovered: Bool? = nil, missed: OffsetRange? = nil, reset: Bool? = nil,
        after: UInt64? = nil,
        modes: [String]? = nil
    ) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.handle = handle
        self.features = features
        self.quiet = quiet
        self.epoch = epoch
        self.head = head
        self.recovered = recovered
        self.missed = missed
        self.reset = reset
        self.after = after
        self.modes = modes
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("channel", &channel)
        json("epoch", &epoch)
        json("features", &features)
        json("handle", &handle)
        json("head", &head)
        json("id", &id)
        json("kind", &kind)
        json("missed", &missed)
        json("modes", &modes)
        json("quiet", &quiet)
        json("recovered", &recovered)
        json("reset", &reset)
    }
}

/// Where a reader of a message channel stands: the numbering's identity and the last offset it has seen.
public struct ChannelPosition: JSONObject, Equatable, Sendable {  // [CH6]
    /// The numbering that `offset` belongs to.
    public var epoch = Epoch()
    /// The last offset that was seen.
    public var offset: UInt64 = 0

    package init() {}

    /// A position in a channel's numbering.
    public init(epoch: Epoch, offset: UInt64) { (self.epoch, self.offset) = (epoch, offset) }

    package mutating func fields(_ json: inout JSONFields) {
        json("epoch", &epoch)
        json("offset", &offset)
    }
}

/// Where a subscription begins, if not now. [CH6]
package enum Since: JSONElement, Equatable, Sendable {
    /// With the oldest message that is kept.
    case beginning
    /// Behind the last message that was seen.
    case position(ChannelPosition)
    /// The same of a reader that was getting a board from its beginning: its own records are among what it lacks. [BL3]
    case rest(ChannelPosition)

    /// `nil`: with the oldest.
    package var position: ChannelPosition? {
        switch self {
        case .beginning: nil
        case .position(let position), .rest(let position): position
        }
    }

    package var isRest: Bool { if case .rest = self { true } else { false } }

    /// As `resume.seen` of a login has it. [SE2]
    package var place: [UInt64] {
        guard let position else { return [] }
        let place = [position.offset, UInt64(position.epoch.start), UInt64(position.epoch.incarnation)]
        if case .rest = self { return place + [1] }
        return place
    }

    /// - Returns: `nil` for what no login may say.
    package init?(place: [UInt64]) {
        guard !place.isEmpty else {
            self = .beginning
            return
        }
        guard [3, 4].contains(place.count), place[0] <= Limits.integerMax, let start = UInt32(exactly: place[1]),
            let incarnation = UInt32(exactly: place[2]), place.count == 3 || place[3] == 1
        else { return nil }
        let position = ChannelPosition(epoch: Epoch(start: start, incarnation: incarnation), offset: place[0])
        self = place.count == 4 ? .rest(position) : .position(position)
    }

    private struct Form: JSONObject {
        var beginning: Bool?
        var epoch: Epoch?
        var offset: UInt64?
        var own: Bool?

        mutating func fields(_ json: inout JSONFields) {
            json("beginning", &beginning)
            json("epoch", &epoch)
            json("offset", &offset)
            json("own", &own)
        }
    }

    package init?(_ json: inout JSONFields, at place: Int) {
        var form = Form()
        json.read(&form, at: place)
        switch (form.beginning, form.epoch, form.offset) {
        case (true?, nil, nil): self = .beginning
        case (nil, let epoch?, let offset?):
            let position = ChannelPosition(epoch: epoch, offset: offset)
            self = form.own == true ? .rest(position) : .position(position)
        default:
            json.refuseValue(at: place)
            return nil
        }
    }

    package func write(to json: inout JSONFields) {
        var form = Form()
        switch self {
        case .beginning: form.beginning = true
        case .position(let position): (form.epoch, form.offset) = (position.epoch, position.offset)
        case .rest(let position): (form.epoch, form.offset, form.own) = (position.epoch, position.offset, true)
        }
        json.write(&form)
    }
}

/// Body of `gap`: the history has moved past messages that this reader was still to get. [HI4]
package struct Gap: JSONObject {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    package internal(set) var from: UInt64 = 0
    package internal(set) var to: UInt64 = 0

    package init() {}

    package init(channel: UInt32, from: UInt64, to: UInt64) { (self.channel, self.from, self.to) = (channel, from, to) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("from", &from)
        json("to", &to)
    }
}

/// Body of `barrier`. [HI8]
package struct BarrierRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// A message channel; `nil`: all.
    package internal(set) var channel: Name?

    package init() {}

    package init(id: UInt32, channel: Name?) { (self.id, self.channel) = (id, channel) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
    }
}

/// Body of `cancel`. [SE14]
package struct CancelRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// Of the request that waits.
    package internal(set) var request: UInt32 = 0

    package init() {}

    package init(id: UInt32, request: UInt32) { (self.id, self.request) = (id, request) }

    package mutating func fields(_ json: inout JSONFields) {
        json("id", &id)
        json("request", &request)
    }
}

/// Body of `catchingUp`: one that was live gets what is kept behind an offset. [HI7]
package struct CatchingUp: JSONObject {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    package internal(set) var after: UInt64 = 0

    package init() {}

    package init(channel: UInt32, after: UInt64) { (self.channel, self.after) = (channel, after) }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("channel", &channel)
    }
}

/// Body of `caughtUp`: from here on comes what is accepted. [HI2]
package struct CaughtUp: JSONObject {
    /// Handle.
    package internal(set) var channel: UInt32 = 0
    /// Offset of the newest message.
    package internal(set) var head: UInt64 = 0

    package init() {}

    package init(channel: UInt32, head: UInt64) { (self.channel, self.head) = (channel, head) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("head", &head)
    }
}

/// `history`: messages that are kept, without a subscription. [HI6]
package struct HistoryRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    /// The first offset wanted; the oldest, or with `backwards` the newest, if absent.
    package internal(set) var from: UInt64?
    package internal(set) var backwards: Bool?
    package internal(set) var limit: Int?

    package init() {}

    package init(id: UInt32, channel: Name, from: UInt64? = nil, backwards: Bool? = nil, limit: Int? = nil) {
        (self.id, self.channel, self.from, self.backwards, self.limit) = (id, channel, from, backwards, limit)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("backwards", &backwards)
        json("channel", &channel)
        json("from", &from)
        json("id", &id)
        json("limit", &limit)
    }
}

/// Answer to `history`, behind its `historyItem`s. [HI6]
package struct HistoryAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    /// Absent when there is no such channel.
    package internal(set) var epoch: Epoch?
    package internal(set) var head: UInt64 = 0
    /// Items sent.
    package internal(set) var count = 0
    /// Messages up to this offset are gone; 0: the relay still keeps all.
    package internal(set) var floor: UInt64 = 0
    /// Where to go on; absent at the end.
    package internal(set) var next: UInt64?

    package init() {}

    package init(id: UInt32, epoch: Epoch?, head: UInt64, count: Int, floor: UInt64, next: UInt64?) {
        self.id = id
        self.epoch = epoch
        self.head = head
        self.count = count
        self.floor = floor
        self.next = next
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("count", &count)
        json("epoch", &epoch)
        json("floor", &floor)
        json("head", &head)
        json("id", &id)
        json("next", &next)
    }
}

/// Identity of a channel's numbering: offsets compare only within one epoch.
public struct Epoch: JSONObject, Hashable, Sendable {  // [CH5]
    /// Rises with each start of the relay.
    public var start: UInt32 = 0
    /// Rises with each new numbering of the channel within one start.
    public var incarnation: UInt32 = 0

    package init() {}

    /// As an app has kept it, to go on from a `ChannelPosition` after its next start.
    public init(start: UInt32, incarnation: UInt32) { (self.start, self.incarnation) = (start, incarnation) }

    package mutating func fields(_ json: inout JSONFields) {
        json("incarnation", &incarnation)
        json("start", &start)
    }
}

/// Offsets from `from` to `to`, both included.
package struct OffsetRange: JSONObject, Equatable, Sendable {
    /// The first.
    package var from: UInt64 = 0
    /// The last.
    package var to: UInt64 = 0

    package init() {}

    /// From `from` to `to`, both included.
    package init(from: UInt64, to: UInt64) { (self.from, self.to) = (from, to) }

    package mutating func fields(_ json: inout JSONFields) {
        json("from", &from)
        json("to", &to)
    }
}
