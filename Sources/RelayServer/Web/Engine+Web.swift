internal import Dispatch
internal import RelayCore
internal import RelayPrimitives
import RelayGateway
import RelayIO
import RelayWire

// Links that speak HTTP: pages and operators' numbers, and WebSockets, which are relay connections from then on.

@available(macOS 15, iOS 18, *)
extension Engine {
    /// The first byte of a link was not 0. [FR5]
    func beginWeb(_ id: ConnectionID) {
        guard let link = link(id) else { return }
        links[Int(id.index)]!.speech = .web(WebLink(link.end, isProtected: link.isProtected, now: SystemClock.monotonicNanoseconds()))
        requesters.append(id)
        hub.handle(.speaksHTTP(id), at: Self.now())
        if !webSweepIsSet { setWebSweep() }
    }

    /// Reads on with these bytes, which may be none.
    ///
    /// What the hub wants done is done behind the last of them: the end of another link reads what is left there into the same memory.
    func receiveWeb(_ bytes: UnsafeMutableRawBufferPointer, _ web: WebLink, _ id: ConnectionID) {
        var position = 0
        let wall = SystemClock.wallMilliseconds()
        while let link = link(id), link.stage == .open,
            let action = web.gateway.next(bytes, &position, site: site, wallMilliseconds: wall)
        {
            carryOut(action, of: bytes, web, id, wall)
            if case .receive = action { continue }
            turnWork += Self.webActionBytes
        }
        carryOutEffects()
        web.noteWaiting(now: SystemClock.monotonicNanoseconds())
        if let link = link(id), link.isUsable, web.outlet.hasFront || web.hasPieces { flush(id) }
    }

    private func carryOut(
        _ action: Gateway.Action, of bytes: UnsafeMutableRawBufferPointer, _ web: WebLink, _ id: ConnectionID, _ wall: UInt64
    ) {
        switch action {
        case .receive(let range):
            hub.receive(UnsafeRawBufferPointer(rebasing: bytes[range]), from: id, at: Self.now())
        case .respond(let answer): respond(answer, web, id)
        case .ask(let request):
            if let answer = answer(to: request, web, id) { respond(web.gateway.answer(answer, wallMilliseconds: wall), web, id) }
        case .upgrade(let answer, let request):
            webCounters.count(answer)
            web.append(answer.head)
            web.upgraded()
            hub.handle(.upgraded(id, peer: operators.client(of: request, from: web.end)), at: Self.now())
        case .pong(let frame): web.outlet.enqueuePong(frame)
        case .send(let message):
            // Behind the pongs for what came before it.
            flush(id)
            web.append(message)
        case .close(let frame, let cause): leave(web, id, frame, cause)
        }
    }

    func respond(_ answer: Gateway.Answer, _ web: WebLink, _ id: ConnectionID) {
        webCounters.count(answer)
        if answer.refusal == .foreignOrigin { tellOfOrigin(web) }
        web.append(answer)
        web.noteAnswer(now: SystemClock.monotonicNanoseconds())
        flush(id)
    }

    /// The writer of a page looks here for what is wrong: the browser tells nothing. Each origin is told once, and few of them.
    private func tellOfOrigin(_ web: WebLink) {
        guard let origin = web.gateway.refusedOrigin, refusedOrigins.count < 16, refusedOrigins.insert(origin).inserted else { return }
        // A page of a file says `null`, and so may any other.
        let help = Origin(origin.utf8) == nil ? "it has to be served by http" : "'serve --allow-origin \(origin)' lets it"
        log(LogLine(.warning, "a page of \(origin) may not connect: \(help)"))
    }

    /// The other side has ended its WebSocket, or broken a rule: the session is without a connection at once, unless a message is
    /// being written, which comes to its end before the answer.
    private func leave(_ web: WebLink, _ id: ConnectionID, _ frame: [UInt8]?, _ cause: Gateway.Cause) {
        if case .failure(let close) = cause {
            webCounters.ends["websocket_\(close.code)", default: 0] += 1
            log(LogLine(.info, "\(web.end.text) closed: \(close.code), \(close.reason)"))
        }
        web.sayClose(frame)
        if web.outlet.announcedBytes == 0 {
            web.left()
            hub.handle(.closed(id, .peerClosed), at: Self.now())
        }
        beginClosing(id, nil, lingerMilliseconds: Self.farewellMilliseconds)
    }

    // MARK: - Writing

    /// Writes to one such link until nothing waits or the socket is full.
    func flushWeb(_ id: ConnectionID, _ web: WebLink) {
        // A reader that catches up is given one block at a time. [HI2]
        var asksHub = true
        while let link = link(id), !link.isBlocked, link.isUsable {
            let now = Self.now()
            let writing: StreamSocket.Writing
            if web.hasPieces {
                writing = web.withNextPiece { piece in
                    scratch.vectors[0] = IOVector(base: piece.baseAddress!, count: piece.count)
                    return write(link, 1)
                }
            } else if let count = gatherMessage(id, web, asksHub, now) {
                writing = write(link, count)
            } else {
                if link.stage == .closing, !sayClose(web) { finishClosing(id) }
                if link.stage != .open, web.outlet.hasFront { continue }
                break
            }
            guard let bytes = taken(writing, by: link) else { return }
            if !wrote(bytes, web, id, now) { asksHub = false }
        }
    }

    /// Fills `scratch` with what stands before the queue's bytes, and with these. [WS7]
    ///
    /// - Returns: the number of vectors; `nil` when nothing waits.
    private func gatherMessage(_ id: ConnectionID, _ web: WebLink, _ asksHub: Bool, _ now: Now) -> Int? {
        guard web.stage != .requests else { return nil }
        var queued = 0
        if asksHub, web.outlet.announcedBytes == 0, web.stage == .webSocket {
            queued = hub.announce(id, limit: Self.bytesPerMessage, at: now)
        }
        let announced = web.outlet.plan(queuedBytes: queued)
        var count = 0
        if !web.outlet.front.isEmpty {
            let front = scratch.front(web.outlet.front)
            scratch.vectors[0] = IOVector(base: front.baseAddress!, count: front.count)
            count = 1
        }
        if announced > 0 {
            let rest = UnsafeMutableBufferPointer(rebasing: scratch.vectors[count...])
            count += hub.gather(id, into: rest, limit: announced, at: now)
        }
        return count == 0 ? nil : count
    }

    /// - Returns: whether the hub may be asked for more.
    private func wrote(_ bytes: Int, _ web: WebLink, _ id: ConnectionID, _ now: Now) -> Bool {
        guard web.hasPieces else {
            let ofQueue = web.outlet.wrote(bytes)
            return ofQueue == 0 || hub.wrote(id, bytes: ofQueue, at: now)
        }
        web.wrote(bytes)
        if web.stage == .requests, !web.hasPieces { answerEnded(web, id) }
        return true
    }

    private func answerEnded(_ web: WebLink, _ id: ConnectionID) {
        guard web.gateway.waiting != .ended else { return beginClosing(id, nil, lingerMilliseconds: Self.farewellMilliseconds) }
        guard let link = link(id), link.stage == .open else { return }
        web.gateway.responseWritten()
        // What was held, and in a turn of its own: a peer that asks and asks is one among many.
        if link.reading == .paused { resumeReading(id) } else { readOnLater(id) }
    }

    /// - Returns: whether there was a last frame to be written first. [WS8]
    private func sayClose(_ web: WebLink) -> Bool {
        guard web.stage == .webSocket, let code = web.closeCode else { return false }
        let frame = web.gateway.close(WebSocketClose(code))
        web.sayClose(frame)
        return frame != nil
    }

    // MARK: - Time

    private func setWebSweep() {
        webSweepIsSet = true
        enter(afterMilliseconds: 1_000) { $0.sweepWeb() }
    }

    /// Checks the deadlines of HTTP links, once a second. [HT3]
    private func sweepWeb() {
        webSweepIsSet = false
        let now = SystemClock.monotonicNanoseconds()
        requesters = requesters.filter { id in
            guard let link = link(id), link.isUsable, case .web(let web) = link.speech, web.stage == .requests else { return false }
            return true
        }
        for id in requesters {
            guard let link = link(id), link.stage == .open, case .web(let web) = link.speech, web.deadline <= now else { continue }
            let isIdle = web.gateway.waiting == .request
            if let answer = web.gateway.headTimedOut(wallMilliseconds: SystemClock.wallMilliseconds()) {
                respond(answer, web, id)
            } else {
                webCounters.ends[isIdle ? "idle" : "slow_reader", default: 0] += 1
                ended(id, .byHub)
            }
        }
        if !requesters.isEmpty { setWebSweep() }
    }
}

/// What was asked for by HTTP.
struct WebCounters {
    /// By status.
    var answers: [Int: UInt64] = [:]
    /// By the word of docs/protocol.md. [HT1]
    var refusals: [String: UInt64] = [:]
    /// Connections ended without an answer: `idle`, `slow_reader`, or `websocket_` and the code. [HT3, WS4–WS7]
    var ends: [String: UInt64] = [:]

    mutating func count(_ answer: Gateway.Answer) {
        answers[Int(answer.status.rawValue), default: 0] += 1
        if let refusal = answer.refusal { refusals[refusal.rawValue, default: 0] += 1 }
    }
}
