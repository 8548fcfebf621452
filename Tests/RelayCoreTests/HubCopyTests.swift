@testable import RelayCore
import Testing

/// A hub is copyable for the compiler's sake, and has one owner all the same (docs/decisions/0008).
@Suite("One owner of a hub") struct HubCopyTests {
    private static let now = Now(instant: Instant(nanoseconds: 1), wallMilliseconds: 1)

    @Test("a call into a hub that was copied traps")
    func copies() async {
        await #expect(processExitsWith: .failure) {
            var hub = Hub(configuration: Configuration(), start: 1, at: HubCopyTests.now.instant)
            let copy = hub
            hub.handle(.deadlineReached, at: HubCopyTests.now)
            withExtendedLifetime(copy) {}
        }
    }

    @Test("calls into a hub with one owner do not")
    func alone() async {
        await #expect(processExitsWith: .success) {
            var hub = Hub(configuration: Configuration(), start: 1, at: HubCopyTests.now.instant)
            hub.handle(.deadlineReached, at: HubCopyTests.now)
            hub.handle(.shutdown, at: HubCopyTests.now)
        }
    }

    @Test("adding to a slab that was copied traps")
    func slabs() async {
        await #expect(processExitsWith: .failure) {
            var slab = Slab<Int>(vacant: 0)
            let copy = slab
            _ = slab.insert(1)
            withExtendedLifetime(copy) {}
        }
    }

    @Test("a slab gives back what its elements own, once each, when it ends and when it has grown")
    func release() {
        final class Released { var elements: [Int] = [] }
        let released = Released()
        do {
            var slab = Slab<Int>(vacant: -1, release: { released.elements.append($0) })
            for element in 0..<40 {
                let index = slab.insert(element)
                #expect(slab[index] == element)
            }
            #expect(released.elements.isEmpty)
        }
        #expect(released.elements == Array(0..<40))
    }
}
