import RelayClient
import RelayConsole
import RelaySystem
import RelayWire

/// What durable changes cost, and what they cost others.
struct StorageBench: Sendable {
    let folder: String
    let duration: Duration
    let report: BenchReport

    static let channels = 10_000
    static let pairs = 3

    func run() async throws {
        let disk = try syncsPerSecond()
        try report.row("write and sync of 512 bytes", [("per s", .number(disk))])
        try await sets(writers: 1, disk)
        try await sets(writers: 64, disk)
        try await storm()
        try await startUp()
        report.progressEnds()
    }

    // MARK: - The reference

    /// One writer that appends 512 bytes and waits for the disk, as the journal does.
    private func syncsPerSecond() throws -> Double {
        report.progress("the disk by itself")
        let disk = try Folder(path: folder + "/reference")
        let block = [UInt8](repeating: 0x5A, count: 512)
        try disk.create("log")
        var count = 0
        let begin = ContinuousClock.now
        while ContinuousClock.now - begin < duration {
            try disk.write([block], to: "log", at: count * block.count)
            try disk.sync("log")
            count += 1
        }
        return Double(count) / ((ContinuousClock.now - begin) / .seconds(1))
    }

    // MARK: - Sets

    private func relay(_ name: String) throws -> BenchRelay {
        try BenchRelay(["--data-dir", "\(folder)/\(name)", "--max-channels", "20000", "--metadata-rate", "1000000"])
    }

    private func clients(_ count: Int, _ relay: BenchRelay, _ name: String) async throws -> [WhiteboardClient] {
        var options = ClientOptions()
        options.secret = .inMemory
        var clients: [WhiteboardClient] = []
        for number in 0..<count {
            clients.append(try await WhiteboardClient.connect(to: relay.address, as: "\(name)-\(number)", options: options))
        }
        return clients
    }

    /// Each writer sets one key of its own channel, 100 bytes, and waits for the answer before the next.
    private func sets(writers: Int, _ disk: Double) async throws {
        report.progress("durable sets, \(writers) writers")
        let relay = try relay("sets-\(writers)")
        defer { relay.stop() }
        let clients = try await clients(writers, relay, "writer")
        let begin = ContinuousClock.now
        let end = begin + duration
        let latencies = try await withThrowingTaskGroup(of: Latencies.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask {
                    let metadata = try client.metadata(of: .message("board-\(number)"))
                    var latencies = Latencies(), count = 0
                    while ContinuousClock.now < end {
                        let start = ContinuousClock.now
                        try await metadata.set(["value": "\(count) " + String(repeating: "x", count: 90)])
                        latencies.add(ContinuousClock.now - start)
                        count += 1
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: Latencies()) { $0.add($1) }
        }
        let perSecond = Double(latencies.count) / ((ContinuousClock.now - begin) / .seconds(1))
        for client in clients { await client.close() }
        try report.row(
            "durable sets, \(writers) \(writers == 1 ? "writer" : "writers")",
            [
                ("per s", .number(perSecond)), ("p50 ms", milliseconds(latencies, 50)), ("p99 ms", milliseconds(latencies, 99)),
                ("of the disk's syncs", .string(Printable.fixed(perSecond / disk) + " x")),
            ])
    }

    // MARK: - Messages beside a storm

    /// Four channels with a publisher at 50/s and a subscriber each; in every other run four users set 64 KB as fast as
    /// the relay answers.
    private func storm() async throws {
        let relay = try relay("storm")
        defer { relay.stop() }
        let publishers = try await clients(4, relay, "publisher"), readers = try await clients(4, relay, "reader")
        let writers = try await clients(4, relay, "writer")
        for (number, reader) in readers.enumerated() { try await reader.subscribe("lesson-\(number)", features: [.messages]) }
        var quiet = Latencies(), stormy = Latencies()
        var sets = 0
        for pair in 1...Self.pairs {
            report.progress("messages beside a storm of 64 KB sets, pair \(pair) of \(Self.pairs)")
            quiet.add(try await messages(publishers, readers))
            let storm = Task { try await write(writers) }
            stormy.add(try await messages(publishers, readers))
            storm.cancel()
            sets += try await storm.value
        }
        for client in publishers + readers + writers { await client.close() }
        for (name, latencies) in [("messages, nothing stored", quiet), ("messages beside 64 KB sets", stormy)] {
            var fields: [(String, JSONValue)] = [
                ("messages", .integer(latencies.count)), ("p50 ms", milliseconds(latencies, 50)), ("p99 ms", milliseconds(latencies, 99)),
            ]
            if name == "messages beside 64 KB sets" {
                fields.append(("sets per s", .number(Double(sets) / (duration * Double(Self.pairs) / .seconds(1)))))
            }
            try report.row(name, fields)
        }
    }

    private func messages(_ publishers: [WhiteboardClient], _ readers: [WhiteboardClient]) async throws -> Latencies {
        let interval = Duration.milliseconds(20)
        let count = Int(duration / interval)
        return try await withThrowingTaskGroup(of: Latencies.self) { group in
            let begin = ContinuousClock.now
            for (number, reader) in readers.enumerated() {
                let publisher = publishers[number]
                group.addTask {
                    var latencies = Latencies()
                    var events = reader.told.makeAsyncIterator()
                    while latencies.count < count, let event = await events.next() {
                        guard case .message(let message) = event, case .text(let text) = message.payload, let sent = Int(text) else {
                            continue
                        }
                        // From the moment at which it was to be sent.
                        latencies.add((ContinuousClock.now - begin) - interval * sent)
                    }
                    return latencies
                }
                group.addTask {
                    for index in 0..<count {
                        try await Task.sleep(until: begin + interval * index, clock: .continuous)
                        try publisher.send(.text("\(index)"), to: "lesson-\(number)")
                    }
                    return Latencies()
                }
            }
            return try await group.reduce(into: Latencies()) { $0.add($1) }
        }
    }

    /// - Returns: sets answered until it was cancelled.
    private func write(_ writers: [WhiteboardClient]) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (number, writer) in writers.enumerated() {
                group.addTask {
                    let metadata = try writer.metadata(of: .message("heavy-\(number)"))
                    let board = String(repeating: "x", count: 65_000)
                    var count = 0
                    do {
                        while true {
                            try await metadata.set(["board": board])
                            count += 1
                        }
                    } catch let error as RelayError where error.code == .cancelled {
                        return count
                    }
                }
            }
            return try await group.reduce(0, +)
        }
    }

    // MARK: - Start-up

    /// 10,000 channels with 1 KB of metadata each.
    private func startUp() async throws {
        let empty = try BenchRelay(["--data-dir", "\(folder)/empty"])
        empty.stop()
        let filled = try relay("channels")
        let clients = try await clients(20, filled, "filler")
        report.progress("\(Self.channels) channels are stored")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask {
                    for channel in stride(from: number, to: Self.channels, by: clients.count) {
                        try await client.metadata(of: .message("channel-\(channel)")).set(["board": String(repeating: "x", count: 1_000)])
                    }
                }
            }
            try await group.waitForAll()
        }
        for client in clients { await client.close() }
        filled.stop()
        var times = Latencies()
        for _ in 0..<5 {
            let relay = try relay("channels")
            times.add(relay.startUp)
            relay.stop()
        }
        try report.row("start-up with nothing stored", [("ms", .number(empty.startUp / .milliseconds(1)))])
        try report.row("start-up with 10,000 channels", [("ms", .number((times.percentile(50) ?? .zero) / .milliseconds(1)))])
    }

    private func milliseconds(_ latencies: Latencies, _ percent: Int) -> JSONValue {
        .number(((latencies.percentile(percent) ?? .zero) / .milliseconds(1) * 1_000).rounded() / 1_000)
    }
}
