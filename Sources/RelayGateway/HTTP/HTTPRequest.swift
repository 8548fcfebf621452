/// The head of one request, read and found to be right. A body it has none.
package struct HTTPRequest: Equatable, Sendable {
    package enum Method: String, Equatable, Sendable { case get = "GET", head = "HEAD" }
    /// The minor version: HTTP/1.0 or HTTP/1.1.
    package enum Version: UInt8, Equatable, Sendable { case http10 = 0, http11 = 1 }

    /// One line of the head.
    package struct Field: Equatable, Sendable {
        /// In small letters.
        package var name: [UInt8]
        /// Without the white space around it. Visible ASCII, spaces, tabs, and bytes above it of which nothing is known.
        package var value: [UInt8]

        package init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    package var method = Method.get
    package var version = Version.http11
    package var target: RequestTarget
    package var fields: [Field] = []

    /// The values of all fields of a name, in order.
    ///
    /// - Parameter name: in small letters.
    package func values(_ name: StaticString) -> [[UInt8]] {
        name.withUTF8Buffer { name in fields.filter { $0.name.elementsEqual(name) }.map(\.value) }
    }

    /// The members of a list that may be spread over several fields, without white space and empty ones. [RFC 9110 §5.6.1]
    package func list(_ name: StaticString) -> [[UInt8]] {
        values(name).flatMap { $0.split(separator: UInt8(ascii: ",")) }.map { Array(trimmed($0)) }.filter { !$0.isEmpty }
    }

    /// Whether a list has this member, in capitals or small letters.
    package func list(_ name: StaticString, has member: StaticString) -> Bool {
        member.withUTF8Buffer { member in list(name).contains { $0.lazy.map(lowercased).elementsEqual(member) } }
    }
}

/// Whether a byte may stand in a method or in the name of a field. [RFC 9110 §5.6.2]
func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
        UInt8(ascii: "*"),
        UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
        UInt8(ascii: "~"):
        true
    default: false
    }
}

func lowercased(_ byte: UInt8) -> UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte }

/// Without spaces and tabs at both ends. [RFC 9110 §5.6.3]
func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    var rest = bytes.drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return rest
}
