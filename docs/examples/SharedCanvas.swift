// docs/pencilkit.md explains this class. Tests/Documented/swift_blocks.py compiles it against declarations of UIKit and PencilKit.
import PencilKit
import RelayClient
import UIKit

/// Keeps a canvas and the board of a channel the same.
@MainActor
final class SharedCanvas: NSObject, PKCanvasViewDelegate {
    static let customType = "pkstroke"

    /// How much of the board has arrived, 0…1; `nil` once all is here.
    var showProgress: (Double?) -> Void = { _ in }
    /// The relay did not keep a change of this user; why, in words.
    var showProblem: (String) -> Void = { _ in }
    /// Where others have their pens, in the canvas's coordinates; `nil` when one is lifted.
    var showPen: (_ user: String, CGPoint?) -> Void = { _, _ in }

    private let canvas: PKCanvasView
    private let client: WhiteboardClient
    private let channel: Channel
    private var pen: TopicPublisher?
    /// Whose pens may be shown.
    private var pens: Set<String> = []

    /// The board with this user's changes, and the part of it that is on the canvas, by key.
    private var strokes: [String: SharedStroke] = [:]
    private var shown: [String: PKStroke] = [:]
    /// This user's last steps: what each key held before and after.
    private var steps: [[String: (before: SharedStroke?, after: SharedStroke?)]] = []
    private var isDrawing = false

    init(canvas: PKCanvasView, client: WhiteboardClient, channel: String) throws {
        self.canvas = canvas
        self.client = client
        self.channel = try client.channel(channel)
        super.init()
        canvas.delegate = self
    }

    /// Shows the board as it is, and what others draw, until its task ends.
    func run() async throws {
        let topic = try channel.topic("pen")
        let pictures = channel.board.pictures(), events = channel.events(), problems = client.problems()
        let publishers = channel.publishedTopics()
        try await channel.open()
        try await topic.follow()
        pen = try await topic.startPublishing()
        try await withThrowingTaskGroup { group in
            group.addTask { for await picture in pictures { await self.take(picture) } }
            group.addTask { for try await event in events { await self.take(event) } }
            group.addTask { for await publishers in publishers { await self.take(publishers) } }
            group.addTask { for try await problem in problems { await self.take(problem) } }
            for try await _ in group {}
        }
    }

    // MARK: - What this user draws

    func canvasViewDidBeginUsingTool(_ canvasView: PKCanvasView) { isDrawing = true }

    func canvasViewDidEndUsingTool(_ canvasView: PKCanvasView) {
        isDrawing = false
        sendPen(nil)
        Task {
            // The stroke is in the drawing only after this call.
            try? await Task.sleep(for: .milliseconds(100))
            show()
        }
    }

    /// Called for every change of the drawing, also for those that `show` makes.
    func canvasViewDrawingDidChange(_ canvasView: PKCanvasView) { collect() }

    /// Sends what differs between the canvas and what `show` put there.
    private func collect() {
        var keys: [Look: [String]] = [:]
        for (key, stroke) in shown { keys[Look(stroke), default: []].append(key) }
        var added: [PKStroke] = []
        for stroke in canvas.drawing.strokes where keys[Look(stroke)]?.popLast() == nil { added.append(stroke) }
        // The strokes left in `keys` have gone from the canvas. A piece of one, or the same stroke in another place, may take its key.
        var free: [Look.Origin: [String]] = [:]
        for (look, left) in keys { free[look.origin, default: []] += left }
        var changes: [String: PKStroke?] = [:]
        for stroke in added { changes[free[Look(stroke).origin]?.popLast() ?? UUID().uuidString] = .some(stroke) }
        for key in free.values.joined() { changes[key] = .some(nil) }
        guard !changes.isEmpty else { return }
        for (key, stroke) in changes { shown[key] = stroke }
        var step: [String: (before: SharedStroke?, after: SharedStroke?)] = [:]
        for (key, stroke) in changes { step[key] = (strokes[key], stroke.map(SharedStroke.init)) }
        steps.append(step)
        for (key, change) in step.sorted(by: { $0.key < $1.key }) { put(change.after, key: key) }
    }

    /// Takes back this user's last change, except where others have changed the same strokes since. Offer it instead of PencilKit's own
    /// undo, which does not know about other users.
    func undo() {
        for (key, step) in steps.popLast() ?? [:] where strokes[key]?.payload == step.after?.payload {
            put(step.before, key: key)
        }
        show()
    }

    /// What becomes of it is told by pictures, and by problems.
    private func put(_ stroke: SharedStroke?, key: String) {
        do {
            if let stroke {
                try channel.board.put(stroke.payload, key: key, customType: Self.customType)
            } else {
                try channel.board.remove(key)
            }
            strokes[key] = stroke
        } catch {
            showProblem(error.text)
        }
    }

    // MARK: - What others draw

    private func take(_ picture: BoardPicture) {
        for key in picture.changed {
            let record = picture.records[key]
            let payload = record?.customType == Self.customType ? record?.payload : nil
            if strokes[key]?.payload != payload { strokes[key] = payload.flatMap(SharedStroke.init) }
        }
        showProgress(picture.progress)
        show()
    }

    private func take(_ problem: Problem) { showProblem(problem.error.text) }

    /// Does nothing while the pen is down: a new drawing would break the line in progress.
    private func show() {
        guard !isDrawing else { return }
        collect()
        shown = strokes.mapValues(\.stroke)
        canvas.drawing = PKDrawing(
            strokes: shown.sorted { left, right in
                (left.value.path.creationDate, left.key) < (right.value.path.creationDate, right.key)
            }.map(\.value))
        // PencilKit's undo would bring back the drawing as it was before others changed it.
        canvas.undoManager?.removeAllActions()
    }

    // MARK: - Pens

    /// Sends where the pen is, or `nil` when it is lifted: 8 bytes. A slow reader gets the newest place.
    func sendPen(_ place: CGPoint?) {
        let numbers = place.map { [Float($0.x), Float($0.y)] } ?? []
        let bytes = numbers.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        // A refused packet does not matter: the next one is newer.
        try? pen?.send(Payload(bytes), slot: 1)
    }

    private func take(_ event: RelayEvent) {
        guard case .packet(let packet) = event, packet.topic == "pen" else { return }
        let bytes = packet.payload.bytes
        func number(at start: Int) -> CGFloat {
            CGFloat(Float(bitPattern: bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }))
        }
        showPen(packet.publisher, bytes.count == 8 ? CGPoint(x: number(at: 0), y: number(at: 4)) : nil)
    }

    /// Whoever publishes no more has no pen here.
    private func take(_ publishers: [PublishedTopic]) {
        let users = Set(publishers.filter { $0.topic == "pen" }.map(\.user))
        for user in pens.subtracting(users) { showPen(user, nil) }
        pens = users
    }
}

/// A stroke and its record.
private struct SharedStroke {
    let stroke: PKStroke
    let payload: Payload

    init(_ stroke: PKStroke) { (self.stroke, payload) = (stroke, Payload(PKDrawing(strokes: [stroke]).dataRepresentation())) }

    /// `nil` of one that cannot be read.
    init?(_ payload: Payload) {
        guard let stroke = try? PKDrawing(data: Data(payload.bytes)).strokes.first else { return nil }
        (self.stroke, self.payload) = (stroke, payload)
    }
}

/// What identifies a stroke: PencilKit gives it no id.
private struct Look: Hashable {
    struct Origin: Hashable {
        let begun: Date
        let seed: UInt32
    }

    let origin: Origin
    /// Moving changes the transform, the eraser the bounds.
    private let places: [CGFloat]

    init(_ stroke: PKStroke) {
        origin = Origin(begun: stroke.path.creationDate, seed: stroke.randomSeed)
        let (bounds, transform) = (stroke.renderBounds, stroke.transform)
        places = [
            bounds.minX, bounds.minY, bounds.width, bounds.height,
            transform.a, transform.b, transform.c, transform.d, transform.tx, transform.ty,
        ]
    }
}

/// Sees every touch on a canvas, and never takes one from it: `canvas.addGestureRecognizer(watch)`.
@MainActor
final class PenWatch: UIGestureRecognizer {
    weak var shared: SharedCanvas?

    override func touchesMoved(_ touches: Set<UITouch>, with event: UIEvent) {
        guard let touch = touches.first, let view else { return }
        shared?.sendPen(touch.preciseLocation(in: view))
    }
}
