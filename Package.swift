// swift-tools-version: 6.2
import PackageDescription

// Arrows point downwards only; docs/architecture.md draws them. The pure modules (RelayPrimitives, RelayWire, RelayMonitoring,
// RelayRights, RelayTokens, RelayGateway, RelayCluster, RelayNATS, BoardFormat, RelayCore, RelayClientCore) never import Dispatch, a clock
// or a socket.

// A release knows its files and lines, for backtraces, and not its variables: a debugger has the debug build for those. That takes
// a tenth off a release build's time, a fifth off its memory and a quarter off the program. SwiftPM puts its own `-g` behind the flags
// of a manifest, so the flag goes past the driver. A package may depend on one with such flags since SwiftPM 6.2.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-Xfrontend", "-gline-tables-only"], .when(configuration: .release)),
]

// Commands wait for people and sockets. The optimizer would take a fifth of a release build for them, and nobody would see it.
let unhurried = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], swiftSettings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

/// A privacy manifest. Its target imports all of Foundation, as each with a resource does: only Apple's platforms depend on it.
func privacy(_ name: String) -> Target {
    .target(name: name, resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: strict)
}

func onlyApple(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.macOS, .iOS])) }

/// Tests start relays, on a Mac that can: Swift Testing knows no suite that only newer systems have. Tests/Apple checks them for such a Mac.
let unasked = strict + [.unsafeFlags(["-Xfrontend", "-disable-availability-checking"], .when(platforms: [.macOS, .iOS]))]

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: unasked)
}

let package = Package(
    name: "whiteboard-relay",
    // What the client needs. The server's types are `@available(macOS 15, iOS 18, *)`: there `assumeIsolated` asks the queue of an actor.
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "RelayServer", targets: ["RelayServer"]),
        .library(name: "RelayClient", targets: ["RelayClient"]),
        .library(name: "RelayRTM", targets: ["RelayRTM"]),
        .library(name: "WhiteboardModel", targets: ["WhiteboardModel"]),
        .library(name: "RelayTesting", targets: ["RelayTesting"]),
        .library(name: "BoardFormat", targets: ["BoardFormat"]),
        // For operators, whose types are not in every app's way.
        .library(name: "RelayMonitoring", targets: ["RelayMonitoring"]),
        .library(name: "RelayTokens", targets: ["RelayTokens"]),
        .executable(name: "boardrelay", targets: ["boardrelay"]),
    ],
    targets: [
        module("RelayPrimitives"),
        module("RelayWire", ["RelayPrimitives"]),
        module("RelayMonitoring", ["RelayWire"]),
        module("RelayRights", ["RelayWire"]),
        module("RelayTokens", ["RelayPrimitives", "RelayRights", "RelayWire"]),
        module("RelayGateway", ["RelayPrimitives", "RelayWire"]),
        module("BoardFormat", ["RelayPrimitives", "RelayWire"]),
        module("RelayNATS", ["RelayPrimitives", "RelayWire"]),
        // What the hub and the journal say to each other: the hub is compiled while the journal is.
        module("RelayStorage", ["RelayPrimitives"]),
        module("RelayJournal", ["RelayPrimitives", "RelayStorage"]),
        // A space of several nodes: who owns it, and the log that says so.
        module("RelayCluster", ["RelayJournal", "RelayPrimitives", "RelayStorage", "RelayWire"]),
        module("RelayCore", ["RelayMonitoring", "RelayTokens", "RelayRights", "RelayPrimitives", "RelayStorage", "RelayWire"]),
        module("RelayClientCore", ["RelayMonitoring", "RelayPrimitives", "RelayRights", "RelayWire"]),
        // epoll, which the module of Linux's C library leaves out: a header and no code.
        .systemLibrary(name: "CEpoll"),
        module("RelayIO", ["RelayPrimitives", .target(name: "CEpoll", condition: .when(platforms: [.linux]))]),
        // What an app that only connects has no use for: Apple wants reasons for some of it.
        module("RelaySystem", ["RelayIO", .target(name: "CEpoll", condition: .when(platforms: [.linux]))]),
        // Relays of the local network: who looks for them, and who announces one, which no app links. Apple's systems do both themselves.
        module("RelayDiscovery", ["RelayIO", "RelayPrimitives"]),
        module("RelayAnnouncement", ["RelayDiscovery", "RelayIO", "RelayPrimitives"]),
        // What the compiler puts into the program: the whiteboard and its client, the demo's lesson, and the commit of a packaged build.
        .target(name: "CResources"),
        .target(name: "RelayPage", dependencies: ["CResources"], exclude: ["client", "package.json", "page", "relay-client.d.ts", "relay-client.js"], swiftSettings: strict),
        module("RelayServer", ["RelayTokens", "RelayCluster", "RelayCore", "RelayGateway", "RelayIO", "RelayJournal", "RelayNATS", "RelayStorage", "RelaySystem", "RelayPage", "RelayPrimitives", "RelayRights", "RelayWire", onlyApple("RelayServerPrivacy")]),
        module("RelayClient", ["RelayMonitoring", "RelayClientCore", "RelayDiscovery", "RelayIO", "RelayPrimitives", "RelayRights", "RelayWire", onlyApple("RelayClientPrivacy")]),
        privacy("RelayServerPrivacy"),
        privacy("RelayClientPrivacy"),
        // What SwiftUI observes. Observation is in no other module: the daemon does not link it.
        module("WhiteboardModel", ["RelayClient"]),
        // The shape of a hosted realtime SDK, for apps that move.
        module("RelayRTM", ["RelayClient"]),
        // What the commands share: the parser, the help, the terminal, JSON, and coming in.
        module("RelayConsole", ["RelayRights", "BoardFormat", "RelayClient", "RelayClientCore", "RelayIO", "RelaySystem", "RelayWire"],
            swiftSettings: unhurried),
        // The load that `bench` puts on a relay: it must be faster than the relay.
        module("RelayLoad", ["BoardFormat", "RelayConsole", "RelayIO", "RelayPrimitives", "RelaySystem", "RelayWire"]),
        module("RelayBench", ["BoardFormat", "RelayClient", "RelayConsole", "RelayIO", "RelayLoad", "RelayPrimitives", "RelayRights", "RelaySystem", "RelayWire"],
            swiftSettings: unhurried),
        module("RelayReplay", ["RelayRights", "BoardFormat", "RelayClient", "RelayConsole", "RelayIO", "RelayWire"],
            swiftSettings: unhurried),
        // A relay in memory for the tests of apps: hub and clients on a clock moved by hand.
        module("RelayTesting", ["RelayMonitoring", "RelayTokens", "RelayClient", "RelayClientCore", "RelayCore", "RelayIO", "RelayJournal", "RelayPrimitives", "RelayRights", "RelayStorage", "RelayWire"]),
        module("RelayTestKit", ["RelayMonitoring", "RelayTokens", "RelayClientCore", "RelayCore", "RelayJournal", "RelayStorage", "RelayPrimitives", "RelayRights", "RelayTesting", "RelayWire"]),
        .executableTarget(
            name: "boardrelay",
            dependencies: [
                "RelayMonitoring", "RelayTokens",
                "CResources", "RelayRights", "RelayBench", "BoardFormat", "RelayClient", "RelayConsole", "RelayCore", "RelayGateway", "RelayIO",
                "RelayAnnouncement", "RelayDiscovery", "RelayJournal", "RelayPage", "RelayStorage", "RelayReplay", "RelayServer", "RelaySystem",
                "RelayWire",
            ],
            exclude: ["Demo/README.md", "Demo/lesson.ndjson"],
            swiftSettings: unhurried),

        tests("RelayPrimitivesTests", ["RelayPrimitives"], resources: [.copy("Vectors")]),
        tests("RelayWireTests", ["RelayMonitoring", "RelayPrimitives", "RelayWire"]),
        tests("RelayRightsTests", ["RelayRights", "RelayWire"]),
        tests("RelayTokensTests", ["RelayPrimitives", "RelayRights", "RelayTokens", "RelayWire"], resources: [.copy("Vectors")]),
        tests("RelayPageTests", ["RelayPage"]),
        tests("RelayGatewayTests", ["RelayPrimitives", "RelayGateway", "RelayWire"]),
        tests("BoardFormatTests", ["RelayPrimitives", "BoardFormat"]),
        tests("RelayNATSTests", ["RelayIO", "RelayNATS", "RelayPrimitives", "RelayWire"], resources: [.copy("Vectors")]),
        tests("RelayJournalTests", ["RelayPrimitives", "RelayJournal", "RelayStorage", "RelayTestKit", "RelayTesting"]),
        tests("RelayClusterTests", ["RelayCluster", "RelayJournal", "RelayPrimitives", "RelayStorage", "RelayTestKit", "RelayWire"]),
        tests("RelayCoreTests", ["RelayMonitoring", "RelayTokens", "RelayPrimitives", "RelayRights", "RelayCore", "RelayJournal", "RelayStorage", "RelayTestKit", "RelayTesting", "RelayWire"]),
        tests("RelayClientCoreTests", ["RelayPrimitives", "RelayRights", "RelayClientCore", "RelayCore", "RelayTestKit", "RelayTesting", "RelayWire"]),
        tests("RelayIOTests", ["RelayIO", "RelaySystem"]),
        tests("RelaySystemTests", ["RelayIO", "RelaySystem"]),
        tests("RelayDiscoveryTests", ["RelayAnnouncement", "RelayClient", "RelayClientCore", "RelayDiscovery", "RelayIO", "RelayPrimitives", "RelayWire"]),
        tests("RelayServerTests", ["RelayCluster", "RelayMonitoring", "RelayNATS", "RelayTokens", "RelayPrimitives", "RelayRights", "RelayGateway", "RelayServer", "RelayClient", "RelayClientCore", "RelayIO", "RelayJournal", "RelayStorage", "RelaySystem", "RelayWire", "RelayCore"]),
        tests("RelayRTMTests", ["RelayTokens", "RelayRTM", "RelayRights", "RelayClient", "RelayIO", "RelayServer", "RelayCore"]),
        tests("WhiteboardModelTests", ["WhiteboardModel", "RelayClient", "RelayServer"]),
        tests("RelayTestingTests", ["RelayTesting", "RelayClient", "RelayPrimitives", "WhiteboardModel"]),
        tests("SimulationTests", ["RelayPrimitives", "RelayTestKit", "RelayCore", "RelayWire"]),
        tests("BoardrelayTests", [
            "RelayMonitoring", "RelayTokens",
            "RelayPrimitives",
            "boardrelay", "RelayRights", "RelayBench", "BoardFormat", "RelayClient", "RelayClientCore", "RelayConsole", "RelayCore", "RelayIO", "RelayLoad",
            "RelayReplay", "RelayServer", "RelaySystem", "RelayWire",
        ]),
        tests("DocsTests", ["RelayMonitoring", "RelayTokens", "boardrelay", "RelayConsole", "RelayRights", "RelayWire", "RelayCore", "RelayClient", "RelayIO", "RelayRTM", "RelayServer"]),
    ]
)
