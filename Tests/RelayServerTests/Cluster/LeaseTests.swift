import RelayPrimitives
import Testing

@testable import RelayServer

@Suite("A lease") struct LeaseTests {
    private func at(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("lets turns begin until its moment, which each entry moves, and never again when it is over")
    func turns() {
        let lease = Lease(until: at(10))
        #expect(lease.mayAct(at: at(9)) && !lease.mayAct(at: at(10)))
        lease.extend(until: at(12))
        #expect(lease.mayAct(at: at(11)) && !lease.isOver)
        lease.end()
        lease.extend(until: at(99))
        #expect(!lease.mayAct(at: at(11)) && lease.isOver)
    }
}
