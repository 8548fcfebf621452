/// Tells whether two clients hold the same board: 128 bits over its records, whatever the order in which they came.
///
/// Each record is hashed by itself and the hashes are added, so a digest follows a board as it changes: `insert` what
/// comes, `remove` what it takes the place of. **Not cryptographic**: it finds mistakes, not forgers, who can make two
/// boards with one digest. docs/examples/board_digest.py has the arithmetic for other languages.
public struct BoardDigest: Hashable, Sendable, CustomStringConvertible {
    private var first: UInt64 = 0
    private var second: UInt64 = 0
    /// Records in it.
    public private(set) var records = 0

    /// Of an empty board.
    public init() {}

    public init(_ records: some Sequence<WhiteboardRecord>) {
        for record in records { insert(record) }
    }

    public mutating func insert(_ record: WhiteboardRecord) {
        let hash = RecordHash(record)
        first &+= hash.first
        second &+= hash.second
        records += 1
    }

    /// Undoes `insert` of an equal record.
    public mutating func remove(_ record: WhiteboardRecord) {
        let hash = RecordHash(record)
        first &-= hash.first
        second &-= hash.second
        records -= 1
    }

    /// 32 hexadecimal digits.
    public var description: String {
        [first, second].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}

/// Two lanes of 64 bits, fed with 8 bytes at a time; for a given step each lane is one-to-one in the word it takes.
private struct RecordHash {
    private(set) var first: UInt64 = 0x243F_6A88_85A3_08D3
    private(set) var second: UInt64 = 0x1319_8A2E_0370_7344

    init(_ record: WhiteboardRecord) {
        // Lengths stand before what they count, and an absent custom type is not an empty one: no two records are the
        // same sequence of words.
        add(Array(record.key.utf8))
        if let customType = record.customType {
            add(Array(customType.utf8))
        } else {
            add(word: .max)
        }
        switch record.payload {
        case .text(let text):
            add(word: 1)
            add(Array(text.utf8))
        case .bytes(let bytes):
            add(word: 2)
            add(bytes)
        }
        (first, second) = (Self.mix(first ^ Self.rotated(second, 32)), Self.mix(second &+ first))
    }

    private mutating func add(_ bytes: [UInt8]) {
        add(word: UInt64(bytes.count))
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                add(word: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                place += 8
            }
            guard place < bytes.count else { return }
            var word: UInt64 = 0
            for index in (place..<bytes.count).reversed() { word = word << 8 | UInt64(bytes[index]) }
            add(word: word)
        }
    }

    private mutating func add(word: UInt64) {
        first = Self.rotated(first ^ word, 29) &* 0x9E37_79B9_7F4A_7C15
        second = Self.rotated(second &+ word, 31) &* 0xC2B2_AE3D_27D4_EB4F
    }

    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }

    private static func mix(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}
