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
    /// Where it first came from, whose place it has; `nil`: before this start.
    var address: AddressKey?

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
    private var claims = [Name: UserClaim]()
    private(set) var places = Places()
    /// Time of the last search for claims that nobody holds.
    var lookedAt: Instant?
    /// Codes with which another device of a user comes in. [AC17]
    var offers = DeviceOffers()
    /// Codes with which newcomers come in. [AC20]
    var joinCodes = JoinCodes()
    /// Whether a `claimSweep` deadline is set.
    var sweepIsSet = false

    var count: Int { claims.count }
    var isEmpty: Bool { claims.isEmpty }
    /// In order.
    var users: [Name] { claims.keys.inOrder() }

    subscript(user: Name) -> UserClaim? {
        get { claims[user] }
        set {
            if let old = claims[user] {
                if newValue == nil { places.giveBack(old.address) }
            } else if let newValue {
                places.take(newValue.address)
            }
            claims[user] = newValue
        }
    }
}

extension Hub {
    /// Whether a user id may be used by a client, which is taken down if so.
    ///
    /// - Parameter admission: with a token for this user id, its holder is the client that owns the id.
    /// - Throws: `userIDTaken`, `relayFull`, `rateLimited`.
    mutating func claim(_ user: Name, digest: Entropy?, _ admission: Admission, from address: AddressKey) throws(WireError) {
        let known = claims[user]
        if let known, !admission.isToken, isHeld(user, known) {
            // A difference is not told by how long it takes to find.
            let difference = known.digest.map { ($0.high ^ (digest?.high ?? 0)) | ($0.low ^ (digest?.low ?? 0)) } ?? 1
            guard difference == 0, digest != nil else {
                throw WireError(
                    .userIDTaken,
                    "user id \(user) belongs to the client that used it first: log in with the secret of that client, or take another id")
            }
        }
        if known == nil {
            try checkPlace(forIDBy: admission, from: address)
            try spendNewID(by: admission, from: address)
        }
        // A client with a token and no secret is not the client that had one: no key gets the id then.
        let isSame = known?.digest == digest
        claims[user] = UserClaim(
            digest: digest, lastSeen: now.wallMilliseconds, stored: isSame ? known?.stored : nil,
            address: known == nil ? address : known?.address)
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

    /// The disk takes changes again: stores also the claims of users who came and went meanwhile.
    mutating func storeClaims() { storeIfDue(claims.users.filter { [claims] in claims[$0]!.stored == nil }) }

    /// Claims in one record, when the claims of all present users are stored.
    private static let claimsPerRecord = 256

    /// Its session is there, or was lately, or the relay keeps something of it.
    private func isHeld(_ user: Name, _ claim: UserClaim) -> Bool {
        if isHere(user) { return true }
        if hasMetadata(user) || boards.usage.bytes(of: user) > 0 { return true }
        return now.wallMilliseconds < claim.lastSeen + UInt64(configuration.claimTime.milliseconds)
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

    /// Forgets users who were absent for a day. A present user counts as seen, so a crash does not free its id.
    mutating func sweepClaims() {
        claims.sweepIsSet = false
        let users = claims.users
        var here: [Name] = []
        for user in users where isHere(user) {
            claims[user]!.lastSeen = now.wallMilliseconds
            here.append(user)
        }
        storeIfDue(here)
        forgetUnheld()
        if !claims.isEmpty { setClaimSweep() }
    }

    mutating func forgetClaim(_ user: Name) {
        claims[user] = nil
        guard configuration.isJournaled, storage.failure == nil else { return }
        store([StoredForm.claim(user, nil)], .nothing, nil)
    }

    private mutating func forgetUnheld() {
        claims.lookedAt = now.instant
        let users = claims.users
        for user in users {
            let claim = claims[user]!
            if !isHeld(user, claim) { forgetClaim(user) }
        }
    }

    /// - Throws: `relayFull` when there is no place for a new id: the relay forgets no claim that somebody holds.
    private mutating func checkPlace(forIDBy admission: Admission, from address: AddressKey) throws(WireError) {
        guard placeRefusal(forIDBy: admission, from: address) != nil else { return }
        let isLate = claims.lookedAt.map { now.instant - $0 >= Self.unheldLookedForEvery } ?? true
        if isLate { forgetUnheld() }
        guard let refusal = placeRefusal(forIDBy: admission, from: address) else { return }
        let who = refusal.isOfAddress ? "an address" : "the relay"
        throw WireError(
            .relayFull, "\(who) has at most \(refusal.limit) user ids: take one that is there, or come back later", limit: refusal.limit,
            actual: refusal.actual, retryAfterMilliseconds: UInt64(Self.unheldLookedForEvery.milliseconds))
    }

    private static let unheldLookedForEvery = Duration.seconds(60)
}
