import RelayClient
import RelayConsole
import RelayWire

// What the end of a replay says of its store.

extension ReplaySummary {
    private var saved: [(user: String, saved: ReplayTally.Saved)] { tally.saved.keys.sorted().map { ($0, tally.saved[$0]!) } }
    private var storedStrokes: Int { saved.reduce(0) { $0 + $1.saved.strokes } }
    private var saves: Int { saved.reduce(0) { $0 + $1.saved.saves } }
    private var conflicts: Int { saved.reduce(0) { $0 + $1.saved.conflicts } }
    private var newest: ReplayTally.Saved? { saved.map(\.saved).max { $0.revision < $1.revision } }
    private var ends: [(user: String, end: BoardSaver.End)] { saved.compactMap { entry in entry.saved.end.map { (entry.user, $0) } } }

    var savedLines: [(String, String)] {
        guard let newest else { return [] }
        let count: (Int) -> String = { Printable.count($0) }
        var lines = [
            (
                "stored",
                "\(count(storedStrokes)) of \(count(strokes)) strokes, \(count(newest.bytes)) bytes, \(count(saves)) saves, \(count(conflicts)) conflicts"
            )
        ]
        for (user, end) in ends {
            let last = end.lastStored.map { "stroke \($0) is the last stored" } ?? "none of the strokes is stored"
            var why = end.error.text
            if end.error.code == .tooLarge, let refused = end.refused, let limit = end.error.limit, let actual = end.error.actual {
                why = "with stroke \(refused) the metadata would have \(count(actual)) bytes, the limit is \(count(limit))"
            }
            lines.append(("", "ENDED\(users > 1 ? " for \(user)" : ""): \(last); \(why) (\(end.error.name))"))
        }
        return lines
    }

    var savedJSON: JSONValue {
        guard let newest else { return .null }
        return [
            "kind": "metadata", "key": .string(ReplayStore.key), "strokes": .integer(storedStrokes), "bytes": .integer(newest.bytes),
            "boardStrokes": .integer(newest.boardStrokes), "saves": .integer(saves), "conflicts": .integer(conflicts),
            "ended": .array(
                ends.map { user, end in
                    [
                        "user": .string(user), "lastStored": .optional(end.lastStored), "refused": .optional(end.refused),
                        "code": .integer(Int(end.error.code.rawValue)), "name": .string(end.error.name), "text": .string(end.error.text),
                        "limit": .optional(end.error.limit), "actual": .optional(end.error.actual),
                    ]
                }),
        ]
    }
}
