import Foundation
import Testing

/// `Tests/Apple/consumer` names each public type of each product, with and without the module: here none is forgotten.
@Suite struct ProductNamesTests {
    /// What an import of a product brings.
    private static let products = [
        "RelayClient": ["RelayClient", "RelayClientCore", "RelayWire", "RelayRights", "RelayIO"], "RelayServer": ["RelayServer", "RelayCore"],
        "RelayRTM": ["RelayRTM"], "WhiteboardModel": ["WhiteboardModel"], "BoardFormat": ["BoardFormat"],
        "RelayTesting": ["RelayTesting"],
        "RelayMonitoring": ["RelayMonitoring"], "RelayTokens": ["RelayTokens"],
    ]

    @Test("each public type of a product is named by the package that depends on all of them, with and without its module")
    func named() throws {
        let names = try Document.test("Apple/consumer/Sources/consumer/Names.swift")
        var count = 0
        for (product, modules) in Self.products {
            for type in try modules.flatMap(Self.types) {
                #expect(type != product, "a type that is called like its module hides the others")
                #expect(names.contains(" = \(product).\(type)") || names.contains(" = any \(product).\(type)"), "\(product).\(type)")
                #expect(names.contains("typealias Bare_\(type) = "), "\(type)")
                count += 1
            }
        }
        #expect(count >= 150, "only \(count) found")
    }

    /// Public types of a module that stand in no other.
    private static func types(of module: String) throws -> [String] {
        let declaration = /(?m)^(?:@\w+(?:\([^)]*\))? )*public (?:final )?(?:struct|enum|class|protocol) (\w+)/
        return try Document.sources(of: module).flatMap { $0.matches(of: declaration).map { String($0.output.1) } }
    }
}
