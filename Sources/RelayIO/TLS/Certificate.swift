internal import RelayPrimitives

/// The key of a certificate and the names that it is for, read from DER (RFC 5280).
///
/// Whoever speaks TLS judges the certificate; this is what a pin is compared with, and what an error tells.
struct Certificate {
    let pin: KeyPin
    /// Host names and addresses of the extension "subject alternative name", those of ordinary letters only.
    let names: [String]

    private enum Tag {
        static let sequence: UInt8 = 0x30, octets: UInt8 = 0x04, identifier: UInt8 = 0x06
        static let version: UInt8 = 0xA0, extensions: UInt8 = 0xA3
        static let hostName: UInt8 = 0x82, address: UInt8 = 0x87
    }

    /// 2.5.29.17
    private static let alternativeNames: [UInt8] = [0x55, 0x1D, 0x11]

    /// - Returns: `nil` if it is no certificate.
    init?(der bytes: [UInt8]) {
        var all = Elements(bytes[...])
        guard let certificate = all.next(Tag.sequence), all.isAtEnd else { return nil }
        var signed = Elements(certificate.content)
        guard let body = signed.next(Tag.sequence) else { return nil }
        var fields = Elements(body.content)
        guard var field = fields.next() else { return nil }
        if field.tag == Tag.version {
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        // Behind the serial number: algorithm, issuer, validity, subject.
        for _ in 0..<4 { guard fields.next(Tag.sequence) != nil else { return nil } }
        guard let key = fields.next(Tag.sequence), let pin = KeyPin(Self.hexadecimal(SHA256.hash(Array(key.whole)))) else { return nil }
        self.pin = pin
        var names: [String] = []
        while let field = fields.next() {
            if field.tag == Tag.extensions { names = Self.names(field.content) }
        }
        self.names = names
    }

    private static func names(_ extensions: ArraySlice<UInt8>) -> [String] {
        var outer = Elements(extensions)
        guard let list = outer.next(Tag.sequence) else { return [] }
        var items = Elements(list.content), names: [String] = []
        while let item = items.next(Tag.sequence) {
            var parts = Elements(item.content)
            guard let identifier = parts.next(Tag.identifier), identifier.content.elementsEqual(alternativeNames) else { continue }
            // Whether it is critical may stand before it.
            while let part = parts.next() {
                guard part.tag == Tag.octets else { continue }
                var values = Elements(part.content)
                guard let value = values.next(Tag.sequence) else { continue }
                var general = Elements(value.content)
                while let name = general.next() { if let text = text(name) { names.append(text) } }
            }
        }
        return names
    }

    private static func text(_ name: Element) -> String? {
        switch (name.tag, name.content.count) {
        case (Tag.hostName, 1...253):
            let text = String(decoding: name.content, as: UTF8.self)
            return text.utf8.allSatisfy(isOfHostName) ? text : nil
        case (Tag.address, 4): return name.content.map { String($0) }.joined(separator: ".")
        case (Tag.address, 16):
            let bytes = Array(name.content)
            return stride(from: 0, to: 16, by: 2).map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        default: return nil
        }
    }

    private static func isOfHostName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

private struct Element {
    let tag: UInt8
    let whole: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>
}

/// Elements of DER, one behind the other. What DER does not allow ends them: a length in more bytes than it takes, or in none.
private struct Elements {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func next(_ tag: UInt8) -> Element? { rest.first == tag ? next() : nil }

    mutating func next() -> Element? {
        let bytes = rest, start = rest.startIndex
        // A tag of several bytes is in no certificate.
        guard bytes.count >= 2, bytes[start] & 0x1F != 0x1F else { return nil }
        var length = Int(bytes[start + 1]), head = 2
        if length >= 0x80 {
            let count = length - 0x80
            guard (1...3).contains(count), bytes.count >= 2 + count, bytes[start + 2] != 0 else { return nil }
            length = bytes[(start + 2)..<(start + 2 + count)].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 else { return nil }
            head += count
        }
        guard bytes.count - head >= length else { return nil }
        let end = start + head + length
        rest = bytes[end...]
        return Element(tag: bytes[start], whole: bytes[start..<end], content: bytes[(start + head)..<end])
    }
}
