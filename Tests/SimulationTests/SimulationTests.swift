import Dispatch
import Foundation
import RelayTestKit
import Testing

@Suite struct SimulationTests {
    /// Fresh seeds differ from run to run, unless `BOARDRELAY_SEED_BASE` says what they are drawn from.
    static func fresh(unlessTold count: Int) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        let base = environment["BOARDRELAY_SEED_BASE"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
        return Seeds.fresh(count: environment["BOARDRELAY_SEEDS"].flatMap(Int.init) ?? count, from: base)
    }

    static func replayed(_ variable: String) -> [UInt64]? {
        ProcessInfo.processInfo.environment[variable].flatMap(UInt64.init).map { [$0] }
    }

    /// `BOARDRELAY_SEED` replays one seed, `BOARDRELAY_SEEDS` sets how many fresh ones are run.
    static var seeds: [UInt64] { replayed("BOARDRELAY_SEED") ?? Seeds.regressions + fresh(unlessTold: 8) }

    /// `BOARDRELAY_TRACE` prints what happens, for one seed of the client simulation.
    static var isTraced: Bool { ProcessInfo.processInfo.environment["BOARDRELAY_TRACE"] != nil }

    static var clientSeeds: [UInt64] { replayed("BOARDRELAY_CLIENT_SEED") ?? Seeds.clientRegressions + fresh(unlessTold: 8) }

    static var storageSeeds: [UInt64] { replayed("BOARDRELAY_STORAGE_SEED") ?? Seeds.storageRegressions + fresh(unlessTold: 6) }

    static var boardSeeds: [UInt64] { replayed("BOARDRELAY_BOARD_SEED") ?? Seeds.boardRegressions + fresh(unlessTold: 4) }

    @Test(
        "[MD2, MD3, MD4, MD5, MD6, MD7, LK2, LK3, LK4, LK5, LK6, LK7, LK8, SG1, SG2, SG4, AC14, AC15] changes of metadata and locks, and what moderators decide, lead to what a model says, are shown when they are durable and never before, and are what is there after a restart"
    )
    func storagePromises() async throws {
        let seeds = Self.storageSeeds
        let total = try await apart {
            var total = StorageSimulation.Tally()
            for seed in seeds {
                let simulation = StorageSimulation(seed: seed, trace: Self.isTraced ? { print($0) } : nil)
                try simulation.run(steps: 600)
                total += simulation.done
            }
            return total
        }
        print("storage simulation: \(seeds.count) seeds, \(total)")
        if seeds.count > 1 { #expect(total.changes > 0 && total.refusals > 0 && total.undone > 0, "\(total)") }
        if seeds.count >= 13 { #expect(total.counts.allSatisfy { $0 > 0 }, "\(total)") }
    }

    @Test(
        "[MD5, SG1, SG2, SG4] 30 clients count 250 times each by compare-and-set on a disk that fails under a relay that dies: the counter is what succeeded, each value was written once"
    )
    func counter() async throws {
        let seed = Self.replayed("BOARDRELAY_COUNTER_SEED")?[0] ?? Self.fresh(unlessTold: 1)[0]
        let (final, done) = try await apart {
            let simulation = CounterSimulation(seed: seed)
            while try simulation.run(turns: 1_000) {}
            return (try simulation.judge(), simulation.done)
        }
        print("counter simulation: seed \(seed), counter \(final), \(done)")
        #expect(done.tries == 7_500 && final == done.successes)
        #expect(
            final > 500 && done.mismatches > 0 && done.storageFailures > 0 && done.restarts > 0 && done.foundAfterCrash > 0
                && done.lostInCrash > 0, "\(done)")
    }

    @Test(
        "[AC18, AC19, BL1, BL2, BL3, BL4, BL5, BL6, BL8, BL10, BL11, MS9, MS10] whatever links, disks and relays do, every app ends with the same board: what was stored, and nothing that was removed, or written by who may not"
    )
    func boardPromises() async throws {
        let seeds = Self.boardSeeds
        let total = try await apart {
            var total = BoardSimulation.Tally()
            for seed in seeds {
                let simulation = BoardSimulation(seed: seed, trace: Self.isTraced ? { print($0) } : nil)
                try simulation.run(steps: 500)
                total += simulation.done
            }
            return total
        }
        print("board simulation: \(seeds.count) seeds, \(total)")
        if seeds.count > 1 { #expect(total.stored > 0 && total.drawings > 0 && total.changeSets > 0 && total.clears > 0, "\(total)") }
        // Few runs may lack what is rare.
        if seeds.count >= 19 { #expect(total.counts.count { $0 == 0 } <= (seeds.count >= 40 ? 0 : 1), "\(total)") }
    }

    @Test(
        "[DL1, DL3, DL6, DL7, MS1, MS3, MS4, ST6, SE8, SE9, SE10, SE11, RT1, RT2, RT8, HB3] every promise to an app holds through client, links and relay"
    )
    func clientPromises() async throws {
        let seeds = Self.clientSeeds
        let total = try await apart {
            var total = ClientSimulation.Tally()
            for seed in seeds {
                let simulation = ClientSimulation(seed: seed, trace: Self.isTraced ? { print($0) } : nil)
                try simulation.run(steps: 300)
                total += simulation.done
            }
            return total
        }
        print("client simulation: \(seeds.count) seeds, \(total)")
        if seeds.count > 1 {
            #expect(total.messages > 0 && total.packets > 0 && total.resumptions > 0 && total.restarts > 0, "\(total)")
        }
        if seeds.count >= 31 {
            #expect(
                total.messagesMissed > 0 && total.packetsLost > 0 && total.heldBack > 0 && total.takeovers > 0 && total.outcomesUnknown > 0,
                "\(total)")
        }
    }

    static var greedSeeds: [UInt64] { replayed("BOARDRELAY_GREED_SEED") ?? Seeds.greedRegressions + fresh(unlessTold: 2) }

    @Test(
        "[DL2, DL8, DL9, DL12, SE5, SE15, SG3, BL11] one address does whatever is most expensive: what it costs is counted and bounded, and a lesson beside it loses nothing"
    )
    func greed() async throws {
        let seeds = Self.greedSeeds
        let total = try await apart {
            var total = GreedSimulation.Tally()
            for seed in seeds {
                let simulation = GreedSimulation(seed: seed, trace: Self.isTraced ? { print($0) } : nil)
                try simulation.run(turns: 120)
                try simulation.settle()
                total += simulation.done
            }
            return total
        }
        print("greed simulation: \(seeds.count) seeds, \(total)")
        if seeds.count > 1 { #expect(total.requests > 0 && total.refused > 0 && total.closed > 0, "\(total)") }
        if seeds.count >= 20 { #expect(total.counts.allSatisfy { $0 > 0 }, "\(total)") }
    }

    @Test("[SE15, MD4, HI1, SG3, BL11] no more memory is allocated than is counted, under greed and when all have left")
    func heap() async throws {
        // Nothing else may run in a process whose heap is looked at.
        guard Self.replayed("BOARDRELAY_GREED_SEED") == nil else { return try Self.judgeHeap() }
        await #expect(processExitsWith: .success) {
            // Thrown, it would be told as a signal.
            do { try SimulationTests.judgeHeap() } catch { Issue.record("\(error)") }
        }
    }

    private static func judgeHeap() throws {
        guard Heap.isSeen else { return }
        for seed in replayed("BOARDRELAY_GREED_SEED") ?? Seeds.heap {
            for isLeft in [false, true] {
                let simulation = GreedSimulation(seed: seed, trace: isTraced ? { print($0) } : nil)
                try simulation.run(turns: 200)
                if isLeft { try simulation.settle() }
                try simulation.judgeHeap { Heap.bytes! }
            }
        }
    }

    @Test("[DL1, DL2, DL3, DL4, DL5, DL6, DL7, DL8, DL9, DL11, MS4, ST6, SE9] every promise holds whatever links and clocks do")
    func promises() async throws {
        let seeds = Self.seeds
        let total = try await apart {
            var total = Simulation.Tally()
            for seed in seeds {
                let simulation = Simulation(seed: seed)
                try simulation.run(steps: 1500)
                total.messages += simulation.done.messages
                total.packets += simulation.done.packets
                total.packetsLost += simulation.done.packetsLost
                total.resumes += simulation.done.resumes
                total.timeouts += simulation.done.timeouts
                total.slowConsumers += simulation.done.slowConsumers
                total.limitsSet += simulation.done.limitsSet
                total.overLimit += simulation.done.overLimit
            }
            return total
        }
        print("simulation: \(seeds.count) seeds, \(total)")
        // A simulation in which nothing happens proves nothing.
        if seeds.count > 1 {
            #expect(total.messages > 0 && total.packetsLost > 0 && total.resumes > 0 && total.timeouts > 0, "\(total)")
        }
        if seeds.count >= 26 { #expect(total.slowConsumers > 0 && total.overLimit > 0, "\(total)") }
    }
}

/// On a thread of its own, two at a time: the pool has as many threads as the machine has cores, and other tests want theirs.
private func apart<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            turns.wait()
            defer { turns.signal() }
            continuation.resume(with: Swift.Result { try body() })
        }
    }
}

private let turns = DispatchSemaphore(value: 2)
