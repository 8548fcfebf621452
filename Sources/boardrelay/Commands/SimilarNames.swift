import RelayClient
import RelayConsole

/// Whether somebody may have meant the one and typed the other.
func isSimilar(_ one: String, _ other: String) -> Bool {
    let (one, other) = (one.lowercased(), other.lowercased())
    let shorter = min(one.count, other.count)
    return shorter > 2 && (one.contains(other) || other.contains(one)) || editDistance(one, other) <= min(2, shorter / 3)
}

/// That there is nothing of this name, with the boards whose names are like it, if this client may know them.
func noSuch(_ what: String, _ name: String, _ client: WhiteboardClient) async -> Failure {
    let boards = (try? await client.boards()) ?? []
    let similar = boards.map(\.channel).filter { $0 != name && isSimilar($0, name) }.prefix(5)
    return Failure(
        "there is no \(what) \(name)" + (similar.isEmpty ? "" : "; boards with similar names: \(similar.joined(separator: ", "))"))
}
