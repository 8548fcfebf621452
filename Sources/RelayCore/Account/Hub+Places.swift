internal import RelayRights
import RelayWire

// Who gets a place, when there are not enough. [SE5, CH8]

extension Hub {
    // MARK: - Connections without a login

    /// One is closed for others: a waiting one of the address that has most, or of this one.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    mutating func turnAwayOne(for newcomer: ConnectionID, ofItsAddress isOfItsAddress: Bool = false) -> Bool {
        let address = connections[newcomer.place].peer.address
        var victim: ConnectionID?
        var gone = 0, seen = 0
        for id in greetings.waiting {
            seen += 1
            guard connections.has(id), !connections[id.place].hasLoggedIn else {
                if gone == seen - 1 { gone = seen }
                continue
            }
            let from = connections[id.place].peer.address
            guard id != newcomer, isOfItsAddress ? from == address : greetings.held(from: from) == greetings.most else { continue }
            victim = id
            // What waits to be judged goes last, and of that the newest: the others come to their turn.
            if connections[id.place].input != .held(for: .guesses) { break }
        }
        greetings.drop(gone)
        guard let victim else { return false }
        // It has said nothing yet: there is nothing that its farewell must not overtake.
        close(victim.place, .tooManyConnections, "others come in, and this connection has not logged in", linger: .zero)
        return true
    }

    /// Of connections without a login one address has a quarter.
    var greetingsOfAddressMax: Int { max(configuration.addressPlacesMin, configuration.greetingsMax / 4) }

    // MARK: - Logins

    /// Whether there is a place for a login; it is told if not.
    ///
    /// - Parameters:
    ///   - taken: sessions that it takes over, or goes on with.
    mutating func hasPlace(_ connection: Connection.Index, _ admission: Admission, isNew: Bool, taken: [Session.Index]) -> Bool {
        let address = connections[connection].peer.address
        let claimant: Places.Claimant = isTrusted(admission.access) ? .trusted : taken.isEmpty ? .newcomer(address) : .inside(address)
        var code = ErrorCode.tooManySessions, what = "sessions"
        var found: Places.Refusal?
        if isNew {
            found = refusal(
                accounts.sessions, claimant, max: configuration.sessionsMax, freeing: taken.map { [sessions] in sessions[$0].address })
        }
        if found == nil {
            let freed = taken.compactMap { [outbox, connections] in outbox.connection(of: $0).map { connections[$0].peer.address } }
            found = accounts.live.refusal(
                claimant, max: configuration.connectionsMax, kept: configuration.connectionsMax / Places.keptPart,
                addressMin: configuration.addressPlacesMin, freeing: freed)
            (code, what) = (.tooManyConnections, "connections")
        }
        guard let found else { return true }
        tellHeldRefusals(connection)
        close(connection, code, text(found, what))
        return false
    }

    private func text(_ refusal: Places.Refusal, _ what: String) -> String {
        let who = refusal.isOfAddress ? "the address" : "the relay"
        return "\(who) holds \(refusal.actual - 1) \(what), it may not hold more" + (refusal.isOfAddress ? " while so few are left" : "")
    }

    /// Who is trusted comes by a key or token: an open relay keeps nothing for nobody.
    private func refusal(_ places: Places, _ claimant: Places.Claimant, max: Int, freeing: [AddressKey] = []) -> Places.Refusal? {
        places.refusal(
            claimant, max: max, kept: accessRules.isOpen ? 0 : max / Places.keptPart, addressMin: configuration.addressPlacesMin,
            freeing: freeing)
    }

    /// On an open relay everybody is a moderator, and nobody trusted for that.
    func isTrusted(_ access: Access) -> Bool { !accessRules.isOpen && access.isModerator }

    /// The session has moved to another address, which is charged for its place and memory if it has room. Else the former address
    /// keeps the charge: two addresses could fill what one may not.
    mutating func move(_ session: Session.Index, to address: AddressKey) {
        guard sessions[session].address != address else { return }
        let (places, held) = (accounts.sessions, sessions[session].held)
        guard refusal(places, .newcomer(address), max: configuration.sessionsMax) == nil else { return }
        do throws(WireError) { try checkMemory(held, of: address) } catch { return }
        accounts.sessions.giveBack(sessions[session].address)
        accounts.sessions.take(address)
        moveMemory(of: session, to: address)
    }

    /// A token is for an id that its signer chose.
    func placeRefusal(forIDBy admission: Admission, from address: AddressKey) -> Places.Refusal? {
        let claimant: Places.Claimant =
            isTrusted(admission.access) ? .trusted : .newcomer(admission.isToken ? .local : address)
        return refusal(claims.places, claimant, max: configuration.claimsMax)
    }

    /// - Throws: `rateLimited`.
    mutating func spendNewID(by admission: Admission, from address: AddressKey) throws(WireError) {
        guard !admission.isToken, !isTrusted(admission.access), let wait = accounts.newIDs.take(address, at: now.instant) else { return }
        throw .overRate("new user ids of an address", rate: configuration.newIDsPerSecond, wait: wait)
    }

    // MARK: - Channels

    /// Whether a channel may come to be.
    ///
    /// - Parameter session: whose it will be; `nil`: the relay's.
    /// - Throws: `relayFull`, `rateLimited`.
    mutating func admitChannel(_ kind: ChannelKind, of session: Session.Index?) throws(WireError) {
        let (places, placesMax) = (accounts[channels: kind], configuration.channelsMax)
        try checkPlace(places, of: session, max: placesMax, "\(kind.rawValue) channels")
        guard let session else { return }
        let (access, address) = (sessions[session].access, sessions[session].address)
        guard !isTrusted(access), address != .local else { return }
        let own = bucket(.newChannels, of: session), rate = configuration.newChannelsPerSecond
        if let wait = buckets[own].take(rate: rate, capacity: configuration.newChannelsBurst, at: now.instant) {
            throw .overRate("new channels", rate: rate, wait: wait)
        }
        if let wait = accounts.newChannels.take(address, at: now.instant) {
            throw .overRate("new channels of an address", rate: configuration.newChannelsOfAddressPerSecond, wait: wait)
        }
    }

    /// Whether there is a place for something that stays.
    ///
    /// - Parameter session: the session that makes it; `nil`: the relay.
    /// - Throws: `relayFull`.
    func checkPlace(_ places: Places, of session: Session.Index?, max: Int, _ what: String) throws(WireError) {
        guard let refusal = refusal(places, of: session, max: max) else { return }
        let who = refusal.isOfAddress ? "an address, while so few are left," : "the relay"
        throw WireError(.relayFull, "\(who) holds at most \(refusal.limit) \(what)", limit: refusal.limit, actual: refusal.actual)
    }

    func refusal(_ places: Places, of session: Session.Index?, max: Int) -> Places.Refusal? {
        var claimant = Places.Claimant.trusted
        if let session, !isTrusted(sessions[session].access) { claimant = .newcomer(sessions[session].address) }
        return refusal(places, claimant, max: max)
    }
}
