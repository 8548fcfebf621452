internal import RelayClientCore
internal import RelayCore
internal import RelayWire

/// Client machines and a relay over links that delay, cut, stall and break, on a clock that jumps; the relay is started
/// anew now and then, and everything that it knew is gone. What every app reads is held against what was accepted.
///
/// Like `Simulation`, everything follows from the seed.
package final class ClientSimulation {
    package let seed: UInt64
    var random: SeededGenerator
    private let configuration: Configuration
    private(set) var relay: HubDriver
    private var run = 0
    private(set) var clients: [SimulatedClient] = []
    private var weights: [Int] = []
    private var steps = 0
    /// No link can be made before.
    private var refusesUntil: UInt64 = 0
    private var lastPayload: UInt64 = 0
    private var lastOrder = 0
    private var messages: [MessageKey: AcceptedItem] = [:]
    private var packets: [PacketKey: AcceptedItem] = [:]
    /// How often each payload was accepted.
    private var acceptances: [UInt64: Int] = [:]
    /// Whose session each user's is.
    private var owners: [String: Int] = [:]
    package private(set) var done = Tally()

    /// What has happened, to see that a run was worth something.
    package struct Tally: Sendable, Equatable {
        package var messages = 0
        package var packets = 0
        package var resumptions = 0
        package var newSessions = 0
        package var restarts = 0
        package var messagesMissed = 0
        package var packetsLost = 0
        package var packetsDroppedOverRate = 0
        package var pauses = 0
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
            left.packetsLost += right.packetsLost
            left.packetsDroppedOverRate += right.packetsDroppedOverRate
            left.pauses += right.pauses
            left.takeovers += right.takeovers
            left.outcomesUnknown += right.outcomesUnknown
        }
    }

    private static let channels = ["lesson", "board"].map { try! Name($0) }
    private static let topics = ["points", "cursor"].map { try! Name($0) }

    /// Told what happens, line by line, when a seed is looked into.
    private let trace: ((String) -> Void)?

    package init(seed: UInt64, trace: ((String) -> Void)? = nil) {
        self.seed = seed
        self.trace = trace
        var random = SeededGenerator(seed: seed)
        var configuration = Configuration()
        configuration.packetBacklogBytesMax = Int.random(in: 2_000...20_000, using: &random)
        configuration.reliableBacklogBytesHard = Int.random(in: 30_000...100_000, using: &random)
        configuration.reliableBacklogBytesSoft = configuration.reliableBacklogBytesHard / 4
        configuration.chunkBytesMin = 512
        configuration.chunkBytesMax = 4096
        configuration.presenceIntervalAbove = Int.random(in: 3...60, using: &random)
        configuration.presenceIntervalBelow = configuration.presenceIntervalAbove - 1
        self.configuration = configuration
        relay = HubDriver(configuration: configuration, start: 1000)
        weights = Action.allCases.map { random.chance(1, in: 6) ? 0 : Int.random(in: 1...10, using: &random) * $0.usualWeight }
        self.random = random
        for index in 0..<Int.random(in: 2...6, using: &self.random) { addClient("user-\(index)") }
    }

    private func addClient(_ user: String) {
        var settings = ClientSettings(user: try! Name(user), instance: random.next(), seed: random.next())
        settings.presenceTimeout = .seconds(5)
        settings.connectTimeout = .seconds(3)
        settings.retriesFirstConnect = true
        settings.eventsCountMax = Int.random(in: 40...200, using: &random)
        settings.unsentCountMax = 300
        let client = SimulatedClient(index: clients.count, user: user, settings: settings)
        clients.append(client)
        client.machine.connect(token: client.token(.connect), at: moment)
    }

    private var now: UInt64 { relay.now.instant.nanoseconds }
    private var moment: Moment { Moment(nanoseconds: now) }

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
                "seed \(seed), step \(steps): \(broken.description)\nreplay: BOARDRELAY_CLIENT_SEED=\(seed) swift test --filter SimulationTests")
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

    private func step() throws {
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

    private func carryOut(_ action: Action, _ client: SimulatedClient) throws {
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
            ask(client, .subscribe(channel, features: features, quiet: false))
        case .unsubscribe: ask(client, .unsubscribe(channel))
        case .join: ask(client, .join(channel, features: [.presence], quiet: false, token: nil))
        case .leave: ask(client, .leave(channel))
        case .joinTopic: ask(client, .joinTopic(topic, TopicOptions(qos: .ordered, priority: .normal, meta: "", lifetimeMilliseconds: nil)))
        case .leaveTopic: ask(client, .leaveTopic(topic))
        case .selectTopic: ask(client, .subscribeTopic(topic, users: random.chance(1, in: 3) ? ["user-0", "user-1"] : nil))
        case .unselectTopic: ask(client, .unsubscribeTopic(topic, users: nil))
        case .states: ask(client, .setStates(ChannelID(kind: .message, channel: channel), ["tool": "\(Int.random(in: 0...3, using: &random))"]))
        case .question: ask(client, .who(ChannelID(kind: .message, channel: channel), after: nil, limit: nil))
        case .cut:
            cut(client)
            // Out of reach for a while: others go on.
            if random.chance(1, in: 2) { client.unreachableUntil = now + UInt64.random(in: 200...4_500, using: &random) * 1_000_000 }
        case .stall:
            client.link?.stall(until: now + UInt64.random(in: 50...6_000, using: &random) * 1_000_000, both: random.chance(1, in: 2), &random)
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

    // MARK: - Calls of the apps

    private func payload() -> Payload {
        lastPayload += 1
        var bytes: [UInt8] = []
        bytes.append(bigEndian: lastPayload)
        bytes.append(contentsOf: [UInt8](repeating: 7, count: Int.random(in: 0...200, using: &random)))
        return .bytes(bytes)
    }

    private func send(_ client: SimulatedClient, _ channel: Name) {
        let payload = payload()
        let token = client.token(.message(channel: channel.text, payload: payload.digest))
        do throws(RelayError) {
            try client.machine.send(payload, to: channel.text, customType: nil, echo: random.chance(1, in: 5), token: token, at: moment)
        } catch { client.takeBack(token) }
    }

    private func sendDirect(_ client: SimulatedClient) {
        let payload = payload()
        let token = client.token(.direct(payload: payload.digest))
        do throws(RelayError) {
            try client.machine.send(payload, toUser: clients.randomElement(using: &random)!.user, customType: nil, token: token, at: moment)
        } catch { client.takeBack(token) }
    }

    private func sendPacket(_ client: SimulatedClient, _ topic: TopicID) {
        do throws(RelayError) {
            try client.machine.sendPacket(
                payload(), topic, slot: random.chance(1, in: 3) ? 1 : nil, senderTime: nil, echo: random.chance(1, in: 5), at: moment)
        } catch { return }
    }

    private func ask(_ client: SimulatedClient, _ request: ClientRequest) {
        let token = client.token(.request(request))
        do throws(RelayError) { try client.machine.request(request, token: token, at: moment) } catch { client.takeBack(token) }
    }

    // MARK: - Time

    /// Lets time pass, event by event.
    private func pass(_ nanoseconds: UInt64) throws {
        let end = now + nanoseconds
        try exchange()
        while let next = nextEvent, next <= end {
            relay.advance(.nanoseconds(Int64(next > now ? next - now : 0)))
            try exchange()
        }
        relay.advance(.nanoseconds(Int64(end - min(end, now))))
        try exchange()
    }

    private var nextEvent: UInt64? {
        var next = relay.hub.nextDeadline?.nanoseconds
        func consider(_ moment: UInt64?) { if let moment { next = min(next ?? moment, moment) } }
        for client in clients {
            consider(client.machine.nextDeadline?.nanoseconds)
            consider(client.opening?.at)
            consider(client.link?.toRelay.next)
            consider(client.link?.toClient.next)
            if client.machine.hasEvents, client.readsFrom > now { consider(client.readsFrom) }
        }
        return next
    }

    /// Everything that can happen at this moment, until nothing does.
    private func exchange() throws {
        var rounds = 0
        var moved = true
        while moved {
            moved = false
            rounds += 1
            guard rounds < 10_000 else { throw BrokenPromise("something goes on for ever at one moment: \(clients.map { "\($0.user) \($0.machine.linkState) deadline \(($0.machine.nextDeadline?.nanoseconds).map { Int64($0) - Int64(now) } ?? -1) fired \($0.deadlinesFired)" })") }
            for client in clients {
                if let deadline = client.machine.nextDeadline, deadline <= moment {
                    client.machine.deadline(at: moment)
                    client.deadlinesFired += 1
                    moved = true
                }
                try carryOutEffects(client)
                if try openLink(client) { moved = true }
                if try moveBytes(client) { moved = true }
                try read(client)
            }
        }
    }

    private func carryOutEffects(_ client: SimulatedClient) throws {
        for effect in client.machine.takeEffects() {
            switch effect {
            case .openLink(let attempt): client.opening = (attempt, now + UInt64.random(in: 0...30_000_000, using: &random))
            case .closeLink(let attempt):
                if client.opening?.attempt == attempt { client.opening = nil }
                if client.link?.attempt == attempt { letGo(client) }
            case .completed(let token, let result): try completed(client, token, result)
            }
        }
    }

    // MARK: - Links

    private func openLink(_ client: SimulatedClient) throws -> Bool {
        guard let opening = client.opening, opening.at <= now else { return false }
        client.opening = nil
        guard now >= max(refusesUntil, client.unreachableUntil) else {
            client.machine.linkEnded(attempt: opening.attempt, text: "refused", at: moment)
            return true
        }
        let fastest = UInt64.random(in: 0...20_000_000, using: &random)
        client.link = SimulatedLink(
            attempt: opening.attempt, connection: relay.open(), window: Int.random(in: 500...20_000, using: &random),
            delayNanoseconds: fastest...(fastest + UInt64.random(in: 0...80_000_000, using: &random)))
        client.machine.linkOpened(attempt: opening.attempt, at: moment)
        return true
    }

    /// The link breaks: what is under way is lost both ways.
    private func cut(_ client: SimulatedClient) {
        guard let link = client.link else { return }
        client.link = nil
        relay.cut(link.connection)
        if !link.isLetGo { client.machine.linkEnded(attempt: link.attempt, text: "cut", at: moment) }
    }

    /// The client closes: what it has written still arrives, what the relay has written does not.
    private func letGo(_ client: SimulatedClient) {
        client.link!.isLetGo = true
        client.link!.toRelay.isEnded = true
        // It makes another link while this one drains: nobody waits for that.
        while let bytes = client.link!.toRelay.popDue(at: .max) { feed(client, bytes) }
        relay.cut(client.link!.connection)
        client.link = nil
    }

    private func moveBytes(_ client: SimulatedClient) throws -> Bool {
        guard var link = client.link else { return false }
        var moved = false
        // What the client's socket takes.
        let waiting = client.machine.gather()
        let room = link.window - link.toRelay.inFlight
        if !waiting.isEmpty, room > 0 {
            let count = min(room, waiting.count)
            let bytes = Array(waiting.prefix(count))
            link.toRelay.append(bytes, at: now + UInt64.random(in: link.delayNanoseconds, using: &random), &random)
            client.link = link
            client.machine.wrote(count, at: moment)
            moved = true
        }
        // What reaches the relay.
        while client.link?.attempt == link.attempt, let bytes = client.link!.toRelay.popDue(at: now) {
            feed(client, bytes)
            moved = true
        }
        // What the relay's socket takes.
        guard client.link != nil, relay.isOpen(link.connection) else { return moved }
        let space = client.link!.window - client.link!.toClient.inFlight
        if space > 0 {
            let bytes = relay.takeBytes(link.connection, limit: space)
            if !bytes.isEmpty {
                client.link!.toClient.append(bytes, at: now + UInt64.random(in: link.delayNanoseconds, using: &random), &random)
                moved = true
            } else if relay.isClosing(link.connection) {
                client.link!.toClient.isEnded = true
            }
        }
        // What reaches the client.
        while client.link?.attempt == link.attempt, let bytes = client.link!.toClient.popDue(at: now) {
            let before = (client.machine.linkState, client.machine.logins)
            bytes.withUnsafeBytes { client.machine.received($0, attempt: link.attempt, at: moment) }
            if client.machine.logins > before.1 { client.books.linked(run: run, order: client.orderAtLogin) }
            if case .paused = client.machine.linkState, before.0.isConnected { done.pauses += 1 }
            try carryOutEffects(client)
            moved = true
        }
        if let current = client.link, current.attempt == link.attempt, current.toClient.isEnded, current.toClient.isEmpty {
            client.link = nil
            relay.cut(link.connection)
            client.machine.linkEnded(attempt: link.attempt, text: "closed", at: moment)
            moved = true
        }
        return moved
    }

    private func restart() {
        done.restarts += 1
        for client in clients { cut(client) }
        run += 1
        // No two starts draw the same resume tokens.
        relay = HubDriver(configuration: configuration, start: 1000 + UInt32(run), now: relay.now, entropy: random.next())
        owners = [:]
        if random.chance(1, in: 2) { refusesUntil = now + UInt64.random(in: 0...3_000, using: &random) * 1_000_000 }
    }

    // MARK: - What the relay accepts

    /// Gives the relay bytes, one frame at a time, and writes down what it accepts and who must get it.
    private func feed(_ client: SimulatedClient, _ bytes: [UInt8]) {
        let connection = client.link!.connection
        for byte in bytes.indices {
            bytes[byte...byte].withUnsafeBytes { client.link!.frames.append($0) }
            guard let frame = try? client.link!.frames.next() else { continue }
            // The last byte of a frame: whatever comes before it changes nothing.
            lastFed.append(contentsOf: bytes[fedUpTo...byte])
            fedUpTo = byte + 1
            deliver(frame, client, connection)
        }
        if fedUpTo < bytes.count { relay.send(Array(bytes[fedUpTo...]), from: connection) }
        fedUpTo = 0
    }

    private var lastFed: [UInt8] = []
    private var fedUpTo = 0

    private func deliver(_ frame: Frame, _ client: SimulatedClient, _ connection: ConnectionID) {
        let bytes = lastFed
        lastFed = []
        guard relay.isOpen(connection), !relay.isClosing(connection) else { return }
        switch FrameType(rawValue: frame.type) {
        case .publish?:
            let (channel, payload) = frame.body.withUnsafeBytes { body in
                let publish = try! PublishFrame(flags: frame.flags, body: body)
                return (try! Name(bytes: publish.channel), digestOf(publish.payload))
            }
            let before = relay.hub.head(of: channel) ?? 0
            relay.send(bytes, from: connection)
            guard let head = relay.hub.head(of: channel), head > before else { return }
            done.messages += 1
            acceptances[payload, default: 0] += 1
            let key = MessageKey(channel: channel.text, epoch: relay.hub.epoch(of: channel)!, offset: head)
            messages[key] = accepted(client, payload)
            trace?("\(now / 1_000_000)   relay accepts \(key.channel) \(key.epoch.start).\(key.epoch.incarnation) \(key.offset) of \(client.user).\(client.index) for \(relay.hub.receivers(ofMessages: channel).sorted())")
            for user in relay.hub.receivers(ofMessages: channel) where user != client.user || frame.flags & FrameFlags.echo.rawValue != 0 {
                if let owner = owners[user], !clients[owner].machine.isClosed { clients[owner].books.expect(key) }
            }
        case .publishPacket?:
            let (flow, payload) = frame.body.withUnsafeBytes { body in
                let packet = try! PublishPacketFrame(flags: frame.flags, body: body)
                return (packet.flow, digestOf(packet.payload))
            }
            let before = relay.hub.sequence(ofFlow: flow)
            let receivers = relay.hub.receivers(ofFlow: flow)
            let topic = relay.hub.topic(ofFlow: flow).map { TopicID(channel: $0.channel, topic: $0.topic) }
            relay.send(bytes, from: connection)
            guard let before, let sequence = relay.hub.sequence(ofFlow: flow), sequence > before else { return }
            done.packets += 1
            let key = PacketKey(run: run, flow: flow, sequence: sequence)
            packets[key] = accepted(client, payload)
            trace?("\(now / 1_000_000)   relay accepts flow \(flow) \(sequence) of \(client.user).\(client.index) for \(receivers.sorted())")
            for user in receivers where user != client.user || frame.flags & FrameFlags.echo.rawValue != 0 {
                if let owner = owners[user], !clients[owner].machine.isClosed { clients[owner].books.expect(key, in: topic!) }
            }
        case .login?:
            let resumedBefore = relay.hub.census().counters.sessionsResumed
            relay.send(bytes, from: connection)
            let isResumed = relay.hub.census().counters.sessionsResumed > resumedBefore
            trace?("\(now / 1_000_000)   relay logs in \(client.user).\(client.index), resumed: \(isResumed)")
            if isResumed { done.resumptions += 1 } else { done.newSessions += 1 }
            owners[client.user] = client.index
            client.orderAtLogin = lastOrder
        default: relay.send(bytes, from: connection)
        }
    }

    private func accepted(_ client: SimulatedClient, _ payload: UInt64) -> AcceptedItem {
        lastOrder += 1
        return AcceptedItem(order: lastOrder, sender: client.user, payload: payload)
    }

    // MARK: - What the apps get

    private func read(_ client: SimulatedClient) throws {
        guard now >= client.readsFrom else { return }
        while let event = client.machine.nextEvent(at: moment) {
            trace?("\(now / 1_000_000)   \(client.user).\(client.index) reads \(event.brief)")
            try client.books.read(event, messages: messages, packets: packets)
            if case .refused(let refusal) = event, refusal.error.code == .rateLimited {
                throw BrokenPromise("[RT1] \(client.user) was refused \(refusal) in spite of its pacing")
            }
            if case .link(.closed) = event { client.books.excuseAll() }
        }
    }

    private func completed(_ client: SimulatedClient, _ token: ClientToken, _ result: Result<ClientAnswer, RelayError>) throws {
        guard let sent = client.waiting.removeValue(forKey: token) else {
            throw BrokenPromise("\(client.user): token \(token) completed twice, or never given")
        }
        if case .request(let request) = sent { trace?("\(now / 1_000_000)   \(client.user).\(client.index) \(request) \(result)") }
        switch (sent, result) {
        case (.message(_, let payload), .success(.offset(let offset))):
            guard messages.contains(where: { $0.value.payload == payload && $0.key.offset == offset }) else {
                throw BrokenPromise("[MS3] \(client.user) was told that a message has offset \(offset), which it has not")
            }
        case (.message(_, let payload), .failure(let error)):
            if error.code == .rateLimited, !isShared(client.user) {
                throw BrokenPromise("[RT1] a message of \(client.user) was refused in spite of its pacing: \(error)")
            }
            if error.code == .outcomeUnknown { done.outcomesUnknown += 1 }
            guard error.code == .outcomeUnknown || acceptances[payload] == nil else {
                throw BrokenPromise("[MS3] \(client.user) was told \(error) of a message that was accepted")
            }
        case (.request(let request), .success):
            settled(client, request)
            becomeSure(client, request, isSure: true)
        case (.request(let request), .failure(let error)):
            // Whatever it was about may or may not be so.
            if error.code == .outcomeUnknown || error.code == .clientClosed {
                settled(client, request)
                becomeSure(client, request, isSure: false)
            }
        case (.direct, .failure(let error)):
            if error.code == .rateLimited, !isShared(client.user) {
                throw BrokenPromise("[RT1] a direct message of \(client.user) was refused in spite of its pacing: \(error)")
            }
        case (.message, .success), (.direct, .success), (.connect, _), (.close, _): break
        }
        if let payload = sent.payload, acceptances[payload, default: 0] > 1 { throw BrokenPromise("[MS1] a message was accepted twice") }
    }

    /// Whether a user has had several clients: they share its rates and know nothing of each other.
    private func isShared(_ user: String) -> Bool { clients.count { $0.user == user } > 1 }

    private func becomeSure(_ client: SimulatedClient, _ request: ClientRequest, isSure: Bool) {
        switch request {
        case .subscribe(let channel, _, _), .unsubscribe(let channel):
            if isSure { return client.books.unsureChannels.subtract([channel.text]) }
            client.books.unsureChannels.insert(channel.text)
            client.books.excuse(channel: channel.text)
        case .subscribeTopic(let topic, _), .unsubscribeTopic(let topic, _):
            if isSure { return client.books.unsureTopics.subtract([topic]) }
            client.books.unsureTopics.insert(topic)
            client.books.excuseAllPackets()
        case .join(let channel, _, _, _), .leave(let channel):
            if isSure { return }
            client.books.unsureTopics.formUnion(Self.topics.map { TopicID(channel: channel, topic: $0) })
            client.books.excuseAllPackets()
        case .joinTopic, .leaveTopic, .subscribedUsers, .who, .whereIs, .setStates, .removeStates, .getStates, .writeMetadata, .removeMetadata,
            .getMetadata, .subscribeUserMetadata, .unsubscribeUserMetadata, .setLock, .acquireLock, .releaseLock, .revokeLock, .removeLock, .getLocks:
            break
        }
    }

    /// What the app now knows to be, or not to be, the case.
    private func settled(_ client: SimulatedClient, _ request: ClientRequest) {
        switch request {
        case .subscribe(let channel, let features, _):
            if !features.contains(.messages) { client.books.excuse(channel: channel.text) }
        case .unsubscribe(let channel): client.books.excuse(channel: channel.text)
        case .joinTopic(let topic, _): client.publishing.insert(topic)
        case .leaveTopic(let topic): client.publishing.remove(topic)
        case .leave(let channel):
            client.publishing = client.publishing.filter { $0.channel != channel }
            client.books.excuseAllPackets()
        case .unsubscribeTopic: client.books.excuseAllPackets()
        case .join, .subscribeTopic, .subscribedUsers, .who, .whereIs, .setStates, .removeStates, .getStates, .writeMetadata, .removeMetadata,
            .getMetadata, .subscribeUserMetadata, .unsubscribeUserMetadata, .setLock, .acquireLock, .releaseLock, .revokeLock, .removeLock, .getLocks:
            break
        }
    }

    // MARK: - Promises

    private func checkBounds() throws {
        for client in clients {
            let unsent = client.machine.unsent
            guard unsent.messages + unsent.packets <= 300 else { throw BrokenPromise("\(client.user) has \(unsent) unsent") }
            guard client.deadlinesFired <= 10_000 else { throw BrokenPromise("\(client.user) is woken without end") }
            client.deadlinesFired = 0
            if let deadline = client.machine.nextDeadline, deadline <= moment, client.readsFrom <= now {
                throw BrokenPromise("\(client.user) wants to be woken in the past")
            }
        }
    }

    /// Faults stop: all come back, everything drains, pictures agree; when all have closed nothing is left.
    private func settle() throws {
        refusesUntil = 0
        for client in clients {
            client.readsFrom = 0
            client.unreachableUntil = 0
            client.link?.toRelay.stalledUntil = 0
            client.link?.toClient.stalledUntil = 0
        }
        for _ in 0..<60 { try pass(1_000_000_000) }
        for client in clients {
            guard client.machine.isClosed || client.machine.linkState.isConnected else {
                throw BrokenPromise("\(client.user) has not come back: \(client.machine.linkState)")
            }
            guard client.machine.unsent == (0, 0, 0) else { throw BrokenPromise("\(client.user) still has \(client.machine.unsent) unsent") }
            guard client.waiting.isEmpty else { throw BrokenPromise("\(client.user) was never told about \(client.waiting)") }
            try client.books.checkDrained()
            if client.machine.linkState.isConnected { try checkPictures(client) }
            done.messagesMissed += client.books.messagesMissed
            done.packetsLost += client.books.packetsLost
            done.packetsDroppedOverRate += client.books.packetsDroppedOverRate
        }
        for client in clients where !client.machine.isClosed { client.machine.close(token: client.token(.close), at: moment) }
        for _ in 0..<30 { try pass(60_000_000_000) }
        let census = relay.hub.census()
        guard census.connections == 0, census.users == 0, census.channels.isEmpty, census.queueMemoryBytes == 0, census.deadlines == 0 else {
            throw BrokenPromise("left behind: \(census.connections) connections, \(census.users) users, \(census.channels.count) channels")
        }
    }

    /// What an app was told of presence is what the relay knows, for each channel it is in. [PR3–PR7]
    private func checkPictures(_ client: SimulatedClient) throws {
        for channel in client.machine.subscribedChannels where owners[client.user] == client.index {
            let truth = Dictionary(uniqueKeysWithValues: relay.hub.members(of: channel).map { ($0.user.text, $0.states) })
            guard client.books.pictures[channel] == truth else {
                throw BrokenPromise("[PR] \(client.user) believes \(client.books.pictures[channel] ?? [:]) to be in \(channel), it is \(truth)")
            }
        }
    }
}

extension RelayEvent {
    /// Without the bytes.
    fileprivate var brief: String {
        switch self {
        case .message(let message): "message \(message.channel) \(message.epoch?.start ?? 0).\(message.epoch?.incarnation ?? 0) \(message.offset) of \(message.sender)"
        case .packet(let packet): "packet flow \(packet.flow) \(packet.sequence) of \(packet.publisher)"
        case .presence(let change): "presence \(change.channel)"
        case .direct, .topics, .metadata, .locks, .packetsLost, .packetsDropped, .messagesMissed, .refused, .link: "\(self)"
        }
    }
}

extension SimulatedClient.Sent {
    fileprivate var payload: UInt64? {
        switch self {
        case .message(_, let payload), .direct(let payload): payload
        case .request, .connect, .close: nil
        }
    }
}
