internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// What the greedy ones and those in the lesson do, and what of it reaches the relay.

extension GreedSimulation {
    // MARK: - In the lesson

    private func open(from address: AddressKey) -> GreedLink { GreedLink(driver.open(from: address), from: address) }

    func comeToLesson() {
        let pupil = Pupil(pupils.count, open(from: .ipv4(0x0A00_0000 + UInt32(pupils.count))))
        pupils.append(pupil)
        pupil.turn = turn
        pupil.logIn()
    }

    func actInLesson() {
        if pupils.count < 8, random.chance(1, in: 100) { comeToLesson() }
        for pupil in pupils { pupil.act(&random) }
    }

    // MARK: - Greed

    /// One kind of thing, some times.
    func actGreedily() {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let kind = chooseKind(), times = [1, 4, 16, 64].randomElement(using: &random)!
            for _ in 0..<(isOnce(kind) ? 1 : times) { act(kind) }
        }
    }

    private func isOnce(_ kind: GreedyClient.Kind) -> Bool { [.cut, .comeBack, .comeIn, .knock, .logOut, .readLess].contains(kind) }

    private func chooseKind() -> GreedyClient.Kind {
        let measure: KeyPath<Appetite, Int> = [\.liking, \.effort, \.weight].randomElement(using: &random)!
        let weights = GreedyClient.Kind.allCases.map { appetites[$0]![keyPath: measure] }
        var rest = Int.random(in: 0..<max(1, weights.reduce(0, +)), using: &random)
        for (kind, weight) in zip(GreedyClient.Kind.allCases, weights) {
            rest -= weight
            if rest < 0 { return kind }
        }
        return .comeIn
    }

    private func act(_ kind: GreedyClient.Kind) {
        switch kind {
        case .comeIn: return comeIn()
        case .knock: return knock()
        default: break
        }
        if kind == .comeBack, let client = greedy.filter({ $0.link == nil }).randomElement(using: &random) {
            return comeIn(client)
        }
        guard let client = greedy.filter({ $0.isIn }).randomElement(using: &random), let link = client.link else { return comeIn() }
        switch kind {
        case .cut, .comeBack:
            driver.cut(link.id)
            (client.link, client.isIn) = (nil, false)
            if kind == .comeBack { comeIn(client) }
        case .logOut: link.toRelay.append(.init(.json(.logout, EmptyRequest(id: 4_000_000_000)), kind))
        case .readLess: link.takes = [0, 0, 500, 20_000, .max].randomElement(using: &random)!
        case .partial:
            let frame = Frame.publish(number: 1, channel: "lesson", payload: [UInt8](repeating: 0, count: 32_000)).bytes
            link.toRelay.append(.init(part: Array(frame.prefix(Int.random(in: 6...30_000, using: &random))), kind))
            client.isIn = false
        default:
            guard link.toRelay.count < 200, let frame = client.frame(kind, &random) else { return }
            link.toRelay.append(.init(frame, kind))
        }
    }

    func comeIn(_ known: GreedyClient? = nil) {
        var client = known
        if client == nil {
            guard greedy.count < 40 else { return }
            lastUser += 1
            client = GreedyClient(GreedyClient.long("greedy-\(lastUser)"))
            greedy.append(client!)
        }
        client!.link = open(from: greeds.randomElement(using: &random)!)
        client!.link!.toRelay.append(.init(client!.login(isTrusted: isTrusted), .comeIn))
    }

    /// A connection that says nothing, or little.
    private func knock() {
        guard greedy.count < 60 else { return }
        let client = GreedyClient(GreedyClient.long("nobody"))
        client.link = open(from: greeds.randomElement(using: &random)!)
        client.link!.toRelay.append(.init(part: [0, 0, 0x3F, 0xFF], .knock))
        greedy.append(client)
    }

    // MARK: - To the relay, and back

    /// Sends what comes next over a link, and holds what it has cost against what is charged for it.
    ///
    /// - Returns: bytes.
    func send(_ piece: GreedLink.Piece, over link: GreedLink) throws -> Int {
        let (charged, counted, held) = (driver.hub.workCharged, driver.hub.countedMemory, driver.hub.isHeld(link.id))
        let isRefused = mustBeRefused(link)
        let others = piece.bodyBytes == nil || random.chance(1, in: 16) ? links.map { ($0.id, driver.hub.reliableBytes(of: $0.id)) } : []
        let queued = driver.hub.reliableBytes(of: link.id)
        driver.send(piece.bytes, from: link.id)
        piece.wasSent?()
        let work = driver.hub.workCharged - charged
        let what = piece.kind.map { "\($0)" } ?? "lesson"
        trace?("\(turn) \(what) \(piece.bytes.count) bytes: work \(work), memory \(driver.hub.countedMemory - counted)")
        if let kind = piece.kind {
            let told = piece.bodyBytes == nil ? others.reduce(0) { $0 + max(0, driver.hub.reliableBytes(of: $1.0) - $1.1) } : 0
            appetites[kind]?.learn(bytes: piece.bytes.count, work: work + told, memory: driver.hub.countedMemory - counted)
            done.requests += 1
        }
        if driver.hub.isHeld(link.id) {
            done.held += held ? 0 : 1
        } else if let bodyBytes = piece.bodyBytes, !held, !isRefused, isWritable(link) {
            let answered = driver.hub.reliableBytes(of: link.id) - queued
            let reached = others.count { $0.0 != link.id && driver.hub.reliableBytes(of: $0.0) > $0.1 }
            let least = bodyBytes * 16 + answered + reached * 64
            guard work >= least else {
                throw BrokenPromise(
                    "[DL12] a request of \(bodyBytes) bytes, \(what), was charged \(work) bytes: it was answered with \(answered) and "
                        + "reached \(reached) others")
            }
        }
        try checkBounds()
        return piece.bytes.count
    }

    /// Whether so much waits that a request which had to is refused in its place. [DL12]
    private func mustBeRefused(_ link: GreedLink) -> Bool {
        let held = driver.hub.memoryHeld(by: link.address)[1]
        return held.used >= held.max || held.used >= held.max / 4 * 3 && held.ofAddress >= held.max / 4
    }

    /// Two addresses together may take all of a kind: one what leaves a quarter, and another one that. The lesson is refused what needs
    /// some of it then, and told how much there is. [DL12, SG3, SE15]
    private func isPromised(_ refusal: ErrorBody) -> Bool {
        zip(driver.hub.memoryHeld(by: greeds[0]), usedMost).contains { held, used in
            let code: ErrorCode? =
                switch held.what {
                case "frames that wait", "changes that wait for the disk": .busy
                case "sessions": .relayFull
                default: nil
                }
            let max = UInt64(held.max)
            return refusal.code == code && refusal.limit == max && refusal.actual ?? 0 > max && used > held.max / 16 * 15
        }
    }

    func readAll() throws {
        // In a round each address comes once, pupils' and greedy ones'.
        let patience =
            4 + 2 * (pupils.count + greeds.count) + 2 * greeds.count * (driver.hub.workDearest / configuration.requestTurnBytes)
        for pupil in pupils {
            do {
                try pupil.read(driver.received(pupil.link.id, all: false), patience: patience, beside: pupils)
            } catch let refusal as ErrorBody {
                guard isPromised(refusal) else {
                    throw BrokenPromise("[DL12, SE5, SE15] \(pupil.user) was refused: \(refusal.name), \(refusal.text)")
                }
                isCrowdedOut = true
            }
        }
        usedMost = usedMost.map { _ in 0 }
        for client in greedy {
            guard let link = client.link else { continue }
            let wasIn = client.isIn
            done.refused += client.read(driver.received(link.id, all: false))
            if client.isIn, !wasIn { begin(client, link) }
            guard driver.isClosing(link.id) || !driver.isOpen(link.id) else { continue }
            done.closed += 1
            driver.cut(link.id)
            (client.link, client.isIn) = (nil, false)
        }
        greedy.removeAll { $0.link == nil && $0.token == nil }
    }

    /// Half of them hear all that is said among them, and some never read again.
    private func begin(_ client: GreedyClient, _ link: GreedLink) {
        if random.chance(1, in: 2) { link.toRelay.append(.init(client.hearing, .subscribe)) }
        if random.chance(1, in: 3) { link.takes = [0, 0, 500].randomElement(using: &random)! }
    }
}
