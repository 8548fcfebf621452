/// JSON bodies: strict on the way in, sorted keys on the way out. [JS1–JS5]
package enum JSONBody {
    /// - Parameter bytesMax: what a client may send; a client reads answers of a relay up to a whole frame.
    /// - Throws: `tooLarge`, `badText` or `badRequest`, naming the field where one is wrong; `badName` for a bad name.
    package static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false
    ) throws(WireError) -> T {
        try CheckedJSON(bytes, bytesMax: bytesMax, anyKeys: anyKeys).decode(type)
    }

    package static func encode(_ value: some Encodable) -> [UInt8] {
        if let body = value as? any DirectBody { return encodeDirectly(body) }
        do {
            return try JSONBodyEncoder.encode(value)
        } catch {
            preconditionFailure("encoding \(type(of: value)): \(error)")
        }
    }
}

extension JSONBody {
    private static func encodeDirectly(_ body: some DirectBody) -> [UInt8] {
        var text = JSONText()
        body.write(to: &text)
        return text.finished()
    }
}

/// A body of which each login, subscription or change of presence writes one: by hand, to the very bytes that its `Encodable`
/// conformance gives.
package protocol DirectBody: Encodable, JSONValue {}

/// A body that is well-formed, to be read as one type or several. Not to be kept longer than its bytes.
package struct CheckedJSON {
    private let tokens: JSONTokens

    /// - Throws: `tooLarge`, `badText`, `badRequest` or `badName`, as `JSONScanner` does.
    package init(_ bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false) throws(WireError) {
        tokens = try JSONScanner.tokens(of: bytes, bytesMax: bytesMax, anyKeys: anyKeys)
    }

    /// - Throws: `badRequest` with the field that is missing or wrong; `badName`, or what else the type throws.
    package func decode<T: Decodable>(_ type: T.Type) throws(WireError) -> T {
        do {
            return try T(from: JSONBodyDecoder(document: JSONDocument(tokens), index: 0))
        } catch let error as WireError {
            throw error
        } catch let error as DecodingError {
            throw WireError(.badRequest, Self.describe(error))
        } catch {
            throw WireError(.badRequest, "the JSON body cannot be read")
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
