// The one file of the pure modules that reaches for JSON. Darwin has no FoundationEssentials.
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON bodies: strict on the way in, sorted keys on the way out. [JS1–JS5]
package enum JSONBody {
    /// Checks the raw bytes first (`JSONScanner`), because the decoder alone takes UTF-16, a BOM, duplicate keys and `1.0`.
    ///
    /// - Parameter bytesMax: what a client may send; a client reads answers of a relay up to a whole frame.
    /// - Throws: `tooLarge`, `badText` or `badRequest`, naming the field where one is wrong; `badName` for a bad name.
    package static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false
    ) throws(WireError) -> T {
        try JSONScanner.check(bytes, bytesMax: bytesMax, anyKeys: anyKeys)
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as WireError {
            throw error
        } catch let error as DecodingError {
            throw WireError(.badRequest, describe(error))
        } catch {
            throw WireError(.badRequest, "the JSON body cannot be read")
        }
    }

    package static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            preconditionFailure("encoding \(type(of: value)): \(error)")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "the body" : "field \(path)"
        }
        switch error {
        case .keyNotFound(let key, _): return "field \(key.stringValue) is missing"
        case .typeMismatch(_, let context): return "\(path(context)) has the wrong type"
        case .valueNotFound(_, let context): return "\(path(context)) is null"
        case .dataCorrupted(let context): return "\(path(context)) has a value that is not allowed"
        @unknown default: return "the JSON body cannot be read"
        }
    }
}
