import Foundation
import RelayTestKit
import Testing

@Suite struct ClusterSimulationTests {
    static var seeds: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["BOARDRELAY_CLUSTER_SEED"].flatMap(UInt64.init) { return [seed] }
        let base = environment["BOARDRELAY_SEED_BASE"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
        return Seeds.clusterRegressions
            + Seeds.fresh(count: environment["BOARDRELAY_SEEDS"].flatMap(Int.init) ?? 8, from: base)
    }

    @Test(
        "whatever nodes, clocks, links, disks and the log do, a space has one owner after the other, and what was shown is in the log, once, and on the disk of whoever serves next"
    )
    func promises() throws {
        let isTraced = ProcessInfo.processInfo.environment["BOARDRELAY_TRACE"] != nil
        var total = ClusterSimulation.Tally()
        let seeds = Self.seeds
        for (number, seed) in seeds.enumerated() {
            let simulation = ClusterSimulation(seed: seed, trace: isTraced ? { print($0) } : nil)
            do { try simulation.run() } catch {
                throw Broken("\(error). Seed \(number + 1) of \(seeds.count): BOARDRELAY_CLUSTER_SEED=\(seed) replays it")
            }
            total += simulation.done
        }
        print("cluster simulation: \(seeds.count) seeds, \(total)")
        if seeds.count > 1 { #expect(total.takeOvers > 0 && total.shown > 0 && total.stepDowns > 0, "\(total)") }
        if seeds.count >= 100 { for (name, count) in total.counts { #expect(count > 0, "nothing was \(name)") } }
    }
}
