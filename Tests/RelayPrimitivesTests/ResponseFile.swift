import Foundation
import Testing

/// A file of vectors in the form of NIST's validation programs: lines `name = value`, groups ended by an empty line,
/// `#` for remarks and `[…]` for what holds for all.
struct ResponseFile {
    /// Name and value of each line of a group.
    let groups: [[String: String]]

    init(_ name: String) throws {
        let file = try #require(Bundle.module.resourceURL).appending(path: "Vectors/\(name)")
        let text = try String(contentsOf: file, encoding: .utf8).replacing("\r\n", with: "\n")
        var groups: [[String: String]] = [[:]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty { groups.append([:]) }
            guard !line.hasPrefix("#"), !line.hasPrefix("["), !line.isEmpty else { continue }
            let parts = line.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, groups[groups.count - 1].updateValue(parts[1], forKey: parts[0]) == nil else {
                throw Unreadable(line: "\(name): \(line)")
            }
        }
        self.groups = groups.filter { !$0.isEmpty }
    }

    struct Unreadable: Error { var line: String }

    static func bytes(_ group: [String: String], _ name: String) throws -> [UInt8] {
        let text = try #require(group[name], "no \(name) in \(group)")
        return try #require([UInt8](hex: text), "\(name) is not hexadecimal")
    }
}

extension [UInt8] {
    /// `nil` for anything but pairs of hexadecimal digits.
    init?(hex: some StringProtocol) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
