import BoardFormat
import Dispatch
import Foundation
import RelayClient
import RelayCore
import Testing

@testable import RelayConsole
@testable import RelayReplay
@testable import RelayServer
@testable import boardrelay

@Suite("replay against a relay")
struct ReplayCommandTests {
    func replay(_ sample: String, _ words: String...) async throws -> Tool.Result {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let result = try await Running(
            ["replay", Samples.path(sample), "--channel", "lesson"] + words, url: "\(relay.address)"
        ).end()
        await relay.stop()
        return result
    }

    @Test(
        "a relay that keeps its word is verified, whatever is drawn",
        arguments: ["lesson", "pencil", "browser-pen", "three-boards", "broken-clocks", "no-clock"])
    func verified(sample: String) async throws {
        let result = try await replay(sample, "--speed", "max", "--verify", "--json")
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        let summary = try result.object()
        #expect(summary["type"] as? String == "summary" && summary["good"] as? Bool == true)
        let recording = try Recording(ndjson: [UInt8](Data(contentsOf: URL(filePath: Samples.path(sample)))))
        let strokes = recording.boards.reduce(0) { $0 + $1.strokes.count }
        #expect(summary["strokes"] as? Int == strokes)
        let verdict = try #require(summary["verify"] as? [String: Any])
        let messages = try #require(verdict["messages"] as? [String: Any])
        #expect(messages["accepted"] as? Int == strokes && messages["delivered"] as? Int == strokes)
        #expect((summary["roundTripMs"] as? [String: Any])?["count"] as? Int == strokes)
    }

    @Test("every board by a user of its own, all at once")
    func boardsAsUsers() async throws {
        let result = try await replay("three-boards", "--speed", "max", "--boards-as-users", "--verify", "--as", "pen")
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        #expect(result.output.contains("3 users") && result.output.contains("every promise was kept"))
        let two = try await replay("three-boards", "--speed", "max", "--boards-as-users", "--users", "2", "--json")
        #expect(try two.object()["users"] as? Int == 2)
    }

    @Test("only the board asked for is drawn; one that is not there is named with those that are")
    func oneBoard() async throws {
        let result = try await replay("broken-clocks", "--board", "97705", "--speed", "max", "--json")
        #expect(try result.object()["strokes"] as? Int == 1)
        let missing = try await replay("broken-clocks", "--board", "x")
        #expect(missing.code == 1 && missing.errors.contains("there is no board \"x\"") && missing.errors.contains("292934"))
    }

    @Test("what another user sees: packets of the points, then the stroke as one message, that can be read")
    func seen() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let sub = try Running(["sub", "lesson", "--topic", "points", "--json", "-n", "5"], url: url)
        _ = await sub.errorLine(containing: "Listening")
        let replay = try await Tool.run(
            "replay", Samples.path("lesson"), "--channel", "lesson", "--speed", "20", "--max-pause", "100ms", url: url)
        #expect(replay.code == 0, "\(replay.errors)")
        let objects = try await sub.end().objects().filter { ["message", "packet"].contains($0["type"] as? String) }
        await relay.stop()
        var live: [BoardPoint] = []
        for object in objects {
            let payload = Array(try #require(object["text"] as? String).utf8)
            if object["type"] as? String == "packet" {
                live += try PointPacket.decode(payload).points
            } else {
                let message = try BoardMessage.decode(customType: object["customType"] as? String, payload: payload)
                guard case .stroke(let part) = message else { throw Tool.NotAnObject(line: "\(object)") }
                #expect(part.stroke.points == live)
                live = []
            }
        }
        #expect(objects.contains { $0["type"] as? String == "message" })
    }

    @Test("a file that is missing is exit code 2, one that is broken or empty 1")
    func badFiles() async throws {
        let missing = try await Tool.run("replay", "/nowhere.ndjson", "--channel", "c")
        #expect(missing.code == 2 && missing.errors.contains("/nowhere.ndjson"))
        let broken = try await Tool.run("replay", "-", "--channel", "c", input: Data("{\"board\":\"b\",\"points\":[[0,0]]}\n{".utf8))
        #expect(broken.code == 1 && broken.errors.contains("line 2: "), "\(broken.errors)")
        let empty = try await Tool.run("replay", "-", "--channel", "c")
        #expect(empty.code == 1 && empty.errors.contains("no strokes"))
    }

    @Test("Ctrl-C in the middle ends with 130")
    func interrupted() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let replay = try Running(["replay", Samples.path("lesson"), "--channel", "lesson", "--speed", "0.01"], url: "\(relay.address)")
        _ = await replay.errorLine(containing: "Drawing 6 strokes")
        replay.signal(SIGINT)
        #expect(await replay.end().code == 130)
        await relay.stop()
    }
}

@Suite("replay on a board that is kept")
struct ReplayRetainTests {
    @Test("[BL1, BL8] strokes over 32 KiB are one record each, and who joins before, half-way or after the end holds the same")
    func longStrokes() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let (path, strokes) = try Samples.longStrokes()
        let result = try await Tool.run("replay", path, "--channel", "lesson", "--speed", "max", "--retain", "--verify", "--json", url: url)
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        let summary = try result.object()
        #expect(summary["good"] as? Bool == true && (summary["messages"] as? [String: Any])?["accepted"] as? Int == strokes)
        let boards = try #require(summary["boards"] as? [String: Any])
        #expect(boards["equal"] as? Bool == true && boards["strokes"] as? Int == strokes)
        let joined = try #require(boards["joined"] as? [[String: Any]])
        #expect(joined.map { $0["when"] as? String } == ["before", "halfway", "after"])
        #expect(joined.allSatisfy { $0["strokes"] as? Int == strokes && $0["digest"] as? String == boards["digest"] as? String })

        // What the board holds is what was recorded, and has the digest that was printed.
        let exported = try await Tool.run("board", "export", "lesson", url: url)
        var reader = BoardExportReader()
        var records: [WhiteboardRecord] = []
        try reader.read(Array(exported.output.utf8), into: &records)
        #expect("\(BoardDigest(records))" == boards["digest"] as? String)
        let drawn = try Samples.recording(path).boards[0].strokes.map(\.points)
        let kept = try records.map { record in
            guard
                case .stroke(let part) = try BoardMessage.decode(
                    customType: record.customType, payload: record.payload.bytes, bytesMax: BoardLimits.recordBytesMax)
            else { throw Tool.NotAnObject(line: record.key) }
            return part.stroke.points
        }
        #expect(kept == drawn)
        await relay.stop()
    }

    @Test("[BL3] several users at once, with somebody who joins in the middle")
    func severalUsers() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let result = try await Tool.run(
            "replay", Samples.path("three-boards"), "--channel", "lesson", "--speed", "max", "--boards-as-users", "--retain", "--verify",
            url: "\(relay.address)")
        #expect(
            result.code == 0 && result.output.contains("strokes for readers who joined before, half-way and after the end, digest "),
            "\(result.errors)\(result.output)")
        await relay.stop()
    }

    @Test("a stroke that somebody takes away meanwhile is missed: exit code 1")
    func taken() async throws {
        // The disk stands still until a stroke is taken away: before that no stroke is stored, and the replay does not end.
        let folder = FileManager.default.temporaryDirectory.appending(path: "boardrelay-theft-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = DispatchSemaphore(value: 1)
        let relay = try await WhiteboardRelay.start(.init(port: 0, storage: .folder(folder.path))) { _ in pass(disk) }
        hold(disk)
        var options = ClientOptions()
        options.secret = .inMemory
        let thief = try await WhiteboardClient.connect(to: relay.address, as: "thief", options: options)
        try await thief.subscribe("lesson", features: [.messages])
        let theft = Task {
            defer { disk.signal() }
            for await event in thief.told {
                guard case .message(let message) = event, let key = message.key else { continue }
                _ = try await thief.send(removing: key, from: "lesson").accepted
                return
            }
        }
        let result = try await Tool.run(
            "replay", Samples.path("lesson"), "--channel", "lesson", "--speed", "2", "--max-pause", "1s", "--retain", "--verify",
            url: "\(relay.address)")
        #expect(result.code == 1 && result.output.contains("NOT EQUAL: 6 strokes were drawn"), "\(result.errors)\(result.output)")
        for moment in ReplayJoiner.Entry.allCases { #expect(result.output.contains("- joined \(moment): ")) }
        try await theft.value
        await thief.close()
        await relay.stop()
    }

    /// Waits for what nobody else holds, and lets the next one have it.
    private func pass(_ disk: DispatchSemaphore) {
        disk.wait()
        disk.signal()
    }

    /// From now on nobody passes until it is signalled.
    private func hold(_ disk: DispatchSemaphore) { disk.wait() }

    @Test("boards are equal when all three hold what was drawn, and not when one differs, is behind or is not there")
    func verdict() {
        let records = ["a", "b"].map { WhiteboardRecord(key: $0, payload: .text("x")) }
        let drawn = BoardDigest(records)
        let good = ReplayJoiner.Entry.allCases.map { ReplayJoiner.Seen(joined: $0, strokes: 2, digest: drawn) }
        #expect(ReplayBoards(drawn: drawn, seen: good).areEqual)
        #expect(!ReplayBoards(drawn: drawn, seen: Array(good.dropLast())).areEqual)
        for place in good.indices {
            var differs = good, behind = good
            differs[place].digest = BoardDigest(records.dropLast())
            behind[place].isComplete = false
            #expect(!ReplayBoards(drawn: drawn, seen: differs).areEqual && !ReplayBoards(drawn: drawn, seen: behind).areEqual)
        }
        var summary = ReplaySummary(
            file: "f", channel: "c", users: 1, strokes: 2, points: 2, elapsed: .zero, tally: ReplayTally(), verified: nil)
        #expect(summary.isGood)
        summary.boards = ReplayBoards(drawn: drawn, seen: [])
        #expect(!summary.isGood)
    }
}
