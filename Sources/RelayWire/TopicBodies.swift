// JSON bodies about topics and flows. [ST3–ST11, RT4]

/// How urgent a topic's packets are: the lowest are shed first.
public enum TopicPriority: String, JSONElement, Equatable, Sendable, CaseIterable {  // [ST3]
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

/// What a topic's publisher asks of the order of its packets. Unordered is a permission, not a demand.
package enum TopicQoS: String, JSONElement, Equatable, Sendable {  // [ST3]
    case ordered, unordered
}

package struct JoinTopicRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    package internal(set) var topic = Name.unread
    package internal(set) var qos: TopicQoS?
    package internal(set) var priority: TopicPriority?
    package internal(set) var meta: String?
    package internal(set) var lifetimeMs: Int?

    package init() {}

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

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("lifetimeMs", &lifetimeMs)
        json("meta", &meta)
        json("priority", &priority)
        json("qos", &qos)
        json("topic", &topic)
    }
}

package struct JoinTopicAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var flow: UInt32 = 0
    /// Sequence that the next accepted packet gets.
    package internal(set) var next: UInt32 = 0

    package init() {}

    package init(id: UInt32, flow: UInt32, next: UInt32) { (self.id, self.flow, self.next) = (id, flow, next) }

    package mutating func fields(_ json: inout JSONFields) {
        json("flow", &flow)
        json("id", &id)
        json("next", &next)
    }
}

/// `leaveTopic`.
package struct TopicRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    package internal(set) var topic = Name.unread

    package init() {}

    package init(id: UInt32, channel: Name, topic: Name) { (self.id, self.channel, self.topic) = (id, channel, topic) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("topic", &topic)
    }
}

package struct LeaveTopicAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var flow: UInt32 = 0
    /// Sequence of the last accepted packet, 0 if there was none.
    package internal(set) var last: UInt32 = 0

    package init() {}

    package init(id: UInt32, flow: UInt32, last: UInt32) { (self.id, self.flow, self.last) = (id, flow, last) }

    package mutating func fields(_ json: inout JSONFields) {
        json("flow", &flow)
        json("id", &id)
        json("last", &last)
    }
}

package struct SubscribedUsersRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    package internal(set) var topic = Name.unread
    package internal(set) var after: Name?

    package init() {}

    package init(id: UInt32, channel: Name, topic: Name, after: Name? = nil) {
        (self.id, self.channel, self.topic, self.after) = (id, channel, topic, after)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("after", &after)
        json("channel", &channel)
        json("id", &id)
        json("topic", &topic)
    }
}

package struct SubscribedUsersAnswer: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var all = false
    package internal(set) var users: [Name] = []
    /// Give it as `after` to read on; absent on the last page.
    package internal(set) var next: Name?

    package init() {}

    package init(id: UInt32, all: Bool, users: [Name], next: Name? = nil) {
        (self.id, self.all, self.users, self.next) = (id, all, users, next)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("all", &all)
        json("id", &id)
        json("next", &next)
        json("users", &users)
    }
}

/// `subscribeTopic` and `unsubscribeTopic`; `users` are strings, because each one is answered for itself.
package struct TopicUsersRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    package internal(set) var topic = Name.unread
    package internal(set) var users: [String]?

    package init() {}

    package init(id: UInt32, channel: Name, topic: Name, users: [String]? = nil) {
        (self.id, self.channel, self.topic, self.users) = (id, channel, topic, users)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("topic", &topic)
        json("users", &users)
    }
}

package struct TopicUsersAnswer: JSONObject {
    package struct Failure: JSONObject {
        package internal(set) var user = ""
        package internal(set) var code: ErrorCode = .badRequest
        package internal(set) var name = ""

        package init() {}

        package init(user: String, code: ErrorCode) {
            self.user = user
            self.code = code
            name = code.name
        }

        package mutating func fields(_ json: inout JSONFields) {
            json("code", &code)
            json("name", &name)
            json("user", &user)
        }
    }

    package var id: UInt32 = 0
    package var all = false
    package var succeeded: [String] = []
    package var failed: [Failure] = []

    package init() {}

    package init(id: UInt32, all: Bool, succeeded: [String] = [], failed: [Failure] = []) {
        (self.id, self.all, self.succeeded, self.failed) = (id, all, succeeded, failed)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("all", &all)
        json("failed", &failed)
        json("id", &id)
        json("succeeded", &succeeded)
    }
}

package struct FlowOpened: JSONObject {
    package var flow: UInt32 = 0
    package var channel: UInt32 = 0
    package var topic = Name.unread
    package var user = Name.unread
    /// Which of the user's: 16 hexadecimal digits.
    package var device = ""
    package var meta = ""
    /// Sequence of the next packet meant for this subscriber.
    package var next: UInt32 = 0
    /// In a resumption: sequence of the first packet that was meant for this session. [SE9]
    package var from: UInt32?

    package init() {}

    package init(flow: UInt32, channel: UInt32, topic: Name, user: Name, device: String, meta: String, next: UInt32, from: UInt32? = nil) {
        self.flow = flow
        self.channel = channel
        self.topic = topic
        self.user = user
        self.device = device
        self.meta = meta
        self.next = next
        self.from = from
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("device", &device)
        json("flow", &flow)
        json("from", &from)
        json("meta", &meta)
        json("next", &next)
        json("topic", &topic)
        json("user", &user)
    }
}

package struct FlowClosed: JSONObject, Equatable {
    package internal(set) var flow: UInt32 = 0
    /// Sequence of the last packet meant for this subscriber's selection, 0 if there was none.
    package internal(set) var last: UInt32 = 0

    package init() {}

    package init(flow: UInt32, last: UInt32) { (self.flow, self.last) = (flow, last) }

    package mutating func fields(_ json: inout JSONFields) {
        json("flow", &flow)
        json("last", &last)
    }
}

package struct PacketsDroppedNotice: JSONObject {
    package internal(set) var flow: UInt32 = 0
    /// Since the last notice about this flow.
    package internal(set) var dropped: UInt64 = 0
    /// Since the flow was opened.
    package internal(set) var total: UInt64 = 0

    package init() {}

    package init(flow: UInt32, dropped: UInt64, total: UInt64) { (self.flow, self.dropped, self.total) = (flow, dropped, total) }

    package mutating func fields(_ json: inout JSONFields) {
        json("dropped", &dropped)
        json("flow", &flow)
        json("total", &total)
    }
}

package struct TopicPublisher: JSONObject {
    package internal(set) var topic = Name.unread
    package internal(set) var user = Name.unread
    /// Which of the user's: 16 hexadecimal digits.
    package internal(set) var device = ""
    package internal(set) var meta = ""

    package init() {}

    package init(topic: Name, user: Name, device: String, meta: String) {
        (self.topic, self.user, self.device, self.meta) = (topic, user, device, meta)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("device", &device)
        json("meta", &meta)
        json("topic", &topic)
        json("user", &user)
    }
}

package struct TopicsEvent: JSONObject {
    package enum Kind: String, JSONElement { case snapshot, publisherJoined, publisherLeft }

    package var channel: UInt32 = 0
    package var event: Kind = .snapshot
    /// One in `publisherJoined` and `publisherLeft`, any number in `snapshot`.
    package var publishers: [TopicPublisher] = []
    /// `snapshot`: the picture goes on in the next frame.
    package var more: Bool?

    package init() {}

    package init(channel: UInt32, event: Kind, publishers: [TopicPublisher], more: Bool? = nil) {
        (self.channel, self.event, self.publishers, self.more) = (channel, event, publishers, more)
    }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("event", &event)
        json("more", &more)
        json("publishers", &publishers)
    }
}
