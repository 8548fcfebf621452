import RelayPrimitives
import Testing

@testable import RelayIO

@Suite struct CertificateTests {
    private static func element(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let bytes = content.flatMap { $0 }
        let length: [UInt8] =
            switch bytes.count {
            case 0..<128: [UInt8(bytes.count)]
            case 128..<256: [0x81, UInt8(bytes.count)]
            default: [0x82, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
            }
        return [tag] + length + bytes
    }

    private static func sequence(_ content: [UInt8]...) -> [UInt8] { element(0x30, content.flatMap { $0 }) }

    /// As long as an RSA key of 2,048 bits.
    private static let key = sequence(sequence([6, 1, 42]), element(3, [UInt8](repeating: 7, count: 271)))

    /// With what a pin does not depend on.
    private static func time(_ text: String) -> [UInt8] { element(text.utf8.count == 13 ? 0x17 : 0x18, Array(text.utf8)) }

    private static func certificate(
        names: [[UInt8]], version: [UInt8] = element(0xA0, [2, 1, 2]), unique: [UInt8] = [],
        validity: [UInt8] = sequence(time("260101000000Z"), time("270301120000Z")), subject: [UInt8] = sequence([1, 1, 1])
    ) -> [UInt8] {
        let other = sequence(element(6, [0x55, 0x1D, 0x13]), element(1, [255]), element(4, sequence()))
        let named = sequence(element(6, [0x55, 0x1D, 0x11]), element(1, [255]), element(4, sequence(names.flatMap { $0 })))
        let extensions = element(0xA3, sequence(other, named))
        let signed = sequence(version, [2, 1, 9], sequence(), sequence(), validity, subject, key, unique, extensions)
        return sequence(signed, sequence(), [3, 1, 0])
    }

    private static let names = [
        element(0x82, Array("board.example".utf8)), element(0x82, Array("*.Board_1.example".utf8)), element(0x82, Array("\u{1B}[31m".utf8)),
        element(0x82), element(0x81, Array("a@b".utf8)), element(0x87, [192, 168, 1, 5]), element(0x87, [192, 168]),
        element(0x87, [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [0x1A]),
    ]

    @Test("a pin is half of the SHA-256 of the whole SubjectPublicKeyInfo; names of other letters, and other kinds, are left out")
    func reads() throws {
        let pin = Base64URL.encode(Array(SHA256.hash(Self.key).prefix(16)))
        for bytes in [
            Self.certificate(names: Self.names), Self.certificate(names: Self.names, version: []),
            Self.certificate(names: Self.names, unique: Self.element(0x81, [1])),
        ] {
            let certificate = try #require(Certificate(der: bytes))
            #expect(certificate.pin.description == pin)
            #expect(certificate.names == ["board.example", "*.Board_1.example", "192.168.1.5", "fe80:0:0:0:0:0:0:1a"])
        }
    }

    @Test("the end of a certificate is read in both forms that times have, and that it names itself as its issuer", arguments: [
        ("270301120000Z", 1_803_902_400), ("490101000000Z", 2_493_072_000), ("500101000000Z", -631_152_000),
        ("20240229235959Z", 1_709_251_199), ("20500101000000Z", 2_524_608_000), ("27030112000Z", nil), ("2703011200+0Z", nil),
    ] as [(String, Int?)])
    func ends(text: String, seconds: Int?) {
        let validity = Self.sequence(Self.time("260101000000Z"), Self.time(text))
        let certificate = Certificate(der: Self.certificate(names: [], validity: validity))
        #expect(certificate?.validUntil == seconds && certificate?.isSelfIssued != true)
        let own = Certificate(der: Self.certificate(names: [], validity: validity, subject: Self.sequence()))
        #expect(own?.isSelfIssued == (seconds == nil ? nil : true))
    }

    @Test("a certificate that is cut anywhere, or has more behind it, is none; one with a wrong byte ends nothing")
    func damaged() {
        let whole = Self.certificate(names: Self.names)
        for count in 0..<whole.count { #expect(Certificate(der: Array(whole[..<count])) == nil) }
        #expect(Certificate(der: whole + [0]) == nil)
        for index in whole.indices {
            for byte: UInt8 in [0, 0x1F, 0x7F, 0x80, 0x84, 0xFF] {
                var bytes = whole
                bytes[index] = byte
                _ = Certificate(der: bytes)
            }
        }
    }

    @Test(
        "a length in more bytes than it takes is none",
        arguments: [[0x30, 0x81, 0x05], [0x30, 0x82, 0x00, 0x85], [0x30, 0x80], [0x3F, 0x81, 0x05]] as [[UInt8]])
    func lengths(head: [UInt8]) {
        #expect(Certificate(der: head + [UInt8](repeating: 0, count: 0x85)) == nil)
    }
}
