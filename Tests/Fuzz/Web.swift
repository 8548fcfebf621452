import RelayGateway
import RelayWire

// A connection whose first byte is not 0: HTTP, and WebSockets.

/// Bytes of a browser. [HT1–HT10]
func http(_ bytes: UnsafeRawBufferPointer) -> Bool {
    compare(WebReading(Gateway(), site), bytes)
    return true
}

/// What comes behind an upgrade; by the first byte the relay's frames, or for tests text that goes back. [WS4–WS9]
func webSocket(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first else { return false }
    compare(first & 1 == 0 ? relaySocket : echoSocket, bytes.dropFirst())
    return true
}

/// So few that dice find fragments that are more together; a head is two bytes.
private let echoBytesMax = 20

private func compare(_ start: WebReading, _ bytes: some Collection<UInt8>) {
    let readings = [max(1, bytes.count), 1].map { piece in
        var reading = start, copy = Array(bytes)
        copy.withUnsafeMutableBytes { reading.read($0, pieceBytes: piece) }
        return reading
    }
    must(readings[0].steps == readings[1].steps, "\(readings[0].steps) in one piece, byte by byte \(readings[1].steps)")
    must(readings[0].received == readings[1].received, "\(readings[0].received) in one piece, byte by byte \(readings[1].received)")
}

private let relaySocket = upgraded(site)
private let echoSocket: WebReading = {
    var site = site
    site.sockets = .echo(messageBytesMax: echoBytesMax)
    return upgraded(site)
}()

/// A gateway that has become a WebSocket.
private func upgraded(_ site: Site) -> WebReading {
    var bytes = Array(upgrade.utf8), reading = WebReading(Gateway(), site)
    bytes.withUnsafeMutableBytes { reading.read($0, pieceBytes: $0.count) }
    guard case .upgrade? = reading.steps.first?.action else { fatalError("the upgrade is answered by \(reading.steps)") }
    return reading
}

private let now: UInt64 = 784_111_777_000
private let upgrade = """
    GET /ws HTTP/1.1\r
    Host: localhost:7420\r
    Upgrade: websocket\r
    Connection: Upgrade\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
    Sec-WebSocket-Version: 13\r
    \r

    """

private let site = Site(
    files: [
        EmbeddedFile(path: "/", mediaType: "text/html; charset=utf-8", bytes: Array("<p>board</p>".utf8), entityTag: EntityTag("one")),
        EmbeddedFile(path: "/relay-client.js", mediaType: "text/javascript; charset=utf-8", bytes: Array("export {}".utf8), isForAll: true),
    ], dynamicPaths: ["/healthz"], webSocketPath: "/ws",
    hosts: HostCheck(port: 7420, addresses: ["192.168.1.5", "fe80::1"], names: ["board.local"]), links: ["http://192.168.1.5:7420/"])

private let proxy = IPAddress("192.0.2.1")!
private let operators = OperatorCheck(token: Array("operator".utf8))

/// What a gateway does with bytes that come in pieces.
private struct WebReading: Sendable {
    struct Step: Equatable, Sendable {
        var action: Gateway.Action
        /// Bytes of relay frames that came before it.
        var received: Int
    }

    private(set) var steps: [Step] = []
    private(set) var received: [UInt8] = []
    private var gateway: Gateway
    private let site: Site

    init(_ gateway: Gateway, _ site: Site) { (self.gateway, self.site) = (gateway, site) }

    mutating func read(_ bytes: UnsafeMutableRawBufferPointer, pieceBytes: Int) {
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + pieceBytes)])
            var position = 0
            while let action = gateway.next(piece, &position, site: site, wallMilliseconds: now) { take(action, piece) }
            must(position == piece.count, "\(position) of \(piece.count) bytes were read")
        }
    }

    private mutating func take(_ action: Gateway.Action, _ bytes: UnsafeMutableRawBufferPointer) {
        switch action {
        case .receive(let range):
            received += bytes[range]
            return
        case .respond(let answer): if !answer.closes { gateway.responseWritten() }
        case .ask(let request):
            _ = ClientAddress.of(request, peer: proxy, trusted: [proxy])
            _ = operators.allows(request, peer: proxy)
            let answer = gateway.answer(.text(.ok, "ok\n"), wallMilliseconds: now)
            steps.append(Step(action: .respond(answer), received: received.count))
            if !answer.closes { gateway.responseWritten() }
        case .pong(let frame): must(frame.count <= 2 + GatewayLimits.controlBytesMax, "a pong of \(frame.count) bytes")
        case .send(let frame): must(frame.count <= 2 + echoBytesMax, "a message of \(frame.count) bytes")
        case .close(let frame, _): must((frame?.count ?? 0) <= 2 + GatewayLimits.controlBytesMax, "a close of \(frame?.count ?? 0) bytes")
        case .upgrade: break
        }
        steps.append(Step(action: action, received: received.count))
    }
}
