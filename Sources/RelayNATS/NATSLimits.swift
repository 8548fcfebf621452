/// Bounds of what a NATS server may send and of what waits for it. Whatever exceeds one ends the connection with `NATSError`.
package enum NATSLimits {
    /// Longest line without its end. A server takes lines of 4,096 bytes unless it is told otherwise (`max_control_line`).
    package static let lineBytesMax = 4_096
    /// Longest line of INFO, which names all servers of the cluster.
    package static let infoBytesMax = 64 * 1_024
    /// Largest header of one message, from `NATS/1.0` to the empty line.
    package static let headerBytesMax = 16 * 1_024
    /// What counts of a server's `max_payload`; its own default is 1 MiB.
    package static let payloadBytesMax = 8 * 1_024 * 1_024
    /// Smallest `max_payload` that is taken: what the log cuts in pieces fits into nothing smaller.
    package static let payloadBytesMin = 1_024 * 1_024
    /// What is left of a payload for the header of an append.
    package static let appendHeaderBytes = 512
    /// Largest answer of JetStream's API but for a stored message. One of STREAM.INFO has 1 KiB.
    package static let answerBytesMax = 64 * 1_024
    /// Most requests without an answer.
    package static let requestsMax = 256
    /// Most bytes that wait for the socket.
    package static let outputBytesMax = 32 * 1_024 * 1_024
    /// Longest name of a stream, and longest id of an append.
    package static let nameBytesMax = 64

    /// Largest payload that a server may send: a stored message comes as base64 in JSON, and its header too.
    static func receivedBytesMax(ofPayload bytes: Int) -> Int {
        (min(max(bytes, 0), payloadBytesMax) + headerBytesMax) / 3 * 4 + answerBytesMax
    }
}
