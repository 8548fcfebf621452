/// Writes any `Encodable` value as JSON, its keys in the order of their bytes.
///
/// Values nest as calls do: a container is always of the innermost value that is not finished, and none is kept.
final class JSONBodyEncoder: Encoder {
    /// In raw memory: a class's own properties are checked for overlapping access each time.
    private let state: UnsafeMutablePointer<State>

    private struct State {
        var text = JSONText()
        /// Of all objects that are not finished; those of the innermost are the last.
        var members: [Member] = []
        var frame = Frame(start: 0)
    }

    /// One value that is being written.
    private struct Frame {
        enum Kind { case single, object, array }
        var kind = Kind.single
        var start: Int
        var count = 0
        var isSorted = true
    }

    private struct Member {
        var key: String
        var start: Int
    }

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONBodyEncoder()
        try encoder.writeNested(value)
        // Taken out, so that nothing is copied.
        var text = JSONText()
        swap(&text, &encoder.state.pointee.text)
        return text.finished()
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if begins(.object) { state.pointee.text.beginObject() }
        return KeyedEncodingContainer(JSONMembersWriter(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if begins(.array) { state.pointee.text.beginArray() }
        return JSONElementsWriter(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// - Returns: `false` once more for the same value: a type may write another one's fields and its own into one object.
    private func begins(_ kind: Frame.Kind) -> Bool {
        if state.pointee.frame.kind == kind { return false }
        precondition(state.pointee.frame.kind == .single && state.pointee.frame.start == state.pointee.text.bytes.count, "a value is two things")
        state.pointee.frame.kind = kind
        return true
    }

    // MARK: - Values

    /// Comparisons of types are gone where the type is known.
    @inline(__always)
    fileprivate func write<T: Encodable>(_ value: T) throws {
        if T.self == String.self { return state.pointee.text.value(value as! String) }
        if T.self == Bool.self { return state.pointee.text.value(value as! Bool) }
        if T.self == Int.self { return state.pointee.text.value(value as! Int) }
        if T.self == UInt16.self { return state.pointee.text.value(value as! UInt16) }
        if T.self == UInt32.self { return state.pointee.text.value(value as! UInt32) }
        if T.self == Int64.self { return state.pointee.text.value(value as! Int64) }
        if T.self == UInt64.self { return state.pointee.text.value(value as! UInt64) }
        try writeOther(value)
    }

    @inline(never)
    private func writeOther<T: Encodable>(_ value: T) throws {
        if T.self == Int8.self { return state.pointee.text.value(value as! Int8) }
        if T.self == Int16.self { return state.pointee.text.value(value as! Int16) }
        if T.self == Int32.self { return state.pointee.text.value(value as! Int32) }
        if T.self == UInt8.self { return state.pointee.text.value(value as! UInt8) }
        if T.self == UInt.self { return state.pointee.text.value(value as! UInt) }
        precondition(T.self != Double.self && T.self != Float.self, "numbers are integers [JS3]")
        try writeNested(value)
    }

    private func writeNested(_ value: some Encodable) throws {
        let outer = state.pointee.frame
        state.pointee.frame = Frame(start: state.pointee.text.bytes.count)
        try value.encode(to: self)
        finish()
        state.pointee.frame = outer
    }

    fileprivate func writeMember<T: Encodable>(_ key: String, _ value: T) throws {
        let members = state.pointee.members.count
        if state.pointee.frame.count > 0, state.pointee.frame.isSorted {
            state.pointee.frame.isSorted = state.pointee.members[members - 1].key < key
        }
        state.pointee.members.append(Member(key: key, start: state.pointee.text.bytes.count))
        state.pointee.frame.count += 1
        state.pointee.text.key(key)
        try write(value)
    }

    fileprivate var elements: Int { state.pointee.frame.count }

    fileprivate func writeElement<T: Encodable>(_ value: T) throws {
        state.pointee.frame.count += 1
        try write(value)
    }

    /// The value of this frame is whole.
    private func finish() {
        switch state.pointee.frame.kind {
        case .single:
            guard state.pointee.text.bytes.count == state.pointee.frame.start else { return }
            state.pointee.text.beginObject()
            state.pointee.text.endObject()
        case .array:
            state.pointee.text.endArray()
        case .object:
            if !state.pointee.frame.isSorted { sortMembers() }
            state.pointee.members.removeLast(state.pointee.frame.count)
            state.pointee.text.endObject()
        }
    }

    private func sortMembers() {
        let members = state.pointee.members.suffix(state.pointee.frame.count)
        let starts = members.map(\.start) + [state.pointee.text.bytes.count]
        let order = members.enumerated().sorted { $0.element.key < $1.element.key }
        state.pointee.text.rearrange(from: starts[0], order.map { starts[$0.offset]..<starts[$0.offset + 1] })
    }
}

extension JSONBodyEncoder: SingleValueEncodingContainer {
    func encodeNil() { state.pointee.text.null() }
    // Each requirement of the protocol, one for each type.
    func encode<T: Encodable>(_ value: T) throws { try write(value) }
}

private struct JSONMembersWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONBodyEncoder

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { try encoder.writeMember(key.stringValue, JSONNull()) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.writeMember(key.stringValue, value) }

    // No conformance here writes by these: they would let go of the order in which values nest.
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> { byHand() }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { byHand() }
    func superEncoder() -> any Encoder { byHand() }
    func superEncoder(forKey key: Key) -> any Encoder { byHand() }
}

private struct JSONElementsWriter: UnkeyedEncodingContainer {
    let encoder: JSONBodyEncoder

    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.elements }

    func encodeNil() throws { try encoder.writeElement(JSONNull()) }
    func encode<T: Encodable>(_ value: T) throws { try encoder.writeElement(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> { byHand() }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { byHand() }
    func superEncoder() -> any Encoder { byHand() }
}

private struct JSONNull: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

private func byHand() -> Never { preconditionFailure("a body is nested by its types, not by hand") }
