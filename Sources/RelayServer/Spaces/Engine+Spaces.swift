internal import RelayCore
import RelayGateway
import RelayIO
import RelaySystem
import RelayWire

/// A connection on its way from the door to the engine of its space. [SE16]
struct Arrival: Sendable {
    /// The receiver's now.
    var descriptor: Int32
    var end: RemoteEnd
    var isProtected: Bool
    var handed: HandedOver
    /// How far its WebSocket is, if it is one.
    var webSocket: Gateway?
}

@available(macOS 15, iOS 18, *)
extension Engine {
    /// Gives a connection to the engine of a space: from then on this one does not know it.
    func handOver(_ id: ConnectionID, to space: String) {
        // Answers to pings that came before the login.
        flush(id)
        guard let link = link(id), link.stage == .open else { return }
        var webSocket: Gateway?, hasSaidAll = true
        if case .web(let web) = link.speech { (webSocket, hasSaidAll) = (web.gateway, web.hasSaidAll) }
        func refuse(_ code: ErrorCode, _ text: String) { hub.handle(.notHandedOver(id, code, text), at: Self.now()) }
        guard let engine = spaces[space] else { return refuse(.shuttingDown, "this space does not serve now") }
        guard engine.mayArrive() else { return refuse(.tooManyConnections, "too many come to this space at once") }
        guard hasSaidAll, let handed = hub.handOver(id, at: Self.now()) else {
            return refuse(.slowConsumer, "what came before the login was answered, and is not read")
        }
        let copy = link.socket.duplicate()
        links[Int(id.index)]!.ended()
        link.socket.close()
        guard copy >= 0 else { return log(LogLine(.error, "\(link.end.text) ended: no descriptor for space \(space)")) }
        let arrival = Arrival(descriptor: copy, end: link.end, isProtected: link.isProtected, handed: handed, webSocket: webSocket)
        engine.arrivals.withLock { $0 += 1 }
        engine.enter { $0.take(arrival) }
    }

    /// Whether it takes one more from the door, with what that has sent.
    private nonisolated func mayArrive() -> Bool { arrivals.withLock { $0 } < Self.arrivalsMax }

    /// A connection that the door has handed over. [SE16]
    func take(_ arrival: Arrival) {
        arrivals.withLock { $0 -= 1 }
        guard isServing, let readiness else { return discardDescriptor(arrival.descriptor) }
        let id = open(
            arrival.descriptor, arrival.end, isProtected: arrival.isProtected, peer: arrival.handed.peer, readiness,
            speech: arrival.webSocket.map { .web(WebLink(arrival.end, continuing: $0)) } ?? .relay)
        arrival.handed.bytes.withUnsafeBytes { hub.receive($0, from: id, at: Self.now()) }
        carryOutEffects()
    }

    /// Serves what a door hands over.
    func startBehindDoor() throws { _ = try begin() }

    /// Asks the engine of each space, one after the other, in order of name, then answers who has asked by HTTP.
    func askSpaces<Value: Sendable>(
        for id: ConnectionID, _ question: @escaping @Sendable (isolated Engine) -> Value,
        answer: @escaping @Sendable ([(key: String, value: Value)]) -> HTTPResponse
    ) {
        let asked = spaces.sorted { $0.key < $1.key }
        ask(asked[...], [], question) { engine, values in
            guard let link = engine.link(id), link.stage == .open, case .web(let web) = link.speech else { return }
            engine.respond(web.gateway.answer(answer(values), wallMilliseconds: SystemClock.wallMilliseconds()), web, id)
        }
    }

    private func ask<Value: Sendable>(
        _ rest: ArraySlice<(key: String, value: Engine)>, _ values: [(key: String, value: Value)],
        _ question: @escaping @Sendable (isolated Engine) -> Value,
        then end: @escaping @Sendable (isolated Engine, [(key: String, value: Value)]) -> Void
    ) {
        guard let (name, engine) = rest.first else { return end(self, values) }
        engine.enter { space in
            let value = question(space)
            self.enter { $0.ask(rest.dropFirst(), values + [(name, value)], question, then: end) }
        }
    }

    /// The door leads to these from now on.
    ///
    /// - Parameters:
    ///   - failed: those that did not start: who is for one of these is told to come back.
    ///   - elsewhere: those that other relays serve.
    ///   - knowsAll: whether there are no others.
    func lead(to spaces: [String: Engine], failed: Set<String>, elsewhere: [String: Whereabouts] = [:], knowsAll: Bool = true) {
        (self.spaces, failedSpaces) = (spaces, failed.count)
        hub.handle(.spacesChanged(failed.union(spaces.keys), elsewhere: elsewhere, knowsAll: knowsAll), at: Self.now())
        networkChanged()
    }

    /// The same by what is true in its turn: of two changes the later one counts.
    func lead(_ now: @Sendable () -> (spaces: [String: Engine], elsewhere: [String: Whereabouts], knowsAll: Bool)) {
        let (spaces, elsewhere, knowsAll) = now()
        lead(to: spaces, failed: [], elsewhere: elsewhere, knowsAll: knowsAll)
    }
}
