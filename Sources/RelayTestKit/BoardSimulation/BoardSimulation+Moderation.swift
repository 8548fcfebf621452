internal import RelayClientCore
internal import RelayCore
internal import RelayStorage
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

// What moderators take away: the records of one user, and in the end the channel with its board, metadata and locks.

extension BoardSimulation {
    /// Of the records of one app.
    struct Removal {
        let app: BoardApp
        /// Up to here records had been accepted when it was asked for, in today's numbering.
        var through: UInt64
        /// Of the change that says so.
        let sequence: UInt64
        var isDurable = false
        let asker: TestClient
        let request: UInt32
        var answer: Int?
    }

    private func moderator(_ name: String) -> TestClient {
        hasRoles ? TestClient(relay, name, by: TestAccess.hostKey) : TestClient(relay, name)
    }

    // MARK: - Records of a user

    /// What is durable then is known of removals, too.
    func persist(_ count: Int = .max) {
        relay.persist(count)
        for index in removals.indices where removals[index].sequence <= relay.lastPersisted { removals[index].isDurable = true }
    }

    /// Dice of its own, so that all else is what it was without.
    func maybeRemoveRecords() {
        for index in removals.indices where removals[index].answer == nil { readAnswer(index) }
        guard !Seeds.olderThanRemovals.contains(seed), moderationDice.chance(1, in: 60) else { return }
        guard relay.hub.head(of: Self.channel) != nil else { return }
        let app = apps.randomElement(using: &moderationDice)!, asker = moderator("remover-\(removals.count)"), id = asker.nextRequest()
        // Behind the login: what waited for its turn was accepted with it.
        let head = relay.hub.head(of: Self.channel)!, before = relay.unpersisted.count
        relay.send(.json(.removeRecords, RemoveRecordsRequest(id: id, channel: Self.channel, user: try! Name(app.name))), from: asker.id)
        // Else it was refused.
        guard let sequence = relay.unpersisted.dropFirst(before).first(where: { Self.isErasure($0.entries) })?.sequence else {
            return relay.cut(asker.id)
        }
        removals.append(Removal(app: app, through: head, sequence: sequence, asker: asker, request: id))
        done.removals += 1
        trace?("records of \(app.name) through \(head) are to go, sequence \(sequence)")
    }

    private func readAnswer(_ index: Int) {
        guard relay === removals[index].asker.driver, relay.isOpen(removals[index].asker.id),
            case .frame(_, let body) = removals[index].asker.outcome(removals[index].request)
        else { return }
        removals[index].answer = TestClient.decode(RemoveRecordsAnswer.self, body).records
        done.removed += removals[index].answer!
    }

    /// The relay has lost what was not durable: such removals never happen, and records that come now have lost ones' numbers.
    func loseUndurable() {
        removals.removeAll { !$0.isDurable }
        let head = relay.hub.boardHead(of: Self.channel) ?? 0
        for index in removals.indices { removals[index].through = min(removals[index].through, head) }
    }

    private static func isErasure(_ entries: [JournalEntry]) -> Bool { entries.contains { $0.key.first == UInt8(ascii: "E") } }

    private var hasErasures: Bool { relay.disk.keys.contains { $0.first == UInt8(ascii: "E") } }

    /// What the disk has refused is tried again, later and later. [AC14]
    func awaitErasures() throws {
        guard hasErasures else { return }
        for _ in 0..<200 where hasErasures {
            relay.advance(.seconds(60))
            for _ in 0..<10 {
                persist()
                relay.readFiles(now: true)
                try exchange(whole: true)
            }
        }
        guard !hasErasures else { throw BrokenPromise("[AC18] what was to be removed is still not") }
        for _ in 0..<300 {
            persist()
            relay.readFiles(now: true)
            try exchange(whole: true)
            relay.advance(.milliseconds(100))
        }
    }

    /// It was answered when it was durable, and with no more than there was.
    func judgeRemovals() throws {
        for removal in removals {
            guard let count = removal.answer else { continue }
            guard removal.isDurable else { throw BrokenPromise("[AC18] a removal was answered before it was durable") }
            // What is asked for twice may be done once, with what came between.
            let through = removals.filter { $0.app === removal.app }.map(\.through).max()!
            let records = facts.count { offset, fact in
                if case .record(_, .some, let app) = fact { app === removal.app && offset <= through } else { false }
            }
            guard count <= records || isUnsure else {
                throw BrokenPromise("[AC18] \(count) records of \(removal.app.name) were removed, and only \(records) were ever stored")
            }
        }
    }

    /// Somebody sends the first part of a message, and is gone for good.
    func leaveDrawing() {
        let leaver = TestClient(relay, "leaver-\(steps)")
        leaver.part("lesson", "left", 1, of: 2, [1], flags: [])
        relay.cut(leaver.id)
        done.left += 1
    }

    // MARK: - The end of the channel

    private enum Fate: CaseIterable { case done, crashAfter, crashBetween, crashBefore, diskFails }

    /// A moderator ends it, and the relay may die before, between and behind: all of it is gone, or nothing. [AC19]
    func endChannel() throws {
        guard !Seeds.olderThanRemovals.contains(seed), relay.hub.epoch(of: Self.channel) != nil else { return }
        let fate = Fate.allCases.randomElement(using: &moderationDice)!
        let host = moderator("host")
        host.subscribe(Self.channel.text, features: ["metadata", "locks"])
        host.sendSet(Self.channel.text, [("title", "Ink")])
        host.sendSet("stream:\(Self.channel.text)", [("page", "7")])
        host.setLock(Self.channel.text, "pen")
        work()
        let before = try picture("reader-before")
        let epoch = relay.hub.epoch(of: Self.channel)
        let id = host.nextRequest()
        relay.send(.json(.endChannel, EndChannelRequest(id: id, channel: Self.channel)), from: host.id)
        let isEnded: Bool
        switch fate {
        case .done, .crashAfter:
            work()
            guard case .frame = host.outcome(id) else { throw BrokenPromise("[AC19] the end of a channel is not answered") }
            try judgeEmpty(host)
            if fate == .crashAfter { die() }
            isEnded = true
        case .crashBetween:
            // It is durable, and its file is still there.
            relay.holdsErasures = true
            relay.holdsFiles = true
            relay.persist()
            die()
            isEnded = true
        case .crashBefore:
            die()
            isEnded = false
        case .diskFails:
            relay.failStorage()
            relay.handle(.storageRecovered)
            guard case .error(let error) = host.outcome(id), error.code == .storageFailed else {
                throw BrokenPromise("[AC19] the end that could not be stored was not refused")
            }
            isEnded = false
        }
        work()
        let after = try picture("reader-after")
        done.ended += isEnded ? 1 : 0
        done.keptByCrash += isEnded || before.isNothing ? 0 : 1
        guard after == (isEnded ? EndedChannel() : before) else {
            throw BrokenPromise("[AC19] the channel was \(isEnded ? "" : "not ")ended, \(fate); it had \(before), and has \(after)")
        }
        guard isEnded else { return }
        guard relay.hub.epoch(of: Self.channel) != epoch else { throw BrokenPromise("[AC19] the new channel has the old epoch") }
        // What is written now is all that there is, and stays.
        moderator("writer").retain(Self.channel.text, "new", [1])
        work()
        die()
        work()
        let last = try picture("reader-last")
        guard last.records.keys.sorted() == ["new"] else { throw BrokenPromise("[AC19] behind its end the board has \(last)") }
    }

    private func die() {
        let crash: SimulatedDisk.Crash? = moderationDice.chance(1, in: 2) ? SimulatedDisk.Crash(seed: moderationDice.next()) : nil
        run += 1
        relay = relay.restarted(start: 1_000 + UInt32(run), crash: crash, entropy: moderationDice.next())
    }

    private func work() {
        for _ in 0..<50 {
            relay.persist()
            relay.writeFiles()
            relay.readFiles(now: true)
        }
    }

    /// What somebody finds who comes anew.
    private func picture(_ name: String) throws -> EndedChannel {
        let reader = moderator(name), channel = Self.channel.text
        var found = EndedChannel()
        reader.subscribe(channel, features: ["messages"], since: .beginning)
        for _ in 0..<200 {
            relay.readFiles(now: true)
            reader.others += reader.frames()
        }
        for frame in reader.takeOthers(.deliver) {
            try frame.body.withUnsafeBytes { body in
                let message = try DeliverFrame(flags: frame.flags, body: body)
                guard message.flags.contains(.retain) else { return }
                let key = String(decoding: message.key, as: UTF8.self)
                found.records[key] = message.payload.isEmpty ? nil : message.offset
            }
        }
        for owner in [channel, "stream:\(channel)"] { found.metadata[owner] = reader.metadata(owner)?.values ?? [:] }
        found.metadata = found.metadata.filter { !$0.value.isEmpty }
        found.locks = reader.locks(channel).map(\.lock)
        relay.cut(reader.id)
        return found
    }

    /// Nobody is left in it, and who was there is told.
    private func judgeEmpty(_ host: TestClient) throws {
        guard relay.hub.receivers(ofMessages: Self.channel).isEmpty,
            relay.hub.members(of: ChannelID(kind: .message, channel: Self.channel)).isEmpty
        else { throw BrokenPromise("[AC19] somebody is left in a channel that was ended") }
        guard !host.takeOthers(.removed).isEmpty else { throw BrokenPromise("[AC19] the moderator was not told that the channel ended") }
    }
}

/// What a channel has: records with their offsets, metadata and locks.
private struct EndedChannel: Equatable, CustomStringConvertible {
    var records: [String: UInt64] = [:]
    var metadata: [String: [String: String]] = [:]
    var locks: [String] = []

    var isNothing: Bool { records.isEmpty && metadata.isEmpty && locks.isEmpty }
    var description: String { "records \(records.keys.sorted()), metadata \(metadata), locks \(locks)" }
}
