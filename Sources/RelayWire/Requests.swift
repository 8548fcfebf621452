// JSON bodies, client to relay and back. Field by field they are in `docs/protocol.md`; optional fields that are
// absent are not written. Every request carries `id`, 1…2³²−1, and its answer or error repeats it. [JS5]

package struct LoginRequest: Codable, Equatable {
    package var id: UInt32
    package var version: Int
    package var user: Name
    /// 128 bits as 32 hexadecimal digits, drawn once per installation and user id.
    package var secret: String?
    /// 64 bits as 16 hexadecimal digits, drawn once per client object.
    package var instance: String
    package var presenceTimeoutMs: Int?
    package var client: String?
    package var resume: ResumeRequest?

    package init(
        id: UInt32, version: Int = Limits.protocolVersion, user: Name, secret: String? = nil, instance: String,
        presenceTimeoutMs: Int? = nil, client: String? = nil, resume: ResumeRequest? = nil
    ) {
        self.id = id
        self.version = version
        self.user = user
        self.secret = secret
        self.instance = instance
        self.presenceTimeoutMs = presenceTimeoutMs
        self.client = client
        self.resume = resume
    }
}

package struct ResumeRequest: Codable, Equatable {
    /// From the last `welcome`: 32 hexadecimal digits.
    package var token: String

    package init(token: String) { self.token = token }
}

package struct EmptyRequest: Codable, Equatable {
    package var id: UInt32
    package init(id: UInt32) { self.id = id }
}

/// `subscribe` (message channels).
package struct SubscribeRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var features: [String]?
    package var quiet: Bool?
    package var since: ChannelPosition?

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, since: ChannelPosition? = nil) {
        self.id = id
        self.channel = channel
        self.features = features
        self.quiet = quiet
        self.since = since
    }
}

/// `join` (stream channels).
package struct JoinRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name
    package var features: [String]?
    package var quiet: Bool?
    package var token: String?

    package init(id: UInt32, channel: Name, features: [String]? = nil, quiet: Bool? = nil, token: String? = nil) {
        self.id = id
        self.channel = channel
        self.features = features
        self.quiet = quiet
        self.token = token
    }
}

/// `unsubscribe` and `leave`.
package struct ChannelRequest: Codable, Equatable {
    package var id: UInt32
    package var channel: Name

    package init(id: UInt32, channel: Name) {
        self.id = id
        self.channel = channel
    }
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

/// `leaveTopic` and `subscribedUsers`.
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

package struct WhoRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var after: Name?
    package var limit: Int?

    package init(id: UInt32, kind: ChannelKind, channel: Name, after: Name? = nil, limit: Int? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.after = after
        self.limit = limit
    }
}

package struct WhereRequest: Codable, Equatable {
    package var id: UInt32
    package var user: Name

    package init(id: UInt32, user: Name) {
        self.id = id
        self.user = user
    }
}

package struct SetStatesRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var states: [String: String]

    package init(id: UInt32, kind: ChannelKind, channel: Name, states: [String: String]) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.states = states
    }
}

package struct RemoveStatesRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var keys: [Name]?

    package init(id: UInt32, kind: ChannelKind, channel: Name, keys: [Name]? = nil) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.keys = keys
    }
}

package struct GetStatesRequest: Codable, Equatable {
    package var id: UInt32
    package var kind: ChannelKind
    package var channel: Name
    package var user: Name

    package init(id: UInt32, kind: ChannelKind, channel: Name, user: Name) {
        self.id = id
        self.kind = kind
        self.channel = channel
        self.user = user
    }
}

/// Just enough of any request to answer it when the rest cannot be read.
package struct RequestID: Codable {
    package var id: UInt32
}
