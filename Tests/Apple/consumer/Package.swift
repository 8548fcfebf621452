// swift-tools-version: 6.2
import PackageDescription

// As an app depends on a checkout, whatever its folder is called.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "whiteboard-relay", path: "../checkout")],
    targets: [
        .executableTarget(
            name: "consumer",
            dependencies: [
                .product(name: "RelayServer", package: "whiteboard-relay"),
                .product(name: "RelayClient", package: "whiteboard-relay"),
                .product(name: "RelayRTM", package: "whiteboard-relay"),
            ])
    ]
)
