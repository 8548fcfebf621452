import RelayNATS
internal import RelayPrimitives

/// A server of NATS; by the first byte from its first word, or before a log in which an append (request 2) and a look at entry 5 (3) wait
/// for answers, and who follows waits for entry 3 on subscription 2.
func nats(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first else { return false }
    let start = first & 1 == 0 ? fresh : busy, rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    let whole = LogReading(start, rest, pieceBytes: max(1, rest.count)), single = LogReading(start, rest, pieceBytes: 1)
    must(whole == single, "\(whole) in one piece, byte by byte \(single)")
    return true
}

private let now = Instant(nanoseconds: 1_000_000_000)

private let fresh: JetStreamLog = {
    var log = JetStreamLog(stream: "S", login: NATSLogin(), needsTLS: false)
    log.connected(inbox: "i", at: now)
    return log
}()

private let busy: JetStreamLog = {
    var log = fresh
    do {
        try hear(&log, info + answer(1, description))
        try log.append([1], after: 4, id: "m", at: now)
        try log.read(5, at: now)
        try log.follow(from: 3, at: now)
        try hear(&log, answer(4, description))
    } catch {
        fatalError("\(error)")
    }
    _ = (log.takeEvents(), log.takeOutput())
    return log
}()

private func hear(_ log: inout JetStreamLog, _ text: String) throws {
    try Array(text.utf8).withUnsafeBytes { bytes in Result { () throws(NATSError) in try log.receive(bytes, at: now) } }.get()
}

private func answer(_ request: Int, _ json: String) -> String { "MSG _INBOX.i.\(request) 1 \(json.utf8.count)\r\n\(json)\r\n" }

private let info = #"INFO {"version":"2.12.0","headers":true,"jetstream":true,"max_payload":1048576}"# + "\r\nPONG\r\n"
private let description = #"""
    {"config":{"name":"S","subjects":["boardrelay.S"],"num_replicas":3,"discard":"new","deny_delete":true,
    "metadata":{"_nats.ver":"2.12.0"}},"state":{"messages":4,"first_seq":1,"last_seq":4}}
    """#

/// What a log does with bytes that come in pieces.
private struct LogReading: Equatable {
    private var events: [LogEvent] = []
    private var error: NATSError?
    private var sent: [UInt8] = []

    init(_ start: JetStreamLog, _ bytes: UnsafeRawBufferPointer, pieceBytes: Int) {
        var log = start
        do throws(NATSError) {
            for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
                try log.receive(UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + pieceBytes)]), at: now)
            }
            try log.deadlineReached(at: now + .seconds(3))
        } catch {
            self.error = error
        }
        log.disconnected(at: now)
        (events, sent) = (log.takeEvents(), log.takeOutput())
        var outcomes = 0, wanted: UInt64 = 3
        for event in events {
            switch event {
            case .appended: outcomes += 1
            case .entry(let entry):
                must(entry.sequence == wanted, "entry \(entry.sequence) comes in place of \(wanted)")
                wanted += 1
            default: break
            }
        }
        must(outcomes <= 1, "one append has \(outcomes) outcomes")
    }
}
