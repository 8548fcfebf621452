/// What can stand in a body that is written by hand.
package protocol JSONValue {
    /// Keys in the order of their bytes, and what is absent not at all.
    func write(to text: inout JSONText)
}

extension JSONText {
    @inline(__always)
    mutating func object(_ fields: (inout Self) -> Void) {
        beginObject()
        fields(&self)
        endObject()
    }

    /// Nothing where there is no value.
    @inline(__always)
    mutating func field(_ key: StaticString, _ value: (some JSONValue)?) {
        guard let value else { return }
        self.key(key)
        value.write(to: &self)
    }
}

extension String: JSONValue {
    package func write(to text: inout JSONText) { text.value(self) }
}

extension Name: JSONValue {
    package func write(to text: inout JSONText) { text.value(self.text) }
}

extension Bool: JSONValue {
    package func write(to text: inout JSONText) { text.value(self) }
}

extension FixedWidthInteger where Self: JSONValue {
    package func write(to text: inout JSONText) { text.value(self) }
}

extension Int: JSONValue {}
extension UInt16: JSONValue {}
extension UInt32: JSONValue {}
extension UInt64: JSONValue {}

extension RawRepresentable where Self: JSONValue, RawValue: JSONValue {
    package func write(to text: inout JSONText) { rawValue.write(to: &text) }
}

extension ChannelKind: JSONValue {}
extension ErrorCode: JSONValue {}
extension Feature: JSONValue {}
extension PresenceEvent.Kind: JSONValue {}

extension Array: JSONValue where Element: JSONValue {
    package func write(to text: inout JSONText) {
        text.beginArray()
        for element in self { element.write(to: &text) }
        text.endArray()
    }
}

extension Dictionary: JSONValue where Key == String, Value: JSONValue {
    package func write(to text: inout JSONText) {
        text.beginObject()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            text.key(key)
            value.write(to: &text)
        }
        text.endObject()
    }
}
