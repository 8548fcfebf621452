import RelayClient
import RelayConsole
import RelayPrimitives

/// In which order boards are listed.
enum BoardOrder: String, CaseIterable {
    case name, size, used, created

    /// The largest first; what was used or begun longest ago first.
    func sorted(_ boards: [BoardInfo]) -> [BoardInfo] {
        // They come in order of their names, and what is equal stays in it.
        switch self {
        case .name: boards
        case .size: boards.inOrder { $0.fileBytes > $1.fileBytes }
        case .used: boards.inOrder { $0.usedMilliseconds < $1.usedMilliseconds }
        case .created: boards.inOrder { ($0.createdMilliseconds ?? 0) < ($1.createdMilliseconds ?? 0) }
        }
    }
}

extension [BoardInfo] {
    /// - Parameter owner: `nil`: whoever's.
    func of(_ owner: String?) -> [BoardInfo] { owner.map { owner in filter { $0.owner == owner } } ?? self }

    func list(json: Bool) throws {
        if json {
            for board in self { try Console.print(JSONValue.object([["type": "board"], board.fields]).line) }
            return
        }
        for line in table { try Console.print(line) }
    }

    /// For people.
    var table: [String] {
        var table = Table(
            ("BOARD", .left), ("RECORDS", .right), ("SIZE", .right), ("CREATED", .left), ("LAST USED", .left), ("OWNER", .left))
        for board in self {
            table.add(
                board.channel, Printable.count(board.records), Printable.size(board.fileBytes),
                board.createdMilliseconds.map { Console.localTime(wallMilliseconds: $0) } ?? "",
                Console.localTime(wallMilliseconds: board.usedMilliseconds), board.owner ?? "")
        }
        return table.lines
    }
}

extension BoardInfo {
    var fields: JSONValue {
        [
            "channel": .string(channel), "records": .integer(records), "bytes": .integer(bytes), "fileBytes": .integer(fileBytes),
            "owner": .optional(owner), "created": .optional(createdMilliseconds.map { Int(clamping: $0) }),
            "changed": .integer(Int(clamping: changedMilliseconds)), "used": .integer(Int(clamping: usedMilliseconds)),
        ]
    }
}
