import Foundation
import RelayClient
import RelayServer
import Testing

@testable import RelayIO

/// Links behind TLS. The other end is Python's `ssl`, with certificates that are made for each test.
@Suite("a link behind TLS reaches the relay that its address names, or none", .timeLimit(.minutes(10)))
struct TLSTests {
    private func withProxy(_ words: [String] = [], _ body: (TLSProxy, WhiteboardRelay) async throws -> Void) async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0))
        let proxy = try await TLSProxy(to: server.address.port, words)
        let result: Result<Void, any Error>
        do { result = .success(try await body(proxy, server)) } catch { result = .failure(error) }
        await proxy.stop()
        await server.stop()
        try result.get()
    }

    private func client(_ user: String, _ proxy: TLSProxy, pin: String? = nil) async throws -> WhiteboardClient {
        var options = ClientOptions()
        (options.secret, options.device) = (.digits(String(repeating: user == "ann" ? "a" : "b", count: 32)), .inMemory)
        return try await WhiteboardClient.connect(
            to: Invitation("relays://127.0.0.1:\(proxy.port)#pin=\(pin ?? proxy.pin)"), as: user, options: options)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Of the proxy.
        var words: [String] = []
        /// What `--url` says: `PORT` and `PIN` are the proxy's, `RELAY` is the port of the relay itself.
        var url = "relays://localhost:PORT"
        /// Whether this machine trusts the root of the proxy.
        var trusts = true
        /// The reason for a failure, `PIN` in it; `nil` when the command reaches the relay.
        var reason: String?
    }

    static let cases: [Case] = [
        Case(testDescription: "the right name"),
        Case(testDescription: "https", url: "https://localhost:PORT/"),
        Case(testDescription: "wss and an address", words: ["--name", "127.0.0.1"], url: "WSS://127.0.0.1:PORT"),
        Case(testDescription: "TLS 1.2", words: ["--newest", "1.2"]),
        Case(testDescription: "one byte at a time", words: ["--way", "trickle"]),
        Case(
            testDescription: "a wrong name", words: ["--name", "a.example", "--name", "b.example"],
            reason: "the certificate is for a.example, b.example, not for localhost"),
        Case(
            testDescription: "a name for an address", url: "relays://127.0.0.1:PORT",
            reason: "the certificate is for localhost, not for 127.0.0.1"),
        Case(testDescription: "an expired certificate", words: ["--expired"], reason: "the certificate of localhost has expired"),
        Case(testDescription: "an unknown root", trusts: false, reason: "from no root that this system trusts"),
        Case(testDescription: "TLS 1.1", words: ["--newest", "1.1"], reason: "TLS was not agreed on with localhost: "),
        Case(
            testDescription: "no TLS", url: "relays://localhost:RELAY",
            reason: "localhost does not speak TLS on this port: it answers \"HTTP"),
        Case(testDescription: "an end in the handshake", words: ["--way", "leave"], reason: "localhost ended the connection before TLS"),
        Case(testDescription: "HTTP behind TLS", words: ["--way", "answer"], reason: "an HTTP server answers, not a relay"),
        Case(
            testDescription: "the right pin alone", words: ["--expired", "--name", "a.example"], url: "relays://127.0.0.1:PORT#pin=PIN",
            trusts: false),
        Case(
            testDescription: "a wrong pin", url: "relays://localhost:PORT#pin=\(String(repeating: "Ab", count: 10))-A",
            reason: "localhost has another key than the pin says: expected \(String(repeating: "Ab", count: 10))-A, found PIN"),
    ]

    @Test("a command comes in where the server proves to be the one that the address names; else it says why not", arguments: cases)
    func command(_ row: Case) async throws {
        try await withProxy(row.words) { proxy, server in
            func filled(_ text: String) -> String {
                text.replacing("PORT", with: "\(proxy.port)").replacing("PIN", with: proxy.pin).replacing("RELAY", with: "\(server.address.port)")
            }
            let told = try await Tool.run(
                "pub", "lesson", "hello", url: filled(row.url), environment: ["SSL_CERT_FILE": row.trusts ? proxy.root : "/dev/null"])
            guard let reason = row.reason else { return #expect(told.code == 0 && told.errors == "", "\(told.errors)") }
            #expect(told.code == 1 && told.errors.contains(filled(reason)) && told.errors.contains("(connectFailed)"), "\(told.errors)")
            #expect(!told.errors.contains("is it running?"))
        }
    }

    @Test("a drawing of 3 MiB goes to the relay and comes from it, whole")
    func large() async throws {
        try await withProxy { proxy, _ in
            let (ann, ben) = (try await client("ann", proxy), try await client("ben", proxy))
            try await ben.subscribe("lesson")
            let image = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
            _ = try await ann.sendLarge(.bytes(image), to: "lesson", customType: "image").stored
            for await case .message(let message) in ben.told {
                #expect(message.payload == .bytes(image))
                break
            }
            for client in [ann, ben] { await client.close() }
        }
    }

    @Test("a link that is cut without a word of TLS has ended: the client comes back, and the server proves itself again")
    func cut() async throws {
        try await withProxy { proxy, server in
            let (ann, ben) = (try await client("ann", proxy), try await client("ben", proxy))
            try await ben.subscribe("lesson")
            try await proxy.cut()
            var links: [String] = []
            for await event in ben.told {
                guard case .link(let state) = event else { continue }
                switch state {
                case .waiting: links.append("waiting")
                case .connected(let resumed): links.append("connected, resumed: \(resumed)")
                case .idle, .connecting, .closed: break
                }
                if links.count == 3 { break }
            }
            #expect(links == ["connected, resumed: false", "waiting", "connected, resumed: true"])
            _ = try await ann.send("again", to: "lesson").accepted
            for await case .message(let message) in ben.told {
                #expect(message.payload == .text("again"))
                break
            }
            for client in [ann, ben] { await client.close() }
        }
    }

    @Test("a client that comes back judges anew: it stays away from a server with another key, and says why")
    func changed() async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0))
        let first = try await TLSProxy(to: server.address.port)
        let ann = try await client("ann", first)
        await first.stop()
        let second = try await TLSProxy(to: server.address.port, ["--port", "\(first.port)"])
        var (logins, reason) = (0, "")
        for await event in ann.told {
            guard case .link(let state) = event else { continue }
            if case .connected = state { logins += 1 }
            if case .waiting(_, let end) = state, end.code == .connectFailed, end.text.contains("another key") { reason = end.text }
            if logins > 1 || !reason.isEmpty { break }
        }
        #expect(reason == "127.0.0.1 has another key than the pin says: expected \(first.pin), found \(second.pin)")
        await ann.close()
        await second.stop()
        await server.stop()
    }

    @Test("who answers without TLS at the address of a relay behind it hears neither user nor key")
    func silent() async throws {
        let listener = try Impostor()
        async let heard = listener.hearsOnce()
        var options = ClientOptions()
        (options.secret, options.device) = (.inMemory, .inMemory)
        options.connectTimeout = .seconds(300)
        let invitation = try Invitation("relays://127.0.0.1:\(listener.port)#key=SECRETISH")
        let error = await #expect(throws: RelayError.self) {
            try await WhiteboardClient.connect(to: invitation, as: "anna-of-7b", options: options)
        }
        #expect(error?.code == .connectFailed && error?.text.contains("ended the connection before TLS") == true)
        let bytes = await heard
        #expect(bytes.first == 22)
        for secret in ["SECRETISH", "anna-of-7b"] { #expect(!String(decoding: bytes, as: UTF8.self).contains(secret)) }
    }
}

/// A port on which somebody listens who is no relay.
private struct Impostor: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, SocketConstants.stream, 0)
        let any = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
        guard any.withPointer({ bind(descriptor, $0, $1) == 0 && listen(descriptor, 1) == 0 }) else {
            throw SocketAddress.Failure("impostor", code: errno)
        }
        self.descriptor = descriptor
        port = SocketAddress { _ = getsockname(descriptor, $0, &$1) }.numeric.port
    }

    /// What the first to come says at once; then both sockets are closed.
    func hearsOnce() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                let peer = accept(descriptor, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(peer, &buffer, buffer.count, 0)
                close(peer)
                close(descriptor)
                continuation.resume(returning: Array(buffer.prefix(max(count, 0))))
            }
        }
    }
}
