import Foundation
import RelayWire
import Testing

/// What each frame of `docs/vectors/session.txt` is, in the words of `frames.tsv`; `SessionVectorTests` plays it.
@Suite struct SessionMeaningTests {
    private static let file = FrameVector.file.deletingLastPathComponent().appending(path: "session.txt")
    private static let document = file.deletingLastPathComponent().appending(path: "../protocol.md")

    /// One line: `A> 0000…  login {"id":1,…}`.
    private struct Line {
        let who: String
        let hex: String
        let frame: Frame
        let name: String
        let meaning: String

        init(_ line: some StringProtocol) throws {
            let cells = line.split(separator: " ")
            (who, hex) = (String(cells[0]), String(cells[1]))
            let bytes = try #require([UInt8](hex: cells[1]))
            frame = Frame(type: bytes[4], flags: bytes[5], body: Array(bytes[6...]))
            let type = try #require(FrameType(rawValue: frame.type))
            name = type.name
            meaning =
                try BinaryBody.decode(type, flags: frame.flags, body: frame.body)?.meaning ?? String(decoding: frame.body, as: UTF8.self)
        }

        /// As the page shows it: of JSON the head alone in hex.
        var shown: String { "\(who) \(meaning.hasPrefix("{") ? hex.prefix(12) + "…" : hex[...]) \(name) \(meaning)" }
        var told: String { "\(who) \(hex) \(name) \(meaning)" }
    }

    @Test("[FR1, FR8] each line of the session tells what its frame is, and the page shows it")
    func meanings() throws {
        let kept = try String(contentsOf: Self.file, encoding: .utf8)
        let lines = kept.split(separator: "\n")
        let told = try lines.map { $0.hasPrefix("#") ? String($0) : try Line($0).told }.joined(separator: "\n") + "\n"
        let page = try lines.map { $0.hasPrefix("#") ? String($0) : try Line($0).shown }.joined(separator: "\n") + "\n"
        var document = try String(contentsOf: Self.document, encoding: .utf8)
        if ProcessInfo.processInfo.environment["BOARDRELAY_WRITE_VECTORS"] != nil {
            try told.write(to: Self.file, atomically: true, encoding: .utf8)
            let start = try #require(document.range(of: "```text\n# A whole session")).lowerBound
            let end = try #require(document.range(of: "\n```", range: start..<document.endIndex)).lowerBound
            document.replaceSubrange(start..<end, with: "```text\n" + page.dropLast())
            try document.write(to: Self.document, atomically: true, encoding: .utf8)
        }
        #expect(kept == told)
        #expect(document.contains(page), "docs/protocol.md shows another session")
    }
}
