public import Foundation

/// What the hosted SDK's objects have because they are `NSObject`s, for all objects that apps fill, read and compare: each is its fields.
/// Two with equal fields are equal, `copy()` makes another one, and `description` names each field.
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
    /// An empty one.
    public convenience init() { self.init(fields: .init()) }
}

/// What an `RTMStateItem` has.
public struct RTMStateItemFields: Hashable {
    /// Name of the state.
    public var key = ""
    /// Its value.
    public var value = ""
}

extension [RTMStateItem] {
    /// The last of each key counts.
    var byKey: [String: String] { reduce(into: [:]) { $0[$1.key] = $1.value } }
}

extension [String: String] {
    /// In order of key.
    var items: [RTMStateItem] { sorted { $0.key < $1.key }.map { RTMStateItem(fields: .init(key: $0.key, value: $0.value)) } }
}
