import Foundation
import RelayIO
import RelayWire

/// What shows a relay that a user id is used by the one it belongs to: 128 random bits per installation and user id.
///
/// A relay that does not let everybody in gives a user id only to the secret it was first used with, for 24 h after the
/// last use.
public enum ClientSecret: Sendable, Equatable {
    /// Drawn at the first use of a user id at a relay and kept in a file that only this account may read (0600), in
    /// `folder`, or in the platform's folder for application data (`~/.local/share/boardrelay/clients`).
    ///
    /// Nothing is kept for a relay that a test started on a port of the system's choice: no later one has its address.
    case kept(folder: URL? = nil)
    /// Drawn for this client object, and gone with it.
    case inMemory
    /// 32 hexadecimal digits.
    case digits(String)

    private static let digitCount = 32

    /// - Throws: `badRequest` for digits that are not hexadecimal; `secretNotKept`, when the file cannot be read or made.
    package func digits(for user: Name, at address: RelayAddress, relayID: String? = nil) throws(RelayError) -> String {
        switch self {
        case .digits(let digits):
            guard KeptDigits.areHexadecimal(digits.utf8, count: Self.digitCount) else {
                throw RelayError(
                    .badRequest, "a client secret has \(Self.digitCount) hexadecimal digits, not \(digits.utf8.count) bytes",
                    limit: Self.digitCount, actual: digits.utf8.count)
            }
            return digits
        case .inMemory: return KeptDigits.draw(Self.digitCount)
        case .kept(let folder):
            guard address.isLasting else { return KeptDigits.draw(Self.digitCount) }
            return try Self.file(of: user, at: address, relayID, in: folder).readOrDraw {
                relayID == nil ? nil : try? Self.file(of: user, at: address, nil, in: folder).readOrDraw()
            }
        }
    }

    /// Keeps what a relay has told. [AC17]
    ///
    /// - Parameter replaces: whether in place of what is kept there.
    /// - Throws: `secretNotKept`.
    func keep(_ digits: String, for user: Name, at address: RelayAddress, relayID: String?, replaces: Bool) throws(RelayError) {
        guard case .kept(let folder) = self, address.isLasting else { return }
        try Self.file(of: user, at: address, relayID, in: folder).keep(digits, replaces: replaces)
    }

    private static func file(of user: Name, at address: RelayAddress, _ relayID: String?, in folder: URL?) -> KeptDigits {
        KeptDigits(path: path(of: user, at: address, relayID, in: folder ?? usualFolder), count: digitCount, what: "a client secret")
    }

    /// Where the device is kept beside it.
    var folder: URL? {
        switch self {
        case .kept(let folder): folder ?? Self.usualFolder
        case .digits: Self.usualFolder
        case .inMemory: nil
        }
    }

    private static var usualFolder: URL {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (folders.first ?? FileManager.default.temporaryDirectory).appendingPathComponent("boardrelay/clients", isDirectory: true)
    }

    /// `folder/relay/id/user`, or `folder/host/port/user` of a relay whose id is not known; each one name of at most 255 bytes that no
    /// file system folds into another.
    static func path(of user: Name, at address: RelayAddress, _ relayID: String?, in folder: URL) -> String {
        let place = relayID.map { ["relay", fileName($0)] } ?? [fileName(address.host.lowercased()), "\(address.port)"]
        return ([folder.path] + place + [fileName(user.text)]).joined(separator: "/")
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
