import RelayClient
import RelayRights
import RelayWire

/// An event as one line for people. Whatever others wrote is escaped.
package enum EventText {
    package static func line(_ event: ClientEvent) -> String {
        switch event {
        case .message(let message):
            return [
                Console.localClock(wallMilliseconds: message.wallMilliseconds), "#\(message.offset)", Printable.escaped(message.sender),
                type(message.customType), message.key.map { "(\(Printable.escaped($0)))" },
                message.isRemoval ? "removed" : payload(message.payload),
            ].compactMap(\.self).joined(separator: "  ")
        case .board: return event.oneByOne.map(line).joined(separator: "\n")
        case .cleared(let cleared):
            return "\(Printable.escaped(cleared.channel)): cleared by \(Printable.escaped(cleared.user)) at #\(cleared.offset)"
        case .packet(let packet):
            let slot = packet.slot.map { " slot \($0)" } ?? ""
            return
                "\(Printable.escaped(packet.topic)) \(packet.sequence)\(slot)  \(Printable.escaped(packet.publisher))  \(payload(packet.payload))"
        case .direct(let direct):
            return [
                Console.localClock(wallMilliseconds: direct.wallMilliseconds), "to you", Printable.escaped(direct.sender),
                type(direct.customType), payload(direct.payload),
            ].compactMap(\.self).joined(separator: "  ")
        case .presence(let change): return presence(change)
        case .topics(let change): return topics(change)
        case .metadata(let change):
            let parts =
                change.written.map { "\(Printable.escaped($0.key))=\(Printable.escaped($0.value))" }
                + change.removed.map { "- \(Printable.escaped($0))" }
            return "metadata of \(Printable.escaped("\(change.owner)")) is \(change.majorRevision): " + parts.joined(separator: ", ")
        case .locks(let change):
            let locks = change.locks.map(lock).joined(separator: ", ")
            return "locks of \(Printable.escaped("\(change.channel)")): \(change.kind) \(locks)"
                + (change.formerOwner.map { " (was \(Printable.escaped($0))'s)" } ?? "")
        case .packetsLost(let lost):
            let ranges = lost.entries.map { entry in
                "\(Printable.escaped(entry.publisher)) on \(Printable.escaped(entry.topic)) \(entry.first)…\(entry.last.map(String.init) ?? "?")"
            }
            return "lost (\(words(lost.reason))): " + ranges.joined(separator: ", ")
        case .packetsDropped(let dropped):
            return "\(dropped.dropped) own packets on \(Printable.escaped(dropped.topic)) were not passed on (\(dropped.reason))"
        case .caughtUp(let channel, let head): return "\(Printable.escaped(channel)): all that is kept has come, up to \(head)"
        case .messagesMissed(let missed):
            switch missed.extent {
            case .range(let range): return "missed messages \(range.lowerBound)…\(range.upperBound) of \(Printable.escaped(missed.channel))"
            case .reset:
                return
                    "\(Printable.escaped(missed.channel)) begins anew, as after a restart of the relay: forget what was printed, all that is kept follows"
            }
        case .accessExpiring(let time): return "the token is over in \(Printable.time(time))"
        case .accessChanged(let access, let by):
            let role = access.role.map { "role \($0.rawValue)" } ?? "no role"
            let grants = access.grants.entries.count
            return "\(Printable.escaped(by)) changed what this client may: \(role)"
                + (grants == 0 ? "" : ", \(Printable.count(grants, "grant"))")
        case .channelMode(let change):
            let by = change.by.map { " by \(Printable.escaped($0))" } ?? ""
            let mode = change.mode == .frozen ? "frozen" : "open for editing"
            return "\(place(change.place)): " + (change.isOn ? "\(mode)\(by)" : "not \(mode) any more\(by.isEmpty ? "" : ",")\(by)")
        case .joinCodeEnded(let reason): return words(reason)
        case .refused(let refusal): return "refused: \(Printable.escaped(refusal.error.description))"
        case .link(let state):
            let words = words(state)
            return "link \(words.state)" + (words.reason.map { ": \(Printable.escaped($0))" } ?? "")
        }
    }

    package static func words(_ reason: JoinCodeEnd) -> String {
        switch reason {
        case .expired: "the join code is void: its time is over"
        case .wrongTries: "the join code is void: so many wrong ones came that somebody may be guessing"
        case .keyChanged: "the join code is void: the relay has another key"
        case .notPermitted: "the join code is void: this client is no longer a moderator"
        case .other: "the join code is void"
        }
    }

    private static func type(_ customType: String?) -> String? { customType.map { "[\(Printable.escaped($0))]" } }

    /// Text as it is; of bytes their number and the first of them.
    private static func payload(_ payload: Payload) -> String {
        switch payload {
        case .text(let text): return Printable.escaped(text)
        case .bytes(let bytes):
            let digits = bytes.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            return "<\(bytes.count) bytes> " + digits.joined(separator: " ") + (bytes.count > 32 ? " …" : "")
        }
    }

    package static func lock(_ lock: LockDetail) -> String {
        "\(Printable.escaped(lock.lock)) "
            + (lock.owner.map { "held by \(Printable.escaped($0)), fencing \(lock.fencing ?? 0)" } ?? "free")
    }

    package static func member(_ member: Member) -> String { Printable.escaped(member.user) + states(member.states) }

    private static func states(_ states: [String: String]) -> String {
        guard !states.isEmpty else { return "" }
        return "  " + states.keys.sorted().map { "\(Printable.escaped($0))=\(Printable.escaped(states[$0]!))" }.joined(separator: " ")
    }

    private static func place(_ channel: ChannelID) -> String {
        channel.kind == .stream ? "stream \(channel.channel)" : "\(channel.channel)"
    }

    private static func presence(_ change: PresenceChange) -> String {
        let place = Self.place(change.place)
        switch change.kind {
        case .snapshot(let members, let total):
            return "\(place): \(total) here" + (members.isEmpty ? "" : ": " + members.map(member).joined(separator: ", "))
        case .joined(let member): return "\(place): + \(self.member(member))"
        case .left(let user): return "\(place): - \(Printable.escaped(user)) left"
        case .timedOut(let user): return "\(place): - \(Printable.escaped(user)) timed out"
        case .stateChanged(let user, let set, let removed):
            let gone = removed.isEmpty ? "" : "  without " + removed.map { Printable.escaped($0) }.joined(separator: " ")
            return "\(place): \(Printable.escaped(user))\(states(set))\(gone)"
        case .interval(let joined, let changed, let left, let timedOut):
            let parts =
                joined.map { "+ \(member($0))" } + changed.map(member)
                + left.map { "- \(Printable.escaped($0)) left" } + timedOut.map { "- \(Printable.escaped($0)) timed out" }
            return "\(place): " + parts.joined(separator: ", ")
        }
    }

    private static func topics(_ change: TopicsChange) -> String {
        let publishers = change.publishers.map { "\(Printable.escaped($0.user)) on \(Printable.escaped($0.topic))" }.joined(separator: ", ")
        switch change.kind {
        case .snapshot: return "publishers: " + (publishers.isEmpty ? "none" : publishers)
        case .joined: return "publisher joined: \(publishers)"
        case .left: return "publisher left: \(publishers)"
        }
    }

    package static func words(_ reason: PacketsLost.Reason) -> String {
        switch reason {
        case .slowReader: "slowReader"
        case .expired: "expired"
        case .catchingUp: "catchingUp"
        case .readerLimit: "readerLimit"
        case .linkBroken: "linkBroken"
        case .readerLag: "readerLag"
        case .other(let code): "code \(code)"
        }
    }

    package static func words(_ state: LinkState) -> (state: String, reason: String?) {
        switch state {
        case .idle: ("idle", nil)
        case .connecting: ("connecting", nil)
        case .connected(let resumed): ("connected", resumed ? "the session goes on" : "a new session")
        case .waiting(let pause, let reason): ("waiting", "\(words(reason)); \(again(in: pause))")
        case .closed(let reason): ("closed", words(reason))
        }
    }

    private static func again(in pause: Duration) -> String {
        pause < .milliseconds(1) ? "again at once" : "again in \(Printable.time(pause))"
    }

    package static func words(_ end: RelayError) -> String {
        switch end.code {
        case .clientClosed: "closed"
        case .connectFailed, .timedOut, .heartbeatTimeout, .otherRelay: end.text
        case .relayFault: "the relay sent what the protocol does not allow: \(end.text)"
        case let code where code.closesConnection: "the relay closed: \(end.text) (\(code.name))"
        default: "login refused: \(end.text) (\(end.name))"
        }
    }
}
