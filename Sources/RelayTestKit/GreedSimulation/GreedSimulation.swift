internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

/// A small lesson, and beside it two to four addresses whose clients do whatever is most expensive: what has made the relay work and
/// hold most so far, for each byte of it, is done more often.
///
/// The turns are those of the engine: connections are read, readers are written to, the disk takes what it can, and time passes. After
/// each call what the relay counts is held against what is seen from outside. Everything follows from the seed.
package final class GreedSimulation {
    package let seed: UInt64
    var random: SplitMix64
    let driver: HubDriver
    let configuration: Configuration
    var pupils: [Pupil] = []
    var greedy: [GreedyClient] = []
    var appetites: [GreedyClient.Kind: Appetite] = [:]
    /// Where the greedy ones come from: two to four, each of which has shares of its own, and who comes back may come from another.
    let greeds: [AddressKey]
    /// Whether the greedy ones are moderators, for whom places are kept.
    let isTrusted: Bool
    /// Of 100 turns, those in which the disk does something.
    private let diskTurns: Int
    /// Times that readers were written to.
    private(set) var turn = 0
    var lastUser = 0
    /// Several addresses together have taken all of a kind of memory, and the lesson was refused what needs some.
    var isCrowdedOut = false
    /// What was used of each kind at a time, at most, since the lesson was read to last.
    var usedMost = [Int](repeating: 0, count: 5)
    let trace: ((String) -> Void)?
    package internal(set) var done = Tally()

    package struct Tally: Sendable, Equatable {
        package var requests = 0
        package var held = 0
        package var refused = 0
        package var closed = 0
        package var answered = 0
        package var messages = 0
        package var packets = 0
        package var stored = 0
        /// Bytes of memory that were counted at a time, at most.
        package var counted = 0
        package init() {}

        package static func += (left: inout Tally, right: Tally) {
            for path in paths { left[keyPath: path] += right[keyPath: path] }
            left.counted = max(left.counted, right.counted)
        }

        private static var paths: [WritableKeyPath<Tally, Int>] {
            [\.requests, \.held, \.refused, \.closed, \.answered, \.messages, \.packets, \.stored]
        }

        package var counts: [Int] { Self.paths.map { self[keyPath: $0] } }
    }

    static let lesson = "lesson"
    static let topic = "points"

    package init(seed: UInt64, trace: ((String) -> Void)? = nil) {
        self.seed = seed
        self.trace = trace
        var random = SplitMix64(seed: seed)
        isTrusted = random.chance(1, in: 4)
        greeds = (0..<UInt32.random(in: 2...4, using: &random)).map { .ipv4(0xC000_0201 + $0) }
        diskTurns = [1, 30, 100].randomElement(using: &random)!
        configuration = Self.configuration(&random)
        driver = HubDriver(configuration: configuration, start: 1_000, access: TestAccess.rules)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        driver.offers = false
        self.random = random
    }

    /// Bounds that a run of a second can meet: those of 16 MiB of memory, and a quarter of a turn.
    private static func configuration(_ random: inout SplitMix64) -> Configuration {
        var configuration = Configuration(memory: 16 * 1024 * 1024)
        configuration.isJournaled = true
        // Of these a single frame is much of a sixteenth.
        configuration.heldBytesMax *= 4
        configuration.unjournaledBytesMax *= 4
        configuration.requestTurnBytes /= 4
        configuration.requestShareBytes /= 4
        configuration.requestBacklogBytes /= 16
        configuration.heldBytesPerConnection /= 4
        configuration.catchUpTurnBytes /= 4
        configuration.reliableBacklogBytesHard /= 32
        configuration.reliableBacklogBytesSoft /= 32
        configuration.queueBytesTotalMax /= 4
        configuration.pinnedBytesPerSessionMax /= 4
        configuration.historyBytesMax /= 8
        configuration.historyPageBytesMax /= 8
        configuration.limits.largeMessageBytesMax /= 8
        configuration.connectionsMax = 80
        configuration.sessionsMax = 100
        configuration.channelsMax = 300
        configuration.claimsMax = 400
        configuration.greetingsMax = 24
        configuration.addressPlacesMin = 4
        let isFast = random.chance(2, in: 3)
        configuration.limits.requestsPerSecond = isFast ? 20_000 : 200
        configuration.requestsBurst = isFast ? 20_000 : 400
        configuration.metadataCallsPerSecond = isFast ? 1_000 : 10
        configuration.metadataCallsBurst = isFast ? 1_000 : 20
        configuration.newIDsPerSecond = isFast ? 1_000 : 10
        return configuration
    }

    /// - Throws: the first broken promise, with the command that replays it.
    package func run(turns count: Int) throws {
        try promising {
            for _ in 0..<5 { comeToLesson() }
            for _ in 0..<10 { try oneRound() }
            // What a seed does most, besides what is most expensive.
            for kind in GreedyClient.Kind.allCases {
                appetites[kind] = Appetite(liking: random.chance(1, in: 3) ? 0 : Int.random(in: 1...10, using: &random))
            }
            for _ in 0..<4 { comeIn() }
            while turn < count, !isCrowdedOut {
                actGreedily()
                actInLesson()
                try oneRound()
            }
        }
    }

    /// The greedy ones stop, and everybody in the lesson gets what was promised; then all leave, and what was held comes back.
    package func settle() throws {
        try promising {
            guard !isCrowdedOut else { return try leave() }
            for client in greedy { client.link?.toRelay = [] }
            for _ in 0..<600 where !pupils.allSatisfy({ $0.isContent(beside: pupils) }) { try oneRound(disk: 100) }
            for pupil in pupils {
                try pupil.judge(beside: pupils)
                done.answered += pupil.answered
                done.messages += pupil.messages
                done.packets += pupil.packets
                done.stored += pupil.stored
            }
            try leave()
        }
    }

    func promising(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let broken as BrokenPromise {
            throw BrokenPromise(
                "seed \(seed), turn \(turn): \(broken.description)\nreplay: BOARDRELAY_GREED_SEED=\(seed) swift test --filter SimulationTests"
            )
        }
    }

    // MARK: - Turns

    var links: [GreedLink] { pupils.map(\.link) + greedy.compactMap(\.link) }

    /// Each connection is read, in any order, and then the disk and the clock go on.
    private func oneRound(disk: Int? = nil) throws {
        var read = 0
        for link in links.shuffled(using: &random) {
            var ofLink = 0
            while !link.toRelay.isEmpty, ofLink < 128 * 1024, isWritable(link) {
                let bytes = try send(link.toRelay.removeFirst(), over: link)
                (ofLink, read) = (ofLink + bytes, read + bytes)
                guard read >= 64 * 1024 else { continue }
                try flushAll()
                read = 0
            }
        }
        try flushAll()
        if Int.random(in: 0..<100, using: &random) < disk ?? diskTurns {
            driver.persist(disk == nil ? Int.random(in: 1...50, using: &random) : .max)
            driver.readFiles(now: true)
        }
        if random.chance(1, in: 4) { driver.advance(.milliseconds(Int.random(in: 1...100, using: &random))) }
        try readAll()
        try checkBounds()
        try checkShares()
        done.counted = max(done.counted, driver.hub.countedMemory)
    }

    func isWritable(_ link: GreedLink) -> Bool { driver.isOpen(link.id) && !driver.isClosing(link.id) && !driver.isPaused(link.id) }

    /// Readers are written to. [DL10]
    private func flushAll() throws {
        turn += 1
        for pupil in pupils { pupil.turn = turn }
        let takes = Dictionary(uniqueKeysWithValues: links.map { ($0.id, $0.takes) })
        driver.nextTurn { id in
            switch takes[id] ?? 0 {
            case 0: break
            case .max: _ = driver.flush(id)
            case let bytes: driver.take(id, bytes: bytes)
            }
        }
        trace?("turn \(turn): \(driver.hub.workCharged) charged, \(driver.hub.bytesHeld) wait")
        try checkBounds(flushed: true)
    }
}

/// A connection, and what is to go over it.
final class GreedLink {
    struct Piece {
        var kind: GreedyClient.Kind?
        var bytes: [UInt8]
        /// Of a frame that is answered in turn. [DL12]
        var bodyBytes: Int?
        /// It has been sent.
        var wasSent: (() -> Void)?

        init(_ frame: Frame, _ kind: GreedyClient.Kind? = nil) {
            (bytes, self.kind) = (frame.bytes, kind)
            bodyBytes = GreedLink.isRequest(frame) ? frame.body.count : nil
        }

        init(part bytes: [UInt8], _ kind: GreedyClient.Kind) { (self.bytes, self.kind) = (bytes, kind) }
    }

    let id: ConnectionID
    let address: AddressKey
    var toRelay: [Piece] = []
    /// What its reader takes of a turn, in bytes.
    var takes = Int.max

    init(_ id: ConnectionID, from address: AddressKey) { (self.id, self.address) = (id, address) }

    private static func isRequest(_ frame: Frame) -> Bool {
        switch FrameType(rawValue: frame.type) {
        case nil, .publish, .publishPacket, .publishChanges, .direct, .directReceived, .ping, .pong, .login, .logout: false
        default: true
        }
    }
}
