import RelayClient
import RelayConsole
import RelayWire

/// Waits for a relay that takes something off its disk, and says so when that takes longer than a moment. [AC14, BL9]
func untilErased(_ body: () async throws -> Void) async throws {
    let note = Task {
        try await Task.sleep(for: .seconds(1))
        Console.note("Waiting until the relay's disk holds nothing of it. Ctrl-C ends the waiting, not the erasure.")
    }
    defer { note.cancel() }
    try await body()
}

extension Forgotten {
    var fields: JSONValue {
        [
            "removed": [
                "metadata": .integer(metadata), "role": .bool(hadRole), "id": .bool(wasIDFreed), "ownedBoards": .integer(boards),
                "records": .integer(records),
            ],
            "kept": ["recordBytes": .integer(keptBytes), "ban": .bool(isBanned), "id": .bool(isHere)],
        ]
    }

    /// What went, and what stays: the relay has told the one, and cannot know all of the other.
    func words(of user: String) -> String {
        let counts = [(metadata, "item", " of metadata"), (boards, "board", " without an owner now"), (records, "record", "")]
        var gone = counts.filter { $0.0 > 0 }.map { "\(Printable.count($0.0, $0.1))\($0.2)" }
        if hadRole { gone.append("the role") }
        if wasIDFreed { gone.append("the id, which is free now, with its client's secret") }
        var kept: [String] = []
        if keptBytes > 0 { kept.append("\(Printable.size(keptBytes)) of records (--with-records removes them)") }
        if isBanned { kept.append("the ban ('boardrelay user unban \(user)' ends it)") }
        if metadata > 0 { kept.append("for a day the number of changes of the metadata") }
        if isHere { kept.append("the id while \(user) is here: run this again later") }
        kept.append("what the relay has logged, backups and exported boards, messages of the last minutes, keys of removed records")
        let went = gone.isEmpty ? "nothing, none was there" : gone.joined(separator: ", ")
        return "Gone, from the relay's disk, too: \(went). Stays: \(kept.joined(separator: "; "))."
    }
}

/// Says what a change comes to that was not waited for.
func noteEnd(_ code: ExitCode, of command: String, isErasing: Bool) {
    let words: String? =
        switch code {
        case .timedOut: "timed out"
        case .interrupted where isErasing: "stopped"
        default: nil
        }
    guard let words else { return }
    let outcome = isErasing ? "the erasure goes on if the relay has the request" : "it may have happened or not"
    Console.note("boardrelay \(command): \(words); \(outcome)")
}
