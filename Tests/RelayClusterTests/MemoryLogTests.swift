import RelayCluster
import Testing

@Suite struct MemoryLogTests {
    private static func id(_ number: UInt64) -> SpaceLog.AppendID { .init(life: 1, number: number) }

    @Test("a log takes an entry behind the newest only, and the same id once") func fence() {
        var log = MemoryLog()
        #expect(log.append([1], after: 1, id: Self.id(1)) == .wrong(end: 0))
        #expect(log.append([1], after: 0, id: Self.id(2)) == .taken(at: 1))
        #expect(log.append([2], after: 0, id: Self.id(3)) == .wrong(end: 1))
        #expect(log.append([2], after: 1, id: Self.id(3)) == .taken(at: 2))
        #expect(log.append([1], after: 0, id: Self.id(2)) == .taken(at: 1) && log.end == 2)
    }

    @Test("what is trimmed is gone, and the end stays; what is forgotten was never there") func shortening() {
        var log = MemoryLog()
        for number in 1...5 as ClosedRange<UInt64> { _ = log.append([UInt8(number)], after: number - 1, id: Self.id(number)) }
        log.trim(below: 3)
        #expect(log.end == 5 && log.entries(from: 1).map(\.position) == [3, 4, 5] && log.entries(from: 6).isEmpty)
        log.forget(after: 3)
        #expect(log.end == 3 && log.append([9], after: 3, id: Self.id(4)) == .taken(at: 4))
    }
}
