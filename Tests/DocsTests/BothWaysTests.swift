import Foundation
import RelayConsole
import RelayCore
import RelayWire
import Testing

@testable import boardrelay

/// What `LimitsTable` does not hold: numbers that stand in rules, flags, features, variables of the environment.
@Suite("Source and docs, both ways") struct BothWaysTests {
    @Test("every constant of Limits.swift is in the table of limits, in a rule or inner")
    func limits() throws {
        let source = try Document.source("RelayWire/Limits.swift").matches(of: /public static let ([A-Za-z]+)/).map { String($0.output.1) }
        let told = LimitsTable.fixed.values.flatMap(\.constants) + SecurityPageTests.constants
        #expect(source.count >= 40, "only \(source.count) constants found: the file is not read rightly")
        #expect(Set(told).subtracting(source) == [], "the tables name what Limits.swift does not have")
        #expect(Set(source).subtracting(told) == Set(Self.limitsInRules.keys).union(Self.innerLimits))
    }

    @Test("every setting is in the table of limits, in a rule or inner")
    func settings() throws {
        let defaults = Configuration()
        var names = Mirror(reflecting: defaults).children.compactMap(\.label)
        names += Mirror(reflecting: defaults.limits).children.compactMap(\.label).map { "limits.\($0)" }
        #expect(names.count >= 70)
        let told = LimitsTable.tunable.values.joined().map(\.name)
        #expect(Set(told).subtracting(names) == [], "the tables name what Configuration does not have")
        #expect(Set(names).subtracting(told) == Set(Self.settingsInRules.keys).union(Self.innerSettings).union(["limits"]))
    }

    @Test("rules have the numbers of the code")
    func rules() throws {
        let document = try Document.protocol()
        for (name, (rule, words)) in Self.limitsInRules.merging(Self.settingsInRules, uniquingKeysWith: { first, _ in first }) {
            let text = try #require(document.rule(rule), "\(name): \(rule)")
            #expect(text.contains(words), "\(name): \(rule) says not: \(words)")
        }
    }

    @Test("rules that state a default of the table of limits have the number of the code, too", arguments: LimitsTable.inRules)
    func defaultsInRules(rule: String, settings: [LimitsTable.Setting]) throws {
        let text = try #require(Document.protocol().rule(rule), "\(rule)")
        for setting in settings {
            let number = Int(setting.number)
            let forms = [ReferenceValues.grouped(number), "\(number)/s", "\(number >> 10) KiB", "\(number >> 20) MiB"]
            #expect(forms.contains { text.contains("**\($0)**") }, "\(rule) does not say \(setting.name): \(number)")
        }
    }

    @Test("the features that a subscription may want are those of the code")
    func features() throws {
        let rule = try #require(Document.protocol().rule("CH3"))
        let list = try #require(rule.firstMatch(of: /`features\?` \(([^)]*)\)/)).output.1
        #expect(list.matches(of: /`"([a-z]+)"`/).map { String($0.output.1) } == Feature.allCases.map(\.rawValue))
    }

    @Test("variables of the environment that the program reads are in the docs, and those in the docs are read")
    func environment() throws {
        let pages = try ["README.md", "docs/command-line.md", "docs/operations.md", "docs/security.md"].map {
            try String(contentsOf: Document.root.appending(path: $0), encoding: .utf8)
        }.joined()
        let told = Set(pages.matches(of: /\$((?:BOARDRELAY|XDG|STATE|NOTIFY)_[A-Z_]+)/).map { String($0.output.1) })
        var read: Set<String> = []
        for source in try Document.sources() {
            read.formUnion(source.matches(of: /"((?:BOARDRELAY|XDG|STATE|NOTIFY)_[A-Z_]+)"/).map { String($0.output.1) })
        }
        // Foundation reads it. Settings have theirs, of which pages name examples.
        let settings = Set(Command.serve.settings.map(\.variable))
        #expect(told.subtracting(settings) == read.union(["XDG_DATA_HOME"]).subtracting(settings) && read.isSubset(of: told))
        #expect(read.count >= 6)
    }

    // MARK: - Numbers in rules

    /// Constants that no row of the table has: where they stand, and how.
    static var limitsInRules: [String: (rule: String, words: String)] {
        [
            "protocolVersion": ("SE3", "Version \(Limits.protocolVersion) is this page"),
            "frameHeadBytes": ("FR1", "size plus \(Limits.frameHeadBytes - 4)"),
            "keyBytesMax": ("AC1", "1…\(Limits.keyBytesMax) bytes"),
            "deviceCodeCharacters": ("AC17", "A code has \(Limits.deviceCodeCharacters) of"),
            "joinCodeLetters": ("AC20", "\(Limits.joinCodeLetters) of the letters"),
            "wrongCredentialsMax": ("AC2", "**\(Limits.wrongCredentialsMax)rd**"),
            "accessNoticeMilliseconds": ("AC8", "**\(Limits.accessNoticeMilliseconds / 1000) s**"),
            "publishMemoryMilliseconds": ("MS9", "\(Limits.publishMemoryMilliseconds / 60_000) minutes"),
            "lockTTLMillisecondsDefault": ("LK2", "\(ReferenceValues.grouped(Limits.lockTTLMillisecondsDefault)) if absent"),
        ]
    }

    /// How a relay cuts long answers, and the port that the README tells.
    static let innerLimits = ["metadataPageBytes", "jsonPageBytes", "defaultPort"]

    static var settingsInRules: [String: (rule: String, words: String)] {
        let defaults = Configuration()
        func seconds(_ time: Duration) -> String { "**\(time.components.seconds) s**" }
        func hours(_ time: Duration) -> String { "**\(time.components.seconds / 3600) h**" }
        func bytes(_ count: Int) -> String { count < 1 << 20 ? "**\(count >> 10) KiB**" : "**\(count >> 20) MiB**" }
        return [
            "abuseRateFactor": ("RT5", "**\(defaults.abuseRateFactor)** times"),
            "abuseSeconds": ("RT5", "**\(defaults.abuseSeconds)** seconds"),
            "droppedNoticeInterval": ("RT4", seconds(defaults.droppedNoticeInterval)),
            "channelLinger": ("CH2", "**\(defaults.channelLinger.components.seconds / 60) minutes**"),
            "claimsMax": ("AC3", "**\(ReferenceValues.grouped(defaults.claimsMax))**"),
            "claimTime": ("AC3", hours(defaults.claimTime)),
            "credentialPause": ("AC2", seconds(defaults.credentialPause)),
            "credentialPauseMax": ("AC2", seconds(defaults.credentialPauseMax)),
            "guessesBurst": ("AC2", "**\(defaults.guessesBurst)** wrong"),
            "guessesPerSecond": ("AC2", "**\(defaults.guessesPerSecond)** a second"),
            "guessDelay": ("AC2", "\(seconds(defaults.guessDelay)) late"),
            "emptyMetadataLinger": ("MD2", hours(defaults.emptyMetadataLinger)),
            "catchUpBlockBytes": ("HI2", bytes(defaults.catchUpBlockBytes)),
            "catchUpQueueBytes": ("HI2", bytes(defaults.catchUpQueueBytes)),
            "boardBlocksBytesMax": ("HI2", bytes(defaults.boardBlocksBytesMax)),
            "publishWindowBytesMax": ("MS9", bytes(defaults.publishWindowBytesMax)),
            "boardsMax": ("BL7", "**\(ReferenceValues.grouped(defaults.boardsMax))**"),
            "loginTimeout": ("SE4", seconds(defaults.loginTimeout)),
            "presenceTimeoutDefault": ("SE7", "**\(ReferenceValues.grouped(Int(defaults.presenceTimeoutDefault.components.seconds) * 1000))**"),
            "heartbeatMax": ("HB2", seconds(defaults.heartbeatMax)),
            "latenessTolerated": ("HB4", seconds(defaults.latenessTolerated)),
            "userLinger": ("RT3", seconds(defaults.userLinger)),
            "directTimeout": ("DM4", "\(defaults.directTimeout.components.seconds) s"),
            "closedFlowsMax": ("SE9", "**\(defaults.closedFlowsMax)**"),
            "presenceIntervalAbove": ("PR6", "**\(defaults.presenceIntervalAbove)**"),
            "presenceIntervalBelow": ("PR6", "**\(defaults.presenceIntervalBelow)**"),
            "presenceInterval": ("PR6", seconds(defaults.presenceInterval)),
            "presenceFrameInterval": ("PR6", "**\(defaults.presenceFrameInterval / .milliseconds(1)) ms**".replacing(".0", with: "")),
            "presenceFlapWindow": ("PR7", seconds(defaults.presenceFlapWindow)),
            "packetLifetime": ("DL4", seconds(defaults.packetLifetime)),
            "reliableBacklogBytesSoft": ("DL8", bytes(defaults.reliableBacklogBytesSoft)),
            "slowConsumerAfter": ("DL8", seconds(defaults.slowConsumerAfter)),
            "pinnedBytesPerSessionMax": ("DL9", bytes(defaults.pinnedBytesPerSessionMax)),
            "queueBytesTotalMax": ("DL9", bytes(defaults.queueBytesTotalMax)),
            "requestTurnBytes": ("DL12", bytes(defaults.requestTurnBytes)),
            "requestShareBytes": ("DL12", bytes(defaults.requestShareBytes)),
            "requestBacklogBytes": ("DL12", bytes(defaults.requestBacklogBytes)),
            "heldBytesPerConnection": ("DL12", bytes(defaults.heldBytesPerConnection)),
            "limits.unansweredMax": ("MS3", "`welcome.limits.unansweredMax` (**\(defaults.limits.unansweredMax)**)"),
        ]
    }

    /// What nobody sees from outside but by how much memory or how many turns it takes, or that has no default.
    static let innerSettings = [
        "isJournaled", "part", "boardExpiry", "boardAuthorKeysMax", "authorMemoryMax", "boardIndexBytesMax", "catchUpTurnBytes", "expiryRetry",
        "sharedChunksPerChannelMax", "chunkBytesMin", "chunkBytesMax", "farewellLinger", "shutdownLinger",
    ]
}

extension Document {
    /// A file below `Sources`.
    static func source(_ path: String) throws -> String { try String(contentsOf: root.appending(path: "Sources/\(path)"), encoding: .utf8) }

    /// All Swift of `Sources`.
    static func sources() throws -> [String] { try files("Sources").map { try String(contentsOf: $0, encoding: .utf8) } }

    /// Those of one module.
    static func sources(of module: String) throws -> [String] {
        try files("Sources/\(module)").map { try String(contentsOf: $0, encoding: .utf8) }
    }

    static func test(_ path: String) throws -> String { try String(contentsOf: root.appending(path: "Tests/\(path)"), encoding: .utf8) }

    /// Swift files below a folder.
    static func files(_ folder: String) throws -> [URL] {
        let walk = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (walk?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }

    /// The text of a rule, to the next one or the end of its list.
    func rule(_ id: String) -> String? {
        let from = lines.drop { !$0.hasPrefix("* **\(id)** ") }
        guard let first = from.first else { return nil }
        return ([first] + from.dropFirst().prefix { !$0.hasPrefix("* ") && !$0.isEmpty && !$0.hasPrefix("#") }).joined(separator: " ")
    }
}
