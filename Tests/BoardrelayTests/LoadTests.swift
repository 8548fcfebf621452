import RelayPrimitives
import RelayWire
import Testing

@testable import RelayBench
@testable import RelayConsole
@testable import RelayLoad
@testable import boardrelay

@Suite("what a load is measured with")
struct LoadTests {
    // MARK: - Histogram

    @Test("percentiles are those of the sorted values, at most 1 % above", arguments: [1, 2, 3] as [UInt64])
    func percentiles(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var histogram = Histogram()
        // Every order of magnitude as often as every other.
        var values = (0..<10_000).map { _ in UInt64.random(in: 0...(.max), using: &dice) >> UInt64.random(in: 0..<64, using: &dice) }
        for value in values { histogram.add(value) }
        values.sort()
        #expect(histogram.count == 10_000 && histogram.max == values.last)
        for percent in [0, 0.1, 1, 25, 50, 90, 99, 99.9, 100] {
            let exact = values[max(0, Int((percent / 100 * 10_000).rounded(.up)) - 1)]
            let told = histogram.percentile(percent)!
            #expect(told >= exact && Double(told - exact) <= Double(exact) * 0.01, "\(percent) %: \(told), not \(exact)")
        }
    }

    @Test("small values are exact, the largest there is has a place, and an empty one says nothing")
    func bounds() {
        var histogram = Histogram()
        #expect(histogram.percentile(50) == nil)
        for value in 0...255 as ClosedRange<UInt64> { histogram.add(value) }
        #expect(histogram.percentile(50) == 127 && histogram.percentile(100) == 255)
        histogram.add(.max)
        #expect(histogram.percentile(100) == .max && histogram.percentile(99) == 254)
    }

    @Test("two of them added are one of all values")
    func sum() {
        var left = Histogram(), right = Histogram(), both = Histogram()
        for value in 0..<1_000 as Range<UInt64> {
            if value.isMultiple(of: 3) { left.add(value * value) } else { right.add(value * value) }
            both.add(value * value)
        }
        left.add(right)
        #expect(left.count == both.count && left.max == both.max)
        for percent in stride(from: 0.0, through: 100, by: 5) { #expect(left.percentile(percent) == both.percentile(percent)) }
    }

    // MARK: - Schedule

    @Test("each source sends at its rate, none before the one that is due earlier")
    func rates() {
        var schedule = Schedule(
            [.init(perSecond: 200, bytes: 64), .init(perSecond: 0.5, bytes: 2_000), .init(perSecond: 60, bytes: 120)], seed: 7)
        var counts = [0, 0, 0], last: UInt64 = 0
        while let send = schedule.next, send.at < 10_000_000_000 {
            #expect(send.at >= last)
            last = send.at
            counts[send.source] += 1
            #expect(send.bytes == [64, 2_000, 120][send.source])
            schedule.advance()
        }
        #expect(counts == [2_000, 5, 600])
    }

    @Test("a seed gives the same phases again, another one others")
    func seeds() {
        func begin(_ seed: UInt64) -> [UInt64] {
            var schedule = Schedule(Array(repeating: .init(perSecond: 10, bytes: 16), count: 5), seed: seed)
            return (0..<10).map { _ in
                defer { schedule.advance() }
                return schedule.next!.at
            }
        }
        #expect(begin(1) == begin(1) && begin(1) != begin(2))
        #expect(Set(begin(1).prefix(5)).count == 5)
    }

    @Test("what is listed comes once, in its order")
    func listed() {
        let sends = [Schedule.Send(at: 0, source: 1, bytes: 20), .init(at: 5, source: 0, bytes: 30)]
        var schedule = Schedule(listed: sends)
        #expect(schedule.next == sends[0])
        schedule.advance()
        #expect(schedule.next == sends[1])
        schedule.advance()
        #expect(schedule.next == nil)
    }

    // MARK: - Tally

    /// Two who send to each other and to one who only reads.
    private func tally() -> Tally { Tally(readers: 3, sources: 2) { $0 != $1 } }

    @Test("who gets all is owed nothing")
    func complete() {
        var tally = tally()
        for _ in 1...3 {
            for source in 0..<2 {
                let number = tally.send(source)
                for reader in 0..<3 where reader != source {
                    let counts = tally.deliver(number, of: source, to: reader)
                    #expect(counts)
                }
            }
        }
        #expect(tally.sent == 6 && tally.expected == 12 && tally.delivered == 12)
        #expect(tally.isSettled && tally.duplicates == 0 && tally.reorders == 0 && tally.strangers == 0)
    }

    @Test("a loss that nobody reported is found, and a report settles it, before it or behind it", arguments: [true, false])
    func lost(reportedFirst: Bool) {
        var tally = Tally(readers: 1, sources: 1) { _, _ in true }
        for _ in 1...10 { _ = tally.send(0) }
        func deliver(_ numbers: ClosedRange<UInt32>) { for number in numbers { _ = tally.deliver(number, of: 0, to: 0) } }
        deliver(1...4)
        if reportedFirst { tally.report(5, 7, of: 0, to: 0) }
        deliver(8...10)
        if !reportedFirst {
            #expect(tally.unreported == 3 && !tally.isSettled)
            tally.report(5, 7, of: 0, to: 0)
        }
        #expect(tally.unreported == 0 && tally.isSettled && tally.reported == 3 && tally.delivered == 7)
        _ = tally.send(0)
        #expect(tally.unreported == 1)
        tally.report(11, 11, of: 0, to: 0)
        #expect(tally.isSettled)
    }

    @Test("one that comes twice does not make up for one that does not come")
    func twice() {
        var tally = Tally(readers: 1, sources: 1) { _, _ in true }
        for _ in 1...2 { _ = tally.send(0) }
        let counts = (1...2).map { _ in tally.deliver(1, of: 0, to: 0) }
        #expect(counts == [true, false])
        #expect(tally.duplicates == 1 && tally.delivered == 1 && tally.unreported == 1)
    }

    @Test("what comes late is delivered and out of order; what was reported as lost must not come")
    func late() {
        var tally = Tally(readers: 1, sources: 1) { _, _ in true }
        for _ in 1...4 { _ = tally.send(0) }
        for number in [1, 3, 2] as [UInt32] { _ = tally.deliver(number, of: 0, to: 0) }
        #expect(tally.reorders == 1 && tally.duplicates == 0 && tally.delivered == 3)
        tally.report(4, 4, of: 0, to: 0)
        tally.report(3, 4, of: 0, to: 0)
        #expect(tally.reported == 1 && tally.isSettled)
        let counts = tally.deliver(4, of: 0, to: 0)
        #expect(!counts && tally.duplicates == 1)
    }

    @Test("what was refused is owed to nobody; what nobody sent is a stranger")
    func refused() {
        var tally = tally()
        for _ in 1...3 { _ = tally.send(0) }
        tally.refused(of: 0)
        #expect(tally.expected == 4 && tally.unreported == 4)
        for reader in [1, 2] { for number in [1, 3] as [UInt32] { _ = tally.deliver(number, of: 0, to: reader) } }
        #expect(tally.isSettled && tally.refused == 1)
        let strange = [
            tally.deliver(4, of: 0, to: 1), tally.deliver(1, of: 0, to: 0), tally.deliver(1, of: 9, to: 1), tally.deliver(0, of: 0, to: 1),
        ]
        #expect(strange == [false, false, false, false] && tally.strangers == 4)
    }

    @Test("losses that are told by their number alone settle a reader")
    func counted() {
        var tally = Tally(readers: 1, sources: 2) { _, _ in true }
        for _ in 1...5 { _ = tally.send(0); _ = tally.send(1) }
        tally.report(8, to: 0)
        for source in 0..<2 { _ = tally.deliver(5, of: source, to: 0) }
        #expect(tally.isSettled && tally.reported == 8)
    }

    // MARK: - Loads

    @Test("rates are lifted where a load is over them, and nowhere else")
    func lifted() {
        let times = Load.Times(warmup: 1, seconds: 3, seed: 1)
        #expect(LoadBench.lifted(for: .board(.stream, users: 10, bytes: 64, perSecond: 200, times)) == [])
        #expect(LoadBench.lifted(for: .fan(.message, publishers: 10, subscribers: 50, bytes: 64, perSecond: 60, times)) == [])
        #expect(LoadBench.lifted(for: .board(.message, users: 10, bytes: 64, perSecond: 600, times)) == ["--message-rate", "1200"])
        #expect(
            LoadBench.lifted(for: .fan(.stream, publishers: 1, subscribers: 1, bytes: 64, pace: Load.window, times)) == [
                "--packet-rate", "1000000",
            ])
    }

    @Test("medians are of all runs, and there is none where one run has no figure")
    func medians() {
        #expect(LoadRow.median([3.0, 1, 2]) { $0 } == .number(2))
        #expect(LoadRow.median([4.0, 1, 2, 3]) { $0 } == .number(2.5))
        #expect(LoadRow.median([1.0, 2]) { $0 > 1 ? $0 : nil } == .null)
    }
}
