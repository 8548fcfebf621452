import RelayIO

/// Standard output takes data only; everything that is said to people goes to standard error.
package enum Console {
    /// The reader of standard output is gone, or a write to it failed.
    package struct OutputClosed: Error {
        /// What the system says of it.
        package var code = errno
        /// The reader is gone: nothing went wrong.
        package var isReaderGone: Bool { code == EPIPE }
    }

    /// One line of data.
    package static func print(_ line: String) throws(OutputClosed) {
        endPassing()
        guard Descriptor.write(line + "\n", to: STDOUT_FILENO) else { throw OutputClosed() }
    }

    /// Data that is no text, or not to be changed, and a line end.
    package static func print(raw bytes: [UInt8]) throws(OutputClosed) {
        endPassing()
        guard (bytes + [UInt8(ascii: "\n")]).withUnsafeBytes({ Descriptor.write($0, to: STDOUT_FILENO) }) else { throw OutputClosed() }
    }

    /// Calls `act` once when nobody reads standard output, a pipe or a socket, any more: a write would tell only when it has something.
    ///
    /// The thread that waits for it ends then, or with the process.
    package static func whenOutputCloses(_ act: @escaping @Sendable () -> Void) {
        SystemThread.detach {
            var watched = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while true {
                let count = poll(&watched, 1, -1)
                if count > 0 { break }
                if count < 0, errno != EINTR, errno != EAGAIN { return }
            }
            // Not of a descriptor that was closed from the beginning.
            if watched.revents & Int16(POLLERR | POLLHUP) != 0 { act() }
        }
    }

    /// One line for people.
    package static func note(_ line: String) {
        endPassing()
        _ = Descriptor.write(line + "\n", to: STDERR_FILENO)
    }

    /// Without an end of line.
    package static func noteRaw(_ text: String) { _ = Descriptor.write(text, to: STDERR_FILENO) }

    private static let passing = Mutex(false)

    /// Shows a line on the terminal in place of the one that passes there; it goes before anything else is printed.
    package static func pass(_ line: String) {
        passing.withLock { isShown in
            isShown = true
            noteRaw("\r\u{1B}[K" + line)
        }
    }

    /// Takes away the line that passes, if there is one.
    package static func endPassing() {
        passing.withLock { isShown in
            if isShown { noteRaw("\r\u{1B}[K") }
            isShown = false
        }
    }

    package static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    package static var errorsAreTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The size of the terminal on standard error; without a terminal 80 × 24.
    package static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    package static var columns: Int { size.columns }

    /// `14:03:59`, where this machine stands.
    package static func localClock(wallMilliseconds: UInt64) -> String {
        var seconds = time_t(wallMilliseconds / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + String(value) }
        return "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// `2026-11-21 14:03`, with seconds `2026-11-21 14:03:07`, where this machine stands.
    package static func localTime(wallMilliseconds: UInt64, seconds showsSeconds: Bool = false) -> String {
        var seconds = time_t(wallMilliseconds / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + String(value) }
        return "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(two(parts.tm_hour)):\(two(parts.tm_min))"
            + (showsSeconds ? ":\(two(parts.tm_sec))" : "") + " " + zone(minutesEast: Int32(parts.tm_gmtoff / 60))
    }

    /// `+01:00`: how far a clock is before the universal one.
    package static func zone(minutesEast: Int32) -> String {
        func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + String(value) }
        return "\(minutesEast < 0 ? "-" : "+")\(two(abs(minutesEast) / 60)):\(two(abs(minutesEast) % 60))"
    }

    /// `2026-11-21T14:03:07Z`: the same wherever a log is read.
    package static func universalTime(wallMilliseconds: UInt64) -> String {
        var seconds = time_t(wallMilliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + String(value) }
        return
            "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
