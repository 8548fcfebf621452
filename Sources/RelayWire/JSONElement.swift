/// What stands in JSON as anything but an object with fields of its own.
package protocol JSONElement {
    /// Reads the value at a place.
    ///
    /// - Returns: `nil` when it is no such value; `json` has been told.
    init?(_ json: inout JSONFields, at place: Int)

    func write(to json: inout JSONFields)
}

extension String: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let text = json.string(at: place) else { return nil }
        self = text
    }

    package func write(to json: inout JSONFields) { json.text.value(self) }
}

extension Name: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let text = json.string(at: place) else { return nil }
        do {
            try self.init(text)
        } catch {
            json.refuse(error)
            return nil
        }
    }

    package func write(to json: inout JSONFields) { json.text.value(text) }
}

extension JSONFields {
    /// A text that is read as a name is.
    package mutating func name(_ key: StaticString, _ text: inout String) {
        var name = Name(unchecked: text)
        self(key, &name)
        text = name.text
    }

    package mutating func name(_ key: StaticString, _ text: inout String?) {
        var name = text.map(Name.init(unchecked:))
        self(key, &name)
        text = name?.text
    }

    /// A time that stands in whole milliseconds.
    package mutating func milliseconds(_ key: StaticString, _ time: inout Duration) {
        var count = time.wholeMilliseconds
        self(key, &count)
        time = .milliseconds(Int64(clamping: count))
    }
}

extension Duration {
    /// Whole ones; 0 of a negative time.
    package var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: seconds) * 1_000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
    }
}

extension Bool: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let flag = json.bool(at: place) else { return nil }
        self = flag
    }

    package func write(to json: inout JSONFields) { json.text.value(self) }
}

extension FixedWidthInteger where Self: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let integer = json.integer(at: place) else { return nil }
        guard let value = Self(exactly: integer) else {
            json.refuseValue(at: place)
            return nil
        }
        self = value
    }

    package func write(to json: inout JSONFields) { json.text.value(isNegative: self < 0, UInt64(magnitude)) }
}

extension Int: JSONElement {}
extension Int64: JSONElement {}
extension UInt16: JSONElement {}
extension UInt32: JSONElement {}
extension UInt64: JSONElement {}

extension RawRepresentable where Self: JSONElement, RawValue: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let rawValue = RawValue(&json, at: place) else { return nil }
        guard let value = Self(rawValue: rawValue) else {
            json.refuseValue(at: place)
            return nil
        }
        self = value
    }

    package func write(to json: inout JSONFields) { rawValue.write(to: &json) }
}

extension Array: JSONElement where Element: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let end = json.elements(at: place) else { return nil }
        self.init()
        var place = place + 1
        while place < end {
            guard let element = Element(&json, at: place) else { return nil }
            append(element)
            place = json.behind(place)
        }
    }

    package func write(to json: inout JSONFields) {
        json.text.beginArray()
        for element in self { element.write(to: &json) }
        json.text.endArray()
    }
}

extension Dictionary: JSONElement where Key == String, Value: JSONElement {
    package init?(_ json: inout JSONFields, at place: Int) {
        guard let end = json.members(at: place) else { return nil }
        self.init()
        var key = place + 1
        while key < end {
            guard let name = json.string(at: key), let value = Value(&json, at: key + 1) else { return nil }
            self[name] = value
            key = json.behind(key)
        }
    }

    package func write(to json: inout JSONFields) {
        json.text.beginObject()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            json.text.key(key)
            value.write(to: &json)
        }
        json.text.endObject()
    }
}
