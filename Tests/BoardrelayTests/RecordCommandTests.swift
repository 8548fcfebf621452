import BoardFormat
import Foundation
import RelayClient
import RelayServer
import RelayWire
import Testing

@testable import RelayClientCore
@testable import RelayConsole
@testable import RelayReplay
@testable import boardrelay

@Suite("record against a relay")
struct RecordCommandTests {
    static func text(_ id: String, _ words: String, locked: Bool = false) throws -> RecordChange {
        let record = try BoardText(id: ElementID(id), z: 1, x: 0, y: 0, size: 1_200, text: words, isLocked: locked).record()
        return RecordChange(key: id, payload: record.payload.published, customType: record.customType)
    }

    /// An image that does not fit into one message: a PNG's head, and noise.
    static func image() throws -> WhiteboardRecord {
        var data: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 2, 0, 0, 0, 1]
        data += (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        return try BoardImage(
            id: ElementID("photo"), z: 2, x: 0, y: 0, width: 10_000, height: 5_000, kind: .png, pixelWidth: 2, pixelHeight: 1, data: data
        ).record()
    }

    /// What two people do: draw with live points, move a cursor, write, change and erase together, put an image, clear and undo.
    ///
    /// - Parameter seen: waits until a recorder has written a line with these words: one that catches up with a change set misses packets.
    func play(_ url: String, seen: (String) async -> Void = { _ in }) async throws {
        let invitation = try Invitation(url)
        let ada = try await WhiteboardClient.connect(to: invitation, as: "ada"),
            ben = try await WhiteboardClient.connect(to: invitation, as: "ben")
        for client in [ada, ben] { try await client.subscribe("lesson", features: [.messages]) }
        _ = try await ada.send(changes: [Self.text("t1", "one"), Self.text("t2", "two", locked: true)], to: "lesson").stored
        await seen(#""key":"t2""#)
        let stream = try await ben.join("lesson", features: [])
        for topic in LessonRecorder.topics { try await stream.joinTopic(topic) }
        let stroke = Stroke(id: try ElementID("s1"), z: 3, points: (0..<40).map { BoardPoint(x: $0 * 10, y: $0 * $0) })
        let packet = PointPacket(id: stroke.id, first: 0, color: .black, width: 300, columns: [], points: stroke.points)
        for payload in try packet.payloads() { try stream.send(.text(String(decoding: payload, as: UTF8.self)), topic: "points") }
        try stream.send(.text(#"{"x":1,"y":2}"#), topic: "cursors")
        _ = try await ben.send(try stroke.record().payload.published, to: "lesson", customType: "stroke", retainedAs: "s1").stored
        await seen(#""key":"s1""#)
        let image = try Self.image()
        _ = try await ben.sendLarge(image.payload.published, to: "lesson", customType: "image", key: "photo", retain: true).stored
        await seen(#""key":"photo""#)
        _ = try await ada.board(of: "lesson").clear()
        await seen(#""event":"clear""#)
        _ = try await ada.send(changes: [Self.text("t3", "three")], to: "lesson").stored
        await seen(#""key":"t3""#)
        _ = try await ada.board(of: "lesson").undoClear()
        await seen(#""key":"photo""#)
        _ = try await ada.send(changes: [RecordChange(removing: "t1"), Self.text("t3", "four")], to: "lesson").stored
        await seen(#""key":"t3""#)
        _ = try await ada.metadata(of: .message("lesson")).set(["paper": "squared"])
        for topic in LessonRecorder.topics { try await stream.leaveTopic(topic) }
        await ben.close()
        await ada.close()
    }

    func export(_ channel: String, _ url: String) async throws -> [String] {
        let result = try await Tool.run("board", "export", channel, url: url)
        #expect(result.code == 0, "\(result.errors)")
        return result.lines.map { $0.hasPrefix(",") ? String($0.dropFirst()) : $0 }.sorted()
    }

    @Test("a lesson that is recorded and played on another relay gives the same board there; Ctrl-C ends a whole file with 0")
    func lesson() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0)), other = try await WhiteboardRelay.start(.init(port: 0))
        let (url, there) = ("\(relay.address)", "\(other.address)")
        let record = try Running(["record", "lesson"], url: url)
        #expect(await record.errorLine(containing: "Recording lesson, 0 lines") != nil)
        try await play(url) { words in #expect(await record.line(containing: words) != nil, "\(words)") }
        #expect(await record.line(containing: #""event":"left","topic":"cursors""#) != nil)
        record.signal(SIGINT)
        let recorded = await record.end()
        #expect(recorded.code == 0, "\(recorded.errors)")
        let lesson = try RecordedLesson(ndjson: Array(recorded.output.utf8))
        #expect(lesson.isWhole && lesson.board == "lesson" && recorded.errors.contains("\(lesson.events.count) lines"))
        #expect(Set(lesson.events.compactMap(\.by)) == ["ada", "ben"])
        let words = Set(try recorded.objects().compactMap { $0["event"] as? String })
        #expect(words == ["begin", "record", "remove", "clear", "packet", "left", "paper", "end"])
        #expect(lesson.events.dropFirst().allSatisfy { $0.at > 0 }, "nothing stood there")

        let input = Data(recorded.output.utf8)
        let played = try await Tool.run(
            ["replay", "-", "--channel", "again", "--speed", "max", "--verify", "--as", "teacher"], url: there, input: input)
        #expect(played.code == 0, "\(played.errors)\(played.output)")
        #expect(played.output.contains("every promise was kept") && played.output.contains("records for readers who joined"))
        let (board, copy) = (try await export("lesson", url), try await export("again", there))
        #expect(board.count == 6 && board == copy)
        #expect(try await Tool.run("meta", "get", "again", "paper", url: there).output == "squared\n")

        let again = try await Tool.run(["replay", "-", "--channel", "again", "--speed", "max"], url: there, input: input)
        #expect(again.code == 1 && again.errors.contains("the board of again has 4 records: a recorded lesson wants an empty one"))
        let retained = try await Tool.run(["replay", "-", "--channel", "third", "--retain"], url: there, input: input)
        #expect(retained.code == 2 && retained.errors.contains("option --retain does not fit a recorded lesson"))
        await relay.stop()
        await other.stop()
    }

    @Test("what stands at the start is recorded at 0, and --for ends with 0")
    func standing() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0)), other = try await WhiteboardRelay.start(.init(port: 0))
        let (url, there) = ("\(relay.address)", "\(other.address)")
        try await play(url)
        let recorded = try await Tool.run("record", "lesson", "--for", "1ms", url: url)
        let lesson = try RecordedLesson(ndjson: Array(recorded.output.utf8))
        #expect(recorded.code == 0 && lesson.isWhole && lesson.events.dropLast().allSatisfy { $0.at == 0 })
        #expect(lesson.events.count == 7, "begin, paper, four records, end")
        let played = try await Tool.run(
            ["replay", "-", "--channel", "again", "--verify"], url: there, input: Data(recorded.output.utf8))
        #expect(played.code == 0, "\(played.errors)\(played.output)")
        let (board, copy) = (try await export("lesson", url), try await export("again", there))
        #expect(board == copy)
        await relay.stop()
        await other.stop()
    }

    @Test("a relay that goes is told, in the file and to people; the file says so, and Ctrl-C still ends it whole")
    func broken() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let record = try Running(["record", "lesson"], url: "\(relay.address)")
        #expect(await record.errorLine(containing: "Recording lesson") != nil)
        await relay.stop()
        #expect(await record.line(containing: #""event":"broken""#) != nil)
        record.signal(SIGINT)
        let recorded = await record.end()
        #expect(recorded.code == 0 && recorded.lines.count == 3)
        #expect(try RecordedLesson(ndjson: Array(recorded.output.utf8)).events.map(\.kind).suffix(2) == [.broken, .end])
    }

    @Test("the recorder comes back by itself; where the relay counts anew, what stood does not count, and what stands follows")
    func back() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        #expect(try await Tool.run("pub", "lesson", "--record", "old", "--retain", "-m", "1", url: url).code == 0)
        let record = try Running(["record", "lesson"], url: url)
        #expect(await record.line(containing: #""key":"old""#) != nil)
        await relay.stop()
        #expect(await record.line(containing: #""event":"broken""#) != nil)
        let other = try await WhiteboardRelay.start(.init(port: relay.address.port))
        #expect(try await Tool.run("pub", "lesson", "--record", "new", "--retain", "-m", "2", url: url).code == 0)
        #expect(await record.line(containing: #""event":"missed","what":"messages""#) != nil)
        #expect(await record.line(containing: #""event":"reset""#) != nil)
        #expect(await record.line(containing: #""key":"new""#) != nil)
        record.signal(SIGINT)
        let recorded = await record.end()
        let there = try await Tool.run(
            ["replay", "-", "--channel", "again", "--speed", "max", "--verify"], url: url, input: Data(recorded.output.utf8))
        #expect(recorded.code == 0 && there.code == 0, "\(there.errors)\(there.output)")
        let (board, copy) = (try await export("lesson", url), try await export("again", url))
        #expect(board == copy && board.count == 3)
        await other.stop()
    }

    @Test("a relay that answers the login and nothing else is 124, too: nothing is written, and why is told")
    func unanswered() async throws {
        var patience = 250, heard: [FrameType] = []
        // Until the machine is quick enough to ask in that time.
        repeat {
            let relay = try LoginOnlyRelay()
            let late = try await Tool.run(
                "record", "lesson", "--key", "k", "--timeout", "\(patience)ms", url: "relay://127.0.0.1:\(relay.port)")
            #expect(late.code == 124 && late.output.isEmpty, "\(late)")
            heard = await relay.end()
            if heard.contains(.subscribe) {
                #expect(late.errors.contains("timed out before all that is on the board had come: nothing was written"), "\(late)")
            }
            patience *= 2
        } while !heard.contains(.subscribe)
    }

    @Test("a board that does not come in time is 124, a file that cannot be written 1, a missing name 2")
    func codes() async throws {
        let folder = FileManager.default.temporaryDirectory.path
        let silent = try SilentRelay(folder: folder)
        let late = try await Tool.run("record", "lesson", "--key", "k", "--timeout", "200ms", url: "relay://127.0.0.1:\(silent.port)")
        #expect(late.code == 124 && late.output.isEmpty, "\(late.errors)")
        silent.close()
        #expect(try await Tool.run("record").code == 2)
        #expect(try await Tool.run("record", "lesson", "--json").code == 2)
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let toFull = ["/bin/sh", "-c", "exec \"$0\" \"$@\" > /dev/full"]
        let full = try await Running(["record", "lesson"], url: "\(relay.address)", through: toFull).end()
        #expect(full.code == 1 && full.errors.contains("standard output cannot be written: No space left on device"), "\(full.errors)")
        await relay.stop()
    }
}
