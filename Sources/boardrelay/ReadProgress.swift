import RelayConsole
import RelayIO

/// How much was read, on standard error, when it takes long: on a terminal in one line, else in a line every 10 s.
final class ReadProgress: Sendable {
    private struct Display {
        /// When the first bytes were read: before that a relay may have waited for its folder.
        var begin: ContinuousClock.Instant?
        var next: Duration = Console.errorsAreTerminal ? .seconds(1) : .seconds(10)
        var isShown = false
    }

    private let display = Mutex(Display())

    func show(_ bytes: Int) {
        let now = ContinuousClock.now, words = "\(Printable.size(bytes)) read"
        display.withLock { display in
            let elapsed = now - (display.begin ?? now)
            display.begin = display.begin ?? now
            guard elapsed >= display.next else { return }
            guard Console.errorsAreTerminal else {
                display.next = elapsed + .seconds(10)
                return Console.note(words)
            }
            display.next = elapsed + .milliseconds(200)
            display.isShown = true
            Console.noteRaw("\r\u{1B}[K" + words)
        }
    }

    /// Before anything else is printed.
    func clear() {
        display.withLock { display in
            if display.isShown { Console.noteRaw("\r\u{1B}[K") }
            display.isShown = false
        }
    }
}
