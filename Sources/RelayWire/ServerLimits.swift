/// The limits that a relay is configured with and tells each client in `welcome`, with their defaults. `serve` has options for some.
/// Sizes are in bytes, rates per second. [SE6]
public struct ServerLimits: JSONObject, Equatable, Sendable {
    /// Payload and custom type of a message, in bytes. [MS2]
    public var messageBytesMax = 32_768
    /// Payload and custom type of a drawing that is sent in parts, in bytes. [BL8]
    public var largeMessageBytesMax = 8 * 1024 * 1024
    /// Messages of one user in one channel. [RT1]
    public var messagesPerSecond = 60
    /// Payload of a packet, in bytes. [ST5]
    public var packetBytesMax = 1_024
    /// Packets of one user in one topic. [RT1]
    public var packetsPerSecond = 200
    /// Messages of one user to other users. [RT1]
    public var directMessagesPerSecond = 60
    /// Requests of one user. [RT6]
    public var requestsPerSecond = 200
    /// Message channels subscribed by one session. [CH7]
    public var subscribedChannelsMax = 50
    /// Stream channels joined by one session. [CH7]
    public var joinedChannelsMax = 100
    /// Topics of one channel that one user publishes in. [ST3]
    public var publishedTopicsMax = 8
    /// Topics of one channel that one session listens to. [ST7]
    public var subscribedTopicsMax = 50
    /// Messages of one client that may be unanswered. [MS3]
    public var unansweredMax = 128

    /// The defaults.
    public init() {}

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
