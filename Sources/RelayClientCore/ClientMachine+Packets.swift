import RelayPrimitives
import RelayWire

// Packets, and what tells which of them will not come. [ST6, ST9, DL6, SE9]

extension ClientMachine {
    mutating func packet(_ frame: Frame) throws(WireError) {
        let (flow, sequence, slot, time, payload) = try decoding(frame) { bytes throws(WireError) in
            let packet = try PacketFrame(flags: frame.flags, body: bytes)
            return (
                packet.flow, packet.sequence, packet.flags.contains(.slot) ? packet.slot : nil,
                packet.flags.contains(.senderTime) ? packet.senderTime : nil, try Payload(flags: packet.flags, bytes: packet.payload)
            )
        }
        // What still comes of a topic that was given up is not wanted.
        guard let known = known.flows[flow] else { return }
        guard sequence >= known.next else { throw WireError(.protocolError, "packet \(sequence) of flow \(flow) after \(known.next - 1)") }
        self.known.flows[flow]!.next = sequence &+ 1
        self.known.flows[flow]!.told.removeAll { $0.upperBound <= sequence }
        emit(
            .packet(
                Packet(
                    channel: known.topic.channel.text, topic: known.topic.topic.text, publisher: known.user, device: known.device,
                    flow: flow, sequence: sequence, slot: slot, senderTime: time, payload: payload)))
    }

    mutating func lost(_ frame: Frame) throws(WireError) {
        let notice = try decoding(frame) { bytes throws(WireError) in try LostFrame(body: bytes) }
        var entries: [PacketsLost.Entry] = []
        for range in notice.ranges {
            guard range.first <= range.last else { throw WireError(.protocolError, "a lost range \(range.first)…\(range.last)") }
            if let flow = known.flows[range.flow] {
                guard flow.told.count < ClientLimits.toldRangesMax else {
                    throw WireError(.protocolError, "too many lost ranges of one flow")
                }
                if range.last >= flow.next { known.flows[range.flow]!.told.append(range.first...range.last) }
                entries.append(entry(range.flow, flow, range.first, range.last))
            } else if !known.closedFlows.contains(range.flow) {
                // The notice stands where the first packet was shed; this flow's opening may stand behind it. [DL6]
                // What is left of topics that were given up goes first.
                if known.lostEarly.count >= ClientLimits.toldRangesMax { known.lostEarly.removeFirst() }
                known.lostEarly.append((range.flow, notice.reason, range.first...range.last))
            }
        }
        tellLost(notice.reason, entries)
    }

    private mutating func tellLost(_ reason: UInt8, _ entries: [PacketsLost.Entry]) {
        guard !entries.isEmpty else { return }
        let reason: PacketsLost.Reason =
            switch LostReason(rawValue: reason) {
            case .slowReader: .slowReader
            case .expired: .expired
            case .catchingUp: .catchingUp
            case .readerLimit: .readerLimit
            case nil: .other(reason)
            }
        emit(.packetsLost(PacketsLost(reason: reason, entries: entries)))
    }

    /// What was told lost of a flow before it was opened.
    private mutating func tellLostEarly(_ handle: UInt32) {
        let early = known.lostEarly.filter { $0.flow == handle }
        guard !early.isEmpty else { return }
        known.lostEarly.removeAll { $0.flow == handle }
        for (_, reason, range) in early {
            known.flows[handle]!.told.append(range)
            tellLost(reason, [entry(handle, known.flows[handle]!, range.lowerBound, range.upperBound)])
        }
    }

    private func entry(_ handle: UInt32, _ flow: KnownSession.Flow, _ first: UInt32, _ last: UInt32?) -> PacketsLost.Entry {
        PacketsLost.Entry(
            flow: handle, channel: flow.topic.channel.text, topic: flow.topic.topic.text, publisher: flow.user, device: flow.device,
            first: first, last: last)
    }

    mutating func flowOpened(_ opened: FlowOpened) throws(WireError) {
        guard known.flows.count < ClientLimits.flowsMax else { throw WireError(.protocolError, "the relay opens too many flows") }
        guard let channel = known.channels[opened.channel] else { return }
        // A resumption names again what has closed lately. [SE9]
        guard !known.closedFlows.contains(opened.flow) else { return }
        known.unconfirmedFlows.remove(opened.flow)
        let flow = KnownSession.Flow(
            topic: TopicID(channel: channel.channel, topic: opened.topic), user: opened.user.text, device: opened.device,
            next: opened.next)
        // Of a flow that is new on this link all that was meant for the session went with the one before.
        var seen = known.flows[opened.flow] ?? flow
        seen.next = known.flows[opened.flow] == nil ? opened.from ?? opened.next : max(seen.next, opened.from ?? 1)
        reportMissing(opened.flow, seen, upTo: opened.next &- 1)
        known.flows[opened.flow] = flow
        tellLostEarly(opened.flow)
    }

    /// Packets that went with a broken link, up to `last` or without an end, but for those that were told lost before.
    private mutating func reportMissing(_ handle: UInt32, _ flow: KnownSession.Flow, upTo last: UInt32?) {
        var entries: [PacketsLost.Entry] = []
        var next = flow.next
        for told in flow.told.sorted(by: { $0.lowerBound < $1.lowerBound }) where told.upperBound >= next {
            if told.lowerBound > next { entries.append(entry(handle, flow, next, min(last ?? .max, told.lowerBound - 1))) }
            next = told.upperBound &+ 1
        }
        if next <= last ?? .max { entries.append(entry(handle, flow, next, last)) }
        if !entries.isEmpty, isHeard(flow) { emit(.packetsLost(PacketsLost(reason: .linkBroken, entries: entries))) }
    }

    /// Whether its packets come to this client: its own do with an echo, those of the user's other devices always. [ST13]
    private func isHeard(_ flow: KnownSession.Flow) -> Bool {
        flow.user != identity.user?.text || flow.device != settings.device || wanted.echoing.contains(flow.topic)
    }

    mutating func flowClosed(_ closed: FlowClosed) {
        known.flows[closed.flow] = nil
        known.closedFlows.insert(closed.flow)
    }

    /// Flows that the relay did not name again after a resumption have closed meanwhile. [SE9]
    mutating func closeUnconfirmedFlows() {
        for handle in known.unconfirmedFlows.inOrder() {
            if let flow = known.flows.removeValue(forKey: handle) { reportMissing(handle, flow, upTo: nil) }
        }
        known.unconfirmedFlows = []
    }
}
