// Of UIKit what docs/samples uses. Signatures only; the page of each stands under https://developer.apple.com/documentation/uikit, by its
// name in small letters, such as uigesturerecognizer/canbeprevented(by:).
@_exported import CoreGraphics
@_exported import Foundation

@MainActor open class UIResponder: NSObject {
    open var undoManager: UndoManager? { nil }
}

@MainActor open class UIView: UIResponder {
    open var bounds: CGRect { get { .zero } set {} }
    open var overrideUserInterfaceStyle: UIUserInterfaceStyle { get { .light } set {} }
    open func addGestureRecognizer(_ gestureRecognizer: UIGestureRecognizer) {}
}

public enum UIUserInterfaceStyle: Int, Sendable { case unspecified, light, dark }

@MainActor open class UIScrollView: UIView {
    open var contentOffset: CGPoint { get { .zero } set {} }
    open var contentSize: CGSize { get { .zero } set {} }
    open var contentInset: UIEdgeInsets { get { fatalError() } set {} }
    open var zoomScale: CGFloat { get { 1 } set {} }
    open var minimumZoomScale: CGFloat { get { 1 } set {} }
    open var maximumZoomScale: CGFloat { get { 1 } set {} }
}

/// Its methods are optional.
@MainActor public protocol UIScrollViewDelegate: NSObjectProtocol {
    func scrollViewDidScroll(_ scrollView: UIScrollView)
    func scrollViewDidZoom(_ scrollView: UIScrollView)
}

extension UIScrollViewDelegate {
    public func scrollViewDidScroll(_ scrollView: UIScrollView) {}
    public func scrollViewDidZoom(_ scrollView: UIScrollView) {}
}

public struct UIEdgeInsets: Sendable, Equatable {
    public var top: CGFloat, left: CGFloat, bottom: CGFloat, right: CGFloat
    public init(top: CGFloat, left: CGFloat, bottom: CGFloat, right: CGFloat) {
        (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
    }
}

@MainActor open class UIGestureRecognizer: NSObject {
    public enum State: Int, Sendable { case possible, began, changed, ended, cancelled, failed }
    open var view: UIView? { nil }
    open var state: State { get { .possible } set {} }
    open var cancelsTouchesInView: Bool { get { true } set {} }
    open var delaysTouchesEnded: Bool { get { true } set {} }
    open func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent) {}
    open func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent) {}
    open func touchesCancelled(_ touches: Set<UITouch>, with event: UIEvent) {}
    open func canBePrevented(by preventingGestureRecognizer: UIGestureRecognizer) -> Bool { false }
    open func canPrevent(_ preventedGestureRecognizer: UIGestureRecognizer) -> Bool { false }
    /// With `init(target:action:)`, whose parts have no value by default in Objective-C but do in Swift.
    public override init() { super.init() }
}

@MainActor open class UITouch: NSObject {
    open func preciseLocation(in view: UIView?) -> CGPoint { .zero }
}

@MainActor open class UIEvent: NSObject {
    open var timestamp: TimeInterval { 0 }
}

@MainActor open class UIPencilInteraction: NSObject {
    open class var prefersPencilOnlyDrawing: Bool { false }
}

open class UIColor: NSObject, @unchecked Sendable {
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {}
    open class var black: UIColor { fatalError() }
    open class var gray: UIColor { fatalError() }
    @discardableResult
    open func getRed(
        _ red: UnsafeMutablePointer<CGFloat>?, green: UnsafeMutablePointer<CGFloat>?, blue: UnsafeMutablePointer<CGFloat>?,
        alpha: UnsafeMutablePointer<CGFloat>?
    ) -> Bool { false }
}

open class UIBezierPath: NSObject {}

// Foundation's, on the page foundation/undomanager.
@MainActor open class UndoManager: NSObject {
    open func removeAllActions() {}
}
