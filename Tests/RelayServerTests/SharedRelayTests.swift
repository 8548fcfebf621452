import Foundation
import RelayClient
import RelayCore
import RelayIO
import RelayRights
import RelayTokens
import RelayWire
import Testing

@testable import RelayServer

/// Several relays in one process, behind one port. [SE16]
@Suite("a relay with spaces", .timeLimit(.minutes(10)))
struct SharedRelayTests {
    private static let names = ["a", "b"].map { try! SpaceName($0) }
    private static let audience = [UInt8](repeating: 7, count: 32)

    private func withShared(
        _ door: WhiteboardRelay.Options = .init(port: 0), access: WhiteboardRelay.Access = .open,
        _ body: (SharedRelay) async throws -> Void
    ) async throws {
        let shared = try await SharedRelay.start(
            door, spaces: { (Self.names, []) },
            optionsOf: { @Sendable space, _ throws(RelayServerError) in
                var options = WhiteboardRelay.Options(port: 0, access: access)
                if case .keys(let join, .some) = access {
                    let rules: TokenRules
                    do throws(TokenSetupError) {
                        rules = try TokenRules(secrets: [TokenSecret(id: nil, bytes: Self.audience)], audience: space.text)
                    } catch {
                        throw RelayServerError(text: "\(error)")
                    }
                    options.access = .keys(join: join, tokens: rules)
                }
                return options
            })
        let result: Result<Void, any Error>
        do { result = .success(try await body(shared)) } catch { result = .failure(error) }
        await shared.stop()
        try result.get()
    }

    private func client(_ user: String, _ space: String?, _ shared: SharedRelay) async throws -> WhiteboardClient {
        var options = ClientOptions()
        (options.secret, options.device) = (.digits(String(repeating: user == "ann" ? "a" : "b", count: 32)), .inMemory)
        return try await WhiteboardClient.connect(to: Invitation(shared.address, space: space), as: user, options: options)
    }

    @Test("[SE16] a message stays in its space, though user, device and channel have the same names in both")
    func apart() async throws {
        try await withShared { shared in
            let readers = (try await client("ben", "a", shared), try await client("ben", "b", shared))
            for reader in [readers.0, readers.1] { try await reader.subscribe("lesson") }
            for space in ["a", "b"] {
                let writer = try await client("ann", space, shared)
                try await writer.subscribe("lesson")
                _ = try await writer.send(.text("in \(space)"), to: "lesson").accepted
                await writer.close()
            }
            for (reader, space) in [(readers.0, "a"), (readers.1, "b")] {
                for await case .message(let message) in reader.told {
                    #expect(message.payload == .text("in \(space)") && message.offset == 1)
                    break
                }
                #expect(reader.relayID != nil)
                await reader.close()
            }
            #expect(readers.0.relayID != readers.1.relayID, "each space has an id of its own")
        }
    }

    @Test("[SE16] a login that names no space, or another one, is refused for good; over WebSocket, too")
    func refused() async throws {
        try await withShared { shared in
            for space in [nil, "c", "-"] {
                let error = await #expect(throws: RelayError.self) { try await client("ann", space, shared) }
                #expect(error?.code == .spaceUnknown)
            }
            let text = try webSocket(shared, space: "c")
            #expect(text.contains("spaceUnknown"))
        }
    }

    /// Upgrades, logs in and out, and gives all that came.
    private func webSocket(_ shared: SharedRelay, space: String, inPieces: Bool = false) throws -> String {
        let link = try RawLink(shared.address)
        let head =
            "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:\(shared.address.port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        try link.send(raw: Array(head.utf8))
        try link.waitForHead()
        let login = Frame.json(.login, LoginRequest(id: 1, user: try Name("web"), instance: "00000000000000aa", space: space))
        let logout = Frame(.logout, body: Array(#"{"id":2}"#.utf8))
        let bytes = login.bytes + logout.bytes
        // One message of two fragments; the login ends in the first or in the second, and a mask of zeros changes nothing.
        let cut = inPieces ? login.bytes.count - 3 : login.bytes.count + 4
        func fragment(_ bytes: ArraySlice<UInt8>, _ first: UInt8) -> [UInt8] {
            let length = bytes.count < 126 ? [UInt8(bytes.count)] : [126, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            return [first, 0x80 | length[0]] + length.dropFirst() + [0, 0, 0, 0] + bytes
        }
        let ping: [UInt8] = [0x89, 0x80, 0, 0, 0, 0]
        let message = fragment(bytes[..<cut], 0x02) + ping + fragment(bytes[cut...], 0x80)
        try link.send(raw: message)
        return String(decoding: try link.bytesUntilEnd(), as: UTF8.self)
    }

    @Test("[SE16, WS7] a WebSocket is handed over in the middle of a message, whichever fragment ends the login", arguments: [false, true])
    func webSockets(inPieces: Bool) async throws {
        try await withShared { shared in
            for space in ["a", "b"] {
                let text = try webSocket(shared, space: space, inPieces: inPieces)
                #expect(text.contains("resumeToken") && text.contains("loggedOut"), "\(text.debugDescription)")
            }
            for name in Self.names { #expect(await shared[name]!.census().counters.sessionsOpened == 1) }
        }
    }

    /// Frames that ask one space for what another one has; in order.
    private static let questions: [(FrameType, String)] = [
        (.boards, "{}"), (.history, #"{"channel":"lesson"}"#), (.getMetadata, #"{"kind":"message","channel":"lesson"}"#),
        (.getMetadata, #"{"user":"ann"}"#), (.getLocks, #"{"kind":"message","channel":"lesson"}"#),
        (.who, #"{"kind":"message","channel":"lesson"}"#), (.whereIs, #"{"user":"ann"}"#),
        (.getStates, #"{"kind":"stream","channel":"room","user":"ann"}"#), (.who, #"{"kind":"stream","channel":"room"}"#), (.getBans, "{}"),
        (.endSession, #"{"user":"ann"}"#), (.unbanUser, #"{"user":"eve"}"#), (.removeBoard, #"{"channel":"lesson"}"#),
        (.clear, #"{"channel":"lesson"}"#), (.removeLock, #"{"kind":"message","channel":"lesson","lock":"pen"}"#),
        (.subscribe, #"{"channel":"lesson","features":["messages","presence","metadata","locks"]}"#),
        (.subscribeUserMetadata, #"{"user":"ann"}"#), (.forgetUser, #"{"user":"ann"}"#),
    ]

    /// What makes each question have an answer.
    private static let deeds: [(FrameType, String)] = [
        (.subscribe, #"{"channel":"lesson","features":["messages"]}"#), (.join, #"{"channel":"room"}"#),
        (.setStates, #"{"kind":"stream","channel":"room","states":{"mood":"good"}}"#),
        (.setLock, #"{"kind":"message","channel":"lesson","lock":"pen"}"#),
        (.acquireLock, #"{"kind":"message","channel":"lesson","lock":"pen"}"#), (.banUser, #"{"user":"eve"}"#),
        (.setRole, #"{"user":"tom","role":"reader"}"#),
    ]

    private func ask(_ link: RawLink, _ type: FrameType, _ body: String, id: Int) throws -> String {
        let body = (body == "{}" ? "{" : body.dropLast() + ",") + #""id":\#(id)}"#
        try link.send(Frame(type, body: Array(body.utf8)))
        try link.send(Frame(.ping, body: [9]))
        let frames = try link.frames(until: .pong)
        let answers = [FrameType.answer, .error, .metadataPage].map(\.rawValue)
        return frames.filter { answers.contains($0.type) }.map { String(decoding: $0.body, as: UTF8.self) }.joined()
    }

    private func enter(_ address: RelayAddress, _ space: String?, user: String, key: String? = nil) throws -> RawLink {
        let link = try RawLink(address)
        let login = LoginRequest(
            id: 1, user: try Name(user), secret: String(repeating: "c", count: 32), key: key, instance: "00000000000000aa", space: space)
        try link.send(.json(.login, login))
        _ = try link.frames(until: .welcome)
        return link
    }

    @Test("[SE16] whatever one asks inside a space, the answer is that of a relay in which nothing of the other ones has ever been")
    func nothingLeaks() async throws {
        try await withShared(access: .keys()) { shared in
            let hosts = Self.names.map { shared[$0]!.keys!.host }
            let alone = try await WhiteboardRelay.start(.init(port: 0, access: .keys()))
            let ann = try enter(shared.address, "a", user: "ann", key: hosts[0])
            for (number, deed) in Self.deeds.enumerated() {
                let answer = try ask(ann, deed.0, deed.1, id: number + 2)
                #expect(!answer.contains("code"), "\(deed.0.name): \(answer)")
            }
            try ann.send(raw: Frame.publish(number: 1, channel: "lesson", key: "ink", flags: .retain, payload: [1]).bytes)
            for (type, body) in [
                (FrameType.setMetadata, #"{"channel":"lesson","kind":"message","items":[{"key":"title","bytes":1}],"id":90}"#),
                (.setMetadata, #"{"user":"ann","items":[{"key":"name","bytes":1}],"id":91}"#),
            ] {
                let head = Array(body.utf8)
                try ann.send(Frame(type, body: [UInt8(head.count >> 8), UInt8(head.count & 255)] + head + [65]))
            }
            try ann.send(Frame(.barrier, body: Array(#"{"id":92}"#.utf8)))
            try ann.send(Frame(.ping, body: [9]))
            _ = try ann.frames(until: .pong)

            let inside = try enter(shared.address, "b", user: "ben", key: hosts[1])
            let elsewhere = try enter(alone.address, nil, user: "ben", key: alone.keys!.host)
            let there = try enter(shared.address, "a", user: "ben", key: hosts[0])
            var differ = 0
            for (number, question) in Self.questions.enumerated() {
                // Times and starts are each relay's own.
                func plain(_ link: RawLink) throws -> String {
                    let own = /("(epoch|time|start|createdAt|updatedAt)":)(\[[^\]]*\]|\d+)/
                    return try ask(link, question.0, question.1, id: number + 2).replacing(own) { $0.output.1 + "_" }
                }
                let answer = try plain(inside)
                #expect(answer == (try plain(elsewhere)), "\(question.0.name) \(question.1)")
                if answer != (try plain(there)) { differ += 1 }
            }
            #expect(differ >= 15, "the questions ask for what there is: \(differ) of \(Self.questions.count) have other answers in space a")
            await alone.stop()
        }
    }

    @Test("[SE16] a key, a token, a join code and a device's code of one space let nobody into another; a user id is each space's own")
    func credentials() async throws {
        let rules = try TokenRules(secrets: [TokenSecret(id: nil, bytes: Self.audience)])
        try await withShared(access: .keys(tokens: rules)) { shared in
            let keys = Self.names.map { shared[$0]!.keys! }
            #expect(Set(keys.flatMap { [$0.join, $0.host] }).count == 4)
            let host = try enter(shared.address, "a", user: "ann", key: keys[0].host)
            _ = try ask(host, .subscribe, #"{"channel":"lesson","features":["messages"]}"#, id: 2)
            func code(_ type: FrameType, _ body: String, id: Int) throws -> String {
                let answer = try ask(host, type, body, id: id)
                return String(try #require(answer.firstMatch(of: /"code":"([^"]+)"/)).output.1)
            }
            let joinCode = try code(.offerJoinCode, #"{"channel":"lesson"}"#, id: 3)
            let deviceCode = try code(.offerDevice, #"{"secret":"\#(String(repeating: "c", count: 32))"}"#, id: 4)
            let secret = try TokenSecret(id: nil, bytes: Self.audience)
            let token = try TokenMint.mint(for: "ann", expires: 4_000_000_000, role: .editor, audience: "a", secret: secret)
            let tries: [(String, LoginRequest)] = try ["a", "b"].flatMap { space in
                let secret = String(repeating: space == "a" ? "c" : "d", count: 32)
                func login(
                    user: String? = "ann", code: String? = nil, key: String? = nil, token: String? = nil, joinCode: String? = nil
                ) throws -> LoginRequest {
                    LoginRequest(
                        id: 1, user: try user.map { try Name($0) }, secret: code == nil ? secret : nil, code: code, key: key, token: token,
                        joinCode: joinCode, instance: "00000000000000aa", device: "00000000000000\(space)1", space: space)
                }
                return [
                    (space, try login(key: keys[0].join)), (space, try login(token: token)), (space, try login(joinCode: joinCode)),
                    (space, try login(user: nil, code: deviceCode, key: keys[space == "a" ? 0 : 1].join)),
                ]
            }
            for (space, request) in tries {
                let link = try RawLink(shared.address)
                try link.send(.json(.login, request))
                let first = try link.frames(until: space == "a" ? .welcome : .error)
                #expect(first.last?.type == (space == "a" ? FrameType.welcome : .error).rawValue)
            }
            // The id of a user of space a is free in space b, with another secret.
            let other = try RawLink(shared.address)
            let login = LoginRequest(
                id: 1, user: try Name("ann"), secret: String(repeating: "d", count: 32), key: keys[1].join, instance: "00000000000000aa",
                space: "b")
            try other.send(.json(.login, login))
            _ = try other.frames(until: .welcome)
        }
    }

    @Test("[SE16] a space is added and removed while the others serve; who was in it is told, and finds it no more")
    func comeAndGo() async throws {
        try await withShared { shared in
            let stays = try await client("ann", "a", shared)
            let new = try SpaceName("c")
            try await shared.add(new)
            #expect(shared.names.map(\.text) == ["a", "b", "c"])
            let goes = try await client("ben", "c", shared)
            await #expect(throws: RelayServerError(text: "space c is there already")) { try await shared.add(new) }
            try await shared.remove(new)
            for await event in goes.told {
                guard case .link(.closed(let reason)) = event else { continue }
                #expect(reason.code == .spaceUnknown)
                break
            }
            await #expect(throws: RelayServerError(text: "this relay has no space c")) { try await shared.remove(new) }
            try await stays.subscribe("lesson")
            await stays.close()
        }
    }

    @Test("[HT9, SE16] the numbers of each space have its name, and those of the door none; each space makes it ready")
    func numbers() async throws {
        try await withShared { shared in
            let ann = try await client("ann", "a", shared)
            func get(_ path: String) throws -> String { try self.get(path, shared) }
            let text = try get("/metrics")
            #expect(text.contains("\nboardrelay_sessions{space=\"a\",state=\"present\"} 1\n"))
            #expect(text.contains("\nboardrelay_sessions{space=\"b\",state=\"present\"} 0\n"))
            #expect(text.components(separatedBy: "# TYPE boardrelay_sessions gauge").count == 2)
            #expect(text.contains("\nprocess_resident_memory_bytes ") && !text.contains("process_resident_memory_bytes{"))
            let (ready, none) = (try get("/readyz"), try get("/c"))
            #expect(ready.hasSuffix("\r\n\r\nready\n") && none.hasPrefix("HTTP/1.1 404 "))
            let pages = try ["/", "/a", "/b"].map { try get($0).components(separatedBy: "\r\n\r\n")[1] }
            #expect(Set(pages).count == 1 && pages[0].contains("<!doctype html>"))
            await ann.close()
        }
    }

    @Test("[SE16] the operator asks a space behind its name; without one what all have is answered, and what one has is refused")
    func control() async throws {
        let path = "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max)).sock"
        try await withShared(.init(port: 0, controlSocket: path), access: .keys()) { shared in
            #expect(try WhiteboardRelay.spaces(controlSocket: path).spaces.map(\.name) == ["a", "b"])
            let report = try WhiteboardRelay.keys(controlSocket: path, space: "a")
            #expect(report.host == shared[Self.names[0]]!.keys!.host && report.space == "a")
            #expect(try WhiteboardRelay.status(controlSocket: path, space: "b").address == "\(shared.address)")
            #expect(try WhiteboardRelay.about(controlSocket: path).address == "\(shared.address)")
            for ask in [
                { _ = try WhiteboardRelay.keys(controlSocket: path) }, { _ = try WhiteboardRelay.backup(controlSocket: path) { _ in } },
                { _ = try WhiteboardRelay.keys(controlSocket: path, space: "c") },
            ] {
                let error = #expect(throws: RelayServerError.self) { try ask() }
                #expect(error?.text.contains("space") == true)
            }
            #expect(try WhiteboardRelay.addSpace(SpaceName("c"), controlSocket: path).spaces.map(\.name) == ["a", "b", "c"])
            #expect(throws: RelayServerError(text: "space c is there already")) {
                try WhiteboardRelay.addSpace(SpaceName("c"), controlSocket: path)
            }
            #expect(try WhiteboardRelay.removeSpace(SpaceName("c"), controlSocket: path).spaces.map(\.name) == ["a", "b"])
        }
    }

    @Test("a relay with spaces gives back its port and its descriptors, and starts again")
    func stops() async throws {
        var port: UInt16 = 0
        try await withShared { shared in
            port = shared.address.port
            _ = try await client("ann", "a", shared)
        }
        #expect(descriptors(boundTo: port) == 0)
        try await withShared(.init(port: port)) { _ in }
    }

    @Test("[SE16] a space that does not start keeps no other down: it is told, makes the relay unready, and starts later")
    func partly() async throws {
        let isWell = Mutex(false), lines = Mutex<[String]>([])
        var options = WhiteboardRelay.Options(port: 0)
        options.log = { line in lines.withLock { $0.append(line.text) } }
        let shared = try await SharedRelay.start(options, spaces: { (Self.names, ["/x/notes"]) }) { space, _ throws(RelayServerError) in
            guard space.text == "a" || isWell.withLock({ $0 }) else { throw RelayServerError(text: "no such folder") }
            return .init(port: 0)
        }
        let ann = try await client("ann", "a", shared)
        let told = lines.withLock { $0 }
        #expect(told.contains("space b does not start: no such folder") && told.contains("/x/notes is no space, and is left alone"))
        #expect(SpacesReport(shared).spaces.map(\.problem) == [nil, "does not start: no such folder"])
        let text = try get("/readyz", shared)
        #expect(text.contains(" 503 ") && text.hasSuffix("1 of 2 spaces: it does not start\n"))
        // Who comes for it is not sent away for good.
        #expect(try closing(shared, "b") == .shuttingDown && ErrorCode.shuttingDown.clientReconnects)
        let name = Self.names[1]
        await #expect(throws: RelayServerError(text: "no such folder")) { try await shared.add(name) }
        isWell.withLock { $0 = true }
        try await shared.add(name)
        let ben = try await client("ben", "b", shared)
        let after = try get("/readyz", shared)
        #expect(after.hasSuffix("\r\n\r\nready\n"))
        for client in [ann, ben] { await client.close() }
        await shared.stop()
    }

    @Test("[SE16] the port opens when the spaces have started: nobody is told that there is none")
    func opensLast() async throws {
        let port = try ClosedPort()
        let early = Mutex(0)
        let shared = try await SharedRelay.start(.init(port: port.number), spaces: { (Self.names, []) }) { _, _ in
            if (try? RawLink(port.address)) == nil { early.withLock { $0 += 1 } }
            return .init(port: 0)
        }
        #expect(early.withLock { $0 } == 2)
        await (try client("ann", "a", shared)).close()
        await shared.stop()
    }

    /// How the relay ends a login.
    private func closing(_ shared: SharedRelay, _ space: String) throws -> ErrorCode? {
        let link = try RawLink(shared.address)
        try link.send(.json(.login, LoginRequest(id: 1, user: try Name("ben"), instance: "00000000000000aa", space: space)))
        let frames = try link.frames(until: .closing)
        return try frames.last.map { try $0.body.withUnsafeBytes { try JSONBody.decode(CloseNotice.self, from: $0, bytesMax: .max) }.code }
    }

    @Test("[SE16] beyond so many on their way to a space the door tells the next one to come back, and counts it")
    func crowded() async throws {
        try await withShared { shared in
            let engine = shared[Self.names[0]]!.engine
            engine.arrivals.withLock { $0 += Engine.arrivalsMax }
            #expect(try closing(shared, "a") == .tooManyConnections)
            #expect(await shared.door.census().counters.closes["tooManyConnections"] == 1)
            engine.arrivals.withLock { $0 -= Engine.arrivalsMax }
            await (try client("ann", "a", shared)).close()
            #expect(engine.arrivals.withLock { $0 } == 0)
        }
    }

    private func get(_ path: String, _ shared: SharedRelay, halfCloses: Bool = false) throws -> String {
        let link = try RawLink(shared.address)
        let head = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(shared.address.port)\r\nConnection: close\r\n\r\n"
        try link.send(raw: Array(head.utf8))
        if halfCloses { link.sayNoMore() }
        return String(decoding: try link.bytesUntilEnd(), as: UTF8.self)
    }

    @Test(
        "[HT3, SE16] who asks all spaces and says that it asks nothing more gets the answer",
        arguments: ["/readyz", "/metrics", "/healthz"])
    func halfClosed(path: String) async throws {
        try await withShared { shared in
            let text = try get(path, shared, halfCloses: true)
            #expect(text.hasPrefix("HTTP/1.1 200 "))
        }
    }
}
