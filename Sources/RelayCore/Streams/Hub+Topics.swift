import RelayPrimitives
internal import RelayRights
import RelayWire

// Topics: publishing in them, listening to them, flows. [ST1–ST12]

extension Hub {
    // MARK: - Publishing

    mutating func joinTopic(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(JoinTopicRequest.self, body)
        try require(.stream, on: ChannelID(kind: .stream, channel: request.channel), session)
        let membership = try inside(ChannelID(kind: .stream, channel: request.channel), session)
        let meta = request.meta ?? ""
        guard meta.utf8.count <= Limits.topicMetaBytesMax else {
            throw WireError(
                .tooLarge, "field meta has at most \(Limits.topicMetaBytesMax) bytes, not \(meta.utf8.count)",
                limit: Limits.topicMetaBytesMax, actual: meta.utf8.count)
        }
        let allowed = Limits.packetLifetimeMilliseconds
        if let asked = request.lifetimeMs, !allowed.contains(asked) { throw .outside("lifetimeMs", allowed, asked) }
        let lifetime = request.lifetimeMs ?? Int(configuration.packetLifetime.milliseconds)
        guard !memberships[membership].quiet else { throw WireError(.notPresent, "a quiet member does not publish in topics") }
        if let flow = memberships[membership].publishing[request.topic] {
            return answer(connection, JoinTopicAnswer(id: request.id, flow: flows[flow].handle, next: flows[flow].sequence &+ 1))
        }
        let limit = configuration.limits.publishedTopicsMax
        guard memberships[membership].publishing.count < limit else {
            throw WireError(
                .limitReached, "at most \(limit) topics per device and channel", limit: limit,
                actual: memberships[membership].publishing.count + 1)
        }
        let channel = memberships[membership].channel
        let entryBytes = JSONBody.encode(publisher(request.topic, session, meta: meta)).count
        try channels[channel].publisherBytes.check(entryBytes, of: accounts.payer, .channelFull, "publishers' entries in the channel")
        let receivers = channels[channel].topicReceivers.count
        try checkMemory(Footprint.flow + (receivers * Footprint.receiver), of: session)
        let flow = openFlow(
            membership, request.topic, meta: meta, entryBytes, rank: (request.priority ?? .normal).rank, lifetime: UInt32(lifetime))
        answer(connection, JoinTopicAnswer(id: request.id, flow: flows[flow].handle, next: 1))
    }

    private mutating func openFlow(
        _ membership: Membership.Index, _ topic: Name, meta: String, _ entryBytes: Int, rank: UInt8, lifetime: UInt32
    ) -> Flow.Index {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        let user = sessions[session].user!
        var made = Flow(
            handle: newHandle(), channel: Placed(channel), topic: topic, session: Placed(session), meta: meta,
            entryBytes: Int32(entryBytes), payer: accounts.payer, rank: rank, lifetimeMilliseconds: lifetime)
        channels[channel].publisherBytes.hold(entryBytes, made.payer)
        made.bucket = bucket(.packets(channel: channels[channel].id!.channel, topic: topic), of: session)
        for receiver in channels[channel].topicReceivers {
            let selection = memberships[self.membership(of: receiver, inside: channel)].selections[topic]
            if let selection, selection.contains(user) { made.receivers.append(receiver) }
        }
        let flow = flows.insert(made, named: made.handle)
        memberships[membership].publishing[topic] = flow
        recount(membership)
        for receiver in made.receivers { countReceiving(1, self.membership(of: receiver, inside: channel)) }
        channels[channel].topics[topic, default: []].append(flow)

        tellTopics(.publisherJoined, flow)
        enqueueJSON(room: channels[channel].room, .flowOpened, flowOpened(flow), to: made.receivers)
        return flow
    }

    mutating func leaveTopic(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(TopicRequest.self, body)
        let membership = try inside(ChannelID(kind: .stream, channel: request.channel), session)
        guard let flow = memberships[membership].publishing[request.topic] else {
            throw WireError(.topicNotJoined, "topic \(request.topic) is not joined")
        }
        let reply = LeaveTopicAnswer(id: request.id, flow: flows[flow].handle, last: flows[flow].sequence)
        closeFlow(flow)
        answer(connection, reply)
    }

    /// All flows of a session in a channel end.
    mutating func closeFlows(of membership: Membership.Index) {
        let publishing = memberships[membership].publishing
        for topic in publishing.keys.inOrder() { closeFlow(publishing[topic]!) }
    }

    private mutating func closeFlow(_ flow: Flow.Index) {
        sendDropped(flow)
        let channel = flows[flow].channel
        let topic = flows[flow].topic!
        let session = flows[flow].session
        for receiver in flows[flow].receivers { tellLostMeanwhile(receiver, room: channels[channel].room) }
        enqueueJSON(
            room: channels[channel].room, .flowClosed, FlowClosed(flow: flows[flow].handle, last: flows[flow].sequence),
            to: flows[flow].receivers)
        rememberClosed(flow)
        let membership = membership(of: session, inside: channel)
        memberships[membership].publishing[topic] = nil
        recount(membership)
        channels[channel].topics[topic]!.removeFirst(of: flow)
        if channels[channel].topics[topic]!.isEmpty { channels[channel].topics[topic] = nil }
        tellTopics(.publisherLeft, flow)
        channels[channel].publisherBytes.hold(-Int(flows[flow].entryBytes), flows[flow].payer)
        flows.remove(flow, named: flows[flow].handle)
    }

    /// Each receiver may be away, or its queue may die with all of this flow in it: a resumption tells it again. [SE9]
    private mutating func rememberClosed(_ flow: Flow.Index) {
        guard !flows[flow].receivers.isEmpty else { return }
        let opened = flowOpened(flow), content = ClosedFlow.Content(opened)
        let bytes =
            Footprint.closedFlow
            + (Footprint.closedFlowContent + opened.meta.utf8.count + opened.topic.text.utf8.count) / flows[flow].receivers.count
        for receiver in flows[flow].receivers {
            countReceiving(-1, membership(of: receiver, inside: flows[flow].channel))
            var change = bytes
            if sessions[receiver].closedFlows.count >= configuration.closedFlowsMax {
                change -= Int(sessions[receiver].closedFlows.removeFirst().bytes)
            }
            sessions[receiver].closedFlows.append(
                ClosedFlow(content: content, from: flows[flow].meantFrom[receiver] ?? 1, bytes: UInt32(bytes)))
            holdOwn(change, receiver)
        }
    }

    /// Flows that closed lately, opened and closed once more: a client ignores those it knows. [SE9]
    mutating func sendClosedFlows(_ session: Session.Index, _ channel: Channel.Index, to connection: Connection.Index) {
        for closed in sessions[session].closedFlows where closed.content.opened.channel == channels[channel].handle {
            let opened = closed.opened
            enqueueJSON(connection, .flowOpened, opened)
            enqueueJSON(connection, .flowClosed, FlowClosed(flow: opened.flow, last: opened.next &- 1))
        }
    }

    // MARK: - Listening

    mutating func subscribeTopic(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError)
    {
        let request = try decode(TopicUsersRequest.self, body)
        try checkCount(of: request.users)
        let membership = try inside(ChannelID(kind: .stream, channel: request.channel), session)
        let selections = memberships[membership].selections
        try checkMemory(Footprint.selection + (request.users?.count ?? 0) * Footprint.listedUser, of: session)
        let limit = configuration.limits.subscribedTopicsMax
        guard selections[request.topic] != nil || selections.count < limit else {
            throw WireError(
                .limitReached, "at most \(limit) subscribed topics per channel", limit: limit, actual: selections.count + 1)
        }
        var selection = selections[request.topic] ?? Selection()
        var reply = TopicUsersAnswer(id: request.id, all: false)
        if let users = request.users {
            for user in users {
                guard let name = try? Name(user) else {
                    reply.failed.append(.init(user: user, code: .badName))
                    continue
                }
                if selection.listed.contains(name) || selection.listed.count < Limits.listedUsersMax {
                    selection.listed.insert(name)
                    reply.succeeded.append(user)
                } else {
                    reply.failed.append(.init(user: user, code: .limitReached))
                }
            }
        } else {
            selection.all = true
        }
        reply.all = selection.all
        select(selection, request.topic, membership)
        answer(connection, reply)
    }

    /// Each user comes back, with a code if it failed, and all of them in one frame. [ST7]
    private func checkCount(of users: [String]?) throws(WireError) {
        let limit = Limits.usersPerRequestMax
        guard let users, users.count > limit else { return }
        throw WireError(.limitReached, "field users names at most \(limit) users, not \(users.count)", limit: limit, actual: users.count)
    }

    mutating func unsubscribeTopic(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index)
        throws(WireError)
    {
        let request = try decode(TopicUsersRequest.self, body)
        try checkCount(of: request.users)
        let membership = try inside(ChannelID(kind: .stream, channel: request.channel), session)
        var selection = memberships[membership].selections[request.topic] ?? Selection()
        var reply = TopicUsersAnswer(id: request.id, all: false)
        if let users = request.users {
            for user in users {
                if let name = try? Name(user), selection.listed.remove(name) != nil {
                    reply.succeeded.append(user)
                } else {
                    reply.failed.append(.init(user: user, code: .notSubscribed))
                }
            }
        } else {
            selection = Selection()
        }
        reply.all = selection.all
        select(selection, request.topic, membership)
        answer(connection, reply)
    }

    mutating func subscribedUsers(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index)
        throws(WireError)
    {
        let request = try decode(SubscribedUsersRequest.self, body)
        let membership = try inside(ChannelID(kind: .stream, channel: request.channel), session)
        let selection = memberships[membership].selections[request.topic] ?? Selection()
        var users = Array(selection.listed)
        if selection.all {
            users = (channels[memberships[membership].channel].topics[request.topic] ?? []).map { sessions[flows[$0].session].user! }
            work.look(at: users.count)
        }
        let page = ListPage(of: Set(users).filter { user in request.after.map { $0 < user } ?? true }.inOrder()) { $0.text.utf8.count + 3 }
        let next = page.goesOn ? page.elements.last : nil
        answer(connection, SubscribedUsersAnswer(id: request.id, all: selection.all, users: page.elements, next: next))
    }

    /// Applies a selection to the open flows; the reader learns of flows that it adds. [ST9]
    private mutating func select(_ selection: Selection, _ topic: Name, _ membership: Membership.Index) {
        let (session, channel) = (memberships[membership].session, memberships[membership].channel)
        tellLostMeanwhile(session, room: channels[channel].room)
        let isEmpty = !selection.all && selection.listed.isEmpty
        memberships[membership].selections[topic] = isEmpty ? nil : selection
        recount(membership)
        for flow in channels[channel].topics[topic] ?? [] {
            let isWanted = selection.contains(sessions[flows[flow].session].user!)
            let isReceiving = flows[flow].receivers.contains(session)
            work.look(at: 1 + flows[flow].receivers.count / 16)
            if isWanted, !isReceiving {
                flows[flow].receivers.append(session)
                countReceiving(1, membership)
                if flows[flow].sequence > 0 { flows[flow].meantFrom[session] = flows[flow].sequence &+ 1 }
                if let connection = outbox.connection(of: session) { sendFlowOpened(flow, to: connection) }
            } else if !isWanted, isReceiving {
                flows[flow].receivers.removeFirst(of: session)
                countReceiving(-1, membership)
                flows[flow].meantFrom[session] = nil
            }
        }
    }

    mutating func removeSelections(of membership: Membership.Index) {
        for topic in memberships[membership].selections.keys.inOrder() { select(Selection(), topic, membership) }
    }

    // MARK: - Telling

    private func flowOpened(_ flow: Flow.Index) -> FlowOpened {
        FlowOpened(
            flow: flows[flow].handle, channel: channels[flows[flow].channel].handle, topic: flows[flow].topic!,
            user: sessions[flows[flow].session].user!, device: sessions[flows[flow].session].device.hex, meta: flows[flow].meta,
            next: flows[flow].sequence &+ 1)
    }

    mutating func sendFlowOpened(_ flow: Flow.Index, to connection: Connection.Index) {
        enqueueJSON(connection, .flowOpened, flowOpened(flow))
    }

    /// To a session that is resumed: from where on it missed what it has not seen. [SE9]
    mutating func sendFlowRestored(_ flow: Flow.Index, _ session: Session.Index, to connection: Connection.Index) {
        var opened = flowOpened(flow)
        opened.from = flows[flow].meantFrom[session] ?? 1
        enqueueJSON(connection, .flowOpened, opened)
    }

    private func publisher(_ flow: Flow.Index) -> TopicPublisher {
        publisher(flows[flow].topic!, flows[flow].session, meta: flows[flow].meta)
    }

    private func publisher(_ topic: Name, _ session: Session.Index, meta: String) -> TopicPublisher {
        TopicPublisher(topic: topic, user: sessions[session].user!, device: sessions[session].device.hex, meta: meta)
    }

    private mutating func tellTopics(_ kind: TopicsEvent.Kind, _ flow: Flow.Index) {
        let channel = flows[flow].channel
        let event = TopicsEvent(channel: channels[channel].handle, event: kind, publishers: [publisher(flow)])
        enqueueJSON(room: channels[channel].room, .topics, event, to: channels[channel].topicReceivers)
    }

    /// Every publisher of a channel, over as many frames as it takes. [ST11]
    mutating func sendTopicsSnapshot(_ channel: Channel.Index, to connection: Connection.Index) {
        var event = TopicsEvent(channel: channels[channel].handle, event: .snapshot, publishers: [])
        var bytes = 0
        for topic in channels[channel].topics.keys.inOrder() {
            for flow in channels[channel].topics[topic]! {
                let publisher = publisher(flow)
                let size = 77 + publisher.topic.text.utf8.count + publisher.user.text.utf8.count + publisher.meta.utf8.count
                if bytes + size > Limits.jsonPageBytes {
                    event.more = true
                    enqueueJSON(connection, .topics, event)
                    event = TopicsEvent(channel: channels[channel].handle, event: .snapshot, publishers: [])
                    bytes = 0
                }
                event.publishers.append(publisher)
                bytes += size
            }
        }
        enqueueJSON(connection, .topics, event)
    }
}
