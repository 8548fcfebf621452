import RelayPrimitives
import RelayWire

/// A look through the packets and notices of one queue: which packets go, and why. [DL4, DL5, DL11]
struct ShedPass {
    /// A frame that may go: a packet, or a notice whose ranges are told anew.
    struct Frame {
        var bytes: Int
        var isFixed: Bool
        var packet: Packet?
    }

    struct Packet {
        var flow: UInt32
        var sequence: UInt32
        var slot: UInt32?
        var mark: PacketMark
        var isHeld: Bool
        /// It may not come behind a frame that it stands before.
        var isUrgent: Bool
        var isLetGo = false
        var reason: LostReason?
    }

    /// Of each held packet that was not looked at yet, in order, whether it cannot wait.
    private var urgent: ArraySlice<Bool>
    /// Whether held packets that are not let go wait behind all others.
    var isTurn = false

    private(set) var frames: [Frame] = []
    /// When the first of the packets that stay expires.
    private(set) var expiresAt: UInt32?
    private var expiredBytes = 0
    private var told = LostRanges()
    /// Packets that go, by reason.
    private(set) var gone = [LostReason: Int]()

    init(urgent: [Bool]) { self.urgent = urgent[...] }

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
            gone[.expired, default: 0] += 1
        } else if expiresAt.map({ isEarlier(mark.expiresAt, than: $0) }) ?? true {
            expiresAt = mark.expiresAt
        }
        let isHeld = frame.kind == .held
        frames.append(
            Frame(
                bytes: frame.head.frameBytes, isFixed: false,
                packet: Packet(
                    flow: packet.flow, sequence: packet.sequence, slot: packet.flags.contains(.slot) ? packet.slot : nil, mark: mark,
                    isHeld: isHeld, isUrgent: isHeld && urgent.popFirst() == true, reason: isExpired ? .expired : nil)))
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

    /// Chooses what goes of the packets that have not expired. [DL4]
    ///
    /// - Parameters:
    ///   - packetBytes: what waits for the reader now, the rest of a packet that is on the wire in part included.
    ///   - max: above it packets go until half of it waits.
    mutating func choose(packetBytes: Int, max: Int, for reason: LostReason) {
        let remaining = packetBytes - expiredBytes
        if remaining > max { choose(excess: remaining - max / 2, for: reason) }
    }

    /// Superseded slots go first; then packets without a slot, by priority and age; then the newest of slots, likewise. [DL5]
    private mutating func choose(excess: Int, for reason: LostReason) {
        var excess = excess
        for index in superseded(amongHeld: false) where excess > 0 { excess -= shed(index, reason) }
        for wantsSlot in [false, true] {
            for rank in UInt8(0)...3 {
                for index in frames.indices where excess > 0 && isLeft(index, rank: rank, withSlot: wantsSlot) {
                    excess -= shed(index, reason)
                }
            }
        }
    }

    /// Packets whose slot has a newer one, oldest first.
    func superseded(amongHeld: Bool) -> [Int] {
        struct Slot: Hashable { var flow: UInt32, slot: UInt32 }
        var newest: Set<Slot> = []
        var superseded: [Int] = []
        for index in frames.indices.reversed() {
            guard let packet = frames[index].packet, packet.reason == nil, packet.isHeld || !amongHeld, let slot = packet.slot
            else { continue }
            if !newest.insert(Slot(flow: packet.flow, slot: slot)).inserted { superseded.append(index) }
        }
        return superseded.reversed()
    }

    func isLeft(_ index: Int, rank: UInt8, withSlot: Bool) -> Bool {
        guard let packet = frames[index].packet, packet.reason == nil else { return false }
        return packet.mark.rank == rank && (packet.slot != nil) == withSlot
    }

    /// - Returns: its bytes.
    @discardableResult
    mutating func shed(_ index: Int, _ reason: LostReason) -> Int {
        frames[index].packet!.reason = reason
        gone[reason, default: 0] += 1
        return frames[index].bytes
    }

    mutating func letGo(_ index: Int) { frames[index].packet!.isLetGo = true }

    /// Whether the queue changes.
    var isNeeded: Bool { !gone.isEmpty || frames.contains { $0.packet?.isLetGo == true } }

    /// Of each frame, in order.
    var fates: [Fate] {
        frames.map { frame in
            guard !frame.isFixed else { return .stays }
            guard let packet = frame.packet, packet.reason == nil else { return .goes }
            if packet.isLetGo { return .isLetGo }
            return isTurn && packet.isHeld ? .waits : .stays
        }
    }

    /// What is held behind it.
    var held: PacketSum {
        var sum = PacketSum()
        for frame in frames {
            if let packet = frame.packet, packet.isHeld, !packet.isLetGo, packet.reason == nil { sum.add(frame.bytes) }
        }
        return sum
    }

    /// What the notice tells.
    var lost: LostRanges {
        var lost = told
        for case let packet? in frames.lazy.map(\.packet) {
            if let reason = packet.reason { lost.add(LostRange(flow: packet.flow, first: packet.sequence, last: packet.sequence), reason) }
        }
        return lost
    }
}

// Which of the packets that are held for a reader may leave, because it takes so many; which wait, and which go. [DL11]

extension ShedPass {
    /// Superseded slots go; then packets without a slot, until the rest is what the reader takes now. If that does not do, senders take
    /// turns with the newest of their slots: what is left waits, behind all other frames. What cannot wait leaves on credit, or goes.
    ///
    /// - Parameters:
    ///   - limiter: there is something that it has not enough for.
    ///   - isDue: whether it is the reader's turn; else only what cannot wait is chosen from.
    mutating func takeTurn(_ limiter: inout ReaderLimiter, isDue: Bool) {
        isTurn = true
        for index in superseded(amongHeld: true) { shed(index, .readerLimit) }
        var indices = frames.indices.filter { index in
            frames[index].packet.map { $0.isHeld && $0.reason == nil && (isDue || $0.isUrgent) } == true
        }
        var sum = PacketSum()
        for index in indices { sum.add(frames[index].bytes) }
        for rank in UInt8(0)...3 {
            for index in indices where !limiter.has(sum) && isLeft(index, rank: rank, withSlot: false) {
                sum.remove(shed(index, .readerLimit))
            }
        }
        indices.removeAll { frames[$0].packet!.reason != nil }
        guard limiter.has(sum) else { return serveSenders(indices, &limiter) }
        limiter.take(sum)
        for index in indices { letGo(index) }
    }

    private mutating func serveSenders(_ indices: [Int], _ limiter: inout ReaderLimiter) {
        for isUrgent in [true, false] {
            let lines = lines(of: indices.filter { frames[$0].packet!.isUrgent == isUrgent }, behind: limiter.lastServed)
            for round in 0..<(lines.map(\.count).max() ?? 0) {
                for line in lines where round < line.count {
                    let index = line[round]
                    if limiter.serve(frames[index].packet!.mark.sender, bytes: frames[index].bytes, onCredit: isUrgent) {
                        letGo(index)
                    } else if isUrgent {
                        shed(index, .readerLimit)
                    } else {
                        return limiter.waits(for: frames[index].bytes)
                    }
                }
            }
        }
    }

    /// Each sender's packets in their order; first the sender whose handle follows the one that was served last.
    private func lines(of indices: [Int], behind last: UInt32) -> [[Int]] {
        let bySender = Dictionary(grouping: indices) { frames[$0].packet!.mark.sender }
        let senders = bySender.keys.inOrder()
        return (senders.filter { $0 > last } + senders.filter { $0 <= last }).map { bySender[$0]! }
    }
}
