internal import RelayClientCore
internal import RelayCore
internal import RelayTesting
internal import RelayWire

// What the apps get, held against what was accepted.

extension ClientSimulation {
    // MARK: - What the apps get

    func read(_ client: SimulatedClient) throws {
        guard now >= client.readsFrom else { return }
        while let event = client.machine.nextEvent() {
            if case .direct(let message) = event, let delivery = message.delivery { client.machine.acknowledge(delivery) }
            trace?("\(now / 1_000_000)   \(client.user).\(client.index) reads \(event.brief)")
            try client.books.read(event, messages: messages, packets: packets)
            if case .refused(let refusal) = event, refusal.error.code == .rateLimited {
                throw BrokenPromise("[RT1] \(client.user) was refused \(refusal) in spite of its pacing")
            }
            if case .link(.closed) = event { client.books.excuseAll() }
        }
    }

    func completed(_ client: SimulatedClient, _ token: ClientToken, _ result: Result<ClientAnswer, RelayError>) throws {
        guard let sent = client.waiting.removeValue(forKey: token) else {
            throw BrokenPromise("\(client.user): token \(token) completed twice, or never given")
        }
        if case .request(let request) = sent { trace?("\(now / 1_000_000)   \(client.user).\(client.index) \(request) \(result)") }
        switch (sent, result) {
        case (.message(_, let payload), .success(.offset(let offset))):
            guard messages.contains(where: { $0.value.payload == payload && $0.key.offset == offset }) else {
                throw BrokenPromise("[MS3] \(client.user) was told that a message has offset \(offset), which it has not")
            }
        case (.message(_, let payload), .failure(let error)):
            if error.code == .rateLimited, !isShared(client.user) {
                throw BrokenPromise("[RT1] a message of \(client.user) was refused in spite of its pacing: \(error)")
            }
            if error.code == .outcomeUnknown {
                done.outcomesUnknown += 1
                let mayForget = configuration.publishWindowBytesMax <= 2 * Self.windowBytes
                guard client.runs[token] != run || client.machine.isClosed || mayForget else {
                    throw BrokenPromise("[MS9] \(client.user) was not told what became of a message, by a relay that knows: \(error)")
                }
            }
            guard error.code == .outcomeUnknown || acceptances[payload] == nil else {
                throw BrokenPromise("[MS3] \(client.user) was told \(error) of a message that was accepted")
            }
        case (.request(let request), .success):
            settled(client, request)
            becomeSure(client, request, isSure: true)
        case (.request(let request), .failure(let error)):
            // Whatever it was about may or may not be so.
            if error.code == .outcomeUnknown || error.code == .clientClosed {
                settled(client, request)
                becomeSure(client, request, isSure: false)
            }
        case (.direct, .failure(let error)):
            if error.code == .rateLimited, !isShared(client.user) {
                throw BrokenPromise("[RT1] a direct message of \(client.user) was refused in spite of its pacing: \(error)")
            }
        case (.message, .success), (.direct, .success), (.connect, _), (.close, _): break
        }
        if let payload = sent.payload, acceptances[payload, default: 0] > 1 {
            throw BrokenPromise(
                "[MS1, MS9] a message of \(client.user).\(client.index) was accepted twice: \(messages.filter { $0.value.payload == payload }.keys), \(result)"
            )
        }
    }

    /// Whether a user has had several clients: they share its rates and know nothing of each other.
    func isShared(_ user: String) -> Bool { clients.count { $0.user == user } > 1 }

    func becomeSure(_ client: SimulatedClient, _ request: ClientRequest, isSure: Bool) {
        switch request {
        case .subscribe(let channel, _, _, _), .unsubscribe(let channel):
            var wantsMessages = false
            if case .subscribe(_, let features, _, _) = request { wantsMessages = features.contains(.messages) }
            client.books.subscriptionChanges(channel.text, until: isSure && wantsMessages ? lastOrder : .max)
            if isSure { return client.books.unsureChannels.subtract([channel.text]) }
            client.books.unsureChannels.insert(channel.text)
            client.books.excuse(channel: channel.text)
        case .subscribeTopic(let topic, _), .unsubscribeTopic(let topic, _):
            if isSure { return client.books.unsureTopics.subtract([topic]) }
            client.books.unsureTopics.insert(topic)
            client.books.excuseAllPackets()
        case .join(let channel, _, _, _), .leave(let channel):
            if isSure { return }
            client.books.unsureTopics.formUnion(Self.topics.map { TopicID(channel: channel, topic: $0) })
            client.books.excuseAllPackets()
        default: break
        }
    }

    /// What the app now knows to be, or not to be, the case.
    func settled(_ client: SimulatedClient, _ request: ClientRequest) {
        switch request {
        case .subscribe(let channel, let features, _, _):
            if !features.contains(.messages) { client.books.excuse(channel: channel.text) }
        case .unsubscribe(let channel): client.books.excuse(channel: channel.text)
        case .joinTopic(let topic, _): client.publishing.insert(topic)
        case .leaveTopic(let topic): client.publishing.remove(topic)
        case .leave(let channel):
            client.publishing = client.publishing.filter { $0.channel != channel }
            client.books.excuseAllPackets()
        case .unsubscribeTopic: client.books.excuseAllPackets()
        default: break
        }
    }

    // MARK: - Promises

    func checkBounds() throws {
        for client in clients {
            let unsent = client.machine.unsent
            guard unsent.messages + unsent.packets <= 300 + 128 else { throw BrokenPromise("\(client.user) has \(unsent) unsent") }
            guard client.deadlinesFired <= 10_000 else { throw BrokenPromise("\(client.user) is woken without end") }
            client.deadlinesFired = 0
            if let deadline = client.machine.nextDeadline, deadline <= moment, client.readsFrom <= now {
                throw BrokenPromise("\(client.user) wants to be woken in the past")
            }
        }
    }

    /// Faults stop: all come back, everything drains, pictures agree; when all have closed nothing is left.
    func settle() throws {
        refusesUntil = 0
        for client in clients {
            client.readsFrom = 0
            client.unreachableUntil = 0
            client.link?.toRelay.stalledUntil = 0
            client.link?.toClient.stalledUntil = 0
        }
        for _ in 0..<60 { try pass(1_000_000_000) }
        for client in clients {
            guard client.machine.isClosed || client.machine.linkState.isConnected else {
                throw BrokenPromise("\(client.user) has not come back: \(client.machine.linkState)")
            }
            guard client.machine.unsent == (0, 0, 0) else {
                throw BrokenPromise("\(client.user) still has \(client.machine.unsent) unsent")
            }
            guard client.waiting.isEmpty else { throw BrokenPromise("\(client.user) was never told about \(client.waiting)") }
            try client.books.checkDrained()
            if client.machine.linkState.isConnected { try checkPictures(client) }
            done.messagesMissed += client.books.messagesMissed
            done.messagesRecovered += client.books.messagesRecovered
            done.catchUps += client.books.catchUps
            done.packetsLost += client.books.packetsLost
            done.packetsDroppedOverRate += client.books.packetsDroppedOverRate
        }
        for client in clients where !client.machine.isClosed { client.machine.close(token: client.token(.close), at: moment) }
        for _ in 0..<30 { try pass(60_000_000_000) }
        let census = relay.hub.census()
        guard census.connections == 0, census.users == 0, census.channels.isEmpty, census.queueMemoryBytes == 0, census.deadlines == 0
        else {
            throw BrokenPromise("left behind: \(census.connections) connections, \(census.users) users, \(census.channels.count) channels")
        }
    }

    /// What an app was told of presence is what the relay knows, for each channel it is in. [PR3–PR7]
    func checkPictures(_ client: SimulatedClient) throws {
        for channel in client.machine.subscribedChannels where channel.kind == .message && owners[client.user] == client.index {
            guard let epoch = relay.hub.epoch(of: channel.channel), let head = relay.hub.head(of: channel.channel) else { continue }
            try client.books.checkCovered(channel.channel.text, epoch, head: head, messages)
        }
        for channel in client.machine.subscribedChannels where owners[client.user] == client.index {
            let truth = Dictionary(uniqueKeysWithValues: relay.hub.members(of: channel).map { ($0.user, $0.states) })
            guard client.books.pictures[channel] == truth else {
                throw BrokenPromise(
                    "[PR] \(client.user) believes \(client.books.pictures[channel] ?? [:]) to be in \(channel), it is \(truth)")
            }
        }
    }
}

extension ClientEvent {
    /// Without the bytes.
    fileprivate var brief: String {
        switch self {
        case .message(let message):
            "message \(message.channel) \(message.epoch?.start ?? 0).\(message.epoch?.incarnation ?? 0) \(message.offset) of \(message.sender)"
        case .packet(let packet): "packet flow \(packet.flow) \(packet.sequence) of \(packet.publisher)"
        case .presence(let change): "presence \(change.channel)"
        case .board(let batch): "board \(batch.channel) \(batch.messages.map(\.offset))"
        case .cleared, .direct, .topics, .metadata, .locks, .packetsLost, .packetsDropped, .messagesMissed, .caughtUp, .refused,
            .accessExpiring, .accessChanged, .channelMode, .joinCodeEnded, .link:
            "\(self)"
        }
    }
}

extension SimulatedClient.Sent {
    var payload: UInt64? {
        switch self {
        case .message(_, let payload), .direct(let payload): payload
        case .request, .connect, .close: nil
        }
    }
}
