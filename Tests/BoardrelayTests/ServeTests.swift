import Foundation
import RelayCore
import RelayIO
import RelayMonitoring
import RelayServer
import RelaySystem
import RelayWire
import Testing

@testable import boardrelay
@testable import RelayConsole

@Suite("serve and status")
struct ServeTests {
    /// Unix socket paths are short.
    static func folder() -> String { "/tmp/boardrelay-test-\(UInt32.random(in: 0...UInt32.max))" }

    @Test("serve prints where it listens and ends with 0 on Ctrl-C and on SIGTERM", arguments: [SIGINT, SIGTERM])
    func serve(number: Int32) async throws {
        let serve = try Running(["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"])
        let address = try #require(await serve.line(containing: "relay://127.0.0.1:"))
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        let presence = try await Tool.run("presence", "lesson", "--json", url: address)
        #expect(presence.code == 0)
        serve.signal(number)
        let result = await serve.end()
        #expect(result.code == 0)
        #expect(result.output == address + "\n")
        #expect(result.errors.contains("Nothing is kept on disk"))
    }

    @Test("a second Ctrl-C ends it at once, with 130, though a client that never reads keeps the first one waiting")
    func secondSignal() async throws {
        let serve = try Running(["serve", "--in-memory", "--host", "127.0.0.1", "--port", "0", "--auth", "open"])
        let line = try #require(await serve.line(containing: "relay://127.0.0.1:"))
        let address = try #require(WhiteboardRelay.Address(line))
        let descriptor = try Connector.connect(to: address, timeoutMilliseconds: 300_000)
        defer { close(descriptor) }
        // The system keeps little for it, so that what waits in the relay is under the 2 MiB that close a reader in time.
        var kept: Int32 = 4_096
        try #require(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kept, socklen_t(MemoryLayout<Int32>.size)) == 0)
        var bytes = Frame.json(.login, LoginRequest(id: 1, user: try Name("deaf"), instance: "00000000000000aa")).bytes
        bytes += Frame.json(.subscribe, SubscribeRequest(id: 2, channel: try Name("a"), features: ["messages"])).bytes
        for number in 1...50 {
            bytes += Frame.publish(number: UInt64(number), channel: "a", flags: .echo, payload: [UInt8](repeating: 1, count: 32_000)).bytes
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, $0.count - sent) }
            guard count >= 0 || errno == EAGAIN || errno == EINTR else { throw Failure("write: \(errno)") }
            if count > 0 {
                sent += count
            } else {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, 1_000)
            }
        }
        // What it has not read it need not send back. On a busy machine it must not fall silent meanwhile.
        let ping = Frame(.ping, body: [UInt8](repeating: 0, count: 8)).bytes
        let isHeard = Mutex(true), pings = DispatchGroup()
        DispatchQueue(label: "pings").async(group: pings) {
            while isHeard.withLock({ $0 }) {
                _ = ping.withUnsafeBytes { write(descriptor, $0.baseAddress!, $0.count) }
                usleep(500_000)
            }
        }
        defer {
            isHeard.withLock { $0 = false }
            pings.wait()
        }
        var queued = 0
        while queued < 1_000_000 {
            let status = try await Tool.run("status", "--json", "--port", "\(address.port)").object()
            queued = try #require((status["census"] as? [String: Any])?["queuedBytes"] as? Int)
        }
        serve.signal(SIGINT, atErrorLine: "Ctrl-C again ends it at once")
        serve.signal(SIGINT)
        let ended = await serve.end()
        #expect(ended.code == 130, "\(ended)")
    }

    @Test("on every interface it prints each address once, one a line")
    func everyInterface() async throws {
        let serve = try Running(["serve", "--in-memory", "--port", "0"])
        #expect(await serve.errorLine(containing: "Ctrl-C ends it") != nil)
        serve.signal(SIGINT)
        let result = await serve.end()
        #expect(result.lines.contains { $0.hasPrefix("relay://127.0.0.1:") })
        #expect(Set(result.lines).count == result.lines.count)
        #expect(result.lines.allSatisfy { WhiteboardRelay.Address($0) != nil })
    }

    @Test("a port in use is an error that names it")
    func portInUse() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let result = try await Tool.run(
            "serve", "--in-memory", "--host", "127.0.0.1", "--port", "\(relay.address.port)", "--control", Self.folder() + ".sock")
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(result.errors.contains("\(relay.address.port)") && result.errors.contains("in use"), "\(result.errors)")
        await relay.stop()
    }

    @Test("status shows sessions, channels and queues, as tables and as JSON")
    func status() async throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let serve = try Running(["serve", "--host", "127.0.0.1", "--port", "0", "--auth", "open", "--data-dir", folder])
        let address = try #require(await serve.line(containing: "relay://"))
        _ = await serve.errorLine(containing: "Ctrl-C ends it")
        let sub = try Running(["sub", "lesson", "--topic", "points", "--as", "alice"], url: address)
        _ = await sub.errorLine(containing: "Listening")

        let table = try await Tool.run("status", "--data-dir", folder)
        #expect(table.code == 0)
        #expect(table.output.contains("1 connection (at most 12,000), 1 session (0 away), 2 channels"))
        #expect(table.lines.contains { $0.hasPrefix("alice  127.0.0.1:") && $0.contains("boardrelay \(Program.version)") })
        #expect(table.lines.contains { $0.hasPrefix("lesson   message       1     1") }, "\(table.output)")

        let json = try await Tool.run("status", "--control", folder + "/control.sock", "--json")
        let census = try #require(try json.object()["census"] as? [String: Any])
        #expect(census["connections"] as? Int == 1)

        sub.signal(SIGINT)
        #expect(await sub.end().code == 130)
        serve.signal(SIGINT)
        #expect(await serve.end().code == 0)
        let gone = try await Tool.run("status", "--data-dir", folder)
        #expect(gone.code == 1 && gone.errors.contains("no relay answers on \(folder)/control.sock"))
    }

    @Test("a full relay as tables: names are escaped, numbers to the right, nothing wider than it must be")
    func tables() throws {
        var status = Status()
        (status.address, status.pid, status.uptimeSeconds) = ("relay://[::]:7420", 4711, 3723)
        status.process.userMicroseconds = 12_340_000
        status.process.systemMicroseconds = 56_780_000
        status.process.residentBytes = 28_300_000
        var (alice, bob) = (RelayStatus.User(), RelayStatus.User())
        alice.memoryBytes = 5_376
        (alice.user, alice.peer, alice.client) = ("alice", "192.168.1.7:50412", "Board 2.1\u{1B}[31m")
        (bob.user, bob.away, bob.queuedBytes, bob.packetsLost, bob.backlog) = ("bob", true, 262_144, 12_345, .milliseconds(250))
        var (messages, packets) = (Census.Channel(), Census.Channel())
        (messages.kind, messages.name, messages.subscribers, messages.members, messages.head) = ("message", "lesson", 2, 2, 471)
        (packets.kind, packets.name, packets.subscribers, packets.members) = ("stream", "lesson", 1, 1)
        (packets.topics, packets.flows) = (2, 2)
        var census = Census()
        (census.connections, census.connectionsMax, census.sessionsPresent, census.sessions) = (2, 12_000, 2, [alice, bob])
        (census.setRoles, census.frozenChannels, census.bans, census.counters.moderations) = (1, ["green-dove-149", "lesson"], 3, 1_234)
        census.channels = [messages, packets]
        census.addresses = [.init(address: "192.168.1.7", sessions: 1, memoryBytes: 5_376)]
        status.census = census
        #expect(
            StatusText.lines(status) == [
                "relay://[::]:7420   pid 4711   up 1:02:03",
                "",
                "now       2 connections (at most 12,000), 2 sessions (0 away), 2 channels",
                "queues    0 B",
                "messages  0 accepted, 0 delivered, 0 over a rate",
                "packets   0 accepted, 0 queued for readers",
                "          0 lost to slow readers, 0 over a rate",
                "kept      0 sets of metadata, 0 B, 0 locks; in memory, gone with the relay", "boards    0, 0 records, 0 B",
                "decided   1 role set, 2 channels frozen, 3 bans; 1,234 decisions",
                "frozen    green-dove-149, lesson",
                "process   12.3 s in the program, 56.8 s in the system for it, 28.3 MB of memory",
                "",
                "ADDRESS      SESSIONS  MEMORY",
                "192.168.1.7         1  5.4 kB",
                "",
                "USER   FROM               CLIENT               MEMORY    QUEUED    BEHIND    LOST",
                "bob    away                                       0 B  262.1 kB  250.0 ms  12,345",
                "alice  192.168.1.7:50412  Board 2.1\\u{1B}[31m  5.4 kB       0 B                 0",
                "",
                "CHANNEL  KIND     INSIDE  SEEN  TOPICS  PUBLISHERS  MESSAGES",
                "lesson   message       2     2                           471",
                "lesson   stream        1     1       2           2",
            ])
        census.frozenChannels = (0..<10_000).map { "green-dove-\($0)" }
        #expect(StatusText.names(census.frozenChannels) == "green-dove-0, green-dove-1, green-dove-2 and 9,997 more")
        #expect(StatusText.names(["lesson"]) == "lesson")
    }
}
