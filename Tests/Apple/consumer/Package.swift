// swift-tools-version: 6.2
import PackageDescription

// As an app depends on a release. consumer.py puts the repository where REPOSITORY stands.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(url: "file://REPOSITORY", exact: "1.0.0")],
    targets: [
        .executableTarget(
            name: "consumer",
            dependencies: [
                .product(name: "RelayServer", package: "whiteboard-relay"),
                .product(name: "RelayClient", package: "whiteboard-relay"),
                .product(name: "RelayRTM", package: "whiteboard-relay"),
                .product(name: "WhiteboardModel", package: "whiteboard-relay"),
                .product(name: "BoardFormat", package: "whiteboard-relay"),
                .product(name: "RelayTesting", package: "whiteboard-relay"),
                .product(name: "RelayMonitoring", package: "whiteboard-relay"),
                .product(name: "RelayTokens", package: "whiteboard-relay"),
            ])
    ]
)
