/// Who is in a channel, with their states. The channel need not be open for asking.
public struct Presence: Sendable {
    let client: WhiteboardClient
    let place: ChannelID

    /// Members in order of user id.
    public struct Page: Sendable, Equatable {
        /// At most 100, fewer if they have long states.
        public var members: [Member]
        /// Of all members, not of this page.
        public var total: Int
        /// Give it as `after` to read on; `nil` at the end.
        public var next: String?

        package init(members: [Member], total: Int, next: String? = nil) { (self.members, self.total, self.next) = (members, total, next) }
    }

    /// The users by id, oneself among them, whenever that changes; `open` with the part `presence` brings them, however many they are.
    public func members() -> Latest<[String: Member]> {
        let name = place.channel.text
        return Latest(client, standing: { $0.membersStanding(name) }) { readable, _ in readable.members(name) }
    }

    /// A page of the users, in order of id.
    ///
    /// - Parameter limit: 1…100.
    /// - Throws: `badRequest` for another limit, `notPermitted`, `badName`, or why the relay was not reached.
    public func users(after: String? = nil, limit: Int? = nil, call: CallOptions = .init()) async throws(RelayError) -> Page {
        var start: Name?
        if let after { start = try checkedName(after) }
        guard case .members(let total, let members, let next) = try await client.core.ask(.who(place, after: start, limit: limit), call)
        else {
            throw .wrongAnswer
        }
        return Page(members: members, total: total, next: next?.text)
    }

    /// Creates or replaces states of this user in the channel.
    ///
    /// - Throws: `limitReached`, `tooLarge`, `notPresent` for a quiet member, `notPermitted`, `badName`, or why the relay was not reached.
    public func set(_ states: [String: String], call: CallOptions = .init()) async throws(RelayError) {
        _ = try await client.core.ask(.setStates(place, states), call)
    }

    /// Removes states of this user in the channel.
    ///
    /// - Parameter keys: `nil` for all.
    /// - Throws: `notPresent` for a quiet member, `notPermitted`, `badName`, or why the relay was not reached.
    public func remove(_ keys: [String]? = nil, call: CallOptions = .init()) async throws(RelayError) {
        var names: [Name]?
        if let keys {
            names = []
            for key in keys { names!.append(try checkedName(key)) }
        }
        _ = try await client.core.ask(.removeStates(place, names), call)
    }

    /// The states of a user in this channel; empty for an absent user.
    ///
    /// - Throws: `notPermitted`, `badName`, or why the relay was not reached.
    public func states(of user: String, call: CallOptions = .init()) async throws(RelayError) -> [String: String] {
        guard case .states(let states) = try await client.core.ask(.getStates(place, try checkedName(user)), call) else {
            throw .wrongAnswer
        }
        return states
    }
}
