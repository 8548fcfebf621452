import RelayWire

/// A look through the packets and notices of one queue: which packets go, and why. [DL4, DL5]
struct ShedPass {
    /// A frame that may go: a packet, or a notice whose ranges are told anew.
    private struct Frame {
        var bytes: Int
        var isFixed: Bool
        var packet: Packet?
    }

    private struct Packet {
        var flow: UInt32
        var sequence: UInt32
        var slot: UInt32?
        var rank: UInt8
        var reason: LostReason?
    }

    private var frames: [Frame] = []
    /// When the first of the packets that stay expires.
    private(set) var expiresAt: UInt32?
    private var expiredBytes = 0
    private var told = LostRanges()
    private(set) var slow = 0
    private(set) var expired = 0

    /// - Parameter frame: on the wire in part, or announced, it stays whatever it is.
    mutating func addPacket(_ body: UnsafeRawBufferPointer, _ frame: QueuedFrame, _ mark: PacketMark, at milliseconds: UInt32) {
        guard !frame.isFixed else { return frames.append(Frame(bytes: 0, isFixed: true)) }
        var (flags, rest) = (frame.head.flags, body)
        guard (try? Extensions.take(from: &rest, &flags)) != nil, let packet = try? PacketFrame(flags: flags, body: rest) else {
            preconditionFailure("no packet at \(frame.position)")
        }
        let isExpired = isEarlier(mark.expiresAt, than: milliseconds)
        if isExpired {
            expiredBytes += frame.head.frameBytes
            expired += 1
        } else if expiresAt.map({ isEarlier(mark.expiresAt, than: $0) }) ?? true {
            expiresAt = mark.expiresAt
        }
        frames.append(
            Frame(
                bytes: frame.head.frameBytes, isFixed: false,
                packet: Packet(
                    flow: packet.flow, sequence: packet.sequence, slot: packet.flags.contains(.slot) ? packet.slot : nil, rank: mark.rank,
                    reason: isExpired ? .expired : nil)))
    }

    /// Ranges of notices that have not begun to leave are told with the new ones, so that a reader that stands still is owed one
    /// notice and not one for each pass. [DL6]
    mutating func addNotice(_ body: UnsafeRawBufferPointer, _ frame: QueuedFrame) {
        frames.append(Frame(bytes: 0, isFixed: frame.isFixed))
        guard !frame.isFixed else { return }
        guard let notice = try? LostFrame(body: body), let reason = LostReason(rawValue: notice.reason) else {
            preconditionFailure("no notice at \(frame.position)")
        }
        told.add(notice.ranges, reason)
    }

    /// Chooses what goes of the packets that have not expired.
    ///
    /// - Parameters:
    ///   - packetBytes: what waits for the reader now, the rest of a packet that is on the wire in part included.
    ///   - max: above it packets go until half of it waits.
    mutating func choose(packetBytes: Int, max: Int) {
        let remaining = packetBytes - expiredBytes
        if remaining > max { chooseSlow(excess: remaining - max / 2) }
    }

    /// Superseded slots go first; then packets without a slot, by priority and age; then the newest of slots, likewise. [DL5]
    private mutating func chooseSlow(excess: Int) {
        var excess = excess
        struct Slot: Hashable { var flow: UInt32, slot: UInt32 }
        var newest: Set<Slot> = []
        var superseded: [Int] = []
        for index in frames.indices.reversed() {
            guard let packet = frames[index].packet, packet.reason == nil, let slot = packet.slot else { continue }
            if !newest.insert(Slot(flow: packet.flow, slot: slot)).inserted { superseded.append(index) }
        }
        for index in superseded.reversed() where excess > 0 { shed(index, &excess) }
        for wantsSlot in [false, true] {
            for rank in UInt8(0)...3 {
                for index in frames.indices where excess > 0 {
                    guard let packet = frames[index].packet, packet.reason == nil, packet.rank == rank, (packet.slot != nil) == wantsSlot
                    else { continue }
                    shed(index, &excess)
                }
            }
        }
    }

    private mutating func shed(_ index: Int, _ excess: inout Int) {
        frames[index].packet!.reason = .slowReader
        excess -= frames[index].bytes
        slow += 1
    }

    /// Whether a packet goes: else the queue stays as it is.
    var isNeeded: Bool { slow + expired > 0 }

    /// Of each frame, in order, whether it goes.
    var goes: [Bool] { frames.map { !$0.isFixed && ($0.packet.map { $0.reason != nil } ?? true) } }

    /// What the notice tells.
    var lost: LostRanges {
        var lost = told
        for case let packet? in frames.lazy.map(\.packet) {
            if let reason = packet.reason { lost.add(LostRange(flow: packet.flow, first: packet.sequence, last: packet.sequence), reason) }
        }
        return lost
    }
}
