import RelayGateway
import RelayIO
import RelayJournal
internal import RelayPrimitives
import RelaySystem
import RelayWire

/// What `boardrelay backup --json` prints, with the file.
package struct BackupReport: JSONObject, Sendable {
    /// Of the data folder.
    package var files = 0
    /// Of the archive.
    package var bytes = 0

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("bytes", &bytes)
        json("files", &files)
    }
}

/// A backup of the data folder of a relay that runs, on its way to who asked for it. [SG4]
///
/// It has the journal, the boards, the keys and the relay's name in the network; not what belongs to a process, what a start has kept
/// aside as damaged, and files that stand elsewhere.
///
/// On the socket pieces of the archive come, a length (u32, big-endian) before each. 0 ends them; behind it a report or a refusal stands.
@available(macOS 15, iOS 18, *)
struct Backup {
    private let journal: JournalWriter
    private var report = BackupReport()
    /// A piece could not be sent whole.
    private var isCut = false

    /// Longest piece that is taken.
    static let pieceBytesMax = 1 << 26

    init(of journal: JournalWriter) { self.journal = journal }

    /// Sends all of it, then how it has ended.
    ///
    /// - Returns: for the log.
    mutating func send(by send: ([UInt8]) -> Bool) -> String {
        let answer: any JSONObject, words: String
        do throws(RelayServerError) {
            try sendFiles(by: send)
            (answer, words) = (report, "made a backup of \(report.files) files, \(report.bytes) bytes")
        } catch {
            (answer, words) = (ControlRefusal(error.text), "did not get a backup: \(error.text)")
        }
        if !isCut { Self.end(with: answer, by: send) }
        return words
    }

    static func refuse(_ text: String, by send: ([UInt8]) -> Bool) { end(with: ControlRefusal(text), by: send) }

    private static func end(with answer: any JSONObject, by send: ([UInt8]) -> Bool) {
        _ = send([0, 0, 0, 0] + JSONBody.encode(answer) + Array("\n".utf8))
    }

    private mutating func sendFiles(by send: ([UInt8]) -> Bool) throws(RelayServerError) {
        guard let folder = journal.path else { throw RelayServerError(text: "this relay keeps nothing on a disk") }
        let copy = try journal.beginCopy()
        defer { journal.endCopy() }
        let now = SystemClock.wallMilliseconds()
        var archive = BackupArchive(relay: Program.version, made: HTTPDate.text(wallMilliseconds: now), seconds: now / 1000)
        for file in copy.files {
            guard file.byteCount <= TarHeader.fileBytesMax else {
                throw RelayServerError(text: "\(file.name) has \(file.byteCount) bytes, an archive takes \(TarHeader.fileBytesMax)")
            }
            try pass(archive.begin(file.name, byteCount: file.byteCount), by: send)
            var offset = 0
            while offset < file.byteCount {
                let bytes = try journal.readCopy(of: file, at: offset)
                archive.add(bytes)
                try pass(bytes, by: send)
                offset += bytes.count
            }
            try pass(archive.end(), by: send)
        }
        for (name, bytes) in [(copy.anchorFile, copy.anchor)] + (try smallFiles(folder)) {
            try pass(archive.begin(name, byteCount: bytes.count), by: send)
            archive.add(bytes)
            try pass(bytes, by: send)
            try pass(archive.end(), by: send)
        }
        try pass(archive.finish(), by: send)
        report.files = archive.fileCount
    }

    /// Each is replaced as a whole, whoever reads it meanwhile.
    private func smallFiles(_ folder: String) throws(RelayServerError) -> [(String, [UInt8])] {
        var files: [(String, [UInt8])] = []
        for name in AccessKeys.Kind.allCases.map({ $0.rawValue + ".key" }) + ["name"] {
            do throws(PrivateFile.Failure) {
                let path = folder + (folder.hasSuffix("/") ? "" : "/") + name
                if let bytes = try PrivateFile.read(path, bytesMax: KeyRing.fileBytesMax) { files.append((name, bytes)) }
            } catch {
                throw RelayServerError(text: "\(error)")
            }
        }
        return files
    }

    private mutating func pass(_ bytes: [UInt8], by send: ([UInt8]) -> Bool) throws(RelayServerError) {
        guard !bytes.isEmpty else { return }
        var piece: [UInt8] = []
        piece.reserveCapacity(4 + bytes.count)
        piece.append(bigEndian: UInt32(bytes.count))
        piece += bytes
        guard send(piece) else {
            isCut = true
            throw RelayServerError(text: "who asked for it has gone, or took nothing for \(UnixListener.streamSeconds) s")
        }
        report.bytes += bytes.count
    }
}

/// The other end: pieces out of what comes on the socket.
@available(macOS 15, iOS 18, *)
struct BackupPieces {
    private var buffer: [UInt8] = []
    /// Behind the pieces.
    private var last: [UInt8]?

    mutating func read(_ bytes: [UInt8], _ take: ([UInt8]) throws -> Void) throws {
        guard last == nil else {
            last?.append(contentsOf: bytes)
            return
        }
        buffer += bytes
        var start = 0
        while buffer.count - start >= 4 {
            let count = Int(buffer.withUnsafeBytes { $0.bigEndian(at: start, as: UInt32.self) })
            guard count > 0 else {
                last = Array(buffer[(start + 4)...])
                break
            }
            guard count <= Backup.pieceBytesMax else { throw RelayServerError(text: "the relay's version does not know this request") }
            guard buffer.count - start - 4 >= count else { break }
            try take(Array(buffer[(start + 4)..<(start + 4 + count)]))
            start += 4 + count
        }
        buffer.removeFirst(start)
    }

    func finish() throws(RelayServerError) -> BackupReport {
        func read<Body: JSONObject>(_ type: Body.Type) -> Body? { (last ?? []).withUnsafeBytes { try? JSONBody.decode(type, from: $0) } }
        if let report = read(BackupReport.self) { return report }
        throw RelayServerError(
            text: read(ControlRefusal.self)?.error
                ?? "the backup ends early: the relay has ended, or waited too long for its bytes to be taken")
    }
}

@available(macOS 15, iOS 18, *)
extension WhiteboardRelay {
    /// Has the relay behind a control socket make a backup of its data folder, and hands over the archive piece by piece.
    ///
    /// - Parameter take: of what it throws the backup ends.
    /// - Throws: when it is not whole.
    package static func backup(
        controlSocket path: String, space: String? = nil, _ take: ([UInt8]) throws -> Void
    ) throws -> BackupReport {
        var pieces = BackupPieces()
        try UnixListener.query(path: path, line: ControlRequest.backup.line(for: space)) { try pieces.read($0, take) }
        return try pieces.finish()
    }
}
