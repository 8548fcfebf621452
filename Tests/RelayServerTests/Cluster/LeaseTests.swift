import RelayCore
import RelayPrimitives
import Testing

@testable import RelayIO
@testable import RelayServer

@Suite("A lease") struct LeaseTests {
    private func at(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test("lets turns begin until its moment, which each entry moves, and never again when it is over")
    func turns() {
        let lease = Lease(until: at(10))
        #expect(lease.mayAct(at: at(9)) && lease.mayShow(at: at(9)) && !lease.mayAct(at: at(10)))
        lease.extend(until: at(12))
        #expect(lease.mayAct(at: at(11)) && !lease.isOver)
        lease.end()
        lease.extend(until: at(99))
        #expect(!lease.mayAct(at: at(11)) && lease.isOver)
    }

    @Test("[SG5] of a relay that goes on alone turns go on behind its moment, show nothing durable, and end when it is over")
    func alone() {
        let lease = Lease(until: at(10), goesOnAlone: true)
        #expect(lease.mayShow(at: at(9)) && !lease.mayShow(at: at(10)) && lease.mayAct(at: at(99)))
        lease.end()
        #expect(!lease.mayAct(at: at(1)) && !lease.mayShow(at: at(1)))
    }

    @Test("whose moment has passed is over for good with the next turn, whatever the log says then")
    func engine() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0), permit: { _ in }, as: .space("main"), behind: RelayPlace())
        let lease = Lease(until: at(1)), node = try node()
        let isServing = await withCheckedContinuation { continuation in
            relay.engine.enter { $0.ownership = (lease, node) }
            relay.engine.enter { continuation.resume(returning: $0.isServing) }
        }
        lease.extend(until: at(1 << 33))
        #expect(!isServing && lease.isOver && !lease.mayAct(at: at(2)))
        await relay.stop()
    }

    private func node() throws -> SpaceNode {
        SpaceNode(SpaceLogOptions(space: "main", servers: try LogServers("nats://127.0.0.1:1")), log: { _ in })
    }

    @Test("that is over in the middle of a turn keeps back what the turn would have written", arguments: [false, true])
    func write(isOver: Bool) async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let link = try RawLink(relay.address)
        try link.login("ann")
        let lease = Lease(until: at(1 << 33)), node = try node()
        relay.engine.enter { engine in
            engine.ownership = (lease, node)
            engine.hub.handle(.shutdown, at: Engine.now())
            if isOver { lease.end() }
            engine.finishTurn()
            engine.ownership = nil
        }
        var rest: [UInt8]?
        // A connection that is cut with something unread is reset.
        do { rest = try link.bytesUntilEnd() } catch let error as SocketAddress.Failure { #expect(isOver, "\(error)") }
        #expect((rest ?? []).isEmpty == isOver, "\(rest ?? [])")
        await relay.stop()
    }
}
