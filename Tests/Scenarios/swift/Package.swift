// swift-tools-version: 6.2
import PackageDescription

// The client in Swift as Tests/Scenarios/README.md drives it. Tests/Scenarios/run.py builds it.
let package = Package(
    name: "scenarios",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "whiteboard-relay", path: "../../..")],
    targets: [
        .executableTarget(
            name: "scenario-client",
            dependencies: [.product(name: "RelayClient", package: "whiteboard-relay")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
