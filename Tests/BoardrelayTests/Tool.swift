import Foundation
import RelayIO
import RelaySystem

/// Runs the built `boardrelay` as a user does.
struct Tool {
    struct Result: Sendable {
        var code: Int32
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }

        /// The first line of the output as a JSON object.
        func object() throws -> [String: Any] {
            guard let object = try objects().first else { throw NotAnObject(line: errors) }
            return object
        }

        /// Every line of the output as a JSON object.
        func objects() throws -> [[String: Any]] {
            try lines.map { line in
                guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                    throw NotAnObject(line: line)
                }
                return object
            }
        }
    }

    struct NotAnObject: Error { var line: String }
    struct BinaryMissing: Error, CustomStringConvertible {
        var folder: String
        var description: String { "there is no boardrelay in \(folder): swift build makes it" }
    }

    /// `boardrelay` lies next to the test bundle.
    static func binary() throws -> URL {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let folder = (bundles.first ?? URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()).deletingLastPathComponent()
        let binary = folder.appending(path: "boardrelay")
        guard FileManager.default.isExecutableFile(atPath: binary.path) else { throw BinaryMissing(folder: folder.path) }
        return binary
    }

    /// Runs it to its end.
    static func run(
        _ words: String..., url: String? = nil, environment: [String: String] = [:], input: Data = Data()
    ) async throws -> Result {
        try await run(words, url: url, environment: environment, input: input)
    }

    static func run(_ words: [String], url: String? = nil, environment: [String: String] = [:], input: Data = Data()) async throws -> Result
    {
        await Slots.shared.take()
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await Running(words, url: url, environment: environment, input: input).end())
        } catch {
            result = .failure(error)
        }
        await Slots.shared.giveBack()
        return try result.get()
    }
}

/// A command that ends before it has read all would end the tests, without a word.
let brokenPipesAreErrors: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

/// So many commands run at a time: with all tests at once each would wait for a processor for as long as its time for a call.
private actor Slots {
    static let shared = Slots()
    private var free = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    func giveBack() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

/// One that runs: its lines can be waited for as they come.
final class Running: Sendable {
    private let process: ChildProcess
    private let output: Lines
    private let errors: Lines

    /// - Parameters:
    ///   - environment: besides that of this process, of which keys and tokens are left out.
    ///   - outer: a program that runs it, with arguments of its own.
    init(
        _ words: [String], url: String? = nil, environment added: [String: String] = [:], input: Data = Data(), through outer: [String] = []
    ) throws {
        _ = brokenPipesAreErrors
        var environment = ProcessInfo.processInfo.environment
        for name in ["BOARDRELAY_KEY", "BOARDRELAY_TOKEN"] { environment[name] = nil }
        environment["BOARDRELAY_URL"] = url
        environment.merge(added) { $1 }
        let (inPipe, outPipe, errorPipe) = (Pipe(), Pipe(), Pipe())
        let line = try outer + [Tool.binary().path] + words
        process = try ChildProcess(
            line[0], Array(line.dropFirst()), environment: environment, input: .descriptor(inPipe.fileHandleForReading.fileDescriptor),
            output: .descriptor(outPipe.fileHandleForWriting.fileDescriptor),
            errors: .descriptor(errorPipe.fileHandleForWriting.fileDescriptor))
        for given in [inPipe.fileHandleForReading, outPipe.fileHandleForWriting, errorPipe.fileHandleForWriting] { try given.close() }
        output = Lines(outPipe.fileHandleForReading)
        errors = Lines(errorPipe.fileHandleForReading)
        Thread.detachNewThread {
            try? inPipe.fileHandleForWriting.write(contentsOf: input)
            try? inPipe.fileHandleForWriting.close()
        }
    }

    /// The next line on standard output that contains `text`; `nil` if it ends without.
    func line(containing text: String) async -> String? { await output.next(containing: text) }
    func errorLine(containing text: String) async -> String? { await errors.next(containing: text) }

    func signal(_ number: Int32) { process.signal(number) }

    /// Sends it as soon as that line is there, without waiting for a turn in Swift's pool, where other tests may stand before it.
    func signal(_ number: Int32, atErrorLine text: String) {
        errors.atLine(containing: text) { [process] in process.signal(number) }
    }

    func end() async -> Tool.Result {
        let code =
            switch await process.waitUntilEnd() {
            case .exited(let code): code
            case .signalled(let signal): 1_000 + signal
            }
        return Tool.Result(code: code, output: await output.all(), errors: await errors.all())
    }
}

/// What comes out of a pipe, line by line, and all of it at the end.
final class Lines: Sendable {
    private struct Book {
        var lines: [String] = []
        var rest = Data()
        var isEnded = false
        /// How many lines have been looked at by `next`.
        var seen = 0
        var watch: Watch?
    }

    private struct Watch {
        let text: String
        let act: @Sendable () -> Void
    }

    private let book = Mutex(Book())
    private let arrivals: AsyncStream<Void>

    init(_ handle: FileHandle) {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.arrivals = arrivals
        // Read by hand: `FileHandle.availableData` traps when a signal interrupts it.
        let descriptor = dup(handle.fileDescriptor)
        Thread.detachNewThread { [book] in
            defer { close(descriptor) }
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                let data = Data(buffer.prefix(max(count, 0)))
                let act = book.withLock { book -> (@Sendable () -> Void)? in
                    book.rest.append(data)
                    let known = book.lines.count
                    while let end = book.rest.firstIndex(of: UInt8(ascii: "\n")) {
                        book.lines.append(String(decoding: book.rest[book.rest.startIndex..<end], as: UTF8.self))
                        book.rest = Data(book.rest[book.rest.index(after: end)...])
                    }
                    if data.isEmpty { book.isEnded = true }
                    guard let watch = book.watch, book.lines[known...].contains(where: { $0.contains(watch.text) }) else { return nil }
                    book.watch = nil
                    return watch.act
                }
                act?()
                arrived.yield()
                if data.isEmpty { return arrived.finish() }
            }
        }
    }

    /// Once, on the thread that reads, at the next line that contains `text` of those that are still to come.
    func atLine(containing text: String, _ act: @escaping @Sendable () -> Void) {
        book.withLock { $0.watch = Watch(text: text, act: act) }
    }

    func next(containing text: String) async -> String? {
        while true {
            let (found, isEnded) = book.withLock { book -> (String?, Bool) in
                while book.seen < book.lines.count {
                    book.seen += 1
                    if book.lines[book.seen - 1].contains(text) { return (book.lines[book.seen - 1], false) }
                }
                return (nil, book.isEnded)
            }
            if let found { return found }
            // Of a test that is out of time there is nothing to wait for.
            if isEnded || Task.isCancelled { return nil }
            for await _ in arrivals { break }
        }
    }

    func shows(_ text: String) async -> Bool {
        while true {
            let (found, isEnded) = book.withLock { book in
                let isThere = book.lines.contains { $0.contains(text) } || String(decoding: book.rest, as: UTF8.self).contains(text)
                return (isThere, book.isEnded)
            }
            if found { return true }
            if isEnded || Task.isCancelled { return false }
            for await _ in arrivals { break }
        }
    }

    func all() async -> String {
        while !book.withLock({ $0.isEnded }), !Task.isCancelled { for await _ in arrivals { break } }
        return book.withLock { $0.lines.map { $0 + "\n" }.joined() + String(decoding: $0.rest, as: UTF8.self) }
    }
}
