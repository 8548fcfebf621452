#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayIO
import RelayWire

/// What shows a relay that a user id is used by the one it belongs to: 128 random bits per installation and user id.
///
/// A relay that does not let everybody in gives a user id only to the secret it was first used with, for 24 h after the
/// last use.
public enum ClientSecret: Sendable, Equatable {
    /// Drawn at the first use of a user id at a relay and kept: on Apple's systems in the Keychain, elsewhere and with `folder` in a file
    /// that only this account may read (0600); without `folder` in `~/.local/share/boardrelay/clients`.
    ///
    /// What is in the Keychain is there when the app was removed and comes again, on this device only, once that was unlocked after its
    /// start. A program without a part in it (on macOS one without a provisioning profile, such as a command) has a file in Application
    /// Support instead; when it gets a part in it, the Keychain takes over what the file has.
    ///
    /// Nothing is kept for a relay that a test started on a port of the system's choice: no later one has its address.
    case kept(folder: URL? = nil)
    /// Drawn for this client object, and gone with it.
    case inMemory
    /// 32 hexadecimal digits.
    case digits(String)

    private static let digitCount = 32

    /// - Throws: `badRequest` for digits that are not hexadecimal; `secretNotKept`, when the file or item cannot be read or made.
    package func digits(
        for user: Name, at address: RelayAddress, relayID: String? = nil, keychain: (any Keychain)? = systemKeychain
    ) throws(RelayError) -> String {
        switch self {
        case .digits(let digits):
            guard KeptDigits.areHexadecimal(digits.utf8, count: Self.digitCount) else {
                throw RelayError(
                    .badRequest, "a client secret has \(Self.digitCount) hexadecimal digits, not \(digits.utf8.count) bytes",
                    limit: Self.digitCount, actual: digits.utf8.count)
            }
            return digits
        case .inMemory: return Self.drawn()
        case .kept(let folder):
            guard address.isLasting else { return Self.drawn() }
            func place(_ relayID: String?) -> KeptDigits { Self.place(of: user, at: address, relayID, in: folder, keychain) }
            return try place(relayID).readOrDraw { relayID == nil ? nil : try? place(nil).readOrDraw() }
        }
    }

    package static func drawn() -> String { KeptDigits.draw(digitCount) }

    /// Keeps what a relay has told. [AC17]
    ///
    /// - Parameter replaces: whether in place of what is kept there.
    /// - Throws: `secretNotKept`.
    package func keep(
        _ digits: String, for user: Name, at address: RelayAddress, relayID: String?, replaces: Bool,
        keychain: (any Keychain)? = systemKeychain
    ) throws(RelayError) {
        guard case .kept(let folder) = self, address.isLasting else { return }
        try Self.place(of: user, at: address, relayID, in: folder, keychain).keep(digits, replaces: replaces)
    }

    private static func place(
        of user: Name, at address: RelayAddress, _ relayID: String?, in folder: URL?, _ keychain: (any Keychain)?
    ) -> KeptDigits {
        KeptDigits(
            name: name(of: user, at: address, relayID), folder: (folder ?? usualFolder).path, count: digitCount, what: "a client secret",
            keychain: folder == nil ? keychain : nil)
    }

    /// Whose device this is, beside it; `nil` where nothing is kept.
    func place(ofDevice user: Name, at address: RelayAddress, _ relayID: String?, count: Int, _ keychain: (any Keychain)?) -> KeptDigits? {
        let folder: URL?
        switch self {
        case .kept(let own): folder = own
        case .digits: folder = nil
        case .inMemory: return nil
        }
        // A name that no user's secret has: `_` stands for itself in none of them.
        return KeptDigits(
            name: Self.name(of: user, at: address, relayID) + "_device", folder: (folder ?? Self.usualFolder).path, count: count,
            what: "a device", keychain: folder == nil ? keychain : nil)
    }

    private static var usualFolder: URL {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (folders.first ?? FileManager.default.temporaryDirectory).appendingPathComponent("boardrelay/clients", isDirectory: true)
    }

    /// `relay/id/user`, or `host/port/user` of a relay whose id is not known; each one name of at most 255 bytes that no file system folds
    /// into another.
    private static func name(of user: Name, at address: RelayAddress, _ relayID: String?) -> String {
        let place = relayID.map { ["relay", fileName($0)] } ?? [fileName(address.host.lowercased()), "\(address.port)"]
        return (place + [fileName(user.text)]).joined(separator: "/")
    }

    /// Of the user that belongs to the installation. No relay is called like that.
    package static func user(folder: URL?, keychain: (any Keychain)? = systemKeychain) -> KeptDigits {
        KeptDigits(
            name: "_user", folder: (folder ?? usualFolder).path, count: digitCount, what: "a user id",
            keychain: folder == nil ? keychain : nil)
    }

    /// Lower-case letters, digits and `-` stay; every other byte becomes `%` and two digits.
    private static func fileName(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !name.isEmpty: name += "."
            default: name += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
        return name
    }
}

extension WhiteboardClient {
    /// The user id of this installation: 32 hexadecimal digits, drawn at the first call and kept as `ClientSecret.kept(folder:)` keeps.
    ///
    /// Where there is no Keychain, all programs of an account have the same one, unless they have folders of their own.
    ///
    /// - Throws: `secretNotKept`, when the file or item cannot be read or made.
    public static func keptUserID(folder: URL? = nil) throws(RelayError) -> String { try ClientSecret.user(folder: folder).readOrDraw() }
}
