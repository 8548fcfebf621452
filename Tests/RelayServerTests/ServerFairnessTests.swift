import Dispatch
import Foundation
import RelayCore
import RelayIO
import RelaySystem
@testable import RelayServer
import RelayWire
import Testing

@Suite struct ServerFairnessTests {
    /// Holds the relay's queue where it writes a log line, until it is let go.
    private final class Brake: @unchecked Sendable {
        // Safe: semaphores, and a flag behind a lock.
        private let gate = DispatchSemaphore(value: 0)
        private let held = DispatchSemaphore(value: 0)
        private let isSet = Mutex(true)

        func log(_ line: LogLine) {
            guard line.text.contains("frameTooLarge"),
                isSet.withLock({ was in
                    defer { was = false }
                    return was
                })
            else { return }
            held.signal()
            gate.wait()
        }

        func waitUntilHeld() -> Bool { held.wait(timeout: .now() + 300) == .success }
        func release() { gate.signal() }
    }

    @Test("[DL10] a connection with a megabyte waiting is read 128 KiB at a time: others are read in between")
    func turns() async throws {
        let brake = Brake()
        var hub = Configuration.unhurried()
        hub.limits.messagesPerSecond = 10_000
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: hub, log: { brake.log($0) }))
        let greedy = try RawLink(server.address), modest = try RawLink(server.address), watcher = try RawLink(server.address)
        try greedy.login("greedy")
        try modest.login("modest")
        try watcher.login("watcher")
        try watcher.send(.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("lesson"), features: ["messages"])))
        _ = try watcher.frames(until: .answer)

        // The relay stands still; a megabyte comes for it over one link, then one message over another.
        let noise = try RawLink(server.address)
        try noise.send(raw: [0, 0xFF, 0xFF, 0xFF])
        #expect(brake.waitUntilHeld())
        let count = 128
        let written = Mutex(0)
        greedy.sendInBackground {
            let number = written.withLock { written in
                written += 1
                return written
            }
            return number > count
                ? nil : Frame.publish(number: UInt64(number), channel: "lesson", payload: [UInt8](repeating: 1, count: 8_000)).bytes
        }
        try await eventually("600 KB are under way") { written.withLock { $0 } > 75 }
        try modest.send(.publish(number: 1, channel: "lesson", payload: [2]))
        brake.release()

        var before = 0
        read: while true {
            for frame in try watcher.frames(until: .deliver) where frame.type == FrameType.deliver.rawValue {
                if frame.body.last == 2 { break read }
                before += 1
            }
        }
        // One turn, or two, if the second was due before the other link was seen; all 75 without turns.
        #expect(before <= 2 * (Engine.readBudget / 8_000) + 2, "\(before) messages of the other were read first")
        for link in [greedy, modest, watcher, noise] { link.end(reset: true) }
        await server.stop()
    }

    @Test("[DL10] one that sends faster than it is read stands in line once, whatever comes of it meanwhile")
    func flood() async throws {
        let brake = Brake()
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried(), log: { brake.log($0) }))
        let flooder = try RawLink(server.address), modest = try RawLink(server.address)
        try flooder.send(
            raw: Array(
                "GET /ws HTTP/1.1\r\nHost: \(server.address.host):\(server.address.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                    .utf8))
        // The relay stands still until more has come than it reads in a turn, however busy the machine is.
        let noise = try RawLink(server.address)
        try noise.send(raw: [0, 0xFF, 0xFF, 0xFF])
        #expect(brake.waitUntilHeld())
        // Pings without a payload, masked with nothing: each wants an answer.
        let pings = (0..<20_000).flatMap { _ in [0x89, 0x80, 0, 0, 0, 0] as [UInt8] }
        let sent = Mutex(0)
        flooder.sendInBackground {
            sent.withLock { $0 += pings.count }
            return pings
        }
        try await eventually("two turns' worth is under way") { sent.withLock { $0 } > 2 * Engine.readBudget }
        brake.release()
        try modest.login("modest")
        try await eventually("20 MB of it are sent") { sent.withLock { $0 } > 20_000_000 }
        let longest = server.engine.executor.queue.sync { server.engine.assumeIsolated { $0.longestLine } }
        #expect(longest <= 2, "two links stood in line \(longest) times")
        for link in [flooder, modest, noise] { link.end(reset: true) }
        await server.stop()
    }

    /// A WebSocket of somebody behind a proxy, logged in.
    private func link(to server: WhiteboardRelay, _ user: String, from address: String) async throws -> RawLink {
        let link = try RawLink(server.address), before = await server.census().users
        let upgrade = [
            "GET /ws HTTP/1.1", "Host: \(server.address.host):\(server.address.port)", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "X-Forwarded-For: \(address)", "", "",
        ]
        try link.send(raw: Array(upgrade.joined(separator: "\r\n").utf8))
        try link.send(raw: message([.json(.login, LoginRequest(id: 1, user: try Name(user), instance: "00000000000000aa"))]))
        try await eventually("\(user) is in") { await server.census().users > before }
        return link
    }

    /// A message of a WebSocket, masked with zeros.
    private func message(_ frames: [Frame]) -> [UInt8] {
        let content = frames.flatMap(\.bytes)
        let length = content.count < 126 ? [UInt8(content.count)] : [126, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
        return [0x82, 0x80 | length[0]] + length.dropFirst() + [0, 0, 0, 0] + content
    }

    @Test("[DL10] a dozen busy connections of one address have one turn before the next one of another")
    func addresses() async throws {
        let brake = Brake()
        var options = WhiteboardRelay.Options(port: 0, hub: .unhurried(), log: { brake.log($0) })
        options.web.trustedProxies = ["127.0.0.1"]
        let server = try await WhiteboardRelay.start(options)
        let watcher = try RawLink(server.address)
        try watcher.login("watcher")
        try watcher.send(.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("lesson"), features: ["messages"])))
        _ = try watcher.frames(until: .answer)
        var greedy: [RawLink] = []
        for number in 1...12 { greedy.append(try await link(to: server, "greedy \(number)", from: "198.51.100.1")) }
        let modest = try await link(to: server, "modest", from: "198.51.100.2")

        let noise = try RawLink(server.address)
        try noise.send(raw: [0, 0xFF, 0xFF, 0xFF])
        #expect(brake.waitUntilHeld())
        let eight = (1...8).map { Frame.publish(number: UInt64($0), channel: "lesson", payload: [UInt8](repeating: 1, count: 8_000)) }
        for link in greedy { try link.send(raw: message(eight)) }
        try modest.send(raw: message([.publish(number: 1, channel: "lesson", payload: [UInt8](repeating: 2, count: 200))]))
        brake.release()

        var before = 0
        read: while true {
            for frame in try watcher.frames(until: .deliver) where frame.type == FrameType.deliver.rawValue {
                if frame.body.last == 2 { break read }
                before += 1
            }
        }
        // All of two that are read before anybody stands in line, and what one more is read in its turn: of 96.
        #expect(before <= 20, "\(before) messages of the other address were read first")
        for link in greedy + [modest, watcher, noise] { link.end(reset: true) }
        await server.stop()
    }

    @Test("[DL4] what comes over five links at once is more than a queue of packets may hold, and a reader that keeps up loses none of it")
    func burst() async throws {
        let brake = Brake()
        var hub = Configuration.unhurried()
        hub.limits.packetsPerSecond = 10_000
        // A tick that would let all of it wait together.
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: hub, flush: .every(.milliseconds(100)), log: { brake.log($0) }))
        let channel = try Name("lesson"), topic = try Name("points")
        func joined(_ user: String) throws -> RawLink {
            let link = try RawLink(server.address)
            try link.login(user)
            try link.send(.json(.join, JoinRequest(id: 2, channel: channel, features: [])))
            _ = try link.frames(until: .topics)
            return link
        }
        let reader = try joined("reader")
        // So that it keeps up whenever it has its turn on this machine: the system takes half of this for it at once.
        reader.setReceiveBuffer(bytes: 208 * 1024)
        try reader.send(.json(.subscribeTopic, TopicUsersRequest(id: 3, channel: channel, topic: topic)))
        _ = try reader.frames(until: .answer)
        let writers = try (1...5).map { number in
            let link = try joined("writer\(number)")
            try link.send(.json(.joinTopic, JoinTopicRequest(id: 3, channel: channel, topic: topic)))
            let answer = try #require(try link.frames(until: .answer).last)
            return (link, try answer.body.withUnsafeBytes { try JSONBody.decode(JoinTopicAnswer.self, from: $0) }.flow)
        }
        let noise = try RawLink(server.address)
        try noise.send(raw: [0, 0xFF, 0xFF, 0xFF])
        #expect(brake.waitUntilHeld())
        for (link, flow) in writers {
            try link.send(
                raw: (0..<75).flatMap { _ in Frame.publishPacket(flow: flow, payload: [UInt8](repeating: 7, count: 1_000)).bytes })
        }
        brake.release()
        var packets = 0
        while packets < 375 { packets += try reader.frames(until: .packet).count { $0.type == FrameType.packet.rawValue } }
        let counters = await server.census().counters
        #expect(counters.packetsShedSlow + counters.packetsShedExpired == 0)
        for link in [reader, noise] + writers.map(\.0) { link.end(reset: true) }
        await server.stop()
    }

    @Test("[HI2] with a tick, too, a late reader gets all that is kept while nothing else happens")
    func lateReader() async throws {
        // No ping comes to wake anybody, either.
        var hub = Configuration.unhurried()
        hub.limits.messagesPerSecond = 10_000
        let server = try await WhiteboardRelay.start(.init(port: 0, hub: hub, flush: .every(.milliseconds(2))))
        let writer = try RawLink(server.address), reader = try RawLink(server.address)
        try writer.login("writer")
        try reader.login("reader", instance: "00000000000000bb")
        // More than all readers together are given in a turn.
        let count = 4 * hub.catchUpTurnBytes / 32_000
        for number in 1...count {
            try writer.send(.publish(number: UInt64(number), channel: "lesson", payload: [UInt8](repeating: 1, count: 32_000)))
            _ = try writer.frames(until: .accepted)
        }
        try reader.send(.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("lesson"), features: ["messages"], since: .beginning)))
        let frames = try reader.frames(until: .caughtUp)
        #expect(frames.count { $0.type == FrameType.deliver.rawValue } == count)
        for link in [writer, reader] { link.end(reset: true) }
        await server.stop()
    }
}
