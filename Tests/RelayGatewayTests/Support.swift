import RelayGateway
import RelayPrimitives
import Testing

extension [UInt8] {
    /// `nil` for anything but pairs of hexadecimal digits.
    init?(hex: some StringProtocol) {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// In pieces that begin at these places.
    func cut(at places: [Int]) -> [[UInt8]] {
        zip([0] + places, places + [count]).map { Array(self[$0..<$1]) }
    }

    func randomCut(using generator: inout some RandomNumberGenerator) -> [[UInt8]] {
        cut(at: (0..<Int.random(in: 0...4, using: &generator)).map { _ in Int.random(in: 0...count, using: &generator) }.sorted())
    }
}

/// A test that did not get what it goes on with.
func unexpected(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record("\(what)", sourceLocation: sourceLocation)
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// What a parser makes of bytes: requests, and the refusal that ends them.
struct Reading: Equatable {
    var requests: [HTTPRequest] = []
    var refusal: HTTPRefusal?
    var isInHead = false

    init(_ pieces: [[UInt8]]) {
        var parser = HTTPRequestParser()
        pieces: for piece in pieces {
            var position = 0
            do throws(HTTPRefusal) {
                while let request = try read(&parser, piece, &position) { requests.append(request) }
            } catch {
                refusal = error
                break pieces
            }
        }
        isInHead = refusal == nil && parser.isInHead
    }

    init(_ text: String) { self.init([Array(text.utf8)]) }
}

private func read(_ parser: inout HTTPRequestParser, _ bytes: [UInt8], _ position: inout Int) throws(HTTPRefusal) -> HTTPRequest? {
    try bytes.withUnsafeBytes { bytes in Result { () throws(HTTPRefusal) in try parser.next(bytes, &position) } }.get()
}

/// One connection to a site, without a socket: what is written is taken at once, unless a test holds it back.
final class Connection {
    var gateway = Gateway()
    var site: Site
    var actions: [Gateway.Action] = []
    /// What the hub got.
    var received: [UInt8] = []
    var writesAtOnce = true
    static let wall: UInt64 = 784_111_777_000

    init(_ site: Site = Connection.site()) { self.site = site }

    static let page = EmbeddedFile(
        path: "/", mediaType: "text/html; charset=utf-8", bytes: Array("<p>board</p>".utf8), entityTag: EntityTag("one"))
    static let script = EmbeddedFile(path: "/relay-client.js", mediaType: "text/javascript; charset=utf-8", bytes: Array("export {}".utf8))

    static func site(files: [EmbeddedFile] = [page, script], links: [String] = ["http://192.168.1.5:7420/"]) -> Site {
        Site(
            files: files, dynamicPaths: ["/healthz"], webSocketPath: "/ws",
            hosts: HostCheck(port: 7420, addresses: ["192.168.1.5", "fe80::1"], names: ["board.local"]), links: links)
    }

    /// The actions that these bytes cause.
    @discardableResult
    func receive(_ bytes: [UInt8]) -> [Gateway.Action] {
        var bytes = bytes
        let before = actions.count
        var position = 0
        bytes.withUnsafeMutableBytes { bytes in
            while let action = gateway.next(bytes, &position, site: site, wallMilliseconds: Self.wall) {
                actions.append(action)
                switch action {
                case .receive(let range): received += bytes[range]
                case .respond(let answer): if !answer.closes, writesAtOnce { gateway.responseWritten() }
                case .ask, .upgrade, .pong, .send, .close: break
                }
            }
        }
        return Array(actions[before...])
    }

    @discardableResult
    func receive(_ text: String) -> [Gateway.Action] { receive(Array(text.utf8)) }

    func close(_ close: WebSocketClose) -> [UInt8]? { gateway.close(close) }
    func headTimedOut() -> Gateway.Answer? { gateway.headTimedOut(wallMilliseconds: Self.wall) }

    /// The one answer that a request gets.
    func answer(_ text: String) -> Gateway.Answer? {
        let actions = receive(text)
        guard actions.count == 1, case .respond(let answer) = actions[0] else { return nil }
        return answer
    }

    static func get(_ path: String, host: String = "192.168.1.5:7420", method: String = "GET", _ fields: String...) -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    static func upgrade(_ fields: String...) -> String {
        var text = get(
            "/ws", "Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13")
        // The empty line: a line end is one character.
        text.removeLast()
        return text + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// A connection that is a WebSocket.
    static func webSocket(_ site: Site = Connection.site()) -> Connection {
        let connection = Connection(site)
        connection.receive(upgrade())
        connection.actions = []
        return connection
    }
}

extension Gateway.Answer {
    var headText: String { text(head) }

    /// The value of a field, if it stands in the head once.
    func field(_ name: String) -> String? {
        let lines = headText.split(separator: "\r\n").filter { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        return lines.count == 1 ? String(lines[0].dropFirst(name.count + 2)) : nil
    }
}

/// A frame of a client.
func masked(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]) -> [UInt8] {
    var bytes = [(isFinal ? 0x80 : 0) | opcode]
    switch payload.count {
    case ...125: bytes.append(0x80 | UInt8(payload.count))
    case ...0xFFFF: bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}
