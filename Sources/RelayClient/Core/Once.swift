import RelayPrimitives

/// A value that is known later.
final class Once<Value: Sendable>: Sendable {
    private let kept = Mutex<Value?>(nil)
    var value: Value? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
}
