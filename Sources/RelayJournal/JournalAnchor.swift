import RelayPrimitives

/// What of a journal is durable for certain, in a file of its own: so what goes missing as a whole is noticed. 56 bytes, big-endian.
///
///     0        8           12    16         24         32                40        44         52
///     magic u64 version u32 0 u32 oldest u64 newest u64 last sequence u64 start u32 writer u64 CRC-32C u32
///
/// *Version* is that of the whole folder: whoever changes the form of any file in it, or of a value in the journal, raises it. Each start
/// writes it before anything else, so no older program takes what it does not know for damage, or leaves it out. *Writer* tells
/// people which program did.
///
/// *Oldest* and *newest*: segments that are there. *Last sequence*: of a change that is durable, or that later ones have replaced.
/// *Start*: number of the relay's newest start; 0: none is known. It outlives a journal that is lost.
///
/// It is replaced at each start, orderly end and change of segments: after a new segment is durable, and before an old one goes. So
/// it never names what is not there yet, or what was meant to go.
///
/// In every version to come the magic, the version, the writer and the CRC over the first 52 bytes stay where they are.
struct JournalAnchor: Equatable {
    static let file = "journal.anchor"
    static let byteCount = 56
    static let versionSupported: UInt32 = 1
    /// "branchor"
    private static let magic: UInt64 = 0x6272_616E_6368_6F72

    var oldest: UInt64
    var newest: UInt64
    var lastSequence: UInt64
    var start: UInt32
    var writer = ProgramVersion()

    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: Self.versionSupported)
        bytes.append(bigEndian: UInt32(0))
        for field in [oldest, newest, lastSequence] { bytes.append(bigEndian: field) }
        bytes.append(bigEndian: start)
        bytes.append(bigEndian: writer.number)
        let crc = bytes.withUnsafeBytes { CRC32C.of($0) }
        bytes.append(bigEndian: crc)
        return bytes
    }

    /// - Returns: `nil`: it is damaged. No crash leaves part of one.
    /// - Throws: `newerFormat`.
    static func read(_ bytes: [UInt8]) throws(JournalError) -> JournalAnchor? {
        try bytes.withUnsafeBytes { bytes -> Result<JournalAnchor?, JournalError> in
            guard bytes.count >= byteCount, bytes.bigEndian(at: 0) == magic,
                bytes.bigEndian(at: 52) == CRC32C.of(UnsafeRawBufferPointer(rebasing: bytes[..<52]))
            else { return .success(nil) }
            let version: UInt32 = bytes.bigEndian(at: 8)
            guard version <= versionSupported else {
                let writer = ProgramVersion(number: bytes.bigEndian(at: 44))
                return .failure(.newerFormat(file: file, found: version, writer: writer, supported: versionSupported))
            }
            return .success(
                JournalAnchor(
                    oldest: bytes.bigEndian(at: 16), newest: bytes.bigEndian(at: 24), lastSequence: bytes.bigEndian(at: 32),
                    start: bytes.bigEndian(at: 40), writer: ProgramVersion(number: bytes.bigEndian(at: 44))))
        }.get()
    }
}

extension Journal {
    /// Says durably what is there.
    ///
    /// - Parameter oldest: the first segment that will be there.
    func writeAnchor(oldest: UInt64) throws(StorageError) {
        try replace(JournalAnchor.file, with: currentAnchor(oldest: oldest).encoded())
    }

    func currentAnchor(oldest: UInt64) -> JournalAnchor {
        JournalAnchor(
            oldest: oldest, newest: segments[segments.count - 1].number, lastSequence: lastSequence, start: start,
            writer: settings.program)
    }

    /// Keeps the number of this start outside the journal, too.
    package func anchor(start: UInt32) throws(JournalError) {
        self.start = max(self.start, start)
        try storing { () throws(StorageError) in try writeAnchor(oldest: segments[0].number) }
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
