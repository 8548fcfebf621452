import RelayPrimitives
import RelayWire
import Testing

@Suite struct UTF8Tests {
    private func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { isValidUTF8($0) } }

    /// Whether Swift's own decoder takes the bytes.
    private func swift(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// The bytes at which a range of table 3-7 begins or ends, and their neighbours.
    private static let edges: [UInt8] = [
        0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF,
    ]

    @Test("[FR8] text is valid exactly when Swift says so: every edge of Unicode's table 3-7")
    func table() {
        var wrong: [String] = []
        func compare(_ bytes: [UInt8]) {
            if isValid(bytes) != swift(bytes) { wrong.append(bytes.hex) }
        }
        compare([])
        for first in UInt8.min...UInt8.max {
            compare([first])
            for second in Self.edges {
                compare([first, second])
                for third in [0x7F, 0x80, 0xBF, 0xC0] as [UInt8] {
                    compare([first, second, third])
                    guard first >= 0xE0 else { continue }
                    for fourth in [0x7F, 0x80, 0xBF, 0xC0] as [UInt8] { compare([first, second, third, fourth]) }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) differ, among them \(wrong.prefix(10))")
    }

    @Test("[FR8] the first and last scalar of each length pass, overlong forms, surrogates and more than U+10FFFF do not")
    func named() {
        let good: [[UInt8]] = [
            [0x00], [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
            [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
        ]
        let bad: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
        ]
        for bytes in good { #expect(isValid(bytes), "\(bytes.hex)") }
        for bytes in bad { #expect(!isValid(bytes), "\(bytes.hex)") }
        // The same behind and before text, so that the eight-byte steps begin and end everywhere.
        for shift in 0...17 {
            let ascii = [UInt8](repeating: 0x61, count: shift)
            for bytes in good { #expect(isValid(ascii + bytes + ascii), "\(bytes.hex) after \(shift)") }
            for bytes in bad { #expect(!isValid(ascii + bytes + ascii), "\(bytes.hex) after \(shift)") }
        }
    }

    @Test("[FR8] text is valid exactly when Swift says so: seeded random bytes", arguments: UInt64(1)...8)
    func random(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var wrong: [String] = []
        var valid = 0
        for _ in 0..<3_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: bytes.append(UInt8.random(in: 0...255, using: &generator))
                case 1: bytes.append(Self.edges.randomElement(using: &generator)!)
                case 2...8: bytes += [UInt8](repeating: 0x61, count: Int.random(in: 0...9, using: &generator))
                default:
                    // As many short ones as long ones, so that each range of the table has its turn.
                    let number = UInt32.random(in: 0...0x1F_FFFF, using: &generator) >> UInt32.random(in: 0...14, using: &generator)
                    let scalar = Unicode.Scalar(number) ?? "é"
                    bytes += Array(String(scalar).utf8)
                }
            }
            if Int.random(in: 0..<4, using: &generator) == 0, !bytes.isEmpty { bytes.removeLast() }
            if Bool.random(using: &generator), let index = bytes.indices.randomElement(using: &generator) {
                bytes[index] = Self.edges.randomElement(using: &generator)!
            }
            if isValid(bytes) { valid += 1 }
            if isValid(bytes) != swift(bytes) { wrong.append(bytes.hex) }
        }
        #expect(wrong.isEmpty, "\(wrong.count) differ, among them \(wrong.prefix(10))")
        #expect((300...2_700).contains(valid), "\(valid) of 3000 valid: a run of only one kind shows nothing")
    }
}
