/// SHA-256 of a message that comes in pieces: 32 bytes. [FIPS 180-4 §6.2]
///
/// A copy goes on from where the original was. Messages have less than 2⁶¹ bytes.
public struct SHA256: Sendable {
    /// Bytes of a digest.
    public static let digestBytes = 32

    private var hash = BlockHash<SHA256State>()

    /// The hash of an empty message, to which bytes are added.
    public init() {}

    /// Takes in the next piece of the message, of any size. O(bytes), nothing is allocated.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    /// Takes in the next piece of the message, of any size.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { hash.update($0) } }

    /// The digest of all that has come: 32 bytes.
    public consuming func finalize() -> [UInt8] { hash.finalize() }

    /// The digest of a whole message: 32 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }
}

/// The eight words and the 64 rounds of SHA-256.
struct SHA256State: BlockState {
    // The initial value: the first 32 bits of the fractions of the square roots of the first eight primes. [FIPS 180-4 §5.3.3]
    private var h0: UInt32 = 0x6a09_e667, h1: UInt32 = 0xbb67_ae85, h2: UInt32 = 0x3c6e_f372, h3: UInt32 = 0xa54f_f53a
    private var h4: UInt32 = 0x510e_527f, h5: UInt32 = 0x9b05_688c, h6: UInt32 = 0x1f83_d9ab, h7: UInt32 = 0x5be0_cd19

    init() {}

    var digest: [UInt8] { [h0, h1, h2, h3, h4, h5, h6, h7].flatMap { bigEndianBytes($0) } }

    mutating func compress(_ block: UnsafeRawPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            let schedule = words.baseAddress!
            Self.expand(block, into: schedule)
            Self.constants.withUnsafeBufferPointer { rounds(schedule, $0.baseAddress!) }
        }
    }

    /// The message schedule: the 16 words of the block, and 48 made of them. [FIPS 180-4 §6.2.2 step 1]
    private static func expand(_ block: UnsafeRawPointer, into schedule: UnsafeMutablePointer<UInt32>) {
        var t = 0
        while t < 16 {
            (schedule + t).initialize(to: UInt32(bigEndian: block.loadUnaligned(fromByteOffset: t * 4, as: UInt32.self)))
            t += 1
        }
        while t < 64 {
            let w2 = schedule[t - 2], w15 = schedule[t - 15]
            let sigma1 = rotatedRight(w2, by: 17) ^ rotatedRight(w2, by: 19) ^ w2 &>> 10
            let sigma0 = rotatedRight(w15, by: 7) ^ rotatedRight(w15, by: 18) ^ w15 &>> 3
            (schedule + t).initialize(to: sigma1 &+ schedule[t - 7] &+ sigma0 &+ schedule[t - 16])
            t += 1
        }
    }

    /// Steps 2 to 4 of FIPS 180-4 §6.2.2, with the functions of §4.1.2.
    private mutating func rounds(_ schedule: UnsafePointer<UInt32>, _ constants: UnsafePointer<UInt32>) {
        var a = h0, b = h1, c = h2, d = h3, e = h4, f = h5, g = h6, h = h7
        var t = 0
        while t < 64 {
            let sum1 = rotatedRight(e, by: 6) ^ rotatedRight(e, by: 11) ^ rotatedRight(e, by: 25)
            let choice = e & f ^ ~e & g
            let t1 = h &+ sum1 &+ choice &+ constants[t] &+ schedule[t]
            let sum0 = rotatedRight(a, by: 2) ^ rotatedRight(a, by: 13) ^ rotatedRight(a, by: 22)
            let majority = a & b ^ a & c ^ b & c
            h = g
            g = f
            f = e
            e = d &+ t1
            d = c
            c = b
            b = a
            a = t1 &+ sum0 &+ majority
            t += 1
        }
        h0 &+= a
        h1 &+= b
        h2 &+= c
        h3 &+= d
        h4 &+= e
        h5 &+= f
        h6 &+= g
        h7 &+= h
    }

    /// The first 32 bits of the fractions of the cube roots of the first 64 primes. [FIPS 180-4 §4.2.2]
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
