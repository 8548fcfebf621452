internal import RelayClientCore
internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

// Time, and bytes on their way.

extension ClientSimulation {
    // MARK: - Time

    /// Lets time pass, event by event.
    func pass(_ nanoseconds: UInt64) throws {
        let end = now + nanoseconds
        try exchange()
        while let next = nextEvent, next <= end {
            relay.advance(.nanoseconds(Int64(next > now ? next - now : 0)))
            try exchange()
        }
        relay.advance(.nanoseconds(Int64(end - min(end, now))))
        try exchange()
    }

    var nextEvent: UInt64? {
        var next = relay.hub.nextDeadline?.nanoseconds
        func consider(_ moment: UInt64?) { if let moment { next = min(next ?? moment, moment) } }
        for client in clients {
            consider(client.machine.nextDeadline?.nanoseconds)
            consider(client.opening?.at)
            consider(client.link?.toRelay.next)
            if !client.machine.isHeldBack { consider(client.link?.toClient.next) }
            if client.machine.hasEvents, client.readsFrom > now { consider(client.readsFrom) }
        }
        return next
    }

    /// Everything that can happen at this moment, until nothing does.
    func exchange() throws {
        var rounds = 0
        var moved = true
        while moved {
            moved = false
            rounds += 1
            guard rounds < 10_000 else {
                throw BrokenPromise(
                    "something goes on for ever at one moment: \(clients.map { "\($0.user) \($0.machine.linkState) deadline \(($0.machine.nextDeadline?.nanoseconds).map { Int64($0) - Int64(now) } ?? -1) fired \($0.deadlinesFired)" })"
                )
            }
            for client in clients {
                if let deadline = client.machine.nextDeadline, deadline <= moment {
                    client.machine.deadline(at: moment)
                    client.deadlinesFired += 1
                    moved = true
                }
                try carryOutEffects(client)
                if try openLink(client) { moved = true }
                if try moveBytes(client) { moved = true }
                try read(client)
            }
        }
    }

    func carryOutEffects(_ client: SimulatedClient) throws {
        for effect in client.machine.takeEffects() {
            switch effect {
            case .goElsewhere: break
            case .openLink(let attempt): client.opening = (attempt, now + UInt64.random(in: 0...30_000_000, using: &random))
            case .closeLink(let attempt):
                if client.opening?.attempt == attempt { client.opening = nil }
                if client.link?.attempt == attempt { letGo(client) }
            case .completed(let token, let result): try completed(client, token, result)
            }
        }
    }

    // MARK: - Links

    /// Whether the app has left so much unread that its client takes no more bytes.
    private func holdsBack(_ client: SimulatedClient) -> Bool {
        let isFull = client.readsFrom > now && client.machine.eventsWaiting > client.holdsBackAt
        if isFull, !client.machine.isHeldBack { done.heldBack += 1 }
        client.machine.isHeldBack = isFull
        return isFull
    }

    func openLink(_ client: SimulatedClient) throws -> Bool {
        guard let opening = client.opening, opening.at <= now else { return false }
        client.opening = nil
        guard now >= max(refusesUntil, client.unreachableUntil) else {
            client.machine.linkEnded(attempt: opening.attempt, text: "refused", at: moment)
            return true
        }
        let fastest = UInt64.random(in: 0...20_000_000, using: &random)
        client.link = SimulatedLink(
            attempt: opening.attempt, connection: relay.open(), window: Int.random(in: 500...20_000, using: &random),
            delayNanoseconds: fastest...(fastest + UInt64.random(in: 0...80_000_000, using: &random)))
        client.machine.linkOpened(attempt: opening.attempt, at: moment)
        return true
    }

    /// The link breaks: what is under way is lost both ways.
    func cut(_ client: SimulatedClient) {
        guard let link = client.link else { return }
        client.link = nil
        relay.cut(link.connection)
        if !link.isLetGo { end(link, of: client, "cut") }
    }

    private func end(_ link: SimulatedLink, of client: SimulatedClient, _ why: String) {
        client.machine.linkEnded(attempt: link.attempt, text: why, at: moment)
        becomeUnsure(client)
    }

    /// Subscriptions that were not answered are asked for again; until then nobody knows whether the relay heard them.
    private func becomeUnsure(_ client: SimulatedClient) {
        for case .request(let request) in client.waiting.values {
            if case .subscribe = request { becomeSure(client, request, isSure: false) }
        }
    }

    /// The client closes: what it has written still arrives, what the relay has written does not.
    func letGo(_ client: SimulatedClient) {
        client.link!.isLetGo = true
        becomeUnsure(client)
        client.link!.toRelay.isEnded = true
        // It makes another link while this one drains: nobody waits for that.
        while let bytes = client.link!.toRelay.popDue(at: .max) { feed(client, bytes) }
        relay.cut(client.link!.connection)
        client.link = nil
    }

    func moveBytes(_ client: SimulatedClient) throws -> Bool {
        guard var link = client.link else { return false }
        var moved = false
        // What the client's socket takes.
        let waiting = client.machine.gather()
        let room = link.window - link.toRelay.inFlight
        if !waiting.isEmpty, room > 0 {
            let count = min(room, waiting.count)
            let bytes = Array(waiting.prefix(count))
            link.toRelay.append(bytes, at: now + UInt64.random(in: link.delayNanoseconds, using: &random), &random)
            client.link = link
            client.machine.wrote(count, at: moment)
            moved = true
        }
        // What reaches the relay.
        while client.link?.attempt == link.attempt, let bytes = client.link!.toRelay.popDue(at: now) {
            feed(client, bytes)
            moved = true
        }
        // What the relay's socket takes.
        guard client.link != nil, relay.isOpen(link.connection) else { return moved }
        let space = client.link!.window - client.link!.toClient.inFlight
        if space > 0 {
            let bytes = relay.takeBytes(link.connection, limit: space)
            if !bytes.isEmpty {
                client.link!.toClient.append(bytes, at: now + UInt64.random(in: link.delayNanoseconds, using: &random), &random)
                moved = true
            } else if relay.isClosing(link.connection) {
                client.link!.toClient.isEnded = true
            }
        }
        // What reaches the client.
        while client.link?.attempt == link.attempt, !holdsBack(client), let bytes = client.link!.toClient.popDue(at: now) {
            let logins = client.machine.logins
            bytes.withUnsafeBytes { client.machine.received($0, attempt: link.attempt, at: moment) }
            if client.machine.logins > logins { client.books.linked(run: run, order: client.orderAtLogin) }
            try carryOutEffects(client)
            moved = true
        }
        if let current = client.link, current.attempt == link.attempt, current.toClient.isEnded, current.toClient.isEmpty {
            client.link = nil
            relay.cut(link.connection)
            end(link, of: client, "closed")
            moved = true
        }
        return moved
    }

    func restart() {
        done.restarts += 1
        for client in clients { cut(client) }
        run += 1
        // No two starts draw the same resume tokens.
        relay = HubDriver(configuration: configuration, start: 1000 + UInt32(run), now: relay.now, entropy: random.next())
        relay.mixesLinks = !Seeds.olderThanWebSockets.contains(seed)
        owners = [:]
        if random.chance(1, in: 2) { refusesUntil = now + UInt64.random(in: 0...3_000, using: &random) * 1_000_000 }
    }
}
