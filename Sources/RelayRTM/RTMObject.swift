public import Foundation

/// What apps do with the hosted SDK's objects, which are `NSObject`s: each object is its fields. `copy()` makes another one with the same
/// fields, which it shares, and `description` names them. Two with equal fields are equal: while one is in a set, leave it as it is.
@dynamicMemberLookup
public class RTMObject<Fields: Hashable>: NSObject, NSCopying {
    var fields: Fields

    required init(fields: Fields) {
        self.fields = fields
        super.init()
    }

    /// A field by its name.
    public subscript<Value>(dynamicMember field: WritableKeyPath<Fields, Value>) -> Value {
        get { fields[keyPath: field] }
        set { fields[keyPath: field] = newValue }
    }

    public override var description: String {
        let named = Mirror(reflecting: fields).children.map { "\($0.label ?? ""): \($0.value)" }
        return "\(type(of: self))(\(named.joined(separator: ", ")))"
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.fields == fields }
    public override var hash: Int { fields.hashValue }
    public func copy(with zone: NSZone? = nil) -> Any { Self(fields: fields) }
}

/// One state as hosted RTM 2.1 has it.
public final class RTMStateItem: RTMObject<RTMStateItemFields> {
    /// Its value.
    // On Apple's systems every `NSObject` has a method `value`, which is found before a field.
    public var value: String {
        get { fields.value }
        set { fields.value = newValue }
    }

    /// An empty one.
    public convenience init() { self.init(fields: .init()) }
}

/// What an `RTMStateItem` has.
public struct RTMStateItemFields: Hashable {
    /// Name of the state.
    public var key = ""
    var value = ""
}

extension [RTMStateItem] {
    /// The last of each key counts.
    var byKey: [String: String] { reduce(into: [:]) { $0[$1.key] = $1.value } }
}

extension [String: String] {
    /// In order of key.
    var items: [RTMStateItem] { sorted { $0.key < $1.key }.map { RTMStateItem(fields: .init(key: $0.key, value: $0.value)) } }
}
