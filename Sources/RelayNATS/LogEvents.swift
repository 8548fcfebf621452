internal import RelayPrimitives
import RelayWire

/// What an append became.
package enum AppendOutcome: Equatable, Sendable {
    /// It stands at this sequence, the one behind `after`.
    case taken(UInt64)
    /// It is not there and never will be: the leader has shown somebody else's entry in its place. The sequence of the log's last entry,
    /// which may not be acknowledged yet.
    case wrong(last: UInt64)
    /// It may be there, or still come. Ask again, with the same id. Two things leave it unknown for good: the log has lost its end, or was
    /// trimmed beyond it. JetStream tells the first by 10071 with a sequence before `after`; a replaced leader says that, too.
    case unknown(LogFailure)
}

/// Why something was not done, or nobody knows whether it was.
package enum LogFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case noAnswer(NoAnswer)
    /// What JetStream says: its own code (`err_code`) and text. 10158: the append is under way.
    case refused(code: Int, String)
    case badAnswer(String)

    package var description: String {
        switch self {
        case .noAnswer(.timedOut): "no answer in time"
        case .noAnswer(.noResponders): "nobody answers (503): the stream has no leader"
        case .noAnswer(.linkLost): "the connection ended before the answer"
        case .refused(let code, let text): "JetStream error \(code): \(text)"
        case .badAnswer(let text): "an answer that cannot be read: \(text)"
        }
    }
}

/// One entry of the log.
package struct StreamEntry: Equatable, Sendable {
    package let sequence: UInt64
    /// With which it was appended.
    package let id: String?
    package let payload: [UInt8]
}

/// What the log tells. Each call has one event, unless it threw, or the connection ended with `refused`.
package enum LogEvent: Equatable, Sendable {
    /// Begin TLS, then call `secured`.
    case startTLS
    /// The server and the stream are what they must be; calls are taken.
    case opened(ServerInfo, LogEnds)
    /// The stream cannot be examined, for now; the log asks again by itself.
    case notOpened(LogFailure)
    /// The server's permissions keep this user from what the text names.
    case denied(String)
    case appended(id: String, AppendOutcome)
    case ends(Result<LogEnds, LogFailure>)
    case read(UInt64, Result<StreamEntry, LogFailure>)
    /// The first sequence that is left.
    case trimmed(UInt64, LogFailure?)
    /// The next one for who follows: sequences have no gap.
    case entry(StreamEntry)
    /// The log has not what should come next: it was trimmed beyond it, or has lost its end. Following ends.
    case missing(UInt64, LogEnds)
}

// MARK: - Answers of JetStream

extension Result where Success == NATSMessage, Failure == NoAnswer {
    /// The JSON of an answer that is no error.
    func answer(bytesMax: Int) -> Result<JSONValue, LogFailure> {
        switch self {
        case .failure(let failure): return .failure(.noAnswer(failure))
        case .success(let message):
            do throws(NATSError) {
                let json = try JSONValue(answer: message.payload, bytesMax: bytesMax)
                guard let error = json["error"] else { return .success(json) }
                return .failure(.refused(code: error["err_code"]?.integer ?? 0, String((error["description"]?.text ?? "").prefix(200))))
            } catch {
                return .failure(.badAnswer("\(error)"))
            }
        }
    }
}

extension LogFailure {
    static let streamNotFound = 10059
    private static let wrongLastSequence = 10071

    /// Where the log ends that an append found at another place.
    var wrongLast: UInt64? {
        guard case .refused(Self.wrongLastSequence, let text) = self else { return nil }
        return text.split(separator: " ").last.flatMap(decimal)
    }

    /// JetStream's, if it said one.
    var code: Int? {
        if case .refused(let code, _) = self { code } else { nil }
    }
}

extension StreamEntry {
    /// Reads an answer of STREAM.MSG.GET, which has payload and header in base64. `nil`: it is another answer.
    init?(_ answer: JSONValue, sequence: UInt64) {
        guard let message = answer["message"], message["seq"]?.sequence == sequence,
            let payload = Base64.decode(Array((message["data"]?.text ?? "").utf8)),
            let headerBytes = Base64.decode(Array((message["hdrs"]?.text ?? "").utf8))
        else { return nil }
        let header = try? NATSHeader(headerBytes)
        guard header != nil || headerBytes.isEmpty else { return nil }
        self.init(sequence: sequence, id: header?[.messageID], payload: payload)
    }
}

extension String {
    static let messageID = "Nats-Msg-Id"
}

/// The subject to which a consumer's message would be acknowledged:
/// `$JS.ACK.STREAM.CONSUMER.deliveries.sequence.delivered.time.pending`, since 2.14 perhaps with a domain and an account before the stream.
struct EntryPlace: Equatable {
    var stream: String
    var sequence: UInt64
    /// Of the consumer: 1 for the first message that it delivers.
    var delivered: UInt64
    /// How many the consumer has still to deliver.
    var pending: UInt64

    init?(_ reply: String?) {
        guard let words = reply?.split(separator: ".", omittingEmptySubsequences: false), words.starts(with: ["$JS", "ACK"]),
            words.count == 9 || words.count >= 11
        else { return nil }
        let place = words.count == 9 ? words[2...] : words[4...]
        guard let sequence = decimal(place[place.startIndex + 3]), let delivered = decimal(place[place.startIndex + 4]),
            let pending = decimal(place[place.startIndex + 6])
        else { return nil }
        (stream, self.sequence, self.delivered, self.pending) = (String(place[place.startIndex]), sequence, delivered, pending)
    }
}
