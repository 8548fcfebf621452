import RelayClient

/// Who is where, with states. Neither channel needs to be subscribed for reading.
public final class RTMPresence: Sendable {
    let kit: RTMClientKit
    init(kit: RTMClientKit) { self.kit = kit }

    /// Who is in a channel: a page of at most 100, and how many there are in all.
    @discardableResult
    public func getOnlineUser(
        channelName: String, channelType: RTMChannelType, options: RTMGetOnlineUsersOptions?
    ) async -> RTMAnswer<RTMGetOnlineUsersResponse> {
        await getOnlineUser(channelName, channelType, (options ?? RTMGetOnlineUsersOptions()).values)
    }

    /// As `getOnlineUser`, by its oldest name.
    @discardableResult
    public func whoNow(
        channelName: String, channelType: RTMChannelType, options: RTMPresenceOptions?
    ) async -> RTMAnswer<RTMWhoNowResponse> {
        await getOnlineUser(channelName: channelName, channelType: channelType, options: options)
    }

    func getOnlineUser(
        _ name: String, _ type: RTMChannelType, _ wanted: (users: Bool, states: Bool, after: String?)
    ) async -> RTMAnswer<RTMGetOnlineUsersResponse> {
        await kit.ask("getOnlineUser", .presence) { client in
            let page = try await client.presence(of: type.channel(name)).users(after: wanted.after, limit: wanted.users ? nil : 1)
            let members = wanted.users ? page.members : []
            return RTMGetOnlineUsersResponse.with {
                $0.totalOccupancy = Int32(clamping: page.total)
                $0.userStateList = members.map { RTMUserState($0.user, wanted.states ? $0.states : [:]) }
                $0.nextPage = wanted.users ? page.next : nil
            }
        }
    }

    /// The channels in which a user is seen.
    @discardableResult
    public func getUserChannels(userId: String) async -> RTMAnswer<RTMGetUserChannelsResponse> {
        await kit.ask("getUserChannels", .presence) { client in RTMGetUserChannelsResponse(try await client.channels(of: userId)) }
    }

    /// As `getUserChannels`, by its oldest name.
    @discardableResult
    public func whereNow(userId: String) async -> RTMAnswer<RTMWhereNowResponse> { await getUserChannels(userId: userId) }

    /// As `setState` with a dictionary; the last item of a key counts.
    @discardableResult
    public func setState(channelName: String, channelType: RTMChannelType, items: [RTMStateItem]) async -> RTMAnswer<RTMCommonResponse> {
        await setState(channelName: channelName, channelType: channelType, items: items.byKey)
    }

    /// Creates or replaces own states in a channel; those set before subscribing are kept for it.
    @discardableResult
    public func setState(channelName: String, channelType: RTMChannelType, items: [String: String]) async -> RTMAnswer<RTMCommonResponse> {
        await kit.call("setState", .presence) { client in try await client.presence(of: channelType.channel(channelName)).set(items) }
    }

    /// Removes own states in a channel; without keys all.
    @discardableResult
    public func removeState(channelName: String, channelType: RTMChannelType, keys: [String]) async -> RTMAnswer<RTMCommonResponse> {
        await kit.call("removeState", .presence) { client in
            try await client.presence(of: channelType.channel(channelName)).remove(keys.isEmpty ? nil : keys)
        }
    }

    /// The states of a user in a channel; empty for an absent user.
    @discardableResult
    public func getState(channelName: String, channelType: RTMChannelType, userId: String) async -> RTMAnswer<RTMPresenceGetStateResponse> {
        await kit.ask("getState", .presence) { client in
            let states = try await client.presence(of: channelType.channel(channelName)).states(of: userId)
            return RTMPresenceGetStateResponse.with { $0.state = RTMUserState(userId, states) }
        }
    }
}
