import RelayWire
import Testing

@Suite struct NameTests {
    /// Both ways to a name, which must agree: from a string and from the bytes of a frame.
    private func problem(_ bytes: [UInt8]) throws -> ErrorCode? {
        let fromBytes = try refusal { _ = try bytes.withUnsafeBytes { try Name(bytes: $0) } }
        if let text = String(validating: bytes, as: UTF8.self) {
            #expect(try refusal { _ = try Name(text) } == fromBytes)
        }
        return fromBytes
    }

    @Test("[NM1] a name has 1 to 64 bytes")
    func lengths() throws {
        for (count, expected) in [(0, ErrorCode.badName), (1, nil), (2, nil), (64, nil), (65, .badName), (255, .badName)] {
            #expect(try problem([UInt8](repeating: 0x61, count: count)) == expected, "\(count) bytes")
        }
        #expect(throws: WireError(.badName, "a name has at most 64 bytes, this one has 65", limit: 64, actual: 65)) {
            try Name(String(repeating: "a", count: 65))
        }
    }

    @Test("[NM1] each byte is ASCII 0x20–0x7E without * / \\, the first neither _ nor space", arguments: UInt8.min...UInt8.max)
    func characters(byte: UInt8) throws {
        let allowed = (0x20...0x7E).contains(byte) && !"*/\\".utf8.contains(byte)
        let allowedFirst = allowed && !"_ ".utf8.contains(byte)
        #expect(try problem([byte]) == (allowedFirst ? nil : .badName))
        #expect(try problem([byte, 0x61]) == (allowedFirst ? nil : .badName))
        #expect(try problem([0x61, byte]) == (allowed ? nil : .badName))
        #expect(try problem([0x61, byte, 0x61]) == (allowed ? nil : .badName))
    }

    @Test("[NM1] names beyond ASCII are refused", arguments: ["é", "e\u{301}", "名前", "a\u{200B}", "\u{212A}", "😀", "\u{FEFF}a"])
    func nonASCII(text: String) throws {
        #expect(try problem(Array(text.utf8)) == .badName)
    }

    @Test("[NM1] two names are the same when their bytes are, and stand in the order of their bytes")
    func identity() throws {
        #expect(try Name("Anna") != Name("anna"))
        #expect(try Name("anna") != Name("anna "))
        #expect(try Name("anna") == Array("anna".utf8).withUnsafeBytes { try Name(bytes: $0) })
        #expect(
            try ["b", "a", "B", "a b", "a-b", "ab", "a~"].map { try Name($0) }.sorted().map(\.text) == [
                "B", "a", "a b", "a-b", "ab", "a~", "b",
            ])
    }

    @Test("[NM1, JS5] a bad name in a JSON body is badName")
    func inJSON() throws {
        let body = Array(#"{"id":1,"user":"_anna"}"#.utf8)
        #expect(try refusal { _ = try body.withUnsafeBytes { try JSONBody.decode(WhereRequest.self, from: $0) } } == .badName)
    }

    @Test("[NM2] values of states are any UTF-8 and arrive byte for byte")
    func values() throws {
        let values = ["", " ", "_*/\\", "Ünïcode", "U\u{308}", "名前 😀\u{1F469}\u{200D}\u{1F680}", "\u{0}\n\"", "\u{10FFFF}"]
        for value in values {
            let request = SetStatesRequest(id: 1, kind: .message, channel: try Name("a"), states: ["title": value])
            let back = try JSONBody.encode(request).withUnsafeBytes { try JSONBody.decode(SetStatesRequest.self, from: $0) }
            #expect(back.states["title"].map { Array($0.utf8) } == Array(value.utf8))
        }
    }
}
