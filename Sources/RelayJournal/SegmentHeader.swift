import RelayPrimitives

/// The first 64 bytes of a segment. Big-endian.
///
///     0        8        12      16       24         32            40       48             56   60
///     magic u64 version u32 mark u32 number u64 previous u64 its length u64 oldest u64 last sequence u64 0 u32 CRC-32C u32
///
/// *Previous* and its *length* say how far the segment before this one counts: what a failed write or sync has left
/// behind that is given up, and so is every segment between the two. 0: no earlier segment.
/// *Oldest*: whatever has a lower number was removed, should it come back.
/// *Last sequence*: of the last record in all segments before; it outlives their removal.
///
/// In every version to come the magic, the version and the CRC over the first 60 bytes stay where they are.
struct SegmentHeader: Equatable {
    static let byteCount = 64
    static let versionSupported: UInt32 = 1
    /// "brjournl"
    private static let magic: UInt64 = 0x6272_6A6F_7572_6E6C

    var mark: UInt32
    var number: UInt64
    var previous: UInt64
    var previousLength: UInt64
    var oldest: UInt64
    var lastSequence: UInt64

    enum Reading: Equatable { case header(SegmentHeader), newer(UInt32), damaged }

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: Self.versionSupported)
        bytes.append(bigEndian: mark)
        for field in [number, previous, previousLength, oldest, lastSequence] { bytes.append(bigEndian: field) }
        bytes.append(bigEndian: UInt32(0))
        let crc = bytes.withUnsafeBytes { CRC32C.of($0) }
        bytes.append(bigEndian: crc)
        return bytes
    }

    static func read(_ bytes: [UInt8]) -> Reading {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count >= byteCount, bytes.bigEndian(at: 0) == magic else { return .damaged }
            guard bytes.bigEndian(at: 60) == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<60])) else { return .damaged }
            let version: UInt32 = bytes.bigEndian(at: 8)
            guard version <= versionSupported else { return .newer(version) }
            return .header(
                SegmentHeader(
                    mark: bytes.bigEndian(at: 12), number: bytes.bigEndian(at: 16), previous: bytes.bigEndian(at: 24),
                    previousLength: bytes.bigEndian(at: 32), oldest: bytes.bigEndian(at: 40), lastSequence: bytes.bigEndian(at: 48)))
        }
    }
}

/// Names of the journal's files.
enum JournalFile {
    static func segment(_ number: UInt64) -> String { "journal-\(hexadecimal(number)).log" }

    /// The number in a segment's name; `nil` for every other name.
    static func number(_ name: String) -> UInt64? {
        let text = name.utf8
        guard text.count == 28, let number = UInt64(Substring(text.dropFirst(8).dropLast(4)), radix: 16), segment(number) == name
        else { return nil }
        return number
    }

    static func quarantine(_ segment: UInt64, at offset: Int) -> String { "quarantine-\(hexadecimal(segment))-\(offset).bin" }

    /// What a file is called until it is whole.
    static func draft(_ name: String) -> String { name + draftSuffix }
    static func isDraft(_ name: String) -> Bool { name.hasPrefix("quarantine-") && name.hasSuffix(draftSuffix) }
    private static let draftSuffix = ".draft"
}
