import RelayMonitoring
import RelayPrimitives
internal import RelayRights
import RelayWire

// Login, what is restored after a break, answers to requests.

extension ClientMachine {
    mutating func welcome(_ welcome: Welcome, at now: Instant) throws(WireError) {
        guard case .connecting = state else { throw WireError(.protocolError, "a second welcome") }
        if let wanted = settings.relayID, wanted != welcome.relay { return end(.otherRelay(welcome.relay), at: now) }
        state = .live
        inVain = 0
        liveSince = now
        logins += 1
        giveUpSent(at: now, isForgotten: welcome.forgotten ?? false)
        resumeToken = welcome.resumeToken
        access = Access(welcome.access)
        relayID = welcome.relay
        if let key = welcome.joinKey {
            credential = .key(key)
            invitation = JoinInvitation(key: key, channel: welcome.channel)
        }
        if identity.user == nil { identity = .user(welcome.user, secret: welcome.secret) }
        limits = welcome.limits
        renewCredit(welcome.publishAfterMs ?? 0, at: now)
        relayStops = welcome.capabilities.contains(Capability.goOn.rawValue)
        heartbeat = .milliseconds(max(100, welcome.heartbeatMs))
        known.users[welcome.handle] = welcome.user.text
        emit(.link(.connected(resumed: welcome.resumed)))
        completeConnects(.success(.done))
        // Its pong comes behind all that a resumption restores. [SE9]
        ping(at: now)
        for channel in goingOn.keys.inOrder() { ask(.goOn(channel, goingOn[channel]!), token: nil) }
        awaitsRestoration = welcome.resumed
        if welcome.resumed {
            known.unconfirmedFlows = Set(known.flows.keys)
            known.unconfirmedChannels = Set(wanted.channels.keys)
        } else {
            let asked = askedAgain.filter { $0.token != nil }
            askedAgain = []
            for pending in asked where pending.request.isEnding { over(pending.request) }
            askAgain()
            for pending in asked { askAgain(pending) }
        }
        giveBackOrphans()
        dropStalePackets(at: now)
    }

    /// A resumption has named all that is there: the rest is gone, or was asked for by requests that went with a link.
    mutating func restorationEnded() {
        closeUnconfirmedFlows()
        let again = askedAgain
        askedAgain = []
        // Left by a request whose answer was lost with the link, unless it is asked for anew.
        let wantedAgain = Set(again.filter { $0.token == nil }.compactMap(\.request.entered))
        for id in known.unconfirmedChannels.subtracting(wantedAgain).inOrder() { left(id) }
        for pending in again {
            // That request was heard, and only its answer lost.
            if pending.token == nil, let id = pending.request.entered, !known.unconfirmedChannels.contains(id) { continue }
            askAgain(pending)
        }
        known.unconfirmedChannels = []
    }

    /// A new session has nothing: everything the app wants is asked for again, in the order of names.
    private mutating func askAgain() {
        for handle in known.flows.keys.inOrder() { known.unconfirmedFlows.insert(handle) }
        closeUnconfirmedFlows()
        known.channels = [:]
        known.ownFlows = [:]
        known.catchingUp = []
        known.behind = []
        known.snapshotGoesOn = []
        // The handles of another start of the relay mean other flows.
        known.closedFlows.removeAll()
        for id in wanted.states.keys.inOrder() { askAgain(.setStates(id, wanted.states[id]!)) }
        for id in wanted.channels.keys.inOrder() {
            let channel = wanted.channels[id]!
            switch id.kind {
            case .message:
                askAgain(.subscribe(id.channel, features: channel.features, quiet: channel.quiet))
            case .stream: askAgain(.join(id.channel, features: channel.features, quiet: channel.quiet, token: channel.token))
            }
        }
        for topic in wanted.selections.keys.inOrder() {
            let selection = wanted.selections[topic]!
            if selection.all { askAgain(.subscribeTopic(topic, users: nil)) }
            if !selection.listed.isEmpty { askAgain(.subscribeTopic(topic, users: selection.listed.inOrder())) }
        }
        for user in wanted.userMetadata.inOrder() { askAgain(.subscribeUserMetadata(user)) }
        for topic in wanted.publishing.keys.inOrder() { askAgain(.joinTopic(topic, wanted.publishing[topic]!)) }
    }

    private mutating func askAgain(_ request: ClientRequest) { askAgain(PendingRequest(request: request)) }

    /// Where nobody waits for its answer, a message channel is taken up where it was left.
    private mutating func askAgain(_ pending: PendingRequest) {
        guard pending.token == nil, case .subscribe(let channel, let features, let quiet, _) = pending.request else {
            ask(pending.request, token: pending.token)
            requests[lastRequest]!.isAgain = true
            return
        }
        let isRead = known.readings[channel] != nil
        ask(
            .subscribe(
                channel, features: features, quiet: quiet, since: known.positions[channel].map { isRead ? .rest($0) : .position($0) }),
            token: nil)
    }

    /// One channel of a resumed session. [SE9]
    mutating func restored(_ restored: SubscribeAnswer) throws(WireError) {
        guard awaitsRestoration, known.channels.count < ClientLimits.channelsMax else {
            throw WireError(.protocolError, "the relay restores what was not there")
        }
        let id = ChannelID(kind: restored.kind, channel: restored.channel)
        known.channels[restored.handle] = id
        known.unconfirmedChannels.remove(id)
        // Subscribed by a request whose answer was lost with the link.
        if wanted.channels[id] == nil {
            wanted.channels[id] = WantedSession.Channel(features: Set(restored.features), quiet: restored.quiet)
        }
        stands(modes: restored.modes, id)
        known.behind.remove(id.channel)
        // What is kept may all come before the answers do.
        for index in ofStay(id) where askedAgain[index].request.entered == id {
            if let token = askedAgain[index].token { begun(token) }
        }
        standing(restored, id, start: Start(of: placeAsked(of: id.channel)))
        // All had come when the link ended, but for the word that it had. [SE9]
        if restored.after == nil, let head = restored.head, known.catchingUp.contains(id.channel) {
            caughtUp(CaughtUp(channel: restored.handle, head: head))
        }
        // It begins there now, and goes on where it is from here on.
        for index in ofStay(id) where askedAgain[index].request.entered == id {
            askedAgain[index].request = askedAgain[index].request.withoutPlace
        }
    }

    /// From where on the app wants a channel, where its `subscribe` was not answered. [SE11]
    func placeAsked(of channel: Name) -> Since? {
        for index in ofStay(ChannelID(kind: .message, channel: channel)).reversed() {
            if askedAgain[index].token != nil, case .subscribe(channel, _, _, let since?) = askedAgain[index].request { return since }
        }
        return nil
    }

    /// What is asked again, up to a request to leave a channel: behind it begins another stay. [SE11]
    private func ofStay(_ id: ChannelID) -> Range<Int> { 0..<(askedAgain.firstIndex { $0.request.leaves == id } ?? askedAgain.count) }

    /// What was asked of a message channel.
    private enum Start {
        case beginning, elsewhere, goesOn

        init(of since: Since?) {
            switch since {
            case .beginning?: self = .beginning
            case .position?, .rest?: self = .elsewhere
            case nil: self = .goesOn
            }
        }
    }

    /// Where a message channel stands: what was missed is told, and what is kept follows.
    ///
    /// Another epoch without `reset` is the same board after a restart of the relay: it goes on. [BL5]
    private mutating func standing(_ answer: SubscribeAnswer, _ id: ChannelID, start: Start) {
        guard id.kind == .message, let epoch = answer.epoch, let head = answer.head else { return }
        if answer.reset == true { emit(.messagesMissed(MessagesMissed(channel: id.channel.text, epoch: epoch, extent: .reset))) }
        if answer.reset == true || start != .goesOn { known.missedThrough[id.channel] = nil }
        if let missed = answer.missed { tellMissed(missed, id.channel, epoch) }
        let isTold = answer.reset == true || answer.missed != nil
        // What was sent in parts to an earlier start of the relay will not go on.
        if isTold || known.positions[id.channel]?.epoch != epoch { dropPartials(id.channel, isTold: !isTold) }
        if let after = answer.after {
            known.catchingUp.insert(id.channel)
            tellGathered(id.channel)
            known.behind.remove(id.channel)
            switch start {
            case .elsewhere where answer.reset != true: known.readings[id.channel] = nil
            case .goesOn where answer.reset != true: known.readings[id.channel]?.head = head
            case .beginning, .elsewhere, .goesOn: known.readings[id.channel] = BoardReading(after: after, head: head)
            }
            known.positions[id.channel] = ChannelPosition(epoch: epoch, offset: after)
        } else if !known.isCatchingUp(id.channel) {
            known.positions[id.channel] = ChannelPosition(epoch: epoch, offset: head)
        }
    }

    // MARK: - Answers

    mutating func answer(_ frame: Frame, at now: Instant) throws(WireError) {
        let id = try body(RequestID.self, frame).id
        guard let pending = requests[id] else { return }
        // Of one that cannot be read, the caller is told at the end of the link.
        let answer = try settle(pending.request, frame, pending.items, isOfApp: pending.token != nil)
        requests[id] = nil
        noteLock(pending)
        complete(pending.token, .success(answer))
        giveBackOrphans()
    }

    private mutating func noteLock(_ answered: PendingRequest) {
        switch answered.request {
        case .acquireLock(let lock, _): acquired(lock, answered.token)
        case .releaseLock(let lock), .removeLock(let lock): lost(lock)
        default: break
        }
    }

    /// What the app has told to end, and the relay perhaps not heard. [SE11]
    private mutating func over(_ request: ClientRequest) {
        switch request {
        case .unsubscribe(let channel): left(ChannelID(kind: .message, channel: channel))
        case .leave(let channel): left(ChannelID(kind: .stream, channel: channel))
        case .leaveTopic(let topic): leftTopic(topic)
        case .unsubscribeTopic(let topic, let users): deselect(topic, users)
        case .unsubscribeUserMetadata(let user): forgetMetadata(of: user)
        default: break
        }
    }

    private mutating func deselect(_ topic: TopicID, _ users: [String]?) {
        var selection = wanted.selections[topic] ?? .init()
        if let users { selection.listed.subtract(users) } else { selection = .init() }
        wanted.selections[topic] = selection.all || !selection.listed.isEmpty ? selection : nil
        for (handle, flow) in known.flows
        where flow.topic == topic && !selection.all && !selection.listed.contains(flow.user) { known.flows[handle] = nil }
    }

    private mutating func forgetMetadata(of user: Name) {
        wanted.userMetadata.remove(user)
        known.metadata[.user(user)] = nil
    }

    /// Takes over what a request has achieved.
    private mutating func settle(_ request: ClientRequest, _ frame: Frame, _ items: [Message], isOfApp: Bool) throws(WireError)
        -> ClientAnswer
    {
        switch request {
        case .subscribe(_, let features, let quiet, let since):
            try entered(frame, WantedSession.Channel(features: features, quiet: quiet), isOfApp ? Start(of: since) : .goesOn)
        case .join(_, let features, let quiet, let token):
            try entered(frame, WantedSession.Channel(features: features, quiet: quiet, token: token), .goesOn)
        case .unsubscribe(let channel): left(ChannelID(kind: .message, channel: channel))
        case .leave(let channel): left(ChannelID(kind: .stream, channel: channel))
        case .joinTopic(let topic, let options):
            let answer = try body(JoinTopicAnswer.self, frame)
            wanted.publishing[topic] = options
            known.ownFlows[topic] = answer.flow
            if known.ownTopics.count >= ClientLimits.ownFlowsMax { known.ownTopics = [:] }
            known.ownTopics[answer.flow] = topic
        case .leaveTopic(let topic): leftTopic(topic)
        case .subscribeTopic(let topic, let users):
            let answer = try body(TopicUsersAnswer.self, frame)
            wanted.selections[topic, default: .init()].add(users == nil ? nil : answer.succeeded)
            return topicUsers(answer)
        case .unsubscribeTopic(let topic, let users):
            let answer = try body(TopicUsersAnswer.self, frame)
            deselect(topic, users == nil ? nil : answer.succeeded)
            return topicUsers(answer)
        case .subscribedUsers:
            let answer = try body(SubscribedUsersAnswer.self, frame)
            return .users(all: answer.all, answer.users, next: answer.next)
        case .who:
            let answer = try body(WhoAnswer.self, frame)
            return .members(total: answer.total, members: answer.members, next: answer.next)
        case .whereIs:
            let answer = try body(WhereAnswer.self, frame)
            return .channels(answer.channels, next: answer.next)
        case .setStates(let id, let states): wanted.states[id, default: [:]].merge(states) { $1 }
        case .removeStates(let id, let keys):
            if let keys { for key in keys { wanted.states[id]?[key.text] = nil } } else { wanted.states[id] = nil }
            if wanted.states[id]?.isEmpty == true { wanted.states[id] = nil }
        case .history(let channel, _, _, _): return .history(try historyPage(channel, items, frame))
        case .getStates: return .states(try body(StatesAnswer.self, frame).states)
        case .writeMetadata, .removeMetadata: return .majorRevision(try body(MetadataAnswer.self, frame).majorRevision)
        case .getMetadata: throw WireError(.protocolError, "the relay answered getMetadata without a page")
        case .subscribeUserMetadata(let user):
            wanted.userMetadata.insert(user)
            known.metadata[.user(user)] = MetadataPicture()
        case .unsubscribeUserMetadata(let user): forgetMetadata(of: user)
        case .offerDevice:
            let answer = try body(OfferDeviceAnswer.self, frame)
            return .code(OfferedCode(code: answer.code, validFor: .milliseconds(answer.validMs)))
        case .offerJoinCode:
            let answer = try body(OfferJoinCodeAnswer.self, frame)
            return .code(OfferedCode(code: answer.code, validFor: .milliseconds(answer.validMs)))
        case .acquireLock: return .fencing(try body(FencingAnswer.self, frame).fencing)
        case .getLocks: return .locks(try body(LocksAnswer.self, frame).locks)
        case .renew(let credential):
            self.credential = credential
            access = Access(try body(RenewAnswer.self, frame).access)
        case .clear, .undoClear:
            let answer = try body(ClearAnswer.self, frame)
            return .boardChange(BoardClearing(offset: answer.offset, records: answer.records))
        case .boards:
            let answer = try body(BoardsAnswer.self, frame)
            return .boards(answer.boards, next: answer.next)
        case .bans:
            let answer = try body(BansAnswer.self, frame)
            return .bans(answer.bans, next: answer.next)
        case .forget: return .forgotten(try body(ForgetUserAnswer.self, frame).forgotten)
        case .removeRecords: return .records(try body(RemoveRecordsAnswer.self, frame).records)
        case .status: return .status(try body(StatusAnswer.self, frame).status)
        case .goOn(let channel, let number): if goingOn[channel] == number { goingOn[channel] = nil }
        case .barrier, .cancel, .setReaderLimits, .withdrawJoinCode, .setLock, .releaseLock, .revokeLock, .removeLock, .removeBoard,
            .setRole, .setMode, .endSession, .ban, .unban, .endChannel:
            break
        }
        return .done
    }

    private func historyPage(_ channel: Name, _ items: [Message], _ frame: Frame) throws(WireError) -> HistoryPage {
        let answer = try body(HistoryAnswer.self, frame)
        let messages = items.map { item in
            var message = item
            message.channel = channel.text
            message.epoch = answer.epoch
            return message
        }
        return HistoryPage(messages: messages, epoch: answer.epoch, head: answer.head, floor: answer.floor, next: answer.next)
    }

    private func topicUsers(_ answer: TopicUsersAnswer) -> ClientAnswer {
        .topicUsers(all: answer.all, succeeded: answer.succeeded, failed: Dictionary(answer.failed.map { ($0.user, $0.code) }) { $1 })
    }

    private mutating func entered(_ frame: Frame, _ channel: WantedSession.Channel, _ start: Start) throws(WireError) {
        let answer = try body(SubscribeAnswer.self, frame)
        let id = ChannelID(kind: answer.kind, channel: answer.channel)
        wanted.channels[id] = channel
        known.channels[answer.handle] = id
        known.unconfirmedChannels.remove(id)
        stands(modes: answer.modes, id)
        if id.kind == .message, !channel.features.contains(.messages) {
            known.catchingUp.remove(id.channel)
            forgetBoard(id.channel)
        }
        standing(answer, id, start: start)
    }

    mutating func left(_ id: ChannelID) {
        wanted.channels[id] = nil
        wanted.states[id] = nil
        for (handle, channel) in known.channels where channel == id { known.channels[handle] = nil }
        known.metadata[.channel(id)] = nil
        known.modes[id] = nil
        switch id.kind {
        case .message:
            known.positions[id.channel] = nil
            known.catchingUp.remove(id.channel)
            forgetBoard(id.channel)
        case .stream:
            for topic in wanted.publishing.keys where topic.channel == id.channel { leftTopic(topic) }
            for topic in wanted.selections.keys where topic.channel == id.channel { wanted.selections[topic] = nil }
            for (handle, flow) in known.flows where flow.topic.channel == id.channel { known.flows[handle] = nil }
        }
    }

    private mutating func leftTopic(_ topic: TopicID) {
        wanted.publishing[topic] = nil
        wanted.echoing.remove(topic)
        known.ownFlows[topic] = nil
    }

    // MARK: - Refusals

    mutating func refused(_ error: ErrorBody, at now: Instant) {
        if let number = error.number {
            guard let publish = publishes.removeValue(forKey: number) else { return }
            switch publish {
            case .message(let message):
                answered(message.channel, credit: error.credit, at: now)
                refused(message, number, RelayError(error))
            case .direct(let token):
                directWindow.answered(at: now)
                complete(token, .failure(RelayError(error)))
            }
            return
        }
        guard let id = error.id, let pending = requests.removeValue(forKey: id) else {
            if case .connecting = state { return end(.loginRefused(RelayError(error)), at: now) }
            let topic = error.flow.flatMap { known.ownTopics[$0] }
            // Left by a request whose answer was lost with the link.
            if error.code == .unknownFlow || error.code == .notPermitted, let topic, known.ownFlows[topic] == error.flow {
                leftTopic(topic)
            }
            return emit(
                .refused(
                    Problem(
                        subject: error.flow == nil ? .unknown : .packet,
                        place: topic.map { ChannelID(kind: .stream, channel: $0.channel) },
                        topic: topic?.topic.text, error: RelayError(error))))
        }
        guard let token = pending.token else { return refusedAgain(pending.request, RelayError(error)) }
        if pending.isAgain, pending.request.isEnding, error.code.isOverAlready {
            over(pending.request)
            return complete(token, .success(.done))
        }
        if case .releaseLock(let lock) = pending.request { lost(lock) }
        complete(token, .failure(RelayError(error)))
        giveBackOrphans()
    }

    /// What the app wanted is not to be had in the new session: it is told, and the machine stops wanting it.
    private mutating func refusedAgain(_ request: ClientRequest, _ error: RelayError) {
        var problem = Problem(subject: .unknown, place: nil, error: error)
        switch request {
        // The wait goes on, and has an end of its own.
        case .cancel, .goOn, .releaseLock: return
        case .subscribe(let channel, _, _, _):
            problem.subject = .channel
            problem.place = ChannelID(kind: .message, channel: channel)
            left(problem.place!)
        case .join(let channel, _, _, _):
            problem.subject = .channel
            problem.place = ChannelID(kind: .stream, channel: channel)
            left(problem.place!)
        case .joinTopic(let topic, _):
            problem.subject = .publishedTopic
            problem.place = ChannelID(kind: .stream, channel: topic.channel)
            problem.topic = topic.topic.text
            leftTopic(topic)
        case .subscribeTopic(let topic, let users):
            problem.subject = .subscribedTopic(users: users ?? [])
            problem.place = ChannelID(kind: .stream, channel: topic.channel)
            problem.topic = topic.topic.text
            wanted.selections[topic] = nil
        case .setStates(let id, _):
            problem.subject = .states
            problem.place = id
            wanted.states[id] = nil
        case .subscribeUserMetadata(let user):
            problem.subject = .userMetadata(user.text)
            wanted.userMetadata.remove(user)
        default: break
        }
        emit(.refused(problem))
    }
}
