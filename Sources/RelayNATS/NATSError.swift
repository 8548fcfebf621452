/// Why a connection to a NATS server is of no use any more, or why a call was refused: then nothing was sent.
///
/// Whoever receives bytes and gets an error closes the connection; another one begins with another machine.
package enum NATSError: Error, Equatable {
    case lineTooLong(limit: Int)
    case headerTooLarge(limit: Int, actual: UInt64)
    /// A server's message, or a call's.
    case payloadTooLarge(limit: Int, actual: UInt64)
    /// Bytes that are no line of the protocol, and its beginning.
    case badLine(String)
    case badHeader(String)
    /// An answer, or INFO, whose JSON is not what it must be.
    case badAnswer(String)
    /// A line that is right, and not now.
    case unexpected(String)
    /// What `-ERR` says. The server closes behind it.
    case server(String)
    /// The server has something that this relay does not take.
    case refused(Refusal)
    /// Nothing came for so long, not even an answer to PING.
    case silent(Duration)
    case tlsNotOffered
    /// Bytes in the clear where TLS begins: somebody else may have put them there.
    case bytesBeforeTLS
    case loginWanted
    /// A call: so many wait for their answers.
    case tooManyRequests(limit: Int)
    /// A call, or PONG to a server that takes nothing.
    case outputFull(limit: Int)
    /// A call: the stream has not been examined over this connection.
    case notOpen
    /// A call: beyond the end a server would not trim, but move the end.
    case trimBeyondEnd(last: UInt64, actual: UInt64)
}

extension NATSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lineTooLong(let limit): "a line of the NATS server has more than \(limit) bytes"
        case .headerTooLarge(let limit, let actual): "a message's header has at most \(limit) bytes, this one \(actual)"
        case .payloadTooLarge(let limit, let actual): "a message has at most \(limit) bytes, this one \(actual)"
        case .badLine(let line): "not a line of the NATS protocol: \(line)"
        case .badHeader(let text): "not a header of a NATS message: \(text)"
        case .badAnswer(let text): "the NATS server's JSON cannot be read: \(text)"
        case .unexpected(let text): "the NATS server sent \(text)"
        case .server(let text): "the NATS server says: \(text)"
        case .refused(let refusal): refusal.description
        case .silent(let time): "nothing came from the NATS server for \(time)"
        case .tlsNotOffered: "TLS is wanted, and the NATS server does not offer it"
        case .bytesBeforeTLS: "bytes came in the clear where TLS begins"
        case .loginWanted: "the NATS server wants a user and a password, or a token"
        case .tooManyRequests(let limit): "\(limit) requests wait for the NATS server's answer, and more cannot"
        case .outputFull(let limit): "\(limit) bytes wait for the NATS server, and more cannot"
        case .notOpen: "the log's stream has not been examined yet"
        case .trimBeyondEnd(let last, let actual): "the log ends at \(last), and cannot be trimmed below \(actual)"
        }
    }
}

/// A server or a stream that may lose what it has acknowledged, or cannot hold a log: the setting, its value, and what is wanted.
package struct Refusal: Error, Hashable, CustomStringConvertible {
    /// What has the setting: `NATS server n1`, `stream BR_7`.
    package let owner: String
    /// As NATS names it.
    package let setting: String
    package let value: String
    package let wanted: String

    package var description: String { "\(owner): \(setting) is \(value); wanted: \(wanted)" }
}
