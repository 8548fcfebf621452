// What docs/examples/SharedCanvas.swift uses of PencilKit, for machines that have none. Declarations follow Apple's documentation.
@_exported import UIKit

public struct PKStrokePath {
    public var creationDate: Date { Date(timeIntervalSince1970: 0) }
}

public struct PKStroke {
    public var path: PKStrokePath
    public var transform: CGAffineTransform
    public var randomSeed: UInt32
    public var renderBounds: CGRect { .zero }
}

public struct PKDrawing: Equatable {
    public init() {}
    public init(strokes: some Sequence<PKStroke>) {}
    public init(data: Data) throws {}
    public var strokes: [PKStroke] { get { [] } set {} }
    public func dataRepresentation() -> Data { Data() }
}

@MainActor open class PKCanvasView: UIScrollView {
    open weak var delegate: (any PKCanvasViewDelegate)?
    open var drawing: PKDrawing { get { PKDrawing() } set {} }
}

@MainActor public protocol PKCanvasViewDelegate: AnyObject {
    func canvasViewDrawingDidChange(_ canvasView: PKCanvasView)
    func canvasViewDidBeginUsingTool(_ canvasView: PKCanvasView)
    func canvasViewDidEndUsingTool(_ canvasView: PKCanvasView)
}

extension PKCanvasViewDelegate {
    public func canvasViewDrawingDidChange(_ canvasView: PKCanvasView) {}
    public func canvasViewDidBeginUsingTool(_ canvasView: PKCanvasView) {}
    public func canvasViewDidEndUsingTool(_ canvasView: PKCanvasView) {}
}
