internal import RelayPrimitives
import RelayWire

/// Writes a backup: files of a data folder in a tar archive, and behind them a manifest.
struct BackupArchive {
    private var manifest = BackupManifest()
    private let seconds: UInt64
    /// Of the file that is being written.
    private var sum = SHA256()

    /// - Parameters:
    ///   - relay: the version of the program.
    ///   - made: the moment, for people.
    init(relay: String, made: String, seconds: UInt64) {
        manifest.head.relay = relay
        manifest.head.made = made
        self.seconds = seconds
    }

    var fileCount: Int { manifest.files.count }

    /// What stands before a file.
    mutating func begin(_ name: String, byteCount: Int) -> [UInt8] {
        sum = SHA256()
        manifest.files.append(.init(name: name, bytes: byteCount))
        return TarHeader(name: name, fileBytes: byteCount, seconds: seconds).encoded()
    }

    /// The file's next bytes stand in the archive as they are.
    mutating func add(_ bytes: [UInt8]) { sum.update(bytes) }

    /// What stands behind a file.
    mutating func end() -> [UInt8] {
        let last = manifest.files.count - 1
        manifest.files[last].sha256 = hexadecimal(sum.finalize())
        return [UInt8](repeating: 0, count: TarHeader.padding(manifest.files[last].bytes))
    }

    /// The manifest, and the archive's end.
    func finish() -> [UInt8] {
        let text = JSONBody.encode(manifest) + Array("\n".utf8)
        let zeros = [UInt8](repeating: 0, count: TarHeader.padding(text.count) + 2 * TarHeader.byteCount)
        return TarHeader(name: BackupManifest.file, fileBytes: text.count, seconds: seconds).encoded() + text + zeros
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
