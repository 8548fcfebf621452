/// What stands in JSON as one object: a body, or a part of one.
package protocol JSONObject {
    /// As it is before its fields are read.
    init()

    /// Names each field once, in the order of the keys' bytes: the same call reads the field, or writes it.
    mutating func fields(_ json: inout JSONFields)
}

/// Fields of JSON objects: of a body that is well-formed and is being read, or of one that is being written.
///
/// A body can be read as several types, one after the other. Not to be kept longer than its bytes.
///
/// What bodies call is not inlined: copies in ninety of them would take the compiler long, and are not faster.
package struct JSONFields {
    package let isWriting: Bool
    var text: JSONText

    private let tokens: JSONTokens
    /// Of the object whose fields are being read.
    private var object = 0
    /// Its key behind the one that was found last: the next one wanted, most often.
    private var next = 1
    /// What was wrong first. Nothing that is read behind it counts.
    private var problem: WireError?

    init(writing text: JSONText) {
        isWriting = true
        tokens = JSONTokens()
        self.text = text
    }

    /// - Throws: `tooLarge`, `badText`, `badRequest` or `badName`, as `JSONScanner` does.
    package init(
        reading bytes: UnsafeRawBufferPointer, bytesMax: Int = Limits.jsonBodyBytesMax, anyKeys: Bool = false
    ) throws(WireError) {
        isWriting = false
        text = JSONText(into: UnsafeMutableBufferPointer(start: nil, count: 0))
        tokens = try JSONScanner.tokens(of: bytes, .body(bytesMax: bytesMax, anyKeys: anyKeys))
    }

    /// - Throws: `badRequest` with the field that is missing or wrong; `badName`, or what else `refuse` was told.
    @inline(never)
    package mutating func decode<Body: JSONObject>(_ type: Body.Type) throws(WireError) -> Body {
        problem = nil
        var body = Body()
        read(&body, at: 0)
        if let problem { throw problem }
        return body
    }

    // MARK: - Fields that are one value

    @inline(never)
    package mutating func callAsFunction<Value: JSONElement>(_ key: StaticString, _ value: inout Value) {
        if isWriting {
            text.key(key)
            value.write(to: &self)
        } else if let place = required(key), let read = Value(&self, at: place) {
            value = read
        }
    }

    /// Absent when there is no value; `null` is read as absent.
    @inline(never)
    package mutating func callAsFunction<Value: JSONElement>(_ key: StaticString, _ value: inout Value?) {
        if isWriting {
            guard let value else { return }
            text.key(key)
            value.write(to: &self)
        } else if let place = optional(key) {
            value = Value(&self, at: place)
        }
    }

    /// Absent when there is no value. What is there, `null` too, is the value or `error`.
    @inline(never)
    package mutating func callAsFunction<Value: JSONElement>(_ key: StaticString, _ value: inout Value?, else error: WireError) {
        if isWriting { return self(key, &value) }
        guard let place = place(of: key) else { return }
        let earlier = problem
        value = Value(&self, at: place)
        if value == nil { problem = earlier ?? error }
    }

    /// Whether what is read has this field, be it `null`.
    package mutating func has(_ key: StaticString) -> Bool { place(of: key) != nil }

    // MARK: - Fields that are objects

    @inline(never)
    package mutating func callAsFunction<Object: JSONObject>(_ key: StaticString, _ object: inout Object) {
        if isWriting {
            text.key(key)
            write(&object)
        } else if let place = required(key) {
            read(&object, at: place)
        }
    }

    @inline(never)
    package mutating func callAsFunction<Object: JSONObject>(_ key: StaticString, _ object: inout Object?) {
        if isWriting {
            guard object != nil else { return }
            text.key(key)
            write(&object!)
        } else if let place = optional(key) {
            var read = Object()
            self.read(&read, at: place)
            object = read
        }
    }

    @inline(never)
    package mutating func callAsFunction<Object: JSONObject>(_ key: StaticString, _ objects: inout [Object]) {
        if isWriting {
            text.key(key)
            write(objects)
        } else if let place = required(key) {
            read(&objects, at: place)
        }
    }

    @inline(never)
    package mutating func callAsFunction<Object: JSONObject>(_ key: StaticString, _ objects: inout [Object]?) {
        if isWriting {
            guard let objects else { return }
            text.key(key)
            write(objects)
        } else if let place = optional(key) {
            var read: [Object] = []
            self.read(&read, at: place)
            objects = read
        }
    }

    @inline(never)
    mutating func write(_ object: inout some JSONObject) {
        text.beginObject()
        object.fields(&self)
        text.endObject()
    }

    @inline(never)
    mutating func read(_ object: inout some JSONObject, at place: Int) {
        guard take(.object, at: place) else { return }
        let outer = (self.object, next)
        (self.object, next) = (place, place + 1)
        object.fields(&self)
        (self.object, next) = outer
    }

    @inline(never)
    private mutating func write(_ objects: [some JSONObject]) {
        text.beginArray()
        for var object in objects { write(&object) }
        text.endArray()
    }

    @inline(never)
    private mutating func read<Object: JSONObject>(_ objects: inout [Object], at place: Int) {
        guard let end = elements(at: place) else { return }
        var place = place + 1
        while place < end, problem == nil {
            var object = Object()
            read(&object, at: place)
            objects.append(object)
            place = behind(place)
        }
    }
}

// MARK: - Places

extension JSONFields {
    @inline(never)
    private mutating func required(_ key: StaticString) -> Int? {
        if let place = place(of: key) { return place }
        guard problem == nil else { return nil }
        let path = tokens.path(to: object) + ["\(key)"]
        refuse(WireError(.badRequest, "field \(path.joined(separator: ".")) is missing"))
        return nil
    }

    @inline(never)
    private mutating func optional(_ key: StaticString) -> Int? {
        guard let place = place(of: key), tokens[place].kind != .null else { return nil }
        return place
    }

    /// Of the value under a key.
    @inline(never)
    private mutating func place(of key: StaticString) -> Int? {
        let name = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        return place(of: name, from: next, to: behind(object)) ?? place(of: name, from: object + 1, to: next)
    }

    private mutating func place(of name: UnsafeBufferPointer<UInt8>, from: Int, to end: Int) -> Int? {
        var key = from
        while key < end {
            if tokens.has(key, name) {
                next = behind(key)
                return key + 1
            }
            key = behind(key)
        }
        return nil
    }

    /// The place behind a value and all that belongs to it.
    @inline(never)
    func behind(_ place: Int) -> Int { Int(tokens[place].next) }

    // MARK: - What stands at a place

    package func isText(at place: Int) -> Bool { tokens[place].kind == .text || tokens[place].kind == .escapedText }

    @inline(never)
    mutating func string(at place: Int) -> String? {
        guard isText(at: place) else { return mismatch(at: place) }
        return tokens.string(place)
    }

    @inline(never)
    mutating func bool(at place: Int) -> Bool? {
        switch tokens[place].kind {
        case .yes: true
        case .no: false
        case .object, .array, .text, .escapedText, .integer, .fraction, .null: mismatch(at: place)
        }
    }

    @inline(never)
    mutating func integer(at place: Int) -> Int64? {
        guard take(.integer, at: place) else { return nil }
        let digits = tokens.raw(place)
        let isNegative = digits[0] == UInt8(ascii: "-")
        let magnitude = digits[(isNegative ? 1 : 0)...].reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return isNegative ? -magnitude : magnitude
    }

    /// The end of an array.
    @inline(never)
    mutating func elements(at place: Int) -> Int? { take(.array, at: place) ? behind(place) : nil }

    /// The end of an object.
    @inline(never)
    mutating func members(at place: Int) -> Int? { take(.object, at: place) ? behind(place) : nil }

    @inline(never)
    private mutating func take(_ kind: JSONToken.Kind, at place: Int) -> Bool {
        if tokens[place].kind == kind { return true }
        let _: Never? = mismatch(at: place)
        return false
    }

    // MARK: - What is wrong

    private mutating func mismatch<Value>(at place: Int) -> Value? {
        refuse(at: place, tokens[place].kind == .null ? "is null" : "has the wrong type")
        return nil
    }

    @inline(never)
    mutating func refuseValue(at place: Int) { refuse(at: place, "has a value that is not allowed") }

    @inline(never)
    private mutating func refuse(at place: Int, _ what: String) {
        guard problem == nil else { return }
        let path = tokens.path(to: place).joined(separator: ".")
        problem = WireError(.badRequest, "\(path.isEmpty ? "the body" : "field \(path)") \(what)")
    }

    /// The body is not taken; the first error is told.
    @inline(never)
    package mutating func refuse(_ error: WireError) { problem = problem ?? error }
}
