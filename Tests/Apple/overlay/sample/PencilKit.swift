// Of PencilKit what docs/samples uses. Signatures only; the page of each stands under https://developer.apple.com/documentation/pencilkit,
// such as pkstroke/init(ink:path:transform:mask:randomseed:).
@_exported import UIKit

public struct PKInk {
    public init(_ inkType: PKInk.InkType, color: UIColor = .black) {}
    public var color: UIColor { get { .black } set {} }
    public enum InkType: String, Sendable {
        case pen, pencil, marker
        @available(iOS 17.0, *) case monoline, fountainPen, watercolor, crayon
    }
}

public struct PKStrokePoint {
    public init(
        location: CGPoint, timeOffset: TimeInterval, size: CGSize, opacity: CGFloat, force: CGFloat, azimuth: CGFloat, altitude: CGFloat
    ) {}
    public var location: CGPoint { .zero }
    public var timeOffset: TimeInterval { 0 }
    public var size: CGSize { .zero }
}

public struct PKStrokePath: RandomAccessCollection {
    public init<T: Sequence<PKStrokePoint>>(controlPoints: T, creationDate: Date) {}
    public var creationDate: Date { Date() }
    public func interpolatedPoint(at parametricValue: CGFloat) -> PKStrokePoint { fatalError() }
    public func interpolatedPoints(in range: ClosedRange<CGFloat>? = nil, by stride: InterpolatedSlice.Stride) -> InterpolatedSlice {
        fatalError()
    }
    public struct InterpolatedSlice: Sequence, IteratorProtocol {
        public enum Stride { case distance(CGFloat), time(TimeInterval), parametricStep(CGFloat) }
        public mutating func next() -> PKStrokePoint? { nil }
    }
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(i: Int) -> PKStrokePoint { fatalError() }
}

public struct PKStroke {
    public init(ink: PKInk, path: PKStrokePath, transform: CGAffineTransform = .identity, mask: UIBezierPath? = nil) {}
    @available(iOS 16.0, *)
    public init(ink: PKInk, path: PKStrokePath, transform: CGAffineTransform = .identity, mask: UIBezierPath? = nil, randomSeed: UInt32) {}
    public var ink: PKInk { get { fatalError() } set {} }
    public var path: PKStrokePath { get { fatalError() } set {} }
    public var transform: CGAffineTransform { get { .identity } set {} }
    @available(iOS 16.0, *)
    public var randomSeed: UInt32 { get { 0 } set {} }
}

public struct PKDrawing: Equatable {
    public init() {}
    public init<S: Sequence<PKStroke>>(strokes: S) {}
    public var strokes: [PKStroke] { get { [] } set {} }
    public var bounds: CGRect { .zero }
}

public protocol PKTool {}

public struct PKInkingTool: PKTool {
    public typealias InkType = PKInk.InkType
    public init(_ inkType: InkType, color: UIColor = UIColor.black, width: CGFloat? = nil) {}
}

public struct PKEraserTool: PKTool {
    public enum EraserType: Sendable { case vector, bitmap }
    public init(_ eraserType: EraserType) {}
}

public enum PKCanvasViewDrawingPolicy: UInt, Sendable { case `default`, anyInput, pencilOnly }

@MainActor open class PKCanvasView: UIScrollView {
    public override init() { super.init() }
    open weak var delegate: (any PKCanvasViewDelegate)?
    open var drawing: PKDrawing { get { PKDrawing() } set {} }
    open var tool: any PKTool { get { PKEraserTool(.vector) } set {} }
    open var drawingPolicy: PKCanvasViewDrawingPolicy { get { .default } set {} }
}

/// Its methods are optional.
@MainActor public protocol PKCanvasViewDelegate: UIScrollViewDelegate {
    func canvasViewDrawingDidChange(_ canvasView: PKCanvasView)
    func canvasViewDidBeginUsingTool(_ canvasView: PKCanvasView)
    func canvasViewDidEndUsingTool(_ canvasView: PKCanvasView)
}

extension PKCanvasViewDelegate {
    public func canvasViewDrawingDidChange(_ canvasView: PKCanvasView) {}
    public func canvasViewDidBeginUsingTool(_ canvasView: PKCanvasView) {}
    public func canvasViewDidEndUsingTool(_ canvasView: PKCanvasView) {}
}
