internal import RelayPrimitives
import RelayWire

/// Reads a backup that comes in pieces of any size, and refuses one that is not as it was written.
struct BackupReader {
    /// What one piece has brought.
    enum Part: Equatable {
        case begin(String)
        /// Of the file that has begun last.
        case bytes(ArraySlice<UInt8>)
        case end
    }

    private enum State {
        case head
        case body(left: Int)
        case padding(left: Int)
        /// Behind the manifest.
        case zeros(Int)
    }

    private let relay: String
    private var state = State.head
    /// Bytes of the archive so far.
    private var position = 0
    /// Less than a head.
    private var head: [UInt8] = []
    private var files: [BackupManifest.File] = []
    private var names: Set<String> = []
    private var sum = SHA256()
    /// Once it has begun.
    private var manifest: [UInt8]?

    /// - Parameter relay: the version of this program.
    init(relay: String) { self.relay = relay }

    /// - Throws: for what can be no backup.
    mutating func read(_ piece: [UInt8], _ take: (Part) throws(RelayServerError) -> Void) throws(RelayServerError) {
        var rest = piece[...]
        while !rest.isEmpty {
            let taken: Int
            switch state {
            case .head:
                taken = min(TarHeader.byteCount - head.count, rest.count)
                head += rest.prefix(taken)
                if head.count == TarHeader.byteCount { try begin(take) }
            case .body(let left):
                taken = min(left, rest.count)
                try add(rest.prefix(taken), take)
                state = .body(left: left - taken)
                if left == taken { try endFile(take) }
            case .padding(let left):
                taken = min(left, rest.count)
                try checkZeros(rest.prefix(taken))
                state = left == taken ? next : .padding(left: left - taken)
            case .zeros(let count):
                taken = rest.count
                try checkZeros(rest)
                state = .zeros(count + taken)
            }
            position += taken
            rest = rest.dropFirst(taken)
        }
    }

    /// All has come.
    ///
    /// - Throws: when that is not all of a backup, or files are not those that were saved.
    func finish() throws(RelayServerError) -> BackupManifest {
        guard case .zeros(let count) = state, count >= 2 * TarHeader.byteCount else {
            throw RelayServerError(text: "the backup ends early, after \(position) bytes")
        }
        let manifest = try BackupManifest(reading: manifest ?? [], relay: relay)
        for (found, saved) in zip(files, manifest.files) where found != saved {
            throw RelayServerError(
                text: found.name == saved.name && found.bytes == saved.bytes
                    ? "\(found.name) is not what was saved: its SHA-256 is \(found.sha256), not \(saved.sha256)"
                    : "the backup has \(found.name) with \(found.bytes) bytes where \(saved.name) with \(saved.bytes) was saved")
        }
        guard files.count == manifest.files.count else {
            throw RelayServerError(text: "the backup has \(files.count) files, \(manifest.files.count) were saved")
        }
        return manifest
    }

    private var next: State { manifest == nil ? .head : .zeros(0) }

    private mutating func begin(_ take: (Part) throws(RelayServerError) -> Void) throws(RelayServerError) {
        defer { head = [] }
        guard let header = TarHeader.read(head) else {
            let isEnd = head.allSatisfy { $0 == 0 }, start = position / TarHeader.byteCount * TarHeader.byteCount
            let isArchive = isEnd && start > 0
            throw RelayServerError(
                text: isArchive ? "the backup has no \(BackupManifest.file)" : "this is no backup: no file begins at \(start)")
        }
        state = .body(left: header.fileBytes)
        if header.name == BackupManifest.file {
            guard header.fileBytes <= BackupManifest.bytesMax else {
                throw RelayServerError(
                    text: "\(BackupManifest.file) has \(header.fileBytes) bytes, at most \(BackupManifest.bytesMax) are read")
            }
            manifest = []
        } else {
            guard Self.isName(header.name), names.insert(header.name).inserted else {
                throw RelayServerError(text: "this is no backup: it has a file \(header.name.debugDescription)")
            }
            files.append(.init(name: header.name, bytes: header.fileBytes))
            sum = SHA256()
            try take(.begin(header.name))
        }
        if header.fileBytes == 0 { try endFile(take) }
    }

    /// Of a file in the data folder: no way leads out of it, and none of those that belong to a process.
    static func isName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isPlain && !name.isEmpty && !name.hasPrefix(".") && name != "lock" && name != "control.sock"
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, _ take: (Part) throws(RelayServerError) -> Void) throws(RelayServerError) {
        guard manifest == nil else {
            manifest?.append(contentsOf: bytes)
            return
        }
        bytes.withUnsafeBytes { sum.update($0) }
        try take(.bytes(bytes))
    }

    private mutating func endFile(_ take: (Part) throws(RelayServerError) -> Void) throws(RelayServerError) {
        let padding = TarHeader.padding(manifest?.count ?? files[files.count - 1].bytes)
        state = padding == 0 ? next : .padding(left: padding)
        guard manifest == nil else { return }
        files[files.count - 1].sha256 = hexadecimal(sum.finalize())
        try take(.end)
    }

    private func checkZeros(_ bytes: ArraySlice<UInt8>) throws(RelayServerError) {
        guard let wrong = bytes.firstIndex(where: { $0 != 0 }) else { return }
        throw RelayServerError(text: "the backup is damaged: byte \(position + wrong - bytes.startIndex) should be 0 and is not")
    }
}
