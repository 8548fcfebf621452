import RelayWire

// What a user may do in a second. The rates are in `ServerLimits`. [RT1–RT6]

/// What a user's rate is counted for. [RT1]
enum BucketKey: Hashable {
    case messages(channel: Name)
    case packets(channel: Name, topic: Name)
    case direct
    case channelMetadata
    case userMetadata
}

extension Hub {
    /// One request of this user. [RT6]
    mutating func spendRequest(_ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let rate = configuration.limits.requestsPerSecond
        let person = sessions[session].person
        let bucket = people[person].requestsBucket ?? buckets.insert(TokenBucket())
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
        if people[person].buckets.count >= 64 { pruneBuckets(of: person) }
        let index = buckets.insert(TokenBucket())
        people[person].buckets[key] = index
        return index
    }

    /// Forgets buckets that are as good as new, unless a flow holds one. Bounded by what can be spent in a second.
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
            case .direct: continue
            }
            if buckets[index].isFull(rate: rate, at: now.instant) {
                buckets.remove(index)
                people[person].buckets[key] = nil
            }
        }
    }
}

extension WireError {
    static func overRate(_ what: String, rate: Int, wait: UInt64) -> WireError {
        WireError(
            .rateLimited, "over \(rate) \(what) a second", limit: rate, retryAfterMilliseconds: (wait + 999_999) / 1_000_000)
    }
}
