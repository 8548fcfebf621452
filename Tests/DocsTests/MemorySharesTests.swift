import Foundation
import RelayCore
import Testing

/// The table of shares in operations.md is what a relay divides its memory by.
@Suite struct MemorySharesTests {
    private static let bounds: [(words: String, path: KeyPath<Configuration, Int> & Sendable)] = [
        ("queues of readers", \.queueBytesTotalMax), ("metadata", \.metadataBytesTotalMax),
        ("history of all channels", \.historyBytesTotalMax), ("where records stand", \.boardIndexBytesMax),
        ("sessions, their stays", \.sessionMemoryMax), ("parts of change sets", \.stagedBytesMax), ("frames that wait", \.heldBytesMax),
        ("blocks of boards", \.boardBlocksBytesMax),
        ("frames that have not come whole", \.unfinishedBytesMax), ("changes that wait", \.unjournaledBytesMax),
        ("publishes of client objects", \.publishWindowBytesMax), ("authors of boards' keys", \.authorMemoryMax),
    ]

    @Test("each bound is the share that the page states, of 1 GiB by default, and all of them together are not more than the whole")
    func shares() throws {
        let page = try String(contentsOf: Document.root.appending(path: "docs/operations.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("|1/") || $0.hasPrefix("|3/") }
        try #require(rows.count == Self.bounds.count)
        let (whole, small) = (1 << 30, 64 << 20)
        for (row, bound) in zip(rows, Self.bounds) {
            let cells = row.split(separator: "|")
            let share = cells[0].split(separator: "/").compactMap { Int($0) }
            try #require(share.count == 2)
            #expect(cells[1].hasPrefix(bound.words), "\(row)")
            #expect(Configuration()[keyPath: bound.path] == whole / share[1] * share[0], "\(row)")
            #expect(Configuration(memory: small)[keyPath: bound.path] == small / share[1] * share[0], "\(row)")
        }
        #expect(Self.bounds.reduce(0) { $0 + Configuration()[keyPath: $1.path] } <= whole)
    }
}
