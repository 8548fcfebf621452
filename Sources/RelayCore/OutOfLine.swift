/// A value that is rarely there, in memory of its own: 8 bytes where it is not.
@propertyWrapper
struct OutOfLine<Value> {
    private final class Box {
        var value: Value?
        init(_ value: Value?) { self.value = value }
    }

    private var box: Box?

    init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    var wrappedValue: Value? {
        get { box?.value }
        _modify {
            if box == nil {
                var value: Value?
                defer { if value != nil { box = Box(value) } }
                yield &value
            } else {
                // Copies of what holds it do not see the change.
                if !isKnownUniquelyReferenced(&box) { box = Box(box.unsafelyUnwrapped.value) }
                defer { if box.unsafelyUnwrapped.value == nil { box = nil } }
                yield &box.unsafelyUnwrapped.value
            }
        }
    }
}
