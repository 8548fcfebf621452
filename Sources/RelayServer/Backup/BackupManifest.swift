import RelayWire

/// The last file of a backup: what the others are.
struct BackupManifest: JSONObject, Equatable, Sendable {
    static let file = "manifest.json"
    static let bytesMax = 64 << 20
    static let versionSupported = 1

    struct File: JSONObject, Equatable, Sendable {
        var name = ""
        var bytes = 0
        /// In hexadecimal digits.
        var sha256 = ""

        mutating func fields(_ json: inout JSONFields) {
            json("bytes", &bytes)
            json("name", &name)
            json("sha256", &sha256)
        }
    }

    /// In the order in which they stand in the archive.
    var files: [File] = []
    var head = BackupHead()

    init() {}

    mutating func fields(_ json: inout JSONFields) {
        json("boardrelayBackup", &head)
        json("files", &files)
    }

    /// - Throws: `RelayServerError`, also when a newer version wrote it.
    init(reading bytes: [UInt8], relay: String) throws(RelayServerError) {
        struct OfAnyVersion: JSONObject {
            var head = BackupHead()
            mutating func fields(_ json: inout JSONFields) { json("boardrelayBackup", &head) }
        }
        func read<Body: JSONObject>(_ type: Body.Type) throws(RelayServerError) -> Body {
            let result = bytes.withUnsafeBytes { bytes in Result { try JSONBody.decode(type, from: bytes, bytesMax: Self.bytesMax) } }
            do { return try result.get() } catch { throw RelayServerError(text: "\(Self.file): \(error)") }
        }
        let head = try read(OfAnyVersion.self).head
        guard head.version <= Self.versionSupported else {
            throw RelayServerError(
                text: "the backup has format version \(head.version), of boardrelay \(head.relay); boardrelay \(relay) knows versions "
                    + "up to \(Self.versionSupported): restore it with boardrelay \(head.relay) or a newer one")
        }
        self = try read(Self.self)
    }
}

/// In every version to come these fields stay.
struct BackupHead: JSONObject, Equatable, Sendable {
    var version = BackupManifest.versionSupported
    /// The version that has written it.
    var relay = ""
    /// When: `Sun, 06 Nov 1994 08:49:37 GMT`.
    var made = ""

    mutating func fields(_ json: inout JSONFields) {
        json("made", &made)
        json("relay", &relay)
        json("version", &version)
    }
}
