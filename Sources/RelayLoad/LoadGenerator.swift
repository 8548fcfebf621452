import RelayConsole
import RelayIO
import RelaySystem
import RelayWire

/// Plays a load to a relay, over the real protocol, and keeps account of what comes of it. One thread, which waits by
/// itself: a number of connections that a client library has a thread pool for would be measured together with that pool.
///
/// It never waits for the relay before it sends (unless the load is a window), and counts latency from the moment at which
/// a message was due: a relay that stalls is not spared those that would have been sent meanwhile.
package struct LoadGenerator: ~Copyable {
    package let load: Load
    let target: SocketAddress
    let key: String?
    /// Addresses of this machine to connect from, in turn; the system's choice if empty.
    let origins: [SocketAddress]
    package let meter: RelayMeter

    let poller: Poller
    var links: [LoadLink] = []
    package var tally: Tally
    var identities: [Entering.Identity] = []
    var templates: [PublishTemplate?]
    /// The flow of each stream's source.
    var flowOfSource: [UInt32?]
    var sourceOfFlow: [UInt32: Int] = [:]
    /// What each flow's publisher was told of drops so far.
    var dropsTold: [UInt64]
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 16)

    /// When what has just been read came.
    var readAt: UInt64 = 0
    package var measuresFrom = UInt64.max
    /// Latency of what is due from here on is counted apart.
    var splitsAt = UInt64.max
    package var latency = Histogram()
    var latencyAfter = Histogram()
    var lag = Histogram()
    /// The warm-up included, in nanoseconds.
    var lagMax: UInt64 = 0
    var skipped: UInt64 = 0
    /// Refusals by code.
    var refusals: [UInt16: UInt64] = [:]
    /// Why a member could not come in.
    var failure: String?
    /// Closed by the relay, by code, without being meant to be.
    package var closes: [UInt16: Int] = [:]
    package var closedReaders: Set<Int> = []
    var stall = StallOutcome()

    private static let bufferBytes = 512 * 1024 + 128 * 1024
    /// Read at once.
    static let readBytes = 512 * 1024
    static let enteringMax = 64

    package init(
        _ load: Load, target: SocketAddress, key: String?, space: String? = nil, origins: [SocketAddress] = [], meter: RelayMeter,
        poller: Poller
    ) {
        self.load = load
        self.target = target
        self.key = key
        self.origins = origins
        self.meter = meter
        self.poller = poller
        tally = Tally(readers: load.members.count, sources: load.sources.count) { load.expects($0, $1) }
        templates = Array(repeating: nil, count: load.sources.count)
        flowOfSource = Array(repeating: nil, count: load.sources.count)
        dropsTold = Array(repeating: 0, count: load.sources.count)
        let run = SystemEntropy.word()
        identities = (0..<load.members.count).map { number in
            func hex(_ word: UInt64) -> String {
                String(repeating: "0", count: word.leadingZeroBitCount / 4) + (word == 0 ? "" : String(word, radix: 16))
            }
            return Entering.Identity(
                user: "bench-\(hex(run))-\(number)", secret: hex(SystemEntropy.word()) + hex(SystemEntropy.word()),
                instance: hex(SystemEntropy.word()), key: key, space: space)
        }
    }

    deinit {
        for link in links where !link.isClosed { link.socket.close(resets: true) }
        buffer.deallocate()
    }

    package static func now() -> UInt64 { SystemClock.monotonicNanoseconds() }

    // MARK: - The run

    /// Sends what the load says and waits for the rest.
    ///
    /// - Parameter progress: told each second what part of the time is over, 0…1.
    package mutating func run(progress: (Double) -> Void) throws -> LoadOutcome {
        let entered = try enterAll()
        prepareTemplates()
        var outcome = LoadOutcome(load: load, enteringSeconds: entered)
        meter.ask(.before)
        let begin = Self.now() + 10_000_000
        let warm = begin + UInt64(load.warmup * 1e9)
        let end = warm + UInt64(load.seconds * 1e9)
        measuresFrom = warm
        if load.stalling != nil { splitsAt = warm + (end - warm) / 3 }
        var schedule: Schedule
        switch load.pace {
        case .listed(let sends): schedule = Schedule(listed: sends)
        case .open, .window:
            schedule = Schedule(load.sources.map { .init(perSecond: max($0.perSecond, 0.001), bytes: $0.bytes) }, seed: load.seed)
        }
        var began: (at: UInt64, delivered: UInt64, sent: UInt64, processor: Double)?
        var nextTold = begin
        while true {
            let now = Self.now()
            guard now < end else { break }
            if began == nil, now >= warm {
                began = (now, tally.delivered, tally.sent, SystemProcess.processorSeconds())
                meter.ask(.begin)
            }
            if load.stalling != nil { turnOfStall(now, end: end) }
            if now >= nextTold {
                nextTold = now + 1_000_000_000
                progress(Double(now &- begin) / Double(end - begin))
                if load.stalling != nil { meter.ask(.during) }
            }
            let wait: UInt64
            if case .window(let messages, let bytes) = load.pace {
                sendWindow(min(messages, bytes / max(1, load.sources[0].bytes)))
                wait = 1_000_000
            } else {
                wait = min(send(&schedule, since: begin), end - min(end, Self.now()), 10_000_000)
            }
            poll(nanoseconds: wait)
        }
        meter.ask(.end)
        let ended = (at: Self.now(), delivered: tally.delivered, sent: tally.sent, processor: SystemProcess.processorSeconds())
        resumeReading()
        outcome.drainSeconds = drain()
        meter.ask(.after)
        meter.wait()
        let from = began ?? ended
        outcome.measuredSeconds = max(Double(ended.at - from.at) / 1e9, 1e-9)
        outcome.deliveredMeasured = ended.delivered - from.delivered
        outcome.sentMeasured = ended.sent - from.sent
        outcome.loadShare = (ended.processor - from.processor) / outcome.measuredSeconds
        outcome.latency = latency
        outcome.latencyAfter = latencyAfter
        outcome.lag = lag
        outcome.lagMax = lagMax
        outcome.tally = tally
        outcome.skipped = skipped
        outcome.refusals = refusals
        outcome.closes = closes
        outcome.closedReaders = closedReaders
        outcome.stall = stall
        outcome.samples = meter.samples
        return outcome
    }

    /// Until everything has come or been told, or nothing comes any more.
    ///
    /// - Returns: seconds.
    package mutating func drain() -> Double {
        let begin = Self.now()
        var progress = (at: begin, settled: tally.delivered + tally.reported)
        while Self.now() < begin + 30_000_000_000 {
            poll(nanoseconds: 20_000_000)
            let settled = tally.delivered + tally.reported
            if settled != progress.settled || !isStallOver { progress = (Self.now(), settled) }
            if isSettled, isStallOver { break }
            if Self.now() > progress.at + 3_000_000_000 { break }
        }
        let seconds = Double(Self.now() - begin) / 1e9
        // What should not come at all would come now.
        let last = Self.now() + 100_000_000
        while Self.now() < last { poll(nanoseconds: 20_000_000) }
        return seconds
    }

    /// Nothing is still to come for the users who are there.
    private var isSettled: Bool { (0..<tally.readers).allSatisfy { closedReaders.contains($0) || tally.unreported(by: $0) == 0 } }

    // MARK: - Waiting

    func rearm(_ index: Int) {
        guard !links[index].isStalled else { return }
        poller.change(links[index].socket.descriptor, token: UInt32(index), to: links[index].isBlocked ? [.reading, .writing] : [.reading])
    }

    /// Waits until something can be read or written, and does that.
    package mutating func poll(nanoseconds: UInt64) {
        for number in 0..<poller.wait(nanoseconds: nanoseconds) {
            let event = poller.event(number)
            let index = Int(event.token)
            if event.isWritable, !links[index].isClosed, links[index].isBlocked { flush(index) }
            if event.isReadable, !links[index].isClosed, !links[index].isStalled { read(index) }
        }
    }

    private mutating func read(_ index: Int) {
        let before = links[index].rest.count
        if before > 0 { buffer.copyBytes(from: links[index].rest) }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[before..<min(buffer.count, before + Self.readBytes)])
        switch links[index].socket.read(into: room) {
        case .wouldBlock: return
        case .end, .failed: return close(index)
        case .bytes(let count):
            readAt = Self.now()
            let all = UnsafeRawBufferPointer(rebasing: buffer[..<(before + count)])
            let used = receive(all, index)
            guard !links[index].isClosed else { return }
            if used < all.count {
                links[index].rest = Array(all[used...])
            } else if before > 0 {
                links[index].rest = []
            }
            if links[index].unwritten > 0, !links[index].isBlocked { flush(index) }
        }
    }

    /// The relay has ended it, or it broke.
    mutating func close(_ index: Int) {
        guard !links[index].isClosed else { return }
        poller.remove(links[index].socket.descriptor)
        links[index].socket.close(resets: true)
        let wasEntering = if case .entering = links[index].state { true } else { false }
        links[index].state = .closed(links[index].farewell)
        if wasEntering {
            failure = failure ?? "a connection ended while it came in (\(links[index].farewell.map { "\($0)" } ?? "no reason given"))"
        }
        if stall.isMeant(member: links[index].member) { return comeBack(index) }
        closes[links[index].farewell ?? 0, default: 0] += 1
        closedReaders.insert(links[index].member)
    }
}
