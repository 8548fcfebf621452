internal import RelayPrimitives
import RelayWire

/// How far a machine of a stream is over its connection.
enum StreamOpening {
    case closed
    case asking
    case waiting(until: Instant)
    case open
}

/// A consumer of JetStream that pushes, and is never acknowledged: whatever is wrong with it, another one is made.
enum PushConsumer {
    static let heartbeat = Duration.seconds(1)
    /// Three heartbeats.
    static let silence = heartbeat * 3

    /// The JSON that creates one.
    ///
    /// - Parameter more: where it begins, and of what.
    static func creation(of stream: String, to inbox: String, _ more: [JSONMember]) -> JSONValue {
        let settings: [JSONMember] = [
            JSONMember(key: "ack_policy", value: "none"), JSONMember(key: "deliver_subject", value: .string(inbox)),
            JSONMember(key: "flow_control", value: true), JSONMember(key: "max_deliver", value: 1),
            JSONMember(key: "idle_heartbeat", value: .integer(Int(heartbeat.nanoseconds))),
            JSONMember(key: "inactive_threshold", value: .integer(Int(silence.nanoseconds) * 10)),
            JSONMember(key: "mem_storage", value: true), JSONMember(key: "num_replicas", value: 1),
            JSONMember(key: "replay_policy", value: "instant"),
        ]
        return ["stream_name": .string(stream), "config": .object(settings + more)]
    }
}

extension NATSMessage {
    /// Where a consumer wants to hear that this side keeps up, if it asks that in its place.
    var flowControl: String? {
        (reply ?? header?["Nats-Consumer-Stalled"]).flatMap { $0.hasPrefix("$JS.FC.") ? $0 : nil }
    }

    /// Of a heartbeat: how many messages the consumer has delivered. All of them must have come.
    var lastDelivered: UInt64? { header?["Nats-Last-Consumer"].flatMap(decimal) }
}
