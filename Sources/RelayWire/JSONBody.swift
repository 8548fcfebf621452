/// JSON bodies: strict on the way in, sorted keys on the way out. [JS1–JS5]
package enum JSONBody {
    /// - Parameter bytesMax: what a client may send; a client reads answers of a relay up to a whole frame.
    /// - Throws: `tooLarge`, `badText` or `badRequest`, naming the field where one is wrong; `badName` for a bad name.
    package static func decode<Body: JSONObject>(
        _ type: Body.Type, from bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false
    ) throws(WireError) -> Body {
        var json = try JSONFields(reading: bytes, bytesMax: bytesMax, anyKeys: anyKeys)
        return try json.decode(type)
    }

    package static func encode(_ body: some JSONObject) -> [UInt8] {
        var body = body
        return JSONText.bytes { text in
            var json = JSONFields(writing: text)
            json.write(&body)
            text = json.text
        }
    }
}
