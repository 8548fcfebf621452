import RelayPrimitives
import Testing

@testable import BoardFormat

@Suite("images")
struct BoardImageTests {
    /// The one of the page.
    static func image() throws -> BoardImage {
        guard case .image(let image)? = try message("image") else { throw BoardError.missingField("the vector") }
        return image
    }

    private static func message(_ name: String) throws -> BoardMessage? {
        guard let vector = BoardVector.all.first(where: { $0.name == name }) else { return nil }
        return try BoardMessage.decode(customType: vector.kind, payload: bytes(vector.payload))
    }

    @Test("a file of one type is not one of another, whatever the message says", arguments: BoardImage.Kind.allCases)
    func kinds(kind: BoardImage.Kind) throws {
        for other in ["image", "image-jpeg", "image-webp", "image-webp-lossy", "image-webp-extended"] {
            guard case .image(var image)? = try Self.message(other) else { throw BoardError.missingField(other) }
            let isOne = image.kind == kind
            image.kind = kind
            #expect((try? image.record()) != nil ? isOne : !isOne, "\(other) as \(kind)")
        }
    }

    @Test("a file is as large as its head says, and neither side may differ from the message")
    func sizes() throws {
        for name in ["image", "image-jpeg", "image-webp", "image-webp-lossy", "image-webp-extended"] {
            guard case .image(let image)? = try Self.message(name) else { throw BoardError.missingField(name) }
            for (width, height) in [(3, 1), (2, 2), (1, 1)] {
                var other = image
                (other.pixelWidth, other.pixelHeight) = (width, height)
                #expect {
                    try other.record()
                } throws: { error in
                    guard case .badValue(field: "data", let problem)? = error as? BoardError else { return false }
                    return problem == "the file is 2 × 1 pixels, and says \(width) × \(height)"
                }
            }
        }
    }

    @Test("a description has 1 to 1,024 bytes, and the writer refuses every other")
    func descriptions() throws {
        var image = try Self.image()
        for description in ["x", String(repeating: "é", count: 512)] {
            image.description = description
            #expect(try LimitsTests.read(image.record()) == .image(image))
        }
        for (description, actual) in [("", 0), (String(repeating: "é", count: 512) + "x", 1_025)] {
            image.description = description
            #expect(throws: BoardError.outOfRange(field: "description", limit: 1...1_024, actual: actual)) { try image.record() }
        }
    }

    @Test("a head that is cut or damaged anywhere does not trap, and is not taken for another size")
    func damaged() throws {
        var dice = SplitMix64(seed: 3)
        for name in ["image", "image-jpeg", "image-webp", "image-webp-lossy", "image-webp-extended"] {
            guard case .image(let image)? = try Self.message(name) else { throw BoardError.missingField(name) }
            for count in image.data.indices { _ = ImageHead.size(of: Array(image.data.prefix(count)), image.kind) }
            for place in image.data.indices {
                for byte: UInt8 in [0, 1, 0xC0, 0xD8, 0xFF, .random(in: 0...255, using: &dice)] {
                    var file = image
                    file.data[place] = byte
                    guard let record = try? file.record() else { continue }
                    #expect(try LimitsTests.read(record) == .image(file))
                }
            }
        }
    }

    @Test("the size of a JPEG is found behind fill bytes and other segments, and not behind its picture")
    func jpeg() {
        let size: [UInt8] = [0xFF, 0xC2, 0, 17, 8, 0x01, 0x02, 0x03, 0x04, 3]
        let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0xFF, 0xC0]
        #expect(ImageHead.size(of: head + [0xFF, 0xFF] + size, .jpeg).map { [$0, $1] } == [0x304, 0x102])
        #expect(ImageHead.size(of: head + [0xFF, 0xC4, 0, 2] + size, .jpeg).map { [$0, $1] } == [0x304, 0x102])
        #expect(ImageHead.size(of: head + [0xFF, 0xDA, 0, 2] + size, .jpeg) == nil)
        #expect(ImageHead.size(of: head + [0x00] + size, .jpeg) == nil)
    }
}
