internal import RelayCore
import RelayIO
import RelayStorage
import RelayWire

/// Where clients reach the owner of a space with a log, as the log says. [SE17]
enum LoggedAddress {
    /// No hub knows this key of the journal.
    static let key = Array("Cowner".utf8)

    /// - Parameter address: `nil`: the owner does not say.
    static func entry(of address: RelayAddress?) -> JournalEntry {
        JournalEntry(key: key, value: address.map { Array($0.description.utf8) })
    }

    /// The owner's address in these entries; `nil` if none mentions it. A malformed address is `unknown`.
    ///
    /// - Parameter own: where this node is reached, which is not the owner then.
    static func whereabouts(in entries: some Sequence<JournalEntry>, own: RelayAddress?) -> Whereabouts? {
        var found: Whereabouts?
        for entry in entries where entry.key == key {
            let text = entry.value.flatMap { $0.withUnsafeBytes(isValidUTF8) ? String(decoding: $0, as: UTF8.self) : nil }
            found = whereabouts(of: text, own: own)
        }
        return found
    }

    /// - Parameter text: as another node says.
    static func whereabouts(of text: String?, own: RelayAddress?) -> Whereabouts {
        guard let text = text.flatMap({ RelayAddress($0) })?.description, text != own?.description,
            text.utf8.count <= Limits.addressBytesMax
        else { return .unknown }
        return .at(text)
    }
}
