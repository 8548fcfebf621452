/// What of a journal is durable for certain, in a file of its own: so what goes missing as a whole is noticed. 56 bytes, big-endian.
///
///     0        8           12    16         24         32                40         48    52
///     magic u64 version u32 0 u32 oldest u64 newest u64 last sequence u64 forgone u64 0 u32 CRC-32C u32
///
/// *Oldest* and *newest*: segments that are there. *Last sequence*: of a change that is durable, or that later ones have replaced.
/// *Forgone*: the newest segment that was missing when an operator went on without it; 0: none was.
///
/// It is replaced at each start, orderly end and change of segments: after a new segment is durable, and before an old one goes. So
/// it never names what is not there yet, or what was meant to go.
///
/// In every version to come the magic, the version and the CRC over the first 52 bytes stay where they are.
struct JournalAnchor: Hashable {
    static let file = "journal.anchor"
    static let byteCount = 56
    static let versionSupported: UInt32 = 1
    /// "branchor"
    private static let magic: UInt64 = 0x6272_616E_6368_6F72

    var oldest: UInt64
    var newest: UInt64
    var lastSequence: UInt64
    var forgone: UInt64

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: Self.versionSupported)
        bytes.append(bigEndian: UInt32(0))
        for field in [oldest, newest, lastSequence, forgone] { bytes.append(bigEndian: field) }
        bytes.append(bigEndian: UInt32(0))
        let crc = bytes.withUnsafeBytes { CRC32C.of($0) }
        bytes.append(bigEndian: crc)
        return bytes
    }

    /// - Throws: `newerFormat`, or `anchorDamaged`. No crash leaves part of one.
    static func read(_ bytes: [UInt8]) throws(JournalError) -> JournalAnchor {
        try bytes.withUnsafeBytes { bytes -> Result<JournalAnchor, JournalError> in
            guard bytes.count >= byteCount, bytes.bigEndian(at: 0) == magic,
                bytes.bigEndian(at: 52) == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<52]))
            else { return .failure(.anchorDamaged) }
            let version: UInt32 = bytes.bigEndian(at: 8)
            guard version <= versionSupported else {
                return .failure(.newerFormat(file: file, found: version, supported: versionSupported))
            }
            return .success(
                JournalAnchor(
                    oldest: bytes.bigEndian(at: 16), newest: bytes.bigEndian(at: 24), lastSequence: bytes.bigEndian(at: 32),
                    forgone: bytes.bigEndian(at: 40)))
        }.get()
    }
}

extension Journal {
    /// Says durably what is there.
    ///
    /// - Parameter oldest: the first segment that will be there.
    func writeAnchor(oldest: UInt64) throws(StorageError) {
        let anchor = JournalAnchor(
            oldest: oldest, newest: segments[segments.count - 1].number, lastSequence: lastSequence, forgone: forgoneSegment)
        try replace(JournalAnchor.file, with: anchor.encoded())
    }

    /// Under this name is all of it, or what was there before.
    func replace(_ file: String, with bytes: [UInt8]) throws(StorageError) {
        let draft = JournalFile.draft(file)
        if try storage.list().contains(draft) { try storage.remove(draft) }
        try storage.create(draft)
        try storage.write(bytes, to: draft, at: 0)
        try storage.sync(draft)
        try storage.rename(draft, to: file)
        try storage.syncFolder()
    }
}

extension Opening {
    /// What the anchor says is there. Without one nothing is required: an operator removes it to go on with what is left.
    func requireAnchored(lastSequence: UInt64) throws(JournalError) {
        guard let anchor else { return }
        let oldest = found.first { $0.number == anchor.oldest }, newest = found.first { $0.number == anchor.newest }
        guard oldest != nil else { throw .segmentMissing(file: JournalFile.segment(anchor.oldest)) }
        // Its header was durable before the anchor named it.
        guard let newest, newest.size >= SegmentHeader.byteCount else {
            throw .segmentMissing(file: JournalFile.segment(anchor.newest))
        }
        if newestMissing > anchor.forgone { throw .segmentMissing(file: JournalFile.segment(newestMissing)) }
        guard lastSequence >= anchor.lastSequence else { throw .endsEarly(at: lastSequence, durable: anchor.lastSequence) }
    }

    /// Of the segments that headers name; 0: none is missing.
    var newestMissing: UInt64 { report.missing.compactMap(JournalFile.number).max() ?? 0 }
}
