import RelayCluster
internal import Dispatch
internal import RelayCore
internal import RelayPrimitives
import RelayNATS

/// A space's log on NATS, on the queue of whoever asks.
///
/// A call that cannot be sent now is dropped, as one is whose answer is lost: `SpaceMachine` asks again, and at each new link (`linked`).
@available(macOS 15, iOS 18, *)
final class LogLink {
    private let link: ServerLink<JetStreamLog>
    private let stream: String
    private let answer: (SpaceLog.Answer) -> Void
    private let log: @Sendable (LogLine) -> Void
    private let isOneOfMany: Bool
    private var isOpen = false
    private var follows: UInt64 = 0
    private enum EndQuestion { case none, asked(UInt64, next: UInt64?) }
    private var question = EndQuestion.none

    /// - Parameters:
    ///   - ended: called where a link ends, on the queue: it calls `ended`.
    ///   - events: called for what comes, on the queue and never within a call: it calls `handle`.
    ///   - answer: called within `handle`.
    init(
        _ options: SpaceLogOptions, queue: DispatchQueue, log: @escaping @Sendable (LogLine) -> Void,
        ended: @escaping @Sendable () -> Void, events: @escaping @Sendable ([LogEvent]) -> Void, answer: @escaping (SpaceLog.Answer) -> Void
    ) {
        (stream, isOneOfMany, self.answer, self.log) = (options.stream, options.isOneOfMany, answer, log)
        let jetStream = JetStreamLog(stream: stream, makesStream: options.makesStream, login: options.servers.login, needsTLS: true)
        link = ServerLink(
            options.servers, jetStream, title: "the log \(stream)", isQuiet: options.isOneOfMany, queue: queue, log: log, ended: ended,
            handle: events)
    }

    /// Where the link leads; `nil`: nowhere.
    var connectedTo: String? { link.connectedTo }

    func start() { link.start() }
    func close() { link.close() }
    func ended() { (isOpen, question) = (false, .none) }

    func call(_ call: SpaceLog.Call) {
        let now = link.now
        switch call {
        case .append(let bytes, let after, let id):
            link.ask { log throws(NATSError) in try log.append(bytes, after: after, id: Self.name(of: id), at: now) }
        case .follow(let position?, let number):
            follows = number
            link.ask(waits: false) { log throws(NATSError) in try log.follow(from: position, at: now) }
        case .follow(nil, _): link.ask(waits: false) { log throws(NATSError) in try log.unfollow() }
        case .trim(let position): link.ask(waits: false) { log throws(NATSError) in try log.trim(below: position, at: now) }
        case .readEnd(let number): ask(number)
        }
    }

    /// One question at a time: an answer is that of a known question.
    private func ask(_ number: UInt64) {
        guard isOpen else { return }
        if case .asked(let asked, _) = question { return question = .asked(asked, next: number) }
        question = .asked(number, next: nil)
        link.ask { [now = link.now] log throws(NATSError) in try log.readEnds(at: now) }
    }

    private func answered(_ bytes: [UInt8]?, at position: UInt64) {
        guard case .asked(let number, let next) = question else { return }
        question = .none
        if let bytes { answer(.end(bytes, at: position, number: number)) }
        if let next { ask(next) }
    }

    func handle(_ events: [LogEvent]) {
        // An answer may begin another one, whose entries are none of these.
        let follows = follows
        for event in events { handle(event, follows) }
    }

    private func handle(_ event: LogEvent, _ follows: UInt64) {
        switch event {
        case .startTLS: link.beginTLS()
        case .opened(let info, _):
            isOpen = true
            // A log of many is made once: it may be removed.
            if isOneOfMany { link.ask(waits: false) { log throws(NATSError) in log.makesStream = false } }
            link.opened(at: info)
            answer(.linked)
        case .notOpened(let failure): link.warn("the log's stream \(stream) cannot be examined: \(failure)")
        case .denied(let text): log(LogLine(.warning, "the log's server refuses: \(text)"))
        case .appended(let name, let outcome):
            guard let id = Self.id(of: name) else { return }
            switch outcome {
            case .taken(let position): answer(.appended(id, .taken(at: position)))
            case .wrong(let end): answer(.appended(id, .wrong(end: end)))
            case .unknown: answer(.appended(id, .unknown))
            }
        case .ends(.success(let ends)):
            guard ends.last > 0 else { return answered([], at: 0) }
            link.ask { [now = link.now] log throws(NATSError) in try log.read(ends.last, at: now) }
        case .ends(.failure): answered(nil, at: 0)
        case .read(let position, .success(let entry)): answered(entry.payload, at: position)
        case .read(_, .failure): answered(nil, at: 0)
        case .trimmed(let position, let failure):
            if let failure { log(LogLine(.warning, "the log is not trimmed below \(position): \(failure)")) }
        case .entry(let entry): answer(.entry(entry.payload, at: entry.sequence, number: follows))
        case .missing(let wanted, let ends):
            // Who follows is shown the gap by the first entry that is there; an end that is too early by the end itself.
            guard ends.first > wanted else { return }
            link.ask(waits: false) { [now = link.now] log throws(NATSError) in try log.follow(from: ends.first, at: now) }
        }
    }

    // MARK: - Names of appends

    static func name(of id: SpaceLog.AppendID) -> String { "\(String(id.life, radix: 16))-\(String(id.number, radix: 16))" }

    static func id(of name: String) -> SpaceLog.AppendID? {
        let words = name.split(separator: "-")
        guard words.count == 2, let life = UInt64(words[0], radix: 16), let number = UInt64(words[1], radix: 16) else { return nil }
        return SpaceLog.AppendID(life: life, number: number)
    }
}
