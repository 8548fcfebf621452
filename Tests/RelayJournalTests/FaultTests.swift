import RelayJournal
import RelayStorage
import RelayTestKit
import RelayTesting
import Testing

/// The disk does not work for a while, or is full.
@Suite struct FaultTests {
    /// What is done about a failure.
    enum Answer: String, CaseIterable { case recover, restart, crash }

    @Test(
        "[SG4] whichever call fails, once or thrice, nothing durable is lost and nothing that failed comes back",
        arguments: Answer.allCases, [1, 3])
    func anyCall(answer: Answer, width: Int) throws { try everyCall(of: nil, answer, width) }

    @Test(
        "[SG4] the same for each operation",
        arguments: [StorageError.Operation.list, .create, .write, .sync, .syncFolder, .rename, .remove, .read])
    func eachOperation(operation: StorageError.Operation) throws { try everyCall(of: operation, .recover, 2) }

    /// The first calls, the next ones, … until nothing fails any more.
    private func everyCall(of operation: StorageError.Operation?, _ answer: Answer, _ width: Int) throws {
        for number in stride(from: 1, to: 10_000, by: width) where operation != nil || Moments.isTried(number / width) {
            do {
                guard try run(SimulatedStorage.Fault(number...(number + width - 1), of: operation), answer, seed: UInt64(number)) else {
                    #expect(number > (operation == nil ? 80 : 2))
                    return
                }
            } catch {
                throw Broken("\(operation?.rawValue ?? "call") \(number), width \(width), \(answer): \(error)")
            }
        }
    }

    /// - Returns: whether anything failed.
    private func run(_ fault: SimulatedStorage.Fault, _ answer: Answer, seed: UInt64) throws -> Bool {
        let storage = SimulatedStorage(seed: seed)
        storage.faults = [fault]
        var hasFailed = false
        let run: JournalRun
        do {
            run = try JournalRun(storage, seed: 7, segmentBytes: 1024)
        } catch is JournalError {
            // What the first opening has left is a journal with nothing in it, or none.
            run = try JournalRun(answer == .crash ? storage.crashed(.init(seed: seed)) : storage.restarted(), seed: 7, segmentBytes: 1024)
            hasFailed = true
        }
        for _ in 0..<16 {
            do {
                try run.append()
                try run.compact(steps: 2, bytesMax: 300)
            } catch is JournalError {
                hasFailed = true
                try self.answer(answer, run, seed)
            }
        }
        hasFailed = hasFailed || !run.storage.failedCalls.isEmpty
        if !hasFailed { #expect(run.journal.counters.compactions > 1) }
        // What is there now is there after the end of the program, after a crash, and after a crash of what came after that.
        try run.reopen(run.storage.crashed(.init(seed: seed)))
        try run.append()
        run.journal.close()
        try run.reopen(run.storage.crashed(.takesAll))
        return hasFailed
    }

    private func answer(_ answer: Answer, _ run: JournalRun, _ seed: UInt64) throws {
        let faults = run.storage.faults
        run.storage.faults = []
        try run.verify(.takesAll)
        try run.verify(.init(seed: seed))
        run.storage.faults = faults
        switch answer {
        case .recover:
            #expect(run.journal.failure != nil)
            #expect(throws: JournalError.self) { try run.journal.append([JournalRecord(sequence: .max, entries: [])]) }
            for attempt in 1... {
                do {
                    try run.recover()
                    return try run.verify(.init(seed: ~seed))
                } catch is JournalError {
                    if attempt == 4 { throw Broken("it does not recover") }
                }
            }
        case .restart, .crash:
            // The opening may fail as well, while the disk does not work.
            let storage = run.storage
            for attempt in 1...4 {
                let next = answer == .restart ? storage.restarted() : storage.crashed(.init(seed: seed &+ UInt64(attempt)))
                // How much of the fault is left for it.
                let left = faults.map { $0.numbers.upperBound - storage.calls.count }.max() ?? 0
                if left > 0 && attempt == 1 { next.faults = [.init(1...left)] }
                do { return try run.reopen(next) } catch is JournalError { if attempt == 4 { throw Broken("it does not open") } }
            }
        }
    }
}
