import Foundation
import RelayIO
import RelayPrimitives
import RelayWire
import Testing

@testable import RelayNATS

/// What `Tests/Cluster/nats.py` says of the servers that it has started.
enum Servers {
    private static func word(_ name: String) -> String? { ProcessInfo.processInfo.environment["BOARDRELAY_NATS\(name)"] }

    /// HOST:PORT of each.
    static let addresses = (word("") ?? "").split(separator: ",").map(String.init)
    static let replicas = word("_REPLICAS").flatMap { Int($0) } ?? 3
    static let rules = StreamRules(replicasMin: replicas)
    /// A file that is there once the last server was killed.
    static let lastKill = word("_LAST_KILL")

    /// Tells the script that a test has run, and what it saw.
    static func report(_ text: String) throws {
        let path = try #require(word("_REPORT"))
        if !FileManager.default.fileExists(atPath: path) { try "".write(toFile: path, atomically: true, encoding: .utf8) }
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(text)\n".utf8))
        try file.close()
    }
}

/// A log over a blocking socket, which goes to the next server when the connection ends.
final class LiveLog {
    struct Failed: Error, CustomStringConvertible {
        var description: String
    }

    /// A check that hangs ends so; nothing is judged by it.
    private static let patience = Duration.seconds(60)

    var log: JetStreamLog
    private var descriptor: Int32 = -1
    private var turn: Int
    private(set) var events: [LogEvent] = []
    /// Connections that it has had.
    private(set) var connections = 0

    init(stream: String, rules: StreamRules = Servers.rules, server: Int = 0) {
        log = JetStreamLog(stream: stream, rules: rules, login: NATSLogin(), needsTLS: false)
        turn = server
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    var now: Instant { Instant(nanoseconds: SystemClock.monotonicNanoseconds()) }

    /// Waits until one event is there, and takes it.
    func wait<Found>(_ find: (LogEvent) -> Found?) throws -> Found {
        let end = now + Self.patience
        while now < end {
            for index in events.indices {
                guard let found = find(events[index]) else { continue }
                events.remove(at: index)
                return found
            }
            try step(.milliseconds(100))
        }
        throw Failed(description: "nothing came within \(Self.patience); \(events.suffix(3))")
    }

    @discardableResult
    func open() throws -> LogEnds {
        try wait { event in
            if case .opened(_, let ends) = event { ends } else { nil }
        }
    }

    /// Asks again with the same id until the outcome is known.
    ///
    /// - Returns: with how many answers that said nothing.
    func append(_ payload: [UInt8], after: UInt64, id: String) throws -> (outcome: AppendOutcome, unknown: Int) {
        var unknown = 0
        while unknown < 1_000 {
            do {
                try log.append(payload, after: after, id: id, at: now)
            } catch NATSError.notOpen {
                try open()
                continue
            }
            let outcome = try wait { event in
                if case .appended(id, let outcome) = event { outcome } else { nil }
            }
            guard case .unknown = outcome else { return (outcome, unknown) }
            unknown += 1
            try step(.milliseconds(50))
        }
        throw Failed(description: "asked a thousand times")
    }

    /// What comes within a time, and what is due.
    ///
    /// - Throws: `refused`; whatever else goes wrong is another connection.
    func step(_ time: Duration) throws {
        if descriptor < 0 { connectNext() }
        guard descriptor >= 0 else {
            usleep(10_000)
            return
        }
        do {
            defer { events += log.takeEvents() }
            try send()
            let readable = try isReadable(within: time)
            if let due = log.nextDeadline, due <= now { try log.deadlineReached(at: now) }
            if readable { try receive() }
            try send()
        } catch NATSError.refused(let refusal) {
            throw NATSError.refused(refusal)
        } catch {
            drop()
        }
    }

    /// Ends the connection, whatever is under way.
    func drop() {
        close(descriptor)
        descriptor = -1
        log.disconnected(at: now)
        events += log.takeEvents()
    }

    private func connectNext() {
        let address = Servers.addresses[turn % Servers.addresses.count].split(separator: ":")
        turn += 1
        guard let port = UInt16(address[1]), let target = try? SocketAddress.resolve(host: String(address[0]), port: port).first
        else { return }
        let new = socket(target.family, SocketConstants.stream, 0)
        guard target.withPointer({ connect(new, $0, $1) }) == 0 else {
            close(new)
            return
        }
        (descriptor, connections) = (new, connections + 1)
        log.connected(inbox: String(UInt64.random(in: .min ... .max), radix: 36), at: now)
    }

    func send() throws {
        var rest = log.takeOutput()[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failed(description: "the connection is gone") }
            rest = rest.dropFirst(count)
        }
    }

    private func isReadable(within time: Duration) throws -> Bool {
        let due = log.nextDeadline.map { $0 - now } ?? time
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, Int32(min(time, due).milliseconds) + 1) > 0
    }

    private func receive() throws {
        let bytes = try [UInt8](unsafeUninitializedCapacity: 1 << 18) { room, count in
            let read = Foundation.read(descriptor, room.baseAddress, room.count)
            guard read > 0 else { throw Failed(description: "the connection is gone") }
            count = read
        }
        let now = now
        try bytes.withUnsafeBytes { try log.receive($0, at: now) }
    }
}
