internal import RelayClientCore
internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

/// Client machines and a relay over links that delay, cut, stall and break, on a clock that jumps; the relay is started
/// anew now and then, and everything that it knew is gone. What every app reads is held against what was accepted.
///
/// Like `Simulation`, everything follows from the seed.
package final class ClientSimulation {
    package let seed: UInt64
    var random: SplitMix64
    let configuration: Configuration
    var relay: HubDriver
    var run = 0
    var clients: [SimulatedClient] = []
    var weights: [Int] = []
    var steps = 0
    /// No link can be made before.
    var refusesUntil: UInt64 = 0
    var lastPayload: UInt64 = 0
    var lastOrder = 0
    var messages: [MessageKey: AcceptedItem] = [:]
    var packets: [PacketKey: AcceptedItem] = [:]
    /// Bytes of a frame that is being given to the relay, and how far they have been.
    var lastFed: [UInt8] = []
    var fedUpTo = 0
    /// How often each payload was accepted.
    var acceptances: [UInt64: Int] = [:]
    /// Whose session each user's is.
    var owners: [String: Int] = [:]
    package internal(set) var done = Tally()

    /// What has happened, to see that a run was worth something.
    package struct Tally: Sendable, Equatable {
        package var messages = 0
        package var packets = 0
        package var resumptions = 0
        package var newSessions = 0
        package var restarts = 0
        package var messagesMissed = 0
        package var messagesRecovered = 0
        package var catchUps = 0
        package var packetsLost = 0
        package var packetsDroppedOverRate = 0
        package var heldBack = 0
        package var takeovers = 0
        package var outcomesUnknown = 0
        package init() {}

        package static func += (left: inout Tally, right: Tally) {
            left.messages += right.messages
            left.packets += right.packets
            left.resumptions += right.resumptions
            left.newSessions += right.newSessions
            left.restarts += right.restarts
            left.messagesMissed += right.messagesMissed
            left.messagesRecovered += right.messagesRecovered
            left.catchUps += right.catchUps
            left.packetsLost += right.packetsLost
            left.packetsDroppedOverRate += right.packetsDroppedOverRate
            left.heldBack += right.heldBack
            left.takeovers += right.takeovers
            left.outcomesUnknown += right.outcomesUnknown
        }
    }

    /// About what is remembered of a client object's publishes.
    static let windowBytes = 1_000
    static let channels = ["lesson", "board"].map { try! Name($0) }
    static let topics = ["points", "cursor"].map { try! Name($0) }

    /// Told what happens, line by line, when a seed is looked into.
    let trace: ((String) -> Void)?

    package init(seed: UInt64, trace: ((String) -> Void)? = nil) {
        self.seed = seed
        self.trace = trace
        var random = SplitMix64(seed: seed)
        var configuration = Configuration()
        configuration.packetBacklogBytesMax = Int.random(in: 2_000...20_000, using: &random)
        configuration.reliableBacklogBytesHard = Int.random(in: 30_000...100_000, using: &random)
        configuration.reliableBacklogBytesSoft = configuration.reliableBacklogBytesHard / 4
        configuration.chunkBytesMin = 512
        configuration.chunkBytesMax = 4096
        configuration.presenceIntervalAbove = Int.random(in: 3...60, using: &random)
        configuration.presenceIntervalBelow = configuration.presenceIntervalAbove - 1
        configuration.historyMessagesMax = random.chance(1, in: 3) ? Int.random(in: 0...30, using: &random) : 1_000
        configuration.historyBytesMax = random.chance(1, in: 4) ? Int.random(in: 500...20_000, using: &random) : 8 * 1024 * 1024
        configuration.historyAge = .seconds(random.chance(1, in: 4) ? 5 : 600)
        configuration.catchUpQueueBytes = Int.random(in: 200...20_000, using: &random)
        configuration.catchUpBlockBytes = Int.random(in: 200...20_000, using: &random)
        // A relay that forgets clients whose session has ended.
        if random.chance(1, in: 4) { configuration.publishWindowBytesMax = Int.random(in: 0...2, using: &random) * Self.windowBytes }
        self.configuration = configuration
        relay = HubDriver(configuration: configuration, start: 1000)
        relay.mixesLinks = !Seeds.olderThanWebSockets.contains(seed)
        weights = Action.allCases.map { random.chance(1, in: 6) ? 0 : Int.random(in: 1...10, using: &random) * $0.usualWeight }
        self.random = random
        for index in 0..<Int.random(in: 2...6, using: &self.random) { addClient("user-\(index)") }
    }

    func addClient(_ user: String) {
        var settings = ClientSettings(user: try! Name(user), instance: random.next(), seed: random.next())
        settings.device = "00000000000000aa"
        settings.presenceTimeout = .seconds(5)
        settings.connectTimeout = .seconds(3)
        settings.unsentCountMax = 300
        let client = SimulatedClient(index: clients.count, user: user, settings: settings)
        client.holdsBackAt = Int.random(in: 4...60, using: &random)
        clients.append(client)
        client.machine.connect(token: client.token(.connect), at: moment)
    }

    var now: UInt64 { relay.now.instant.nanoseconds }
    var moment: Instant { Instant(nanoseconds: now) }

    /// - Throws: the first broken promise, with the command that replays it.
    package func run(steps count: Int) throws {
        do {
            while steps < count {
                steps += 1
                try step()
                try checkBounds()
            }
            try settle()
        } catch let broken as BrokenPromise {
            throw BrokenPromise(
                "seed \(seed), step \(steps): \(broken.description)\nreplay: BOARDRELAY_CLIENT_SEED=\(seed) swift test --filter SimulationTests"
            )
        }
    }

    // MARK: - Steps

    enum Action: CaseIterable {
        case wait, waitLong, message, burst, packets, direct, subscribe, unsubscribe, join, leave, joinTopic, leaveTopic, selectTopic,
            unselectTopic, states, question, cut, stall, refuse, restart, sleep, doze, wakeUp, takeOver, close

        var usualWeight: Int {
            switch self {
            case .wait: 60
            case .message, .packets: 24
            case .subscribe, .join, .joinTopic, .selectTopic: 12
            case .cut, .leaveTopic: 8
            case .burst, .direct, .states, .question, .stall: 5
            case .waitLong, .unsubscribe, .leave, .unselectTopic, .doze, .wakeUp: 2
            case .refuse, .restart, .sleep, .takeOver, .close: 1
            }
        }
    }

    func step() throws {
        var roll = Int.random(in: 0..<max(1, weights.reduce(0, +)), using: &random)
        var action = Action.wait
        for (index, weight) in weights.enumerated() {
            if roll < weight {
                action = Action.allCases[index]
                break
            }
            roll -= weight
        }
        let alive = clients.filter { !$0.machine.isClosed && !$0.isClosing }
        guard let client = alive.randomElement(using: &random) else {
            addClient("user-\(clients.count % 6)")
            return
        }
        try carryOut(action, client)
        try exchange()
    }

    func carryOut(_ action: Action, _ client: SimulatedClient) throws {
        trace?("\(now / 1_000_000) step \(steps) \(action) \(client.user).\(client.index)")
        let channel = Self.channels.randomElement(using: &random)!
        let topic = TopicID(channel: channel, topic: Self.topics.randomElement(using: &random)!)
        switch action {
        case .wait: try pass(UInt64.random(in: 1...300, using: &random) * 1_000_000)
        case .waitLong: try pass(UInt64.random(in: 1...9, using: &random) * 1_000_000_000)
        case .message: for _ in 0..<Int.random(in: 1...4, using: &random) { send(client, channel) }
        case .burst: for _ in 0..<Int.random(in: 20...100, using: &random) { send(client, channel) }
        case .packets:
            guard let topic = client.publishing.sorted().randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...40, using: &random) { sendPacket(client, topic) }
        case .direct: sendDirect(client)
        case .subscribe:
            let features: Set<Feature> = random.chance(1, in: 5) ? [.presence] : [.messages, .presence]
            ask(client, .subscribe(channel, features: features, quiet: false, since: random.chance(1, in: 4) ? .beginning : nil))
        case .unsubscribe: ask(client, .unsubscribe(channel))
        case .join: ask(client, .join(channel, features: [.presence], quiet: false, token: nil))
        case .leave: ask(client, .leave(channel))
        case .joinTopic: ask(client, .joinTopic(topic, TopicOptions(qos: .ordered, priority: .normal, meta: "", lifetimeMilliseconds: nil)))
        case .leaveTopic: ask(client, .leaveTopic(topic))
        case .selectTopic: ask(client, .subscribeTopic(topic, users: random.chance(1, in: 3) ? ["user-0", "user-1"] : nil))
        case .unselectTopic: ask(client, .unsubscribeTopic(topic, users: nil))
        case .states:
            ask(client, .setStates(ChannelID(kind: .message, channel: channel), ["tool": "\(Int.random(in: 0...3, using: &random))"]))
        case .question: ask(client, .who(ChannelID(kind: .message, channel: channel), after: nil, limit: nil))
        case .cut:
            cut(client)
            // Out of reach for a while: others go on.
            if random.chance(1, in: 2) {
                // Also until its session has ended.
                let most: UInt64 = random.chance(1, in: 8) ? 60_000 : 4_500
                client.unreachableUntil = now + UInt64.random(in: 200...most, using: &random) * 1_000_000
            }
        case .stall:
            client.link?.stall(
                until: now + UInt64.random(in: 50...6_000, using: &random) * 1_000_000, both: random.chance(1, in: 2), &random)
        case .refuse: refusesUntil = now + UInt64.random(in: 100...8_000, using: &random) * 1_000_000
        case .restart: restart()
        case .sleep: relay.sleep(.milliseconds(Int.random(in: 500...20_000, using: &random)))
        case .doze: client.readsFrom = now + UInt64.random(in: 500...8_000, using: &random) * 1_000_000
        case .wakeUp: client.machine.wakeUp(at: moment)
        case .takeOver:
            done.takeovers += 1
            addClient(client.user)
        case .close:
            client.isClosing = true
            client.machine.close(token: client.token(.close), at: moment)
        }
    }
}
