import RelayClient
import RelayClientCore

/// Messages of the history, with the parts of large ones put together. [BL8]
package struct JoinedHistory {
    package enum Entry {
        case whole(Message)
        /// The parts that are kept, one at least and not all.
        case incomplete([Message])

        /// That of the newest part.
        package var offset: UInt64 {
            switch self {
            case .whole(let message): message.offset
            case .incomplete(let parts): parts.last!.offset
            }
        }

        package var isWhole: Bool {
            switch self {
            case .whole: true
            case .incomplete: false
            }
        }
    }

    private struct Drawing: Hashable {
        let sender: String
        let key: String?
    }

    /// Each a message, or parts of one in the order in which they came.
    private var groups: [[Message]] = []
    /// The newest group of a drawing.
    private var places: [Drawing: Int] = [:]
    private let backwards: Bool

    /// - Parameter backwards: the newest message comes first.
    package init(backwards: Bool) { self.backwards = backwards }

    package mutating func add(_ message: Message) {
        guard let part = message.part else { return groups.append([message]) }
        // It says that there are no more.
        guard part.number > 0 else { return }
        let drawing = Drawing(sender: message.sender, key: message.key)
        if let place = places[drawing], continues(groups[place].last!, part, message) {
            groups[place].append(message)
        } else {
            places[drawing] = groups.count
            groups.append([message])
        }
    }

    private func continues(_ before: Message, _ part: MessagePart, _ message: Message) -> Bool {
        guard let other = before.part, other.of == part.of, other.isText == part.isText, before.customType == message.customType else {
            return false
        }
        return Int(part.number) == Int(other.number) + (backwards ? -1 : 1)
    }

    /// Of all entries so far.
    package var count: Int { groups.count }

    /// In the order asked for, at most so many.
    package func entries(_ count: Int = .max) -> [Entry] {
        let all = groups.map(entry).sorted { backwards ? $0.offset > $1.offset : $0.offset < $1.offset }
        return Array(all.prefix(count))
    }

    private func entry(_ group: [Message]) -> Entry {
        guard let part = group[0].part else { return .whole(group[0]) }
        let parts = backwards ? group.reversed() : group
        guard parts.count == Int(part.of) else { return .incomplete(parts) }
        var message = parts.last!
        message.payload = Payload(whole: parts.flatMap(\.payload.bytes), isText: part.isText)
        message.key = nil
        message.part = nil
        return .whole(message)
    }
}
