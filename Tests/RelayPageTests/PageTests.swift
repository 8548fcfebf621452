import Foundation
@testable import RelayPage
import Testing

@Suite("The page's files") struct PageTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/RelayPage").standardizedFileURL

    /// Files that a browser loads, by their names in the folder.
    private func written() throws -> [String: [UInt8]] {
        let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return try names.filter { $0.contains(#/\.(js|css|html|d\.ts)$/#) }.reduce(into: [:]) { files, name in
            files[name] = Array(try Data(contentsOf: folder.appending(path: name)))
        }
    }

    @Test("every file of the folder is in the program, exactly as it is written, and no other")
    func inStep() throws {
        let names = ["/": "page/index.html", "/status": "page/status.html"]
        let served = Dictionary(uniqueKeysWithValues: Page.files.map { (names[$0.path] ?? String($0.path.dropFirst()), $0.bytes) })
        let written = try written()
        #expect(served.keys.sorted() == written.keys.sorted())
        for (name, bytes) in written { #expect(served[name] == bytes, "\(name)") }
        #expect(Page.files.first { $0.path == "/" }?.mediaType == "text/html; charset=utf-8")
    }

    /// The files that a script imports, as paths.
    private func imports(_ file: Page.File) -> [String] {
        let text = String(decoding: file.bytes, as: UTF8.self)
        return text.matches(of: #/(?m)^(?:import|export) .*from '([^']+)'$/#).map { match in
            URL(filePath: file.path).deletingLastPathComponent().appending(path: String(match.1)).standardizedFileURL.path
        }
    }

    @Test("[HT6] pages of other origins may load the client with each module that it imports and its declarations, no more")
    func forAll() throws {
        var loaded = Set(Page.files.map(\.path).filter { $0.hasSuffix(".d.ts") }), waiting = ["/relay-client.js"]
        while let path = waiting.popLast() {
            guard loaded.insert(path).inserted else { continue }
            waiting += imports(try #require(Page.files.first { $0.path == path }, "\(path)"))
        }
        #expect(loaded.count > 30)
        for file in Page.files { #expect(file.isForAll == loaded.contains(file.path), "\(file.path)") }
    }

    @Test("what a file of the page names of the others is in the table")
    func references() throws {
        let paths = Set(Page.files.map(\.path))
        for file in Page.files {
            // In a declaration a module's name may mean its declarations.
            let isDeclaration = file.path.hasSuffix(".d.ts")
            for path in imports(file) {
                let isThere = paths.contains(path) || isDeclaration && paths.contains(path.replacing(/\.js$/, with: ".d.ts"))
                #expect(isThere, "\(file.path) imports \(path)")
            }
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: #/(?:href|src)="(/[^"]+)"/#) {
                #expect(paths.contains(String(match.1)), "\(file.path) names \(match.1)")
            }
        }
    }
}
