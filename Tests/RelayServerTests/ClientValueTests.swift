import Foundation
import RelayClient
import Testing

/// The values that apps give to the client and get from it.
@Suite struct ClientValueTests {
    private struct Dot: Codable, Equatable {
        var x: Double
        var label: String?
    }

    @Test("a payload is made of literals, of a string, and of bytes in whatever holds them")
    func payloads() {
        let count = 3
        let literals: [Payload] = ["é 🦆", "\(count) ducks", [0, 255], []]
        #expect(literals == [.text("é 🦆"), .text("3 ducks"), .bytes([0, 255]), .bytes([])])
        let data = Data([9, 1, 2, 9])
        #expect(Payload(data) == .bytes([9, 1, 2, 9]) && Payload(data[1...2]) == .bytes([1, 2]) && Payload(Data()) == .bytes([]))
        #expect(Payload([7] as [UInt8]) == .bytes([7]) && Payload(repeatElement(UInt8(7), count: 2)) == .bytes([7, 7]))
        let text = "lesson"
        #expect(Payload(text) == .text("lesson") && Payload(text.dropFirst(3)) == .text("son") && Payload(text.utf8).text == nil)
    }

    @Test("a value comes back from JSON, sent as text or as bytes")
    func json() throws {
        let dot = Dot(x: 1.5, label: "é 🦆")
        let payload = try Payload(json: dot)
        #expect(payload.text != nil)
        #expect(try payload.decode(as: Dot.self) == dot)
        #expect(try Payload(payload.bytes).decode(as: Dot.self) == dot)
        #expect(try Payload(json: [Dot]()) == "[]")
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        #expect(try Payload(json: [Date(timeIntervalSince1970: 2)], encoder: encoder) == "[2]")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try ("[2]" as Payload).decode(as: [Date].self, decoder: decoder) == [Date(timeIntervalSince1970: 2)])
    }

    @Test(
        "what is not JSON, not UTF-8 or another value is a DecodingError",
        arguments: [
            "", "{", #"{"x":"1"}"#, #"{"label":"a"}"#, #"{"x":1} {"x":1}"#, [0x7B, 0x22, 0x78, 0x22, 0x3A, 0x31, 0x7D, 0xFF],
            [0x7B, 0x22, 0x78, 0x22, 0x3A, 0x31, 0x2C, 0x22, 0x6C, 0x61, 0x62, 0x65, 0x6C, 0x22, 0x3A, 0x22, 0xC3, 0x28, 0x22, 0x7D],
        ] as [Payload])
    func wrongJSON(payload: Payload) {
        #expect(throws: DecodingError.self) { try payload.decode(as: Dot.self) }
    }

    @Test("JSON that is too deep is a DecodingError")
    func tooDeep() {
        let payload = Payload(String(repeating: "[", count: 30_000))
        #expect(throws: DecodingError.self) { try payload.decode(as: Dot.self) }
    }

    @Test("a number that JSON does not have is an EncodingError", arguments: [Double.nan, .infinity])
    func notFinite(number: Double) {
        #expect(throws: EncodingError.self) { try Payload(json: Dot(x: number)) }
    }
}
