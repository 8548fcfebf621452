package import RelayRights
import RelayWire

/// All that the client is told, in the relay's order.
package enum ClientEvent: Equatable, Sendable {
    /// A message of an open channel.
    case message(Message)
    /// Records of a board, many at a time, while a channel catches up from the beginning or after a reset.
    case board(BoardBatch)
    /// All records of a board were removed.
    case cleared(BoardCleared)
    /// A packet of a topic that is followed.
    case packet(Packet)
    /// A message to this user alone.
    case direct(DirectMessage)
    /// Who is in a channel, or their states, changed.
    case presence(PresenceChange)
    /// Who publishes which topic of a channel.
    case topics(TopicsChange)
    /// Metadata of a channel that is open with it, or of a user who is followed, changed; one's own changes are told as well.
    case metadata(MetadataChange)
    /// The locks of a channel changed.
    case locks(LocksChange)
    /// Packets of others that will not come.
    case packetsLost(PacketsLost)
    /// Own packets that were not passed on.
    case packetsDropped(PacketsDropped)
    /// Messages of others that will not come.
    case messagesMissed(MessagesMissed)
    /// All that a channel keeps has come, after `open` or after a break: up to the offset `head`. From here on comes what is sent.
    case caughtUp(channel: String, head: UInt64)
    /// Something that no call waits for was refused: a packet, or a step of coming back after a break.
    case refused(Problem)
    /// The token of this session is over in so long: `WhiteboardClient.renew` brings another one.
    case accessExpiring(in: Duration)
    /// A moderator, whose id follows, has changed what this client may, at once and over reconnects.
    case accessChanged(Access, by: String)
    /// A channel was frozen or opened for editing, or that has ended.
    case channelMode(ChannelModeChange)
    /// The join code that this client shows is void, and it has not asked for that.
    case joinCodeEnded(JoinCodeEnd)
    /// How the client stands with its relay.
    case link(LinkState)
}

/// A message of a channel.
public struct Message: Equatable, Sendable {
    /// The channel's name.
    public var channel: String
    /// Id of the user who published it.
    public var sender: String
    /// Position in the channel; compares only within one epoch.
    public var offset: UInt64
    /// The numbering that `offset` belongs to.
    public var epoch: Epoch?
    /// The relay's wall clock at acceptance, in milliseconds since 1970: to be shown, never to order by.
    package var wallMilliseconds: UInt64
    /// The sender's own word for what this is, at most 32 bytes.
    public var customType: String?
    /// What it is the record of; of one `part`, what it has in common with the others. `nil` of any other message.
    public var key: String? = nil
    /// Kept for good as the newest of its key, in place of the one before.
    public var isRetained = false
    /// What the sender published, byte for byte. Text of a drawing in parts that is not well-formed comes as bytes.
    public var payload: Payload
    /// Of an own record, the `id` of its receipt.
    public package(set) var receipt: UInt64? = nil
    /// Of a page of the history: that this is one part of a drawing, with the same sender and key as the others. `nil`: it is whole.
    public var part: MessagePart? = nil

    package init(
        channel: String, sender: String, offset: UInt64, epoch: Epoch? = nil, wallMilliseconds: UInt64, customType: String? = nil,
        key: String? = nil, isRetained: Bool = false, payload: Payload, part: MessagePart? = nil
    ) {
        (self.channel, self.sender, self.offset, self.epoch) = (channel, sender, offset, epoch)
        (self.wallMilliseconds, self.customType, self.key, self.isRetained) = (wallMilliseconds, customType, key, isRetained)
        (self.payload, self.part) = (payload, part)
    }

    /// The record of `key` was removed, or there was none: retained, with an empty payload.
    public var isRemoval: Bool { isRetained && payload.byteCount == 0 }
}

/// Which part of a drawing a message of the history is; its payload is bytes.
public struct MessagePart: Equatable, Sendable {
    /// From 1; 0: the drawing is incomplete, and no more parts will come.
    public var number: UInt16
    /// How many parts the drawing has.
    public var of: UInt16
    /// The whole is text, if it is well-formed.
    public var isText: Bool

    package init(number: UInt16, of: UInt16, isText: Bool) { (self.number, self.of, self.isText) = (number, of, isText) }
}

/// A packet of a topic.
public struct Packet: Equatable, Sendable {
    /// The channel's name.
    public var channel: String
    /// Name of the topic.
    public var topic: String
    /// Id of the user who published it.
    public var publisher: String
    /// Which of that user's devices did, 16 hexadecimal digits.
    public var device: String
    /// The stay of that device in the topic, as the relay numbers it.
    public var flow: UInt32
    /// Rises by one with each accepted packet of the flow, from 1.
    public var sequence: UInt32
    /// Of packets of one flow with the same slot only the newest matters: a slow reader may get that alone. `nil`: no other replaces it.
    public var slot: UInt32?
    /// A number that the sender gave as its time, in the app's own unit; `nil`: it gave none.
    public var senderTime: UInt32?
    /// What the publisher sent, byte for byte.
    public var payload: Payload

    package init(
        channel: String, topic: String, publisher: String, device: String = "", flow: UInt32 = 1, sequence: UInt32 = 1,
        slot: UInt32? = nil, senderTime: UInt32? = nil, payload: Payload
    ) {
        (self.channel, self.topic, self.publisher, self.device, self.flow) = (channel, topic, publisher, device, flow)
        (self.sequence, self.slot, self.senderTime, self.payload) = (sequence, slot, senderTime, payload)
    }
}

/// A message to one user.
public struct DirectMessage: Equatable, Sendable {
    /// Id of the user who sent it.
    public var sender: String
    /// The relay's wall clock at acceptance, in milliseconds since 1970.
    package var wallMilliseconds: UInt64
    /// The sender's own word for what this is, at most 32 bytes.
    public var customType: String?
    /// What the sender sent, byte for byte.
    public var payload: Payload

    /// How it came; `nil` of one that a test made.
    package var delivery: Delivery?

    package struct Delivery: Equatable, Sendable {
        package var number: UInt64
        package var attempt: UInt64
    }

    /// How the client that got it says so.
    package struct Acknowledgement: Equatable, Sendable {
        package let act: @Sendable () -> Void
        package init(_ act: @escaping @Sendable () -> Void) { self.act = act }
        package static func == (left: Self, right: Self) -> Bool { true }
    }
    package var acknowledgement: Acknowledgement?

    /// Tells the sender that this app has the message: within 10 s, else the sender's receipt fails with `unconfirmed`.
    public func acknowledge() { acknowledgement?.act() }

    package init(sender: String, wallMilliseconds: UInt64, customType: String? = nil, payload: Payload) {
        (self.sender, self.wallMilliseconds, self.customType, self.payload) = (sender, wallMilliseconds, customType, payload)
    }
}
