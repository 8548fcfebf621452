internal import Dispatch
import Foundation
public import RelayCore
import RelayIO

/// Answers `boardrelay status` on a Unix socket that only this user can open.
///
/// One line in (`status`), one JSON object out, then the end. One caller at a time, each with 2 s to say its line.
final class ControlServer: Sendable {
    private let listener: UnixListener

    /// - Parameter count: asked for each caller; `nil` when the relay is gone.
    init(path: String, address: RelayAddress, count: @escaping @Sendable () async -> (Census, JournalStatus?)?) throws {
        let started = SystemClock.monotonicNanoseconds()
        listener = try UnixListener(path: path) { request in
            guard request == "status" else { return #"{"error":"the one request is: status"}"# }
            let answered = Lock<(Census, JournalStatus?)?>(nil)
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                let counted = await count()
                answered.withLock { $0 = counted }
                done.signal()
            }
            guard done.wait(timeout: .now() + .seconds(10)) == .success, let (census, journal) = answered.withLock({ $0 }) else {
                return #"{"error":"the relay does not answer"}"#
            }
            let status = Status(
                address: address.description, pid: ProcessInfo.processInfo.processIdentifier,
                uptimeSeconds: (SystemClock.monotonicNanoseconds() - started) / 1_000_000_000, census: census,
                journal: journal)
            return status.json
        }
    }

    func close() { listener.close() }
}

/// What `boardrelay status --json` prints.
public struct Status: Codable, Sendable {
    /// Where the relay listens.
    public var address: String
    /// Its process.
    public var pid: Int32
    /// Since it started.
    public var uptimeSeconds: UInt64
    /// Everything counted, at the moment of the question.
    public var census: Census
    /// How what outlives the relay is kept; absent with `--in-memory`.
    public var journal: JournalStatus?

    /// One line, keys sorted.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("a census cannot be encoded") }
        return String(decoding: data, as: UTF8.self)
    }
}

extension RelayServer {
    /// Where a relay on this port has its control socket unless told otherwise: `$XDG_RUNTIME_DIR`, or a folder of
    /// this user's in the temporary directory.
    public static func defaultControlSocket(port: UInt16) -> String {
        if let directory = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !directory.isEmpty {
            return "\(directory)/boardrelay-\(port).sock"
        }
        return "/tmp/boardrelay-\(getuid())/\(port).sock"
    }

    /// Asks the relay behind a control socket how it is.
    ///
    /// - Throws: `RelayServerError` when nobody answers there within 12 s.
    public static func status(controlSocket path: String) throws(RelayServerError) -> Status {
        let answer: String
        do {
            answer = try UnixListener.query(path: path, line: "status")
        } catch {
            throw RelayServerError(text: "\(error)")
        }
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(answer.utf8)) else {
            throw RelayServerError(text: "\(path): the answer is no status: \(answer.prefix(200))")
        }
        return status
    }
}
