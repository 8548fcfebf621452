/// One connection whose first byte was not 0: requests in turn, and perhaps a WebSocket in the end.
///
/// Bytes in, actions out; it owns no socket and no clock. The shell calls `next` until it returns `nil`, and carries out
/// each action before it asks for the next one:
///
///     reading ──request──► answering ──answer──► writing ──written──► reading
///        │                                          └──last answer──► ended
///        └──upgrade──► webSocket ──close, failure──► closing ──► ended
package struct Gateway: Sendable {
    package enum Action: Equatable, Sendable {
        /// Write this; then call `responseWritten`, or end the connection if it was the last.
        case respond(Answer)
        /// A dynamic path was asked for: call `answer`, now or later.
        case ask(HTTPRequest)
        /// Write this head; what follows is a WebSocket, and the hub has a new connection.
        case upgrade(Answer, of: HTTPRequest)
        /// Bytes of relay frames, unmasked, in the buffer that was given.
        case receive(Range<Int>)
        /// Write this frame, the answer to a ping, between two messages.
        case pong([UInt8])
        /// Write this message of an echo.
        case send([UInt8])
        /// The end: write this frame, if there is one, and end the connection.
        case close(frame: [UInt8]?, Cause)
    }

    /// Why a WebSocket ended.
    package enum Cause: Equatable, Sendable {
        /// The client said so, with these words perhaps.
        case peer(WebSocketClose?)
        /// The client broke a rule.
        case failure(WebSocketClose)
    }

    /// An answer as bytes: the body is the file's own array, shared and not copied.
    package struct Answer: Equatable, Sendable {
        package var status: HTTPStatus
        package var head: [UInt8]
        package var body: [UInt8]
        package var closes: Bool
        /// For the counters.
        package var refusal: HTTPRefusal?
    }

    /// What the shell's timer is for.
    package enum Waiting: Equatable, Sendable {
        /// A head has begun: `GatewayLimits.headMilliseconds` from its first byte. [HT3]
        case head
        /// The next request, which may never come.
        case request
        /// Something of this side.
        case answer
        case webSocket
        case ended
    }

    private enum State: Sendable {
        case reading
        case answering(HTTPRequest)
        case writing
        case webSocket
        /// Our close is on its way; data is thrown away until the other side's comes.
        case closing
        case ended
    }

    private var state = State.reading
    private var parser = HTTPRequestParser()
    /// There while the state is `webSocket` or `closing`; beside it, so that it changes in place.
    private var socket: WebSocketReader?
    private var requests = 0
    /// Bytes that came behind a request before it was answered; one more than the bound means too many. [HT4]
    private var held: [UInt8] = []
    /// A part of the head that is being read was held.
    private var headWasHeld = false

    /// Of the page that was refused because of it: at most 100 bytes of what it said. [HT8]
    package private(set) var refusedOrigin: String?

    /// It came by TLS of the relay's own.
    private let isProtected: Bool

    package init(isProtected: Bool = false) { self.isProtected = isProtected }

    package var waiting: Waiting {
        switch state {
        case .reading: parser.isInHead || !held.isEmpty ? .head : .request
        case .answering, .writing: .answer
        case .webSocket, .closing: .webSocket
        case .ended: .ended
        }
    }

    // MARK: - Bytes in

    /// Reads on.
    ///
    /// - Parameters:
    ///   - bytes: what was read from the connection. WebSocket payloads are unmasked in it.
    ///   - position: where to begin; afterwards what was read ends there.
    /// - Returns: the next thing to do; `nil` when all bytes are read and nothing is left to do.
    package mutating func next(
        _ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int, site: Site, wallMilliseconds: UInt64
    ) -> Action? {
        switch state {
        case .reading:
            do throws(HTTPRefusal) {
                guard let request = try nextRequest(UnsafeRawBufferPointer(bytes), &position) else { return nil }
                return try begin(request, site, wallMilliseconds)
            } catch {
                return .respond(last(HTTPResponse(error), to: parser.method, wallMilliseconds))
            }
        case .answering, .writing:
            let room = max(0, GatewayLimits.pipelinedBytesMax + 1 - held.count)
            held += bytes[position...].prefix(room)
            position = bytes.count
            return nil
        case .webSocket, .closing: return nextEvent(bytes, &position)
        case .ended:
            position = bytes.count
            return nil
        }
    }

    /// What was held goes first.
    private mutating func nextRequest(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTPRefusal) -> HTTPRequest? {
        if !held.isEmpty {
            guard held.count <= GatewayLimits.pipelinedBytesMax else { throw .pipelined }
            headWasHeld = true
            var read = 0
            let waiting = held
            held = []
            let outcome = waiting.withUnsafeBytes { waiting in
                Result { () throws(HTTPRefusal) in try parser.next(waiting, &read) }
            }
            let request = try outcome.get()
            held = Array(waiting[read...])
            if let request { return request }
        }
        return try parser.next(bytes, &position)
    }

    // MARK: - Answers

    private mutating func begin(_ request: HTTPRequest, _ site: Site, _ wallMilliseconds: UInt64) throws(HTTPRefusal) -> Action {
        let wasHeld = headWasHeld
        headWasHeld = false
        requests += 1
        guard let host = Authority(request.values("host")[0]) else { throw .hostInvalid }
        guard site.hosts.allows(host, isProtected: isProtected) else {
            return .respond(last(WrongHostPage.response(links: site.links), to: request.method, wallMilliseconds))
        }
        if site.wantsTLS, !isProtected {
            var response = HTTPResponse(HTTPRefusal.tlsRequired)
            let place = String(decoding: request.values("host")[0] + request.target.raw, as: UTF8.self)
            response.fields.append(HTTPResponse.Field("Location", "https://\(place)"))
            return .respond(last(response, to: request.method, wallMilliseconds))
        }
        switch site.routes[request.target.path] {
        case nil: return .respond(finish(HTTPResponse(HTTPRefusal.notFound), to: request, wallMilliseconds))
        case .file(let file):
            var response = HTTPResponse(.ok, mediaType: file.mediaType, body: file.bytes, caching: file.caching, entityTag: file.entityTag)
            if file.entityTag.isNamed(by: request.values("if-none-match")) {
                response = HTTPResponse(.notModified, caching: file.caching, entityTag: file.entityTag)
            }
            if file.isForAll { response.fields.append(HTTPResponse.forAllOrigins) }
            return .respond(finish(response, to: request, wallMilliseconds))
        case .dynamic:
            state = .answering(request)
            return .ask(request)
        case .webSocket:
            guard WebSocketHandshake.isUpgrade(request) else { throw .upgradeRequired }
            guard
                OriginCheck.allows(
                    request.values("origin"), host: host, isProtected: isProtected, takesHTTPS: site.takesHTTPSOrigin, given: site.origins)
            else {
                refusedOrigin = request.values("origin").first.map { String(decoding: $0.prefix(100), as: UTF8.self) }
                throw .foreignOrigin
            }
            // The client was to wait for the answer before it sent more. [RFC 6455 §4.1]
            guard !wasHeld else { throw .pipelinedUpgrade }
            let response = try WebSocketHandshake.response(to: request)
            socket = WebSocketReader(site.sockets)
            state = .webSocket
            return .upgrade(answer(response, to: request.method, closes: false, wallMilliseconds), of: request)
        }
    }

    /// Answers what `ask` has asked for. Of a HEAD the body is left out here.
    package mutating func answer(_ response: HTTPResponse, wallMilliseconds: UInt64) -> Answer {
        guard case .answering(let request) = state else { preconditionFailure("answer: nothing was asked") }
        return finish(response, to: request, wallMilliseconds)
    }

    /// The answer has left: what was held, then what comes, is read. Call `next` after it, with no bytes if there are none.
    package mutating func responseWritten() {
        switch state {
        case .writing: state = .reading
        case .ended: break
        case .reading, .answering, .webSocket, .closing: preconditionFailure("responseWritten: nothing was answered")
        }
    }

    /// The time of a head is over: an answer if one has begun, else the connection ends without a word. [HT3]
    package mutating func headTimedOut(wallMilliseconds: UInt64) -> Answer? {
        guard case .reading = state else { return nil }
        guard waiting == .head else {
            state = .ended
            return nil
        }
        return last(HTTPResponse(HTTPRefusal.slowHead), to: parser.method, wallMilliseconds)
    }

    /// An answer after which the next request is read, if the client wants to and has some left. [HT4]
    private mutating func finish(_ response: HTTPResponse, to request: HTTPRequest, _ wallMilliseconds: UInt64) -> Answer {
        let closes =
            request.version == .http10 || request.list("connection", has: "close") || requests >= GatewayLimits.requestsPerConnectionMax
        if closes { return last(response, to: request.method, wallMilliseconds) }
        state = .writing
        return answer(response, to: request.method, closes: false, wallMilliseconds)
    }

    private mutating func last(_ response: HTTPResponse, to method: HTTPRequest.Method?, _ wallMilliseconds: UInt64) -> Answer {
        state = .ended
        held = []
        return answer(response, to: method, closes: true, wallMilliseconds)
    }

    private func answer(_ response: HTTPResponse, to method: HTTPRequest.Method?, closes: Bool, _ wallMilliseconds: UInt64) -> Answer {
        Answer(
            status: response.status, head: response.head(wallMilliseconds: wallMilliseconds, closes: closes),
            body: method == .head ? [] : response.body, closes: closes, refusal: response.refusal)
    }

    // MARK: - WebSocket

    private mutating func nextEvent(_ bytes: UnsafeMutableRawBufferPointer, _ position: inout Int) -> Action? {
        do throws(WebSocketClose) {
            while let event = try socket!.next(bytes, &position) {
                switch (event, state) {
                case (.close(let close), .closing): return end(frame: nil, .peer(close))
                case (.close(let close), _): return end(frame: WebSocketFrame.close(close.map { WebSocketClose($0.code) }), .peer(close))
                case (_, .closing): continue
                case (.receive(let range), _): return .receive(range)
                case (.pong(let frame), _): return .pong(frame)
                case (.send(let frame), _): return .send(frame)
                }
            }
            return nil
        } catch {
            if case .closing = state { return end(frame: nil, .failure(error)) }
            return end(frame: WebSocketFrame.close(error), .failure(error))
        }
    }

    private mutating func end(frame: [UInt8]?, _ cause: Cause) -> Action {
        state = .ended
        socket = nil
        return .close(frame: frame, cause)
    }

    /// Ends the WebSocket from this side.
    ///
    /// - Returns: the last frame, to be written behind everything else; `nil` if one was sent before or there is no WebSocket.
    package mutating func close(_ close: WebSocketClose) -> [UInt8]? {
        guard case .webSocket = state else { return nil }
        state = .closing
        return WebSocketFrame.close(close)
    }
}
