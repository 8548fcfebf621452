import RelayPrimitives
package import RelayRights
import RelayWire

/// A client without sockets, clocks and dice: calls and bytes in, bytes, effects and events out.
///
/// The shell tells what happens, then takes `takeEffects`, `gather`s bytes, and arms its timer for `nextDeadline`.
package struct ClientMachine: Sendable {
    enum State: Equatable {
        /// Nothing has needed the relay yet.
        case idle
        case connecting(since: Instant)
        case live
        case waiting(until: Instant)
        case closed
    }

    package private(set) var settings: ClientSettings
    /// With a code it is known from the first login on. [AC17]
    package internal(set) var identity: ClientIdentity
    /// Changed by `renew`. [AC8]
    package internal(set) var credential: Credential?
    /// Changed by `setReaderLimits`. [DL11]
    package internal(set) var readerLimits: ReaderLimits
    /// What the session may; as the relay said last. [AC4]
    package internal(set) var access: Access?
    /// The public id of the relay that let the client in last. [SE6]
    package internal(set) var relayID: String?
    /// What the join code of the first login stood for. [AC20]
    package internal(set) var invitation: JoinInvitation?
    var state = State.idle
    /// Numbers links, so that what a link that was given up still says is not heard.
    var attempt: UInt64 = 0
    /// Addresses at which nobody has let it in, one after the other without a pause.
    var inVain = 0
    /// Times that a relay has let it in.
    package internal(set) var logins = 0
    /// Completed at the next login, or when an attempt fails.
    var connectTokens: [ClientToken] = []
    var closeToken: ClientToken?
    var closeBy: Instant?
    var logoutIsSent = false

    // The link.
    var reader = FrameReader()
    var outbound: [UInt8] = []
    var outboundStart = 0
    var lastHeard = Instant(nanoseconds: 0)
    var liveSince = Instant(nanoseconds: 0)
    var heartbeat = Duration.seconds(5)
    var pingSentAt: Instant?
    var probeBy: Instant?
    package private(set) var roundTrip: Duration?
    package internal(set) var limits = ServerLimits()
    var backoff = Backoff(base: ClientLimits.backoffBase, cap: ClientLimits.backoffCap)
    var dice: SplitMix64

    // The session.
    var resumeToken: String?
    var wanted = WantedSession()
    var known = KnownSession()

    /// What can be asked again, of what was not answered when the link ended. [SE11]
    var askedAgain: [PendingRequest] = []
    /// Until the pong to the ping behind a login that resumed: flows may still be named again.
    var awaitsRestoration = false

    // What is asked and sent.
    var queue = FIFO<Outgoing>()
    var queuedBytes = 0
    var queuedPackets = 0
    var queuedMessages = 0
    var lastRequest: UInt32 = 0
    var lastNumber: UInt64 = 0
    var requests: [UInt32: PendingRequest] = [:]
    var callEnds = CallEnds()
    /// Calls that have ended, and whose requests go on.
    var abandoned: Set<ClientToken> = []
    /// Locks that this client has, as far as it knows, and those that came when nobody waited for them any more.
    var lockHolds: [LockID: Int] = [:]
    var locksOrphaned: Set<LockID> = []
    /// How often each was lost that this client had.
    var lockLosses: [LockID: Int] = [:]
    var publishes: [UInt64: PendingPublish] = [:]
    var unstored = UnstoredMessages()
    /// Large drawings, in the order of the calls. [BL8]
    var drawings: [OutgoingDrawing] = []
    var lastDrawing: UInt64 = 0
    /// Messages wait to be sent again, since their link ended then.
    var sentUntil: Instant?
    var windows: [Name: CreditWindow] = [:]
    /// Nothing is published before: the relay counts what was sent over the link before this one. [RT8]
    var publishAt: Instant?
    /// Whether the relay refuses what comes behind a refusal; channels in which nothing is published until what was sent is answered;
    /// those whose `goOn` is not answered. [MS10]
    var relayStops = false
    var stopped: [Name: StoppedChannel] = [:]
    var goingOn: [Name: UInt64] = [:]
    var directWindow = AnswerWindow()
    var topicBuckets: [TopicID: PacketPacer] = [:]
    var pumpAt: Instant?

    // What comes out.
    var effects: [ClientEffect] = []
    var events = FIFO<Told>()
    /// Calls whose completion is told among the events, in order.
    var followed: Set<ClientToken> = []
    /// Whether what the link brings waits for the app's readers.
    package var isHeldBack = false
    /// Records that wait for more of them, as long as one chunk of bytes is read.
    var batch: BoardBatch?
    var batchBytes = 0
    /// Large drawings of others that did not come to their end.
    package internal(set) var drawingsDropped = 0
    /// As the events tell it, those not read included.
    package private(set) var linkState = LinkState.idle

    package init(settings: ClientSettings) {
        self.settings = settings
        identity = settings.identity
        credential = settings.credential
        readerLimits = settings.readerLimits
        dice = SplitMix64(seed: settings.seed)
    }

    /// Who this is, where the shell has to look for it before the first login.
    package mutating func identify(secret: String?, device: String) {
        if case .user(let user, _) = identity { identity = .user(user, secret: secret) }
        settings.device = device
    }

    /// What the login of an attempt shows.
    ///
    /// - Returns: whether that attempt is still being made.
    package mutating func use(_ credential: Credential, for attempt: UInt64) -> Bool {
        guard attempt == self.attempt, case .connecting = state else { return false }
        self.credential = credential
        return true
    }

    // MARK: - What the shell takes

    package mutating func takeEffects() -> [ClientEffect] {
        defer { effects = [] }
        if callEnds.first != nil {
            callEnds.forget(Set(effects.compactMap { if case .completed(let token, _) = $0 { token } else { nil } }))
        }
        return effects
    }

    /// Bytes that wait for the socket, as one piece.
    package mutating func gather() -> ArraySlice<UInt8> { outbound[outboundStart...] }

    package mutating func wrote(_ count: Int, at now: Instant) {
        outboundStart += count
        if outboundStart == outbound.count {
            outbound.removeAll(keepingCapacity: outbound.count <= ClientLimits.outboundBytes)
            outboundStart = 0
        }
        pump(at: now)
    }

    /// What has happened next.
    package mutating func nextTold() -> Told? { events.popFirst() }

    /// The next event for the app, without what is told beside events.
    package mutating func nextEvent() -> ClientEvent? {
        while let told = nextTold() { if case .event(let event) = told { return event } }
        return nil
    }

    /// The app has taken a direct message: its sender is told, over the link by which it came and no other. [DM2]
    package mutating func acknowledge(_ delivery: DirectMessage.Delivery) {
        if delivery.attempt == attempt, state == .live { write(.directReceived(delivery: delivery.number)) }
    }

    /// The completion of a call is told among the events, too.
    package mutating func follow(_ token: ClientToken) { followed.insert(token) }
    package mutating func unfollow(_ token: ClientToken) { followed.remove(token) }

    /// Whether kept messages of some channel are still coming.
    package var isCatchingUp: Bool { !known.catchingUp.isEmpty || !known.behind.isEmpty }

    /// What the app has subscribed or joined, to its knowledge, in order of name.
    package var subscribedChannels: [ChannelID] { wanted.channels.keys.inOrder() }
    package func publishes(in topic: TopicID) -> Bool { wanted.publishing[topic] != nil }
    package func isIn(_ channel: ChannelID) -> Bool { wanted.channels[channel] != nil }
    /// What moderators have set of a channel that it is in.
    package func modes(of channel: ChannelID) -> Set<ChannelMode> { known.modes[channel, default: []] }
    /// Large drawings whose last part has not come.
    package var drawingsUnfinished: Int { known.partials.values.reduce(0) { $0 + $1.drawings.count } }
    /// Everything up to there has come of a message channel, or was told.
    package func position(in channel: Name) -> ChannelPosition? { known.positions[channel] }

    package var isClosed: Bool { state == .closed }
    package var hasEvents: Bool { !events.isEmpty }
    package var eventsWaiting: Int { events.count }
    /// What waits to be sent; `bytes` with those of drawings, and of what is not told durable.
    package var unsent: (messages: Int, packets: Int, bytes: Int) {
        (
            queuedMessages + drawings.count { !$0.isAccepted }, queuedPackets,
            queuedBytes + unstored.bytes + drawings.reduce(0) { $0 + $1.bytes.count }
        )
    }
    /// Retained messages that were accepted and are not told durable. [BL2]
    package var unstoredCount: Int { unstored.count }

    package var nextDeadline: Instant? { Instant.earlier(linkDeadline, callEnds.first?.at) }

    private var linkDeadline: Instant? {
        switch state {
        case .connecting(let since): return Instant.earlier(since + settings.connectTimeout, closeBy)
        case .live:
            if isHeldBack { return Instant.earlier(lastHeard + heartbeat, Instant.earlier(pumpAt, closeBy)) }
            // A link that is being probed is judged by that alone.
            let silence = probeBy ?? lastHeard + (pingSentAt.map { $0 >= lastHeard } ?? false ? heartbeat * 2 : heartbeat)
            let roundTrip = pingSentAt.map { $0 + heartbeat * ClientLimits.roundTripEveryIntervals }
            return Instant.earlier(Instant.earlier(silence, roundTrip), Instant.earlier(pumpAt, closeBy))
        case .waiting(let until): return Instant.earlier(until, closeBy)
        case .idle, .closed: return nil
        }
    }

    /// Another credential: for the session that is there, or for the next login. [AC8]
    package mutating func renew(_ credential: Credential, token: ClientToken, at now: Instant) throws(RelayError) {
        guard credential.joinCode == nil else { throw RelayError(.badRequest, "a join code is for the first login") }
        if state == .live { return try request(.renew(credential), token: token, at: now) }
        guard state != .closed else { throw .clientClosed }
        self.credential = credential
        complete(token, .success(.done))
        wakeUp(at: now)
    }

    /// A code with which one more device of the user comes in: the relay wants to see the secret of the login again. [AC17]
    package mutating func offerDevice(token: ClientToken, at now: Instant) throws(RelayError) {
        try request(.offerDevice(secret: identity.secret), token: token, at: now)
    }

    /// What it takes of packets: now, and at each login. [DL11]
    package mutating func setReaderLimits(_ limits: ReaderLimits, token: ClientToken, at now: Instant) throws(RelayError) {
        do throws(WireError) { try limits.check() } catch { throw RelayError(error) }
        try request(.setReaderLimits(limits), token: token, at: now)
        readerLimits = limits
    }

    // MARK: - What happens

    package var isIdle: Bool { state == .idle }

    /// - Parameter token: completed at the next login, or with why the next attempt fails: the client goes on trying.
    package mutating func connect(token: ClientToken?, at now: Instant) {
        switch state {
        case .closed: return complete(token, .failure(.clientClosed))
        case .live: return complete(token, .success(.done))
        case .idle, .waiting, .connecting: if let token { connectTokens.append(token) }
        }
        if case .connecting = state { return }
        open(at: now)
    }

    mutating func open(at now: Instant) {
        attempt += 1
        state = .connecting(since: now)
        emit(.link(.connecting))
        effects.append(.openLink(attempt: attempt))
    }

    package mutating func linkOpened(attempt: UInt64, at now: Instant) {
        guard attempt == self.attempt, case .connecting = state else { return }
        reader = FrameReader()
        known.lostEarly = []
        outbound = []
        outboundStart = 0
        lastHeard = now
        let digits = String(settings.instance, radix: 16)
        lastRequest += 1
        // A token is for a user id: one that is not known yet needs none. [AC17] Nor does a device's code go with another one. [AC20]
        let login = LoginRequest(
            id: lastRequest, capabilities: Capability.allCases.map(\.rawValue), user: identity.user,
            secret: identity.secret, code: identity.code, key: credential?.key, token: identity.user == nil ? nil : credential?.token,
            joinCode: identity.user == nil ? nil : credential?.joinCode,
            instance: String(repeating: "0", count: 16 - digits.count) + digits, device: settings.device,
            onlyDevice: settings.onlyDevice ? true : nil, lastNumber: lastNumber == 0 ? nil : lastNumber,
            presenceTimeoutMs: settings.presenceTimeout.map { Int($0.milliseconds) }, client: settings.description,
            readerLimits: readerLimits == ReaderLimits() ? nil : readerLimits, resume: resumption, space: settings.space)
        write(.json(.login, login))
    }

    /// With the place of the app in each message channel. [SE2] More than a login may hold is not resumed.
    private var resumption: ResumeRequest? {
        guard let resumeToken else { return nil }
        // A board that is being read wants its own records, too. [BL3]
        var places = known.positions.mapValues { Since.position($0) }
        for channel in known.readings.keys { if let position = known.positions[channel] { places[channel] = .rest(position) } }
        for case .subscribe(let channel, _, _, _) in askedAgain.map(\.request) {
            if let asked = placeAsked(of: channel) { places[channel] = asked }
        }
        var seen: [String: [UInt64]] = [:]
        var bytes = 0
        for (channel, since) in places {
            seen[channel.text] = since.place
            // JSON escapes one character that a name may have. [NM1]
            bytes += channel.text.utf8.reduce(ClientLimits.placeBytes) { $0 + ($1 == UInt8(ascii: "\"") ? 2 : 1) }
        }
        guard bytes <= ClientLimits.placesBytesMax else { return nil }
        return ResumeRequest(token: resumeToken, seen: seen.isEmpty ? nil : seen)
    }

    package mutating func linkEnded(attempt: UInt64, text: String, at now: Instant) {
        guard attempt == self.attempt else { return }
        end(.linkFailed(text), at: now)
    }

    package mutating func received(_ bytes: UnsafeRawBufferPointer, attempt: UInt64, at now: Instant) {
        guard attempt == self.attempt else { return }
        lastHeard = now
        probeBy = nil
        reader.append(bytes)
        do throws(WireError) {
            while attempt == self.attempt, let frame = try reader.next() {
                try receive(frame, at: now)
                guard outbound.count - outboundStart <= ClientLimits.outboundBytesMax else {
                    throw WireError(.protocolError, "the relay asks and does not read: \(outbound.count - outboundStart) bytes wait for it")
                }
            }
        } catch {
            if attempt == self.attempt { end(.relayFault(error.text), at: now) }
        }
        flushBatch()
        pump(at: now)
    }

    package mutating func deadline(at now: Instant) {
        endCalls(at: now)
        if let closeBy, now >= closeBy {
            guard state == .live, !logoutIsSent else { return finish(.closedByApp) }
            dropPackets(.closed)
            return logOut(at: now)
        }
        switch state {
        case .connecting(let since): if now >= since + settings.connectTimeout { end(.timedOut, at: now) }
        case .waiting(let until): if now >= until { open(at: now) }
        case .live:
            let late = now - (lastHeard + heartbeat * 2)
            if isHeldBack {
                // What the relay says waits unread, and is no silence. It hears from this client.
                if now >= lastHeard + heartbeat {
                    lastHeard = now
                    ping(at: now)
                }
            } else if let probeBy {
                if now >= probeBy { return end(.relaySilent, at: now) }
            } else if now >= lastHeard + heartbeat * 2, let pingSentAt, pingSentAt >= lastHeard {
                // The host slept: the relay gets a chance to be heard before it is judged. [HB4]
                guard late > ClientLimits.latenessTolerated else { return end(.relaySilent, at: now) }
                probe(at: now)
            } else if now >= lastHeard + heartbeat, pingSentAt.map({ $0 < lastHeard }) ?? true {
                ping(at: now)
            } else if let pingSentAt, now >= pingSentAt + heartbeat * ClientLimits.roundTripEveryIntervals {
                ping(at: now)
            }
            pump(at: now)
        case .idle, .closed: break
        }
    }

    /// An app comes to the foreground: tries at once, or finds out soon whether the link is still good.
    package mutating func wakeUp(at now: Instant) {
        switch state {
        case .waiting: open(at: now)
        case .live: probe(at: now)
        case .idle, .connecting, .closed: break
        }
    }

    private mutating func probe(at now: Instant) {
        probeBy = now + ClientLimits.probeTimeout
        ping(at: now)
    }

    mutating func ping(at now: Instant) {
        pingSentAt = now
        var body: [UInt8] = []
        body.append(bigEndian: now.nanoseconds)
        write(Frame(.ping, body: body))
    }

    mutating func pong(_ body: [UInt8], at now: Instant) {
        guard body.count == 8 else { return }
        let sent = Instant(nanoseconds: body.reduce(0) { $0 << 8 | UInt64($1) })
        if sent <= now { roundTrip = now - sent }
        if awaitsRestoration {
            awaitsRestoration = false
            restorationEnded()
        }
    }

    // MARK: - Events

    mutating func emit(_ event: ClientEvent) {
        flushBatch()
        if case .link(let state) = event { linkState = state }
        events.append(.event(event))
    }

    mutating func write(_ frame: Frame) { outbound.append(contentsOf: frame.bytes) }
}
