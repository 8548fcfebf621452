public import RelayClientCore
public import RelayIO
import RelayWire

/// What a client needs to come in: where a relay is, what lets in, and where to go.
///
///     let invitation = try Invitation("http://192.168.1.5:7420/#key=…")
///     let client = try WhiteboardClient(invitation, user: "alice-7f3a")
///
/// Its text is what a relay prints, what its QR code has, or a link to a board of the whiteboard page. The path is the `space`. Behind
/// `#`, which no browser sends, stand parts with `&` between them:
///
/// | part | means |
/// | --- | --- |
/// | `key=…`, `k=…`; `token=…`, `t=…` | `credential` |
/// | `/b/NAME?…`, before all others | `channel` |
/// | `also=HOST:PORT`, any number | `addresses`, behind the first |
/// | `relay=…` | `relayID` |
/// | `pin=…`, once | the `protection` of the addresses: 22 letters |
///
/// What else stands there is ignored: a newer relay may say more.
///
/// All addresses are protected in the same way. Otherwise who cuts the protected links would have the credential come without protection.
public struct Invitation: Hashable, Sendable {
    /// Where the relay is reached, one at least: the first that lets in counts.
    public var addresses: [RelayAddress]
    /// What lets in; `nil` at a relay that is open.
    public var credential: Credential?
    /// Name of the channel that the link leads to; `nil`: to none.
    public var channel: String?
    /// The relay's public id, 32 hexadecimal digits. A relay with another one is refused.
    public var relayID: String?
    /// The pin of the server's key, which its addresses carry.
    package var pin: KeyPin? { if case .pinned(let pin) = addresses.first?.protection { pin } else { nil } }
    /// Which of a relay's spaces is meant; `nil`: the only one, or a relay without spaces.
    public var space: String?

    /// The invitation to a relay whose parts are known.
    public init(
        _ address: RelayAddress, or others: [RelayAddress] = [], credential: Credential? = nil, channel: String? = nil,
        relayID: String? = nil, space: String? = nil
    ) {
        addresses = [address] + others
        self.credential = credential
        self.channel = channel
        self.relayID = relayID
        self.space = space
    }

    /// Reads a text.
    ///
    /// - Throws: `badRequest` for a text without a relay, for a pin that is not 22 letters of base64url, and for addresses that are not all
    ///   protected in the same way. The error says nothing of what stands behind `#`.
    public init(_ text: String) throws(RelayError) {
        let place = String(text.prefix { $0 != "#" })
        let parts = Self.parts(text.dropFirst(place.count + 1))
        func first(_ names: String...) -> String? { parts.first { names.contains($0.name) && !$0.value.isEmpty }?.value }
        addresses = ([place] + parts.filter { $0.name == "also" }.map(\.value)).compactMap { RelayAddress($0) }
        guard !addresses.isEmpty else { throw RelayError(.badRequest, "\(place) is no address of a relay") }
        if let pin = try Self.pin(parts.filter { $0.name == "pin" }.map(\.value)) {
            for index in addresses.indices where addresses[index].protection == .certified { addresses[index].protection = .pinned(pin) }
            if let plain = addresses.first(where: { $0.protection == .plain }) {
                throw RelayError(.badRequest, "a pin is for TLS, and \(plain) is without: it would begin with relays://")
            }
        }
        try Self.check(addresses)
        channel = first("/b/").flatMap { try? Name($0).text }
        relayID = first("relay")
        space = Self.space(place)
        credential =
            switch parts.first(where: { Self.credentials.contains($0.name) && !$0.value.isEmpty }) {
            case (let name, let value)? where name.hasPrefix("k"): .key(value)
            case (_, let value)?: .token(value)
            case nil: nil
            }
    }

    /// The text, for a QR code: who has it has the credential. A join code, which people type, is left out.
    public var text: String {
        var parts: [(name: String, value: String?)] = []
        switch credential {
        case .key(let key): parts.append(("key", key))
        case .token(let token): parts.append(("token", token))
        case .joinCode, nil: break
        }
        parts += addresses.dropFirst().map { ("also", $0.description) }
        parts += [("relay", relayID), ("pin", pin?.description)]
        let query = parts.compactMap { part in part.value.map { "\(part.name)=\(Self.encoded($0))" } }.joined(separator: "&")
        let path = channel.map { "/b/" + Self.encoded($0) + (query.isEmpty ? "" : "?") } ?? ""
        return addresses[0].pageURL + (space ?? "") + (path.isEmpty && query.isEmpty ? "" : "#" + path + query)
    }

    /// The path of an address, if it is the name of a space.
    private static func space(_ place: String) -> String? {
        let host = place.split(separator: "://", maxSplits: 1).last ?? ""
        let path = host.drop { $0 != "/" && $0 != "?" }.dropFirst().prefix { $0 != "?" }
        return try? SpaceName(path.last == "/" ? path.dropLast() : path).text
    }

    private static func pin(_ texts: [String]) throws(RelayError) -> KeyPin? {
        guard let text = texts.first else { return nil }
        guard texts.count == 1 else {
            throw RelayError(.badRequest, "an address has one pin, here are \(texts.count)", limit: 1, actual: texts.count)
        }
        if let pin = KeyPin(text) { return pin }
        let (limit, actual) = (KeyPin.letterCount, text.count)
        let fault = actual == limit ? "these are no such letters" : "here are \(actual)"
        throw RelayError(.badRequest, "a pin has \(limit) letters of base64url, \(fault)", limit: limit, actual: actual)
    }

    static func check(_ addresses: [RelayAddress]) throws(RelayError) {
        guard let first = addresses.first else { throw RelayError(.badRequest, "an invitation without an address") }
        guard let other = addresses.first(where: { $0.protection != first.protection }) else { return }
        throw RelayError(.badRequest, "\(first) and \(other) are not protected in the same way: all addresses of an invitation are")
    }

    private static let credentials = ["key", "k", "token", "t"]

    /// `/b/lesson?k=…&also=…`, the board's name under `/b/`.
    private static func parts(_ text: Substring) -> [(name: String, value: String)] {
        var rest = text
        var found: [(name: String, value: String)] = []
        if rest.hasPrefix("/b/") {
            let name = rest.dropFirst(3).prefix { $0 != "?" }
            found.append(("/b/", decoded(name)))
            rest = rest[name.endIndex...]
        }
        if rest.first == "?" { rest = rest.dropFirst() }
        for part in rest.split(separator: "&") {
            let name = part.prefix { $0 != "=" }
            found.append((String(name), decoded(part[name.endIndex...].dropFirst())))
        }
        return found
    }

    /// Without `%` and two digits in place of a byte; a text in which they are wrong is taken as it is.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = Substring(rest.prefix(2))
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else { return String(text) }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes.withUnsafeBytes { isValidUTF8($0) } ? String(decoding: bytes, as: UTF8.self) : String(text)
    }

    /// Whatever means something in an address becomes `%` and two digits.
    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "/"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}

extension Invitation: CustomStringConvertible, CustomReflectable {
    /// The first address and the channel, and nothing of the credential.
    public var description: String {
        "\(addresses.first.map { "\($0)" } ?? "nowhere")\(space.map { "/\($0)" } ?? "")\(channel.map { ", \($0)" } ?? "")"
    }

    public var customMirror: Mirror { Mirror(self, children: ["addresses": addresses, "channel": channel as Any]) }
}
