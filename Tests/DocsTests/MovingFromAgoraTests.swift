import Foundation
import RelayRTM
import Testing

/// What `docs/moving-from-agora.md` says of the move. `Tests/Documented/swift_blocks.py` compiles apps for the hosted SDK
/// (`Tests/Moving`) as they are, and after it.
@Suite("docs/moving-from-agora.md")
struct MovingFromAgoraTests {
    private static func aliases() throws -> String {
        try String(contentsOf: Document.root.appending(path: "docs/examples/AgoraAliases.swift"), encoding: .utf8)
    }

    @Test("the alias file has at most 36 lines")
    func lines() throws {
        #expect(try Self.aliases().split(separator: "\n").count <= 36)
    }

    @Test("each type of the hosted SDK has its alias, or stands among what is not there, and each alias has its type")
    func types() throws {
        let table = try String(contentsOf: Document.root.appending(path: "Tests/Moving/hosted.tsv"), encoding: .utf8)
        let declared = Set(table.matches(of: /\t-\t[a-z]+\tAgoraRtm([A-Za-z]+)\t/).map { String($0.output.1) })
        let aliases = try Self.aliases().matches(of: /typealias AgoraRtm([A-Za-z]+) = RTM([A-Za-z]+)/)
        let named = Set(aliases.map { String($0.output.1) })
        let missing = try Document.named("moving-from-agora.md").table("What is not there").map { $0[0] }.joined()
        #expect(declared.count > 60 && named.isSubset(of: declared) && aliases.allSatisfy { $0.output.1 == $0.output.2 })
        for type in declared.subtracting(named) { #expect(missing.contains("`\(type)`"), "\(type)") }
    }

    @Test("the table of errors names codes of the library and of the relay, and the new one has its number")
    func errors() throws {
        let document = try Document.named("moving-from-agora.md")
        let source = try Document.source("RelayRTM/RTMErrorCode.swift")
        let hosted = Set(source.matches(of: /([a-z][A-Za-z]+) = -1[0-9]{4}/).map { String($0.output.1) })
        let own = try Document.source("RelayClientCore/RelayError.swift").matches(of: /static let ([a-zA-Z]+) = ErrorCode/)
        let codes = Set(try Document.protocol().table("Codes").map { Document.plain($0[1]) } + own.map { String($0.output.1) })
        let rows = document.table("Errors")
        #expect(rows.count >= 10 && hosted.count > 40)
        for row in rows {
            #expect(hosted.contains(Document.plain(row[0])), "\(row)")
            for name in row[1].matches(of: /`([a-zA-Z]+)`/) { #expect(codes.contains(String(name.output.1)), "\(row)") }
        }
        #expect(document.text.contains("`notPermitted`, −\(-RTMErrorCode.notPermitted.rawValue)"))
    }
}
