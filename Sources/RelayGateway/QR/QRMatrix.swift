/// The modules of a QR code while it is drawn: which are dark, and which belong to patterns.
struct QRMatrix: Equatable, Sendable {
    let version: QRVersion
    let size: Int
    private(set) var dark: [Bool]
    /// Finder, timing and alignment patterns, format and version: neither data nor masked.
    private var isPattern: [Bool]

    init(_ version: QRVersion) {
        self.version = version
        size = version.size
        dark = [Bool](repeating: false, count: size * size)
        isPattern = dark
        drawPatterns()
    }

    subscript(row: Int, column: Int) -> Bool { dark[row * size + column] }

    private mutating func pattern(_ row: Int, _ column: Int, _ isDark: Bool) {
        dark[row * size + column] = isDark
        isPattern[row * size + column] = true
    }

    // MARK: - Patterns [6.3]

    private mutating func drawPatterns() {
        for index in 0..<size {
            pattern(6, index, index.isMultiple(of: 2))
            pattern(index, 6, index.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { square(row, column, rings: 4, light: [2, 4]) }
        let centres = version.alignment
        for row in centres {
            for column in centres where !isFinder(row, column) { square(row, column, rings: 2, light: [1]) }
        }
        // Until the mask is chosen: which modules they are has to be known before.
        drawFormat(mask: 0)
        drawVersion()
    }

    private func isFinder(_ row: Int, _ column: Int) -> Bool {
        row == 6 && column == 6 || row == 6 && column == size - 7 || row == size - 7 && column == 6
    }

    /// Rings around a centre, as far as they lie inside.
    private mutating func square(_ row: Int, _ column: Int, rings: Int, light: Set<Int>) {
        for y in max(0, row - rings)...min(size - 1, row + rings) {
            for x in max(0, column - rings)...min(size - 1, column + rings) {
                pattern(y, x, !light.contains(max(abs(y - row), abs(x - column))))
            }
        }
    }

    /// Level and mask, twice, with ten bits of error correction. [7.9.1]
    mutating func drawFormat(mask: Int) {
        let bits = Self.formatBits(version.level, mask: mask)
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        // Around the finder at the top left …
        for index in 0...5 { pattern(index, 8, bit(index)) }
        pattern(7, 8, bit(6))
        pattern(8, 8, bit(7))
        pattern(8, 7, bit(8))
        for index in 9..<15 { pattern(8, 14 - index, bit(index)) }
        // … and divided between the other two.
        for index in 0..<8 { pattern(8, size - 1 - index, bit(index)) }
        for index in 8..<15 { pattern(size - 15 + index, 8, bit(index)) }
        pattern(size - 8, 8, true)
    }

    static func formatBits(_ level: QRLevel, mask: Int) -> Int {
        let value = level.bits << 3 | mask
        return (value << 10 | bch(value, degree: 10, polynomial: 0x537)) ^ 0x5412
    }

    /// The version, twice, with twelve bits of error correction. [7.10]
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        let bits = Self.versionBits(version.number)
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            pattern(near, far, bits >> index & 1 == 1)
            pattern(far, near, bits >> index & 1 == 1)
        }
    }

    static func versionBits(_ number: Int) -> Int { number << 12 | bch(number, degree: 12, polynomial: 0x1F25) }

    private static func bch(_ value: Int, degree: Int, polynomial: Int) -> Int {
        var remainder = value
        for _ in 0..<degree { remainder = remainder << 1 ^ (remainder >> (degree - 1) & 1) * polynomial }
        return remainder
    }

    // MARK: - Data [7.7.3]

    /// Fills what is left, two columns at a time from the right, upwards and downwards in turn.
    mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        var isUpwards = true
        var right = size - 1
        while right > 0 {
            // The timing pattern has a column of its own.
            if right == 6 { right = 5 }
            for step in 0..<size {
                let row = isUpwards ? size - 1 - step : step
                for column in [right, right - 1] where !isPattern[row * size + column] {
                    // Up to seven modules are left over, and light.
                    guard index < codewords.count * 8 else { continue }
                    dark[row * size + column] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            isUpwards.toggle()
            right -= 2
        }
    }

    // MARK: - Masks [7.8]

    static let masks = 0..<8

    /// Applying the same mask again takes it away.
    mutating func apply(mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isPattern[row * size + column] && Self.inverts(mask, row, column) {
                dark[row * size + column].toggle()
            }
        }
    }

    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        case 7: ((row + column) % 2 + row * column % 3) % 2 == 0
        default: preconditionFailure("no mask \(mask)")
        }
    }
}
