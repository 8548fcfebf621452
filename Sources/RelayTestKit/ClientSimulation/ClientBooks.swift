internal import RelayClientCore
internal import RelayWire

/// A message or packet that the relay has accepted.
struct AcceptedItem {
    /// Place among all that any relay of this simulation has accepted.
    var order: Int
    var sender: String
    /// Index of the client that sent it.
    var author: Int
    var payload: UInt64
    /// Its own author gets it, too.
    var hasEcho = false
    /// A message that is not kept.
    var isTransient = false
}

struct MessageKey: Hashable {
    var channel: String
    var epoch: Epoch
    var offset: UInt64
}

struct PacketKey: Hashable {
    /// Which start of the relay: handles are told apart by nothing else.
    var run: Int
    var flow: UInt32
    var sequence: UInt32
}

/// What one client must be given or be told it will not be given, and what its app has read.
struct ClientBooks {
    /// `excused`: the app does not want it any more, but it may be among the events that were not read yet.
    enum Fate { case due, delivered, told, excused }

    let name: String
    /// Of the client.
    let index: Int
    private(set) var messages: [MessageKey: Fate] = [:]
    private(set) var packets: [PacketKey: Fate] = [:]
    /// The relay of the link that the event being read came by.
    private(set) var run = 0
    /// What had been accepted when the relay logged that link in.
    private var orderAtLogin = 0
    private var links: [(run: Int, order: Int)] = []
    private var lastOrder = -1
    /// The same of each name: what is kept comes late, but never behind what was accepted later under that name.
    private var lastOrders: [String: Int] = [:]
    /// Channels whose messages came behind others that were accepted later: they must turn out to have been catching up.
    private var late: Set<String> = []
    /// Up to where a channel's messages have come, or were told missed, without a hole.
    private var covered: [String: (epoch: Epoch, offset: UInt64)] = [:]
    /// Times that the app has asked for messages again that it may have had.
    var replays: [String: Int] = [:]
    /// What had been accepted when the app's last change of a subscription was settled; `.max` while it is not.
    private(set) var uncertainUntil: [String: Int] = [:]
    private var lastOffset: [String: (epoch: Epoch, offset: UInt64)] = [:]
    private(set) var pictures: [ChannelID: [String: [String: String]]] = [:]
    private(set) var messagesMissed = 0
    private(set) var messagesRecovered = 0
    private(set) var catchUps = 0
    private(set) var packetsLost = 0
    private(set) var packetsDroppedOverRate = 0

    init(name: String, index: Int) {
        self.name = name
        self.index = index
    }

    mutating func linked(run: Int, order: Int) { links.append((run, order)) }

    /// What the app may have subscribed or not: a request was not answered.
    var unsureChannels: Set<String> = []
    var unsureTopics: Set<TopicID> = []

    mutating func expect(_ key: MessageKey) { messages[key] = unsureChannels.contains(key.channel) ? .excused : .due }
    /// The app has changed a subscription, or is about to (`order` is `.max`, as it is while it wants no messages).
    mutating func subscriptionChanges(_ channel: String, until order: Int) {
        uncertainUntil[channel] = order
        if order == .max { late.remove(channel) }
    }

    mutating func allow(_ key: MessageKey) { messages[key] = .excused }
    mutating func expect(_ key: PacketKey, in topic: TopicID) { packets[key] = unsureTopics.contains(topic) ? .excused : .due }

    /// What the app does not want any more, or cannot know that it still gets.
    mutating func excuse(channel: String) {
        for (key, fate) in messages where key.channel == channel && fate == .due { messages[key] = .excused }
    }

    /// A selection has changed: of what was under way the app wants nothing.
    mutating func excuseAllPackets() {
        for (key, fate) in packets where fate == .due { packets[key] = .excused }
    }

    mutating func excuseAll() {
        for (key, fate) in messages where fate == .due { messages[key] = .excused }
        for (key, fate) in packets where fate == .due { packets[key] = .excused }
    }

    // MARK: - Events

    mutating func read(
        _ event: ClientEvent, messages accepted: [MessageKey: AcceptedItem], packets acceptedPackets: [PacketKey: AcceptedItem]
    ) throws {
        switch event {
        case .link(.connected(let resumed)):
            (run, orderAtLogin) = links.removeFirst()
            if !resumed { flowsOfMeanwhileAreLost(acceptedPackets) }
            late = []
        case .link(.closed): late = []
        case .link: break
        case .message(let message):
            guard let epoch = message.epoch else { throw BrokenPromise("[CH5] \(name): message \(message.offset) without an epoch") }
            let key = MessageKey(channel: message.channel, epoch: epoch, offset: message.offset)
            guard let item = accepted[key] else { throw BrokenPromise("[MS4] \(name) got \(key), which was never accepted") }
            let isReplay = lastOffset[message.channel].map { $0.epoch == epoch && $0.offset >= message.offset } ?? false
            // The first of messages that were there before the app came may be older than packets that it has got.
            let isFirst = !isReplay && replays[message.channel, default: 0] > 0 && item.order <= lastOrders[message.channel, default: -1]
            if isReplay || isFirst {
                guard replays[message.channel, default: 0] > 0 else {
                    throw BrokenPromise("[MS4] \(name) got \(key) after offset \(lastOffset[message.channel]!.offset)")
                }
                replays[message.channel]! -= 1
                covered[message.channel] = nil
                lastOrders[message.channel] = nil
            }
            try take(item, sender: message.sender, message.payload, message.channel, isMessage: true, "\(key)")
            lastOffset[message.channel] = (epoch, message.offset)
            switch messages[key] {
            case .due?, .excused?: messages[key] = .delivered
            case .told?: throw BrokenPromise("[SE9] \(name) got \(key), which it was told to have missed")
            case .delivered?: if replays[message.channel] == nil { throw BrokenPromise("[MS4] \(name) got \(key) twice") }
            case nil:
                // Accepted while there was no session, and kept.
                guard item.author != index || item.hasEcho else { throw BrokenPromise("[MS6] \(name) got its own \(key) without an echo") }
                messages[key] = .delivered
                messagesRecovered += 1
            }
            try cover(key, accepted)
        case .packet(let packet):
            let key = PacketKey(run: run, flow: packet.flow, sequence: packet.sequence)
            guard let item = acceptedPackets[key] else { throw BrokenPromise("[ST6] \(name) got \(key), which was never accepted") }
            try take(item, sender: packet.publisher, packet.payload, packet.channel, isMessage: false, "\(key)")
            switch packets[key] {
            case .due?, .excused?: packets[key] = .delivered
            case .told?: throw BrokenPromise("[DL7] \(name) got \(key), which it was told is lost")
            case .delivered?: throw BrokenPromise("[ST6] \(name) got \(key) twice")
            case nil: throw BrokenPromise("[ST6] \(name) got \(key), which was not for it")
            }
        case .messagesMissed(let missed): try read(missed, accepted)
        case .packetsLost(let lost): try read(lost, acceptedPackets)
        case .packetsDropped(let dropped): if dropped.reason == .overRate { packetsDroppedOverRate += dropped.dropped }
        case .presence(let change): read(change)
        case .caughtUp(let channel, head: _):
            late.remove(channel)
            catchUps += 1
        case .board(let batch): for message in batch.messages { try read(.message(message), messages: accepted, packets: acceptedPackets) }
        case .cleared, .direct, .topics, .refused, .metadata, .locks, .accessExpiring, .accessChanged, .channelMode, .joinCodeEnded: break
        }
    }

    /// Between two messages nothing is missing that was for this client. [HI2]
    private mutating func cover(_ key: MessageKey, _ accepted: [MessageKey: AcceptedItem]) throws {
        if let before = covered[key.channel], before.epoch == key.epoch, before.offset + 1 < key.offset {
            for offset in (before.offset + 1)..<key.offset {
                try checkHole(MessageKey(channel: key.channel, epoch: key.epoch, offset: offset), accepted)
            }
        }
        covered[key.channel] = (key.epoch, key.offset)
    }

    private func checkHole(_ key: MessageKey, _ accepted: [MessageKey: AcceptedItem]) throws {
        guard let item = accepted[key], !item.isTransient, item.author != index || item.hasEcho else { return }
        guard item.order > uncertainUntil[key.channel, default: 0] else { return }
        switch messages[key] {
        case .told?, .excused?, .delivered?: break
        case .due?, nil: throw BrokenPromise("[HI2] \(name) got what comes behind \(key), and not this one")
        }
    }

    /// Nothing is missing up to the newest message of a channel that the client is subscribed to.
    func checkCovered(_ channel: String, _ epoch: Epoch, head: UInt64, _ accepted: [MessageKey: AcceptedItem]) throws {
        guard let before = covered[channel], before.epoch == epoch, before.offset < head else { return }
        for offset in (before.offset + 1)...head { try checkHole(MessageKey(channel: channel, epoch: epoch, offset: offset), accepted) }
    }

    /// A new session knows nothing of flows that opened while there was no link. [SE10]
    private mutating func flowsOfMeanwhileAreLost(_ accepted: [PacketKey: AcceptedItem]) {
        let known = Set(packets.filter { $0.value == .delivered || $0.value == .told }.map { Flow(run: $0.key.run, flow: $0.key.flow) })
        for (key, fate) in packets where fate == .due && !known.contains(Flow(run: key.run, flow: key.flow)) {
            if accepted[key]!.order <= orderAtLogin { packets[key] = .told }
        }
    }

    private struct Flow: Hashable {
        var run: Int
        var flow: UInt32
    }

    private mutating func take(
        _ item: AcceptedItem, sender: String, _ payload: Payload, _ channel: String, isMessage: Bool, _ what: String
    ) throws {
        guard item.payload == payload.digest, item.sender == sender else {
            throw BrokenPromise("[MS4] \(name) got \(what) with another content or sender")
        }
        guard item.order > lastOrders[channel, default: -1] else {
            throw BrokenPromise("[DL1] \(name) got \(what) after something of the same name that was accepted later")
        }
        lastOrders[channel] = item.order
        if item.order > lastOrder {
            lastOrder = item.order
        } else if isMessage {
            // Of a subscription that has ended there may be events that the app had not read.
            if item.order > uncertainUntil[channel, default: 0] { late.insert(channel) }
        } else {
            throw BrokenPromise("[DL1] \(name) got \(what) after something that was accepted later")
        }
    }

    private mutating func read(_ missed: MessagesMissed, _ accepted: [MessageKey: AcceptedItem]) throws {
        switch missed.extent {
        case .reset:
            guard let epoch = missed.epoch else { throw BrokenPromise("[CH6] \(name) was told a reset without an epoch") }
            covered[missed.channel] = nil
            // Read late, it says nothing of numberings that came after.
            for (key, fate) in messages where key.channel == missed.channel && fate == .due {
                if (key.epoch.start, key.epoch.incarnation) < (epoch.start, epoch.incarnation) { messages[key] = .told }
            }
        case .range(let range):
            guard let epoch = missed.epoch else { throw BrokenPromise("[CH6] \(name) was told a range without an epoch") }
            for offset in range {
                let key = MessageKey(channel: missed.channel, epoch: epoch, offset: offset)
                guard let item = accepted[key] else { continue }
                switch messages[key] {
                case .delivered?:
                    guard replays[missed.channel] != nil else {
                        throw BrokenPromise("[SE9] \(name) was told to have missed \(key), which it had got")
                    }
                case .told?:
                    guard replays[missed.channel] != nil else { throw BrokenPromise("[SE9] \(name) was told twice to have missed \(key)") }
                case .due?, .excused?, nil:
                    messages[key] = .told
                    if item.author != index { messagesMissed += 1 }
                }
            }
            if let before = covered[missed.channel], before.epoch == epoch, range.lowerBound <= before.offset + 1,
                before.offset < range.upperBound
            {
                covered[missed.channel] = (epoch, range.upperBound)
            }
        }
    }

    private mutating func read(_ lost: PacketsLost, _ accepted: [PacketKey: AcceptedItem]) throws {
        for entry in lost.entries {
            guard let last = entry.last else {
                // A flow that had ended before the login; after a restart another one may have its handle.
                for (key, fate) in packets where key.flow == entry.flow && key.sequence >= entry.first && fate == .due {
                    guard accepted[key]!.order <= orderAtLogin else { continue }
                    packets[key] = .told
                    packetsLost += 1
                }
                continue
            }
            guard entry.first > 0, entry.first <= last else {
                throw BrokenPromise("[DL6] \(name) was told the range \(entry.first)…\(last)")
            }
            for sequence in entry.first...last {
                let key = key(of: entry.flow, sequence, lost.reason, accepted)
                switch packets[key] {
                case .due?, .excused?: packets[key] = .told
                case .told?: throw BrokenPromise("[DL6] \(name) was told twice that \(key) is lost")
                case .delivered?: throw BrokenPromise("[DL6] \(name) was told that \(key) is lost, which it had got")
                case nil:
                    // One's own without echo are in the numbering of one's own flow.
                    guard accepted[key]?.sender == name, lost.reason == .linkBroken else {
                        throw BrokenPromise("[DL6] \(name) was told that \(key) is lost, which was not for it")
                    }
                }
                packetsLost += 1
            }
        }
    }

    /// What a broken link has cost was accepted before the login that tells of it, perhaps by a relay that has ended since.
    private func key(
        of flow: UInt32, _ sequence: UInt32, _ reason: PacketsLost.Reason, _ accepted: [PacketKey: AcceptedItem]
    ) -> PacketKey {
        let now = PacketKey(run: run, flow: flow, sequence: sequence)
        guard reason == .linkBroken else { return now }
        let earlier = (0...run).reversed().map { PacketKey(run: $0, flow: flow, sequence: sequence) }
        return earlier.first { accepted[$0].map { $0.order <= orderAtLogin } ?? false } ?? now
    }

    private mutating func read(_ change: PresenceChange) {
        var picture = pictures[change.place] ?? [:]
        switch change.kind {
        case .snapshot(let members, _):
            picture = [:]
            for member in members { picture[member.user] = member.states }
        case .joined(let member): picture[member.user] = member.states
        case .left(let user), .timedOut(let user): picture[user] = nil
        case .stateChanged(let user, let set, let removed):
            for (key, value) in set { picture[user]?[key] = value }
            for key in removed { picture[user]?[key] = nil }
        case .interval(let joined, let changed, let left, let timedOut):
            for user in left + timedOut { picture[user] = nil }
            for member in joined + changed { picture[member.user] = member.states }
        }
        pictures[change.place] = picture
    }

    /// Nothing is under way any more: what was due has come or been told. [DL7, SE9]
    func checkDrained() throws {
        if let channel = late.min() { throw BrokenPromise("[DL1] \(name) got messages of \(channel) late, and was not catching up") }
        if let missing = messages.filter({ $0.value == .due }).map({
            "\($0.key.channel) \($0.key.epoch.start).\($0.key.epoch.incarnation) \($0.key.offset)"
        }).min() {
            throw BrokenPromise("[MS4, SE9] \(name) never got message \(missing) and was not told")
        }
        if let missing = packets.filter({ $0.value == .due }).map({ "run \($0.key.run) flow \($0.key.flow) \($0.key.sequence)" }).min() {
            throw BrokenPromise("[DL7] \(name) never got packet \(missing) and was not told")
        }
    }
}

extension Payload {
    var digest: UInt64 { bytes.withUnsafeBytes(digestOf) }
}
