// What docs/examples/SharedCanvas.swift uses of UIKit, for machines that have none. Declarations follow Apple's documentation.
@_exported import Foundation

@MainActor open class UIResponder: NSObject {
    open var undoManager: UndoManager? { nil }
}

@MainActor open class UIView: UIResponder {
    open func addGestureRecognizer(_ recognizer: UIGestureRecognizer) {}
}

@MainActor open class UIScrollView: UIView {}

@MainActor open class UIGestureRecognizer: NSObject {
    open var view: UIView? { nil }
    open var cancelsTouchesInView: Bool { get { true } set {} }
    open func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent) {}
}

@MainActor open class UITouch: NSObject {
    open func preciseLocation(in view: UIView?) -> CGPoint { .zero }
}

@MainActor open class UIEvent: NSObject {
    open func coalescedTouches(for touch: UITouch) -> [UITouch]? { nil }
}

/// Foundation has it on Apple's systems only.
open class UndoManager: NSObject {
    open func removeAllActions() {}
}

public struct CGAffineTransform: Equatable, Sendable {
    public var a: CGFloat = 1, b: CGFloat = 0, c: CGFloat = 0, d: CGFloat = 1, tx: CGFloat = 0, ty: CGFloat = 0
}
