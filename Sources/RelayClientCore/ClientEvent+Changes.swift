internal import RelayRights
import RelayWire

/// A change of a channel's users, or of their states.
///
/// Replaying the changes from a `snapshot` on gives the picture. Telling something already known is allowed:
/// `joined` of a known user replaces, `left` of an unknown one means nothing.
public struct PresenceChange: Equatable, Sendable {
    /// What happened, and to whom.
    public enum Kind: Equatable, Sendable {
        /// The whole picture, oneself included, in order of user id: at most 100 members of `total`; the others are
        /// read with `Presence.users(after:limit:)`.
        case snapshot(members: [Member], total: Int)
        /// Came, with all states.
        case joined(Member)
        /// Left or logged out.
        case left(user: String)
        /// Has been away for longer than its presence timeout.
        case timedOut(user: String)
        /// What was set, and the keys that were removed; other states stay.
        case stateChanged(user: String, set: [String: String], removed: [String])
        /// What happened in some seconds in a channel of many members; `joined` and `changed` with all states.
        case interval(joined: [Member], changed: [Member], left: [String], timedOut: [String])
    }

    /// Where; topics have a channel of their own under each name.
    package var place: ChannelID
    /// What.
    public var kind: Kind

    package init(place: ChannelID, kind: Kind) { (self.place, self.kind) = (place, kind) }

    package init(channel: String, kind: Kind) { self.init(place: ChannelID(kind: .message, name: channel), kind: kind) }

    /// The channel's name.
    public var channel: String { place.channel.text }
}

/// One publisher's stay in one topic.
public struct PublishedTopic: Equatable, Sendable {
    /// Name of the topic.
    public var topic: String
    /// Id of the publisher.
    public var user: String
    /// Which of that user's devices publishes, 16 hexadecimal digits: each stays for itself.
    public var device: String
    /// What the publisher says about its stay in the topic, at most 256 bytes.
    public var meta: String

    package init(topic: String, user: String, device: String = "", meta: String = "") {
        (self.topic, self.user, self.device, self.meta) = (topic, user, device, meta)
    }
}

/// A change of the publishers in a channel's topics.
package struct TopicsChange: Equatable, Sendable {
    /// What the list of publishers means.
    package enum Kind: Equatable, Sendable {
        /// The whole picture. The rest of a long one follows as `joined`.
        case snapshot
        case joined
        case left
    }

    /// The channel's name.
    package var channel: String
    /// What the list below means.
    package var kind: Kind
    /// Who is there, has come or has gone, by `kind`.
    package var publishers: [PublishedTopic]

    package init(channel: String, kind: Kind, publishers: [PublishedTopic]) {
        (self.channel, self.kind, self.publishers) = (channel, kind, publishers)
    }
}

/// Packets of others that this client will not receive. None is lost without being in one of these.
public struct PacketsLost: Equatable, Sendable {
    /// Why they will not come.
    public enum Reason: Equatable, Sendable {
        /// This client's link took less than was sent to it.
        case slowReader
        /// They became too old before this client's link could take them.
        case expired
        /// They were sent while kept messages of the channel were still coming.
        case catchingUp
        /// They were more than this client has said that it takes: `ClientOptions.readerLimits`.
        case readerLimit
        /// The link broke.
        case linkBroken
        /// A reader of this client took less than came.
        case readerLag
        /// A reason of a newer relay.
        case other(UInt8)
    }

    /// Sequences of one flow, both ends included.
    public struct Entry: Equatable, Sendable {
        /// The publisher's stay in the topic, as in `Packet.flow`.
        public var flow: UInt32
        /// The channel's name.
        public var channel: String
        /// Name of the topic.
        public var topic: String
        /// Id of the publisher.
        public var publisher: String
        /// Which of the publisher's devices, as in `Packet.device`.
        public var device: String
        /// The first sequence that will not come.
        public var first: UInt32
        /// The last sequence that will not come. `nil`: the flow ended while the link was broken, or the session is new: how many are
        /// missing from `first` on, if any, is unknown.
        public var last: UInt32?

        package init(
            flow: UInt32, channel: String, topic: String, publisher: String, device: String = "", first: UInt32, last: UInt32? = nil
        ) {
            (self.flow, self.channel, self.topic, self.publisher, self.device) = (flow, channel, topic, publisher, device)
            (self.first, self.last) = (first, last)
        }
    }

    /// Why.
    public var reason: Reason
    /// Which, one entry for each range.
    public var entries: [Entry]

    package init(reason: Reason, entries: [Entry]) { (self.reason, self.entries) = (reason, entries) }
}

/// Own packets that were not passed on, counted.
package struct PacketsDropped: Equatable, Sendable {
    /// Why they were not passed on.
    package enum Reason: Equatable, Sendable {
        /// The relay: more than its rate. The client's own pacing leaves this to users with several clients, and to
        /// networks that hold packets back for long.
        case overRate
        /// They waited for a link for longer than their lifetime.
        case linkDown
        /// The topic could not be joined again after a break.
        case topicNotJoined
        /// They waited when the client was closed, and for 2 s more.
        case closed
    }

    /// The channel's name.
    package var channel: String
    /// Name of the topic.
    package var topic: String
    /// Why.
    package var reason: Reason
    /// Since the last of these events with this channel, topic and reason.
    package var dropped: Int

    package init(channel: String, topic: String, reason: Reason, dropped: Int) {
        (self.channel, self.topic, self.reason, self.dropped) = (channel, topic, reason, dropped)
    }
}

/// Messages of others that this client will not receive.
public struct MessagesMissed: Equatable, Sendable {
    /// How much is missing.
    public enum Extent: Equatable, Sendable {
        /// Messages with offsets in this range of `epoch`, both ends included, as far as there are any: offsets may have holes.
        case range(ClosedRange<UInt64>)
        /// The channel's numbering is another one: what was seen says nothing about it.
        case reset
    }

    /// The channel's name.
    public var channel: String
    /// The channel's numbering now.
    public var epoch: Epoch?
    /// Which messages will not come.
    public var extent: Extent

    package init(channel: String, epoch: Epoch? = nil, extent: Extent) {
        (self.channel, self.epoch, self.extent) = (channel, epoch, extent)
    }
}

/// Kept messages of a channel, as many as one answer holds.
public struct HistoryPage: Equatable, Sendable {
    /// In the order in which they were asked for.
    public var messages: [Message]
    /// The channel's numbering; `nil` while the relay has no such channel in memory: its board may exist.
    public var epoch: Epoch?
    /// Offset of the newest message, kept or not.
    public var head: UInt64
    /// Messages up to this offset are gone; 0: the relay still keeps all.
    package var floor: UInt64
    /// Give it as `from` for the next page; `nil` at the end.
    public var next: UInt64?

    package init(messages: [Message], epoch: Epoch? = nil, head: UInt64 = 0, floor: UInt64 = 0, next: UInt64? = nil) {
        (self.messages, self.epoch, self.head, self.floor, self.next) = (messages, epoch, head, floor, next)
    }
}

/// Something that no call waits for was refused, or has failed where nobody had asked.
public struct Problem: Equatable, Sendable {
    /// What it is about.
    package enum Subject: Equatable, Sendable {
        /// A message that was sent to a channel.
        case message
        /// A record that was written or removed.
        case record
        /// A batch of records.
        case changes
        /// A message to one user.
        case direct
        /// A packet that this client sent, or the topic of its packets, when the right to publish there has ended.
        case packet
        /// A channel that could not be opened again after a break, or in which the right to be has ended: the client is out of it.
        case channel
        /// As `channel`, of the topics of a channel.
        case topics
        /// Publishing in a topic could not begin again after a break: the client sends no more packets to it.
        case publishedTopic
        /// A topic could not be followed again after a break, for the users named (empty: for all).
        case subscribedTopic(users: [String])
        /// Own states could not be set again after a break.
        case states
        /// A user's metadata could not be followed again after a break.
        case userMetadata(String)
        /// `ClientOptions.token` gave no token.
        case token
        /// Packets that the client dropped, or the relay in its place.
        case packets
        /// The join code that this client shows has ended.
        case joinCode
        /// The relay did not say.
        case unknown
    }

    /// What it is about.
    package var subject: Subject
    /// In which channel, if it was about one.
    package var place: ChannelID?
    /// In which topic, if it was about one.
    public var topic: String?
    /// The key of the record, if it was about one.
    public var key: String?
    /// The `id` of the receipt, if there is one.
    public var receipt: UInt64?
    /// Why.
    public var error: RelayError
    /// So many packets were dropped; 1 of anything else.
    public var count = 1
    /// So many earlier ones were not kept.
    public var omitted = 0

    package init(
        subject: Subject, place: ChannelID?, topic: String? = nil, key: String? = nil, receipt: UInt64? = nil, error: RelayError
    ) {
        (self.subject, self.place, self.topic, self.key) = (subject, place, topic, key)
        (self.receipt, self.error) = (receipt, error)
    }

    package init(
        subject: Subject, channel: String? = nil, topic: String? = nil, key: String? = nil, receipt: UInt64? = nil, error: RelayError
    ) {
        self.init(
            subject: subject, place: channel.map { ChannelID(kind: .message, name: $0) }, topic: topic, key: key, receipt: receipt,
            error: error)
    }

    /// Name of the channel, if it was about one.
    public var channel: String? { place?.channel.text }
}

extension ClientEvent {
    /// About what the event holds in memory, in bytes; the bound on unread events counts it.
    var cost: Int {
        let base = 128
        switch self {
        case .message(let message): return base + message.payload.byteCount
        case .board(let batch): return base + batch.messages.reduce(0) { $0 + base + $1.payload.byteCount }
        case .packet(let packet): return base + packet.payload.byteCount
        case .direct(let direct): return base + direct.payload.byteCount
        case .presence(let change): return base + change.kind.cost
        case .topics(let change): return base + change.publishers.reduce(0) { $0 + 96 + $1.meta.utf8.count }
        case .metadata(let change): return base + change.written.reduce(0) { $0 + 96 + $1.value.utf8.count } + change.removed.count * 80
        case .locks(let change): return base + change.locks.count * 160
        case .packetsLost(let lost): return base + lost.entries.count * 64
        case .cleared, .packetsDropped, .messagesMissed, .caughtUp, .refused, .accessExpiring, .channelMode, .joinCodeEnded, .link:
            return base
        case .accessChanged(let access, by: _): return base + access.grants.entries.count * 96
        }
    }
}

extension PresenceChange.Kind {
    fileprivate var cost: Int {
        switch self {
        case .snapshot(let members, total: _): members.reduce(0) { $0 + $1.cost }
        case .joined(let member): member.cost
        case .left, .timedOut: 0
        case .stateChanged(user: _, let set, let removed): set.stateBytes + removed.count * 80
        case .interval(let joined, let changed, let left, let timedOut):
            joined.reduce(0) { $0 + $1.cost } + changed.reduce(0) { $0 + $1.cost } + (left.count + timedOut.count) * 80
        }
    }
}

extension Member {
    fileprivate var cost: Int { 96 + states.stateBytes }
}

extension [String: String] {
    fileprivate var stateBytes: Int { reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 32 } }
}
