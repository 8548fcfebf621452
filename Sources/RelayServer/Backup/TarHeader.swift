/// What stands before a file in a tar archive: 512 bytes of POSIX's ustar, numbers in octal digits.
///
///     0    100  108 116 124  136   148      156  157  257       263     265    512
///     name mode uid gid size mtime checksum type link "ustar\0" version zeros
///
/// The file follows, filled up with zeros to a multiple of 512 bytes. Two blocks of zeros end an archive.
struct TarHeader: Equatable {
    static let byteCount = 512
    static let nameBytesMax = 100
    static let fileBytesMax = 0o777_7777_7777

    var name: String
    var fileBytes: Int
    /// Since 1970.
    var seconds: UInt64 = 0

    /// Zeros behind a file of this length.
    static func padding(_ fileBytes: Int) -> Int { (byteCount - fileBytes % byteCount) % byteCount }

    /// A plain file that its owner alone may read, whoever that will be.
    func encoded() -> [UInt8] {
        precondition(name.utf8.count <= Self.nameBytesMax && fileBytes <= Self.fileBytesMax, "tar: \(name), \(fileBytes) bytes")
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        func put(_ text: some Collection<UInt8>, at place: Int) { bytes.replaceSubrange(place..<(place + text.count), with: text) }
        func put(_ number: Int, digits: Int, at place: Int) { put(Self.octal(number, digits), at: place) }
        put(name.utf8, at: 0)
        put(0o600, digits: 7, at: 100)
        put(0, digits: 7, at: 108)
        put(0, digits: 7, at: 116)
        put(fileBytes, digits: 11, at: 124)
        put(Int(clamping: seconds) & Self.fileBytesMax, digits: 11, at: 136)
        put("0".utf8, at: 156)
        put("ustar\u{0}00".utf8, at: 257)
        put(Self.checksum(bytes), digits: 6, at: 148)
        bytes[155] = UInt8(ascii: " ")
        return bytes
    }

    /// - Returns: `nil` for what is no head of a plain file.
    static func read(_ bytes: [UInt8]) -> TarHeader? {
        guard bytes.count == byteCount, bytes[257..<262].elementsEqual("ustar".utf8), bytes[156] == UInt8(ascii: "0"),
            bytes[154] == 0, bytes[155] == UInt8(ascii: " "), number(bytes[148..<154]) == checksum(bytes),
            let fileBytes = number(bytes[124..<136]), bytes[345] == 0
        else { return nil }
        let name = bytes[..<nameBytesMax].prefix { $0 != 0 }
        return TarHeader(
            name: String(decoding: name, as: UTF8.self), fileBytes: fileBytes, seconds: UInt64(number(bytes[136..<148]) ?? 0))
    }

    /// Of all bytes, its own taken for blanks.
    private static func checksum(_ bytes: [UInt8]) -> Int {
        bytes.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }

    private static func octal(_ number: Int, _ digits: Int) -> [UInt8] {
        let text = Array(String(number, radix: 8).utf8)
        return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digits - text.count)) + text
    }

    /// Digits, ended by a blank or zero.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
        return Int(String(decoding: digits, as: UTF8.self), radix: 8).flatMap { $0 < 0 ? nil : $0 }
    }
}
