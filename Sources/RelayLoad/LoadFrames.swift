import RelayWire

/// A publish of one source as bytes, of which each one that is sent differs in its number and its stamp only.
struct PublishTemplate {
    private var bytes: [UInt8]
    private let numberAt: Int?
    private let keyAt: Int?
    private let stampAt: Int
    /// Of its payload.
    let payloadBytes: Int

    /// Digits of the key of a record.
    private static let keyDigits = 10

    /// - Parameter flow: of a stream's source.
    init(_ source: Load.Source, flow: UInt32?, bytes: Int) {
        payloadBytes = max(Stamp.bytes, bytes)
        let payload = (0..<payloadBytes).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        switch source.lane {
        case .stream:
            self.bytes = Frame.publishPacket(flow: flow ?? 0, payload: payload).bytes
            numberAt = nil
            keyAt = nil
        case .message:
            let key = source.isRetained ? "s\(source.member)-" + String(repeating: "0", count: Self.keyDigits) : nil
            self.bytes =
                Frame.publish(
                    number: 1, channel: Load.channel, customType: source.isRetained ? "stroke" : nil, key: key,
                    flags: source.isRetained ? [.retain] : [], payload: payload
                ).bytes
            numberAt = Limits.frameHeadBytes
            keyAt = key == nil ? nil : self.bytes.count - payloadBytes - Self.keyDigits
        }
        stampAt = self.bytes.count - payloadBytes
    }

    /// - Parameter number: of this source, from 1; of a message the publish's number, too.
    mutating func with<Result>(_ due: UInt64, _ source: Int, _ number: UInt32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeMutableBytes { bytes in
            if let numberAt { bytes.storeBytes(of: UInt64(number).bigEndian, toByteOffset: numberAt, as: UInt64.self) }
            if let keyAt {
                var rest = number
                for place in stride(from: keyAt + Self.keyDigits - 1, through: keyAt, by: -1) {
                    bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
            }
            Stamp.write(due, source, number, at: bytes.baseAddress! + stampAt)
            return body(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// What a member says when it comes, each request with an id of its own.
enum Entering {
    static let login: UInt32 = 1, subscribe: UInt32 = 2, join: UInt32 = 3, joinTopic: UInt32 = 4, subscribeTopic: UInt32 = 5

    struct Identity: Sendable {
        var user: String
        var secret: String
        var instance: String
        var key: String?
        var space: String?
    }

    /// - Returns: the frames, and how many answers come.
    static func frames(
        _ identity: Identity, member: Load.Member, publishesPackets: Bool, presenceTimeoutMs: Int? = nil, resume: ResumeRequest? = nil
    ) throws -> (bytes: [UInt8], answers: Int) {
        let channel = try Name(Load.channel), topic = try Name(Load.topic)
        var frames = [
            Frame.json(
                .login,
                LoginRequest(
                    id: login, user: try Name(identity.user), secret: identity.secret, key: identity.key, instance: identity.instance,
                    presenceTimeoutMs: presenceTimeoutMs, client: "boardrelay bench", resume: resume, space: identity.space))
        ]
        if resume == nil {
            if member.readsMessages {
                frames.append(.json(.subscribe, SubscribeRequest(id: subscribe, channel: channel, features: ["messages"])))
            }
            if member.readsPackets || publishesPackets {
                frames.append(.json(.join, JoinRequest(id: join, channel: channel, features: [])))
            }
            if publishesPackets { frames.append(.json(.joinTopic, JoinTopicRequest(id: joinTopic, channel: channel, topic: topic))) }
            if member.readsPackets {
                frames.append(.json(.subscribeTopic, TopicUsersRequest(id: subscribeTopic, channel: channel, topic: topic)))
            }
        }
        return (frames.flatMap(\.bytes), frames.count)
    }
}
