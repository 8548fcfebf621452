import RelayClient
import RelayConsole

/// Waits for a relay that takes something off its disk, and says so when that takes longer than a moment. [AC14, BL9]
func untilErased(_ body: () async throws -> Void) async throws {
    let note = Task {
        try await Task.sleep(for: .seconds(1))
        Console.note("Waiting until the relay's disk holds nothing of it. Ctrl-C ends the waiting, not the erasure.")
    }
    defer { note.cancel() }
    try await body()
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
