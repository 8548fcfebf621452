// What is said about publishes beside their own frames.

/// Body of `goOn`. [MS10]
package struct GoOnRequest: JSONObject {
    package internal(set) var id: UInt32 = 0
    package internal(set) var channel = Name.unread
    /// Of the publish that was refused.
    package internal(set) var number: UInt64 = 0

    package init() {}

    package init(id: UInt32, channel: Name, number: UInt64) { (self.id, self.channel, self.number) = (id, channel, number) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("id", &id)
        json("number", &number)
    }
}

/// Body of `credit`. [RT8]
package struct CreditNotice: JSONObject {
    package internal(set) var channel = Name.unread
    /// Publishes that the relay takes.
    package internal(set) var credit: UInt32 = 0

    package init() {}

    package init(channel: Name, credit: UInt32) { (self.channel, self.credit) = (channel, credit) }

    package mutating func fields(_ json: inout JSONFields) {
        json("channel", &channel)
        json("credit", &credit)
    }
}
