import BoardFormat
import Foundation
import RelayClient
import RelayServer
import Testing

@testable import RelayConsole
@testable import RelayReplay
@testable import boardrelay

@Suite("replay --store metadata against a relay")
struct ReplayStoreTests {
    /// A replay, and what the item holds after it.
    func replay(
        _ path: String, _ words: String..., speed: String = "max", input: Data? = nil, url: String
    ) async throws -> (result: Tool.Result, store: [String: Any]) {
        let result = try await Running(
            ["replay", path, "--channel", "lesson", "--speed", speed, "--store", "metadata", "--json"] + words, url: url,
            input: input ?? Data()
        ).end()
        return (result, try #require(result.object()["store"] as? [String: Any], "\(result.errors)"))
    }

    func board(_ url: String) async throws -> (bytes: Int, strokes: [[String: Any]]) {
        let result = try await Tool.run("meta", "get", "lesson", "board", url: url)
        #expect(result.code == 0, "\(result.errors)")
        let value = Data(result.output.utf8.dropLast())
        return (value.count, try #require(try JSONSerialization.jsonObject(with: value) as? [[String: Any]]))
    }

    func ids(_ strokes: [[String: Any]]) -> [String] { strokes.compactMap { $0["id"] as? String } }

    @Test("a lesson that fits is stored whole: the strokes that the messages have, and every promise is kept")
    func fits() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let lesson = try Samples.lessonThatFits()
        let sub = try Running(["sub", "lesson", "--json", "-n", "\(lesson.strokes)"], url: url)
        _ = await sub.errorLine(containing: "Listening")
        let (result, store) = try await replay("-", "--verify", input: lesson.ndjson, url: url)
        #expect(result.code == 0, "\(result.errors)\(result.output)")
        #expect(store["strokes"] as? Int == lesson.strokes && store["bytes"] as? Int == lesson.bytes && store["conflicts"] as? Int == 0)
        #expect((store["ended"] as? [Any])?.isEmpty == true && store["key"] as? String == "board")
        let (bytes, strokes) = try await board(url)
        #expect(bytes == lesson.bytes)
        let drawn = try await sub.end().objects().filter { $0["type"] as? String == "message" }.map { object in
            try BoardMessage.decode(
                customType: object["customType"] as? String, payload: Array(try #require(object["text"] as? String).utf8))
        }
        #expect(ids(strokes) == drawn.compactMap { if case .stroke(let part) = $0 { part.stroke.id.text } else { nil } })
        await relay.stop()
    }

    @Test(
        "[MD4] a lesson that is too large ends with 1 after the last stroke that fits, with limit and size; what was stored stays, and nothing is drawn on"
    )
    func tooLarge() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let lesson = try Samples.lessonTooLarge()
        let (result, store) = try await replay("-", "--verify", input: lesson.ndjson, url: url)
        #expect(result.code == 1, "\(result.errors)")
        #expect(store["strokes"] as? Int == lesson.kept && store["bytes"] as? Int == lesson.bytes)
        let end = try #require((store["ended"] as? [[String: Any]])?.first)
        #expect(
            end["lastStored"] as? Int == lesson.kept - 1 && end["refused"] as? Int == lesson.kept && end["name"] as? String == "tooLarge")
        #expect(end["limit"] as? Int == 65_536 && end["actual"] as? Int == lesson.over)
        let summary = try result.object()
        #expect(try #require((summary["messages"] as? [String: Any])?["sent"] as? Int) < lesson.strokes, "who cannot save draws no more")
        #expect((summary["verify"] as? [String: Any])?["kept"] as? Bool == true, "\(result.errors) \(summary)")
        let (bytes, strokes) = try await board(url)
        #expect(bytes == lesson.bytes && strokes.count == lesson.kept)
        // Again, for people: the full board has no room for one of these.
        let again = try await Tool.run(
            "replay", "-", "--channel", "lesson", "--speed", "max", "--store", "metadata", url: url, input: lesson.ndjson)
        let (bytesTold, overTold) = (Printable.count(lesson.bytes), Printable.count(lesson.again))
        #expect(
            again.code == 1
                && again.output.contains(
                    "stored      0 of \(Printable.count(lesson.strokes)) strokes, \(bytesTold) bytes, 0 saves, 0 conflicts\n")
        )
        #expect(
            again.output.contains(
                "ENDED: none of the strokes is stored; with stroke 0 the metadata would have \(overTold) bytes, the limit is 65,536 (tooLarge)"
            ))
        #expect(try await board(url).strokes.count == lesson.kept)
        await relay.stop()
    }

    @Test("[MD5] users who save at once get into each other's way, are told, and lose no stroke")
    func users() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let (result, store) = try await replay(Samples.path("three-boards"), "--boards-as-users", url: url)
        #expect(result.code == 0, "\(result.errors)")
        // All have read the empty board before the first of them writes: two of three first writes are refused.
        #expect(try #require(store["conflicts"] as? Int) >= 2 && result.errors.contains("somebody else wrote board meanwhile"))
        let strokes = try Samples.recording(Samples.path("three-boards")).boards.reduce(0) { $0 + $1.strokes.count }
        let (bytes, found) = try await board(url)
        #expect(store["strokes"] as? Int == strokes && found.count == strokes && Set(ids(found)).count == strokes)
        #expect(store["bytes"] as? Int == bytes && store["boardStrokes"] as? Int == strokes)
        await relay.stop()
    }

    @Test("[MD5] two replays into one channel at once, and a board that was there: no stroke of any is lost")
    func replays() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let there = #"[ {"id":"theirs", "shape":[1.5e1]} ]"#
        #expect(try await Tool.run("meta", "set", "lesson", "board", there, url: url).code == 0)
        let paths = ["lesson", "three-boards"].map(Samples.path)
        async let first = replay(paths[0], "--max-pause", "1s", speed: "5", url: url)
        async let second = replay(paths[1], "--max-pause", "1s", speed: "20", url: url)
        let results = try await [first.result, second.result]
        #expect(results.map(\.code) == [0, 0], "\(results.map(\.errors))")
        let strokes = try paths.reduce(0) { try $0 + Samples.recording($1).boards.reduce(0) { $0 + $1.strokes.count } }
        let found = try await board(url).strokes
        #expect(found.count == strokes + 1 && Set(ids(found)).count == strokes + 1 && ids(found)[0] == "theirs")
        let value = try await Tool.run("meta", "get", "lesson", "board", url: url).output
        #expect(value.hasPrefix(#"[ {"id":"theirs", "shape":[1.5e1]} ,{"#), "byte for byte")
        await relay.stop()
    }

    @Test("an item that is no board stays as it is, and nothing is drawn")
    func noBoard() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        #expect(try await Tool.run("meta", "set", "lesson", "board", "precious", url: url).code == 0)
        let result = try await Tool.run(
            "replay", Samples.path("lesson"), "--channel", "lesson", "--speed", "max", "--store", "metadata", url: url)
        #expect(
            result.code == 1 && result.output == ""
                && result.errors.contains("the metadata item board of the channel is no array of strokes"))
        #expect(try await Tool.run("meta", "get", "lesson", "board", url: url).output == "precious\n")
        await relay.stop()
    }
}
