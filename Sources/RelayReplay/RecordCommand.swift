import BoardFormat
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayConsole
import RelayIO

extension Command {
    package static let record = Command(
        name: "record",
        summary: "keeps everything that happens on a board",
        arguments: [.init(name: "BOARD", help: "The board's name.")],
        options: [
            .value("--for", as: "TIME", help: "Ends after this time, such as 45m. Default: Ctrl-C ends it."),
            .value("--timeout", as: "TIME", help: "How long to wait for what is on the board already. Default: 30s."),
            .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            Standard output gets one JSON object a line (docs/board-format.md): what is on the board, then each change, erased things, \
            clears, live points and cursors, each at once and with its time. replay plays it. Nobody sees the recorder.
            """,
            """
            If the link breaks, record tells it, comes back by itself, and writes how much it missed. Ctrl-C and --for end it with exit code \
            0 and a whole file; without the line 'end' a file was cut off. Exit code 1: the link has ended for good, or the file cannot \
            be written. 124: what is on the board did not come in time.
            """,
        ],
        examples: [
            .init("boardrelay record lesson > lesson.ndjson", "Until Ctrl-C."),
            .init("boardrelay record lesson --for 45m > lesson.ndjson", "One lesson."),
            .init("boardrelay replay lesson.ndjson --channel again --speed 10", "Plays it on another board."),
        ],
        run: record)

    private static func record(_ arguments: Arguments) async throws -> ExitCode {
        guard let channel = try arguments.name(argument: 0, "BOARD") else { throw UsageError("BOARD is missing") }
        let length = try arguments.duration("--for")
        let patience = try arguments.duration("--timeout") ?? .seconds(30)
        let user = try arguments.user()
        let recording = Recording(channel)
        let begin = ContinuousClock.now
        let code = try await withClient(arguments, as: user, timeout: nil, patience: patience, listens: true) { client in
            let isLate = Mutex(false)
            let timer = Task {
                try await Task.sleep(for: max(.zero, patience - (ContinuousClock.now - begin)))
                guard !recording.isLive else { return }
                isLate.withLock { $0 = true }
                await client.close()
            }
            defer { timer.cancel() }
            do {
                try await client.subscribe(channel, features: [.messages, .metadata], quiet: true, since: .beginning)
                let stream = try await client.join(channel, features: [], quiet: true)
                for topic in LessonRecorder.topics { try await stream.subscribeTopic(topic, users: .all) }
                try await recording.read(client, for: length)
            } catch where isLate.withLock({ $0 }) {
                // The timer closed the client.
            }
            return isLate.withLock { $0 } ? .timedOut : .ok
        }
        guard recording.isLive else {
            let why = code == .timedOut ? "timed out" : "stopped"
            throw Failure("\(why) before all that is on the board had come: nothing was written", exitCode: code == .ok ? .failed : code)
        }
        try recording.finish()
        // Ctrl-C is how a recording ends.
        return code == .interrupted ? .ok : code
    }

    /// What is written, from the first line to the last.
    private final class Recording: Sendable {
        private struct Book {
            var recorder: LessonRecorder
            var lines = 0
            var bytes = 0
        }

        private let channel: String
        private let clock = ContinuousClock()
        private let begin: ContinuousClock.Instant
        private let book: Mutex<Book>

        init(_ channel: String) {
            self.channel = channel
            begin = clock.now
            book = Mutex(Book(recorder: LessonRecorder(channel)))
        }

        var isLive: Bool { book.withLock { $0.recorder.isLive } }

        /// Reads until the client is closed by others, or `length` is over.
        func read(_ client: WhiteboardClient, for length: Duration?) async throws {
            var end: Task<Void, any Error>?
            defer { end?.cancel() }
            let waiting = Waiting("Reading what is on the board")
            defer { waiting.end() }
            for await event in client.told {
                let wasLive = isLive
                let lines = book.withLock {
                    $0.recorder.note(event, at: clock.now - begin, time: Int(Date().timeIntervalSince1970 * 1_000))
                }
                try write(lines)
                if !wasLive, isLive {
                    waiting.end()
                    Console.note("Recording \(channel), \(Printable.count(lines.count - 1)) lines of what is there. Ctrl-C ends it.")
                    end = length.map { length in
                        Task {
                            try await Task.sleep(for: length)
                            await client.close()
                        }
                    }
                }
                switch event {
                case .link(.closed(let reason)) where reason.code == .clientClosed: break
                case .link(.closed(let reason)): throw Failure(Printable.escaped(EventText.words(reason)))
                case .link(.waiting), .messagesMissed, .packetsLost: Console.note(EventText.line(event))
                case .refused(let refusal) where refusal.subject == .channel: throw Failure(EventText.line(event))
                default: break
                }
            }
        }

        /// The last line, and what was done, for people.
        func finish() throws {
            try write(book.withLock { $0.recorder.end(at: clock.now - begin) })
            let (lines, bytes, missed) = book.withLock { ($0.lines, $0.bytes, $0.recorder.missed) }
            Console.note(
                "\(Printable.count(lines)) lines, \(Printable.size(bytes))\(missed > 0 ? "; \(Printable.count(missed)) lines tell what was missed" : "").")
        }

        private func write(_ events: [LessonEvent]) throws {
            for event in events {
                let line = event.line(board: channel)
                try print(Console.outputIsTerminal ? shown(line) : String(decoding: line, as: UTF8.self))
                book.withLock { book in
                    book.lines += 1
                    book.bytes += line.count + 1
                }
            }
        }

        private func print(_ line: String) throws {
            try Console.print(line)
        }
    }
}
