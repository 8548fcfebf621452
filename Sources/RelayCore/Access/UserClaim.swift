internal import RelayJournal
import RelayPrimitives
import RelayWire

/// Which client a user id belongs to. [AC3]
struct UserClaim: Equatable {
    /// Half of the SHA-256 digest of the client's secret; `nil` of one that came with a token alone.
    var digest: Entropy?
    /// When its session was there last, by the wall clock, in milliseconds since 1970.
    var lastSeen: UInt64
    /// The value of `lastSeen` that the journal has; `nil`: none.
    var stored: UInt64?

    static func digest(of secret: Entropy) -> Entropy {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: secret.high)
        bytes.append(bigEndian: secret.low)
        let digest = SHA256.hash(bytes)
        func word(_ index: Int) -> UInt64 { digest[index..<index + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        return Entropy(high: word(0), low: word(8))
    }
}

// User ids and the clients they belong to. [AC3]

/// Which clients user ids belong to. [AC3]
struct ClaimBook {
    private var claims: [Name: UserClaim] = [:]
    /// Codes with which another device of a user comes in. [AC17]
    var offers = DeviceOffers()
    /// Whether a `claimSweep` deadline is set.
    var sweepIsSet = false

    var count: Int { claims.count }
    var isEmpty: Bool { claims.isEmpty }
    /// In order.
    var users: [Name] { claims.keys.inOrder() }

    subscript(user: Name) -> UserClaim? {
        get { claims[user] }
        set { claims[user] = newValue }
    }
}

extension Hub {
    /// Whether a user id may be used by a client, which is taken down if so.
    ///
    /// - Parameter isToken: a token is for this user id: whoever has it is its client.
    /// - Throws: `userIDTaken`, `relayFull`.
    mutating func claim(_ user: Name, digest: Entropy?, isToken: Bool) throws(WireError) {
        let known = claims[user]
        if let known, !isToken, isHeld(user, known) {
            // A difference is not told by how long it takes to find.
            let difference = known.digest.map { ($0.high ^ (digest?.high ?? 0)) | ($0.low ^ (digest?.low ?? 0)) } ?? 1
            guard difference == 0, digest != nil else {
                throw WireError(
                    .userIDTaken,
                    "user id \(user) belongs to the client that used it first: log in with the secret of that client, or take another id")
            }
        }
        if known == nil, claims.count >= configuration.claimsMax { boundClaims() }
        // A client with a token and no secret is not the client that had one: no key gets the id then.
        let isSame = known?.digest == digest
        claims[user] = UserClaim(digest: digest, lastSeen: now.wallMilliseconds, stored: isSame ? known?.stored : nil)
        storeIfDue([user])
        if !claims.sweepIsSet { setClaimSweep() }
    }

    /// The journal is told at most once an hour that a user id is in use.
    private static let claimStoredEvery: UInt64 = 3_600_000

    mutating func storeIfDue(_ users: [Name]) {
        guard configuration.isJournaled, storage.failure == nil else { return }
        let due = users.filter { [claims] user in claims[user]!.stored.map { claims[user]!.lastSeen >= $0 + Self.claimStoredEvery } ?? true
        }
        for first in stride(from: 0, to: due.count, by: Self.claimsPerRecord) {
            let some = due[first..<min(first + Self.claimsPerRecord, due.count)]
            for user in some { claims[user]!.stored = claims[user]!.lastSeen }
            store(some.map { [claims] in StoredForm.claim($0, claims[$0]!) }, .claims(Array(some)), nil)
        }
    }

    /// What was on its way to a disk that takes nothing.
    mutating func claimsWereNotStored(_ users: [Name]) {
        for user in users where claims[user] != nil { claims[user]!.stored = nil }
    }

    /// Changes can be stored again: also of users who came and went meanwhile.
    mutating func storeClaims() { storeIfDue(claims.users.filter { [claims] in claims[$0]!.stored == nil }) }

    /// How many stand in one record when all users who are here are stored.
    private static let claimsPerRecord = 256

    /// Its session is there, or was lately, or the relay keeps something of it.
    private func isHeld(_ user: Name, _ claim: UserClaim) -> Bool {
        if isHere(user) { return true }
        return hasMetadata(user) || now.wallMilliseconds < claim.lastSeen + UInt64(configuration.claimTime.milliseconds)
    }

    /// Whether something is kept of a user; that somebody looks for it is not enough.
    func hasMetadata(_ user: Name) -> Bool {
        metadata[of: .user(user)].map { metadata[$0].applied.majorRevision > 0 || metadata[$0].revealed.majorRevision > 0 } ?? false
    }

    /// The session of a user ends now.
    mutating func userWasSeen(_ user: Name) {
        guard claims[user] != nil else { return }
        claims[user]!.lastSeen = now.wallMilliseconds
        storeIfDue([user])
    }

    private mutating func setClaimSweep() {
        claims.sweepIsSet = true
        deadlines.set(.claimSweep, at: now.instant + .seconds(3600))
    }

    /// Forgets users who have not been here for a day. A user who is here counts as seen, so that a crash does not make its id free.
    mutating func sweepClaims() {
        claims.sweepIsSet = false
        let users = claims.users
        var here: [Name] = []
        for user in users where isHere(user) {
            claims[user]!.lastSeen = now.wallMilliseconds
            here.append(user)
        }
        storeIfDue(here)
        for user in users {
            let claim = claims[user]!
            if !isHeld(user, claim) { forgetClaim(user) }
        }
        if !claims.isEmpty { setClaimSweep() }
    }

    mutating func forgetClaim(_ user: Name) {
        claims[user] = nil
        guard configuration.isJournaled, storage.failure == nil else { return }
        store([StoredForm.claim(user, nil)], .nothing, nil)
    }

    /// The longest unseen ones go, some more than must, so that the search is worth it. Users who are here, or have something here, stay.
    private mutating func boundClaims() {
        var idle: [(lastSeen: UInt64, user: Name)] = []
        for user in claims.users where !hasMetadata(user) && !isHere(user) { idle.append((claims[user]!.lastSeen, user)) }
        idle.sort { $0 < $1 }
        for (_, user) in idle.prefix(max(1, configuration.claimsMax / 16)) { forgetClaim(user) }
    }
}
