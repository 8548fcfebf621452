package import RelayPrimitives

/// When queued bytes go to their sockets. [design: adaptive flush]
///
/// At once while writes are few, or large: latency is best. With many small ones, a tick gathers what comes within it, and each reader
/// costs one write per tick instead of one per frame.
public struct FlushPolicy: Sendable, Equatable {
    /// How long queued bytes may wait to be sent together.
    public enum Mode: Sendable, Equatable {
        /// At once, always.
        case immediate
        /// By ticks of this length, 1…100 ms: what is outside counts as the nearer end.
        case every(Duration)
        /// At once, and by ticks of 1…4 ms above 20,000 writes a second.
        case adaptive
    }

    private let mode: Mode
    private var tick: Duration?
    private var window: Window?

    /// What happened since a moment.
    private struct Window: Equatable {
        let start: Instant
        var writes = Writes()
        var busy = Duration.zero
    }

    /// Sockets written to.
    package struct Writes: Equatable, Sendable {
        package private(set) var count = 0
        /// Those of fewer bytes than make a write worth it.
        package private(set) var small = 0

        package init(count: Int = 0, small: Int = 0) {
            self.count = count
            self.small = small
        }

        @inline(__always)
        package mutating func add(bytes: Int) {
            count += 1
            if bytes < FlushPolicy.smallWriteBytes { small += 1 }
        }

        fileprivate mutating func add(_ other: Writes) {
            count += other.count
            small += other.small
        }
    }

    /// A larger write costs what its bytes cost: to wait for more of them gains nothing.
    static let smallWriteBytes = 4 * 1024
    /// Small writes a second above which ticks begin.
    static let writesPerSecondHigh = 20_000
    static let tickMin = Duration.milliseconds(1)
    static let tickMax = Duration.milliseconds(4)
    /// What is judged together: one flush that the machine has kept waiting says nothing.
    private static let windowLength = Duration.milliseconds(50)

    package init(_ mode: Mode) {
        self.mode = mode
        switch mode {
        case .immediate, .adaptive: tick = nil
        case .every(let time): tick = max(.milliseconds(1), min(.milliseconds(100), time))
        }
    }

    /// How long to wait before the next flush; `nil` for not at all.
    package var delay: Duration? { tick }

    /// Tells how a flush went, so that the adaptive policy can choose.
    ///
    /// - Parameters:
    ///   - writes: of that flush.
    ///   - busy: how long the flush took.
    package mutating func flushed(_ writes: Writes, busy: Duration, at now: Instant) {
        guard mode == .adaptive else { return }
        guard var judged = window else {
            window = Window(start: now)
            return
        }
        judged.writes.add(writes)
        judged.busy += busy
        let passed = now - judged.start
        guard passed >= Self.windowLength else {
            window = judged
            return
        }
        window = Window(start: now)
        let seconds = passed / .seconds(1)
        guard let current = tick else {
            if Double(judged.writes.small) > Double(Self.writesPerSecondHigh) * seconds { tick = Self.tickMin }
            return
        }
        if judged.busy > passed / 4 {
            tick = min(current * 2, Self.tickMax)
        } else if Double(judged.writes.count) < Double(Self.writesPerSecondHigh) / 2 / (current / .milliseconds(1)) * seconds {
            // With ticks there are fewer writes than there would be without: back when even so they are few.
            tick = current > Self.tickMin ? current / 2 : nil
        }
    }
}
