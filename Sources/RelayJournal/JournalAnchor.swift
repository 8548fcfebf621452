/// What of a journal is durable for certain: a file of its own, so that what goes missing as a whole is noticed. 48 bytes, big-endian.
///
///     0        8           12     16         24         32                40    44
///     magic u64 version u32 0 u32 oldest u64 newest u64 last sequence u64 0 u32 CRC-32C u32
///
/// *Oldest* and *newest*: segments that are there. *Last sequence*: of a record that is there, or that later ones have replaced.
///
/// It is replaced at each start and each change of segments: after a new segment is durable, and before an old one goes. So it
/// never names what is not there yet, or what was meant to go.
struct JournalAnchor: Hashable {
    static let file = "journal.anchor"
    static let byteCount = 48
    static let versionSupported: UInt32 = 1
    /// "branchor"
    private static let magic: UInt64 = 0x6272_616E_6368_6F72

    var oldest: UInt64
    var newest: UInt64
    var lastSequence: UInt64

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: Self.versionSupported)
        bytes.append(bigEndian: UInt32(0))
        for field in [oldest, newest, lastSequence] { bytes.append(bigEndian: field) }
        bytes.append(bigEndian: UInt32(0))
        let crc = bytes.withUnsafeBytes { CRC32C.of($0) }
        bytes.append(bigEndian: crc)
        return bytes
    }

    /// - Throws: `newerFormat`, or `anchorDamaged`: a crash leaves the whole of it, the one before it, or none.
    static func read(_ bytes: [UInt8]) throws(JournalError) -> JournalAnchor {
        try bytes.withUnsafeBytes { bytes -> Result<JournalAnchor, JournalError> in
            guard bytes.count == byteCount, bytes.bigEndian(at: 0) == magic,
                bytes.bigEndian(at: 44) == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<44]))
            else { return .failure(.anchorDamaged) }
            let version: UInt32 = bytes.bigEndian(at: 8)
            guard version <= versionSupported else {
                return .failure(.newerFormat(file: file, found: version, supported: versionSupported))
            }
            return .success(
                JournalAnchor(oldest: bytes.bigEndian(at: 16), newest: bytes.bigEndian(at: 24), lastSequence: bytes.bigEndian(at: 32)))
        }.get()
    }
}

extension Journal {
    /// Says durably what is there.
    ///
    /// - Parameter oldest: the first segment that will be there.
    func writeAnchor(oldest: UInt64) throws(StorageError) {
        let anchor = JournalAnchor(oldest: oldest, newest: segments[segments.count - 1].number, lastSequence: lastSequence)
        let draft = JournalFile.draft(JournalAnchor.file)
        if try storage.list().contains(draft) { try storage.remove(draft) }
        try storage.create(draft)
        try storage.write(anchor.encoded(), to: draft, at: 0)
        try storage.sync(draft)
        try storage.rename(draft, to: JournalAnchor.file)
        try storage.syncFolder()
    }
}

extension Opening {
    /// What the anchor says is there. Without one, what is missing is told and not asked for: who removes it wants that.
    func requireAnchored(lastSequence: UInt64) throws(JournalError) {
        guard let anchor else { return }
        for number in [anchor.oldest, anchor.newest] where !found.contains(where: { $0.number == number }) {
            throw .segmentMissing(file: JournalFile.segment(number))
        }
        if let file = report.missing.first { throw .segmentMissing(file: file) }
        guard lastSequence >= anchor.lastSequence else { throw .endsEarly(at: lastSequence, durable: anchor.lastSequence) }
    }
}
