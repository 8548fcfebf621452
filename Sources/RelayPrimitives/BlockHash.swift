/// The compression function of a hash with blocks of 64 bytes, and what it has come to so far. [FIPS 180-4 §6]
protocol BlockState: Sendable {
    init()

    /// Takes in the 64 bytes at `block`.
    mutating func compress(_ block: UnsafeRawPointer)

    /// The words of the state, one behind the other, each big-endian.
    var digest: [UInt8] { get }
}

/// Cuts a message into blocks of 64 bytes and pads the last: what SHA-1 and SHA-256 share. [FIPS 180-4 §5.1.1, §5.2.1]
///
/// Nothing is allocated before the digest.
struct BlockHash<State: BlockState>: Sendable {
    private var state = State()
    /// The beginning of an incomplete block: its first `pendingCount` bytes, 0…63 of them.
    private var pending = SIMD64<UInt8>()
    private var pendingCount = 0
    private var byteCount: UInt64 = 0

    init() {}

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        byteCount &+= UInt64(bytes.count)
        var index = 0
        if pendingCount > 0 {
            index = min(blockBytes - pendingCount, bytes.count)
            keep(UnsafeRawBufferPointer(start: start, count: index))
            guard pendingCount == blockBytes else { return }
            compressPending()
        }
        while bytes.count - index >= blockBytes {
            state.compress(start + index)
            index += blockBytes
        }
        keep(UnsafeRawBufferPointer(start: start + index, count: bytes.count - index))
    }

    /// Pads with a one bit, zeros and the length in bits as u64, so that the last block is whole. [FIPS 180-4 §5.1.1]
    consuming func finalize() -> [UInt8] {
        let bitCount = byteCount &* 8
        appendPending(0x80)
        if pendingCount > blockBytes - 8 {
            while pendingCount < blockBytes { appendPending(0) }
            compressPending()
        }
        while pendingCount < blockBytes - 8 { appendPending(0) }
        for byte in bigEndianBytes(bitCount) { appendPending(byte) }
        compressPending()
        return state.digest
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        let count = pendingCount
        withUnsafeMutableBytes(of: &pending) { UnsafeMutableRawBufferPointer(rebasing: $0[count...]).copyMemory(from: bytes) }
        pendingCount += bytes.count
    }

    private mutating func appendPending(_ byte: UInt8) {
        pending[pendingCount] = byte
        pendingCount += 1
    }

    private mutating func compressPending() {
        let block = pending
        withUnsafeBytes(of: block) { state.compress($0.baseAddress!) }
        pendingCount = 0
    }
}

/// Bytes of a block of SHA-1, SHA-256 and of an HMAC over it.
let blockBytes = 64

/// Most significant byte first.
func bigEndianBytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

// In these functions and in the rounds the shifts are `&>>` and `&<<` and the loops `while`: an unoptimized build, in which
// the tests run, makes function calls of the others.
@inline(__always) func rotatedLeft(_ word: UInt32, by count: UInt32) -> UInt32 { word &<< count | word &>> (32 &- count) }
@inline(__always) func rotatedRight(_ word: UInt32, by count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }
