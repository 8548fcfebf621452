// swift-tools-version: 6.2
import PackageDescription

// Arrows point downwards only; docs/architecture.md draws them. The pure modules (RelayPrimitives, RelayWire,
// RelayRights, RelayGateway, RelayBoard, RelayCore, RelayClientCore) never import Dispatch, a clock or a socket.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Commands wait for people and sockets. The optimizer would take a fifth of a release build for them, and nobody would see it.
// A package that depends on this one builds none of them, so that it may have the flag.
let unhurried = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], swiftSettings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "whiteboard-relay",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "RelayServer", targets: ["RelayServer"]),
        .library(name: "RelayClient", targets: ["RelayClient"]),
        .library(name: "RelayRTM", targets: ["RelayRTM"]),
        .executable(name: "boardrelay", targets: ["boardrelay"]),
    ],
    targets: [
        module("RelayPrimitives"),
        module("RelayWire"),
        module("RelayRights", ["RelayPrimitives", "RelayWire"]),
        module("RelayGateway", ["RelayPrimitives", "RelayWire"]),
        module("RelayBoard"),
        module("RelayJournal"),
        module("RelayCore", ["RelayRights", "RelayPrimitives", "RelayJournal", "RelayWire"]),
        module("RelayClientCore", ["RelayRights", "RelayWire"]),
        // epoll, which the module of Linux's C library leaves out: a header and no code.
        .systemLibrary(name: "CEpoll"),
        module("RelayIO", [.target(name: "CEpoll", condition: .when(platforms: [.linux]))]),
        // What the compiler puts into the program: the whiteboard and its client, the demo's lesson, and the commit of a packaged build.
        .target(name: "CResources"),
        .target(name: "RelayPage", dependencies: ["CResources"], exclude: ["client", "page", "relay-client.js"], swiftSettings: strict),
        module("RelayServer", ["RelayRights", "RelayCore", "RelayGateway", "RelayIO", "RelayJournal", "RelayPage", "RelayWire"]),
        module("RelayClient", ["RelayRights", "RelayClientCore", "RelayIO", "RelayWire"]),
        // The shape of a hosted realtime SDK, for apps that move.
        module("RelayRTM", ["RelayClient"]),
        // What the commands share: the parser, the help, the terminal, JSON, and coming in.
        module("RelayConsole", ["RelayRights", "RelayBoard", "RelayClient", "RelayClientCore", "RelayIO", "RelayWire"],
            swiftSettings: unhurried),
        module("RelayBench", ["RelayRights", "RelayBoard", "RelayClient", "RelayConsole", "RelayIO", "RelayWire"]),
        module("RelayReplay", ["RelayRights", "RelayBoard", "RelayClient", "RelayConsole", "RelayIO", "RelayWire"],
            swiftSettings: unhurried),
        module("RelayTestKit", ["RelayRights", "RelayClientCore", "RelayCore", "RelayJournal", "RelayWire"]),
        .executableTarget(
            name: "boardrelay",
            dependencies: [
                "CResources", "RelayRights", "RelayBench", "RelayBoard", "RelayClient", "RelayConsole", "RelayCore", "RelayGateway", "RelayIO",
                "RelayReplay", "RelayServer", "RelayWire",
            ],
            exclude: ["Demo/README.md", "Demo/lesson.ndjson"],
            swiftSettings: unhurried),

        tests("RelayPrimitivesTests", ["RelayPrimitives"], resources: [.copy("Vectors")]),
        tests("RelayWireTests", ["RelayWire"]),
        tests("RelayRightsTests", ["RelayRights", "RelayPrimitives", "RelayWire"], resources: [.copy("Vectors")]),
        tests("RelayPageTests", ["RelayPage"]),
        tests("RelayGatewayTests", ["RelayPrimitives", "RelayGateway", "RelayWire"]),
        tests("RelayBoardTests", ["RelayBoard"]),
        tests("RelayJournalTests", ["RelayJournal", "RelayTestKit"]),
        tests("RelayCoreTests", ["RelayRights", "RelayCore", "RelayJournal", "RelayTestKit", "RelayWire"]),
        tests("RelayClientCoreTests", ["RelayRights", "RelayClientCore", "RelayCore", "RelayTestKit", "RelayWire"]),
        tests("RelayIOTests", ["RelayIO"]),
        tests("RelayServerTests", ["RelayRights", "RelayGateway", "RelayServer", "RelayClient", "RelayClientCore", "RelayIO", "RelayJournal", "RelayWire", "RelayCore"]),
        tests("RelayRTMTests", ["RelayRTM", "RelayRights", "RelayClient", "RelayServer", "RelayCore"]),
        tests("SimulationTests", ["RelayTestKit", "RelayCore", "RelayWire"]),
        tests("BoardrelayTests", [
            "boardrelay", "RelayRights", "RelayBench", "RelayBoard", "RelayClient", "RelayClientCore", "RelayConsole", "RelayCore", "RelayIO",
            "RelayReplay", "RelayServer", "RelayWire",
        ]),
        tests("DocsTests", ["boardrelay", "RelayConsole", "RelayRights", "RelayWire", "RelayCore", "RelayClient", "RelayIO", "RelayRTM", "RelayServer"]),
    ]
)
