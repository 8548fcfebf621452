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
        var bytes = 0
        let most = [UInt8](unsafeUninitializedCapacity: bytesExpected) { room, count in
            bytes = write(&body, into: room)
            count = bytes <= room.count ? bytes : 0
        }
        if bytes <= bytesExpected { return most }
        return [UInt8](unsafeUninitializedCapacity: bytes) { room, count in count = write(&body, into: room) }
    }

    /// What most bodies fit into; larger ones are written twice.
    private static let bytesExpected = 2048

    private static func write(_ body: inout some JSONObject, into room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var json = JSONFields(writing: JSONText(into: room))
        json.write(&body)
        return json.text.bytes
    }
}
