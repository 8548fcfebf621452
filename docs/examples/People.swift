// docs/swift.md links to this file.
import RelayClient

/// The names of the users in a channel, by user id, from its presence events.
struct People {
    private(set) var names: [String: String] = [:]

    mutating func apply(_ change: PresenceChange) {
        switch change.kind {
        case .snapshot(let members, total: _):
            names = [:]
            come(members)
        case .joined(let member): come([member])
        case .left(let user), .timedOut(let user): names[user] = nil
        case .stateChanged(let user, let set, let removed): names[user] = set["name"] ?? (removed.contains("name") ? user : names[user])
        case .interval(let joined, let changed, let left, let timedOut):
            // In this order: a user in both has left and come back.
            for user in left + timedOut { names[user] = nil }
            come(joined + changed)
        }
    }

    /// Also for pages of `presence(of:).users(after:)`: the snapshot has at most 100 members, and `total` says how many there are.
    mutating func come(_ members: [Member]) {
        for member in members { names[member.user] = member.states["name"] ?? member.user }
    }
}
