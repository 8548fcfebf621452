import RelayIO

/// The two keys of a relay that lets in anyone with one of them: for all, and for its host.
public struct AccessKeys: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Which of the two.
    public enum Kind: String, Sendable, CaseIterable {
        /// For everybody who takes part: to draw, or to look on.
        case join
        /// For the host of the lesson: the role moderator.
        case host
    }

    /// What the join key says.
    public internal(set) var join: String
    /// What the host key says.
    public internal(set) var host: String

    /// Says nothing of the keys.
    public var description: String { "two keys" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    subscript(kind: Kind) -> String {
        get { kind == .join ? join : host }
        set { if kind == .join { join = newValue } else { host = newValue } }
    }
}

/// Where a relay's keys are: two files that only its user may read, or, without a folder, memory.
struct KeyRing: Sendable {
    private let folder: String?
    private(set) var keys: AccessKeys

    /// A drawn key: 26 letters and digits that nobody confuses, 130 bits.
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let drawnBytes = 26
    /// One that somebody wrote into the file by hand may be shorter; never short enough to be guessed.
    private static let bytesAllowed = 16...128
    static let fileBytesMax = 256

    /// Reads the keys, and generates missing ones.
    ///
    /// - Parameters:
    ///   - folder: the data folder; `nil`: in memory.
    ///   - draws: a missing key is drawn; else it is an error.
    /// - Throws: `RelayServerError`, which names the file, and nothing that stands in it.
    init(folder: String?, draws: Bool = true) throws(RelayServerError) {
        self.folder = folder
        guard let folder else {
            keys = AccessKeys(join: Self.draw(), host: Self.draw())
            return
        }
        keys = AccessKeys(join: try Self.read(.join, folder, draws), host: try Self.read(.host, folder, draws))
        guard keys.join != keys.host else { throw RelayServerError(text: "\(folder): the join key and the host key are the same") }
    }

    /// Draws a key anew, and keeps it before it counts.
    mutating func rotate(_ kind: AccessKeys.Kind) throws(RelayServerError) {
        let key = Self.draw()
        if let folder {
            do throws(PrivateFile.Failure) {
                try PrivateFile.replace(Self.path(kind, folder), content: Array((key + "\n").utf8))
            } catch {
                throw RelayServerError(text: "the key cannot be kept: \(error)")
            }
        }
        keys[kind] = key
    }

    static func path(_ kind: AccessKeys.Kind, _ folder: String) -> String {
        folder + (folder.hasSuffix("/") ? "" : "/") + kind.rawValue + ".key"
    }

    private static func read(_ kind: AccessKeys.Kind, _ folder: String, _ draws: Bool) throws(RelayServerError) -> String {
        let path = path(kind, folder)
        guard draws || access(path, F_OK) == 0 else {
            throw RelayServerError(text: "the key cannot be read: \(path): \(SystemError.text(ENOENT))")
        }
        let bytes: [UInt8]
        do throws(PrivateFile.Failure) {
            bytes = try PrivateFile.readOrCreate(path, bytesMax: fileBytesMax) { Array((draw() + "\n").utf8) }
        } catch {
            throw RelayServerError(text: "the key cannot be read: \(error)")
        }
        guard let key = key(in: bytes) else {
            throw RelayServerError(
                text:
                    "\(path) does not hold a key of \(bytesAllowed.lowerBound)…\(bytesAllowed.upperBound) letters, digits, '-', '_' or '.': remove it, and a new one is drawn"
            )
        }
        return key
    }

    /// - Returns: `nil` if these bytes are no key.
    static func key(in bytes: [UInt8]) -> String? {
        var bytes = bytes
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        // What stands in an address behind `#key=` as it is.
        let isPlain = bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isPlain && bytesAllowed.contains(bytes.count) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func draw() -> String {
        var bytes: [UInt8] = []
        while bytes.count < drawnBytes {
            var word = SystemEntropy.word()
            // 12 letters of 5 bits each.
            for _ in 0..<min(12, drawnBytes - bytes.count) {
                bytes.append(letters[Int(word & 31)])
                word >>= 5
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
