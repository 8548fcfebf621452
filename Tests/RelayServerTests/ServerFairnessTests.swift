import Dispatch
import Foundation
import RelayCore
import RelayIO
@testable import RelayServer
import RelayWire
import Testing

@Suite struct ServerFairnessTests {
    /// Holds the relay's queue where it writes a log line, until it is let go.
    private final class Brake: @unchecked Sendable {
        // Safe: semaphores, and a flag behind a lock.
        private let gate = DispatchSemaphore(value: 0)
        private let held = DispatchSemaphore(value: 0)
        private let isSet = Lock(true)

        func log(_ line: LogLine) {
            guard line.text.contains("frameTooLarge"), isSet.withLock({ was in
                defer { was = false }
                return was
            }) else { return }
            held.signal()
            gate.wait()
        }

        func waitUntilHeld() -> Bool { held.wait(timeout: .now() + 10) == .success }
        func release() { gate.signal() }
    }

    /// Dispatch watches all descriptors on one thread, in the order in which they become readable: when it has told of
    /// this pipe, it has told of what was readable before.
    private func dispatchHasSeenAllSoFar() async throws {
        let pipe = Pipe()
        let seen = Lock(false)
        let source = DispatchSource.makeReadSource(fileDescriptor: pipe.fileHandleForReading.fileDescriptor, queue: DispatchQueue(label: "seen"))
        source.setEventHandler { @Sendable in seen.withLock { $0 = true } }
        source.activate()
        pipe.fileHandleForWriting.write(Data([1]))
        try await eventually("Dispatch has told of the pipe") { seen.withLock { $0 } }
        source.cancel()
    }

    @Test("[DL10] a connection with a megabyte waiting is read 256 KiB at a time: others are read in between")
    func turns() async throws {
        let brake = Brake()
        var hub = Configuration()
        hub.limits.messagesPerSecond = 10_000
        // The relay stands still for as long as the machine needs: nobody is to be judged for silence.
        hub.presenceTimeoutDefault = .seconds(300)
        hub.heartbeatMax = .seconds(150)
        hub.loginTimeout = .seconds(300)
        let server = try await RelayServer.start(.init(port: 0, hub: hub, log: { brake.log($0) }))
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
        let written = Lock(0)
        Thread.detachNewThread {
            for number in 1...count {
                let frame = Frame.publish(number: UInt64(number), channel: "lesson", payload: [UInt8](repeating: 1, count: 8_000))
                guard (try? greedy.send(frame)) != nil else { return }
                written.withLock { $0 += 1 }
            }
        }
        try await eventually("600 KB are under way") { written.withLock { $0 } >= 75 }
        try modest.send(.publish(number: 1, channel: "lesson", payload: [2]))
        try await dispatchHasSeenAllSoFar()
        brake.release()

        var before = 0
        read: while true {
            for frame in try watcher.frames(until: .deliver) where frame.type == FrameType.deliver.rawValue {
                if frame.body.last == 2 { break read }
                before += 1
            }
        }
        // One turn of 256 KiB, or two, if the second was due before the other link was seen; all 75 without turns.
        #expect(before <= 2 * (Int(256 * 1024) / 8_000) + 2, "\(before) messages of the other were read first")
        for link in [greedy, modest, watcher, noise] { link.end(reset: true) }
        await server.stop()
    }

    @Test("[DL10] one that sends faster than it is read stands in line once, whatever comes of it meanwhile")
    func flood() async throws {
        let server = try await RelayServer.start(.init(port: 0))
        let flooder = try RawLink(server.address), modest = try RawLink(server.address)
        try flooder.send(raw: Array(
            "GET /ws HTTP/1.1\r\nHost: \(server.address.host):\(server.address.port)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".utf8))
        // Pings without a payload, masked with nothing: each wants an answer.
        let pings = (0..<20_000).flatMap { _ in [0x89, 0x80, 0, 0, 0, 0] as [UInt8] }
        let sent = Lock(0)
        Thread.detachNewThread { while (try? flooder.send(raw: pings)) != nil { sent.withLock { $0 += pings.count } } }
        try modest.login("modest")
        var longest = 0
        try await eventually("4 MB of it are read") {
            longest = max(longest, server.engine.executor.queue.sync { server.engine.assumeIsolated { $0.lineLength } })
            return sent.withLock { $0 } > 20_000_000
        }
        #expect(longest == 1, "it stood in line \(longest) times")
        for link in [flooder, modest] { link.end(reset: true) }
        await server.stop()
    }
}
