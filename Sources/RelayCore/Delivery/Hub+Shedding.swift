import RelayWire

// Packets that a slow reader will not get, and the notice that says so. [DL4–DL6]

/// One queued packet, while a shed pass looks at it.
private struct QueuedPacket {
    var segment: Int
    var position: UInt32
    var bytes: UInt32
    var flow: UInt32
    var sequence: UInt32
    var slot: UInt32?
    var rank: UInt8
    var reason: LostReason?
}

extension Hub {
    /// The packets of a queue exceed their bound. [DL4]
    mutating func shedOverfull(_ connection: Connection.Index) {
        queues[beside: connection].mustShed = false
        guard queues[beside: connection].packetBytes > configuration.packetBacklogBytesMax else { return }
        shed(connection)
    }

    /// Some packet may have outlived its use. [DL4]
    mutating func shedExpired(_ connection: Connection.Index) { shed(connection) }

    private mutating func shed(_ connection: Connection.Index) {
        findBoundary(connection)
        var packets = queuedPackets(connection)
        // The rest of a packet that is on the wire in part counts and cannot be shed.
        let remaining = packets.reduce(queues[beside: connection].packetBytes) { $1.reason == nil ? $0 : $0 - Int($1.bytes) }
        if remaining > configuration.packetBacklogBytesMax {
            chooseSlow(&packets, excess: remaining - configuration.packetBacklogBytesMax / 2)
        }
        guard packets.contains(where: { $0.reason != nil }) else { return }
        rebuild(connection, packets)
    }

    /// Frames that begin before this are on the wire in part, or announced.
    private func fixedEnd(of segment: Segment, ahead: Int, announced: Int) -> UInt32 {
        segment.start + UInt32(min(max(0, announced - ahead), segment.bytes))
    }

    /// Every packet that is not on the wire yet, those that have expired marked; sets when the next one expires.
    private mutating func queuedPackets(_ connection: Connection.Index) -> [QueuedPacket] {
        var packets: [QueuedPacket] = []
        var expiresAt: UInt32?
        var ahead = 0
        for index in 0..<queues[beside: connection].count {
            let segment = queues[beside: connection][index]
            let fixed = fixedEnd(of: segment, ahead: ahead, announced: queues[beside: connection].announcedBytes)
            ahead += segment.bytes
            guard segment.kind == .packets else { continue }
            var position = index == 0 ? queues[beside: connection].headBoundary : segment.start
            while position < segment.end {
                let head = frameHead(chunk: segment.chunk, at: position)
                defer { position += UInt32(head.frameBytes) }
                if position < fixed { continue }
                let body = UnsafeRawBufferPointer(
                    start: chunks[segment.chunk].base! + Int(position) + Limits.frameHeadBytes, count: head.bodyBytes)
                guard let frame = try? PacketFrame(flags: head.flags, body: body) else { preconditionFailure("no packet at \(position)") }
                let flow = flowsByHandle[frame.flow].map { flows[$0] }
                let lifetime = flow?.lifetimeMilliseconds ?? UInt32(configuration.packetLifetime.milliseconds)
                let expiry = chunks[segment.chunk].acceptedAt(position) &+ lifetime
                let isExpired = isEarlier(expiry, than: milliseconds)
                if !isExpired, expiresAt.map({ isEarlier(expiry, than: $0) }) ?? true { expiresAt = expiry }
                packets.append(
                    QueuedPacket(
                        segment: index, position: position, bytes: UInt32(head.frameBytes), flow: frame.flow, sequence: frame.sequence,
                        slot: frame.flags.contains(.slot) ? frame.slot : nil, rank: flow?.rank ?? TopicPriority.normal.rank,
                        reason: isExpired ? .expired : nil))
            }
        }
        queues[beside: connection].expiresAt = expiresAt ?? milliseconds &+ UInt32(configuration.packetLifetime.milliseconds)
        return packets
    }

    /// Marks packets as shed until `excess` bytes are freed: superseded slots; then without slot, by priority and
    /// age; then the newest of slots, likewise. [DL5]
    private func chooseSlow(_ packets: inout [QueuedPacket], excess: Int) {
        var excess = excess
        func shed(_ index: Int) {
            packets[index].reason = .slowReader
            excess -= Int(packets[index].bytes)
        }
        struct Slot: Hashable { var flow: UInt32, slot: UInt32 }
        var newest: Set<Slot> = []
        var superseded: [Int] = []
        for index in packets.indices.reversed() {
            guard packets[index].reason == nil, let slot = packets[index].slot else { continue }
            if !newest.insert(Slot(flow: packets[index].flow, slot: slot)).inserted { superseded.append(index) }
        }
        for index in superseded.reversed() where excess > 0 { shed(index) }
        for wantsSlot in [false, true] {
            for rank in UInt8(0)...3 {
                for index in packets.indices
                where excess > 0 && packets[index].reason == nil && packets[index].rank == rank && (packets[index].slot != nil) == wantsSlot {
                    shed(index)
                }
            }
        }
    }

    /// Makes the queue anew without the packets that are shed, with the notice in the place of the first of them.
    private mutating func rebuild(_ connection: Connection.Index, _ packets: [QueuedPacket]) {
        var (lost, shedCounts) = lostRanges(packets)
        mergeUnsentNotices(of: connection, into: &lost)
        counters.packetsShedSlow += shedCounts.slow
        counters.packetsShedExpired += shedCounts.expired
        if let session = connections[connection].session { sessions[session].packetsLost += shedCounts.slow + shedCounts.expired }

        let expiresAt = queues[beside: connection].expiresAt
        let (segments, boundary) = queues[beside: connection].removeAll()
        let announced = queues[beside: connection].announcedBytes
        var ahead = 0
        var nextPacket = 0
        var noticeIsDue = true
        for (index, segment) in segments.enumerated() {
            let frameStart = index == 0 ? boundary : segment.start
            switch segment.kind {
            case .reliable:
                queues[beside: connection].restore(segment, boundary: frameStart)
                ahead += segment.bytes
            case .lost:
                let left = copyFixed(segment, from: frameStart, ahead: &ahead, announced: announced, to: connection)
                // The ranges of the others are in `lost` now, which comes at the earliest place of all.
                if left < segment.end, noticeIsDue {
                    enqueueLost(connection, lost)
                    noticeIsDue = false
                }
                ahead += Int(segment.end - left)
                release(segment.chunk, of: connection)
            case .packets:
                let left = copyFixed(segment, from: frameStart, ahead: &ahead, announced: announced, to: connection)
                ahead += Int(segment.end - left)
                while nextPacket < packets.count, packets[nextPacket].segment == index {
                    let packet = packets[nextPacket]
                    nextPacket += 1
                    if packet.reason == nil {
                        _ = copyFrame(from: segment.chunk, at: packet.position, alreadySent: 0, kind: .packets, to: connection)
                    } else if noticeIsDue {
                        enqueueLost(connection, lost)
                        noticeIsDue = false
                    }
                }
                release(segment.chunk, of: connection)
            }
        }
        queues[beside: connection].expiresAt = expiresAt
        // The notice was weighed against a queue that was only half made.
        if queues[beside: connection].reliableBytes > configuration.reliableBacklogBytesSoft { noteBacklog(connection) }
    }

    typealias Lost = [(reason: LostReason, ranges: [LostRange])]

    private func lostRanges(_ packets: [QueuedPacket]) -> (Lost, (slow: UInt64, expired: UInt64)) {
        var counts: (slow: UInt64, expired: UInt64) = (0, 0)
        var lost: Lost = [(.slowReader, []), (.expired, []), (.catchingUp, [])]
        for packet in packets {
            switch packet.reason {
            case .slowReader:
                counts.slow += 1
                lost[0].ranges.append(LostRange(flow: packet.flow, first: packet.sequence, last: packet.sequence))
            case .expired:
                counts.expired += 1
                lost[1].ranges.append(LostRange(flow: packet.flow, first: packet.sequence, last: packet.sequence))
            case .catchingUp, nil: break
            }
        }
        return (lost, counts)
    }

    /// Takes the ranges of notices that have not begun to leave, so that a reader that stands still is owed one
    /// notice and not one for each pass. [DL6]
    private mutating func mergeUnsentNotices(of connection: Connection.Index, into lost: inout Lost) {
        var ahead = 0
        for index in 0..<queues[beside: connection].count {
            let segment = queues[beside: connection][index]
            let fixed = fixedEnd(of: segment, ahead: ahead, announced: queues[beside: connection].announcedBytes)
            ahead += segment.bytes
            guard segment.kind == .lost else { continue }
            var position = index == 0 ? queues[beside: connection].headBoundary : segment.start
            while position < segment.end {
                let head = frameHead(chunk: segment.chunk, at: position)
                defer { position += UInt32(head.frameBytes) }
                if position < fixed { continue }
                let body = UnsafeRawBufferPointer(
                    start: chunks[segment.chunk].base! + Int(position) + Limits.frameHeadBytes, count: head.bodyBytes)
                guard let frame = try? LostFrame(body: body) else { preconditionFailure("no notice at \(position)") }
                lost[Int(frame.reason) - 1].ranges.append(contentsOf: frame.ranges)
            }
        }
        for index in lost.indices { lost[index].ranges = Self.merged(lost[index].ranges) }
    }

    /// Sorted, with touching ranges of one flow joined: only numbers that follow each other directly, so that a range
    /// never contains a packet that was not meant for this reader.
    static func merged(_ ranges: [LostRange]) -> [LostRange] {
        var result: [LostRange] = []
        for range in ranges.sorted(by: { ($0.flow, $0.first) < ($1.flow, $1.first) }) {
            if let last = result.last, last.flow == range.flow, last.last &+ 1 == range.first {
                result[result.count - 1].last = range.last
            } else {
                result.append(range)
            }
        }
        return result
    }

    mutating func enqueueLost(_ connection: Connection.Index, _ lost: Lost) {
        for (reason, ranges) in lost {
            var index = 0
            while index < ranges.count {
                let part = ranges[index..<min(index + Limits.lostRangesPerFrameMax, ranges.count)]
                let head = FrameHead(
                    type: FrameType.lost.rawValue, bodyBytes: LostFrame.fixedBytes + part.count * LostFrame.rangeBytes)
                enqueuePrivate(connection, head: head, kind: .lost) { writer in
                    writer.integer(reason.rawValue)
                    writer.integer(UInt16(part.count))
                    for range in part {
                        writer.integer(range.flow)
                        writer.integer(range.first)
                        writer.integer(range.last)
                    }
                }
                index += part.count
            }
        }
    }
}
