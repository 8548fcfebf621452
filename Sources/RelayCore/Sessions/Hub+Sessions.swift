import RelayPrimitives
import RelayWire

// Login, resume, replacement, away, the end. [SE1–SE13]

extension Hub {
    // MARK: - Login

    mutating func login(_ body: UnsafeRawBufferPointer, _ connection: Connection.Index) throws(WireError) {
        let versions = try decode(LoginVersions.self, body).versions
        guard versions.contains(Limits.protocolVersion) else {
            return close(connection, .versionNotSupported, "this relay speaks version \(Limits.protocolVersion), and this client does not")
        }
        let request = try decode(LoginRequest.self, body)
        guard isForThis(request.space, connection) else { return }
        let checked = try CheckedLogin(request, timeoutDefault: configuration.presenceTimeoutDefault)
        guard !hasGuessedEnough(connection), !isPutOff(checked, request, connection) else { return }
        let (admission, offer, channel): (Admission, DeviceOffers.Offer?, Name?)
        do throws(WireError) {
            (admission, offer, channel) = try judge(request, connection)
        } catch {
            guard Self.isWrongCredential(error.code) else { throw error }
            return refuseLate(connection, error, of: request.user, id: request.id)
        }
        let user = offer?.user ?? request.user!
        let secretDigest = (offer?.secret.flatMap { Entropy(hex: $0) } ?? checked.secret).map(UserClaim.digest)
        if let text = banText(on: user, digest: secretDigest) {
            tellHeldRefusals(connection)
            return close(connection, .banned, text)
        }
        let (known, others) = sessionsTaken(by: checked, of: user)
        let taken = others + (known.map { [$0] } ?? [])
        guard hasPlace(connection, admission, isNew: known == nil, taken: taken) else { return }
        let address = connections[connection].peer.address
        if known == nil { try checkMemory(Footprint.session, of: address) }
        if !accessRules.isOpen {
            guard secretDigest != nil || admission.isToken else {
                throw WireError(.badRequest, "field secret is missing: a user id belongs to the client that has it")
            }
            try claim(user, digest: secretDigest, admission, from: connections[connection].peer.address)
        }
        tellHeldRefusals(connection)

        let (session, resumed) = try takeSession(of: user, checked, from: address)
        attach(session, to: connection, checked)
        sessions[session].secretDigest = secretDigest
        if let offer { endOffer(offer) }
        let publishAfterMs = renewCredit(session)

        enqueueJSON(
            connection, .welcome,
            Welcome(
                id: request.id, capabilities: checked.capabilities.map(\.rawValue).inOrder(), relay: storage.relayID.hex,
                user: user, handle: sessions[session].handle,
                resumeToken: connections[connection].entropy.hex,
                resumed: resumed, lastEnd: sessions[session].lastEnd,
                lastNumber: sessions[session].window.lastNumber,
                forgotten: sessions[session].window.hasForgotten(through: checked.lastNumber), start: start.number,
                heartbeatMs: Int(checked.heartbeat(max: configuration.heartbeatMax).milliseconds),
                presenceTimeoutMs: Int(checked.presenceTimeout.milliseconds),
                access: accessBody(access(of: user, given: admission.access)), limits: configuration.limits,
                publishAfterMs: publishAfterMs, secret: offer?.secret, joinKey: channel == nil ? nil : accessRules.joinKey,
                channel: channel))
        sessions[session].lastEnd = nil
        setAccess(admission, session)
        if resumed {
            counters.sessionsResumed += 1
            restore(session, connection, seen: checked.seen)
        } else {
            counters.sessionsOpened += 1
        }
    }

    /// What lets it in; with a device's code also whose it is, with a join code also where that leads. [AC1, AC17, AC20]
    private mutating func judge(
        _ request: LoginRequest, _ connection: Connection.Index
    ) throws(WireError) -> (Admission, DeviceOffers.Offer?, Name?) {
        if let joinCode = request.joinCode, !accessRules.isOpen {
            guard request.key == nil, request.token == nil, request.code == nil else {
                throw WireError(.badRequest, "field joinCode stands in place of key, token and code")
            }
            let channel = try judge(joinCode: joinCode, from: connections[connection].peer.address)
            return (try admit(request.user, key: accessRules.joinKey, token: nil), nil, channel)
        }
        let admission = try admit(request.user, key: request.key, token: request.token)
        guard let code = request.code else { return (admission, nil, nil) }
        guard let offer = claims.offers.find(code, at: now.instant) else {
            throw WireError(.codeWrong, "the code is wrong, used or older than two minutes")
        }
        return (admission, offer, nil)
    }

    /// Tokens are not guessed, nor is what was shown before.
    private mutating func isPutOff(_ login: CheckedLogin, _ request: LoginRequest, _ connection: Connection.Index) -> Bool {
        guard request.key != nil || request.code != nil || request.joinCode != nil, request.token == nil else { return false }
        var resumed: Session.Index?
        if login.resume != nil, let user = request.user {
            for session in people.sessions(of: user) where login.resumes(sessions[session]) { resumed = session }
        }
        return isPutOff(request.key, connection, of: resumed)
    }

    /// Sessions that a login takes over: its device's, and all others with `onlyDevice`.
    private func sessionsTaken(by login: CheckedLogin, of user: Name) -> (known: Session.Index?, others: [Session.Index]) {
        let all = people.sessions(of: user)
        let known = all.first { sessions[$0].device == login.device }
        return (known, login.isOnlyDevice ? all.filter { $0 != known } : [])
    }

    /// The session of a device that logs in: its present one, resumed or handed over, or a new one.
    ///
    /// - Throws: `limitReached`.
    private mutating func takeSession(
        of user: Name, _ login: CheckedLogin, from address: AddressKey
    ) throws(WireError) -> (session: Session.Index, isResumed: Bool) {
        let (known, others) = sessionsTaken(by: login, of: user)
        if !login.isOnlyDevice { try makeRoom(for: known, of: user) }
        let session = known ?? makeSession(of: user, device: login.device, from: address)
        var isResumed = false
        switch sessions[session].state {
        case .vacant, .lingering: break
        case .present(let old):
            isResumed = login.resumes(sessions[session])
            close(old, .replaced, "user \(user) has logged in elsewhere")
            // That end is this login's own doing and says nothing to it.
            sessions[session].lastEnd = nil
            if !isResumed { handOver(session) }
        case .away:
            isResumed = login.resumes(sessions[session])
            if !isResumed { handOver(session) }
        }
        for other in others { replace(other, by: session) }
        return (session, isResumed)
    }

    /// The user's device that is away longest makes room for one more.
    ///
    /// - Parameter known: what there is of the device that comes.
    /// - Throws: `limitReached` if none is away.
    private mutating func makeRoom(for known: Session.Index?, of user: Name) throws(WireError) {
        if let known, sessions[known].state.isThere { return }
        let limit = configuration.devicesPerUserMax
        let live = liveSessions(of: user)
        if live.count >= limit {
            let away = live.filter { [sessions] in sessions[$0].state == .away }
            guard let longest = away.min(by: { [sessions] in sessions[$0].awaySince < sessions[$1].awaySince }) else {
                throw WireError(
                    .limitReached, "at most \(limit) devices of a user are here", limit: limit, actual: live.count + 1)
            }
            endSession(longest, telling: .timeout)
        }
        // The bound counts lingering sessions too: devices that come and go leave no more of them.
        let all = people.sessions(of: user)
        guard known == nil, all.count >= limit else { return }
        if let oldest = all.first(where: { [sessions] in sessions[$0].state == .lingering }) { forgetUser(oldest) }
    }

    /// Another device takes over: what this one is in is handed on, but for its states. [SE8]
    private mutating func replace(_ other: Session.Index, by session: Session.Index) {
        guard sessions[other].state.isThere else { return forgetUser(other) }
        if case .present(let connection) = sessions[other].state {
            close(connection, .replaced, "user \(sessions[other].user!) has logged in on another device")
        }
        handOver(other)
        for membership in sortedMemberships(other) {
            let channel = memberships[membership].channel
            dropStates(of: membership)
            guard sessions[session].memberships[channel] == nil else {
                presenceLeft(membership, .leave)
                removeMembership(membership)
                continue
            }
            sessions[other].memberships.remove(channel)
            channels[channel].inside.remove(other)
            uncount(membership)
            memberships[membership].session = session
            recount(membership)
            sessions[session].memberships.insert(membership, in: channel)
            channels[channel].inside.insert(session)
        }
        sessions[session].presenceTimeout = max(sessions[session].presenceTimeout, sessions[other].presenceTimeout)
        endSession(other, telling: .leave)
        forgetUser(other)
    }

    /// Joins a session and a connection.
    private mutating func attach(_ session: Session.Index, to connection: Connection.Index, _ login: CheckedLogin) {
        setState(session, .present(connection: connection))
        move(session, to: connections[connection].peer.address)
        sessions[session].resumeToken = connections[connection].entropy
        takeUpWindow(session, instance: login.instance, lastNumber: login.lastNumber)
        let handedOverUntil = now.instant + sessions[session].presenceTimeout
        sessions[session].presenceTimeout = login.presenceTimeout
        sessions[session].heartbeat = login.heartbeat(max: configuration.heartbeatMax)
        sessions[session].client = login.client
        sessions[session].goesOn = login.capabilities.contains(.goOn)
        outbox.link(session, to: connection)
        outbox.limit(connection, login.readerLimits)
        ownerCame(lockOwner(session))
        connections[connection].session = session
        connections[connection].state = .live
        greetingEnded(connection)
        accounts.live.take(connections[connection].peer.address)
        setHeartbeat(connection, at: now.instant + sessions[session].heartbeat)
        if sessions[session].memberships.all.contains(where: { [memberships] in memberships[$0].heldOver }) {
            deadlines.set(.heldOver(session: session, generation: sessions[session].generation), at: handedOverUntil)
        }
    }

    /// A newer login takes over: flows and selections end, the stays in channels wait for being subscribed again. [SE8]
    private mutating func handOver(_ session: Session.Index) {
        for membership in sortedMemberships(session) {
            closeFlows(of: membership)
            removeSelections(of: membership)
            removeReceiver(session, from: memberships[membership].channel)
            if memberships[membership].quiet {
                removeMembership(membership)
            } else {
                memberships[membership].heldOver = true
                memberships[membership].lent = nil
            }
        }
        forgetOwn(session)
    }

    private mutating func forgetOwn(_ session: Session.Index) {
        (sessions[session].statesBefore, sessions[session].statesBeforeBytes) = ([:], 0)
        stopUserMetadata(of: session)
        forgetJoinCode(of: session)
        sessions[session].closedFlows = []
        recount(session)
    }

    /// Stays that were handed over and not taken up end for others now.
    mutating func dropHeldOver(_ session: Session.Index, telling end: PresenceEnd) {
        for membership in sortedMemberships(session) where memberships[membership].heldOver {
            presenceLeft(membership, end)
            removeMembership(membership)
        }
    }

    // MARK: - Away, the end

    /// The connection of a session is gone or going. The session is away, whatever the reason; `logout` ends it before.
    mutating func detach(_ connection: Connection.Index, lastEnd: CloseNotice?) {
        guard let session = connections[connection].session else { return }
        connections[connection].session = nil
        outbox.link(session, to: nil)
        endCatchUps(of: connection)
        failDirects(to: session)
        stopWaiting(session, connections[connection].id)
        ownerLeft(lockOwner(session))
        guard case .present = sessions[session].state else { return }
        setState(session, .away)
        sessions[session].awaySince = now.instant
        sessions[session].lastEnd = lastEnd
        deadlines.set(
            .sessionEnd(session: session, generation: sessions[session].generation),
            at: now.instant + sessions[session].presenceTimeout)
        if sessions[session].memberships.all.contains(where: { [memberships] in memberships[$0].heldOver }) {
            deadlines.set(
                .heldOver(session: session, generation: sessions[session].generation),
                at: now.instant + sessions[session].presenceTimeout)
        }
    }

    /// Holds for the connection. [DL11]
    mutating func setReaderLimits(_ body: UnsafeRawBufferPointer, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(SetReaderLimitsRequest.self, body)
        try request.limits.check()
        outbox.limit(connection, request.limits)
        answer(connection, EmptyAnswer(id: request.id))
    }

    mutating func logout(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(EmptyRequest.self, body)
        answer(connection, EmptyAnswer(id: request.id))
        close(connection, .loggedOut, "logged out")
        endSession(session, telling: .leave)
    }

    /// Takes a session out of everything; its rate buckets stay for a moment. [RT3]
    mutating func endSession(_ session: Session.Index, telling end: PresenceEnd) {
        userWasSeen(sessions[session].user!)
        endParts(of: session)
        for membership in sortedMemberships(session) { removeFromChannel(membership, end) }
        forgetOwn(session)
        endOffer(of: session)
        setState(session, .lingering)
        sessions[session].lastEnd = nil
        outbox.link(session, to: nil)
        deadlines.set(
            .userForgotten(session: session, generation: sessions[session].generation), at: now.instant + configuration.userLinger)
    }

    mutating func forgetUser(_ session: Session.Index) {
        keepWindow(of: session)
        forgetDirects(from: session)
        removeSession(session)
    }

    /// What a session is in, in the order of the channels' names: that of their places differs from relay to relay.
    func sortedMemberships(_ session: Session.Index) -> [Membership.Index] {
        sessions[session].memberships.all.inOrder { [channels, memberships] in
            channels[memberships[$0].channel].id! < channels[memberships[$1].channel].id!
        }
    }
}

/// All that every version of a login has. [SE3]
private struct LoginVersions: JSONObject {
    var versions: [Int] = []

    mutating func fields(_ json: inout JSONFields) { json("versions", &versions) }
}

/// The fields of a login that need more than the right type. [SE2, SE7]
private struct CheckedLogin {
    var instance: UInt64
    var device: UInt64
    var isOnlyDevice: Bool
    var lastNumber: UInt64
    var secret: Entropy?
    var presenceTimeout: Duration
    var client: String
    var readerLimits: ReaderLimits
    var resume: Entropy?
    /// By message channel.
    var seen = [String: Since]()
    /// Those of the client that the relay has, too. [SE3]
    var capabilities: Set<Capability>

    init(_ request: LoginRequest, timeoutDefault: Duration) throws(WireError) {
        guard request.instance.utf8.count == 16, let instance = UInt64(hex: request.instance) else {
            throw WireError(.badRequest, "field instance has 16 hexadecimal digits")
        }
        self.instance = instance
        if request.code == nil {
            guard request.user != nil else { throw WireError(.badRequest, "field user is missing") }
        } else if request.user != nil || request.secret != nil || request.token != nil || request.resume != nil {
            throw WireError(.badRequest, "field code stands in place of user, secret, token and resume")
        }
        device = 0
        if let digits = request.device {
            guard digits.utf8.count == 16, let device = UInt64(hex: digits) else {
                throw WireError(.badRequest, "field device has 16 hexadecimal digits")
            }
            self.device = device
        }
        isOnlyDevice = request.onlyDevice ?? false
        lastNumber = request.lastNumber ?? 0
        guard lastNumber <= Limits.integerMax else {
            throw WireError(
                .badRequest, "field lastNumber is at most \(Limits.integerMax), not \(lastNumber)",
                limit: Int(Limits.integerMax), actual: Int(clamping: lastNumber))
        }
        if let digits = request.secret {
            guard let secret = Entropy(hex: digits) else { throw WireError(.badRequest, "field secret has 32 hexadecimal digits") }
            self.secret = secret
        }
        if let milliseconds = request.presenceTimeoutMs {
            let allowed = Limits.presenceTimeoutMilliseconds
            guard allowed.contains(milliseconds) else { throw .outside("presenceTimeoutMs", allowed, milliseconds) }
            presenceTimeout = .milliseconds(milliseconds)
        } else {
            presenceTimeout = timeoutDefault
        }
        client = request.client ?? ""
        guard client.utf8.count <= Limits.clientDescriptionBytesMax else {
            throw WireError(
                .tooLarge, "field client has at most \(Limits.clientDescriptionBytesMax) bytes, not \(client.utf8.count)",
                limit: Limits.clientDescriptionBytesMax, actual: client.utf8.count)
        }
        capabilities = Set((request.capabilities ?? []).compactMap(Capability.init(rawValue:)))
        readerLimits = request.readerLimits ?? ReaderLimits()
        try readerLimits.check("readerLimits.")
        // A malformed token counts as an old one. [SE10]
        resume = request.resume.flatMap { Entropy(hex: $0.token) }
        for (channel, place) in request.resume?.seen ?? [:] {
            guard let since = Since(place: place) else {
                throw WireError(
                    .badRequest,
                    "field resume.seen has for each channel an offset, its epoch's start and incarnation, and 1 if a board is being read, "
                        + "or nothing")
            }
            seen[channel] = since
        }
    }

    func resumes(_ session: Session) -> Bool { resume != nil && resume == session.resumeToken }

    func heartbeat(max: Duration) -> Duration { min(max, presenceTimeout / 2) }
}

extension Entropy {
    /// 32 hexadecimal digits.
    var hex: String { high.hex + low.hex }

    init?(hex: String) {
        guard hex.utf8.count == 32, let high = UInt64(hex: hex.prefix(16)), let low = UInt64(hex: hex.suffix(16)) else { return nil }
        self.init(high: high, low: low)
    }
}

extension UInt64 {
    var hex: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Hexadecimal digits only, no sign; of more than 16 the last ones count.
    init?(hex: some StringProtocol) {
        self = 0
        for digit in hex.utf8 {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            self = self << 4 | UInt64(value)
        }
    }
}
