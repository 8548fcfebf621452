// JSON bodies about topics and flows. [ST3–ST11, RT4]

/// How urgent a topic's packets are: the lowest are shed first. [ST3]
public enum TopicPriority: String, Codable, Hashable, Sendable, CaseIterable {
    case highest, high, normal, low

    /// 0 is shed first.
    package var rank: UInt8 {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        case .highest: 3
        }
    }
}

/// What a topic's publisher asks of the order of its packets. Unordered is a permission, not a demand. [ST3]
public enum TopicQoS: String, Codable, Hashable, Sendable {
    case ordered, unordered
}

package struct JoinTopicRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name
    package var qos: TopicQoS?
    package var priority: TopicPriority?
    package var meta: String?
    package var lifetimeMs: Int?

    package init(
        id: UInt32, channel: Name, topic: Name, qos: TopicQoS? = nil, priority: TopicPriority? = nil,
        meta: String? = nil, lifetimeMs: Int? = nil
    ) {
        self.id = id
        self.channel = channel
        self.topic = topic
        self.qos = qos
        self.priority = priority
        self.meta = meta
        self.lifetimeMs = lifetimeMs
    }
}

package struct JoinTopicAnswer: Codable, Equatable {
    package var id: UInt32
    package var flow: UInt32
    /// Sequence that the next accepted packet gets.
    package var next: UInt32

    package init(id: UInt32, flow: UInt32, next: UInt32) {
        self.id = id
        self.flow = flow
        self.next = next
    }
}

/// `leaveTopic`.
package struct TopicRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name

    package init(id: UInt32, channel: Name, topic: Name) {
        self.id = id
        self.channel = channel
        self.topic = topic
    }
}

package struct LeaveTopicAnswer: Codable, Equatable {
    package var id: UInt32
    package var flow: UInt32
    /// Sequence of the last accepted packet, 0 if there was none.
    package var last: UInt32

    package init(id: UInt32, flow: UInt32, last: UInt32) {
        self.id = id
        self.flow = flow
        self.last = last
    }
}

package struct SubscribedUsersRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name
    package var after: Name?

    package init(id: UInt32, channel: Name, topic: Name, after: Name? = nil) {
        self.id = id
        self.channel = channel
        self.topic = topic
        self.after = after
    }
}

package struct SubscribedUsersAnswer: Codable, Equatable {
    package var id: UInt32
    package var all: Bool
    package var users: [Name]
    /// Give it as `after` to read on; absent on the last page.
    package var next: Name?

    package init(id: UInt32, all: Bool, users: [Name], next: Name? = nil) {
        self.id = id
        self.all = all
        self.users = users
        self.next = next
    }
}

/// `subscribeTopic` and `unsubscribeTopic`; `users` are strings, because each one is answered for itself.
package struct TopicUsersRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var topic: Name
    package var users: [String]?

    package init(id: UInt32, channel: Name, topic: Name, users: [String]? = nil) {
        self.id = id
        self.channel = channel
        self.topic = topic
        self.users = users
    }
}

package struct TopicUsersAnswer: Codable, Equatable {
    package struct Failure: Codable, Equatable {
        package var user: String
        package var code: ErrorCode
        package var name: String

        package init(user: String, code: ErrorCode) {
            self.user = user
            self.code = code
            name = code.name
        }
    }

    package var id: UInt32
    package var all: Bool
    package var succeeded: [String]
    package var failed: [Failure]

    package init(id: UInt32, all: Bool, succeeded: [String] = [], failed: [Failure] = []) {
        self.id = id
        self.all = all
        self.succeeded = succeeded
        self.failed = failed
    }
}

package struct FlowOpened: Codable, Equatable {
    package var flow: UInt32
    package var channel: UInt32
    package var topic: Name
    package var user: Name
    package var meta: String
    /// Sequence of the next packet meant for this subscriber.
    package var next: UInt32
    /// In a resumption: sequence of the first packet that was meant for this session. [SE9]
    package var from: UInt32?

    package init(flow: UInt32, channel: UInt32, topic: Name, user: Name, meta: String, next: UInt32, from: UInt32? = nil) {
        self.flow = flow
        self.channel = channel
        self.topic = topic
        self.user = user
        self.meta = meta
        self.next = next
        self.from = from
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
