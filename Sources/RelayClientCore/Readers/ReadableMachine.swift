import RelayPrimitives
internal import RelayRights
import RelayWire

/// A machine whose events are told to readers, and folded into what is newest: boards, users and metadata.
package struct ReadableMachine: Sendable {
    /// What the shell does besides.
    package enum Task: Sendable {
        /// Reads the rest of a snapshot, and gives it to `read`.
        case readMembers(channel: String, after: String, snapshot: Int)
        /// A token ends soon, and the app gives another one when it is asked.
        case renewToken
        /// The relay has let the client in.
        case connected
        /// A problem that nobody reads.
        case log(Problem)
    }

    /// A call that ends when something here has happened.
    enum LocalCall: Sendable {
        /// The board of a channel has been read.
        case board(String)
        /// It is a task's turn to have a lock.
        case turn(LockID, ticket: UInt64)
    }

    enum Followed: Sendable {
        case opening(channel: String, isWhole: Bool)
        case accepted(stored: ClientToken)
        case stored(channel: String, BoardView.Own, receipt: UInt64)
        /// A code for newcomers, or its end.
        case joinCode
    }

    package var machine: ClientMachine
    package internal(set) var feed: ReaderFeed
    package private(set) var tasks: [Task] = []
    var channels: [String: ChannelView] = [:]
    /// Message channels in which the client is by the package's own calls, not by a handle.
    package var subscribedByCalls: Set<String> = []
    /// Metadata of users that is followed.
    var users: [String: Newest<MetadataContents>] = [:]
    var link = Newest(LinkState.idle)
    /// What this client shows to newcomers.
    var joinCode = Newest(OfferedCode?.none)
    var followed: [ClientToken: Followed] = [:]
    var localCalls: [ClientToken: LocalCall] = [:]
    var lockTurns: [LockID: [UInt64]] = [:]
    var lastTicket: UInt64 = 0
    var lastOpening: UInt64 = 0
    /// Problems that nobody has read; `nil` once there was a reader. And the number of earlier ones.
    var problemsKept: [Problem]? = []
    var problemsOmitted = 0
    /// Whether somebody reads permissions, and the access that they were made from.
    var watchesPermissions = false
    var accessSeen: Access?
    private var loggedAt: Instant?

    package init(_ machine: ClientMachine) {
        self.machine = machine
        feed = ReaderFeed(patience: machine.settings.readerPatience)
    }

    package mutating func takeTasks() -> [Task] {
        defer { tasks = [] }
        return tasks
    }

    package var nextDeadline: Instant? { Instant.earlier(machine.nextDeadline, feed.nextDeadline) }

    package mutating func deadline(at now: Instant) {
        feed.deadline(at: now)
        machine.deadline(at: now)
    }

    // MARK: - What has happened

    /// After each change of the machine: its readers are told.
    package mutating func tell(at now: Instant) {
        while let told = machine.nextTold() {
            switch told {
            case .event(let event): tell(event, at: now)
            case .begun(let token): begun(token, at: now)
            case .completed(let token, let result, let isCatchingUp): completed(token, result, isCatchingUp, at: now)
            }
        }
        // What `renew` brings is told by no event.
        if watchesPermissions { lookAtPermissions() }
        machine.isHeldBack = feed.holdsBack && !machine.isClosed
        settleLocalCalls()
    }

    private mutating func append(_ event: ClientEvent, _ audience: ReaderItem.Audience, at now: Instant) {
        let item = ReaderItem(content: .event(event), audience: audience)
        let readers = feed.append(item, cost: event.cost, mayWait: machine.isCatchingUp, at: now)
        if audience.contains(.handles), readers == 0, let problem = event.problem { keep(problem, at: now) }
    }

    /// `calls` get what the machine says; handles get what is of the message channel, or of topics.
    private mutating func tell(_ event: ClientEvent, at now: Instant) {
        let name = event.place?.channel.text ?? event.messageChannel
        let view = name.flatMap { channels[$0] }
        let isShown = !(view?.isPrivate ?? false) && isForHandles(event)
        var shown = event
        if case .refused(var problem) = event, problem.subject == .channel, problem.place?.kind == .stream {
            problem.subject = .topics
            shown = .refused(problem)
        }
        let isRead = view?.isRead ?? false
        // Whoever is told finds it in what is newest.
        let changes = isRead && event.place?.kind != .stream ? fold(event, name!) : []
        if case .metadata(let change) = event, case .user(let user) = change.owner {
            users[user, default: Newest(MetadataContents())].set(
                MetadataContents(items: change.items, majorRevision: change.majorRevision))
        }
        if case .link(let state) = event { link.set(state) }
        note(event)
        if isShown, shown == event {
            append(event, [.handles, .calls], at: now)
        } else {
            append(event, .calls, at: now)
            if isShown { append(shown, .handles, at: now) }
        }
        if isRead, let name { tell(changes, in: name, at: now) }
        switch shown {
        case .refused(let problem): refused(problem)
        case .accessExpiring where machine.settings.renewsTokens: tasks.append(.renewToken)
        case .link(.connected): tasks.append(.connected)
        case .link(.closed): feed.finishAll()
        default: break
        }
    }

    private mutating func isForHandles(_ event: ClientEvent) -> Bool {
        switch event {
        case .presence(let change): change.place.kind == .message
        case .locks(let change): change.place.kind == .message
        case .metadata(let change): if case .stream = change.owner { false } else { true }
        case .channelMode(let change): channels[change.channel]?.take(change) ?? true
        case .accessExpiring: !machine.settings.renewsTokens
        default: true
        }
    }

    private mutating func fold(_ event: ClientEvent, _ name: String) -> [BoardChange] {
        switch event {
        case .presence(let change):
            if let rest = channels[name]!.take(change.kind) {
                tasks.append(.readMembers(channel: name, after: rest, snapshot: channels[name]!.snapshots))
            }
        case .locks(let change): channels[name]!.take(change)
        case .metadata(let change):
            channels[name]!.contents.set(MetadataContents(items: change.items, majorRevision: change.majorRevision))
        default: break
        }
        return channels[name]!.board.take(event)
    }

    mutating func tell(_ changes: [BoardChange], in channel: String, at now: Instant) {
        guard !(channels[channel]?.isPrivate ?? false) else { return }
        for change in changes {
            if case .records(let records, _, let receipt?) = change {
                append(Self.echo(records, channel, receipt), .handles, at: now)
            }
            feed.append(
                ReaderItem(content: .change(channel: channel, change), audience: .handles), cost: change.cost,
                mayWait: machine.isCatchingUp, at: now)
        }
    }

    /// An own record, or several, as others get them.
    private static func echo(_ records: [BoardRecord], _ channel: String, _ receipt: UInt64) -> ClientEvent {
        let messages = records.map { record in
            var message = Message(
                channel: channel, sender: record.author, offset: record.offset ?? 0, wallMilliseconds: record.wallMilliseconds ?? 0,
                customType: record.customType, key: record.key, isRetained: true, payload: record.payload ?? .bytes([]))
            message.receipt = receipt
            return message
        }
        return messages.count == 1 ? .message(messages[0]) : .board(BoardBatch(channel: channel, messages: messages))
    }

    private mutating func completed(
        _ token: ClientToken, _ result: Result<ClientAnswer, RelayError>, _ isCatchingUp: Bool, at now: Instant
    ) {
        if case .success = result { begun(token, at: now) }
        switch followed.removeValue(forKey: token) {
        case .accepted(let stored)?:
            guard case .success(.offset(let last)) = result, case .stored(let channel, let own, _)? = followed[stored] else { return }
            channels[channel]?.board.accepted(own, last: last)
        case .stored(let channel, let own, let receipt)?:
            guard case .success(.offset(let last)) = result, channels[channel]?.asked.receives == true else {
                channels[channel]?.board.ended(own)
                return
            }
            let changes = channels[channel]!.board.stored(own, last: last, receipt: receipt, isCatchingUp: isCatchingUp)
            tell(changes, in: channel, at: now)
        case .joinCode?:
            switch result {
            case .success(.code(let offer)): joinCode.set(offer)
            case .success: joinCode.set(nil)
            case .failure: break
            }
        case .opening?, nil: break
        }
    }

    /// The board of a channel begins, once: at the answer, or when the resumption of a session has begun it before.
    private mutating func begun(_ token: ClientToken, at now: Instant) {
        guard case .opening(let channel, let isWhole)? = followed[token] else { return }
        followed[token] = nil
        guard channels[channel] != nil else { return }
        tell(channels[channel]!.board.begin(isWhole: isWhole), in: channel, at: now)
    }

    // MARK: - Problems

    /// A failure of a receipt that nobody has asked.
    package mutating func tell(_ problem: Problem, at now: Instant) { append(.refused(problem), .handles, at: now) }

    /// Ends the readers of what the relay has taken from the client.
    private mutating func refused(_ problem: Problem) {
        guard let channel = problem.channel else { return }
        if problem.subject == .channel, problem.place?.kind != .stream { subscribedByCalls.remove(channel) }
        guard channels[channel] != nil else { return }
        switch problem.subject {
        case .channel: left(channel, problem.error)
        case .topics: leftTopics(channel, problem.error)
        case .subscribedTopic: leftTopics(channel, problem.error, topic: problem.topic)
        default: break
        }
    }

    /// The first reader gets those of before.
    private mutating func keep(_ problem: Problem, at now: Instant) {
        func isOne(_ other: Problem) -> Bool {
            other.subject == .packets && other.place == problem.place && other.topic == problem.topic
                && other.error.code == problem.error.code
        }
        if problem.subject == .packets, let known = problemsKept?.firstIndex(where: isOne) {
            // A pen that is too fast pushes no refusal out.
            problemsKept![known].count += problem.count
        } else if problemsKept != nil {
            problemsKept!.append(problem)
            if problemsKept!.count > ClientLimits.problemsKept {
                problemsKept!.removeFirst()
                problemsOmitted += 1
            }
        }
        guard loggedAt.map({ now >= $0 + ClientLimits.problemsLoggedEvery }) ?? true else { return }
        loggedAt = now
        tasks.append(.log(problem))
    }

    /// A reader of problems.
    package mutating func openProblems(at now: Instant) -> ReaderFeed.ID {
        let id = feed.open(at: now) { item in
            if case .event(let event) = item.content, event.problem != nil, item.audience.contains(.handles) { item } else { nil }
        }
        for (index, problem) in (problemsKept ?? []).enumerated() {
            var problem = problem
            if index == 0 { problem.omitted = problemsOmitted }
            let event = ClientEvent.refused(problem)
            feed.append(own: ReaderItem(content: .event(event), audience: .handles), cost: event.cost, to: id)
        }
        (problemsKept, problemsOmitted) = (nil, 0)
        if machine.isClosed { feed.finish(id) }
        return id
    }
}

extension ClientEvent {
    /// The channel and its kind, where the event has both.
    var place: ChannelID? {
        switch self {
        case .presence(let change): change.place
        case .locks(let change): change.place
        case .channelMode(let change): change.place
        case .refused(let problem): problem.place
        case .metadata(let change): change.place
        default: nil
        }
    }

    /// What of it is of a channel; `nil`: nothing.
    package func part(of channel: String) -> ClientEvent? {
        switch self {
        case .packet(let packet): packet.channel == channel ? self : nil
        case .topics(let change): change.channel == channel ? self : nil
        case .packetsDropped(let dropped): dropped.channel == channel ? self : nil
        case .packetsLost(let lost): lost.only { $0.channel == channel }.map(ClientEvent.packetsLost)
        default: (place?.channel.text ?? messageChannel) == channel ? self : nil
        }
    }

    /// The message channel in which it is.
    var messageChannel: String? {
        switch self {
        case .message(let message): message.channel
        case .board(let batch): batch.channel
        case .cleared(let cleared): cleared.channel
        case .messagesMissed(let missed): missed.channel
        case .caughtUp(let channel, head: _): channel
        default: nil
        }
    }
}

extension PacketsLost {
    /// The entries that are meant; `nil` if no entry is.
    package func only(_ isMeant: (Entry) -> Bool) -> PacketsLost? {
        let entries = entries.filter(isMeant)
        return entries.isEmpty ? nil : PacketsLost(reason: reason, entries: entries)
    }
}

extension BoardChange {
    var cost: Int {
        guard case .records(let records, _, _) = self else { return 128 }
        return records.reduce(128) { $0 + 160 + ($1.payload?.byteCount ?? 0) }
    }
}
