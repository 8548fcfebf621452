import Foundation
import RelayIO
import RelayWire

/// What shows a relay that a user id is used by the one it belongs to: 128 random bits per installation and user id.
///
/// A relay that does not let everybody in gives a user id only to the secret it was first used with, for 24 h after the
/// last use.
public enum ClientSecret: Sendable, Hashable {
    /// Drawn at the first use of a user id at a relay and kept in a file that only this account may read (0600), in
    /// `folder`, or in the platform's folder for application data (`~/.local/share/boardrelay/clients`).
    ///
    /// Nothing is kept for a relay that a test started on a port of the system's choice: no later one has its address.
    case kept(folder: URL? = nil)
    /// Drawn for this client object, and gone with it.
    case inMemory
    /// 32 hexadecimal digits.
    case digits(String)

    /// - Throws: `badRequest` for digits that are not hexadecimal; `secretNotKept`, when the file cannot be read or made.
    package func digits(for user: Name, at address: RelayAddress) throws(RelayError) -> String {
        switch self {
        case .digits(let digits):
            guard Self.isSecret(Array(digits.utf8)) else {
                throw RelayError(
                    .badRequest, "a client secret has 32 hexadecimal digits, not \(digits.utf8.count) bytes", limit: 32,
                    actual: digits.utf8.count)
            }
            return digits
        case .inMemory: return Self.draw()
        case .kept(let folder):
            guard address.isLasting else { return Self.draw() }
            let path = Self.path(of: user, at: address, in: folder ?? Self.usualFolder)
            let bytes: [UInt8]
            do throws(PrivateFile.Failure) {
                bytes = try PrivateFile.readOrCreate(path, bytesMax: 64) { Array((Self.draw() + "\n").utf8) }
            } catch {
                throw RelayError(.secretNotKept, "the client secret cannot be kept: \(error)")
            }
            let digits = Array(bytes.prefix(32))
            guard Self.isSecret(digits) else {
                throw RelayError(.secretNotKept, "\(path) does not hold a client secret: remove it, and a new one is drawn")
            }
            return String(decoding: digits, as: UTF8.self)
        }
    }

    private static var usualFolder: URL {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (folders.first ?? FileManager.default.temporaryDirectory).appendingPathComponent("boardrelay/clients", isDirectory: true)
    }

    /// `folder/host/port/user`, each one name of at most 255 bytes that no file system folds into another.
    static func path(of user: Name, at address: RelayAddress, in folder: URL) -> String {
        [folder.path, fileName(address.host.lowercased()), "\(address.port)", fileName(user.text)].joined(separator: "/")
    }

    /// Lower-case letters, digits and `-` stay; every other byte becomes `%` and two digits.
    private static func fileName(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !name.isEmpty: name += "."
            default: name += "%" + hexadecimal(UInt64(byte), digits: 2)
            }
        }
        return name
    }

    private static func isSecret(_ bytes: [UInt8]) -> Bool {
        bytes.count == 32
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default: false
                }
            }
    }

    private static func draw() -> String {
        hexadecimal(SystemEntropy.word(), digits: 16) + hexadecimal(SystemEntropy.word(), digits: 16)
    }

    private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
