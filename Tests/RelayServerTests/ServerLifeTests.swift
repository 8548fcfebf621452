import Foundation
import RelayCore
import RelayIO
import RelayMonitoring
import RelayServer
import RelaySystem
import RelayWire
import Testing

/// Start, stop, and links that end in every ugly way. Serialized: 2 cores are not many.
@Suite(.serialized) struct ServerLifeTests {
    @Test("[SE13] a relay that stops tells its clients why, and its port is free again")
    func farewell() async throws {
        // The link answers no ping while it waits for `stop` to have its turn, however long that takes.
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried()))
        let link = try RawLink(server.address)
        try link.login("alice")
        async let stopped: Void = server.stop()
        let frames = try link.framesUntilEnd()
        await stopped
        #expect(frames.last?.type == FrameType.closing.rawValue)
        #expect(frames.last.map { String(decoding: $0.body, as: UTF8.self).contains("\"shuttingDown\"") } == true)
        let again = try await WhiteboardRelay.start(.init(port: server.address.port))
        #expect(again.address.port == server.address.port)
        await again.stop()
        await again.stop()
    }

    @Test("a port in use is an error that names it")
    func portInUse() async throws {
        let server = try await WhiteboardRelay.start(.init(port: 0))
        let error = await #expect(throws: RelayServerError.self) { try await WhiteboardRelay.start(.init(port: server.address.port)) }
        #expect(error?.text.contains(":\(server.address.port)") == true, "\(error?.text ?? "")")
        #expect(error?.text.contains("in use") == true, "\(error?.text ?? "")")
        await server.stop()
    }

    @Test("IPv6 and every interface at once are listened to")
    func addresses() async throws {
        let six = try await WhiteboardRelay.start(.init(host: "::1", port: 0))
        try RawLink(six.address).login("six")
        await six.stop()
        let any = try await WhiteboardRelay.start(.init(host: nil, port: 0))
        try RawLink(RelayAddress(host: "127.0.0.1", port: any.address.port)).login("four")
        try RawLink(RelayAddress(host: "::1", port: any.address.port)).login("six")
        await any.stop()
    }

    @Test("[SE4, SE9] 2,000 resets and 2,000 closes with reads and writes pending leave no descriptor and no connection")
    func uglyEnds() async throws {
        var hub = Configuration()
        hub.presenceTimeoutDefault = .milliseconds(5000)
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: hub))
        let port = server.address.port
        #expect(descriptors(boundTo: port) == 1, "the listener")
        for round in 0..<80 { try uglyRound(round, server.address) }
        try await eventually("every connection is gone") { await server.census().connections == 0 }
        try await eventually("every descriptor is closed") { descriptors(boundTo: port) == 1 }
        #expect(await server.census().counters.connectionsOpened == 4000)
        await server.stop()
    }

    private func uglyRound(_ round: Int, _ address: RelayAddress) throws {
        var links: [RawLink] = []
        for index in 0..<50 {
            let link = try RawLink(address)
            try link.send(.json(.login, LoginRequest(id: 1, user: try Name("u\(round % 4)-\(index)"), instance: "00000000000000aa")))
            try link.send(.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("lesson"))))
            // Reads pending at the relay, writes pending to us: we read nothing, and echo comes back.
            try link.send(.publish(number: UInt64(round + 1), channel: "lesson", flags: .echo, payload: [UInt8](repeating: 1, count: 8000)))
            links.append(link)
        }
        for link in links { link.end(reset: round % 2 == 0) }
    }

    @Test("start and stop 200 times, ten at a time, leave no descriptor")
    func startStop() async throws {
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: UInt16.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        let server = try await WhiteboardRelay.start(.init(port: 0))
                        try RawLink(server.address).login("alice")
                        await server.stop()
                        return server.address.port
                    }
                }
                for try await port in group {
                    try await eventually("every descriptor on port \(port) is closed") { descriptors(boundTo: port) == 0 }
                }
            }
        }
    }

    @Test("the port is free when stop returns: the next relay gets it, and who connects in between is refused")
    func portIsFree() async throws {
        let port = try ClosedPort()
        for _ in 0..<100 {
            let next = try await WhiteboardRelay.start(.init(port: port.number))
            await next.stop()
            // A program that another test starts has all descriptors of this one, between fork and exec.
            try await eventually("nobody listens there") { (try? RawLink(port.address)) == nil }
        }
    }

    @Test("the control socket answers with the census, to this user only, and a stale one is replaced")
    func control() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boardrelay-\(UInt32.random(in: 0 ... .max))")
        let path = folder.appendingPathComponent("relay.sock").path
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await WhiteboardRelay.start(.init(port: 0, controlSocket: path))
        let link = try RawLink(server.address)
        try link.login("alice")
        let status = try WhiteboardRelay.status(controlSocket: path)
        #expect(status.census.sessions.map(\.user) == ["alice"])
        #expect(status.address == server.address.description)
        #expect((try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) == 0o600)
        await #expect(throws: RelayServerError.self) { try await WhiteboardRelay.start(.init(port: 0, controlSocket: path)) }
        #expect(try UnixListener.query(path: path, line: "reboot").contains("error"))
        await server.stop()
        #expect(throws: RelayServerError.self) { try WhiteboardRelay.status(controlSocket: path) }

        // What a relay that was killed leaves behind.
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let again = try await WhiteboardRelay.start(.init(port: 0, controlSocket: path))
        #expect(try WhiteboardRelay.status(controlSocket: path).census.connections == 0)
        await again.stop()
        #expect(throws: RelayServerError.self) { try WhiteboardRelay.status(controlSocket: "/tmp/" + String(repeating: "x", count: 120)) }
    }

    @Test("[DL2, DL4] a reader that stops reading delays nobody: 20,000 packets reach the other one")
    func slowReader() async throws {
        var hub = Configuration()
        hub.limits.packetsPerSecond = 1_000_000
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: hub))
        let writer = try RawLink(server.address), reader = try RawLink(server.address), idle = try RawLink(server.address)
        for (link, user) in [(writer, "writer"), (reader, "reader"), (idle, "idle")] {
            try link.login(user)
            try link.send(.json(.join, JoinRequest(id: 2, channel: try Name("lesson"), features: [])))
            _ = try link.frames(until: .topics)
        }
        for link in [reader, idle] {
            try link.send(.json(.subscribeTopic, TopicUsersRequest(id: 3, channel: try Name("lesson"), topic: try Name("points"))))
            _ = try link.frames(until: .answer)
        }
        try writer.send(.json(.joinTopic, JoinTopicRequest(id: 3, channel: try Name("lesson"), topic: try Name("points"))))
        let answer = try #require(try writer.frames(until: .answer).last)
        let flow = try answer.body.withUnsafeBytes { try JSONBody.decode(JoinTopicAnswer.self, from: $0) }.flow
        let total = 20_000
        for _ in 0..<(total / 100) {
            for _ in 0..<100 { try writer.send(.publishPacket(flow: flow, payload: [UInt8](repeating: 7, count: 500))) }
            for _ in 0..<100 { _ = try reader.frames(until: .packet) }
        }
        let census = await server.census()
        #expect(census.counters.packetsAccepted == UInt64(total))
        #expect(census.counters.packetsShedSlow + census.counters.packetsShedExpired > 0, "the idle reader's queue was shed")
        let idleLost = census.sessions.first { $0.user == "idle" }?.packetsLost ?? 0
        #expect(idleLost == census.counters.packetsShedSlow + census.counters.packetsShedExpired, "and nobody else's")
        await server.stop()
    }
}
