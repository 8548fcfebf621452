import Foundation

@testable import BoardFormat

/// Where the tests find their files.
enum Files {
    static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct DataMissing: Error, CustomStringConvertible {
        var path: String
        var description: String {
            "the recording \(path) is not there: BOARDRELAY_DATA is the folder that holds strokes/, or is unset for the samples"
        }
    }

    static func sample(_ name: String) throws -> Recording {
        try Recording(ndjson: [UInt8](Data(contentsOf: packageRoot.appending(path: "Tests/Samples/\(name).ndjson"))))
    }

    /// The folder of whole recordings. Without one the tests read the samples.
    static let data = ProcessInfo.processInfo.environment["BOARDRELAY_DATA"].map { URL(filePath: $0) }

    /// One of `allDrawings`.
    static func drawings(_ name: String) throws -> Recording {
        guard let data else { return try sample(name) }
        let file = data.appending(path: "strokes/\(name).ndjson")
        guard let bytes = try? Data(contentsOf: file) else { throw DataMissing(path: file.path) }
        return try Recording(ndjson: [UInt8](bytes))
    }

    static let samples = ["lesson", "pencil", "browser-pen", "three-boards", "broken-clocks", "no-clock", "long-strokes"]

    static let allDrawings = data == nil ? samples : [
        "wacom-1-value-of-ink", "wacom-2-digital-ink-is-processable", "wacom-3-digital-ink", "pencil-240hz",
        "browser-pen-pointer-events", "quickdraw-train", "hwrt-symbols", "excalidraw-picasso", "excalidraw-long-strokes",
    ]

    /// One of them has a stroke that is over 32 KiB in the compact form, too.
    static let longStrokes = data == nil ? "long-strokes" : "excalidraw-long-strokes"

    /// A lesson, its strokes, and its bytes in the form of existing apps as another program has counted them.
    static let lesson = data == nil ? ("lesson", 6, 2_451) : ("wacom-2-digital-ink-is-processable", 177, 57_888)
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension Recording {
    init(_ lines: String...) throws {
        try self.init(ndjson: bytes(lines.joined(separator: "\n")))
    }
}
