/// Told every event of a client on the main actor, in order.
///
/// Implement what is needed: `received` gets everything and, unless it is implemented, calls the method for the event's
/// kind; those do nothing by themselves.
@MainActor public protocol RelayClientDelegate: AnyObject {
    /// Any event. A delegate that implements this is not called for single kinds.
    func relayClient(_ client: RelayClient, received event: RelayEvent)

    func relayClient(_ client: RelayClient, received message: Message)
    /// Records of a board, while a channel catches up from the beginning or after a reset. A delegate that does not implement this
    /// gets each as a message.
    func relayClient(_ client: RelayClient, received batch: BoardBatch)
    /// All records of a board were removed.
    func relayClient(_ client: RelayClient, cleared board: BoardCleared)
    func relayClient(_ client: RelayClient, received packet: Packet)
    /// A message to this user alone. Its sender's receipt is confirmed by this call.
    func relayClient(_ client: RelayClient, received direct: DirectMessage)
    func relayClient(_ client: RelayClient, presenceChanged change: PresenceChange)
    /// Who publishes which topic of a stream channel has changed.
    func relayClient(_ client: RelayClient, topicsChanged change: TopicsChange)
    /// Subscribed metadata of a channel or user has changed.
    func relayClient(_ client: RelayClient, metadataChanged change: MetadataChange)
    /// The locks of a channel have changed.
    func relayClient(_ client: RelayClient, locksChanged change: LocksChange)
    /// Packets of others will not come.
    func relayClient(_ client: RelayClient, lost packets: PacketsLost)
    /// Own packets were not passed on.
    func relayClient(_ client: RelayClient, dropped packets: PacketsDropped)
    /// Messages of others will not come.
    func relayClient(_ client: RelayClient, missed messages: MessagesMissed)
    /// All that was kept of a message channel has come.
    func relayClient(_ client: RelayClient, caughtUp channel: CaughtUpChannel)
    /// Something that no call waits for was refused.
    func relayClient(_ client: RelayClient, refused refusal: Refusal)
    /// The token of this session is over in so long: `renew` brings another one.
    func relayClient(_ client: RelayClient, accessExpiringIn time: Duration)
    /// A moderator has changed what this client may.
    func relayClient(_ client: RelayClient, accessChanged change: AccessChange)
    /// A channel was frozen or opened for editing, or that has ended.
    func relayClient(_ client: RelayClient, channelMode change: ChannelModeChange)
    /// The join code that this client shows is void.
    func relayClient(_ client: RelayClient, joinCodeEnded reason: JoinCodeEnd)
    func relayClient(_ client: RelayClient, linkChanged state: LinkState)
}

extension RelayClientDelegate {
    /// Calls the method for the event's kind.
    public func relayClient(_ client: RelayClient, received event: RelayEvent) {
        switch event {
        case .message(let message): relayClient(client, received: message)
        case .board(let batch): relayClient(client, received: batch)
        case .cleared(let board): relayClient(client, cleared: board)
        case .packet(let packet): relayClient(client, received: packet)
        case .direct(let direct): relayClient(client, received: direct)
        case .presence(let change): relayClient(client, presenceChanged: change)
        case .topics(let change): relayClient(client, topicsChanged: change)
        case .metadata(let change): relayClient(client, metadataChanged: change)
        case .locks(let change): relayClient(client, locksChanged: change)
        case .packetsLost(let packets): relayClient(client, lost: packets)
        case .packetsDropped(let packets): relayClient(client, dropped: packets)
        case .messagesMissed(let messages): relayClient(client, missed: messages)
        case .caughtUp(let channel): relayClient(client, caughtUp: channel)
        case .refused(let refusal): relayClient(client, refused: refusal)
        case .accessExpiring(let time): relayClient(client, accessExpiringIn: time)
        case .accessChanged(let change): relayClient(client, accessChanged: change)
        case .channelMode(let change): relayClient(client, channelMode: change)
        case .joinCodeEnded(let reason): relayClient(client, joinCodeEnded: reason)
        case .link(let state): relayClient(client, linkChanged: state)
        }
    }

    /// Does nothing.
    public func relayClient(_ client: RelayClient, received message: Message) {}
    /// Hands over each message.
    public func relayClient(_ client: RelayClient, received batch: BoardBatch) {
        for message in batch.messages { relayClient(client, received: message) }
    }
    /// Does nothing.
    public func relayClient(_ client: RelayClient, cleared board: BoardCleared) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, received packet: Packet) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, received direct: DirectMessage) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, presenceChanged change: PresenceChange) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, topicsChanged change: TopicsChange) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, metadataChanged change: MetadataChange) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, locksChanged change: LocksChange) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, lost packets: PacketsLost) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, dropped packets: PacketsDropped) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, missed messages: MessagesMissed) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, caughtUp channel: CaughtUpChannel) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, refused refusal: Refusal) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, accessExpiringIn time: Duration) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, accessChanged change: AccessChange) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, channelMode change: ChannelModeChange) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, joinCodeEnded reason: JoinCodeEnd) {}
    /// Does nothing.
    public func relayClient(_ client: RelayClient, linkChanged state: LinkState) {}
}
