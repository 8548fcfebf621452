import Foundation
import RelayRTM
import Testing

/// An app for the hosted SDK and the same app after the move (`Tests/Moving`), and what `docs/moving-from-agora.md` says of it.
@Suite("docs/moving-from-agora.md")
struct MovingFromAgoraTests {
    private static func sample(_ name: String) throws -> String {
        try String(contentsOf: Document.root.appending(path: "Tests/Moving/\(name).swift"), encoding: .utf8)
    }

    private static func aliases() throws -> String { try Document.named("moving-from-agora.md").swift }

    @Test("the sample compiles against the hosted SDK's signatures and, with the page's alias file, against RelayRTM, as Swift 5 and as Swift 6", arguments: [5, 6])
    func compiles(version: Int) async throws {
        let hosted = try await SwiftCompiler.check(["App.swift": try Self.sample("Hosted")], stubs: ["AgoraRtmKit"], version: version)
        #expect(hosted.code == 0, "\(hosted.text)")
        let moved = try await SwiftCompiler.check(["App.swift": try Self.sample("Moved"), "Aliases.swift": try Self.aliases()], version: version)
        #expect(moved.code == 0, "\(moved.text)")
    }

    @Test("at most 8 lines of the sample differ, and the alias file has at most 25")
    func lines() throws {
        let hosted = try Self.sample("Hosted").split(separator: "\n", omittingEmptySubsequences: false)
        let moved = try Self.sample("Moved").split(separator: "\n", omittingEmptySubsequences: false)
        let changes = moved.difference(from: hosted)
        #expect((1...8).contains(max(changes.insertions.count, changes.removals.count)))
        #expect(hosted.count > 150 && hosted.contains { $0.contains("import AgoraRtmKit") } && !moved.contains { $0.contains("import AgoraRtmKit") })
        #expect(try Self.aliases().split(separator: "\n").count <= 25)
    }

    @Test("each type of the hosted SDK that is declared has its alias, and each alias its type")
    func types() throws {
        let stub = try String(contentsOf: Document.root.appending(path: "Tests/Stubs/AgoraRtmKit.swift"), encoding: .utf8)
        let declared = Set(stub.matches(of: /\b(?:class|struct|enum|protocol|typealias) (AgoraRtm[A-Za-z]+)/).map { String($0.output.1) })
        let aliases = try Self.aliases().matches(of: /typealias AgoraRtm([A-Za-z]+) = RTM([A-Za-z]+)/)
        #expect(declared.count > 40 && declared == Set(aliases.map { "AgoraRtm\($0.output.1)" }))
        #expect(aliases.allSatisfy { $0.output.1 == $0.output.2 })
    }

    @Test("RelayRTM alone is to be imported, also for what hosted RTM has no word for")
    func oneImport() async throws {
        let news = """
            import RelayRTM
            class Model: RTMClientDelegate {
                func rtmKit(_ rtmKit: RTMClientKit, didReceiveRelayEvent event: RelayEvent) {
                    if case .packetsLost(let lost) = event { print(lost) }
                }
                func replay(_ options: RTMSubscribeOptions, _ kit: RTMClientKit) async throws {
                    options.since = .beginning
                    _ = try await kit.relayClient?.history(of: "lesson")
                }
            }
            """
        let result = try await SwiftCompiler.check(["News.swift": news])
        #expect(result.code == 0, "\(result.text)")
    }

    @Test("without one of the aliases, or with a label of another SDK, it does not compile")
    func doesNot() async throws {
        let moved = try Self.sample("Moved"), aliases = try Self.aliases()
        for (file, right, wrong) in [
            ("Aliases.swift", "typealias AgoraRtmStreamChannel = RTMStreamChannel", ""), ("App.swift", "lockName:", "name:"),
            ("App.swift", "didReceiveTopicEvent event: AgoraRtmTopicEvent", "didReceiveTopicEvent event: AgoraRtmTopic"),
        ] {
            var files = ["App.swift": moved, "Aliases.swift": aliases]
            try #require(files[file]!.contains(right))
            files[file] = files[file]!.replacing(right, with: wrong)
            let result = try await SwiftCompiler.check(files, version: 5)
            #expect(result.code != 0 && result.text.contains("App.swift"), "\(right): \(result.text)")
        }
    }

    @Test("names and numbers of the table of errors are the library's")
    func errors() throws {
        let rows = try Document.named("moving-from-agora.md").table("Errors")
        #expect(rows.count > 20)
        for row in rows {
            let code = RTMErrorCode(rawValue: -Int(try #require(Document.numbers(in: row[1]).first)))
            #expect(code.map { "\($0)" } == (row[0] == "none" ? "notPermitted" : Document.plain(row[0])), "\(row)")
        }
    }
}
