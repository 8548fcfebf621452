internal import RelayPrimitives
import RelayWire

/// A board as one JSON document: one record a line, in the order of offsets, so that versions of it compare line by line.
///
///     {"format":"board","records":[
///     {"customType":"title","key":"title","text":"{\"text\":\"Ink\",\"v\":1}"}
///     ,{"base64":"AQID","customType":"pkstroke","key":"9F2C"}
///     ],"version":1}
///
/// A board that has a paper names it in the first line, before `records`: `"paper":"ruled"`.
/// The same records in the same order are the same bytes: keys sorted, no spaces, no more escapes than must be. Neither
/// the channel's name nor authors, times and offsets are in it, so what was imported elsewhere is exported as it was.
/// A comma begins a line instead of ending one: a record that is added changes no other line.
package enum BoardExport {
    package static let format = "board"
    package static let version = 1
    static let head = head(paper: nil)
    fileprivate static func head(paper: String?) -> String {
        "{\"format\":\"\(format)\"," + (paper.map { "\"paper\":\"\($0)\"," } ?? "") + "\"records\":["
    }

    static let tail = "],\"version\":\(version)}"
}

/// Writes an exported board piece by piece: memory holds one record at a time.
package struct BoardExportWriter: Sendable {
    /// Records written.
    package private(set) var records = 0

    package init() {}

    /// The first line.
    ///
    /// - Parameter paper: what the board's metadata names as its paper. A name that no paper has is left out.
    package func head(paper: String? = nil) -> [UInt8] {
        Array((BoardExport.head(paper: paper.flatMap { BoardWords.papers.contains($0) ? $0 : nil }) + "\n").utf8)
    }

    /// The next record's line.
    ///
    /// - Throws: what a reader would refuse.
    package mutating func line(_ record: WhiteboardRecord) throws(BoardError) -> [UInt8] {
        try record.validate()
        let base64: String? =
            if case .bytes(let bytes) = record.payload { String(decoding: Base64.encode(bytes), as: UTF8.self) } else { nil }
        var line = records == 0 ? [] : [UInt8(ascii: ",")]
        line += JSONText.object { json in
            if let base64 { json.member("base64", base64) }
            if let customType = record.customType { json.member("customType", customType) }
            json.member("key", record.key)
            if case .text(let text) = record.payload { json.member("text", text) }
        }
        line.append(UInt8(ascii: "\n"))
        records += 1
        return line
    }

    /// The last line.
    package func tail() -> [UInt8] { Array((BoardExport.tail + "\n").utf8) }
}

/// What is wrong with a file that should be an exported board.
package struct BoardExportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    package var line: Int
    package var problem: String
    package var description: String { "line \(line): \(problem)" }
}

/// Reads an exported board from pieces as they come, however they are cut.
///
/// It takes what the writer writes and nothing more liberal than that: lines may end in CR LF, and within a record's line
/// the JSON may be written in any way.
package struct BoardExportReader: Sendable {
    private enum State { case head, records, end }

    /// The board's, once the first line is read; `nil`: it has none.
    package private(set) var paper: String?

    private var state = State.head
    /// Of the line that has begun.
    private var rest: [UInt8] = []
    private var lines = 0
    /// On which line each key stands.
    private var keys: [String: Int] = [:]
    private let recordBytesMax: Int
    /// A record of the largest size whose bytes are all written as six, and some.
    private var lineBytesMax: Int { 6 * recordBytesMax + 4_096 }

    /// - Parameter recordBytesMax: custom type and payload of one record.
    package init(recordBytesMax: Int = BoardLimits.recordBytesMax) { self.recordBytesMax = recordBytesMax }

    /// Takes the next bytes of the file.
    ///
    /// - Parameter records: gets the records that are complete with them, in their order.
    /// - Throws: the fault, with its line. The reader can read nothing after it.
    package mutating func read(_ bytes: [UInt8], into records: inout [WhiteboardRecord]) throws(BoardExportError) {
        var left = bytes[...]
        while let end = left.firstIndex(of: UInt8(ascii: "\n")) {
            try append(left[..<end])
            try endLine(into: &records)
            left = left[(end + 1)...]
        }
        try append(left)
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) throws(BoardExportError) {
        guard rest.count + bytes.count <= lineBytesMax else {
            throw problem("the line has more than \(lineBytesMax) bytes, and no record has", at: lines + 1)
        }
        rest.append(contentsOf: bytes)
    }

    /// The file has ended.
    ///
    /// - Throws: when the board has not.
    package mutating func finish() throws(BoardExportError) {
        var records: [WhiteboardRecord] = []
        // The last line may lack its end, a record's may not: it is not known to be whole.
        if !rest.isEmpty, state != .records || text(of: rest) == BoardExport.tail { try endLine(into: &records) }
        switch state {
        case .head: throw problem("the file is empty; \(BoardExport.head) is expected", at: lines + 1)
        case .records: throw problem("the file ends before the board does: a record or \(BoardExport.tail) is expected", at: lines + 1)
        case .end: break
        }
    }

    private mutating func endLine(into records: inout [WhiteboardRecord]) throws(BoardExportError) {
        lines += 1
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        defer { rest.removeAll(keepingCapacity: rest.capacity < 1 << 20) }
        switch state {
        case .head:
            let head = text(of: rest)
            paper = BoardWords.papers.first { BoardExport.head(paper: $0) == head }
            guard paper != nil || head == BoardExport.head else {
                throw problem("\(BoardExport.head) is expected: this is no exported board, or one of another version")
            }
            state = .records
        case .records:
            if rest.first == UInt8(ascii: "]") {
                guard text(of: rest) == BoardExport.tail else {
                    throw problem("\(BoardExport.tail) is expected: the board was written by another version, or was changed")
                }
                state = .end
            } else {
                records.append(try record())
            }
        case .end:
            guard rest.isEmpty else { throw problem("nothing may follow the board") }
        }
    }

    private mutating func record() throws(BoardExportError) -> WhiteboardRecord {
        let hasComma = rest.first == UInt8(ascii: ",")
        guard hasComma == !keys.isEmpty else {
            throw problem(keys.isEmpty ? "the first record has no comma before it" : "a comma is expected before each record but the first")
        }
        guard rest.dropFirst(hasComma ? 1 : 0).first == UInt8(ascii: "{") else {
            throw problem("a record is expected, such as {\"key\":\"s1\",\"text\":\"…\"}, or \(BoardExport.tail)")
        }
        let record: WhiteboardRecord
        do {
            record = try WhiteboardRecord(BoardFields(reading: hasComma ? Array(rest.dropFirst()) : rest), bytesMax: recordBytesMax)
        } catch {
            throw problem("\(error)")
        }
        if let other = keys.updateValue(lines, forKey: record.key) {
            throw problem("key \(record.key) stands on line \(other) already")
        }
        return record
    }

    private func problem(_ text: String, at line: Int? = nil) -> BoardExportError { BoardExportError(line: line ?? lines, problem: text) }

    private func text(of bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension WhiteboardRecord {
    fileprivate init(_ object: BoardFields, bytesMax: Int) throws(BoardError) {
        for field in object.members where !["base64", "customType", "key", "text"].contains(field.key) {
            throw .badValue(field: field.key, problem: "a record has key, customType, and text or base64")
        }
        key = try object.string("key")
        customType = object.optional("customType") == nil ? nil : try object.string("customType")
        payload = try object.payload()
        try validate()
        let bytes = payload.count + (customType?.utf8.count ?? 0)
        guard bytes <= bytesMax else { throw .tooLarge(limit: bytesMax, actual: bytes) }
    }
}
