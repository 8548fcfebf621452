internal import RelayClientCore
internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

/// Apps that draw on one board through client machines, over links that are cut at any byte, on a relay whose disk fails and
/// which dies and starts again with what its disk has kept. In the end every app shows the same board: what was stored, and
/// nothing that was removed.
///
/// Everything follows from the seed.
package final class BoardSimulation {
    package let seed: UInt64
    var random: SplitMix64
    var relay: HubDriver
    var run = 0
    var apps: [BoardApp] = []
    private(set) var steps = 0
    private var lastPayload: UInt64 = 0
    let trace: ((String) -> Void)?
    var diskFailsUntil: UInt64 = 0
    /// Whether readers may have to begin anew: the relay has died, or its disk has failed.
    private(set) var mayReset = false
    package internal(set) var done = Tally()

    /// What was stored, by offset: the truth.
    enum Fact { case record(key: String, payload: UInt64?, by: BoardApp), clear, undo(records: UInt64) }
    private(set) var facts: [UInt64: Fact] = [:]
    /// Unretained messages by epoch and offset, with who sent it.
    private(set) var plain: [(app: BoardApp, offset: UInt64, epoch: Epoch, order: Int)] = []
    private var payloads: Set<UInt64> = []
    /// Who has tried to write which key: only what another one has written may be refused. [BL10]
    private var writers: [String: Set<String>] = [:]
    /// Whether apps want a key of this relay, of an editor or a moderator.
    let hasRoles: Bool
    private var roleDice: SplitMix64
    private var changeDice: SplitMix64
    var moderationDice: SplitMix64
    private var openingDice: SplitMix64
    private var patienceDice: SplitMix64
    /// Moderators who have asked for a user's records to be removed, and what is known of that.
    var removals: [Removal] = []
    /// A clear, or its undoing, whose outcome nobody was told.
    private(set) var isUnsure = false

    package struct Tally: Sendable, Equatable {
        package var stored = 0
        package var notStored = 0
        package var drawings = 0
        package var changeSets = 0
        package var removals = 0
        package var removed = 0
        package var ended = 0
        package var keptByCrash = 0
        package var clears = 0
        package var undone = 0
        package var restarts = 0
        package var crashes = 0
        package var resets = 0
        package var batches = 0
        package var failures = 0
        package var missed = 0
        package var unsure = 0
        package var notPermitted = 0
        package var barriers = 0
        package var cancelled = 0
        package var left = 0
        package init() {}

        package static func += (left: inout Tally, right: Tally) {
            for path in paths { left[keyPath: path] += right[keyPath: path] }
        }

        private static var paths: [WritableKeyPath<Tally, Int>] {
            [
                \.stored, \.notStored, \.drawings, \.clears, \.undone, \.restarts, \.crashes, \.resets, \.batches, \.failures, \.missed,
                \.unsure, \.notPermitted, \.barriers, \.cancelled, \.left, \.changeSets, \.removals,
                \.removed, \.ended, \.keptByCrash,
            ]
        }

        package var counts: [Int] { Self.paths.map { self[keyPath: $0] } }
    }

    static let channel = try! Name("lesson")
    static let messageBytes = 300

    package init(seed: UInt64, trace: ((String) -> Void)? = nil) {
        self.seed = seed
        self.trace = trace
        var random = SplitMix64(seed: seed)
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.limits.messageBytesMax = Self.messageBytes
        configuration.limits.largeMessageBytesMax = 4_000
        configuration.limits.messagesPerSecond = 1_000
        configuration.historyMessagesMax = random.chance(1, in: 3) ? Int.random(in: 0...20, using: &random) : 1_000
        configuration.catchUpQueueBytes = Int.random(in: 200...20_000, using: &random)
        configuration.catchUpBlockBytes = Int.random(in: 200...20_000, using: &random)
        configuration.reliableBacklogBytesHard = Int.random(in: 20_000...100_000, using: &random)
        configuration.reliableBacklogBytesSoft = configuration.reliableBacklogBytesHard / 4
        // Seeds that failed before there were roles are of open relays.
        hasRoles = seed % 3 != 0 && !Seeds.olderThanRoles.contains(seed)
        roleDice = SplitMix64(seed: ~seed)
        changeDice = SplitMix64(seed: seed &* 3)
        moderationDice = SplitMix64(seed: seed &* 5)
        openingDice = SplitMix64(seed: seed &* 7)
        patienceDice = SplitMix64(seed: seed &* 11)
        if hasRoles {
            configuration.boardAuthorKeysMax = Int.random(in: 0...30, using: &roleDice)
            configuration.authorMemoryMax = 160 * Int.random(in: 0...60, using: &roleDice)
            configuration.credentialPause = .milliseconds(1)
        }
        relay = HubDriver(configuration: configuration, start: 1_000, access: hasRoles ? TestAccess.rules : .open)
        relay.mixesLinks = !Seeds.olderThanWebSockets.contains(seed)
        relay.hub.restored(lastSequence: 0, at: relay.now)
        self.random = random
        for _ in 0..<Int.random(in: 2...5, using: &self.random) { addApp() }
    }

    var now: UInt64 { relay.now.instant.nanoseconds }
    var moment: Instant { Instant(nanoseconds: now) }

    func addApp() {
        let user = try! Name("user-\(apps.count)")
        var settings = ClientSettings(user: user, instance: random.next(), seed: random.next())
        settings.device = "00000000000000aa"
        settings.presenceTimeout = .seconds(5)
        let isEditor = hasRoles && roleDice.chance(2, in: 3)
        if hasRoles {
            settings.credential = .key(isEditor ? TestAccess.editorKey : TestAccess.hostKey)
            settings.identity = .user(user, secret: TestAccess.secret(of: user.text))
        }
        let app = BoardApp("user-\(apps.count)", settings, at: moment)
        app.isEditor = isEditor
        apps.append(app)
        app.machine.connect(token: app.token(.other), at: moment)
        open(app)
    }

    private func open(_ app: BoardApp) {
        let token = app.token(.open)
        do throws(RelayError) {
            app.openings[token] = try app.readable.open(
                Self.channel, [.messages], from: .board, quiet: false, token: token, at: moment)
        } catch { app.waiting[token] = nil }
    }

    /// The board is read anew, and what was asked before may have an answer or not.
    private func openAgain(_ app: BoardApp) {
        trace?("\(app.name) opens again")
        app.asksAgain()
        open(app)
    }

    /// Whoever waits for a channel to open stops waiting.
    private func giveUpOpening(_ app: BoardApp) {
        guard let token = app.openings.keys.min() else { return }
        trace?("\(app.name) gives up an opening")
        app.hasGivenUp = true
        app.readable.withdraw(token, RelayError(.cancelled, "withdrawn"))
    }

    /// - Throws: the first broken promise, with the command that replays it.
    package func run(steps count: Int) throws {
        do {
            while steps < count {
                steps += 1
                try act()
                maybeRemoveRecords()
                if !Seeds.olderThanOpeningAgain.contains(seed), openingDice.chance(1, in: 50) {
                    openAgain(apps.randomElement(using: &openingDice)!)
                }
                if !Seeds.olderThanGivenUpOpenings.contains(seed), patienceDice.chance(1, in: 10) {
                    giveUpOpening(apps.randomElement(using: &patienceDice)!)
                }
                try exchange(whole: random.chance(1, in: 4))
                relay.advance(.milliseconds(Int.random(in: 0...40, using: &random)))
            }
            try settle()
        } catch let broken as BrokenPromise {
            throw BrokenPromise(
                "seed \(seed), step \(steps): \(broken.description)\nreplay: BOARDRELAY_BOARD_SEED=\(seed) swift test --filter SimulationTests"
            )
        }
    }

    // MARK: - What apps and the world do

    private func act() throws {
        let app = apps.randomElement(using: &random)!
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<36:
            retain(app)
            if changeDice.chance(1, in: 5) { sendChanges(app) }
        case 36..<44: remove(app)
        case 44..<52: publish(app)
        case 52..<56: sendLarge(app)
        case 56: ask(app, .clear(Self.channel), .clear)
        case 57: ask(app, .undoClear(Self.channel), .undo)
        case 58..<80: if now >= diskFailsUntil { persist(Int.random(in: 1...20, using: &random)) }
        case 80..<86: try cut(app)
        case 86: app.readsFrom = now + UInt64.random(in: 100...3_000, using: &random) * 1_000_000
        case 87: app.unreachableUntil = now + UInt64.random(in: 100...8_000, using: &random) * 1_000_000
        case 88: relay.holdsFiles.toggle()
        case 89: if apps.count < 8 { addApp() }
        case 90: if random.chance(1, in: 3) { try restart() }
        case 91: if random.chance(1, in: 2) { failDisk() }
        case 92: relay.advance(.milliseconds(Int.random(in: 500...15_000, using: &random)))
        case 93..<96: askBarrier(app)
        case 96: cancelBarrier(app)
        case 97...98: sendLargeMessage(app)
        case 99: if !hasRoles { leaveDrawing() }
        default: break
        }
    }

    private func askBarrier(_ app: BoardApp) {
        guard let epoch = relay.hub.epoch(of: Self.channel), let head = relay.hub.head(of: Self.channel) else { return }
        ask(app, .barrier(steps.isMultiple(of: 2) ? Self.channel : nil), .barrier(epoch: epoch, head: head))
    }

    private func cancelBarrier(_ app: BoardApp) {
        let waiting = app.waiting.filter { if case .barrier = $0.value { true } else { false } }
        if let token = waiting.keys.min() { app.machine.withdraw(token, RelayError(.cancelled, "withdrawn")) }
    }

    private func payload(bytes: Int) -> Payload {
        lastPayload += 1
        var content: [UInt8] = []
        content.append(bigEndian: lastPayload)
        content.append(contentsOf: [UInt8](repeating: 7, count: bytes))
        return .bytes(content)
    }

    private var key: String { "k\(Int.random(in: 0..<25, using: &random))" }

    private func retain(_ app: BoardApp) {
        let key = key, payload = payload(bytes: Int.random(in: 0...100, using: &random))
        writers[key, default: []].insert(app.name)
        let change = RecordChange(key: key, payload: payload, customType: "stroke")
        send(app, .record(key: key, payload: payload.digest), [change], inOrder: true) { machine, tokens, now throws(RelayError) in
            try machine.send(payload, to: "lesson", customType: "stroke", retainedAs: key, echo: false, tokens: tokens, at: now)
        }
    }

    private func remove(_ app: BoardApp) {
        let key = key
        writers[key, default: []].insert(app.name)
        let change = RecordChange(removing: key)
        send(app, .record(key: key, payload: nil), [change], inOrder: true) { machine, tokens, now throws(RelayError) in
            try machine.send(removing: key, from: "lesson", tokens: tokens, at: now)
        }
    }

    private func sendLarge(_ app: BoardApp) {
        let key = key, payload = payload(bytes: Int.random(in: 400...1_500, using: &random))
        writers[key, default: []].insert(app.name)
        let change = RecordChange(key: key, payload: payload, customType: "stroke")
        send(app, .record(key: key, payload: payload.digest), [change]) { machine, tokens, now throws(RelayError) in
            try machine.sendLarge(payload, to: "lesson", customType: "stroke", key: key, retain: true, echo: false, tokens: tokens, at: now)
        }
    }

    /// Many at once: in one part, or in several.
    private func sendChanges(_ app: BoardApp) {
        let count = changeDice.chance(1, in: 4) ? Int.random(in: 60...200, using: &changeDice) : Int.random(in: 1...8, using: &changeDice)
        var changes: [RecordChange] = [], sent: [BoardApp.Change] = []
        for _ in 0..<count {
            let key = "k\(Int.random(in: 0..<25, using: &changeDice))"
            writers[key, default: []].insert(app.name)
            let payload = changeDice.chance(1, in: 3) ? nil : payload(bytes: Int.random(in: 0...10, using: &changeDice))
            changes.append(payload.map { RecordChange(key: key, payload: $0, customType: "stroke") } ?? RecordChange(removing: key))
            sent.append(BoardApp.Change(key: key, payload: payload?.digest))
        }
        send(app, .changes(sent), changes) { machine, tokens, now throws(RelayError) in
            try machine.send(changes: changes, to: "lesson", tokens: tokens, at: now)
        }
    }

    private func sendLargeMessage(_ app: BoardApp) {
        let payload = payload(bytes: Int.random(in: 400...1_500, using: &random))
        send(app, .plain(payload: payload.digest)) { machine, tokens, now throws(RelayError) in
            try machine.sendLarge(payload, to: "lesson", customType: nil, key: nil, retain: false, echo: false, tokens: tokens, at: now)
        }
    }

    private func send(
        _ app: BoardApp, _ sent: BoardApp.Sent, _ changes: [RecordChange] = [], inOrder: Bool = false,
        _ body: (inout ClientMachine, StoredTokens, Instant) throws(RelayError) -> Void
    ) {
        let accepted = app.token(.other), stored = app.token(sent)
        if inOrder { app.ordered.insert(accepted) }
        let tokens = StoredTokens(accepted: accepted, stored: stored), now = moment
        do throws(RelayError) {
            if sent.isKept {
                try app.readable.send(changes, to: Self.channel.text, receipt: stored, accepted: accepted, stored: stored) {
                    machine throws(RelayError) in try body(&machine, tokens, now)
                }
            } else {
                try body(&app.machine, tokens, now)
            }
        } catch {
            app.waiting[accepted] = nil
            app.waiting[stored] = nil
        }
    }

    private func publish(_ app: BoardApp) {
        let payload = payload(bytes: 20), token = app.token(.plain(payload: payload.digest))
        app.ordered.insert(token)
        do throws(RelayError) {
            try app.machine.send(payload, to: "lesson", customType: nil, echo: false, isKept: true, token: token, at: moment)
        } catch { app.waiting[token] = nil }
    }

    private func ask(_ app: BoardApp, _ request: ClientRequest, _ sent: BoardApp.Sent) {
        let token = app.token(sent)
        do throws(RelayError) { try app.machine.request(request, token: token, at: moment) } catch { app.waiting[token] = nil }
    }

    /// What is under way is lost, but for some bytes that still arrive.
    private func cut(_ app: BoardApp) throws {
        guard let link = app.connection else { return }
        try move(app, Int.random(in: 0...2_000, using: &random))
        trace?("\(app.name) is cut")
        app.connection = nil
        relay.cut(link.id)
        app.machine.linkEnded(attempt: link.attempt, text: "cut", at: moment)
    }

    /// The relay dies: only what its disk has kept is left, and of what was not synced there any part.
    private func restart() throws {
        done.restarts += 1
        mayReset = true
        for app in apps { try cut(app) }
        run += 1
        let crash: SimulatedDisk.Crash? = random.chance(1, in: 2) ? SimulatedDisk.Crash(seed: random.next()) : nil
        if crash != nil { done.crashes += 1 }
        relay = relay.restarted(start: 1_000 + UInt32(run), crash: crash, entropy: random.next())
        loseUndurable()
        trace?("restart \(run)")
    }

    private func failDisk() {
        done.failures += 1
        mayReset = true
        relay.failStorage()
        loseUndurable()
        diskFailsUntil = now + UInt64.random(in: 0...1_000, using: &random) * 1_000_000
        relay.handle(.storageRecovered)
        trace?("disk fails")
    }

    // MARK: - What apps are told

    func completed(_ app: BoardApp, _ token: ClientToken, _ result: Result<ClientAnswer, RelayError>) throws {
        guard let sent = app.waiting.removeValue(forKey: token) else {
            throw BrokenPromise("\(app.name): token \(token) completed twice, or never given")
        }
        trace?("\(app.name) is answered \(sent): \(result)")
        if case .success(.offset(let offset)) = result { try app.accepted(token, at: offset, run: run) }
        switch (sent, result) {
        case (.record(let key, let payload), .success(.offset(let offset))):
            try stored(app, BoardApp.Change(key: key, payload: payload), at: offset)
        case (.changes(let changes), .success(.offset(let last))):
            done.changeSets += 1
            for (behind, change) in changes.reversed().enumerated() { try stored(app, change, at: last - UInt64(behind)) }
        case (.record(let key, _), .failure(let error)) where error.code == .notPermitted: try refused(app, key)
        case (.changes(let changes), .failure(let error)) where error.code == .notPermitted:
            guard let index = error.changeIndex, changes.indices.contains(index) else {
                throw BrokenPromise("[BL11] \(app.name) was not told which of \(changes.count) changes was refused")
            }
            try refused(app, changes[index].key)
        case (_, .failure(let error)) where sent.isKept && error.code == .busy && app.isEditor: done.notStored += 1
        case (_, .failure(let error)) where sent.isKept:
            done.notStored += 1
            // A client that has not been welcomed does not know how little this relay takes at once.
            guard [.storageFailed, .notAccepted, .partMissing, .tooLarge].contains(error.code) else {
                throw BrokenPromise("[BL2] \(app.name) was told \(error) of a retained message")
            }
        case (.open, .failure(let error)):
            app.readable.endOpening(app.openings.removeValue(forKey: token)!, error)
            // Where it was open before, it goes on there, or begins anew if the relay has heard of it.
            if !app.wasOpen || error.code != .cancelled { openAgain(app) }
        case (.open, .success):
            app.readable.endOpening(app.openings.removeValue(forKey: token)!)
            app.wasOpen = true
        case (.plain, .success(.offset(let offset))):
            if let epoch = relay.hub.epoch(of: Self.channel) { plain.append((app, offset, epoch, plain.count)) }
        case (.clear, .success(.boardChange(let change))):
            done.clears += 1
            facts[change.offset] = .clear
        case (.undo, .success(.boardChange(let change))):
            done.undone += 1
            facts[change.offset] = .undo(records: change.records)
        case (.barrier(let epoch, let head), .success):
            done.barriers += 1
            // In a channel that is not subscribed nothing comes, and one that is opened again begins anew.
            if app.openings.isEmpty, let seen = app.machine.position(in: Self.channel), seen.epoch == epoch, seen.offset < head {
                throw BrokenPromise("[HI8] \(app.name) has \(seen.offset) behind a barrier, and \(head) was accepted before")
            }
        case (.barrier, .failure(let error)): if error.code == .cancelled { done.cancelled += 1 }
        case (.clear, .failure(let error)), (.undo, .failure(let error)):
            if error.code == .outcomeUnknown {
                isUnsure = true
                done.unsure += 1
            }
        default: break
        }
    }

    private func stored(_ app: BoardApp, _ change: BoardApp.Change, at offset: UInt64) throws {
        trace?("\(app.name) stored \(change.key) at \(offset)")
        done.stored += 1
        guard facts[offset] == nil else { throw BrokenPromise("[BL5] offset \(offset) was given twice to what is durable") }
        if let payload = change.payload, !payloads.insert(payload).inserted {
            throw BrokenPromise("[MS9, BL2] \(app.name) stored the same twice")
        }
        facts[offset] = .record(key: change.key, payload: change.payload, by: app)
    }

    private func refused(_ app: BoardApp, _ key: String) throws {
        done.notPermitted += 1
        guard app.isEditor, writers[key, default: []].count > 1 else {
            throw BrokenPromise("[BL10] \(app.name) was refused \(key), which nobody else has written")
        }
    }
}
