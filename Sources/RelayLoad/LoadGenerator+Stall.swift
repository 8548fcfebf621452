import RelayIO
import RelaySystem
import RelayWire

/// What became of a reader that stopped reading for a while.
package struct StallOutcome: Sendable {
    private enum State: Equatable { case none, reading(Int), stalled(Int), resumed(Int) }

    private var state = State.none
    fileprivate(set) var stalledAt: UInt64?
    fileprivate(set) var resumedAt: UInt64?
    /// It was closed meanwhile, and this is when it came back.
    package fileprivate(set) var cameBackAt: UInt64?
    package fileprivate(set) var caughtUpAt: UInt64?
    /// Why the relay had closed it, as it said when it came back.
    private(set) var closeCode: UInt16?
    package private(set) var closeName: String?
    package private(set) var wasResumed = false
    fileprivate(set) var problem: String?

    static let presenceTimeoutMs = 60_000
    /// A fixed window: what the system would keep for a reader that does not read is not the relay's.
    static let receiveBufferBytes: Int32 = 128 * 1024
    /// Shorter than two heartbeats, after which a link that is silent is closed.
    static let longest: UInt64 = 8_000_000_000

    /// Whether this member's connection may end.
    func isMeant(member: Int) -> Bool {
        switch state {
        case .none, .reading: false
        case .stalled(let one), .resumed(let one): one == member
        }
    }

    fileprivate mutating func stalls(_ member: Int, at now: UInt64) {
        state = .stalled(member)
        stalledAt = now
    }

    fileprivate mutating func resumes(at now: UInt64) {
        guard case .stalled(let member) = state else { return }
        state = .resumed(member)
        resumedAt = now
    }

    mutating func resumed(_ welcome: Welcome) {
        wasResumed = welcome.resumed
        closeCode = welcome.lastEnd?.code.rawValue
        closeName = welcome.lastEnd?.name
        if !welcome.resumed { problem = "the reader that came back was not resumed" }
    }

    fileprivate var isStalled: Bool { if case .stalled = state { true } else { false } }
}

extension LoadGenerator {
    mutating func turnOfStall(_ now: UInt64, end: UInt64) {
        guard let member = load.stalling else { return }
        if stall.stalledAt == nil, now >= splitsAt {
            stall.stalls(member, at: now)
            links[member].isStalled = true
            poller.remove(links[member].socket.descriptor)
        } else if stall.isStalled, now >= splitsAt + StallOutcome.longest {
            resumeReading()
        }
    }

    /// It reads on, and finds what is left for it.
    mutating func resumeReading() {
        guard stall.isStalled, let member = load.stalling else { return }
        stall.resumes(at: Self.now())
        links[member].isStalled = false
        _ = poller.add(
            links[member].socket.descriptor, token: UInt32(member), for: links[member].isBlocked ? [.reading, .writing] : [.reading])
    }

    /// It was closed: its session is resumed behind what it has seen.
    mutating func comeBack(_ index: Int) {
        guard stall.cameBackAt == nil else {
            stall.problem = "the reader that came back was closed again"
            return
        }
        stall.cameBackAt = Self.now()
        let old = links[index]
        guard let token = old.resumeToken else { return }
        var seen: [String: [UInt64]] = [:]
        if let channel = old.messageChannel, let epoch = channel.epoch {
            seen[channel.channel.text] = Since.position(ChannelPosition(epoch: epoch, offset: old.lastOffset)).place
        }
        do {
            let frames = try Entering.frames(
                identities[old.member], member: load.members[old.member], publishesPackets: false,
                presenceTimeoutMs: StallOutcome.presenceTimeoutMs,
                resume: ResumeRequest(token: token, seen: seen))
            links[index] = try link(old.member, frames, index: index)
            links[index].messageChannel = old.messageChannel
            links[index].lastOffset = old.lastOffset
        } catch {
            stall.problem = "\(error)"
        }
    }

    mutating func caughtUp(_ index: Int) {
        if stall.isMeant(member: links[index].member), stall.caughtUpAt == nil { stall.caughtUpAt = Self.now() }
    }

    /// Whether one that came back has caught up.
    var isStallOver: Bool { stall.cameBackAt == nil || stall.caughtUpAt != nil || stall.problem != nil }
}
