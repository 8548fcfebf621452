#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClient
import RelayRights
import RelayWire

/// An event as one JSON object.
package enum EventJSON {
    package static func object(_ event: ClientEvent) -> JSONValue {
        switch event {
        case .message(let message): return self.message(message)
        case .board(let batch):
            return ["type": "board", "channel": .string(batch.channel), "messages": .array(batch.messages.map(self.message))]
        case .cleared(let cleared):
            return [
                "type": "cleared", "channel": .string(cleared.channel), "offset": number(cleared.offset), "user": .string(cleared.user),
                "time": number(cleared.wallMilliseconds),
            ]
        case .packet(let packet):
            return .object(
                [
                    ["type": "packet", "channel": .string(packet.channel), "topic": .string(packet.topic)],
                    ["publisher": .string(packet.publisher), "device": .string(packet.device)],
                    ["flow": number(packet.flow), "sequence": number(packet.sequence)],
                    ["slot": number(packet.slot), "senderTime": number(packet.senderTime)], payload(packet.payload),
                ])
        case .direct(let direct):
            return .object(
                [
                    ["type": "direct", "sender": .string(direct.sender), "time": number(direct.wallMilliseconds)],
                    ["customType": .optional(direct.customType)], payload(direct.payload),
                ])
        case .presence(let change): return presence(change.place, change.kind)
        case .topics(let change): return topics(change)
        case .metadata(let change): return metadata(change)
        case .locks(let change): return locks(change)
        case .packetsLost(let lost): return self.lost(lost)
        case .packetsDropped(let dropped):
            return [
                "type": "dropped", "channel": .string(dropped.channel), "topic": .string(dropped.topic),
                "reason": .string("\(dropped.reason)"), "dropped": .integer(dropped.dropped),
            ]
        case .caughtUp(let channel, let head): return ["type": "caughtUp", "channel": .string(channel), "head": number(head)]
        case .messagesMissed(let missed):
            switch missed.extent {
            case .range(let range):
                return [
                    "type": "missed", "channel": .string(missed.channel), "from": number(range.lowerBound), "to": number(range.upperBound),
                ]
            case .reset: return ["type": "missed", "channel": .string(missed.channel), "reset": true]
            }
        case .accessExpiring(let time): return ["type": "accessExpiring", "inMs": number(UInt64(max(0, time / .milliseconds(1))))]
        case .accessChanged(let access, let by):
            let grants = access.grants.words
            return [
                "type": "accessChanged", "by": .string(by), "role": .optional(access.role?.rawValue),
                "grants": grants.isEmpty
                    ? .null : .object(grants.keys.sorted().map { .init(key: $0, value: .array(grants[$0]!.map { .string($0) })) }),
            ]
        case .channelMode(let change):
            return [
                "type": "channelMode", "channel": .string(change.channel), "kind": .string(change.place.kind.rawValue),
                "mode": .string(change.mode.rawValue), "on": .bool(change.isOn), "by": .optional(change.by),
            ]
        case .joinCodeEnded(let reason): return ["type": "joinCodeEnded", "reason": .string(reason.rawValue)]
        case .refused(let refusal):
            return [
                "type": "refused", "channel": .optional(refusal.channel), "topic": .optional(refusal.topic),
                "code": number(refusal.error.code.rawValue), "name": .string(refusal.error.name), "text": .string(refusal.error.text),
            ]
        case .link(let state): return link(state)
        }
    }

    /// What `sub` begins with.
    package static func subscribed(_ channel: String, as user: String) -> JSONValue {
        ["type": "subscribed", "channel": .string(channel), "user": .string(user)]
    }

    private static func message(_ message: Message) -> JSONValue {
        .object(
            [
                ["type": "message", "channel": .string(message.channel), "sender": .string(message.sender)],
                ["offset": number(message.offset), "time": number(message.wallMilliseconds)],
                ["customType": .optional(message.customType)],
                ["key": .optional(message.key), "retained": message.isRetained ? true : .null], payload(message.payload),
            ])
    }

    private static func number(_ value: (some BinaryInteger)?) -> JSONValue { value.map { .integer(Int(clamping: $0)) } ?? .null }

    private static func payload(_ payload: Payload) -> JSONValue {
        switch payload {
        case .text(let text): ["text": .string(text)]
        case .bytes(let bytes): ["base64": .string(Data(bytes).base64EncodedString())]
        }
    }

    package static func member(_ member: Member) -> JSONValue { ["user": .string(member.user), "states": .texts(member.states)] }

    package static func presence(_ channel: ChannelID, _ kind: PresenceChange.Kind) -> JSONValue {
        let head: JSONValue = [
            "type": "presence", "channel": .string(channel.name), "kind": .string(channel.kind.rawValue),
        ]
        let rest: JSONValue =
            switch kind {
            case .snapshot(let members, let total):
                ["event": "snapshot", "total": .integer(total), "members": .array(members.map(member))]
            case .joined(let member):
                ["event": "join", "user": .string(member.user), "states": .texts(member.states)]
            case .left(let user): ["event": "leave", "user": .string(user)]
            case .timedOut(let user): ["event": "timeout", "user": .string(user)]
            case .stateChanged(let user, let set, let removed):
                [
                    "event": "stateChanged", "user": .string(user), "states": .texts(set),
                    "removed": .array(removed.map { .string($0) }),
                ]
            case .interval(let joined, let changed, let left, let timedOut):
                [
                    "event": "interval", "joined": .array(joined.map(member)), "changed": .array(changed.map(member)),
                    "left": .array(left.map { .string($0) }), "timedOut": .array(timedOut.map { .string($0) }),
                ]
            }
        return .object([head, rest])
    }

    package static func owner(_ owner: MetadataReference) -> JSONValue {
        switch owner {
        case .message(let name): ["kind": "message", "channel": .string(name)]
        case .stream(let name): ["kind": "stream", "channel": .string(name)]
        case .user(let user): ["user": .string(user)]
        }
    }

    package static func item(_ item: MetadataItem) -> JSONValue {
        [
            "key": .string(item.key), "value": .string(item.value), "revision": number(item.revision), "author": .optional(item.author),
            "time": number(item.wallMilliseconds),
        ]
    }

    private static func metadata(_ change: MetadataChange) -> JSONValue {
        .object([
            ["type": "metadata", "event": .string(change.isSnapshot ? "snapshot" : "changed")], owner(change.owner),
            [
                "majorRevision": number(change.majorRevision), "items": .array(change.written.map(item)),
                "removed": .array(change.removed.map { .string($0) }),
            ],
        ])
    }

    package static func lock(_ lock: LockDetail) -> JSONValue {
        [
            "lock": .string(lock.lock), "ttlMs": number(lock.ttl.wholeMilliseconds), "owner": .optional(lock.owner),
            "ownerDevice": .optional(lock.ownerDevice), "fencing": number(lock.fencing),
        ]
    }

    private static func locks(_ change: LocksChange) -> JSONValue {
        [
            "type": "locks", "event": .string(change.kind.rawValue), "kind": .string(change.place.kind.rawValue),
            "channel": .string(change.channel), "locks": .array(change.locks.map(lock)),
            "formerOwner": .optional(change.formerOwner), "formerOwnerDevice": .optional(change.formerOwnerDevice),
        ]
    }

    private static func topics(_ change: TopicsChange) -> JSONValue {
        [
            "type": "topics", "channel": .string(change.channel), "event": .string("\(change.kind)"),
            "publishers": .array(
                change.publishers.map {
                    ["topic": .string($0.topic), "user": .string($0.user), "device": .string($0.device), "meta": .string($0.meta)]
                }),
        ]
    }

    private static func lost(_ lost: PacketsLost) -> JSONValue {
        [
            "type": "lost", "reason": .string(EventText.words(lost.reason)),
            "ranges": .array(
                lost.entries.map {
                    [
                        "flow": number($0.flow), "channel": .string($0.channel), "topic": .string($0.topic),
                        "publisher": .string($0.publisher), "device": .string($0.device), "first": number($0.first),
                        "last": number($0.last),
                    ]
                }),
        ]
    }

    private static func link(_ state: LinkState) -> JSONValue {
        let words = EventText.words(state)
        return ["type": "link", "state": .string(words.state), "reason": .optional(words.reason)]
    }
}

extension JSONValue {
    /// The fields of several objects as one object.
    package static func object(_ parts: [JSONValue]) -> JSONValue {
        .object(parts.flatMap { part in if case .object(let fields) = part { fields } else { [JSONMember]() } })
    }
}

extension ClientEvent {
    /// As one event for each message: whoever reads lines need not know how they came together.
    package var oneByOne: [ClientEvent] {
        guard case .board(let batch) = self else { return [self] }
        return batch.messages.map { .message($0) }
    }
}
