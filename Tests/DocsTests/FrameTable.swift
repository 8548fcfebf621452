import Foundation

/// `docs/vectors/frame-types.json`: each frame type, with the fields of its body and of its answer.
struct FrameTable: Decodable {
    struct Field: Decodable {
        let name: String
        /// `u8`…`u64`, `u53`, `bool`, `text`, `name`, `kind`, an object of `shapes`; `[…]` a list, `{…}` values by name.
        /// In binary bodies also `text8` (FR8), `rest` and `ranges`.
        let type: String
        var optional: Bool?
        var min, max, bytesMin, bytesMax, itemsMin, itemsMax: Int?
        var values: [String]?
        /// That says whether it is there.
        var flag: String?
        var note: String?
    }

    struct Row: Decodable {
        let number, name, from, body: String
        let answeredBy: [String]
        let flags: [String: UInt8]
        /// Of a raw body.
        var bytesMax: Int?
        var fields, answer: [Field]?
    }

    let shapes: [String: [Field]]
    let frames: [Row]

    static func read() throws -> FrameTable {
        try JSONDecoder().decode(Self.self, from: Data(contentsOf: Document.root.appending(path: "docs/vectors/frame-types.json")))
    }

    /// The type inside of a list or of values by name, and the type itself.
    static func inner(_ type: String) -> String { String(type.drop { "[{".contains($0) }.prefix { !"]}".contains($0) }) }
}

/// The tables of protocol.md that are made from it.
extension FrameTable {
    func frameTypes() -> [[String]] {
        frames.map { row in
            let sender = ["client": "C", "relay": "R", "either": "C, R"][row.from] ?? row.from
            let body = ["json": "JSON", "texts": "JSON and texts", "raw": "0…\(row.bytesMax ?? 0) bytes"][row.body] ?? row.body
            let names = row.answeredBy.map { $0 == "historyItem" ? "`\($0)`…" : "`\($0)`" }
            let isAnswered = !names.isEmpty || row.from != "client"
            return [row.number, "`\(row.name)`", sender, body, isAnswered ? names.joined(separator: ", then ") : "nothing"]
        }
    }

    func binaryBodies() -> [[String]] {
        frames.filter { $0.body == "binary" }.map { row in
            let flags = row.flags.filter { $0.key != "extensions" }.sorted { $0.value < $1.value }.map(\.key)
            return ["`\(row.name)`", Self.layout(row.fields ?? []), flags.joined(separator: ", ")]
        }
    }

    private static func layout(_ fields: [Field]) -> String {
        var parts: [(flag: String?, text: String)] = []
        for field in fields {
            let text =
                switch field.type {
                case "text8": "n u8, \(field.name)"
                case "rest": "\(field.name) (the rest)"
                case "ranges": "count × (flow u32 · first u32 · last u32)"
                default: "\(field.name) \(field.type)"
                }
            if let flag = field.flag, parts.last?.flag == flag {
                parts[parts.count - 1].text += ", \(text)"
            } else {
                parts.append((field.flag, text))
            }
        }
        return parts.map { $0.flag == nil ? $0.text : "[\($0.text)]" }.joined(separator: " · ")
    }

    /// Each bit, and which frames it means what in.
    func flagBits() -> [[String]] {
        (0..<8).map { bit in
            let value = UInt8(1) << UInt8(bit)
            var frames: [(flag: String, names: [String])] = []
            for row in self.frames {
                guard let flag = row.flags.first(where: { $0.value == value })?.key else { continue }
                if let known = frames.firstIndex(where: { $0.flag == flag }) {
                    frames[known].names.append("`\(row.name)`")
                } else {
                    frames.append((flag, ["`\(row.name)`"]))
                }
            }
            let digits = String(value, radix: 16)
            return [
                "0x\(digits.count == 1 ? "0" : "")\(digits)",
                frames.map { "\($0.flag): \($0.flag == "extensions" ? "every binary frame" : $0.names.joined(separator: ", "))" }
                    .joined(separator: " · "),
            ]
        }
    }

    func requests() -> [[String]] {
        frames.filter { $0.answer != nil || $0.from == "client" && $0.body != "binary" }.map { row in
            let answer = row.answer.map { Self.fields($0.filter { $0.name != "id" }) } ?? "`\(row.answeredBy[0])`"
            return ["`\(row.name)`", Self.fields((row.fields ?? []).filter { $0.name != "id" }), answer]
        }
    }

    func relayBodies() -> [[String]] {
        frames.filter { $0.from == "relay" && $0.body != "binary" }.map { ["`\($0.name)`", Self.fields($0.fields ?? [])] }
    }

    func objects() -> [[String]] { shapes.sorted { $0.key < $1.key }.map { ["\($0.key)", Self.fields($0.value)] } }

    private static func fields(_ fields: [Field]) -> String {
        fields.map { field in
            let name = "`\(field.name)\(field.optional == true ? "?" : "")`"
            let words = [name, field.type, bounds(of: field), field.note.map { "(\($0))" }]
            return words.compactMap { $0 }.joined(separator: " ")
        }.joined(separator: " · ")
    }

    private static func bounds(of field: Field) -> String? {
        func grouped(_ number: Int) -> String { ReferenceValues.grouped(number) }
        if let values = field.values { return values.map { "`\($0)`" }.joined(separator: ", ") }
        if let min = field.min, let max = field.max { return max == Int(UInt32.max) ? "from \(min)" : "\(grouped(min))…\(grouped(max))" }
        if let bytes = field.bytesMax {
            guard let min = field.bytesMin else { return "≤ \(grouped(bytes)) bytes" }
            return min == bytes ? "of \(bytes) bytes" : "of \(min)…\(bytes) bytes"
        }
        if let items = field.itemsMax { return "≤ \(grouped(items)) entries" }
        return field.itemsMin.map { "\($0) or more" }
    }
}
