import RelayJournal
import RelayTestKit
import RelayTesting
import Testing

@Suite struct DiskFullTests {
    @Test("[SG4] a full disk takes nothing away, and when space returns the journal goes on", arguments: 1...12)
    func full(seed: UInt64) throws {
        let storage = SimulatedStorage(seed: UInt64(seed))
        let run = try JournalRun(storage, seed: UInt64(seed), segmentBytes: 2048)
        var timesFull = 0
        for _ in 0..<4 {
            storage.capacity = storage.disk.byteCount + Int.random(in: 0...2500, using: &run.generator)
            var failed = false
            for _ in 0..<60 where !failed {
                do {
                    try run.append()
                    try run.compact(steps: 1)
                } catch JournalError.storage(let error) {
                    #expect(error.code == SimulatedStorage.noSpace)
                    failed = true
                }
            }
            // Compaction frees what it needs in time, or the disk is full at some moment.
            guard failed else { continue }
            timesFull += 1
            #expect(run.journal.counters.lastError?.contains("No space left") == true)
            // A crash meanwhile loses nothing either.
            try run.verify(.init(seed: UInt64(seed)))
            // As the writer does every second: works as soon as there is space, which what was given up may be.
            for _ in 0..<3 where run.journal.failure != nil { try? run.recover() }
            #expect(storage.disk.byteCount <= storage.capacity)
            storage.capacity = .max
            try run.recover()
            for _ in 0..<5 { try run.append() }
            try run.verify(.takesAll)
        }
        #expect(timesFull > 0)
    }
}
