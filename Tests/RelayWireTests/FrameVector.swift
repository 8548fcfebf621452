import Foundation
import RelayWire
import Testing

/// A row of `docs/vectors/frames.tsv`.
struct FrameVector: CustomTestStringConvertible, Sendable {
    /// The frame type's name, and after a dot which kind of it.
    let name: String
    let bytes: [UInt8]
    let meaning: String

    var testDescription: String { name }
    var typeName: String { String(name.prefix { $0 != "." }) }
    var type: FrameType? { FrameType.allCases.first { $0.name == typeName } }
    var frame: Frame { Frame(type: bytes[4], flags: bytes[5], body: Array(bytes[6...])) }
    /// Whether the body is JSON; every other frame has a decoder in `BinaryBody`.
    var isJSON: Bool { type.map { BinaryBody.decoder(of: $0) == nil } ?? false }

    static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/vectors/frames.tsv")

    /// All rows. A row that cannot be read is a mistake in the file and stops the tests, which would otherwise pass without it.
    static let all: [FrameVector] = {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { preconditionFailure("\(file.path()) cannot be read") }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard cells.count == 3, let bytes = [UInt8](hex: cells[1]), bytes.count >= Limits.frameHeadBytes else {
                preconditionFailure("frames.tsv: not a row of name, hex of a frame, meaning: \(line)")
            }
            return FrameVector(name: String(cells[0]), bytes: bytes, meaning: String(cells[2]))
        }
    }()

    static let json = all.filter(\.isJSON)
    static let binary = all.filter { !$0.isJSON }
}
