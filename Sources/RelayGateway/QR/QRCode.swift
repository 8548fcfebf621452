/// Bytes as a picture that a camera reads: byte mode. [ISO/IEC 18004:2015]
package struct QRCode: Equatable, Sendable {
    /// Most bytes that one of level M holds.
    package static let bytesMax = QRVersion.all(.medium).last!.bytesMax

    private let matrix: QRMatrix
    let mask: Int

    /// Modules of a side, without the quiet zone.
    package var size: Int { matrix.size }

    /// Whether a module is dark.
    package subscript(row: Int, column: Int) -> Bool { matrix[row, column] }

    /// The smallest code that holds the bytes.
    ///
    /// - Returns: `nil` for more than `bytesMax`, or what the level holds.
    package init?(_ bytes: [UInt8], level: QRLevel = .medium) { self.init(bytes, level: level, mask: nil) }

    /// - Parameter mask: the one to take instead of the best.
    init?(_ bytes: [UInt8], level: QRLevel = .medium, mask: Int?) {
        guard let version = QRVersion.all(level).first(where: { bytes.count <= $0.bytesMax }) else { return nil }
        self.init(version, data: Self.data(bytes, version), mask: mask)
    }

    /// - Parameter data: all data codewords, padding included.
    init(_ version: QRVersion, data: [UInt8], mask: Int?) {
        precondition(data.count == version.dataCodewords, "\(data.count) codewords for \(version.dataCodewords)")
        var unmasked = QRMatrix(version)
        unmasked.draw(Self.interleaved(data, version))
        let candidates = (mask.map { $0..<($0 + 1) } ?? QRMatrix.masks).map { mask in
            var matrix = unmasked
            matrix.apply(mask: mask)
            matrix.drawFormat(mask: mask)
            return (mask: mask, matrix: matrix, penalty: QRPenalty.total(matrix))
        }
        // Of equal ones the first.
        let best = candidates.min { $0.penalty < $1.penalty }!
        matrix = best.matrix
        self.mask = best.mask
    }

    /// Mode, count, bytes, terminator, then two bytes in turn up to the end. [7.4.5, 7.4.9, 7.4.10]
    static func data(_ bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        var bits: [Bool] = []
        bits.reserveCapacity(version.dataCodewords * 8)
        func append(_ value: Int, _ count: Int) {
            for bit in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, version.countBits)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, version.dataCodewords * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var isFirst = true
        while bits.count < version.dataCodewords * 8 {
            append(isFirst ? 0xEC : 0x11, 8)
            isFirst.toggle()
        }
        return stride(from: 0, to: bits.count, by: 8).map { start in bits[start..<(start + 8)].reduce(0) { $0 << 1 | ($1 ? 1 : 0) } }
    }

    /// The data in blocks, the shorter ones first, each with its error correction; then the first codeword of each block, the
    /// second, and so on, data before correction. [7.6]
    static func interleaved(_ data: [UInt8], _ version: QRVersion) -> [UInt8] {
        let generator = ReedSolomon.generator(version.correctionCodewords)
        let short = data.count / version.blockCount, longer = data.count % version.blockCount
        var blocks: [ArraySlice<UInt8>] = []
        var start = 0
        for index in 0..<version.blockCount {
            let count = short + (index < version.blockCount - longer ? 0 : 1)
            blocks.append(data[start..<(start + count)])
            start += count
        }
        let corrections = blocks.map { ReedSolomon.remainder($0, by: generator)[...] }
        return column(blocks) + column(corrections)
    }

    private static func column(_ blocks: [ArraySlice<UInt8>]) -> [UInt8] {
        (0..<(blocks.map(\.count).max() ?? 0)).flatMap { index in
            blocks.compactMap { index < $0.count ? $0[$0.startIndex + index] : nil }
        }
    }
}
