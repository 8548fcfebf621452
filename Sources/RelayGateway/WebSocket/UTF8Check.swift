/// Whether bytes that come in pieces are well-formed UTF-8, judged at the first byte that cannot be. [Unicode 16, table 3-7]
struct UTF8Check: Equatable, Sendable {
    /// Bytes that the scalar still lacks, and what the next one must be; later ones are 0x80…0xBF.
    private var missing: UInt8 = 0
    private var range: ClosedRange<UInt8> = 0x80...0xBF

    init() {}

    /// No scalar is cut.
    var isWhole: Bool { missing == 0 }

    /// - Returns: whether this can still become well-formed.
    mutating func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0, index + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            guard take(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard range.contains(byte) else { return false }
            missing -= 1
            range = 0x80...0xBF
            return true
        }
        switch byte {
        case 0x00...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, range) = (2, 0xA0...0xBF)
        case 0xED: (missing, range) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, range) = (3, 0x90...0xBF)
        case 0xF4: (missing, range) = (3, 0x80...0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }
}
