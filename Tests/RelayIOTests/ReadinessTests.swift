import Dispatch
import Foundation
import Testing

@testable import RelayIO
import RelaySystem

@Suite struct ReadinessTests {
    @Test("a timer fires once for each arming, and not when it was disarmed; the turn ends behind it", arguments: Driver.allCases)
    func timer(_ driver: Driver) async throws {
        let queue = DispatchQueue(label: "test")
        let (events, told) = AsyncStream.makeStream(of: String.self)
        let readiness = try Readiness(queue: queue, waitsOnOwnThread: driver == .thread) { @Sendable in told.yield("ended") }
        let timer = try queue.sync { try ReadinessTimer(on: readiness) { @Sendable in told.yield("fired") } }
        queue.sync {
            timer.arm(for: SystemClock.monotonicNanoseconds() + 60_000_000_000)
            timer.arm(for: nil)
            timer.arm(for: SystemClock.monotonicNanoseconds() + 1_000_000)
        }
        // Arming it wakes nobody who has nothing to tell, but may: what is told between two turns is what counts.
        var fired = 0
        for await event in events where event == "fired" {
            fired += 1
            if fired == 3 { break }
            queue.sync { timer.arm(for: SystemClock.monotonicNanoseconds()) }
        }
        queue.sync { timer.cancel() }
        told.finish()
        var rest: [String] = []
        for await event in events { rest.append(event) }
        #expect(rest.allSatisfy { $0 == "ended" })
    }

    @Test(
        "what is put off in a turn has one of its own, behind which the turn ends, whether something comes or not",
        arguments: Driver.allCases)
    func perform(_ driver: Driver) async throws {
        let queue = DispatchQueue(label: "test")
        let (events, told) = AsyncStream.makeStream(of: String.self)
        let readiness = try Readiness(queue: queue, waitsOnOwnThread: driver == .thread) { @Sendable in told.yield("ended") }
        queue.sync {
            readiness.perform { @Sendable in
                told.yield("first")
                readiness.perform { @Sendable in
                    told.yield("second")
                    readiness.perform { @Sendable in told.yield("third") }
                }
            }
        }
        var iterator = events.makeAsyncIterator()
        var all: [String] = []
        while all.last != "third", let event = await iterator.next() { all.append(event) }
        #expect(all == ["first", "ended", "second", "ended", "third"])
        #expect(await iterator.next() == "ended")
    }

    @Test("a listener whose peers keep coming takes as many of them in a turn as it is told, and no more")
    func accepting() async throws {
        let queue = DispatchQueue(label: "test"), counts = Mutex((now: 0, most: 0, all: 0)),
            (ends, told) = AsyncStream.makeStream(of: Void.self)
        let readiness = try Readiness(queue: queue, waitsOnOwnThread: true) { @Sendable in
            counts.withLock { counts in
                counts.most = max(counts.most, counts.now)
                counts.now = 0
                if counts.all >= 400 { told.yield() }
            }
        }
        let listener = try queue.sync { try Listener(host: "127.0.0.1", port: 0, on: readiness) }
        let address = RelayAddress(host: "127.0.0.1", port: listener.address.numeric.port), peers = Mutex<[Int32]>([])
        @Sendable func come() {
            if let peer = try? Connector.connect(to: address, timeoutMilliseconds: 300_000) { peers.withLock { $0.append(peer) } }
        }
        for _ in 0..<200 { come() }
        try queue.sync {
            try listener.activate(
                accepted: { @Sendable descriptor, _ in
                    systemClose(descriptor)
                    // One more for each, which is an event of its own.
                    let all = counts.withLock { counts in
                        counts.now += 1
                        counts.all += 1
                        return counts.all
                    }
                    if all <= 200 { come() }
                    return all % 5 != 0
                }, exhausted: { @Sendable _ in }, released: { @Sendable in })
        }
        for await _ in ends { break }
        #expect(counts.withLock { $0.most } == 5)
        queue.sync { listener.close() }
        for peer in peers.withLock({ $0 }) { systemClose(peer) }
    }

    @Test("what other threads want done is done in turns, in order and once, also what is left when nobody waits any more")
    func entering() async throws {
        let queue = DispatchQueue(label: "test"), turns = Mutex(0), (done, told) = AsyncStream.makeStream(of: Int.self)
        var readiness: Readiness? = try Readiness(queue: queue, waitsOnOwnThread: true) { @Sendable in turns.withLock { $0 += 1 } }
        let count = 20_000
        var numbers = done.makeAsyncIterator()
        for number in 0..<count {
            // At first it waits for something to do.
            if number == 1 { try #require(await numbers.next() == 0) }
            readiness!.enter { @Sendable in
                dispatchPrecondition(condition: .onQueue(queue))
                told.yield(number)
            }
        }
        // The last of these find nobody who would have a turn.
        readiness = nil
        for number in 1..<count { try #require(await numbers.next() == number) }
        queue.sync {}
        told.finish()
        #expect(await numbers.next() == nil)
        #expect(turns.withLock { $0 } > 0)
    }

    #if os(Linux)
    @Test("room for many descriptors is there at once")
    func room() throws {
        try #require(SystemDescriptors.raise() >= 20_000)
        SystemDescriptors.makeRoom(for: 20_000)
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("FDSize:") })
        #expect(try #require(Int(line.split(separator: "\t")[1])) >= 20_000)
    }

    @Test("the thread ends with who waits by it")
    func threadEnds() async throws {
        let name = "t\(UInt32.random(in: 0...UInt32.max))"
        var readiness: Readiness? = try Readiness(queue: DispatchQueue(label: name), waitsOnOwnThread: true)
        while threads(named: name) == 0 { await Task.yield() }
        #expect(threads(named: name) == 1)
        weak let gone = readiness
        readiness = nil
        while threads(named: name) == 1 { await Task.yield() }
        #expect(gone == nil)
    }

    private func threads(named name: String) -> Int {
        guard let folder = opendir("/proc/self/task") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let id = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // A thread that has just ended has no file.
            if (try? String(contentsOfFile: "/proc/self/task/\(id)/comm", encoding: .utf8)) == name + "\n" { count += 1 }
        }
        return count
    }
    #endif
}
