import RelayPrimitives
import RelayWire

/// A token bucket in exact integers: at `rate` per second for ever, and `capacity` at one instant. [RT1]
///
/// Tokens are counted in units of 1/10⁹, so that one nanosecond is worth exactly `rate` units and nothing is rounded.
struct TokenBucket {
    /// Below 0: tokens above the capacity, for what could not come in its time.
    private var spent: Int64 = 0
    private var last = Instant(nanoseconds: 0)
    /// Time in which its user was not served, and which has not been counted, in milliseconds.
    private var forgiven: Int32 = 0
    private var abuse = AbuseMeter()

    private static let one: Int64 = 1_000_000_000
    /// At most so much time is forgiven. [DL12]
    static let forgivenMax = Duration.seconds(10)

    /// Takes one token.
    ///
    /// - Returns: `nil` when there was one, else the nanoseconds until there is one.
    mutating func take(rate: Int, capacity: Int, at now: Instant) -> UInt64? {
        drain(rate: rate, at: now)
        let missing = spent + Self.one - Int64(capacity) * Self.one
        guard missing <= 0 else { return UInt64((missing + Int64(rate) - 1) / Int64(rate)) }
        spent += Self.one
        return nil
    }

    /// How many could be taken now.
    mutating func tokens(rate: Int, capacity: Int, at now: Instant) -> UInt64 {
        drain(rate: rate, at: now)
        return UInt64(max(0, min(Int64(capacity), Int64(capacity) - (spent + Self.one - 1) / Self.one)))
    }

    /// Rounded up.
    mutating func nanosecondsUntilFull(rate: Int, at now: Instant) -> UInt64 {
        drain(rate: rate, at: now)
        return UInt64(max(0, (spent + Int64(rate) - 1) / Int64(rate)))
    }

    /// Whether it is as good as new.
    mutating func isFull(rate: Int, at now: Instant) -> Bool {
        drain(rate: rate, at: now)
        return spent <= 0
    }

    /// Counts an attempt, allowed or not.
    ///
    /// - Returns: whether the sender has kept `factor` times the rate for `seconds` in a row. [RT5]
    mutating func isAbuse(rate: Int, factor: Int, seconds: Int, at now: Instant) -> Bool {
        abuse.count(limit: rate * factor, at: now) >= seconds
    }

    /// Nobody took what its user sent for so long: as much may come above the capacity.
    mutating func forgive(_ time: Duration) {
        forgiven = Int32(min(Self.forgivenMax.milliseconds, Int64(forgiven) + time.milliseconds))
    }

    private mutating func drain(rate: Int, at now: Instant) {
        if now > last {
            let gained = (now.nanoseconds - last.nanoseconds).multipliedReportingOverflow(by: UInt64(rate))
            if spent > 0 { spent = max(0, gained.overflow ? 0 : spent - Int64(clamping: gained.partialValue)) }
            last = now
        }
        guard forgiven > 0 else { return }
        spent = max(-Int64(rate) * Self.forgivenMax.nanoseconds, spent - Int64(rate) * Int64(forgiven) * 1_000_000)
        forgiven = 0
    }
}

/// Counts the seconds in a row that had `limit` attempts or more.
private struct AbuseMeter {
    private var second: UInt32 = 0
    private var attempts: Int32 = 0
    private var streak: Int32 = 0

    mutating func count(limit: Int, at now: Instant) -> Int {
        let current = UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
        if current != second {
            if current != second &+ 1 || attempts < limit { streak = 0 }
            second = current
            attempts = 0
        }
        attempts += 1
        if attempts == limit { streak += 1 }
        return Int(streak)
    }
}

// What a user may do in a second. The rates are in `ServerLimits`. [RT1–RT6]

/// What a user's rate is counted for. [RT1]
enum BucketKey: Hashable {
    case messages(channel: Name)
    case packets(channel: Name, topic: Name)
    case direct
    case channelMetadata
    case userMetadata
    case newChannels
}

extension Hub {
    /// One request of this user. [RT6]
    mutating func spendRequest(_ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let rate = configuration.limits.requestsPerSecond
        let person = sessions[session].person
        let bucket = people[person].requestsBucket ?? makeBucket(of: person)
        people[person].requestsBucket = bucket
        if let wait = try spend(bucket, rate: rate, capacity: configuration.requestsBurst, connection, "requests") {
            throw .overRate("requests", rate: rate, wait: wait)
        }
    }

    /// - Returns: nanoseconds until there is a token, or `nil` if one was taken.
    mutating func spend(_ bucket: TokenBucket.Index, rate: Int, capacity: Int, _ connection: Connection.Index, _ what: String)
        throws(WireError) -> UInt64?
    {
        let isAbuse = buckets[bucket].isAbuse(
            rate: rate, factor: configuration.abuseRateFactor, seconds: configuration.abuseSeconds, at: now.instant)
        if isAbuse {
            close(connection, .abuse, "\(configuration.abuseRateFactor) times \(rate) \(what)/s for \(configuration.abuseSeconds) s")
            return nil
        }
        return buckets[bucket].take(rate: rate, capacity: capacity, at: now.instant)
    }

    mutating func bucket(_ key: BucketKey, of session: Session.Index) -> TokenBucket.Index {
        let person = sessions[session].person
        if let index = people[person].buckets[key] { return index }
        if people[person].buckets.count >= people[person].bucketsMany { pruneBuckets(of: person) }
        let index = makeBucket(of: person)
        people[person].buckets[key] = index
        return index
    }

    /// Forgets buckets that are as good as new, unless a flow holds one: when they have doubled, so that each costs a look or two.
    /// Bounded by what can be spent in a second.
    private mutating func pruneBuckets(of person: Person.Index) {
        var held: Set<TokenBucket.Index> = []
        for session in people[person].sessions {
            sessions[session].lastPublish = nil
            held.formUnion(sessions[session].creditTold.keys)
            for membership in sessions[session].memberships.all {
                for flow in memberships[membership].publishing.values { held.insert(flows[flow].bucket) }
            }
        }
        for (key, index) in people[person].buckets where !held.contains(index) {
            let rate: Int
            switch key {
            case .messages: rate = configuration.limits.messagesPerSecond
            case .packets: rate = configuration.limits.packetsPerSecond
            case .channelMetadata, .userMetadata: rate = configuration.metadataCallsPerSecond
            case .newChannels: rate = configuration.newChannelsPerSecond
            case .direct: continue
            }
            if buckets[index].isFull(rate: rate, at: now.instant) {
                buckets.remove(index)
                people[person].buckets[key] = nil
            }
        }
        people[person].bucketsMany = max(Person.bucketsKept, 2 * people[person].buckets.count)
    }

    // MARK: - Time in which nobody was served

    /// Publishes of that time come together: no rate is passed by that. [DL12]
    mutating func forgive(_ time: Duration) {
        work.unserved.add(time, at: now.instant)
        for bucket in buckets.indices { buckets[bucket].forgive(time) }
    }

    mutating func forgive(_ time: Duration, _ person: Person.Index) {
        guard time > .zero else { return }
        people[person].unserved.add(time, at: now.instant)
        for bucket in people[person].buckets.values { buckets[bucket].forgive(time) }
        if let bucket = people[person].requestsBucket { buckets[bucket].forgive(time) }
    }

    /// What comes now may have waited, as with a bucket that was there.
    mutating func makeBucket(of person: Person.Index) -> TokenBucket.Index {
        var bucket = TokenBucket()
        for unserved in [work.unserved, people[person].unserved] { bucket.forgive(unserved.time(at: now.instant)) }
        return buckets.insert(bucket)
    }
}

extension WireError {
    static func overRate(_ what: String, rate: Int, wait: UInt64) -> WireError {
        WireError(
            .rateLimited, "over \(rate) \(what) a second", limit: rate, retryAfterMilliseconds: (wait + 999_999) / 1_000_000)
    }
}
