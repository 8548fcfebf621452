import RelayPrimitives
internal import RelayRights
import RelayWire

// What message channels keep, and reading it. [HI1, HI6]

extension Hub {
    /// Keeps a message that was just accepted.
    mutating func keep(_ message: KeptMessage, in channel: Channel.Index) {
        channels[channel].history.append(message)
        historyTotals.add(message)
        boundHistory(of: channel)
        if historyTotals.memory.used > historyTotals.memory.max { boundHistory() }
        if !historyTotals.sweepIsSet { setHistorySweep() }
    }

    private mutating func boundHistory(of channel: Channel.Index) {
        while channels[channel].history.count > configuration.historyMessagesMax
            || channels[channel].history.bytes > configuration.historyBytesMax
        {
            forgetOldest(of: channel)
        }
    }

    /// Other bounds hold.
    mutating func boundAllHistory() {
        for channel in channels.indices where channels[channel].id != nil { boundHistory(of: channel) }
        if historyTotals.memory.used > historyTotals.memory.max { boundHistory() }
    }

    private mutating func forgetOldest(of channel: Channel.Index) {
        guard let oldest = channels[channel].history.oldest else { return }
        historyTotals.remove(oldest)
        if oldest.isRetained, let board = channels[channel].board, oldest.offset > boards[board].readableHead {
            boards[board].unheld = max(boards[board].unheld, oldest.offset)
        }
        channels[channel].history.removeOldest()
    }

    /// What has become too old counts as gone at once, wherever it is looked for.
    mutating func forgetExpired(of channel: Channel.Index) {
        while let oldest = channels[channel].history.oldest, oldest.acceptedAt + configuration.historyAge <= now.instant {
            forgetOldest(of: channel)
        }
    }

    mutating func forgetHistory(of channel: Channel.Index, through offset: UInt64 = .max) {
        while let oldest = channels[channel].history.oldest, oldest.offset <= offset { forgetOldest(of: channel) }
    }

    /// All channels together keep too much: the oldest go, first of channels that are mostly of an address with more than a quarter.
    private mutating func boundHistory() {
        if let address = historyTotals.memory.largestAboveShare { forgetHistory { $0.isMostly(from: address) } }
        forgetHistory { _ in true }
    }

    /// Some more than must, so that looking at all channels is worth it.
    private mutating func forgetHistory(where isMeant: (MessageHistory) -> Bool) {
        guard historyTotals.memory.used > historyTotals.memory.max / 16 * 15 else { return }
        var all: [OldestKept] = []
        for channel in channels.indices {
            guard let kept = channels[channel].history.oldest, isMeant(channels[channel].history) else { continue }
            all.append(OldestKept(at: kept.acceptedAt, channel: channel))
        }
        var oldest = MinHeap(all)
        while historyTotals.memory.used > historyTotals.memory.max / 16 * 15, let channel = oldest.first?.channel {
            forgetOldest(of: channel)
            oldest.removeFirst(insert: channels[channel].history.oldest.map { OldestKept(at: $0.acceptedAt, channel: channel) })
        }
    }

    private mutating func setHistorySweep() {
        historyTotals.sweepIsSet = true
        deadlines.set(.historySweep, at: now.instant + configuration.historyAge / 10)
    }

    /// Gives back the memory of what nobody has asked for since it became too old.
    mutating func sweepHistory() {
        historyTotals.sweepIsSet = false
        for channel in channels.indices where channels[channel].id != nil { forgetExpired(of: channel) }
        if historyTotals.messages > 0 { setHistorySweep() }
    }

    // MARK: - Reading

    mutating func history(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(HistoryRequest.self, body)
        try require(.subscribe, on: ChannelID(kind: .message, channel: request.channel), session)
        let most = configuration.historyPageMessagesMax
        let limit = request.limit ?? most
        guard (1...most).contains(limit) else {
            throw WireError(
                .badRequest, "field limit is within 1…\(most), not \(limit)", limit: limit < 1 ? 1 : most, actual: max(0, limit))
        }
        guard let channel = channels[named: ChannelID(kind: .message, channel: request.channel)] else {
            return answer(connection, HistoryAnswer(id: request.id, epoch: nil, head: 0, count: 0, floor: 0, next: nil))
        }
        forgetExpired(of: channel)
        let backwards = request.backwards ?? false
        let total = channels[channel].history.count
        // The first one wanted, and how many there are from it on.
        var index: Int
        if let from = request.from {
            index =
                backwards
                ? channels[channel].history.index(above: from) - 1 : channels[channel].history.index(above: from == 0 ? 0 : from - 1)
        } else {
            index = backwards ? total - 1 : 0
        }
        var sent = 0
        var bytes = 0
        var next: UInt64?
        while index >= 0, index < total {
            let size = channels[channel].history[index].frame.count
            if !channels[channel].history[index].isListed {
                work.look(at: 1)
                index += backwards ? -1 : 1
                continue
            }
            guard sent < limit, sent == 0 || bytes + size <= configuration.historyPageBytesMax else {
                next = channels[channel].history[index].offset
                break
            }
            sendHistoryItem(request.id, channel, index, to: connection)
            sent += 1
            bytes += size
            index += backwards ? -1 : 1
        }
        answer(
            connection,
            HistoryAnswer(
                id: request.id, epoch: channels[channel].epoch, head: channels[channel].head, count: sent,
                floor: channels[channel].history.ringFloor, next: next))
    }

    private mutating func sendHistoryItem(_ id: UInt32, _ channel: Channel.Index, _ index: Int, to connection: Connection.Index) {
        let message = channels[channel].history[index]
        message.frame.withUnsafeBytes { bytes in
            guard case .head(let head) = FrameHead.read(bytes) else { preconditionFailure("what is kept is no frame") }
            var (flags, body) = (head.flags, UnsafeRawBufferPointer(rebasing: bytes[Limits.frameHeadBytes...]))
            guard let extensions = try? Extensions.take(from: &body, &flags), let frame = try? DeliverFrame(flags: flags, body: body) else {
                preconditionFailure("what is kept is no delivery")
            }
            let hasType = frame.flags.contains(.customType)
            let hasKey = frame.flags.contains(.key)
            let isPart = frame.flags.contains(.part)
            let user = message.user.text.utf8
            let itemHead = FrameHead(
                type: FrameType.historyItem.rawValue, flags: frame.flags.intersection(HistoryItemFrame.flagsAllowed).and(extensions),
                bodyBytes: extensions.count + 20 + 1 + user.count + (hasType ? 1 + frame.customType.count : 0)
                    + (hasKey ? 1 + frame.key.count : 0) + (isPart ? 4 : 0) + frame.payload.count)
            enqueuePrivate(connection, head: itemHead) { writer in
                writer.bytes(extensions)
                writer.integer(id)
                writer.integer(frame.offset)
                writer.integer(frame.wallMilliseconds)
                writer.integer(UInt8(user.count))
                for byte in user { writer.integer(byte) }
                if hasType { writer.shortBytes(frame.customType) }
                if hasKey { writer.shortBytes(frame.key) }
                if isPart {
                    writer.integer(frame.part)
                    writer.integer(frame.parts)
                }
                writer.bytes(frame.payload)
            }
        }
    }
}
