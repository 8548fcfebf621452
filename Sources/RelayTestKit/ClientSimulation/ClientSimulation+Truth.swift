internal import RelayClientCore
internal import RelayCore
internal import RelayTesting
internal import RelayWire

// What the relay accepts, and who must get it.

extension ClientSimulation {
    // MARK: - What the relay accepts

    /// Gives the relay bytes, one frame at a time, and writes down what it accepts and who must get it.
    func feed(_ client: SimulatedClient, _ bytes: [UInt8]) {
        let connection = client.link!.connection
        for byte in bytes.indices {
            bytes[byte...byte].withUnsafeBytes { client.link!.frames.append($0) }
            guard let frame = try? client.link!.frames.next() else { continue }
            // The last byte of a frame: whatever comes before it changes nothing.
            lastFed.append(contentsOf: bytes[fedUpTo...byte])
            fedUpTo = byte + 1
            deliver(frame, client, connection)
        }
        if fedUpTo < bytes.count { relay.send(Array(bytes[fedUpTo...]), from: connection) }
        fedUpTo = 0
    }

    func deliver(_ frame: Frame, _ client: SimulatedClient, _ connection: ConnectionID) {
        let bytes = lastFed
        lastFed = []
        guard relay.isOpen(connection), !relay.isClosing(connection) else { return }
        switch FrameType(rawValue: frame.type) {
        case .publish?:
            let (channel, payload) = frame.body.withUnsafeBytes { body in
                let publish = try! PublishFrame(flags: frame.flags, body: body)
                return (try! Name(bytes: publish.channel), digestOf(publish.payload))
            }
            let before = relay.hub.head(of: channel) ?? 0
            relay.send(bytes, from: connection)
            guard let head = relay.hub.head(of: channel), head > before else { return }
            done.messages += 1
            acceptances[payload, default: 0] += 1
            let key = MessageKey(channel: channel.text, epoch: relay.hub.epoch(of: channel)!, offset: head)
            var item = accepted(client, payload)
            item.hasEcho = frame.flags & FrameFlags.echo.rawValue != 0
            item.isTransient = frame.flags & FrameFlags.noHistory.rawValue != 0
            messages[key] = item
            trace?(
                "\(now / 1_000_000)   relay accepts \(key.channel) \(key.epoch.start).\(key.epoch.incarnation) \(key.offset) of \(client.user).\(client.index) for \(Set(relay.hub.receivers(ofMessages: channel).map(\.text)).sorted())"
            )
            let users = Set(relay.hub.receivers(ofMessages: channel).map(\.text))
            for user in users where user != client.user || frame.flags & FrameFlags.echo.rawValue != 0 {
                guard let owner = owners[user], !clients[owner].machine.isClosed else { continue }
                // One that is not kept need not reach a user without a link, or with a link that breaks.
                if item.isTransient { clients[owner].books.allow(key) } else { clients[owner].books.expect(key) }
            }
        case .publishPacket?:
            let (flow, payload) = frame.body.withUnsafeBytes { body in
                let packet = try! PublishPacketFrame(flags: frame.flags, body: body)
                return (packet.flow, digestOf(packet.payload))
            }
            let before = relay.hub.sequence(ofFlow: flow)
            let receivers = Set(relay.hub.receivers(ofFlow: flow).map(\.text))
            let topic = relay.hub.topic(ofFlow: flow).map { TopicID(channel: $0.channel, topic: $0.topic) }
            relay.send(bytes, from: connection)
            guard let before, let sequence = relay.hub.sequence(ofFlow: flow), sequence > before else { return }
            done.packets += 1
            let key = PacketKey(run: run, flow: flow, sequence: sequence)
            packets[key] = accepted(client, payload)
            trace?(
                "\(now / 1_000_000)   relay accepts flow \(flow) \(sequence) of \(client.user).\(client.index) for \(receivers.sorted())")
            for user in receivers where user != client.user || frame.flags & FrameFlags.echo.rawValue != 0 {
                if let owner = owners[user], !clients[owner].machine.isClosed { clients[owner].books.expect(key, in: topic!) }
            }
        case .login?:
            let resumedBefore = relay.hub.census().counters.sessionsResumed
            relay.send(bytes, from: connection)
            let isResumed = relay.hub.census().counters.sessionsResumed > resumedBefore
            trace?("\(now / 1_000_000)   relay logs in \(client.user).\(client.index), resumed: \(isResumed)")
            if isResumed { done.resumptions += 1 } else { done.newSessions += 1 }
            owners[client.user] = client.index
            client.orderAtLogin = lastOrder
        default: relay.send(bytes, from: connection)
        }
    }

    func accepted(_ client: SimulatedClient, _ payload: UInt64) -> AcceptedItem {
        lastOrder += 1
        return AcceptedItem(order: lastOrder, sender: client.user, author: client.index, payload: payload)
    }
}
