// Bodies that are written by hand, because the relay writes them for each session that comes: `DirectBody`.

extension Welcome: DirectBody {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("access", access)
            text.field("handle", handle)
            text.field("heartbeatMs", heartbeatMs)
            text.field("id", id)
            text.field("lastEnd", lastEnd)
            text.field("limits", limits)
            text.field("presenceTimeoutMs", presenceTimeoutMs)
            text.field("resumeToken", resumeToken)
            text.field("resumed", resumed)
            text.field("start", start)
            text.field("user", user)
            text.field("version", version)
        }
    }
}

extension AccessBody: JSONValue {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("grants", grants)
            text.field("role", role)
            text.field("untilMs", untilMs)
        }
    }
}

extension CloseNotice: DirectBody {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("code", code)
            text.field("name", name)
            text.field("text", self.text)
        }
    }
}

extension ServerLimits: JSONValue {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("directMessagesPerSecond", directMessagesPerSecond)
            text.field("joinedChannelsMax", joinedChannelsMax)
            text.field("largeMessageBytesMax", largeMessageBytesMax)
            text.field("messageBytesMax", messageBytesMax)
            text.field("messagesPerSecond", messagesPerSecond)
            text.field("packetBytesMax", packetBytesMax)
            text.field("packetsPerSecond", packetsPerSecond)
            text.field("publishedTopicsMax", publishedTopicsMax)
            text.field("requestsPerSecond", requestsPerSecond)
            text.field("subscribedChannelsMax", subscribedChannelsMax)
            text.field("subscribedTopicsMax", subscribedTopicsMax)
            text.field("unansweredMax", unansweredMax)
        }
    }
}

extension SubscribeAnswer: DirectBody {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("after", after)
            text.field("channel", channel)
            text.field("epoch", epoch)
            text.field("features", features)
            text.field("frozen", frozen)
            text.field("handle", handle)
            text.field("head", head)
            text.field("id", id)
            text.field("kind", kind)
            text.field("missed", missed)
            text.field("quiet", quiet)
            text.field("recovered", recovered)
            text.field("reset", reset)
        }
    }
}

extension Epoch: JSONValue {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("incarnation", incarnation)
            text.field("start", start)
        }
    }
}

extension OffsetRange: JSONValue {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("from", from)
            text.field("to", to)
        }
    }
}

extension PresenceEvent: DirectBody {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("changed", changed)
            text.field("channel", channel)
            text.field("event", event)
            text.field("joined", joined)
            text.field("left", left)
            text.field("members", members)
            text.field("removed", removed)
            text.field("states", states)
            text.field("timedOut", timedOut)
            text.field("total", total)
            text.field("user", user)
        }
    }
}

extension Member: JSONValue {
    package func write(to text: inout JSONText) {
        text.object { text in
            text.field("states", states)
            text.field("user", user)
        }
    }
}

extension EmptyAnswer: DirectBody {
    package func write(to text: inout JSONText) { text.object { $0.field("id", id) } }
}
