// Bodies that are written by hand, because the relay writes them for each session that comes: `DirectBody`.

extension Welcome: DirectBody {
    package func write(to text: inout JSONText) {
        text.beginObject()
        text.key("access")
        access.write(to: &text)
        text.key("handle")
        text.value(handle)
        text.key("heartbeatMs")
        text.value(heartbeatMs)
        text.key("id")
        text.value(id)
        if let lastEnd {
            text.key("lastEnd")
            lastEnd.write(to: &text)
        }
        text.key("limits")
        limits.write(to: &text)
        text.key("presenceTimeoutMs")
        text.value(presenceTimeoutMs)
        text.key("resumeToken")
        text.value(resumeToken)
        text.key("resumed")
        text.value(resumed)
        text.key("start")
        text.value(start)
        text.key("user")
        text.value(user.text)
        text.key("version")
        text.value(version)
        text.endObject()
    }
}

extension AccessBody {
    fileprivate func write(to text: inout JSONText) {
        text.beginObject()
        if let grants {
            text.key("grants")
            text.beginObject()
            for (pattern, words) in grants.sorted(by: { $0.key < $1.key }) {
                text.key(pattern)
                text.write(words) { $0.value($1) }
            }
            text.endObject()
        }
        if let role {
            text.key("role")
            text.value(role)
        }
        if let untilMs {
            text.key("untilMs")
            text.value(untilMs)
        }
        text.endObject()
    }
}

extension CloseNotice: DirectBody {
    package func write(to text: inout JSONText) {
        text.beginObject()
        text.key("code")
        text.value(code.rawValue)
        text.key("name")
        text.value(name)
        text.key("text")
        text.value(self.text)
        text.endObject()
    }
}

extension ServerLimits {
    fileprivate func write(to text: inout JSONText) {
        text.beginObject()
        text.key("directMessagesPerSecond")
        text.value(directMessagesPerSecond)
        text.key("joinedChannelsMax")
        text.value(joinedChannelsMax)
        text.key("largeMessageBytesMax")
        text.value(largeMessageBytesMax)
        text.key("messageBytesMax")
        text.value(messageBytesMax)
        text.key("messagesPerSecond")
        text.value(messagesPerSecond)
        text.key("packetBytesMax")
        text.value(packetBytesMax)
        text.key("packetsPerSecond")
        text.value(packetsPerSecond)
        text.key("publishedTopicsMax")
        text.value(publishedTopicsMax)
        text.key("requestsPerSecond")
        text.value(requestsPerSecond)
        text.key("subscribedChannelsMax")
        text.value(subscribedChannelsMax)
        text.key("subscribedTopicsMax")
        text.value(subscribedTopicsMax)
        text.key("unansweredMax")
        text.value(unansweredMax)
        text.endObject()
    }
}

extension SubscribeAnswer: DirectBody {
    package func write(to text: inout JSONText) {
        text.beginObject()
        if let after {
            text.key("after")
            text.value(after)
        }
        text.key("channel")
        text.value(channel.text)
        if let epoch {
            text.key("epoch")
            text.beginObject()
            text.key("incarnation")
            text.value(epoch.incarnation)
            text.key("start")
            text.value(epoch.start)
            text.endObject()
        }
        text.key("features")
        text.write(features) { $0.value($1.rawValue) }
        if let frozen {
            text.key("frozen")
            text.value(frozen)
        }
        text.key("handle")
        text.value(handle)
        if let head {
            text.key("head")
            text.value(head)
        }
        if let id {
            text.key("id")
            text.value(id)
        }
        text.key("kind")
        text.value(kind.rawValue)
        if let missed {
            text.key("missed")
            text.beginObject()
            text.key("from")
            text.value(missed.from)
            text.key("to")
            text.value(missed.to)
            text.endObject()
        }
        text.key("quiet")
        text.value(quiet)
        if let recovered {
            text.key("recovered")
            text.value(recovered)
        }
        if let reset {
            text.key("reset")
            text.value(reset)
        }
        text.endObject()
    }
}

extension PresenceEvent: DirectBody {
    package func write(to text: inout JSONText) {
        text.beginObject()
        if let changed {
            text.key("changed")
            text.write(changed) { $1.write(to: &$0) }
        }
        text.key("channel")
        text.value(channel)
        text.key("event")
        text.value(event.rawValue)
        if let joined {
            text.key("joined")
            text.write(joined) { $1.write(to: &$0) }
        }
        if let left {
            text.key("left")
            text.write(left) { $0.value($1.text) }
        }
        if let members {
            text.key("members")
            text.write(members) { $1.write(to: &$0) }
        }
        if let removed {
            text.key("removed")
            text.write(removed) { $0.value($1.text) }
        }
        if let states {
            text.key("states")
            text.write(states: states)
        }
        if let timedOut {
            text.key("timedOut")
            text.write(timedOut) { $0.value($1.text) }
        }
        if let total {
            text.key("total")
            text.value(total)
        }
        if let user {
            text.key("user")
            text.value(user.text)
        }
        text.endObject()
    }
}

extension Member {
    fileprivate func write(to text: inout JSONText) {
        text.beginObject()
        text.key("states")
        text.write(states: states)
        text.key("user")
        text.value(user.text)
        text.endObject()
    }
}

extension EmptyAnswer: DirectBody {
    package func write(to text: inout JSONText) {
        text.beginObject()
        text.key("id")
        text.value(id)
        text.endObject()
    }
}

extension JSONText {
    @inline(__always)
    fileprivate mutating func write<T>(_ elements: [T], each write: (inout Self, T) -> Void) {
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    fileprivate mutating func write(states: [String: String]) {
        beginObject()
        if !states.isEmpty {
            for (key, value) in states.sorted(by: { $0.key < $1.key }) {
                self.key(key)
                self.value(value)
            }
        }
        endObject()
    }
}
