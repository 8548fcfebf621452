package import RelayCore

/// When queued bytes go to their sockets. [design: adaptive flush]
///
/// At once while writes are few: latency is best. With many, a tick gathers what comes within it, and each reader
/// costs one write per tick instead of one per frame.
public struct FlushPolicy: Sendable, Hashable {
    /// How long queued bytes may wait to be sent together.
    public enum Mode: Sendable, Hashable {
        /// At once, always.
        case immediate
        /// Every so many milliseconds, 1…100.
        case every(milliseconds: Int)
        /// At once, and by ticks of 1…4 ms above 20,000 writes a second.
        case adaptive
    }

    private let mode: Mode
    private var tick: Duration?
    private var window: Window?

    /// What happened since a moment.
    private struct Window: Hashable {
        let start: Instant
        var writes = 0
        var busy = Duration.zero
    }

    /// Writes a second above which ticks begin.
    static let writesPerSecondHigh = 20_000
    static let tickMin = Duration.milliseconds(1)
    static let tickMax = Duration.milliseconds(4)
    /// What is judged together: one flush that the machine has kept waiting says nothing.
    private static let windowLength = Duration.milliseconds(50)

    package init(_ mode: Mode) {
        self.mode = mode
        switch mode {
        case .immediate, .adaptive: tick = nil
        case .every(let milliseconds): tick = .milliseconds(max(1, min(100, milliseconds)))
        }
    }

    /// How long to wait before the next flush; `nil` for not at all.
    package var delay: Duration? { tick }

    /// Tells how a flush went, so that the adaptive policy can choose.
    ///
    /// - Parameters:
    ///   - writes: sockets written to.
    ///   - busy: how long the flush took.
    package mutating func flushed(writes: Int, busy: Duration, at now: Instant) {
        guard mode == .adaptive else { return }
        guard var judged = window else {
            window = Window(start: now)
            return
        }
        judged.writes += writes
        judged.busy += busy
        let passed = now - judged.start
        guard passed >= Self.windowLength else {
            window = judged
            return
        }
        window = Window(start: now)
        let perSecond = Double(judged.writes) / (passed / .seconds(1))
        guard let current = tick else {
            if perSecond > Double(Self.writesPerSecondHigh) { tick = Self.tickMin }
            return
        }
        if judged.busy > passed / 4 {
            tick = min(current * 2, Self.tickMax)
        } else if perSecond < Double(Self.writesPerSecondHigh) / 2 / (current / .milliseconds(1)) {
            // With ticks there are fewer writes than there would be without: back when even so they are few.
            tick = current > Self.tickMin ? current / 2 : nil
        }
    }
}
