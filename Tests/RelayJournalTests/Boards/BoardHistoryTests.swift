import Foundation
import RelayJournal
import RelayPrimitives
import RelayTestKit
import RelayTesting
import Testing

/// Boards that are used at random, against a model.
@Suite struct BoardHistoryTests {
    /// `BOARDRELAY_BOARDS_SEED` replays one, `BOARDRELAY_SEEDS` sets how many there are.
    static func seeds(_ count: Int) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["BOARDRELAY_BOARDS_SEED"].flatMap(UInt64.init) { return [seed] }
        let base = environment["BOARDRELAY_SEED_BASE"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
        return Seeds.fresh(count: environment["BOARDRELAY_SEEDS"].flatMap(Int.init).map { max($0 * count / 40, 1) } ?? count, from: base)
    }

    @Test("[BL1, BL3, BL6, BL8] what is read of a board is the newest of each key in order, however it came to be and is read")
    func onDisk() throws {
        try histories(Self.seeds(3)) { SimulatedStorage(seed: $0) } again: { $0.restarted() }
    }

    @Test("[BL1, BL3, BL6, BL8] the same of a relay without a folder")
    func inMemory() throws {
        try histories(Self.seeds(3)) { _ in MemoryStorage() } again: { $0 }
    }

    private func histories<Storage: JournalStorage>(_ seeds: [UInt64], _ storage: (UInt64) -> Storage, again: (Storage) -> Storage) throws {
        var compactions = 0, belowFloor = 0
        var kinds: [String: Int] = [:]
        for seed in seeds {
            do {
                let run = try BoardRun(storage(seed), seed: seed)
                for number in 0..<300 {
                    try run.act()
                    if run.dice.chance(1, in: 2) { try run.step(Int.random(in: 1...4, using: &run.dice)) }
                    if run.dice.chance(1, in: 3) { try run.follow(blocks: 2) }
                    if run.dice.chance(1, in: 40) { run.wait(90_000) }
                    if run.dice.chance(1, in: 200) { run.wait(700_000) }
                    if run.dice.chance(1, in: 100) {
                        run.close()
                        try run.restart(again(run.storage))
                    }
                    run.noteReport()
                    if number % 20 == 0 { try run.verify() }
                }
                try run.verify()
                compactions += run.compactions + run.store.counters.compactions
                belowFloor += run.belowFloor
                kinds.merge(run.kinds, uniquingKeysWith: +)
            } catch { throw Broken("\(error). BOARDRELAY_BOARDS_SEED=\(seed) replays it") }
        }
        print("board histories: \(seeds.count) seeds, \(compactions) compactions, \(belowFloor) times below the floor, \(kinds)")
        if seeds.count >= 3 {
            #expect(compactions > 20 && belowFloor > 20, "\(compactions) \(belowFloor)")
            #expect(kinds["undo", default: 0] > 5 && kinds["drop", default: 0] > 5 && kinds["part", default: 0] > 50, "\(kinds)")
        }
    }
}
