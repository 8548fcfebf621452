import RelayCore
import RelayPrimitives
@testable import RelayServer
import Testing

@Suite struct ServerFlushPolicyTests {
    private static func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    @Test("few writes go at once, for ever")
    func few() {
        var policy = FlushPolicy(.adaptive)
        for millisecond in 0..<5000 {
            policy.flushed(.init(count: 15, small: 15), busy: .microseconds(10), at: Self.at(millisecond))
            #expect(policy.delay == nil)
        }
    }

    @Test(
        "above 20,000 writes a second a tick of 1 ms gathers them; flushes that take over a quarter of the time double it to 4 ms; calm takes it back"
    )
    func many() {
        var policy = FlushPolicy(.adaptive)
        var now = 0
        func run(milliseconds: Int, writes: Int, busy: Duration) {
            for _ in 0..<milliseconds {
                now += 1
                policy.flushed(.init(count: writes, small: writes), busy: busy, at: Self.at(now))
            }
        }
        run(milliseconds: 60, writes: 30, busy: .microseconds(100))
        #expect(policy.delay == .milliseconds(1))
        run(milliseconds: 50, writes: 30, busy: .microseconds(300))
        #expect(policy.delay == .milliseconds(2))
        run(milliseconds: 150, writes: 30, busy: .microseconds(300))
        #expect(policy.delay == .milliseconds(4))
        run(milliseconds: 1_000, writes: 0, busy: .zero)
        #expect(policy.delay == nil)
    }

    @Test("many large writes go at once: waiting would only make them wait")
    func large() {
        var policy = FlushPolicy(.adaptive), writes = FlushPolicy.Writes()
        for _ in 0..<30 { writes.add(bytes: FlushPolicy.smallWriteBytes) }
        for now in 1...500 {
            policy.flushed(writes, busy: .microseconds(600), at: Self.at(now))
            #expect(policy.delay == nil)
        }
        writes = .init()
        for _ in 0..<30 { writes.add(bytes: FlushPolicy.smallWriteBytes - 1) }
        for now in 501...600 { policy.flushed(writes, busy: .microseconds(100), at: Self.at(now)) }
        #expect(policy.delay == .milliseconds(1))
    }

    @Test("one flush that the machine has kept waiting changes no tick")
    func stall() {
        var policy = FlushPolicy(.adaptive)
        for now in 1...200 {
            policy.flushed(.init(count: 30, small: 30), busy: now == 120 ? .milliseconds(5) : .microseconds(100), at: Self.at(now))
        }
        #expect(policy.delay == .milliseconds(1))
    }

    @Test("a fixed tick and immediate stay what they are")
    func fixed() {
        var every = FlushPolicy(.every(.milliseconds(2)))
        var immediate = FlushPolicy(.immediate)
        for now in 0..<100 {
            every.flushed(.init(count: 1000, small: 1000), busy: .milliseconds(5), at: Self.at(now))
            immediate.flushed(.init(count: 1000, small: 1000), busy: .milliseconds(5), at: Self.at(now))
        }
        #expect(every.delay == .milliseconds(2))
        #expect(immediate.delay == nil)
    }
}
