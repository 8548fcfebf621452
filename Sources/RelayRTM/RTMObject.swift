public import Foundation

/// An object as the hosted SDK has them, an `NSObject`: two are equal that are one. Its `description` names each property.
public class RTMObject: NSObject {
    init(_: Void) { super.init() }

    public override var description: String {
        let named = Mirror(reflecting: self).children.map { "\($0.label ?? ""): \($0.value)" }
        return "\(type(of: self))(\(named.joined(separator: ", ")))"
    }
}

/// One that apps make, empty, and fill.
public class RTMValue: RTMObject {
    /// Empty, or the defaults.
    public required init() { super.init(()) }

    static func with(_ fill: (Self) -> Void) -> Self {
        let object = Self()
        fill(object)
        return object
    }
}

/// One state as hosted RTM 2.1 has it.
public final class RTMStateItem: RTMValue {
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
    var items: [RTMStateItem] { sorted { $0.key < $1.key }.map { key, value in .with { ($0.key, $0.value) = (key, value) } } }
}
