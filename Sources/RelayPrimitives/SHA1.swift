/// SHA-1 of a message that comes in pieces: 20 bytes. [FIPS 180-4 §6.1]
///
/// For the handshake of WebSocket (RFC 6455 §4.2.2), which asks for it, and for nothing else: two messages with one SHA-1 can
/// be made.
public struct SHA1: Sendable {
    /// Bytes of a digest.
    public static let digestBytes = 20

    private var hash = BlockHash<SHA1State>()

    /// The hash of an empty message, to which bytes are added.
    public init() {}

    /// Takes in the next piece of the message, of any size. O(bytes), nothing is allocated.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    /// Takes in the next piece of the message, of any size.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { hash.update($0) } }

    /// The digest of all that has come: 20 bytes.
    public consuming func finalize() -> [UInt8] { hash.finalize() }

    /// The digest of a whole message: 20 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA1()
        hash.update(bytes)
        return hash.finalize()
    }
}

/// The five words and the 80 rounds of SHA-1.
struct SHA1State: BlockState {
    // The initial value. [FIPS 180-4 §5.3.1]
    private var h0: UInt32 = 0x6745_2301, h1: UInt32 = 0xefcd_ab89, h2: UInt32 = 0x98ba_dcfe, h3: UInt32 = 0x1032_5476
    private var h4: UInt32 = 0xc3d2_e1f0

    init() {}

    var digest: [UInt8] { [h0, h1, h2, h3, h4].flatMap { bigEndianBytes($0) } }

    mutating func compress(_ block: UnsafeRawPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
            let schedule = words.baseAddress!
            Self.expand(block, into: schedule)
            rounds(schedule)
        }
    }

    /// The message schedule: the 16 words of the block, and 64 made of them. [FIPS 180-4 §6.1.2 step 1]
    private static func expand(_ block: UnsafeRawPointer, into schedule: UnsafeMutablePointer<UInt32>) {
        var t = 0
        while t < 16 {
            (schedule + t).initialize(to: UInt32(bigEndian: block.loadUnaligned(fromByteOffset: t * 4, as: UInt32.self)))
            t += 1
        }
        while t < 80 {
            let word = schedule[t - 3] ^ schedule[t - 8] ^ schedule[t - 14] ^ schedule[t - 16]
            (schedule + t).initialize(to: rotatedLeft(word, by: 1))
            t += 1
        }
    }

    /// Steps 2 to 4 of FIPS 180-4 §6.1.2, with the functions of §4.1.1 and the constants of §4.2.1.
    private mutating func rounds(_ schedule: UnsafePointer<UInt32>) {
        var a = h0, b = h1, c = h2, d = h3, e = h4
        var t = 0
        while t < 80 {
            let mixed: UInt32
            if t < 20 {
                mixed = (b & c ^ ~b & d) &+ 0x5a82_7999
            } else if t < 40 {
                mixed = (b ^ c ^ d) &+ 0x6ed9_eba1
            } else if t < 60 {
                mixed = (b & c ^ b & d ^ c & d) &+ 0x8f1b_bcdc
            } else {
                mixed = (b ^ c ^ d) &+ 0xca62_c1d6
            }
            let next = rotatedLeft(a, by: 5) &+ mixed &+ e &+ schedule[t]
            e = d
            d = c
            c = rotatedLeft(b, by: 30)
            b = a
            a = next
            t += 1
        }
        h0 &+= a
        h1 &+= b
        h2 &+= c
        h3 &+= d
        h4 &+= e
    }
}
