import Dispatch
import Testing

@testable import RelayIO
import RelaySystem

/// Who waits for what the system tells.
enum Driver: String, CaseIterable, Sendable { case dispatch, thread }

/// Sockets on a queue, and what is told of them. Everything happens on the queue.
private final class Bench: @unchecked Sendable {
    // Safe: touched on `queue` only, but for the stream.
    enum Event: Hashable, Sendable { case readable(Int), writable(Int), released(Int) }

    let queue = DispatchQueue(label: "test")
    let readiness: Readiness
    private(set) var sockets: [StreamSocket] = []
    private let told: AsyncStream<Event>.Continuation
    private var events: AsyncStream<Event>.AsyncIterator
    var inReadable: (Int) -> Void = { _ in }

    init(_ driver: Driver) throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        told = continuation
        events = stream.makeAsyncIterator()
        readiness = try Readiness(queue: queue, waitsOnOwnThread: driver == .thread)
    }

    func run<Result>(_ body: () throws -> Result) rethrows -> Result { try queue.sync(execute: body) }

    func next() async -> Event? { await events.next() }

    /// - Returns: what has been told by now, in order; the queue has had every turn that was asked for before.
    func all() async -> [Event] {
        let end = Event.released(-1)
        // What the system has to tell comes by the queue, too: an event of a pair of its own is behind all of it.
        queue.async { @Sendable [told] in told.yield(end) }
        var all: [Event] = []
        while let event = await next(), event != end { all.append(event) }
        return all
    }

    func add(_ descriptor: Int32, quiet: (Int32) -> Int32 = SocketConstants.quiet) {
        keepFromBlocking(descriptor)
        let socket = StreamSocket(adopting: descriptor, on: readiness, quiet: quiet)
        let number = sockets.count
        sockets.append(socket)
        let handlers = StreamSocket.Handlers(
            readable: { @Sendable [self] tag in
                told.yield(.readable(Int(tag)))
                inReadable(Int(tag))
            },
            writable: { @Sendable [told] tag in told.yield(.writable(Int(tag))) },
            released: { @Sendable [told] tag in told.yield(.released(Int(tag))) })
        socket.activate(handlers, tag: UInt64(number))
    }

    /// - Returns: the other end of a new socket.
    func addPair() -> Int32 {
        var pair: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, SocketConstants.stream, 0, &pair) == 0)
        add(pair[0])
        return pair[1]
    }

    func read(_ number: Int) -> StreamSocket.Reading {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { sockets[number].read(into: $0) }
    }

    /// Writes until the socket takes no more.
    func fill(_ number: Int) -> Int {
        var bytes = [UInt8](repeating: 7, count: 1 << 16)
        var total = 0
        while true {
            let result = bytes.withUnsafeMutableBytes { buffer in
                var vector = SystemVector(iov_base: buffer.baseAddress, iov_len: buffer.count)
                return sockets[number].write(&vector, count: 1)
            }
            guard case .wrote(let count) = result else { return total }
            total += count
        }
    }
}

@Suite struct StreamSocketTests {
    @Test("what came before it was watched is told, and then each time something comes", arguments: Driver.allCases)
    func readable(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, SocketConstants.stream, 0, &pair) == 0)
        #expect(send(pair[1], "ab", 2, 0) == 2)
        bench.run { bench.add(pair[0]) }
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { [bench.read(0), bench.read(0)] } == [.bytes(2), .wouldBlock])
        #expect(send(pair[1], "c", 1, 0) == 1)
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { bench.read(0) } == .bytes(1))
        systemClose(pair[1])
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { bench.read(0) } == .end)
        bench.run { bench.sockets[0].close() }
        #expect(await bench.next() == .released(0))
    }

    @Test("a socket whose writes could raise a signal is told readable, tells the reason and writes nothing")
    func notQuiet() async throws {
        let bench = try Bench(.dispatch)
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, SocketConstants.stream, 0, &pair) == 0)
        bench.run { bench.add(pair[0]) { _ in EINVAL } }
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { bench.read(0) } == .failed(EINVAL))
        #expect(bench.run { bench.fill(0) } == 0)
        bench.run { bench.sockets[0].close() }
        #expect(await bench.next() == .released(0))
        var byte: UInt8 = 0
        #expect(recv(pair[1], &byte, 1, 0) == 0)
        systemClose(pair[1])
    }

    @Test("a peer's reset is told as a failure", arguments: Driver.allCases)
    func reset(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        let listener = try Listener(host: "127.0.0.1", port: 0, on: bench.readiness)
        let peer = try Connector.connect(
            to: RelayAddress(host: "127.0.0.1", port: listener.address.numeric.port), timeoutMilliseconds: 300_000)
        try bench.run {
            try listener.activate(
                accepted: { @Sendable descriptor, _ in
                    bench.add(descriptor)
                    return true
                }, exhausted: { @Sendable _ in }, released: { @Sendable in })
        }
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(peer, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        systemClose(peer)
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { bench.read(0) } == .failed(ECONNRESET))
        bench.run {
            bench.sockets[0].close()
            listener.close()
        }
        // A source tells again of what is unread: perhaps before it was read.
        var told = await bench.next()
        while told == .readable(0) { told = await bench.next() }
        #expect(told == .released(0))
    }

    @Test(
        "while reading is paused nothing is told; afterwards what came meanwhile, and what was left unread before",
        arguments: Driver.allCases)
    func paused(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        let (peer, witness) = bench.run { (bench.addPair(), bench.addPair()) }
        bench.run { bench.sockets[0].pauseReading() }
        #expect(send(peer, "a", 1, 0) == 1)
        // The witness is told behind it.
        #expect(send(witness, "a", 1, 0) == 1)
        #expect(await bench.next() == .readable(1))
        bench.run { bench.sockets[0].resumeReading() }
        #expect(await bench.next() == .readable(0))
        // Its byte is still there.
        bench.run {
            bench.sockets[0].pauseReading()
            bench.sockets[0].resumeReading()
        }
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { [bench.read(0), bench.read(0)] } == [.bytes(1), .wouldBlock])
        bench.run { for socket in bench.sockets { socket.close() } }
        systemClose(peer)
        systemClose(witness)
    }

    @Test("a full socket tells once that it takes bytes again, when it was asked", arguments: Driver.allCases)
    func writable(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        let peer = bench.run { bench.addPair() }
        var left = bench.run { bench.fill(0) }
        bench.run {
            bench.sockets[0].waitUntilWritable()
            bench.sockets[0].waitUntilWritable()
        }
        #expect(await bench.all() == [])
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while left > 0 { left -= recv(peer, &buffer, buffer.count, 0) }
        #expect(await bench.next() == .writable(0))
        left = bench.run { bench.fill(0) }
        while left > 0 { left -= recv(peer, &buffer, buffer.count, 0) }
        // It was not asked; the byte that comes afterwards is told.
        #expect(send(peer, "a", 1, 0) == 1)
        #expect(await bench.next() == .readable(0))
        bench.run { bench.sockets[0].close() }
        systemClose(peer)
    }

    @Test("of a socket that was closed by what another one's event led to, nothing is told any more", arguments: Driver.allCases)
    func closedByAnother(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        let peers = bench.run { (0..<8).map { _ in bench.addPair() } }
        bench.run {
            bench.inReadable = { number in for other in bench.sockets.indices where other != number { bench.sockets[other].close() } }
            // All become readable in one turn.
            for peer in peers { #expect(send(peer, "a", 1, 0) == 1) }
        }
        guard case .readable(let first) = await bench.next() else { return #expect(Bool(false), "nothing was told") }
        var released: Set<Bench.Event> = []
        for _ in 1..<peers.count { if let event = await bench.next() { released.insert(event) } }
        #expect(released == Set(peers.indices.filter { $0 != first }.map { .released($0) }))
        bench.run { bench.sockets[first].close() }
        for peer in peers { systemClose(peer) }
    }

    @Test("a short read has left nothing, unless the end stands behind it", arguments: Driver.allCases)
    func drained(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        let peer = bench.run { bench.addPair() }
        #expect(send(peer, "ab", 2, 0) == 2)
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { bench.read(0) } == .bytes(2))
        #expect(bench.run { bench.sockets[0].isDrainedByShortRead })
        // In the queue, so that both are there when it is told.
        bench.run {
            #expect(send(peer, "c", 1, 0) == 1)
            systemClose(peer)
        }
        while bench.run({ bench.sockets[0].isDrainedByShortRead }) { #expect(await bench.next() == .readable(0)) }
        #expect(bench.run { [bench.read(0), bench.read(0)] } == [.bytes(1), .end])
        bench.run { bench.sockets[0].close() }
    }

    @Test("a descriptor that the system does not watch fails when it is read, and is closed like others", arguments: Driver.allCases)
    func unwatched(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        bench.run { bench.add(file) }
        #expect(await bench.next() == .readable(0))
        #expect(bench.run { bench.read(0) } == .failed(EPERM))
        bench.run { bench.sockets[0].close() }
        #expect(await bench.next() == .released(0))
    }

    @Test("2,000 sockets whose peers hang up, a hundred at once, are told and released each once", arguments: Driver.allCases)
    func hangUps(_ driver: Driver) async throws {
        let bench = try Bench(driver)
        bench.inReadable = { number in bench.sockets[number].close() }
        var told: [Bench.Event: Int] = [:]
        for round in 1...20 {
            let peers = bench.run { (0..<100).map { _ in bench.addPair() } }
            for peer in peers { systemClose(peer) }
            while told.count < round * 200, let event = await bench.next() { told[event, default: 0] += 1 }
        }
        #expect(await bench.all() == [])
        #expect(told.values.allSatisfy { $0 == 1 })
    }
}
