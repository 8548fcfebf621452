/// The limits that a relay is configured with and tells each client in `welcome`, with their defaults. `serve` has options for some.
/// Sizes are in bytes, rates per second.
public struct ServerLimits: JSONObject, Equatable, Sendable {  // [SE6]
    /// Payload and custom type of a message, in bytes.
    public var messageBytesMax = 32_768  // [MS2]
    /// Payload and custom type of a drawing that is sent in parts, in bytes.
    public var largeMessageBytesMax = 8 * 1024 * 1024  // [BL8]
    /// Messages of one user in one channel.
    public var messagesPerSecond = 60  // [RT1]
    /// Payload of a packet, in bytes.
    public var packetBytesMax = 1_024  // [ST5]
    /// Packets of one user in one topic.
    public var packetsPerSecond = 200  // [RT1]
    /// Messages of one user to other users.
    public var directMessagesPerSecond = 60  // [RT1]
    /// Requests of one user.
    public var requestsPerSecond = 200  // [RT6]
    /// Message channels subscribed by one session.
    public var subscribedChannelsMax = 50  // [CH7]
    /// Stream channels joined by one session.
    public var joinedChannelsMax = 100  // [CH7]
    /// Topics of one channel that one user publishes in.
    public var publishedTopicsMax = 8  // [ST3]
    /// Topics of one channel that one session listens to.
    public var subscribedTopicsMax = 50  // [ST7]
    /// Messages of one client that may be unanswered.
    package var unansweredMax = 128  // [MS3]

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("directMessagesPerSecond", &directMessagesPerSecond)
        json("joinedChannelsMax", &joinedChannelsMax)
        json("largeMessageBytesMax", &largeMessageBytesMax)
        json("messageBytesMax", &messageBytesMax)
        json("messagesPerSecond", &messagesPerSecond)
        json("packetBytesMax", &packetBytesMax)
        json("packetsPerSecond", &packetsPerSecond)
        json("publishedTopicsMax", &publishedTopicsMax)
        json("requestsPerSecond", &requestsPerSecond)
        json("subscribedChannelsMax", &subscribedChannelsMax)
        json("subscribedTopicsMax", &subscribedTopicsMax)
        json("unansweredMax", &unansweredMax)
    }
}
