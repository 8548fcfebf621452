import Foundation
import RelayRights
import RelayServer
import RelayWire

/// What the pages show of the code: one function for each generated part.
enum Generated {
    static let names =
        ["commands", "shared options", "limits", "settings", "codes", "rights", "metrics"]
        + ["frame types", "binary bodies", "flags", "requests", "bodies of the relay", "objects"]

    static func text(_ name: String) async throws -> String {
        switch name {
        case "commands": CommandPages.commands
        case "shared options": CommandPages.sharedOptions
        case "limits": try table(["limit", "value"], limits())
        case "settings": table(["setting", "default"], settings())
        case "codes": table(["code", "name", "retry"], codes())
        case "rights": try table(["right"] + Role.allCases.map(\.rawValue) + ["it allows to"], rights())
        case "metrics": try await table(["metric", "kind", "label"], metrics())
        case "frame types": try table(["type", "name", "from", "body", "answered by"], FrameTable.read().frameTypes())
        case "binary bodies": try table(["frame", "body", "flags"], FrameTable.read().binaryBodies())
        case "flags": try table(["flag", "means"], FrameTable.read().flagBits())
        case "requests": try table(["request", "fields", "fields of the answer"], FrameTable.read().requests())
        case "bodies of the relay": try table(["frame", "fields"], FrameTable.read().relayBodies())
        case "objects": try table(["object", "fields"], FrameTable.read().objects())
        default: throw UnknownPart(name: name)
        }
    }

    struct UnknownPart: Error { var name: String }

    /// A table without spaces around its bars: nobody edits it.
    static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "|" + $0.joined(separator: "|") + "|\n" }.joined()
    }

    // MARK: - Tables

    // What each number bounds stands in protocol.md and in the comments of the source: the reference has the numbers alone.

    private static func limits() throws -> [[String]] {
        let told = try SourceComments(of: "RelayWire/Limits.swift", before: "public static let")
        return try told.names.filter { !inner.contains($0) }.map { name in
            guard let value = ReferenceValues.limits[name] else { throw UnknownPart(name: "Limits.\(name)") }
            return ["`\(name)`", value]
        }
    }

    private static func settings() -> [[String]] {
        ReferenceValues.settings().filter { !inner.contains($0.name) }.map { ["`\($0.name)`", $0.value] }
    }

    /// What nobody sees from outside but by memory and turns: their comments in the source are enough.
    private static let inner: Set = [
        "metadataPageBytes", "jsonPageBytes", "boardAuthorKeysMax", "authorMemoryMax", "catchUpTurnBytes", "expiryRetry",
        "sharedChunksPerChannelMax", "chunkBytesMin", "chunkBytesMax", "farewellLinger", "shutdownLinger",
    ]

    private static func codes() -> [[String]] {
        ErrorCode.all.map { ["\($0.code.rawValue)", "`\($0.name)`", "\($0.code.retry)"] }
    }

    private static func rights() throws -> [[String]] {
        let told = try SourceComments(of: "RelayRights/Rights.swift", before: "public static let")
        return try Rights.words.map { word, right in
            ["`\(word)`"] + Role.allCases.map { $0.rights.contains(right) ? "yes" : "" } + [try told.text(word)]
        }
    }

    /// `/metrics` itself says what each one means.
    private static func metrics() async throws -> [[String]] {
        try await Metrics.all().map { metric in
            let few = (1...6).contains(metric.values.count) ? metric.values.map { "`\($0)`" }.joined(separator: " ") : nil
            let label = metric.label.map { label in few.map { "`\(label)`: \($0)" } ?? "`\(label)`" }
            return ["`\(metric.name)`", metric.kind, label ?? ""]
        }
    }
}

/// Comments of declarations in one file of the source, by name.
struct SourceComments {
    private(set) var names: [String] = []
    private let file: String
    private var texts: [String: String] = [:]

    struct Missing: Error { var file: String, name: String }

    init(of file: String, before words: String) throws {
        self.file = file
        var comment: [Substring] = []
        for line in try Document.source(file).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("///") {
                comment.append(text.dropFirst(3).drop { $0 == " " })
                continue
            }
            if text.hasPrefix(words) {
                let name = String(text.dropFirst(words.count + 1).prefix { $0.isLetter || $0.isNumber })
                if texts[name] == nil {
                    names.append(name)
                    texts[name] = comment.joined(separator: " ").replacing("|", with: "\\|")
                }
            }
            comment = []
        }
    }

    func text(_ name: String) throws -> String {
        guard let text = texts[name], !text.isEmpty else { throw Missing(file: file, name: name) }
        return text
    }
}
