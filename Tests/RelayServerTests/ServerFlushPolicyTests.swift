import RelayCore
import RelayServer
import Testing

@Suite struct ServerFlushPolicyTests {
    private static func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: UInt64(milliseconds) * 1_000_000) }

    @Test("few writes go at once, for ever")
    func few() {
        var policy = FlushPolicy(.adaptive)
        for millisecond in 0..<5000 {
            policy.flushed(writes: 15, busy: .microseconds(10), at: Self.at(millisecond))
            #expect(policy.delay == nil)
        }
    }

    @Test("above 20,000 writes a second a tick of 1 ms gathers them; flushes that take over a quarter of the time double it to 4 ms; calm takes it back")
    func many() {
        var policy = FlushPolicy(.adaptive)
        var now = 0
        func run(milliseconds: Int, writes: Int, busy: Duration) {
            for _ in 0..<milliseconds {
                now += 1
                policy.flushed(writes: writes, busy: busy, at: Self.at(now))
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

    @Test("one flush that the machine has kept waiting changes no tick")
    func stall() {
        var policy = FlushPolicy(.adaptive)
        for now in 1...200 {
            policy.flushed(writes: 30, busy: now == 120 ? .milliseconds(5) : .microseconds(100), at: Self.at(now))
        }
        #expect(policy.delay == .milliseconds(1))
    }

    @Test("a fixed tick and immediate stay what they are")
    func fixed() {
        var every = FlushPolicy(.every(milliseconds: 2))
        var immediate = FlushPolicy(.immediate)
        for now in 0..<100 {
            every.flushed(writes: 1000, busy: .milliseconds(5), at: Self.at(now))
            immediate.flushed(writes: 1000, busy: .milliseconds(5), at: Self.at(now))
        }
        #expect(every.delay == .milliseconds(2))
        #expect(immediate.delay == nil)
    }
}
