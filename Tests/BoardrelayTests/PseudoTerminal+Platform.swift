import Foundation
import RelaySystem

/// A terminal whose other end is this test: what a program writes, what it looks like, and keys that are pressed.
final class PseudoTerminal: Sendable {
    private let main: Int32
    private let program: ChildProcess
    private let output: Lines
    let columns: Int
    let rows: Int

    /// Runs `boardrelay` in it.
    convenience init(_ words: [String], environment: [String: String] = [:], columns: Int = 80, rows: Int = 24) throws {
        try self.init(program: [Tool.binary().path] + words, environment: environment, columns: columns, rows: rows)
    }

    /// Runs any program in it, as the terminal of its session where the system has setsid(1).
    init(program given: [String], environment added: [String: String] = [:], columns: Int = 80, rows: Int = 24) throws {
        (self.columns, self.rows) = (columns, rows)
        let setsid = "/usr/bin/setsid"
        let words = (FileManager.default.isExecutableFile(atPath: setsid) ? [setsid, "--ctty"] : []) + given
        main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard main >= 0, let name = Self.unlock(main) else { throw Failed(errno: errno) }
        let own = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard own >= 0 else { throw Failed(errno: errno) }
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(main, UInt(TIOCSWINSZ), &size) == 0 else { throw Failed(errno: errno) }
        var environment = ProcessInfo.processInfo.environment
        environment.merge(added) { $1 }
        program = try ChildProcess(
            words[0], Array(words.dropFirst()), environment: environment, input: .descriptor(own),
            output: .descriptor(own), errors: .descriptor(own))
        close(own)
        output = Lines(FileHandle(fileDescriptor: main, closeOnDealloc: false))
    }

    deinit { close(main) }

    /// The path of the program's end.
    private static func unlock(_ main: Int32) -> String? {
        #if os(Linux)
            // <asm-generic/ioctls.h>; Swift's Glibc module lacks them, and posix_openpt(3) as well.
            let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
            var (locked, number) = (CInt(0), CUnsignedInt(0))
            guard ioctl(main, setLock, &locked) == 0, ioctl(main, getNumber, &number) == 0 else { return nil }
            return "/dev/pts/\(number)"
        #else
            guard grantpt(main) == 0, unlockpt(main) == 0, let name = ptsname(main) else { return nil }
            return String(cString: name)
        #endif
    }

    struct Failed: Error { var errno: Int32 }

    func press(_ key: String) { _ = key.withCString { write(main, $0, strlen($0)) } }
    func signal(_ number: Int32) { program.signal(number) }
    func line(containing text: String) async -> String? { await output.next(containing: text) }
    /// Whether it is written before the end, also where no line end follows.
    func shows(_ text: String) async -> Bool { await output.shows(text) }

    /// Whether what is typed is shown, and comes a line at a time.
    var isAsFound: Bool {
        var settings = termios()
        return tcgetattr(main, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }

    /// All that it has written when it has ended.
    func end() async -> (end: ChildProcess.End, text: String) { (await program.waitUntilEnd(), await output.all()) }

    /// The rows that are left when so much was written: the last one is that of the cursor.
    static func screen(_ text: String, columns: Int, rows: Int) -> [String] {
        var lines = [""]
        var characters = text.unicodeScalars.makeIterator()
        while let next = characters.next() {
            switch next {
            case "\u{1B}":
                // Colours only: up to the letter that ends the sequence.
                while let part = characters.next(), !part.properties.isAlphabetic {}
            case "\r": break
            case "\n": lines.append("")
            default:
                if lines[lines.count - 1].unicodeScalars.count == columns { lines.append("") }
                lines[lines.count - 1].unicodeScalars.append(next)
            }
        }
        return lines.suffix(rows)
    }
}
