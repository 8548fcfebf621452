import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// A disk that damages what was durable.
@Suite struct BoardDamageTests {
    private static func written() throws -> BoardBench {
        let bench = try BoardBench()
        try bench.create(1)
        for number in 0..<4 { try bench.apply([(1, BoardBench.put("k\(number)", [UInt8](repeating: UInt8(number), count: 30)))]) }
        bench.store.close()
        bench.journal.close()
        return bench
    }

    @Test("[SG4] of a board with a damaged byte all is there but the record that holds it, which is named and kept aside")
    func eachByte() throws {
        let bench = try Self.written()
        let file = try #require(bench.boardFiles.first)
        let bytes = try #require(bench.storage.disk.contents(file))
        var kept: [Int: Int] = [:]
        for place in bytes.indices {
            var disk = bench.storage.disk
            disk.write([bytes[place] ^ 0x10], to: file, at: place)
            let again = try bench.reopened(SimulatedStorage(disk.afterCrash(.takesNothing)))
            #expect(again.recovery.lines.isEmpty, "it is not read yet")
            let items = try again.read(isFresh: true).items
            kept[items.count, default: 0] += 1
            let lines = again.store.takeLines()
            #expect(lines.contains { $0.hasPrefix(file) && $0.contains("are damaged, kept in quarantine-") }, "\(place): \(lines)")
            let quarantine = again.storage.disk.list.filter { $0.hasPrefix("quarantine-\(file)") }
            #expect(quarantine.count == 1)
            let aside = try #require(again.storage.disk.contents(quarantine[0]))
            #expect(aside.count < bytes.count / 3 && aside.contains(bytes[place] ^ 0x10))
            // The sums say what is there.
            let summary = try #require(again.store.takeReport().boards.first)
            #expect(summary.records == items.count && summary.bytes == items.count * (2 + 30 + 64))
            // And it goes on.
            try again.apply([(1, BoardBench.put("new", [1]))])
            again.store.close()
            again.journal.close()
            #expect(try again.reopened().read(isFresh: true).items.count == items.count + 1)
        }
        // The header and the creation hold no record.
        #expect(kept.keys.sorted() == [3, 4] && kept[3, default: 0] > bytes.count / 2)
    }

    @Test("[SG4] a file that is cut has what is left of it, and one that is gone begins anew; both are named")
    func cut() throws {
        let bench = try Self.written()
        let file = try #require(bench.boardFiles.first)
        let size = try #require(bench.storage.disk.size(of: file))
        for length in 0..<size where length == 0 || Moments.isTried(length) {
            var disk = bench.storage.disk
            if length == 0 { disk.remove(file) } else { disk.truncate(file, to: length) }
            let again = try bench.reopened(SimulatedStorage(disk.afterCrash(.takesNothing)))
            #expect(again.recovery.lines.contains { $0.hasPrefix(file) }, "\(length)")
            let items = try again.read(isFresh: true).items.count
            #expect(items <= 3)
            try again.apply([(1, BoardBench.put("new", [1]))])
            again.store.close()
            again.journal.close()
            let last = try again.reopened()
            #expect(last.recovery.lines.isEmpty && last.recovery.boards[0].records == items + 1, "\(length): \(last.recovery)")
            #expect(try last.read(isFresh: true).items.count == items + 1)
        }
    }

    @Test("[SG4] a record that is damaged while the board is in memory is not given to anybody, and its bytes do not count")
    func damagedInUse() throws {
        let storage = SimulatedStorage()
        let bench = try BoardBench(storage)
        try bench.create(1)
        for number in 0..<4 { try bench.apply([(1, BoardBench.put("k\(number)", [UInt8](repeating: UInt8(number), count: 30)))]) }
        let file = try #require(bench.boardFiles.first)
        let bytes = try #require(storage.disk.contents(file))
        let payload = try #require(bytes.indices.first { bytes[$0...].starts(with: [UInt8](repeating: 2, count: 30)) })
        try storage.write([9], to: file, at: payload + 7)
        #expect(try bench.read(isFresh: true).items.map(\.short) == ["k0@1", "k1@2", "k3@4"])
        #expect(bench.store.takeReport().userBytes == [Array("ann".utf8): 3 * 96])
        #expect(bench.store.takeLines().contains { $0.contains("kept in quarantine-") })
    }
}
