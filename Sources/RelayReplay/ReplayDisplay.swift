import RelayConsole
import RelayIO

/// The progress of a replay on standard error, where that is a terminal.
struct ReplayDisplay: Sendable {
    let strokes: Int
    let unit: String
    let planned: Duration
    let tally: Mutex<ReplayTally>

    /// Draws the line again and again until the task is cancelled, then takes it away.
    func run() async {
        guard Console.errorsAreTerminal else { return }
        let begin = ContinuousClock.now
        while !Task.isCancelled {
            let bar = bar(elapsed: ContinuousClock.now - begin)
            Console.pass(bar.line(width: Console.columns - 1))
            try? await Task.sleep(for: .milliseconds(100))
        }
        Console.endPassing()
    }

    func bar(elapsed: Duration) -> ProgressBar {
        let done = tally.withLock { $0.strokesDone }
        // While the plan holds, it knows best how long it takes; the rates may take longer.
        let byPlan = planned - elapsed
        let bySpeed = done > 0 ? elapsed * Double(strokes - done) / Double(done) : byPlan
        return ProgressBar(
            done: done, total: strokes, words: "\(Printable.count(done)) of \(Printable.count(strokes)) \(unit)",
            remaining: done == strokes ? nil : byPlan > .zero ? byPlan : max(bySpeed, .seconds(1)))
    }
}
