import RelayPrimitives
import RelayWire

// A code for newcomers, in place of the join key. [AC20]

/// Codes that are there, at most one of each session, and the wrong ones that came in the last minute.
struct JoinCodes {
    struct Open {
        var code: JoinCode
        var channel: Name
        var session: Session.Index
        var until: Instant
        /// Wrong codes that came since it is there.
        var wrong = 0
    }

    private struct Try {
        var at: Instant
        var address: AddressKey
    }

    private var open: [Open] = []
    /// Oldest first. No more are kept than are judged in a minute.
    private var tries: [Try] = []
    /// Whether a `joinCodes` deadline is set, for the end of none later.
    var deadlineIsSet = false

    static let minute = Duration.seconds(60)

    var count: Int { open.count }
    var triesKept: Int { tries.count }
    /// When the first one ends.
    var next: Instant? { open.map(\.until).min() }

    func code(of session: Session.Index) -> Open? { open.first { $0.session == session } }

    func has(_ code: JoinCode) -> Bool { open.contains { $0.code == code } }

    mutating func add(_ code: JoinCode, to channel: Name, of session: Session.Index, until: Instant) {
        open.append(Open(code: code, channel: channel, session: session, until: until))
    }

    mutating func remove(of session: Session.Index) { open.removeAll { $0.session == session } }

    /// Removes the codes for which a condition holds.
    mutating func take(where condition: (Open) -> Bool) -> [Open] {
        let taken = open.filter(condition)
        open.removeAll(where: condition)
        return taken
    }

    /// Where a code leads. It is compared with all: how long that takes says nothing about any.
    func channel(_ text: String, at now: Instant) -> Name? {
        let given = JoinCode(text)
        var found: Name?
        for code in open where code.code == given && now < code.until { found = code.channel }
        return found
    }

    // MARK: - Wrong ones

    /// Whether one more is judged.
    ///
    /// - Throws: `rateLimited`.
    mutating func checkTries(from address: AddressKey, at now: Instant, _ configuration: Configuration) throws(WireError) {
        tries.removeAll { $0.at + Self.minute <= now }
        let own = address == .local ? [] : tries.filter { $0.address == address }
        try Self.check(own, "from your address", max: configuration.wrongJoinCodesOfAddressMax, at: now)
        try Self.check(tries, "from all addresses", max: configuration.wrongJoinCodesMax, at: now)
    }

    private static func check(_ tries: [Try], _ whence: String, max: Int, at now: Instant) throws(WireError) {
        guard tries.count >= max, let first = tries.first else { return }
        throw WireError(
            .rateLimited, "\(max) wrong join codes came \(whence) within a minute", limit: max, actual: tries.count + 1,
            retryAfterMilliseconds: UInt64((first.at + minute - now + .nanoseconds(999_999)).milliseconds))
    }

    /// Counts one, for all codes.
    ///
    /// - Returns: of the bound that is nearer, how many have come within a minute.
    mutating func noteWrong(from address: AddressKey, at now: Instant, _ configuration: Configuration) -> (limit: Int, actual: Int) {
        tries.append(Try(at: now, address: address))
        for place in open.indices { open[place].wrong += 1 }
        let all = (limit: configuration.wrongJoinCodesMax, actual: tries.count)
        let own = (limit: configuration.wrongJoinCodesOfAddressMax, actual: tries.count { $0.address == address })
        return address != .local && own.limit - own.actual <= all.limit - all.actual ? own : all
    }
}

/// Six of 20 letters: consonants alone, so that they are no word, and no L, which looks like a digit.
struct JoinCode: Equatable {
    private let value: UInt32

    private static let alphabet = Array("BCDFGHJKMNPQRSTVWXYZ".utf8)
    private static let count = (0..<Limits.joinCodeLetters).reduce(1) { product, _ in product * UInt64(alphabet.count) }

    /// - Parameter secret: without it nobody can guess the code.
    init(from secret: Entropy, number: UInt32) { value = UInt32(secret.word("join code", number) % Self.count) }

    /// As a person may have typed it: in small letters, with hyphens and spaces.
    ///
    /// - Returns: `nil` for what is no code.
    init?(_ text: String) {
        var value: UInt32 = 0, count = 0
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let letter = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 32 : byte
            guard count < Limits.joinCodeLetters, let digit = Self.alphabet.firstIndex(of: letter) else { return nil }
            value = value * UInt32(Self.alphabet.count) + UInt32(digit)
            count += 1
        }
        guard count == Limits.joinCodeLetters else { return nil }
        self.value = value
    }

    var text: String {
        var (rest, letters) = (Int(value), [UInt8]())
        for _ in 0..<Limits.joinCodeLetters {
            letters.append(Self.alphabet[rest % Self.alphabet.count])
            rest /= Self.alphabet.count
        }
        return String(decoding: letters.reversed(), as: UTF8.self)
    }
}

extension Hub {
    mutating func offerJoinCode(
        _ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index
    ) throws(WireError) {
        let request = try decode(ChannelRequest.self, body)
        try requireModerator(session)
        guard accessRules.joinKey != nil else { throw WireError(.notSupported, "this relay has no join key that a code could stand for") }
        guard joinKey(for: session) != nil else {
            throw WireError(.notPermitted, "the key of this session's login was replaced")
        }
        let known = claims.joinCodes.code(of: session)
        if let known, known.channel == request.channel, known.until > now.instant {
            return answer(connection, request.id, known.code, until: known.until)
        }
        let (limit, others) = (configuration.joinCodesMax, claims.joinCodes.count - (known == nil ? 0 : 1))
        guard others < limit else {
            throw WireError(.limitReached, "at most \(limit) join codes of a relay hold at once", limit: limit, actual: others + 1)
        }
        claims.joinCodes.remove(of: session)
        var code: JoinCode
        repeat {
            code = JoinCode(from: connections[connection].entropy, number: ordinals.offer())
        } while claims.joinCodes.has(code)
        let until = now.instant + configuration.joinCodeValid
        claims.joinCodes.add(code, to: request.channel, of: session, until: until)
        setJoinCodeDeadline()
        answer(connection, request.id, code, until: until)
    }

    private mutating func answer(_ connection: Connection.Index, _ id: UInt32, _ code: JoinCode, until: Instant) {
        answer(connection, OfferJoinCodeAnswer(id: id, code: code.text, validMs: Int((until - now.instant).milliseconds)))
    }

    mutating func withdrawJoinCode(
        _ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index
    ) throws(WireError) {
        let request = try decode(EmptyRequest.self, body)
        claims.joinCodes.remove(of: session)
        answer(connection, EmptyAnswer(id: request.id))
    }

    /// Where a join code of a login leads.
    ///
    /// - Throws: `codeWrong`, to be answered late; `rateLimited`, which says nothing about the code.
    mutating func judge(joinCode text: String, from address: AddressKey) throws(WireError) -> Name {
        try claims.joinCodes.checkTries(from: address, at: now.instant, configuration)
        if let channel = claims.joinCodes.channel(text, at: now.instant) { return channel }
        let (limit, actual) = claims.joinCodes.noteWrong(from: address, at: now.instant, configuration)
        let most = configuration.wrongJoinCodesPerCodeMax
        for ended in claims.joinCodes.take(where: { $0.wrong >= most }) {
            tell(ended, .wrongTries)
            let user = sessions[ended.session].user!
            log(.warning, "the join code of user \(user) to \(ended.channel) is void: \(ended.wrong) wrong ones came")
        }
        throw WireError(
            .codeWrong, "the join code is wrong or void: \(limit - actual) more wrong ones are judged within this minute", limit: limit,
            actual: actual)
    }

    // MARK: - Ends

    private mutating func setJoinCodeDeadline() {
        guard !claims.joinCodes.deadlineIsSet, let next = claims.joinCodes.next else { return }
        claims.joinCodes.deadlineIsSet = true
        deadlines.set(.joinCodes, at: next)
    }

    mutating func joinCodeDeadline() {
        claims.joinCodes.deadlineIsSet = false
        for ended in claims.joinCodes.take(where: { [now] in $0.until <= now.instant }) { tell(ended, .expired) }
        setJoinCodeDeadline()
    }

    /// The join key was replaced, or a session may no longer learn it.
    mutating func endJoinCodes() {
        for ended in claims.joinCodes.take(where: { _ in true }) { tell(ended, .keyChanged) }
    }

    /// The session ends: nobody is there to be told.
    mutating func forgetJoinCode(of session: Session.Index) { claims.joinCodes.remove(of: session) }

    mutating func endJoinCode(of session: Session.Index, telling reason: JoinCodeEnded.Reason) {
        for ended in claims.joinCodes.take(where: { $0.session == session }) { tell(ended, reason) }
    }

    private mutating func tell(_ ended: JoinCodes.Open, _ reason: JoinCodeEnded.Reason) {
        guard let connection = outbox.connection(of: ended.session) else { return }
        enqueueJSON(connection, .joinCodeEnded, JoinCodeEnded(reason))
    }
}
