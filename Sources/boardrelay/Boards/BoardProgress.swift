import RelayConsole
import RelayIO

/// How far it is, on standard error: on a terminal in one line, else in a line every 10 s.
final class BoardProgress: Sendable {
    private let begin = ContinuousClock.now
    private let next = Mutex(Duration.seconds(10))

    func show(_ fraction: Double, _ words: String) {
        guard Console.errorsAreTerminal else {
            let elapsed = ContinuousClock.now - begin
            let isDue = next.withLock { next in
                defer { if elapsed >= next { next = elapsed + .seconds(10) } }
                return elapsed >= next
            }
            if isDue { Console.note(words) }
            return
        }
        let bar = ProgressBar(done: Int(fraction * 1_000), total: 1_000, words: words, remaining: nil)
        Console.noteRaw("\r\u{1B}[K" + bar.line(width: Console.columns - 1))
    }

    /// Before anything else is printed.
    func end() {
        if Console.errorsAreTerminal { Console.noteRaw("\r\u{1B}[K") }
    }
}
