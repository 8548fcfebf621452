import BoardFormat
import RelayClient
import RelayConsole
import RelayWire

/// Late joiners of a large board, all at once, while others draw.
struct JoinBench: Sendable {
    let folder: String
    let report: BenchReport

    static let strokes = 20_000
    static let strokeBytes = 250
    static let joiners = 30
    static let rounds = 3

    /// - Returns: what went wrong, in words.
    func run() async throws -> [String] {
        var problems: [String] = []
        let relay = try BenchRelay(["--data-dir", "\(folder)/join", "--message-rate", "100000"])
        defer { relay.stop() }
        try await fill(relay)
        for (what, count) in [("1 joiner of 20,000 strokes", 1), ("30 joiners of 20,000 strokes", Self.joiners)] {
            var longest: [Double] = [], median = Latencies(), records = 0, packets = 0, lost = 0, digests: Set<BoardDigest> = []
            // One more round compares what they got, which takes time of its own and is not measured.
            digests = try await join(relay, count, name: "\(count)-0", compares: true).digests
            for round in 1...Self.rounds {
                report.progress("\(what), \(round) of \(Self.rounds)")
                let joined = try await join(relay, count, name: "\(count)-\(round)")
                longest.append(joined.times.max() ?? 0)
                for time in joined.times { median.add(.microseconds(Int64(time * 1_000))) }
                records = joined.records
                packets += joined.packets
                lost += joined.lost
            }
            try report.row(
                what,
                [
                    ("records each", .integer(records)), ("different boards", .integer(digests.count - 1)),
                    ("last ms", .number(longest.sorted()[longest.count / 2])),
                    ("median ms", .number((median.percentile(50) ?? .zero) / .milliseconds(1))),
                    ("packets between the two users who draw", .integer(packets)),
                    ("lost", .integer(lost)),
                ])
            if digests.count > 1 { problems.append("\(what): they got \(digests.count) different boards") }
            if lost > 0 { problems.append("\(what): \(lost) packets lost between the two users who draw") }
        }
        report.progressEnds()
        return problems
    }

    private func client(_ relay: BenchRelay, _ name: String) async throws -> WhiteboardClient {
        var options = ClientOptions()
        options.secret = .inMemory
        return try await WhiteboardClient.connect(to: relay.address, as: name, options: options)
    }

    /// All strokes of one user, each under a key of its own.
    private func fill(_ relay: BenchRelay) async throws {
        let writer = try await client(relay, "writer")
        let stroke = [UInt8](repeating: 7, count: Self.strokeBytes)
        var receipts: [StoredReceipt] = []
        for number in 0..<Self.strokes {
            receipts.append(try writer.send(.bytes(stroke), to: "lesson", customType: "stroke", retainedAs: "stroke-\(number)"))
            guard receipts.count == 200 || number == Self.strokes - 1 else { continue }
            for receipt in receipts { _ = try await receipt.stored }
            receipts = []
            report.progress("\(number + 1) strokes are stored")
        }
        await writer.close()
    }

    private struct Joined {
        /// Milliseconds from asking until all had come, of each.
        var times: [Double] = []
        var digests: Set<BoardDigest> = []
        var records = 0
        var packets = 0
        var lost = 0
    }

    /// Two draw points at 60/s to each other; the others come, read the whole board, and go.
    private func join(_ relay: BenchRelay, _ count: Int, name: String, compares: Bool = false) async throws -> Joined {
        let drawing = try await client(relay, "drawing-\(name)"), looking = try await client(relay, "looking-\(name)")
        let mine = try await drawing.join("lesson"), theirs = try await looking.join("lesson")
        try await mine.joinTopic("points")
        _ = try await theirs.subscribeTopic("points")
        let points = Task {
            var sent = 0
            while !Task.isCancelled {
                try mine.send(.bytes([UInt8](repeating: 1, count: 200)), topic: "points")
                sent += 1
                try? await Task.sleep(for: .milliseconds(16))
            }
            return sent
        }
        let watched = Task {
            var packets = 0, lost = 0
            for await event in looking.told {
                if case .packet = event { packets += 1 }
                if case .packetsLost(let ranges) = event {
                    lost += ranges.entries.reduce(0) { $0 + Int(($1.last ?? $1.first) - $1.first + 1) }
                }
            }
            return (packets, lost)
        }
        var clients: [WhiteboardClient] = []
        for number in 0..<count { clients.append(try await client(relay, "joiner-\(name)-\(number)")) }
        var joined = try await withThrowingTaskGroup(of: (Double, Int, BoardDigest).self) { group in
            for client in clients {
                group.addTask {
                    let begin = ContinuousClock.now
                    try await client.subscribe("lesson", features: [.messages], since: .beginning)
                    var records = 0, digest = BoardDigest()
                    for await event in client.told {
                        if case .board(let batch) = event {
                            records += batch.messages.count
                            guard compares else { continue }
                            for message in batch.messages {
                                digest.insert(
                                    WhiteboardRecord(
                                        key: message.key ?? "", customType: message.customType,
                                        payload: WhiteboardRecord.Payload(message.payload)))
                            }
                        }
                        if case .caughtUp = event { break }
                    }
                    return ((ContinuousClock.now - begin) / .milliseconds(1), records, digest)
                }
            }
            return try await group.reduce(into: Joined()) { joined, next in
                joined.times.append(next.0)
                joined.digests.insert(next.2)
                joined.records = joined.times.count == 1 ? next.1 : min(joined.records, next.1)
            }
        }
        points.cancel()
        _ = try await points.value
        for client in clients { await client.close() }
        await drawing.close()
        await looking.close()
        (joined.packets, joined.lost) = await watched.value
        return joined
    }
}
