import RelayPrimitives
import RelayWire

// What a message channel keeps for good, as it comes. [BL3, BL4, BL6, BL8]

/// Reading a board from its beginning. [BL3]
struct BoardReading: Sendable {
    /// Offset below the first that is to come.
    var after: UInt64
    /// Of the answer: newer ones may follow before all has come.
    var head: UInt64

    func progress(at offset: UInt64) -> Double {
        guard head > after else { return 1 }
        return min(1, Double(offset - min(after, offset)) / Double(head - after))
    }
}

/// Records that come to a live subscriber by catching up: told together, so that a change set is seen as one. [HI7, BL11]
struct GatheredRecords: Sendable {
    var messages: [Message] = []
    var bytes = 0
}

extension ClientMachine {
    // MARK: - Messages

    /// Records that come while a board is read are gathered.
    mutating func tell(_ message: Message, _ channel: Name) {
        if known.behind.contains(channel), known.readings[channel] == nil { return gather(message, channel) }
        guard message.isRetained, let reading = known.readings[channel] else { return emit(.message(message)) }
        if batch?.channel != channel.text { flushBatch() }
        batch = batch ?? BoardBatch(channel: channel.text, messages: [], progress: 0)
        batch!.messages.append(message)
        batch!.progress = reading.progress(at: message.offset)
        batchBytes += message.payload.byteCount
        if batch!.messages.count >= ClientLimits.batchMessagesMax || batchBytes >= ClientLimits.batchBytesMax { flushBatch() }
    }

    private mutating func gather(_ message: Message, _ channel: Name) {
        guard message.isRetained else {
            tellGathered(channel)
            return emit(.message(message))
        }
        if let gathered = known.gathered[channel], gathered.messages.count >= ClientLimits.gatheredMax
            || gathered.bytes + message.payload.byteCount > ClientLimits.gatheredBytesMax
        {
            tellGathered(channel)
        }
        known.gathered[channel, default: GatheredRecords()].messages.append(message)
        known.gathered[channel]!.bytes += message.payload.byteCount
    }

    /// Before whatever comes behind them in their channel.
    mutating func tellGathered(_ channel: Name) {
        guard let messages = known.gathered.removeValue(forKey: channel)?.messages else { return }
        emit(messages.count == 1 ? .message(messages[0]) : .board(BoardBatch(channel: channel.text, messages: messages, progress: 1)))
    }

    /// The link has ended: what was not told comes again.
    mutating func forgetGathered() {
        for (channel, gathered) in known.gathered {
            if let first = gathered.messages.first { known.positions[channel]?.offset = first.offset - 1 }
        }
        known.gathered = [:]
    }

    /// Before whatever comes behind it, and when nothing more has come for now.
    mutating func flushBatch() {
        guard let full = batch else { return }
        batch = nil
        batchBytes = 0
        emit(.board(full))
    }

    // MARK: - Parts

    /// Puts a drawing together. [BL8]
    mutating func received(_ part: ReceivedPart, _ channel: Name) {
        let position = known.positions[channel]
        // A retained one has not been seen before its last part.
        if let position {
            see(part.isRetained && part.part < part.parts ? part.offset - min(1, part.offset) : part.offset, channel, position)
        }
        guard part.part > 0 else {
            // Its publisher has given it up.
            return dropPartials(channel, isTold: true) {
                !$0.head.isRetained && $0.head.sender == part.sender && $0.head.key == part.key
            }
        }
        let bytesMax = min(limits.largeMessageBytesMax, ClientLimits.drawingBytesMax)
        let (outcome, givenUp) = known.partials[channel, default: PartialDrawings()].add(part, bytesMax: bytesMax)
        if known.partials[channel]!.isEmpty { known.partials[channel] = nil }
        drawingsGivenUp(givenUp, channel)
        switch outcome {
        case .waiting: break
        case .whole(let drawing):
            tell(
                Message(
                    channel: channel.text, sender: part.sender, offset: part.offset, epoch: position?.epoch,
                    wallMilliseconds: part.wallMilliseconds,
                    // What the parts of a drawing that is no record had in common says nothing to anybody else.
                    customType: part.customType, key: part.isRetained ? part.key : nil, isRetained: part.isRetained,
                    payload: Payload(whole: drawing.bytes, isText: part.isText)),
                channel)
        case .broken:
            drawingsDropped += 1
            // One may have come in the middle of it.
            if part.part == part.parts { missed(part.offset, channel) }
        }
    }

    /// The relay is past these: what has come of them is worth nothing.
    mutating func dropPartials(_ channel: Name, isTold: Bool, where isOver: (PartialDrawings.Drawing) -> Bool = { _ in true }) {
        guard known.partials[channel] != nil else { return }
        let over = known.partials[channel]!.remove(where: isOver)
        if known.partials[channel]!.isEmpty { known.partials[channel] = nil }
        if isTold { drawingsGivenUp(over, channel) } else { drawingsDropped += over.count }
    }

    /// A record is sent again from its first part after a break; parts of other drawings are messages, which go on.
    mutating func dropRetainedPartials() {
        for channel in known.partials.keys.inOrder() { dropPartials(channel, isTold: false) { $0.head.isRetained } }
    }

    private mutating func drawingsGivenUp(_ drawings: [PartialDrawings.Drawing], _ channel: Name) {
        drawingsDropped += drawings.count
        for drawing in drawings { missed(drawing.offset, channel) }
    }

    private mutating func missed(_ offset: UInt64, _ channel: Name) {
        tellGathered(channel)
        emit(
            .messagesMissed(
                MessagesMissed(
                    channel: channel.text, epoch: known.positions[channel]?.epoch, extent: .range(offset...offset))))
    }

    // MARK: - Positions

    mutating func see(_ offset: UInt64, _ channel: Name, _ position: ChannelPosition) {
        known.positions[channel] = ChannelPosition(epoch: position.epoch, offset: max(position.offset, offset))
    }

    // MARK: - Events

    mutating func cleared(_ cleared: Cleared) {
        guard let channel = known.channels[cleared.channel] else { return }
        tellGathered(channel.channel)
        if let position = known.positions[channel.channel] { see(cleared.offset, channel.channel, position) }
        emit(
            .cleared(
                BoardCleared(
                    channel: channel.channel.text, offset: cleared.offset, user: cleared.user.text, wallMilliseconds: cleared.time)))
    }

    /// As a subscription that is answered with `reset`. [BL4]
    mutating func reset(_ reset: ChannelReset) {
        guard let channel = known.channels[reset.channel], channel.kind == .message else { return }
        let receives = wanted.channels[channel]?.features.contains(.messages) ?? false
        dropPartials(channel.channel, isTold: false)
        known.gathered[channel.channel] = nil
        emit(.messagesMissed(MessagesMissed(channel: channel.channel.text, epoch: reset.epoch, extent: .reset)))
        known.missedThrough[channel.channel] = nil
        known.positions[channel.channel] = ChannelPosition(epoch: reset.epoch, offset: receives ? 0 : reset.head)
        guard receives else { return }
        known.catchingUp.insert(channel.channel)
        known.readings[channel.channel] = BoardReading(after: 0, head: reset.head)
    }

    /// Drops a channel's incomplete drawings, and ends reading its board.
    mutating func forgetBoard(_ channel: Name) {
        dropPartials(channel, isTold: false)
        tellGathered(channel)
        known.readings[channel] = nil
        known.missedThrough[channel] = nil
        known.behind.remove(channel)
    }
}

extension Payload {
    /// A publisher's invalid text stays bytes: only its reader sees it as a whole. [BL8]
    package init(whole bytes: [UInt8], isText: Bool) {
        let isText = isText && bytes.withUnsafeBytes(isValidUTF8)
        self = isText ? .text(String(decoding: bytes, as: UTF8.self)) : .bytes(bytes)
    }
}
