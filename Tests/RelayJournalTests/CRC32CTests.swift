import RelayJournal
import Testing

@Suite struct CRC32CTests {
    /// RFC 3720, B.4, and the check value of the catalogues. The RFC prints checksums in the order of the wire, lowest
    /// byte first.
    static let vectors: [(name: String, bytes: [UInt8], crc: UInt32)] = [
        ("nothing", [], 0),
        ("123456789", Array("123456789".utf8), 0xE306_9283),
        ("32 zeros", [UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ("32 ones", [UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        ("32 rising", Array(0..<32), 0x46DD_794E),
        ("32 falling", Array((0..<32).reversed()), 0x113F_DB5C),
        (
            "an iSCSI read command",
            [
                0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0,
                0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
            ], 0xD996_3A56
        ),
    ]

    @Test("CRC-32C gives what RFC 3720 says", arguments: vectors.indices)
    func vector(index: Int) {
        let vector = Self.vectors[index]
        #expect(vector.bytes.withUnsafeBytes { CRC32C.of($0) } == vector.crc, "\(vector.name)")
    }

    @Test("CRC-32C is the same however the bytes are cut")
    func cuts() {
        let bytes = Self.vectors[6].bytes
        for cut in 0...bytes.count {
            var crc = CRC32C()
            bytes[..<cut].withUnsafeBytes { crc.update($0) }
            bytes[cut...].withUnsafeBytes { crc.update($0) }
            #expect(crc.value == Self.vectors[6].crc, "cut at \(cut)")
        }
    }
}
