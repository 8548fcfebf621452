import Foundation

@testable import RelayBoard

/// Where the tests find their files.
enum Files {
    static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct DataMissing: Error, CustomStringConvertible {
        var path: String
        var description: String {
            "the recorded drawings are not there (\(path)): set BOARDRELAY_DATA to the folder that holds strokes/"
        }
    }

    static func sample(_ name: String) throws -> Recording {
        try Recording(ndjson: [UInt8](Data(contentsOf: packageRoot.appending(path: "Tests/Samples/\(name).ndjson"))))
    }

    /// A whole file of recorded drawings.
    static func drawings(_ name: String) throws -> Recording {
        let root = ProcessInfo.processInfo.environment["BOARDRELAY_DATA"].map { URL(filePath: $0) }
            ?? packageRoot.deletingLastPathComponent().appending(path: "shared/data")
        let file = root.appending(path: "strokes/\(name).ndjson")
        guard let data = try? Data(contentsOf: file) else { throw DataMissing(path: file.path) }
        return try Recording(ndjson: [UInt8](data))
    }

    static let allDrawings = [
        "wacom-1-value-of-ink", "wacom-2-digital-ink-is-processable", "wacom-3-digital-ink", "pencil-240hz",
        "browser-pen-pointer-events", "quickdraw-train", "hwrt-symbols", "excalidraw-picasso", "excalidraw-long-strokes",
    ]
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension Recording {
    init(_ lines: String...) throws {
        try self.init(ndjson: bytes(lines.joined(separator: "\n")))
    }
}

/// Made-up but repeatable numbers.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
