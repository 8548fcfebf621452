internal import RelayPrimitives

/// The key of a certificate and the names that it is for, read from DER (RFC 5280).
///
/// Whoever speaks TLS judges the certificate; this is what a pin is compared with, and what an error tells.
package struct Certificate: Sendable {
    package let pin: KeyPin
    /// Host names and addresses of the extension "subject alternative name", those of ordinary letters only.
    package let names: [String]
    /// Whether it names itself as its issuer: no browser trusts it unasked.
    package let isSelfIssued: Bool
    /// Unix time, in seconds.
    package let validUntil: Int

    private enum Tag {
        static let sequence: UInt8 = 0x30, octets: UInt8 = 0x04, identifier: UInt8 = 0x06
        static let version: UInt8 = 0xA0, extensions: UInt8 = 0xA3
        static let hostName: UInt8 = 0x82, address: UInt8 = 0x87
        static let shortTime: UInt8 = 0x17, time: UInt8 = 0x18
    }

    /// 2.5.29.17
    private static let alternativeNames: [UInt8] = [0x55, 0x1D, 0x11]

    /// - Returns: `nil` if it is no certificate.
    package init?(der bytes: [UInt8]) {
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
        // Behind the serial number.
        guard fields.next(Tag.sequence) != nil, let issuer = fields.next(Tag.sequence), let validity = fields.next(Tag.sequence),
            let subject = fields.next(Tag.sequence), let end = Self.end(of: validity)
        else { return nil }
        isSelfIssued = issuer.whole.elementsEqual(subject.whole)
        validUntil = end
        guard let key = fields.next(Tag.sequence) else { return nil }
        pin = KeyPin(subjectPublicKeyInfo: key.whole)
        var names: [String] = []
        while let field = fields.next() {
            if field.tag == Tag.extensions { names = Self.names(field.content) }
        }
        self.names = names
    }

    /// Of the two times the second, `YYMMDDhhmmssZ` or with four digits of the year. [RFC 5280 §4.1.2.5]
    private static func end(of validity: Element) -> Int? {
        var times = Elements(validity.content)
        guard times.next() != nil, let end = times.next(), [Tag.shortTime, Tag.time].contains(end.tag) else { return nil }
        var digits = end.content.dropLast().map { Int($0) - 48 }
        // 50…99 are of the last century.
        if end.tag == Tag.shortTime { digits = (digits.first ?? 0 < 5 ? [2, 0] : [1, 9]) + digits }
        guard digits.count == 14, digits.allSatisfy((0...9).contains), end.content.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        let days = days(year: number(0..<4), month: number(4..<6), day: number(6..<8))
        return ((days * 24 + number(8..<10)) * 60 + number(10..<12)) * 60 + number(12..<14)
    }

    /// Since 1970, in the Gregorian calendar; a year begins with March here, so that its last day may be the 29th of February.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month > 2 ? year : year - 1, month = (month + 9) % 12
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
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
