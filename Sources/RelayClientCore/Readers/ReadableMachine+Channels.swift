import RelayPrimitives
internal import RelayRights
import RelayWire

// What the handles of a channel do.

extension ReadableMachine {
    // MARK: - Being in a channel

    /// A call of `open` that is under way, and what counted before it.
    package struct Opening: Sendable {
        var channel: String
        var number: UInt64
        var before: ChannelView.Asked
    }

    /// A call of `open`: without a start it begins with the board, or goes on where the channel is.
    ///
    /// - Returns: what `endOpening` takes.
    package mutating func open(
        _ name: Name, _ parts: Set<Feature>, from start: ChannelStart?, quiet: Bool, token: ClientToken, at now: Instant
    ) throws(RelayError) -> Opening {
        let (channel, receives) = (name.text, parts.contains(.messages))
        let before = channels[channel]?.asked ?? ChannelView.Asked()
        let goesOn = before.receives && before.opening == nil
        let start = receives ? start ?? (goesOn ? nil : .board) : nil
        try machine.request(.subscribe(name, features: parts, quiet: quiet, since: start?.since), token: token, at: now)
        lastOpening += 1
        channels[channel, default: ChannelView()].asked.message = true
        channels[channel]!.asked.receives = receives
        channels[channel]!.asked.opening = lastOpening
        if start != nil || !receives { follow(token, .opening(channel: channel, isWhole: start == .board)) }
        return Opening(channel: channel, number: lastOpening, before: before)
    }

    /// - Parameter error: why the channel is not open; where its outcome is unknown it may be.
    package mutating func endOpening(_ opening: Opening, _ error: RelayError? = nil) {
        // One that ends while another has begun leaves that one's alone.
        guard channels[opening.channel]?.asked.opening == opening.number else { return }
        channels[opening.channel]!.asked.opening = nil
        guard let error, error.outcome != .unknown else { return }
        channels[opening.channel]!.asked.message = opening.before.message
        channels[opening.channel]!.asked.receives = opening.before.receives
    }

    /// The client leaves a channel: its readers end.
    ///
    /// - Returns: which of the two channels of the name it is in.
    package mutating func leave(_ name: Name) -> (message: Bool, stream: Bool) {
        let channel = name.text
        let view = channels[channel] ?? ChannelView()
        // A call that failed can be made again.
        func isIn(_ kind: ChannelKind, _ asked: Bool) -> Bool {
            asked || view.privateReads == 0 && machine.isIn(ChannelID(kind: kind, channel: name))
        }
        let result = (isIn(.message, view.asked.message), isIn(.stream, view.asked.stream))
        left(channel, nil)
        return result
    }

    mutating func left(_ channel: String, _ error: RelayError?) {
        guard channels[channel] != nil else { return }
        leftTopics(channel, error)
        for reader in channels[channel]!.readers.keys { feed.finish(reader, error) }
        channels[channel]!.readers = [:]
        channels[channel]!.asked = ChannelView.Asked()
        channels[channel]!.end()
        lookAtPermissions(always: true)
    }

    /// Stops following its topics, or one of them.
    mutating func leftTopics(_ channel: String, _ error: RelayError?, topic: String? = nil) {
        guard var view = channels[channel] else { return }
        for case (let reader, let of?) in view.readers where topic == nil || topic == of {
            view.readers[reader] = nil
            feed.finish(reader, error)
        }
        if let topic {
            view.followers[topic] = nil
        } else {
            view.asked.stream = false
            view.followers = [:]
            view.streamModes = []
            view.published.set([])
        }
        channels[channel] = view
        lookAtPermissions(always: true)
    }

    // MARK: - Topics

    /// A reader, or 0 for the app itself, follows a topic.
    package mutating func follow(_ topic: TopicID, _ follower: ReaderFeed.ID) {
        channels[topic.channel.text, default: ChannelView()].followers[topic.topic.text, default: []].insert(follower)
    }

    /// - Returns: whether nobody follows the topic any more.
    package mutating func unfollow(_ topic: TopicID, _ follower: ReaderFeed.ID) -> Bool {
        let (channel, name) = (topic.channel.text, topic.topic.text)
        guard channels[channel]?.followers[name]?.remove(follower) != nil, channels[channel]!.followers[name]!.isEmpty else { return false }
        channels[channel]!.followers[name] = nil
        return true
    }

    /// Topics are in the stream channel of the name, which the first use of one joins.
    ///
    /// - Returns: whether it is to be joined.
    package mutating func entersTopics(_ name: Name) -> Bool {
        channels[name.text, default: ChannelView()].asked.stream = true
        return !machine.isIn(ChannelID(kind: .stream, channel: name))
    }

    // MARK: - Readers

    /// - Parameters:
    ///   - channel: the reader ends when that is left.
    ///   - topic: of a reader of packets.
    package mutating func open(channel: String? = nil, topic: String? = nil, at now: Instant, view: @escaping ReaderFeed.View)
        -> ReaderFeed.ID
    {
        let id = feed.open(at: now, view: view)
        if let channel { channels[channel, default: ChannelView()].readers.updateValue(topic, forKey: id) }
        if machine.isClosed { feed.finish(id) }
        return id
    }

    package mutating func take(_ id: ReaderFeed.ID, at now: Instant) -> ReaderFeed.Taken {
        defer { machine.isHeldBack = feed.holdsBack && !machine.isClosed }
        return feed.take(id, at: now)
    }

    package mutating func finish(_ id: ReaderFeed.ID, _ error: RelayError) { feed.finish(id, error) }

    package mutating func close(_ id: ReaderFeed.ID, channel: String?) {
        feed.close(id)
        if let channel { channels[channel]?.readers[id] = nil }
        machine.isHeldBack = feed.holdsBack && !machine.isClosed
    }

    // MARK: - Own records

    /// Sends records: pictures show them at once, readers of changes get them once they are stored.
    package mutating func send(
        _ changes: [RecordChange], to channel: String, receipt: UInt64, accepted: ClientToken, stored: ClientToken,
        with send: (inout ClientMachine) throws(RelayError) -> Void
    ) throws(RelayError) {
        machine.follow(accepted)
        machine.follow(stored)
        do throws(RelayError) { try send(&machine) } catch {
            machine.unfollow(accepted)
            machine.unfollow(stored)
            throw error
        }
        let own = channels[channel, default: ChannelView()].board.sent(changes, author: machine.identity.user?.text ?? "")
        followed[accepted] = .accepted(stored: stored)
        followed[stored] = .stored(channel: channel, own, receipt: receipt)
    }

    mutating func follow(_ token: ClientToken, _ what: Followed) {
        followed[token] = what
        machine.follow(token)
    }

    // MARK: - What is newest

    /// How a value of a channel stands for a reader.
    package struct Standing: Equatable, Sendable {
        package var version: Int
        /// Of a channel: which stay in it.
        package var stay: Int
        /// Nothing newer will come.
        package var isOver: Bool
    }

    func standing(_ channel: String, _ version: (ChannelView) -> Int) -> Standing {
        let view = channels[channel]
        return Standing(version: view.map(version) ?? 0, stay: view?.stay ?? 0, isOver: machine.isClosed)
    }

    package func boardStanding(_ channel: String) -> Standing { standing(channel, \.board.version) }
    package func membersStanding(_ channel: String) -> Standing { standing(channel, \.members.version) }
    package func contentsStanding(_ channel: String) -> Standing { standing(channel, \.contents.version) }
    package func contentsStanding(ofUser user: String) -> Standing {
        Standing(version: users[user]?.version ?? 0, stay: 0, isOver: machine.isClosed)
    }
    package var linkStanding: Standing { Standing(version: link.version, stay: 0, isOver: machine.isClosed) }

    /// Tells apart who takes pictures.
    package mutating func newReader() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    package mutating func picture(_ channel: String, for reader: UInt64) -> BoardPicture {
        channels[channel, default: ChannelView()].board.picture(for: reader)
    }
    package mutating func forgetPictures(_ channel: String, of reader: UInt64) { channels[channel]?.board.forget(reader: reader) }
    package func members(_ channel: String) -> [String: Member] { channels[channel]?.members.value ?? [:] }
    package func contents(_ channel: String) -> MetadataContents { channels[channel]?.contents.value ?? MetadataContents() }
    package func contents(ofUser user: String) -> MetadataContents { users[user]?.value ?? MetadataContents() }
    package func modes(_ channel: String) -> Set<ChannelMode> {
        channels[channel].map { $0.messageModes.union($0.streamModes) } ?? []
    }

    /// A page behind a snapshot of members.
    package mutating func read(_ page: [Member], in channel: String, of snapshot: Int) { channels[channel]?.read(page, of: snapshot) }

    // MARK: - Calls that wait for something here

    /// How the board of a channel is read for `records()`.
    package enum BoardRead: Sendable {
        /// The channel is open.
        case open
        /// For the client itself: the first such read subscribes the channel.
        case apart(isFirst: Bool)
        /// The package's own calls are in the channel, and would be taken out of it.
        case notFromTheBoard
    }

    /// A read of the board of a channel begins.
    package mutating func beginReading(_ channel: String) -> BoardRead {
        guard channels[channel]?.asked.message != true else { return .open }
        guard !subscribedByCalls.contains(channel) else { return .notFromTheBoard }
        channels[channel, default: ChannelView()].privateReads += 1
        return .apart(isFirst: channels[channel]!.privateReads == 1)
    }

    /// Whether the app is in the channel: it may be read for `records()` alone.
    package func isOpen(_ channel: String) -> Bool { channels[channel]?.asked.message ?? false }

    /// A private read begins from the beginning.
    package mutating func readFromBeginning(_ channel: String, _ token: ClientToken) {
        follow(token, .opening(channel: channel, isWhole: true))
    }

    /// - Returns: whether the channel is to be left.
    package mutating func endReading(_ channel: String) -> Bool {
        guard (channels[channel]?.privateReads ?? 0) > 0 else { return false }
        channels[channel]!.privateReads -= 1
        guard channels[channel]!.privateReads == 0, !channels[channel]!.asked.message else { return false }
        channels[channel]!.end()
        return true
    }

    /// Completed once the board has been read.
    package mutating func awaitBoard(_ channel: String, _ token: ClientToken) {
        localCalls[token] = .board(channel)
        settleLocalCalls()
    }

    package func records(_ channel: String) -> [String: BoardRecord] { channels[channel]?.board.kept ?? [:] }

    /// A task stands in line for a lock: one of this client has it at a time.
    ///
    /// - Returns: what `leaveLine` takes.
    package mutating func enterLine(_ lock: LockID, _ token: ClientToken) -> UInt64 {
        lastTicket += 1
        lockTurns[lock, default: []].append(lastTicket)
        localCalls[token] = .turn(lock, ticket: lastTicket)
        settleLocalCalls()
        return lastTicket
    }

    package mutating func leaveLine(_ lock: LockID, _ ticket: UInt64) {
        lockTurns[lock]?.removeAll { $0 == ticket }
        if lockTurns[lock]?.isEmpty ?? false { lockTurns[lock] = nil }
        settleLocalCalls()
    }

    mutating func settleLocalCalls() {
        for token in localCalls.keys.inOrder() {
            guard let call = localCalls[token], let result = outcome(of: call) else { continue }
            localCalls[token] = nil
            machine.complete(token, result)
        }
    }

    private func outcome(of call: LocalCall) -> Result<ClientAnswer, RelayError>? {
        if machine.isClosed { return .failure(.clientClosed) }
        switch call {
        case .turn(let lock, let ticket): return lockTurns[lock]?.first == ticket ? .success(.done) : nil
        case .board(let channel):
            guard let view = channels[channel], view.isRead else {
                return .failure(RelayError(.notSubscribed, "the channel was left"))
            }
            if view.board.isComplete { return .success(.done) }
            guard view.board.isBegun, !view.board.isWhole else { return nil }
            return .failure(.notFromTheBoard)
        }
    }

    /// Its caller has stopped waiting.
    package mutating func withdraw(_ token: ClientToken, _ error: RelayError) {
        guard localCalls.removeValue(forKey: token) != nil else { return machine.withdraw(token, error) }
        var error = error
        error.outcome = .nothingHappened
        machine.complete(token, .failure(error))
    }
}

extension RelayError {
    package static var notFromTheBoard: RelayError {
        RelayError(.badRequest, "the channel is not open from the board: its records are not known")
    }
}
