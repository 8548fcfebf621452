import Foundation
import RelayIO

/// A terminal in which the built `boardrelay` runs: somebody can be asked there.
struct Terminal {
    private let process: ChildProcess
    private let screen: Lines
    private let keyboard: FileHandle

    /// openpty(3), which Swift's module of Glibc lacks.
    private static var openpty: OpenPTY? {
        dlsym(dlopen(nil, RTLD_NOW), "openpty").map { unsafeBitCast($0, to: OpenPTY.self) }
    }

    private typealias OpenPTY = @convention(c) (
        UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<CChar>?, UnsafeRawPointer?, UnsafeRawPointer?
    ) -> Int32

    struct NoTerminal: Error { var code: Int32 }

    /// - Parameter typed: waits at the keyboard until it is read.
    init(_ words: [String], url: String, typed: String) throws {
        var (master, end): (Int32, Int32) = (-1, -1)
        guard let openpty = Self.openpty, openpty(&master, &end, nil, nil, nil) == 0 else { throw NoTerminal(code: errno) }
        defer { close(end) }
        keyboard = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        var environment = ProcessInfo.processInfo.environment
        for name in ["BOARDRELAY_KEY", "BOARDRELAY_TOKEN"] { environment[name] = nil }
        environment["BOARDRELAY_URL"] = url
        try keyboard.write(contentsOf: Data(typed.utf8))
        process = try ChildProcess(
            Tool.binary().path, words, environment: environment,
            input: .descriptor(end), output: .descriptor(end), errors: .descriptor(end))
        screen = Lines(keyboard)
    }

    /// - Returns: its exit code, and all that stood on the screen.
    func end() async -> (code: Int32, screen: String) {
        let code = switch await process.waitUntilEnd() {
        case .exited(let code): code
        case .signalled(let signal): 1_000 + signal
        }
        return (code, await screen.all().replacing("\r\n", with: "\n"))
    }
}
