import RelayPrimitives
import RelayWire

/// One publisher's stay in one topic. [ST3, ST6]
struct Flow {
    var handle: UInt32 = 0
    @Placed var channel: Channel.Index
    var topic: Name?
    @Placed var session: Session.Index
    var meta = ""
    /// Bytes of its entry in the snapshot of topics, and whom they are charged to. [ST2]
    var entryBytes: Int32 = 0
    var payer = AddressKey.local
    /// The topic's priority: of packets that wait for a slow reader, those of the lowest go first. [DL5]
    var rank: UInt8 = 0
    var lifetimeMilliseconds: UInt32 = 0
    /// Sequence of the last accepted packet.
    var sequence: UInt32 = 0
    /// Sessions that get its packets, its own publisher perhaps among them.
    var receivers: [Session.Index] = []
    /// For sessions that came after the first packet: the first sequence that is meant for each.
    var meantFrom = [Session.Index: UInt32]()
    @Placed var bucket: TokenBucket.Index
    /// Packets over the rate: in all, and those told of. [RT4]
    var dropped: UInt64 = 0
    var droppedTold: UInt64 = 0
    /// Whether a notice was sent less than the interval ago.
    var noticeIsHeld = false
}

// Packets: counted, numbered, delivered. [ST5, ST6, RT4]

extension Hub {
    mutating func publishPacket(
        _ head: FrameHead, _ whole: UnsafeRawBufferPointer, session: Session.Index, _ connection: Connection.Index
    ) {
        var (flags, body) = (head.flags, whole)
        do throws(WireError) {
            let extensions = try Extensions.take(from: &body, &flags)
            var frame = try PublishPacketFrame(flags: flags, body: body)
            frame.extensions = extensions
            guard let flow = flows[named: frame.flow], flows[flow].session == session else {
                try spendRequest(session, connection)
                throw WireError(.unknownFlow, "flow \(frame.flow) is not one of this session")
            }
            let limit = configuration.limits.packetBytesMax
            guard frame.payload.count <= limit else {
                throw WireError(
                    .tooLarge, "a packet has at most \(limit) bytes, not \(frame.payload.count)", limit: limit, actual: frame.payload.count)
            }
            if frame.flags.contains(.text), !isValidUTF8(frame.payload) {
                throw WireError(.badText, "the payload is flagged as text and is not well-formed UTF-8")
            }
            guard flows[flow].sequence < .max else {
                throw WireError(.limitReached, "the flow has used up its sequences: join the topic anew")
            }
            let rate = configuration.limits.packetsPerSecond
            if try spend(flows[flow].bucket, rate: rate, capacity: rate, connection, "packets") != nil { return drop(flow, connection) }
            guard connections[connection].isOpen else { return }
            accept(frame, flow, session)
        } catch {
            refuse(connection, error, flow: PublishPacketFrame.flow(of: body))
        }
    }

    @inline(__always)
    private mutating func accept(_ frame: PublishPacketFrame, _ flow: Flow.Index, _ session: Session.Index) {
        flows[flow].sequence += 1
        counters.packetsAccepted += 1
        let sequence = flows[flow].sequence
        let flags = frame.flags.intersection(PacketFrame.flagsAllowed)
        let hasSlot = flags.contains(.slot)
        let hasTime = flags.contains(.senderTime)
        let head = FrameHead(
            type: FrameType.packet.rawValue, flags: flags.and(frame.extensions),
            bodyBytes: frame.extensions.count + 8 + (hasSlot ? 4 : 0) + (hasTime ? 4 : 0) + frame.payload.count)
        let room = channels[flows[flow].channel].room
        let except = frame.flags.contains(.echo) ? nil : session
        enqueueShared(
            room: room, head: head,
            packet: PacketMark(
                expiresAt: outbox.milliseconds &+ flows[flow].lifetimeMilliseconds, sender: sessions[session].handle,
                rank: flows[flow].rank),
            to: rooms[room].catchUps.isEmpty ? flows[flow].receivers : receiversNow(flow, except: except), except: except
        ) { writer in
            writer.bytes(frame.extensions)
            writer.integer(frame.flow)
            writer.integer(sequence)
            if hasSlot { writer.integer(frame.slot) }
            if hasTime { writer.integer(frame.senderTime) }
            writer.bytes(frame.payload)
        }
    }

    /// Over the rate: counted, and told at most once an interval. [RT4]
    private mutating func drop(_ flow: Flow.Index, _ connection: Connection.Index) {
        counters.packetsDroppedRate += 1
        flows[flow].dropped += 1
        if !flows[flow].noticeIsHeld { tellDropped(flow) }
    }

    mutating func droppedNoticeDeadline(_ flow: Flow.Index) {
        flows[flow].noticeIsHeld = false
        if flows[flow].dropped > flows[flow].droppedTold { tellDropped(flow) }
    }

    private mutating func tellDropped(_ flow: Flow.Index) {
        sendDropped(flow)
        flows[flow].noticeIsHeld = true
        deadlines.set(.droppedNotice(flow: flows[flow].handle), at: now.instant + configuration.droppedNoticeInterval)
    }

    /// Without a connection nothing is told and nothing counts as told.
    mutating func sendDropped(_ flow: Flow.Index) {
        guard let connection = outbox.connection(of: flows[flow].session), flows[flow].dropped > flows[flow].droppedTold else { return }
        let notice = PacketsDroppedNotice(
            flow: flows[flow].handle, dropped: flows[flow].dropped - flows[flow].droppedTold, total: flows[flow].dropped)
        flows[flow].droppedTold = flows[flow].dropped
        enqueueJSON(connection, .packetsDropped, notice)
    }
}
