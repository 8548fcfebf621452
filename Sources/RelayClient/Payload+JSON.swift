#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Payload {
    /// A value as JSON text.
    ///
    /// - Throws: `EncodingError`, for example of a number that is not finite.
    public init(json value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        self = .text(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Reads the value back, from text or bytes.
    ///
    ///     let dot = try message.payload.decode(as: Dot.self)
    ///
    /// - Throws: `DecodingError` for what is not JSON in UTF-8, or another value.
    public func decode<Value: Decodable>(as type: Value.Type, decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: Data(bytes))
    }
}
