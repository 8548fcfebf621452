import RelayPrimitives
import RelayWire

// Frames of the relay. Bytes from outside never trap: what is wrong ends the link with a reason.

extension ClientMachine {
    mutating func receive(_ frame: Frame, at now: Instant) throws(WireError) {
        // A newer relay may say what this client does not know. [FR6]
        guard let type = FrameType(rawValue: frame.type) else { return }
        let frame = type.isBinary && frame.flags & FrameFlags.extensions.rawValue != 0 ? try withoutExtensions(frame) : frame
        // But flags say what stands in a body: with one that is not known, it cannot be read. [FR4]
        _ = try FrameFlags.checked(frame.flags, allowed: type.flagsAllowed)
        switch type {
        case .ping: write(Frame(.pong, body: frame.body))
        case .pong: pong(frame.body, at: now)
        case .welcome: try welcome(body(Welcome.self, frame), at: now)
        case .closing: end(.relayClosed(try body(CloseNotice.self, frame)), at: now)
        case .answer: try answer(frame, at: now)
        case .error: refused(try body(ErrorBody.self, frame), at: now)
        case .restored: try restored(try body(SubscribeAnswer.self, frame))
        case .accepted: try accepted(frame, at: now)
        case .confirmed: try confirmed(frame, at: now)
        case .userNamed: try userNamed(frame)
        case .deliver: try deliver(frame)
        case .packet: try packet(frame)
        case .directDeliver: try directDeliver(frame)
        case .lost: try lost(frame)
        case .historyItem: try historyItem(frame)
        case .gap: gap(try body(Gap.self, frame))
        case .catchingUp:
            if let channel = known.channels[try body(CatchingUp.self, frame).channel] { known.behind.insert(channel.channel) }
        case .caughtUp: caughtUp(try body(CaughtUp.self, frame))
        case .credit: credit(try body(CreditNotice.self, frame))
        case .stored:
            let values = try integers(frame, 2)
            stored(values[0], offset: values[1])
        case .notStored: notStored(try body(NotStored.self, frame))
        case .cleared: cleared(try body(Cleared.self, frame))
        case .reset: reset(try body(ChannelReset.self, frame))
        case .accessExpiring: emit(.accessExpiring(in: .milliseconds(Int64(clamping: try body(AccessExpiring.self, frame).inMs))))
        case .removed: removed(try body(RemovedNotice.self, frame))
        case .accessChanged: accessChanged(try body(AccessChanged.self, frame))
        case .joinCodeEnded: joinCodeEnded(try body(JoinCodeEnded.self, frame))
        case .modeChanged: modeChanged(try body(ModeChanged.self, frame))
        case .flowOpened: try flowOpened(try body(FlowOpened.self, frame))
        case .flowClosed: flowClosed(try body(FlowClosed.self, frame))
        case .packetsDropped:
            let notice = try body(PacketsDroppedNotice.self, frame)
            if let topic = known.ownTopics[notice.flow] { dropped(Int(clamping: notice.dropped), topic, .overRate) }
        case .presence: if let event = try event(PresenceEvent.self, frame, PresenceEvent.Kind.self) { presence(event) }
        case .topics: if let event = try event(TopicsEvent.self, frame, TopicsEvent.Kind.self) { topics(event) }
        case .metadataPage: try metadataPage(frame)
        case .metadata: try metadata(frame)
        case .locks: if let event = try event(LocksEvent.self, frame, LocksEvent.Event.self) { locks(event) }
        case .login, .logout, .renew, .publish, .publishPacket, .publishChanges, .direct, .directReceived, .subscribe, .unsubscribe,
            .join, .leave, .joinTopic, .leaveTopic, .subscribeTopic, .unsubscribeTopic, .subscribedUsers, .who, .whereIs, .setStates,
            .removeStates, .getStates, .history, .setMetadata, .updateMetadata, .removeMetadata, .getMetadata, .subscribeUserMetadata,
            .unsubscribeUserMetadata, .setLock, .acquireLock, .releaseLock, .revokeLock, .removeLock, .getLocks, .barrier, .cancel,
            .setReaderLimits, .goOn, .offerDevice, .offerJoinCode, .withdrawJoinCode, .clear, .undoClear, .boards, .removeBoard, .setRole,
            .setMode, .endSession, .banUser,
            .unbanUser, .getBans, .forgetUser, .removeRecords, .endChannel, .status:
            throw WireError(.protocolError, "the relay sent a \(type.name), which only clients send")
        }
    }

    /// What a later version has put in front of a frame is passed over, unless it says that it must not be. [FR9]
    private func withoutExtensions(_ frame: Frame) throws(WireError) -> Frame {
        try decoding(frame) { bytes throws(WireError) in
            var (flags, body) = (frame.flags, bytes)
            _ = try Extensions.take(from: &body, &flags)
            return Frame(type: frame.type, flags: flags, body: Array(body))
        }
    }

    /// - Returns: `nil` for an event of a newer relay, whose name this client does not know. [FR6]
    private func event<T: JSONObject, Kind: RawRepresentable<String>>(
        _ type: T.Type, _ frame: Frame, _ kinds: Kind.Type
    ) throws(WireError) -> T? {
        do throws(WireError) {
            return try body(type, frame)
        } catch {
            guard let name = try? body(EventName.self, frame).event, Kind(rawValue: name) == nil else { throw error }
            return nil
        }
    }

    func body<T: JSONObject>(_ type: T.Type, _ frame: Frame) throws(WireError) -> T {
        try decoding(frame) { (bytes) throws(WireError) in try JSONBody.decode(type, from: bytes, bytesMax: Limits.frameBodyBytesMax) }
    }

    func decoding<T>(_ frame: Frame, _ read: (UnsafeRawBufferPointer) throws(WireError) -> T) throws(WireError) -> T {
        let result = frame.body.withUnsafeBytes { bytes -> Result<T, WireError> in
            do throws(WireError) { return .success(try read(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func integers(_ frame: Frame, _ count: Int) throws(WireError) -> [UInt64] {
        try decoding(frame) { bytes throws(WireError) in
            var reader = ByteReader(bytes)
            var values: [UInt64] = []
            for _ in 0..<count {
                guard let value = reader.integer(UInt64.self) else { throw .truncated("a frame") }
                values.append(value)
            }
            return values
        }
    }

    // MARK: - Messages

    private mutating func accepted(_ frame: Frame, at now: Instant) throws(WireError) {
        let (values, credit) = try numbers(frame)
        switch settle(values[0], at: now) {
        case .message(let message)?:
            answered(message.channel, credit: credit, at: now)
            defer { goOn(message.channel) }
            // With an echo it is still to come, and the link may end before that. [SE9]
            let channel = message.channel
            if !message.echo, !known.isCatchingUp(channel), let position = known.positions[channel] { see(values[1], channel, position) }
            if let part = message.part {
                accepted(part, message, values[0], offset: values[1])
            } else {
                accepted(message, values[0], offset: values[1])
            }
        case .direct(let token)?: complete(token, .success(.offset(values[1])))
        case nil: break
        }
    }

    /// Number and offset, and the credit behind them.
    private func numbers(_ frame: Frame) throws(WireError) -> ([UInt64], credit: UInt32) {
        try decoding(frame) { bytes throws(WireError) in
            var reader = ByteReader(bytes)
            guard let number = reader.integer(UInt64.self), let offset = reader.integer(UInt64.self),
                let credit = reader.integer(UInt32.self)
            else { throw .truncated("accepted") }
            return ([number, offset], credit)
        }
    }

    private mutating func confirmed(_ frame: Frame, at now: Instant) throws(WireError) {
        let number = try integers(frame, 1)[0]
        guard case .direct(let token)? = publishes[number] else { return }
        _ = settle(number, at: now)
        complete(token, .success(.done))
    }

    private mutating func settle(_ number: UInt64, at now: Instant) -> PendingPublish? {
        guard let publish = publishes.removeValue(forKey: number) else { return nil }
        if publish.channel == nil { directWindow.answered(at: now) }
        return publish
    }

    private mutating func userNamed(_ frame: Frame) throws(WireError) {
        let (handle, user) = try decoding(frame) { bytes throws(WireError) in
            var reader = ByteReader(bytes)
            guard let handle = reader.integer(UInt32.self) else { throw .truncated("userNamed") }
            return (handle, try Name(bytes: reader.rest).text)
        }
        guard known.users.count < ClientLimits.userNamesMax else { throw WireError(.protocolError, "the relay names too many users") }
        known.users[handle] = user
    }

    private mutating func deliver(_ frame: Frame) throws(WireError) {
        let (head, customType, key, content) = try decoding(frame) { bytes throws(WireError) in
            let deliver = try DeliverFrame(flags: frame.flags, body: bytes)
            let type = deliver.flags.contains(.customType) ? try checkedText(deliver.customType) : nil
            let key = deliver.flags.contains(.key) ? try Name(bytes: deliver.key).text : nil
            let content: Content
            if deliver.flags.contains(.part) {
                let isEnd = deliver.part == 0
                guard deliver.parts >= 2, deliver.part <= deliver.parts, key != nil, deliver.payload.isEmpty == isEnd,
                    !isEnd || !deliver.flags.contains(.retain)
                else {
                    throw WireError(
                        .protocolError, "part \(deliver.part) of \(deliver.parts), \(deliver.payload.count) bytes, of a drawing")
                }
                content = .part(deliver.part, of: deliver.parts, Array(deliver.payload))
            } else {
                content = .whole(try Payload(flags: deliver.flags, bytes: deliver.payload))
            }
            return ((deliver.channel, deliver.publisher, deliver.offset, deliver.wallMilliseconds), type, key, content)
        }
        let isRetained = frame.flags & FrameFlags.retain.rawValue != 0
        guard key != nil || !isRetained else { throw WireError(.protocolError, "a record without a key") }
        guard let channel = known.channels[head.0] else { return }
        guard let sender = known.users[head.1] else {
            throw WireError(.protocolError, "a message of publisher \(head.1), who was not named")
        }
        // The parts of a record come one behind the other: of one below this, the rest will not come.
        if known.partials[channel.channel] != nil {
            dropPartials(channel.channel, isTold: true) { $0.head.isRetained && $0.offset < head.2 }
        }
        switch content {
        case .part(let part, let parts, let bytes):
            received(
                ReceivedPart(
                    sender: sender, key: key!, isRetained: isRetained, isText: frame.flags & FrameFlags.text.rawValue != 0,
                    customType: customType,
                    offset: head.2, wallMilliseconds: head.3, part: part, parts: parts, bytes: bytes),
                channel.channel)
        case .whole(let payload):
            let position = known.positions[channel.channel]
            if let position { see(head.2, channel.channel, position) }
            tell(
                Message(
                    channel: channel.channel.text, sender: sender, offset: head.2, epoch: position?.epoch, wallMilliseconds: head.3,
                    customType: customType, key: key, isRetained: isRetained, payload: payload),
                channel.channel)
        }
    }

    private enum Content { case whole(Payload), part(UInt16, of: UInt16, [UInt8]) }

    /// The relay no longer keeps messages that were still to come. [HI4]
    private mutating func gap(_ gap: Gap) {
        guard let channel = known.channels[gap.channel], let position = known.positions[channel.channel] else { return }
        // That is told by the gap; records of its range may still come, so it counts as seen by nobody.
        dropPartials(channel.channel, isTold: false) { !$0.head.isRetained }
        tellMissed(OffsetRange(from: gap.from, to: gap.to), channel.channel, position.epoch)
    }

    /// Once: after a break the relay tells again what lies behind the last message that was seen.
    mutating func tellMissed(_ range: OffsetRange, _ channel: Name, _ epoch: Epoch) {
        let told = known.missedThrough[channel].flatMap { $0.epoch == epoch ? $0.offset : nil } ?? 0
        guard range.to > told else { return }
        known.missedThrough[channel] = ChannelPosition(epoch: epoch, offset: range.to)
        tellGathered(channel)
        emit(
            .messagesMissed(
                MessagesMissed(
                    channel: channel.text, epoch: epoch, extent: .range(min(max(range.from, told + 1), range.to)...range.to))))
    }

    mutating func caughtUp(_ caughtUp: CaughtUp) {
        guard let channel = known.channels[caughtUp.channel],
            let position = known.positions[channel.channel]
        else { return }
        dropPartials(channel.channel, isTold: true) { $0.head.isRetained }
        see(caughtUp.head, channel.channel, position)
        known.readings[channel.channel] = nil
        // With a large drawing, a change set, or an undone `clear`: nothing that the app waits for. [HI7]
        tellGathered(channel.channel)
        known.behind.remove(channel.channel)
        guard known.catchingUp.remove(channel.channel) != nil else { return }
        emit(.caughtUp(channel: channel.channel.text, head: caughtUp.head))
    }

    /// One message of a history request, whose answer comes behind them.
    private mutating func historyItem(_ frame: Frame) throws(WireError) {
        let (id, message) = try decoding(frame) { bytes throws(WireError) in
            let item = try HistoryItemFrame(flags: frame.flags, body: bytes)
            let isPart = item.flags.contains(.part)
            guard !isPart || item.parts >= 2 && item.part <= item.parts && item.flags.contains(.key) else {
                throw WireError(.protocolError, "part \(item.part) of \(item.parts) of a drawing")
            }
            return (
                item.id,
                Message(
                    channel: "", sender: try Name(bytes: item.publisher).text, offset: item.offset, epoch: nil,
                    wallMilliseconds: item.wallMilliseconds,
                    customType: item.flags.contains(.customType) ? try checkedText(item.customType) : nil,
                    key: item.flags.contains(.key) ? try Name(bytes: item.key).text : nil,
                    // Text may be cut inside a character: it is checked as a whole. [BL8]
                    payload: isPart ? .bytes(Array(item.payload)) : try Payload(flags: item.flags, bytes: item.payload),
                    part: isPart ? MessagePart(number: item.part, of: item.parts, isText: item.flags.contains(.text)) : nil)
            )
        }
        guard case .history? = requests[id]?.request else { return }
        guard requests[id]!.items.count < ClientLimits.historyItemsMax else {
            throw WireError(.protocolError, "the relay sends more of the history than it may")
        }
        requests[id]!.items.append(message)
    }

    private mutating func directDeliver(_ frame: Frame) throws(WireError) {
        var (delivery, message) = try decoding(frame) { bytes throws(WireError) in
            let direct = try DirectDeliverFrame(flags: frame.flags, body: bytes)
            return (
                direct.delivery,
                DirectMessage(
                    sender: try Name(bytes: direct.sender).text, wallMilliseconds: direct.wallMilliseconds,
                    customType: direct.flags.contains(.customType) ? try checkedText(direct.customType) : nil,
                    payload: try Payload(flags: direct.flags, bytes: direct.payload))
            )
        }
        message.delivery = DirectMessage.Delivery(number: delivery, attempt: attempt)
        emit(.direct(message))
    }

    /// The relay has taken this client out of a channel. [AC7]
    private mutating func removed(_ notice: RemovedNotice) {
        guard let channel = known.channels[notice.channel] else { return }
        left(channel)
        emit(.refused(Problem(subject: .channel, place: channel, error: RelayError(notice.code, notice.text))))
    }

    // MARK: - Presence and topics

    private mutating func presence(_ event: PresenceEvent) {
        guard let channel = known.channels[event.channel] else { return }
        let kind: PresenceChange.Kind
        switch event.event {
        case .snapshot: kind = .snapshot(members: event.members ?? [], total: event.total ?? event.members?.count ?? 0)
        case .join:
            guard let user = event.user else { return }
            kind = .joined(Member(user: user.text, states: event.states ?? [:]))
        case .leave:
            guard let user = event.user else { return }
            kind = .left(user: user.text)
        case .timeout:
            guard let user = event.user else { return }
            kind = .timedOut(user: user.text)
        case .stateChanged:
            guard let user = event.user else { return }
            kind = .stateChanged(user: user.text, set: event.states ?? [:], removed: (event.removed ?? []).map(\.text))
        case .interval:
            kind = .interval(
                joined: event.joined ?? [], changed: event.changed ?? [], left: (event.left ?? []).map(\.text),
                timedOut: (event.timedOut ?? []).map(\.text))
        }
        emit(.presence(PresenceChange(place: channel, kind: kind)))
    }

    private mutating func topics(_ event: TopicsEvent) {
        guard let channel = known.channels[event.channel] else { return }
        let publishers = event.publishers.map {
            PublishedTopic(topic: $0.topic.text, user: $0.user.text, device: $0.device, meta: $0.meta)
        }
        let kind: TopicsChange.Kind
        switch event.event {
        case .snapshot: kind = known.snapshotGoesOn.contains(event.channel) ? .joined : .snapshot
        case .publisherJoined: kind = .joined
        case .publisherLeft: kind = .left
        }
        if event.event == .snapshot {
            if event.more == true { known.snapshotGoesOn.insert(event.channel) } else { known.snapshotGoesOn.remove(event.channel) }
        }
        emit(.topics(TopicsChange(channel: channel.channel.text, kind: kind, publishers: publishers)))
    }
}

struct EventName: JSONObject {
    var event = ""

    mutating func fields(_ json: inout JSONFields) { json("event", &event) }
}
