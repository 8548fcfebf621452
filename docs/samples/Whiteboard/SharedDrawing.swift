import BoardFormat
import Observation
import PencilKit
import RelayClient
import UIKit
import WhiteboardModel

/// Keeps a PencilKit canvas and a board the same: each stroke of the one is a record of the other.
@MainActor @Observable
final class SharedDrawing: NSObject, PKCanvasViewDelegate {
    /// Tools that the board format has strokes for. PencilKit's own picker offers more: half a stroke erased, crayons.
    enum Tool: String, CaseIterable, Identifiable {
        case black, blue, red, eraser
        var id: Self { self }
        var name: String { rawValue.capitalized }
        var image: String { self == .eraser ? "eraser" : "pencil.tip" }
        var color: UIColor {
            switch self {
            case .black: .black
            case .blue: UIColor(red: 0.11, green: 0.31, blue: 0.85, alpha: 1)
            case .red: UIColor(red: 0.75, green: 0.07, blue: 0.24, alpha: 1)
            case .eraser: .gray
            }
        }
    }

    let board: BoardModel
    var tool = Tool.black { didSet { choose(tool) } }
    /// Why the last change was not made.
    var problem: String?
    /// Elements of the board that PencilKit cannot draw.
    private(set) var otherElements = 0
    private(set) var offset = CGPoint.zero
    private(set) var zoom: CGFloat = 1
    private var steps: [[Change]] = []
    var canUndo: Bool { !steps.isEmpty }

    private struct Change {
        let key: String
        let before, after: DrawnStroke?
    }

    @ObservationIgnored let canvas = PKCanvasView()
    @ObservationIgnored private let watch = PenWatch()
    /// The board's strokes by key, and the keys of those that are on the canvas.
    @ObservationIgnored private var strokes: [String: DrawnStroke] = [:]
    @ObservationIgnored private var keys: [Mark: String] = [:]
    /// From when the pen comes down until its stroke is in the drawing: a new drawing would break the line.
    @ObservationIgnored private var isDrawing = false
    /// There while the pen has lifted and the drawing has not changed yet.
    @ObservationIgnored private var settling: Task<Void, any Error>?
    @ObservationIgnored private var isShowing = false
    /// Whether the canvas shows something else than `strokes`.
    @ObservationIgnored private var isStale = false
    @ObservationIgnored private var topLayer = 0
    @ObservationIgnored private var lastSeed: UInt32 = 0
    private static let stepsMax = 100

    init(_ board: BoardModel) {
        self.board = board
        super.init()
        canvas.delegate = self
        // PencilKit turns ink round in the dark, and the board has one picture for all.
        canvas.overrideUserInterfaceStyle = .light
        canvas.drawingPolicy = UIPencilInteraction.prefersPencilOnlyDrawing ? .pencilOnly : .anyInput
        (canvas.minimumZoomScale, canvas.maximumZoomScale) = (0.25, 4)
        choose(tool)
        (watch.cancelsTouchesInView, watch.delaysTouchesEnded) = (false, false)
        watch.moved = { [weak self] place in self?.point(at: place) }
        canvas.addGestureRecognizer(watch)
        board.onRecords = { [weak self] keys in self?.take(keys) }
    }

    private func choose(_ tool: Tool) {
        canvas.tool = tool == .eraser ? PKEraserTool(.vector) : PKInkingTool(.pen, color: tool.color, width: 4)
    }

    // MARK: - What this person draws

    func canvasViewDidBeginUsingTool(_ canvasView: PKCanvasView) {
        stopSettling()
        isDrawing = true
    }

    func canvasViewDidEndUsingTool(_ canvasView: PKCanvasView) {
        stopSettling()
        settling = Task { [weak self] in
            // An eraser that met nothing changes nothing.
            try await Task.sleep(for: .milliseconds(200))
            self?.settle()
        }
    }

    /// Called for every change of the drawing, also for those that `show` makes.
    func canvasViewDrawingDidChange(_ canvasView: PKCanvasView) {
        guard !isShowing else { return }
        collect()
        if settling != nil { settle() }
    }

    private func stopSettling() {
        settling?.cancel()
        settling = nil
    }

    private func settle() {
        stopSettling()
        isDrawing = false
        show()
        fit()
    }

    /// Sends what differs between the canvas and what `show` put there.
    private func collect() {
        var gone = keys
        var changes: [Change] = []
        for stroke in canvas.drawing.strokes where gone.removeValue(forKey: Mark(stroke)) == nil {
            let key = UUID().uuidString
            do {
                let drawn = try DrawnStroke(stroke, key: key, layer: topLayer + 1)
                topLayer += 1
                changes.append(Change(key: key, before: nil, after: drawn))
            } catch {
                problem = "This line has no place on the board: \(error)"
                isStale = true
            }
            keys[Mark(stroke)] = key
        }
        for (mark, key) in gone {
            keys[mark] = nil
            // Apps leave alone what somebody has protected.
            guard let stroke = strokes[key], !stroke.isLocked else {
                isStale = true
                continue
            }
            changes.append(Change(key: key, before: stroke, after: nil))
        }
        guard !changes.isEmpty else { return }
        for change in changes { put(change.after, key: change.key) }
        steps = steps.suffix(Self.stepsMax - 1) + [changes]
    }

    /// Takes back this person's last change, except where others have changed the same strokes since.
    func undo() {
        for change in steps.popLast() ?? [] where strokes[change.key]?.payload == change.after?.payload {
            put(change.before, key: change.key)
            isStale = true
        }
        show()
    }

    private func put(_ stroke: DrawnStroke?, key: String) {
        do {
            if let stroke {
                try board.put(stroke.payload, key: key, customType: BoardWords.stroke)
            } else {
                try board.remove(key)
            }
            strokes[key] = stroke
        } catch {
            problem = plainWords(error)
            isStale = true
        }
    }

    // MARK: - What the board has

    /// What the relay refused is here again as it was; the model tells why.
    private func take(_ changed: Set<String>) {
        for key in changed {
            let record = board.records[key]
            guard record == nil || record?.payload != strokes[key]?.payload else { continue }
            isStale = true
            let payload = record?.payload ?? ""
            // What breaks a rule of the format is passed over, as by every reader.
            switch try? BoardMessage.decode(customType: record?.customType, payload: payload.bytes, bytesMax: BoardLimits.recordBytesMax) {
            case .stroke(let part)?:
                lastSeed += 1
                strokes[key] = DrawnStroke(part.stroke, payload, seed: lastSeed)
                topLayer = max(topLayer, part.stroke.z)
            case .text(let text)?: (strokes[key], topLayer) = (nil, max(topLayer, text.z))
            case .image(let image)?: (strokes[key], topLayer) = (nil, max(topLayer, image.z))
            case .title, .erase, .move, nil: strokes[key] = nil
            }
        }
        otherElements = board.records.count - strokes.count
        show()
    }

    private func show() {
        guard isStale, !isDrawing else { return }
        collect()
        isStale = false
        let ordered = strokes.sorted { ($0.value.layer, $0.key) < ($1.value.layer, $1.key) }
        isShowing = true
        canvas.drawing = PKDrawing(strokes: ordered.map(\.value.ink))
        // As the canvas tells them: it may keep a date less exactly than it was given.
        keys = Dictionary(zip(canvas.drawing.strokes.map(Mark.init), ordered.map(\.key))) { $1 }
        isShowing = false
        // PencilKit's undo would bring back the drawing as it was before others changed it.
        canvas.undoManager?.removeAllActions()
        fit()
    }

    // MARK: - Places

    /// Leaves room around the board to scroll to.
    func fit() {
        let bounds = canvas.drawing.bounds, box = bounds.isNull ? .zero : bounds, room: CGFloat = 1_000
        canvas.contentSize = CGSize(
            width: max(canvas.bounds.width, (box.maxX + room) * canvas.zoomScale),
            height: max(canvas.bounds.height, (box.maxY + room) * canvas.zoomScale))
        canvas.contentInset = UIEdgeInsets(
            top: max(0, room - box.minY) * canvas.zoomScale, left: max(0, room - box.minX) * canvas.zoomScale, bottom: 0, right: 0)
    }

    func scrollViewDidScroll(_ scrollView: UIScrollView) { (offset, zoom) = (scrollView.contentOffset, scrollView.zoomScale) }
    func scrollViewDidZoom(_ scrollView: UIScrollView) { (offset, zoom) = (scrollView.contentOffset, scrollView.zoomScale) }

    func onScreen(_ place: CGPoint) -> CGPoint { CGPoint(x: place.x * zoom - offset.x, y: place.y * zoom - offset.y) }

    /// Shows the others where the pen is; `nil`: it was lifted.
    private func point(at place: CGPoint?) {
        board.point(at: Cursor(place: place.map { CGPoint(x: $0.x / canvas.zoomScale, y: $0.y / canvas.zoomScale) }).payload)
    }
}

/// Tells a stroke on the canvas from all others: PencilKit gives it no id.
private struct Mark: Hashable {
    let begun: Date
    let seed: UInt32

    init(_ stroke: PKStroke) { (begun, seed) = (stroke.path.creationDate, stroke.randomSeed) }
}

/// Sees where the pen is, and never takes a touch from the canvas.
private final class PenWatch: UIGestureRecognizer {
    var moved: (CGPoint?) -> Void = { _ in }
    private var last: TimeInterval = 0
    /// A pencil tells some 240 places a second; the relay would hold them back, and with them the strokes.
    private static let pause: TimeInterval = 1 / 30

    override func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent) {
        guard let touch = touches.first, event.timestamp - last >= Self.pause else { return }
        last = event.timestamp
        moved(touch.preciseLocation(in: view))
    }

    override func touchesEnded(_ touches: Set<UITouch>, with event: UIEvent) { end() }
    override func touchesCancelled(_ touches: Set<UITouch>, with event: UIEvent) { end() }

    private func end() {
        moved(nil)
        state = .failed
    }

    override func canBePrevented(by preventingGestureRecognizer: UIGestureRecognizer) -> Bool { false }
    override func canPrevent(_ preventedGestureRecognizer: UIGestureRecognizer) -> Bool { false }
}
