import Dispatch
import RelayIO
import RelaySystem
import Testing

@Suite struct SocketTests {
    @Test("an address in use is named in the error, on IPv4 and IPv6", arguments: ["127.0.0.1", "::1"])
    func inUse(host: String) throws {
        let queue = DispatchQueue(label: "test")
        let readiness = try Readiness(queue: queue)
        let listener = try Listener(host: host, port: 0, on: readiness)
        let port = listener.address.numeric.port
        let failure = #expect(throws: SocketAddress.Failure.self) { try Listener(host: host, port: port, on: readiness) }
        #expect(failure?.description.contains(":\(port)") == true)
        queue.sync { listener.close() }
    }

    @Test("a host that does not exist is named in the error")
    func unknownHost() {
        let failure = #expect(throws: SocketAddress.Failure.self) { try SocketAddress.resolve(host: "no such host", port: 1) }
        #expect(failure?.description.contains("no such host") == true)
    }

    @Test("a timer fires once for each arming, and not when it was disarmed")
    func timer() async throws {
        let queue = DispatchQueue(label: "test")
        let (fired, continuation) = AsyncStream.makeStream(of: Void.self)
        let timer = DeadlineTimer(queue: queue) { @Sendable in continuation.yield() }
        queue.sync {
            timer.arm(for: SystemClock.monotonicNanoseconds() + 60_000_000_000)
            timer.arm(for: nil)
            timer.arm(for: SystemClock.monotonicNanoseconds() + 1_000_000)
        }
        var events = fired.makeAsyncIterator()
        await events.next()
        queue.sync { timer.arm(for: SystemClock.monotonicNanoseconds()) }
        await events.next()
    }

    @Test("random words differ")
    func entropy() {
        #expect(Set((0..<100).map { _ in SystemEntropy.word() }).count == 100)
    }

    @Test("a lock lets one in at a time")
    func lock() async {
        let counter = Mutex(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { counter.withLock { $0 += 1 } } } }
        }
        #expect(counter.withLock { $0 } == 8000)
    }
}
