import RelayCluster
import RelayIO
import RelayStorage

/// A log that a folder leaves.
package struct LeftLog: Sendable {
    package var space: String
    /// Opens the keys that the log has. `nil`: those that are in the folder hold.
    package var secret: [UInt8]?

    package init(space: String, secret: [UInt8]? = nil) { (self.space, self.secret) = (space, secret) }

    @available(macOS 15, iOS 18, *)
    func takeKeys(_ sealed: [UInt8]?, into folder: String) throws(RelayServerError) {
        if let secret { _ = try LoggedKeys(secret: secret, space: space).take(sealed, into: folder) }
    }
}

/// The keys of a space with a log: whoever owns the space has them from there, so that an address with a key is good at each node.
@available(macOS 15, iOS 18, *)
struct LoggedKeys: Sendable {
    /// No hub knows this key of the journal.
    static let key = Array("Ckeys".utf8)

    let secret: [UInt8]
    let space: String

    private var context: String { "keys of space \(space)" }

    func entry(of keys: AccessKeys) -> JournalEntry {
        var nonce: [UInt8] = []
        for _ in 0..<SealedText.nonceBytes { nonce.append(UInt8(truncatingIfNeeded: SystemEntropy.word())) }
        let text = AccessKeys.Kind.allCases.map { "\($0.rawValue) \(keys[$0])\n" }.joined()
        return JournalEntry(key: Self.key, value: SealedText.seal(Array(text.utf8), secret: secret, context: context, nonce: nonce))
    }

    /// - Throws: when they were sealed under another secret, or are none.
    func keys(in sealed: [UInt8]) throws(RelayServerError) -> AccessKeys {
        guard let text = SealedText.open(sealed, secret: secret, context: context) else {
            throw RelayServerError(text: "the keys in the log were sealed under another secret: each node of a space has the same")
        }
        var keys = AccessKeys(join: "", host: "")
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard words.count == 2, let kind = AccessKeys.Kind(rawValue: String(decoding: words[0], as: UTF8.self)),
                let key = KeyRing.key(in: Array(words[1]))
            else { continue }
            keys[kind] = key
        }
        guard !keys.join.isEmpty, !keys.host.isEmpty else { throw RelayServerError(text: "the log has not both keys") }
        return keys
    }

    /// Puts the log's keys into the folder, where a relay reads its own.
    ///
    /// - Returns: whether the log has any.
    func take(_ sealed: [UInt8]?, into folder: String) throws(RelayServerError) -> Bool {
        guard let sealed else { return false }
        let keys = try keys(in: sealed)
        for kind in AccessKeys.Kind.allCases {
            let path = KeyRing.path(kind, folder)
            do throws(PrivateFile.Failure) {
                let present = try PrivateFile.read(path, bytesMax: KeyRing.fileBytesMax).flatMap(KeyRing.key)
                if present != keys[kind] { try PrivateFile.replace(path, content: Array((keys[kind] + "\n").utf8)) }
            } catch {
                throw RelayServerError(text: "the key cannot be kept: \(error)")
            }
        }
        return true
    }
}
