// JSON bodies of the relay that tell what happened.

package struct FlowOpened: Codable, Equatable {
    package var flow: UInt32
    package var channel: UInt32
    package var topic: Name
    package var user: Name
    package var meta: String
    /// Sequence of the next packet meant for this subscriber.
    package var next: UInt32

    package init(flow: UInt32, channel: UInt32, topic: Name, user: Name, meta: String, next: UInt32) {
        self.flow = flow
        self.channel = channel
        self.topic = topic
        self.user = user
        self.meta = meta
        self.next = next
    }
}

package struct FlowClosed: Codable, Equatable {
    package var flow: UInt32
    /// Sequence of the last packet meant for this subscriber's selection, 0 if there was none.
    package var last: UInt32

    package init(flow: UInt32, last: UInt32) {
        self.flow = flow
        self.last = last
    }
}

package struct PacketsDroppedNotice: Codable, Equatable {
    package var flow: UInt32
    /// Since the last notice about this flow.
    package var dropped: UInt64
    /// Since the flow was opened.
    package var total: UInt64

    package init(flow: UInt32, dropped: UInt64, total: UInt64) {
        self.flow = flow
        self.dropped = dropped
        self.total = total
    }
}

package struct PresenceEvent: Codable, Equatable {
    package enum Kind: String, Codable { case snapshot, join, leave, timeout, stateChanged, interval }

    package var channel: UInt32
    package var event: Kind
    /// `snapshot`.
    package var members: [Member]?
    /// `snapshot`: how many there are in all.
    package var total: Int?
    /// `join`, `leave`, `timeout`, `stateChanged`.
    package var user: Name?
    /// `join`: all states of the user; `stateChanged`: what was set.
    package var states: [String: String]?
    /// `stateChanged`.
    package var removed: [Name]?
    /// `interval`: who came or changed, each with all its states.
    package var joined: [Member]?
    package var changed: [Member]?
    /// `interval`.
    package var left: [Name]?
    package var timedOut: [Name]?

    package init(channel: UInt32, event: Kind) {
        self.channel = channel
        self.event = event
    }
}

package struct TopicPublisher: Codable, Equatable {
    package var topic: Name
    package var user: Name
    package var meta: String

    package init(topic: Name, user: Name, meta: String) {
        self.topic = topic
        self.user = user
        self.meta = meta
    }
}

package struct TopicsEvent: Codable, Equatable {
    package enum Kind: String, Codable { case snapshot, publisherJoined, publisherLeft }

    package var channel: UInt32
    package var event: Kind
    /// One in `publisherJoined` and `publisherLeft`, any number in `snapshot`.
    package var publishers: [TopicPublisher]
    /// `snapshot`: the picture goes on in the next frame.
    package var more: Bool?

    package init(channel: UInt32, event: Kind, publishers: [TopicPublisher], more: Bool? = nil) {
        self.channel = channel
        self.event = event
        self.publishers = publishers
        self.more = more
    }
}
