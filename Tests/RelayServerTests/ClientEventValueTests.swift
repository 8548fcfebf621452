import Foundation
import RelayClient
import Testing

/// Events as apps see them, and as their tests and previews make them: from outside of the package, without a relay.
@Suite struct ClientEventValueTests {
    @Test("a time of the relay is a date, to the millisecond, and one outside of what the wire has is its nearest")
    func dates() {
        let date = Date(timeIntervalSince1970: 1_764_259_200.123)
        var message = Message(channel: "lesson", sender: "ann", payload: "hello", date: date)
        #expect(abs(message.date.timeIntervalSince(date)) < 0.000_001)
        message.date = Date(timeIntervalSince1970: -5)
        #expect(message.date == Date(timeIntervalSince1970: 0))
        message.date = .distantFuture
        #expect(message.date == .distantFuture)
        #expect(DirectMessage(sender: "ann", payload: "hello", date: date).date == message.with(date).date)
        #expect(BoardCleared(channel: "lesson", offset: 2, user: "ann", date: date).date == message.with(date).date)
        #expect(MetadataItem(key: "title", value: "Autumn").date == nil)
        #expect(MetadataItem(key: "title", value: "Autumn", date: date).date == message.with(date).date)
    }

    @Test("an app's test makes every event")
    func events() {
        let lesson = "lesson"
        let message = Message(channel: "lesson", sender: "ann", payload: "0,0 10,20", offset: 3, key: "s1", isRetained: true)
        let change = LocksChange(channel: lesson, kind: .acquired, locks: [LockDetail(lock: "page-1", owner: "ann", fencing: 7)])
        let events: [RelayEvent] = [
            .message(message), .board(BoardBatch(channel: "lesson", messages: [message])),
            .cleared(BoardCleared(channel: "lesson", offset: 4, user: "ann")),
            .packet(Packet(channel: "lesson", topic: "pen", publisher: "ann", payload: [0, 10])),
            .direct(DirectMessage(sender: "ann", payload: "psst")),
            .presence(PresenceChange(channel: lesson, kind: .joined(Member(user: "ann", states: ["name": "Ann"])))),
            .topics(TopicsChange(channel: "lesson", kind: .joined, publishers: [.init(topic: "pen", user: "ann")])),
            .metadata(MetadataChange(channel: "lesson", written: [MetadataItem(key: "title", value: "Autumn")])),
            .locks(change),
            .packetsLost(
                PacketsLost(reason: .slowReader, entries: [.init(flow: 1, channel: "lesson", topic: "pen", publisher: "ann", first: 2)])),
            .packetsDropped(PacketsDropped(channel: "lesson", topic: "pen", reason: .linkDown, dropped: 2)),
            .messagesMissed(MessagesMissed(channel: "lesson", extent: .reset)), .caughtUp(CaughtUpChannel(channel: "lesson")),
            .refused(Problem(subject: .packet, error: RelayError(.notPermitted, "no"))), .accessExpiring(in: .seconds(30)),
            .accessChanged(AccessChange(access: Access(role: .reader), by: "host")),
            .channelMode(ChannelModeChange(channel: lesson, mode: .frozen, isOn: true)), .joinCodeEnded(.expired),
            .link(.connected(resumed: false)),
        ]
        #expect(events.count == 19)
        #expect(change.locks[0].owner == "ann" && change.locks[0].ttl == .seconds(10) && change.channel == "lesson")
    }

    @Test("an app's test makes every answer")
    func answers() {
        let part = Message(channel: "lesson", sender: "ann", payload: "a", part: MessagePart(number: 1, of: 2, isText: true))
        let page = HistoryPage(messages: [part])
        #expect(page.next == nil && page.messages.count == 1)
        #expect(Presence.Page(members: [Member(user: "ann")], total: 1).members[0].user == "ann")
        #expect(MetadataContents().items.isEmpty && Unsent().messages == 0)
        let selection = Topic.Selection(all: false, users: ["bob"], failed: [TopicFailure(user: "eve", code: .badName)])
        #expect(selection.failed[0].user == "eve")
        #expect(BoardClearing(offset: 1, records: 2).records == 2 && DeviceOffer(code: "A", validFor: .seconds(120)).code == "A")
        #expect(JoinCodeOffer(code: "BCDFGH", validFor: .seconds(1_800)).code == "BCDFGH")
        #expect(JoinInvitation(key: "k", channel: "c").key == "k")
        #expect(BoardInfo(channel: "lesson", records: 1).channel == "lesson" && BanInfo(user: "eve", by: "host").end == nil)
    }
}

extension Message {
    fileprivate func with(_ date: Date) -> Message {
        var copy = self
        copy.date = date
        return copy
    }
}
