/// How much damage a code stands: more of it makes a larger one.
package enum QRLevel: Equatable, Sendable {
    /// 7 %
    case low
    /// 15 %
    case medium

    /// As the format says it. [table 12]
    var bits: Int { self == .low ? 0b01 : 0b00 }
}

/// A size of QR codes: 1 has 21 × 21 modules, each further one four more.
///
/// Up to 13, whose 69 modules and quiet zone fit into the 80 columns of a terminal.
struct QRVersion: Equatable, Sendable {
    static func all(_ level: QRLevel) -> [QRVersion] { (1...13).map { QRVersion(number: $0, level: level) } }

    let number: Int
    var level = QRLevel.medium

    var size: Int { 17 + 4 * number }

    /// Modules for data and error correction: all but patterns, format and version; in whole bytes. [7.1, table 1]
    var codewords: Int {
        var modules = (16 * number + 128) * number + 64
        if number >= 2 {
            let patterns = number / 7 + 2
            modules -= (25 * patterns - 10) * patterns - 55
            if number >= 7 { modules -= 36 }
        }
        return modules / 8
    }

    /// Error correction codewords of each block, and the number of blocks. [table 9]
    private static let mediumBlocks: [(correction: Int, count: Int)] = [
        (10, 1), (16, 1), (26, 1), (18, 2), (24, 2), (16, 4), (18, 4), (22, 4), (22, 5), (26, 5), (30, 5), (22, 8), (22, 9),
    ]
    private static let lowBlocks: [(correction: Int, count: Int)] = [
        (7, 1), (10, 1), (15, 1), (20, 1), (26, 1), (18, 2), (20, 2), (24, 2), (30, 2), (18, 4), (20, 4), (24, 4), (26, 4),
    ]
    private var blocks: (correction: Int, count: Int) { (level == .low ? Self.lowBlocks : Self.mediumBlocks)[number - 1] }
    var blockCount: Int { blocks.count }
    var correctionCodewords: Int { blocks.correction }
    var dataCodewords: Int { codewords - blockCount * correctionCodewords }

    /// Bits of the count that stands before the bytes. [table 3]
    var countBits: Int { number < 10 ? 8 : 16 }

    /// Bytes that fit behind mode and count.
    var bytesMax: Int { (dataCodewords * 8 - 4 - countBits) / 8 }

    /// Rows and columns in which the centres of alignment patterns stand. [annex E]
    var alignment: [Int] {
        switch number {
        case 1: []
        case 2...6: [6, size - 7]
        default: [6, (size - 1) / 2, size - 7]
        }
    }
}
