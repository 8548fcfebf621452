internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

/// A hub and many clients over links that stall, trickle and break, on a clock that jumps; after each step the
/// promises of docs/protocol.md are held against books of its own.
///
/// Everything follows from the seed: what happens, to whom, how often which kind of thing happens (swarm testing:
/// each seed draws its own weights, some of them zero), and how small the bounds are.
package final class Simulation {
    package let seed: UInt64
    var random: SplitMix64
    let configuration: Configuration
    let driver: HubDriver
    var clients: [ModelClient] = []
    private var weights: [Int] = []
    private var lastInstance: UInt64 = 0
    /// What readers say that they take; apart, so that older seeds do what they did.
    var limitDice: SplitMix64
    package private(set) var steps = 0
    /// What has happened, to see that a run was worth something.
    package internal(set) var done = Tally()

    package struct Tally: Sendable, Equatable {
        package var messages = 0
        package var packets = 0
        package var packetsLost = 0
        package var resumes = 0
        package var timeouts = 0
        package var slowConsumers = 0
        package var limitsSet = 0
        /// Packets that readers with limits did not get for them.
        package var overLimit = 0
        package init() {}
    }

    static let channels = ["lesson", "board", "x"].map { try! Name($0) }
    static let topics = ["points", "cursor"].map { try! Name($0) }

    package init(seed: UInt64, clients count: Int? = nil) {
        self.seed = seed
        limitDice = SplitMix64(seed: ~seed)
        var random = SplitMix64(seed: seed)
        configuration = Self.configuration(&random)
        driver = HubDriver(configuration: configuration, start: 1000)
        driver.mixesLinks = !Seeds.olderThanWebSockets.contains(seed)
        let users = count ?? Int.random(in: 2...9, using: &random)
        // Every third client is another device of the user before it.
        let hasDevices = !Seeds.olderThanDevices.contains(seed) && seed % 2 == 0
        for index in 0..<users {
            let user = hasDevices && index % 3 == 2 ? index - 1 : index
            clients.append(ModelClient(user: "user-\(user)", device: index + 1, instance: UInt64(index + 1)))
        }
        lastInstance = UInt64(users)
        weights = Action.allCases.map { action in
            random.chance(1, in: 6) ? 0 : Int.random(in: 1...10, using: &random) * action.usualWeight
        }
        self.random = random
    }

    /// Bounds small enough to be met.
    private static func configuration(_ random: inout SplitMix64) -> Configuration {
        var configuration = Configuration()
        configuration.packetBacklogBytesMax = Int.random(in: 500...6000, using: &random)
        configuration.reliableBacklogBytesHard = Int.random(in: 4_000...40_000, using: &random)
        configuration.reliableBacklogBytesSoft = configuration.reliableBacklogBytesHard / 4
        configuration.chunkBytesMin = 512
        configuration.chunkBytesMax = 4096
        configuration.pinnedBytesPerSessionMax = 8192
        configuration.queueBytesTotalMax = random.chance(1, in: 4) ? 120_000 : 1_000_000
        configuration.presenceIntervalAbove = Int.random(in: 3...6, using: &random)
        configuration.presenceIntervalBelow = configuration.presenceIntervalAbove - 1
        return configuration
    }

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
                "seed \(seed), step \(steps): \(broken.description)\nreplay: BOARDRELAY_SEED=\(seed) swift test --filter SimulationTests")
        }
    }

    // MARK: - Steps

    enum Action: CaseIterable {
        case connect, cut, stall, unstall, trickle, drain, subscribe, unsubscribe, join, leave, joinTopic, leaveTopic, selectTopic,
            unselectTopic, publish, packets, states, logout, wait, waitLong

        var usualWeight: Int {
            switch self {
            case .publish, .packets, .drain, .connect: 6
            case .subscribe, .join, .joinTopic, .selectTopic, .trickle, .wait: 3
            default: 1
            }
        }
    }

    private func step() throws {
        var roll = Int.random(in: 0..<max(1, weights.reduce(0, +)), using: &random)
        var action = Action.drain
        for (index, weight) in weights.enumerated() {
            if roll < weight {
                action = Action.allCases[index]
                break
            }
            roll -= weight
        }
        let client = clients[Int.random(in: 0..<clients.count, using: &random)]
        try carryOut(action, client)
        if client.isLive, !Seeds.olderThanReaderLimits.contains(seed), limitDice.chance(1, in: 60) { limit(client) }
        try noticeEnds()
    }

    private func carryOut(_ action: Action, _ client: ModelClient) throws {
        switch action {
        case .connect: if client.connection == nil { connect(client) }
        case .cut:
            if let connection = client.connection {
                driver.cut(connection)
                client.connectionEnded()
            }
        case .stall: client.isStalled = true
        case .unstall: client.isStalled = false
        case .trickle: try take(client, bytes: Int.random(in: 1...3000, using: &random))
        case .drain: for client in clients where !client.isStalled { try take(client, bytes: .max) }
        case .wait: driver.advance(.milliseconds(Int.random(in: 1...700, using: &random)))
        case .waitLong:
            driver.advance(.seconds(Int.random(in: 1...12, using: &random)))
        default: if client.isLive { act(action, client) }
        }
    }

    private func act(_ action: Action, _ client: ModelClient) {
        let channel = Self.channels[Int.random(in: 0..<Self.channels.count, using: &random)]
        let topic = Self.topics[Int.random(in: 0..<Self.topics.count, using: &random)]
        let message = ChannelID(kind: .message, channel: channel)
        let stream = ChannelID(kind: .stream, channel: channel)
        switch action {
        case .subscribe:
            let messages = !random.chance(1, in: 5)
            enter(client, message, messages: messages) { id in
                SubscribeRequest(id: id, channel: channel, features: messages ? ["messages", "presence"] : ["presence"])
            }
        case .join: enter(client, stream, messages: false) { JoinRequest(id: $0, channel: channel) }
        case .unsubscribe: leave(client, message)
        case .leave: leave(client, stream)
        case .joinTopic:
            request(
                client, .joinTopic,
                JoinTopicRequest(
                    id: client.requestID + 1, channel: channel, topic: topic,
                    priority: TopicPriority.allCases.randomElement(using: &random),
                    lifetimeMs: random.chance(1, in: 3) ? 200 : nil)
            ) { client, body in
                client.publishing[TopicKey(channel: channel, topic: topic)] = TestClient.decode(JoinTopicAnswer.self, body).flow
            }
        case .leaveTopic:
            client.publishing[TopicKey(channel: channel, topic: topic)] = nil
            request(client, .leaveTopic, TopicRequest(id: client.requestID + 1, channel: channel, topic: topic))
        case .selectTopic:
            let users = random.chance(1, in: 3) ? [clients[Int.random(in: 0..<clients.count, using: &random)].user] : nil
            request(client, .subscribeTopic, TopicUsersRequest(id: client.requestID + 1, channel: channel, topic: topic, users: users))
        case .unselectTopic:
            request(client, .unsubscribeTopic, TopicUsersRequest(id: client.requestID + 1, channel: channel, topic: topic))
        case .publish:
            for _ in 0..<Int.random(in: 1...4, using: &random) { publish(client, channel) }
        case .packets:
            let flows = client.publishing.sorted { $0.key < $1.key }.map(\.value)
            guard let flow = flows.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...30, using: &random) { packet(client, flow) }
        case .states:
            let id = random.chance(1, in: 2) ? message : stream
            request(
                client, .setStates,
                SetStatesRequest(
                    id: client.requestID + 1, kind: id.kind, channel: channel, states: ["tool": "\(Int.random(in: 0...3, using: &random))"])
            )
        case .logout:
            request(client, .logout, EmptyRequest(id: client.requestID + 1))
            client.sessionEnded()
        case .connect, .cut, .stall, .unstall, .trickle, .drain, .wait, .waitLong:
            preconditionFailure("\(action) needs no session")
        }
    }

    private func connect(_ client: ModelClient) {
        let connection = driver.open()
        client.connection = connection
        client.requestID = 1
        if client.resumeToken == nil || random.chance(1, in: 8) {
            lastInstance += 1
            client.instance = lastInstance
            client.number = 0
            client.resumeToken = nil
        }
        let digits = String(client.instance, radix: 16)
        let limits = Seeds.olderThanReaderLimits.contains(seed) ? nil : limitsAtLogin()
        driver.send(
            .json(
                .login,
                LoginRequest(
                    id: 1, user: try! Name(client.user), instance: String(repeating: "0", count: 16 - digits.count) + digits,
                    device: client.device, presenceTimeoutMs: 5000, readerLimits: limits,
                    resume: client.resumeToken.map { ResumeRequest(token: $0) })), from: connection)
        // The first frame is small and must be whole at once.
        driver.take(connection)
        var frames = driver.received(connection, all: false)
        guard let first = frames.first, first.type == FrameType.welcome.rawValue else { return }
        frames.removeFirst()
        let welcome = TestClient.decode(Welcome.self, first.body)
        if welcome.resumed { done.resumes += 1 } else { client.sessionEnded() }
        client.resumeToken = welcome.resumeToken
        client.handle = welcome.handle
        client.isLive = true
        if let limits { takesOnly(client, limits) }
        for frame in frames { try! client.receive(frame) }
    }

    // MARK: - Requests, with the books kept

    func request(
        _ client: ModelClient, _ type: FrameType, _ body: some JSONObject, then: ((ModelClient, [UInt8]) -> Void)? = nil
    ) {
        client.requestID += 1
        if let then { client.pendingRequests[client.requestID] = then }
        driver.send(.json(type, body), from: client.connection!)
    }

    private func enter(_ client: ModelClient, _ id: ChannelID, messages: Bool, _ body: (UInt32) -> some JSONObject) {
        var subscription = client.subscriptions[id] ?? ModelClient.Subscription(messages: messages, presence: true)
        subscription.messages = messages
        subscription.isSnapshotTaken = false
        client.subscriptions[id] = subscription
        request(client, id.kind == .message ? .subscribe : .join, body(client.requestID + 1)) { client, body in
            let handle = TestClient.decode(SubscribeAnswer.self, body).handle
            client.subscriptions[id]?.handle = handle
            client.channelsByHandle[handle] = id
        }
    }

    private func leave(_ client: ModelClient, _ id: ChannelID) {
        client.subscriptions[id] = nil
        client.publishing = client.publishing.filter { id.kind == .message || $0.key.channel != id.channel }
        request(client, id.kind == .message ? .unsubscribe : .leave, ChannelRequest(id: client.requestID + 1, channel: id.channel))
    }

    private func publish(_ client: ModelClient, _ channel: Name) {
        guard client.connection != nil, driver.isOpen(client.connection!), !driver.isClosing(client.connection!) else { return }
        let payload = bytes(upTo: 900)
        let echo = random.chance(1, in: 5)
        let before = driver.hub.head(of: channel) ?? 0
        client.number += 1
        // Receivers as they are now: closing one in this very call takes it out.
        let receivers = clients.filter { other in
            guard let subscription = other.subscriptions[ChannelID(kind: .message, channel: channel)], subscription.messages, other.isLive
            else {
                return false
            }
            return other !== client || echo
        }
        let frame = Frame.publish(number: client.number, channel: channel.text, flags: echo ? .echo : [], payload: payload)
        driver.send(extended(frame, payload), from: client.connection!)
        let head = driver.hub.head(of: channel) ?? 0
        guard head > before else { return }
        done.messages += 1
        let digest = payload.withUnsafeBytes(digestOf)
        let handle = driver.hub.handle(of: ChannelID(kind: .message, channel: channel))!
        for receiver in receivers { receiver.expect(.message(channel: handle, offset: head, payload: digest), of: client.sender) }
    }

    private func packet(_ client: ModelClient, _ flow: UInt32) {
        guard driver.isOpen(client.connection!), !driver.isClosing(client.connection!) else { return }
        let payload = bytes(upTo: 120)
        let echo = random.chance(1, in: 6)
        guard let before = driver.hub.sequence(ofFlow: flow) else { return }
        let receivers = Set(driver.hub.receiverHandles(ofFlow: flow))
        let frame = Frame.publishPacket(
            flow: flow, slot: random.chance(1, in: 3) ? UInt32.random(in: 1...2, using: &random) : nil, flags: echo ? .echo : [],
            payload: payload)
        driver.send(extended(frame, payload), from: client.connection!)
        guard let sequence = driver.hub.sequence(ofFlow: flow), sequence > before else { return }
        done.packets += 1
        let digest = payload.withUnsafeBytes(digestOf)
        for other in clients where other.isLive && receivers.contains(other.handle) && (other !== client || echo) {
            other.expect(.packet(flow: flow, sequence: sequence, payload: digest), of: client.sender)
        }
    }

    /// In front of every fourth stands something that the relay does not know, and hands on. [FR9]
    private func extended(_ frame: Frame, _ payload: [UInt8]) -> Frame {
        guard let entry = ModelClient.extensions(of: payload.count, first: payload.first) else { return frame }
        return frame.extended(by: entry)
    }

    private func bytes(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    // MARK: - Links

    private func take(_ client: ModelClient, bytes: Int) throws {
        guard let connection = client.connection, driver.isOpen(connection) else { return }
        driver.take(connection, bytes: bytes)
        let left = driver.hub.load(of: connection)?.reliable ?? 0
        _ = client.noteBacklog(left, of: configuration.reliableBacklogBytesSoft, at: driver.now.instant)
        for frame in driver.received(connection, all: false) {
            // What is told in a farewell ends the books: what was not sent by then died with the queue.
            if frame.type == FrameType.closing.rawValue { return }
            try client.receive(frame)
            if frame.type == FrameType.ping.rawValue { driver.send(Frame(.pong), from: connection) }
        }
        try client.checkLimits(at: driver.now.instant)
        // All that was let go has come: what comes next is let go from now on.
        if bytes == .max { client.taking?.begin(at: driver.now.instant) }
    }

    /// Connections that the hub has closed.
    private func noticeEnds() throws {
        for client in clients {
            guard let connection = client.connection, driver.isClosing(connection) else { continue }
            driver.take(connection)
            for frame in driver.received(connection, all: false) where frame.type == FrameType.closing.rawValue {
                let code = TestClient.decode(CloseNotice.self, frame.body).code
                if code == .slowConsumer { done.slowConsumers += 1 }
                if code == .heartbeatTimeout { done.timeouts += 1 }
            }
            driver.cut(connection)
            client.connectionEnded()
        }
    }

    // MARK: - Promises

    /// Every queue within its bounds, after every step. [DL4, DL8, DL9]
    private func checkBounds() throws {
        let (memory, recounted) = (driver.hub.sessionMemory, driver.hub.recountedMemory())
        guard memory == recounted else { throw BrokenPromise("[SE15] \(memory) bytes are counted, sessions hold \(recounted)") }
        // One frame may stand above a bound until the call that brought it ends; none does here.
        for client in clients {
            guard let connection = client.connection, !driver.isClosing(connection), let load = driver.hub.load(of: connection) else {
                continue
            }
            guard load.packets <= configuration.packetBacklogBytesMax else {
                throw BrokenPromise(
                    "[DL4] \(load.packets) bytes of packets wait for \(client.user), at most \(configuration.packetBacklogBytesMax) may")
            }
            guard load.reliable <= configuration.reliableBacklogBytesHard else {
                throw BrokenPromise("[DL8] \(load.reliable) reliable bytes wait for \(client.user)")
            }
            let since = client.noteBacklog(load.reliable, of: configuration.reliableBacklogBytesSoft, at: driver.now.instant)
            guard driver.now.instant - since <= configuration.slowConsumerAfter else {
                throw BrokenPromise("[DL8] \(load.reliable) reliable bytes wait for \(client.user) since \(driver.now.instant - since)")
            }
            guard load.shared <= configuration.pinnedBytesPerSessionMax else {
                throw BrokenPromise("[DL9] \(client.user) pins \(load.shared) bytes of shared memory")
            }
        }
        guard driver.hub.queueMemoryBytes <= configuration.queueBytesTotalMax else {
            throw BrokenPromise("[DL9] queues hold \(driver.hub.queueMemoryBytes) bytes")
        }
    }

    /// Faults stop: everything drains, pictures agree, and when all have gone nothing is left.
    private func settle() throws {
        for client in clients { client.isStalled = false }
        for _ in 0..<8 {
            for client in clients { try take(client, bytes: .max) }
            driver.advance(.milliseconds(1500))
            try noticeEnds()
        }
        for client in clients { try take(client, bytes: .max) }
        for client in clients where client.connection != nil {
            try client.checkDrained()
            done.packetsLost += client.packetsLost
            done.overLimit += client.overLimit
            try checkPicture(client)
        }
        for client in clients {
            if let connection = client.connection { driver.cut(connection) }
            client.connectionEnded()
        }
        driver.advance(.seconds(1300))
        let census = driver.hub.census()
        guard census.connections == 0, census.users == 0, census.channels.isEmpty, census.queueMemoryBytes == 0, census.deadlines == 0,
            census.sessionMemoryBytes == 0, census.unfinishedBytes == 0, census.heldBytes == 0
        else {
            throw BrokenPromise(
                "left behind: \(census.connections) connections, \(census.users) users, \(census.channels.count) channels, "
                    + "\(census.queueMemoryBytes) bytes, \(census.deadlines) deadlines, "
                    + "\(census.sessionMemoryBytes + census.unfinishedBytes + census.heldBytes) bytes of sessions and frames")
        }
    }

    /// What a client was told of presence is what the hub knows. [PR3–PR7]
    private func checkPicture(_ client: ModelClient) throws {
        for (id, subscription) in client.subscriptions.sorted(by: { $0.key < $1.key }) where subscription.isSnapshotTaken {
            let members = driver.hub.members(of: id)
            let truth = Dictionary(uniqueKeysWithValues: members.map { ($0.user, $0.states) })
            guard truth == subscription.picture else {
                throw BrokenPromise("[PR] \(client.user) believes \(subscription.picture) to be in \(id), it is \(truth)")
            }
        }
    }
}
