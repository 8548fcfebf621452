/// CRC-32C (Castagnoli), the checksum of iSCSI and of most journals: RFC 3720, B.4 has its vectors.
///
/// Eight bytes a step, by eight tables ("slicing by 8"): no instruction of a certain processor is needed.
package struct CRC32C: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    package init() {}

    package var value: UInt32 { ~state }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        var crc = state
        Self.tables.withUnsafeBufferPointer { tables in
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(crc)
                crc = tables[0x700 + Int(word & 0xFF)] ^ tables[0x600 + Int(word >> 8 & 0xFF)]
                    ^ tables[0x500 + Int(word >> 16 & 0xFF)] ^ tables[0x400 + Int(word >> 24 & 0xFF)]
                crc ^= tables[0x300 + Int(word >> 32 & 0xFF)] ^ tables[0x200 + Int(word >> 40 & 0xFF)]
                    ^ tables[0x100 + Int(word >> 48 & 0xFF)] ^ tables[Int(word >> 56)]
                offset += 8
            }
            while offset < bytes.count {
                crc = crc >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[offset])]
                offset += 1
            }
        }
        state = crc
    }

    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes)
        return crc.value
    }

    /// Eight tables of 256: what a byte does to the checksum, followed by 0…7 zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<tables.count {
            let shorter = tables[index - 256]
            tables[index] = shorter >> 8 ^ tables[Int(shorter & 0xFF)]
        }
        return tables
    }()
}
