import RelayClient

/// Told what happens, in the relay's order, on the main actor: an app whose class is `@MainActor` may enter it with
/// `MainActor.assumeIsolated`. A program without a main queue that runs is told nothing.
///
/// Implement what is needed; the rest does nothing by itself.
public protocol RTMClientDelegate: AnyObject {
    /// A message of a channel, a packet of a topic, or a 1:1 message, whose sender is told that it has come.
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveMessageEvent event: RTMMessageEvent)
    /// Who is in a channel, or their states, changed.
    func rtmKit(_ rtmKit: RTMClientKit, didReceivePresenceEvent event: RTMPresenceEvent)
    /// Who publishes what in a stream channel changed.
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveTopicEvent event: RTMTopicEvent)
    /// Metadata changed; its author is told as well.
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveStorageEvent event: RTMStorageEvent)
    /// Locks changed. The user who caused the change is told, too.
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveLockEvent event: RTMLockEvent)
    /// The link changed.
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveLinkStateEvent event: RTMLinkStateEvent)
    /// The same in the older form; `channelName` is empty.
    func rtmKit(
        _ rtmKit: RTMClientKit, channel channelName: String, connectionChangedToState state: RTMClientConnectionState,
        reason: RTMClientConnectionChangeReason)
    /// The token is over soon: call `renewToken`. `channel` is `nil`.
    func rtmKit(_ rtmKit: RTMClientKit, tokenPrivilegeWillExpire channel: String?)
    /// Not in hosted RTM: what it has no word for. Packets lost and dropped, messages missed, caught up, refusals, boards.
    func rtmKit(_ rtmKit: RTMClientKit, didReceiveRelayEvent event: RelayEvent)
}

extension RTMClientDelegate {
    public func rtmKit(_ rtmKit: RTMClientKit, didReceiveMessageEvent event: RTMMessageEvent) {}
    public func rtmKit(_ rtmKit: RTMClientKit, didReceivePresenceEvent event: RTMPresenceEvent) {}
    public func rtmKit(_ rtmKit: RTMClientKit, didReceiveTopicEvent event: RTMTopicEvent) {}
    public func rtmKit(_ rtmKit: RTMClientKit, didReceiveStorageEvent event: RTMStorageEvent) {}
    public func rtmKit(_ rtmKit: RTMClientKit, didReceiveLockEvent event: RTMLockEvent) {}
    public func rtmKit(_ rtmKit: RTMClientKit, didReceiveLinkStateEvent event: RTMLinkStateEvent) {}
    public func rtmKit(
        _ rtmKit: RTMClientKit, channel channelName: String, connectionChangedToState state: RTMClientConnectionState,
        reason: RTMClientConnectionChangeReason
    ) {}
    public func rtmKit(_ rtmKit: RTMClientKit, tokenPrivilegeWillExpire channel: String?) {}
    public func rtmKit(_ rtmKit: RTMClientKit, didReceiveRelayEvent event: RelayEvent) {}
}
