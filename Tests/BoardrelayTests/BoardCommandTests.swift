import BoardFormat
import Foundation
import RelayClient
import RelayCore
import RelayServer
import RelayWire
import Testing

@testable import RelayClientCore
@testable import RelayConsole
@testable import RelayReplay
@testable import boardrelay

@Suite("board against a relay")
struct BoardCommandTests {
    /// A stroke that needs parts on its way and one that does not, a title, and bytes without custom type.
    static func document() throws -> Data {
        var records = try ReplayPlan(Samples.recording(Samples.longStrokes().path).boards, .init(idPrefix: "s", isKept: true))
            .drawing.map { stroke throws in try stroke.record() }.sorted { $0.payload.count > $1.payload.count }
        records.removeSubrange(2...)
        try #require(records[0].payload.count > BoardLimits.messageBytesMax && records[1].payload.count < BoardLimits.messageBytesMax)
        records.append(WhiteboardRecord(key: "title", customType: "title", payload: .text("{\"text\":\"Ink\\u0007\",\"v\":1}")))
        records.append(WhiteboardRecord(key: "a photo", payload: .bytes(Array(0...255))))
        records.append(WhiteboardRecord(key: "0", customType: "poll", payload: .text("line\nfeed \u{202E}é")))
        var writer = BoardExportWriter()
        var document = writer.head()
        for record in records { document += try writer.line(record) }
        return Data(document + writer.tail())
    }

    @Test("[BL1, BL8] what is imported is exported byte for byte as it was, and once more under another name")
    func roundTrip() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let document = try Self.document()
        let imported = try await Tool.run("board", "import", "lesson", "-", "--json", url: url, input: document)
        #expect(imported.code == 0 && imported.errors == "")
        let object = try imported.object()
        #expect(object["type"] as? String == "imported" && object["records"] as? Int == 5 && object["failed"] as? Int == 0)
        let exported = try await Tool.run("board", "export", "lesson", url: url)
        #expect(exported.code == 0 && Data(exported.output.utf8) == document)
        let again = try await Tool.run("board", "import", "copy", "-", url: url, input: Data(exported.output.utf8))
        #expect(again.code == 0 && again.output == "" && again.errors.contains("5 of 5 records are kept. All of it belongs to cli-"))
        let file = FileManager.default.temporaryDirectory.appending(path: "board-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await Tool.run("board", "export", "copy", "-o", file.path, url: url).output == "")
        #expect(try Data(contentsOf: file) == document)
        await relay.stop()
    }

    @Test("[BL8] a record that takes a second in parts keeps its place before what was imported after it")
    func partsKeepTheirPlace() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        var writer = BoardExportWriter()
        // More parts than may leave at once: what follows would overtake them.
        let document = Data(
            writer.head() + (try writer.line(WhiteboardRecord(key: "photo", payload: .bytes(Array(repeating: 7, count: 1_500_000)))))
                + (try writer.line(WhiteboardRecord(key: "after", payload: .text("x")))) + writer.tail())
        #expect(try await Tool.run("board", "import", "lesson", "-", url: url, input: document).code == 0)
        #expect(Data(try await Tool.run("board", "export", "lesson", url: url).output.utf8) == document)
        await relay.stop()
    }

    @Test("[AC18, BL6, BL9] ls lists, clear empties, undo brings back what clear took, rm forgets")
    func life() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        #expect(try await Tool.run("board", "ls", url: url).errors.contains("There are no boards."))
        let document = try Self.document()
        _ = try await Tool.run("board", "import", "lesson", "-", url: url, input: document)
        _ = try await Tool.run("pub", "two", "--retain", "--record", "k", "-m", "x", url: url)
        let list = try await Tool.run("board", "ls", "--json", url: url).objects()
        #expect(list.map { $0["channel"] as? String } == ["lesson", "two"] && list.map { $0["records"] as? Int } == [5, 1])
        #expect(list[1]["bytes"] as? Int == 66 && list[1]["changed"] as? Int ?? 0 > 1_700_000_000_000)
        let table = try await Tool.run("board", "ls", url: url)
        #expect(table.lines.count == 3 && table.lines[2].hasPrefix("two           1"))

        let sub = try Running(["sub", "lesson", "--json"], url: url)
        _ = await sub.errorLine(containing: "Listening on lesson")
        let cleared = try await Tool.run("board", "clear", "lesson", "--json", "--as", "teacher", url: url)
        #expect(cleared.code == 0)
        #expect(try cleared.object()["records"] as? Int == 5)
        let told = try #require(await sub.line(containing: "\"type\":\"cleared\""))
        #expect(told.contains("\"user\":\"teacher\""))
        #expect(
            try await Tool.run("board", "export", "lesson", url: url).output == "{\"format\":\"board\",\"records\":[\n],\"version\":1}\n")
        #expect(try await Tool.run("board", "undo", "lesson", "--json", url: url).object()["records"] as? Int == 5)
        #expect(Data(try await Tool.run("board", "export", "lesson", url: url).output.utf8) == document)
        // What came back comes as records.
        #expect(await sub.line(containing: "\"key\":\"0\",\"retained\":true") != nil)
        _ = try await Tool.run("pub", "lesson", "--remove", "--record", "0", url: url)
        let removal = try #require(await sub.line(containing: "\"key\":\"0\",\"retained\":true"))
        #expect(removal.contains("\"base64\":\"\""))
        // Of one user; others' stay.
        _ = try await Tool.run("pub", "lesson", "--retain", "--record", "anna's", "-m", "x", "--as", "anna", url: url)
        let some = try await Tool.run("board", "rm", "lesson", "--of", "anna", "--json", url: url)
        #expect(some.output == #"{"type":"removed","channel":"lesson","of":"anna","records":1,"relay":"\#(url)"}"# + "\n", "\(some)")
        for payload in [#""text":"x""#, #""base64":"""#] {
            #expect(await sub.line(containing: "\"key\":\"anna's\",\"retained\":true")?.contains(payload) == true, "\(payload)")
        }
        let none = try await Tool.run("board", "rm", "lesson", "--of", "anna", url: url)
        #expect(none.errors == "\(url): 0 records of anna went from the board of lesson, and from the relay's disk.\n")
        sub.signal(SIGINT)
        _ = await sub.end()

        let nothing = try await Tool.run("board", "undo", "lesson", url: url)
        #expect(nothing.code == 1 && nothing.errors.contains("nothingToUndo"))
        #expect(try await Tool.run("board", "rm", "lesson", url: url).code == 0)
        for words in [["rm", "lesson"], ["clear", "lesson"]] {
            let gone = try await Tool.run(["board"] + words, url: url)
            #expect(gone.code == 1 && gone.errors.contains("boardNotFound"), "\(words)")
        }
        let missing = try await Tool.run("board", "export", "lesson", url: url)
        #expect(missing.code == 1 && missing.output == "" && missing.errors.contains("there is no board lesson"))
        await relay.stop()
    }

    @Test("[BL7] records that the relay refuses are counted by their code, the others are kept: exit code 1")
    func refused() async throws {
        var options = WhiteboardRelay.Options(port: 0)
        options.hub.boardBytesMax = 100_000
        let relay = try await WhiteboardRelay.start(options)
        let url = "\(relay.address)"
        var writer = BoardExportWriter()
        var document = writer.head()
        for number in 1...4 {
            document += try writer.line(WhiteboardRecord(key: "k\(number)", payload: .bytes(Array(repeating: 7, count: 40_000))))
        }
        let imported = try await Tool.run("board", "import", "lesson", "-", "--json", url: url, input: Data(document + writer.tail()))
        #expect(imported.code == 1 && imported.errors.contains("2 are not (boardFull 2); the first: k3: "), "\(imported.errors)")
        let object = try imported.object()
        #expect(
            object["records"] as? Int == 2 && object["bytes"] as? Int == 80_004 && object["failures"] as? [String: Int] == ["boardFull": 2])
        #expect(try await Tool.run("board", "ls", "--json", url: url).object()["records"] as? Int == 2)
        await relay.stop()
    }

    @Test("Ctrl-C in the middle of an import ends with 130 and tells how much is kept")
    func interrupted() async throws {
        // 20 change sets of 8 parts each, of which the signal follows the first: the rest of them would take 160 s more at this rate.
        var options = WhiteboardRelay.Options(port: 0)
        options.hub.limits.messagesPerSecond = 1
        let relay = try await WhiteboardRelay.start(options)
        let url = "\(relay.address)"
        var writer = BoardExportWriter()
        var document = writer.head()
        for number in 1...10_000 { document += try writer.line(WhiteboardRecord(key: "k\(number)", payload: .text("x"))) }
        let sub = try Running(["sub", "lesson", "--json"], url: url)
        _ = await sub.errorLine(containing: "Listening on lesson")
        let importing = try Running(["board", "import", "lesson", "-"], url: url, input: Data(document + writer.tail()))
        _ = await sub.line(containing: "\"retained\":true")
        importing.signal(SIGINT)
        let result = await importing.end()
        #expect(result.code == 130 && result.errors.contains("of 10,000 records are kept"), "\(result)")
        sub.signal(SIGINT)
        _ = await sub.end()
        await relay.stop()
    }

    @Test("a file that is wrong is told with its line, and none of it is written")
    func badFiles() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        let document = try Self.document()
        let cut = try await Tool.run("board", "import", "lesson", "-", url: url, input: document.dropLast(30))
        #expect(cut.code == 1 && cut.errors.contains("standard input, line 6: the file ends before the board does"), "\(cut.errors)")
        let missing = try await Tool.run("board", "import", "lesson", "/nowhere.json", url: url)
        #expect(missing.code == 2 && missing.errors.contains("\"/nowhere.json\" cannot be opened"))
        #expect(try await Tool.run("board", "ls", url: url).errors.contains("There are no boards."))
        _ = try await Tool.run("board", "import", "lesson", "-", url: url, input: document)
        let folder = try await Tool.run("board", "export", "lesson", "-o", "/nowhere/x.json", url: url)
        #expect(folder.code == 1 && folder.errors.contains("\"/nowhere/x.json\" cannot be written"))
        await relay.stop()
    }

    @Test("as SVG: the picture on standard output, what is not drawn on standard error; no file is left when there is no board")
    func svg() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let url = "\(relay.address)"
        _ = try await Tool.run("board", "import", "lesson", "-", url: url, input: try Self.document())
        let svg = try await Tool.run("board", "export", "lesson", "--format", "svg", url: url)
        #expect(svg.code == 0 && svg.output.hasPrefix("<svg ") && svg.output.hasSuffix("</svg>\n"))
        #expect(svg.output.contains("<title>Ink\u{FFFD}</title>") && svg.output.components(separatedBy: "<path").count == 3)
        #expect(svg.errors.contains("1 record is not drawn: no custom type.") && svg.errors.contains("custom type \"poll\""))
        let folder = FileManager.default.temporaryDirectory.appending(path: "boards-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let none = try await Tool.run("board", "export", "nothing", "-o", folder.appending(path: "x").path, url: url)
        #expect(none.code == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        await relay.stop()
    }
}

@Suite("a board on a terminal")
struct BoardFileTests {
    @Test("nothing in it is obeyed, and it is still the same document")
    func shown() throws {
        let record = WhiteboardRecord(key: "k", customType: "a\u{9B}31m", payload: .text("\u{202E}é\u{7F}\u{E0041}\n\u{1B}[2J😀"))
        var writer = BoardExportWriter()
        let document = String(decoding: writer.head() + (try writer.line(record)) + writer.tail(), as: UTF8.self)
        let shown = BoardOutput.shown(document, .json)
        #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isHidden } && shown.contains("é") && shown.contains("😀"))
        var reader = BoardExportReader()
        var records: [WhiteboardRecord] = []
        try reader.read(Array(shown.utf8), into: &records)
        #expect(records == [record])
        #expect(BoardOutput.shown("<t>\u{9B}\u{202E}a</t>\n", .xml) == "<t>&#x9b;&#x202e;a</t>\n")
    }
}

@Suite("what events tell of a board")
struct KeptBoardTests {
    func message(_ offset: UInt64, key: String?, _ text: String, retained: Bool = true, channel: String = "b") -> Message {
        Message(
            channel: channel, sender: "a", offset: offset, epoch: nil, wallMilliseconds: 0, customType: nil, key: key, isRetained: retained,
            payload: text.isEmpty ? .bytes([]) : .text(text))
    }

    @Test("[BL1] the newest of each key, in the order of offsets; removals take away, other messages and channels say nothing")
    func records() {
        var board = KeptBoard("b")
        board.note(
            .board(
                BoardBatch(
                    channel: "b", messages: [message(1, key: "x", "1"), message(2, key: "y", "2"), message(3, key: "z", "3")], progress: 1))
        )
        board.note(.message(message(4, key: "x", "four")))
        board.note(.message(message(5, key: "y", "")))
        board.note(.message(message(6, key: nil, "chat", retained: false)))
        board.note(.message(message(7, key: "x", "part", retained: false)))
        board.note(.message(message(8, key: "x", "elsewhere", channel: "c")))
        #expect(board.ordered.map(\.key) == ["z", "x"] && board.ordered.map(\.payload) == [.text("3"), .text("four")])
        #expect(board.bytes == 7 && board.newest == 7)
        board.note(.cleared(BoardCleared(channel: "b", offset: 9, user: "a", wallMilliseconds: 0)))
        #expect(board.isEmpty && board.bytes == 0 && board.newest == 9 && board.digest == BoardDigest())
    }

    @Test("[BL4] after a reset only what follows counts, from its own offsets on; a missed range takes nothing away")
    func reset() {
        var board = KeptBoard("b")
        board.note(.message(message(40, key: "x", "1")))
        board.note(.messagesMissed(MessagesMissed(channel: "b", extent: .range(41...43))))
        #expect(board.count == 1)
        board.note(.messagesMissed(MessagesMissed(channel: "b", extent: .reset)))
        board.note(.message(message(2, key: "y", "2")))
        #expect(board.ordered.map(\.key) == ["y"] && board.newest == 2)
    }
}
