import RelayIO

/// How far it is, on standard error: on a terminal after a second, in one line that changes; else in a line every 10 s.
package final class Progress: Sendable {
    private let isTerminal: Bool
    private let say: @Sendable (String) -> Void
    private let begin = ContinuousClock.now
    private let next: Mutex<Duration>

    /// - Parameters:
    ///   - isTerminal: whether the line may change.
    ///   - say: of a line that stays.
    package init(isTerminal: Bool = Console.errorsAreTerminal, say: @escaping @Sendable (String) -> Void = Console.note) {
        (self.isTerminal, self.say) = (isTerminal, say)
        next = Mutex(isTerminal ? .seconds(1) : .seconds(10))
    }

    /// Where nobody knows of how much.
    package func show(_ words: @autoclosure () -> String) { show(words, { $0 }) }

    /// - Parameter fraction: 0…1.
    package func show(_ fraction: Double, _ words: @autoclosure () -> String) {
        show(words) { words in
            ProgressBar(done: Int(fraction * 1_000), total: 1_000, words: words, remaining: nil).line(width: Console.columns - 1)
        }
    }

    private func show(_ words: () -> String, _ line: (String) -> String) {
        let elapsed = ContinuousClock.now - begin
        let isDue = next.withLock { next in
            guard elapsed >= next else { return false }
            next = elapsed + (isTerminal ? .milliseconds(200) : .seconds(10))
            return true
        }
        guard isDue else { return }
        if isTerminal { Console.pass(line(words())) } else { say(words()) }
    }

    package func end() { Console.endPassing() }
}
