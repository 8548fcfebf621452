internal import RelayDigest
internal import RelayJournal
import RelayWire

/// Which client a user id belongs to. [AC3]
struct UserClaim: Equatable {
    /// Half of the SHA-256 digest of the client's secret; `nil` of one that came with a token alone.
    var digest: Entropy?
    /// When its session was there last, by the wall clock, in milliseconds since 1970.
    var lastSeen: UInt64

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

extension Hub {
    /// Whether a user id may be used by a client, which is taken down if so.
    ///
    /// - Parameter isToken: a token is for this user id: whoever has it is its client.
    /// - Throws: `userIDTaken`, `relayFull`.
    mutating func claim(_ user: Name, secret: Entropy?, isToken: Bool) throws(WireError) {
        let digest = secret.map(UserClaim.digest)
        let known = claims[user]
        if let known, !isToken, isHeld(user, known) {
            // A difference is not told by how long it takes to find.
            let difference = known.digest.map { ($0.high ^ (digest?.high ?? 0)) | ($0.low ^ (digest?.low ?? 0)) } ?? 1
            guard difference == 0, digest != nil else {
                throw WireError(.userIDTaken, "user id \(user) belongs to another client")
            }
        }
        if known == nil, claims.count >= configuration.claimsMax { boundClaims() }
        let claim = UserClaim(digest: digest ?? known?.digest, lastSeen: now.wallMilliseconds)
        claims[user] = claim
        let isStored = known?.digest == claim.digest && known.map { claim.lastSeen < $0.lastSeen + Self.claimStoredEvery } ?? false
        if isStored { claims[user]!.lastSeen = known!.lastSeen } else { store(user, claim) }
        if !claimSweepIsSet { setClaimSweep() }
    }

    /// The journal is told at most once an hour that a user id is in use.
    private static let claimStoredEvery: UInt64 = 3_600_000

    private mutating func store(_ user: Name, _ claim: UserClaim?) {
        guard configuration.isJournaled, storage.failure == nil else { return }
        store([StoredForm.claim(user, claim)], .nothing, nil)
    }

    /// Its session is there, or was lately, or the relay keeps something of it.
    private func isHeld(_ user: Name, _ claim: UserClaim) -> Bool {
        if let session = sessionsByUser[user], sessions[session].state != .lingering { return true }
        return metadataByUser[user] != nil || now.wallMilliseconds < claim.lastSeen + UInt64(configuration.claimTime.milliseconds)
    }

    /// The session of a user ends now.
    mutating func userWasSeen(_ user: Name) {
        guard var claim = claims[user] else { return }
        claim.lastSeen = now.wallMilliseconds
        if claims[user]!.lastSeen + Self.claimStoredEvery <= claim.lastSeen { store(user, claim) }
        claims[user] = claim
    }

    private mutating func setClaimSweep() {
        claimSweepIsSet = true
        deadlines.set(.claimSweep, at: now.instant + .seconds(3600))
    }

    /// Forgets who has not been here for a day.
    mutating func sweepClaims() {
        claimSweepIsSet = false
        for user in claims.keys.sorted() where !isHeld(user, claims[user]!) { forgetClaim(user) }
        if !claims.isEmpty { setClaimSweep() }
    }

    private mutating func forgetClaim(_ user: Name) {
        claims[user] = nil
        store(user, nil)
    }

    /// The longest unseen ones go, some more than must, so that the search is worth it. Who is here, or has something here, stays.
    private mutating func boundClaims() {
        let idle = claims.filter { user, _ in
            metadataByUser[user] == nil && sessionsByUser[user].map { sessions[$0].state == .lingering } ?? true
        }
        let oldest = idle.sorted { ($0.value.lastSeen, $0.key) < ($1.value.lastSeen, $1.key) }
        for (user, _) in oldest.prefix(max(1, configuration.claimsMax / 16)) { forgetClaim(user) }
    }
}
