// docs/pencilkit.md explains this class. Tests/Documented/swift_blocks.py compiles it against declarations of UIKit and PencilKit.
import PencilKit
import RelayClient
import UIKit

/// Keeps a canvas and the board of a channel the same.
@MainActor
final class SharedCanvas: NSObject, PKCanvasViewDelegate, RelayClientDelegate {
    static let customType = "pkstroke"

    /// How much of the board has arrived, 0…1; `nil` once all is here.
    var showProgress: (Double?) -> Void = { _ in }
    /// The relay did not keep a change of this user; why, in words.
    var showProblem: (String) -> Void = { _ in }
    /// Where others have their pens, in the canvas's coordinates; `nil` when one is lifted.
    var showPen: (_ user: String, CGPoint?) -> Void = { _, _ in }

    private let canvas: PKCanvasView
    private let client: RelayClient
    private let channel: String
    private var stream: StreamChannel?

    /// The board as far as this client knows it, and the part of it that is on the canvas, by key.
    private var strokes: [String: PKStroke] = [:]
    private var shown: [String: PKStroke] = [:]
    /// Own changes whose place in the order is unknown so far, by key, and what others wrote under such a key meanwhile.
    private var underWay: [String: Int] = [:]
    private var arrived: [String: Message] = [:]
    private var clearedAt: UInt64 = 0
    /// Whether the client reads the board from its beginning; own changes that settled meanwhile; and the offset up to which it last read.
    private var isReading = true
    private var settled: [(key: String, offset: UInt64)] = []
    private var readThrough: UInt64 = 0
    /// What each key held before this user's last steps.
    private var steps: [[String: PKStroke?]] = []
    private var isDrawing = false

    init(canvas: PKCanvasView, client: RelayClient, channel: String) {
        self.canvas = canvas
        self.client = client
        self.channel = channel
        super.init()
        canvas.delegate = self
    }

    /// Enters the channel: the board comes in batches, then `caughtUp`, then what others draw.
    func enter() async throws {
        client.delegate = self
        try await client.subscribe(channel, since: .beginning)
        let stream = try await client.join(channel)
        try await stream.subscribeTopic("pen")
        try await stream.joinTopic("pen")
        self.stream = stream
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
        make(changes)
    }

    /// Takes back this user's last change. Offer it instead of PencilKit's own undo, which does not know about other users.
    func undo() {
        guard let step = steps.popLast() else { return }
        make(step, isUndo: true)
        show()
    }

    private func make(_ changes: [String: PKStroke?], isUndo: Bool = false) {
        if !isUndo { steps.append(changes.keys.reduce(into: [:]) { $0[$1] = .some(strokes[$1]) }) }
        for (key, stroke) in changes.sorted(by: { $0.key < $1.key }) {
            strokes[key] = stroke
            send(stroke, key: key)
        }
    }

    private func send(_ stroke: PKStroke?, key: String) {
        do {
            // Both calls take their place in the order before they return.
            let receipt =
                if let stroke {
                    try client.sendLarge(
                        Payload(PKDrawing(strokes: [stroke]).dataRepresentation()), to: channel, customType: Self.customType, key: key,
                        retain: true)
                } else {
                    try client.send(removing: key, from: channel)
                }
            underWay[key, default: 0] += 1
            Task {
                do throws(RelayError) {
                    // Not before: a relay that ends may lose what it has accepted, and accepts it again behind what others wrote.
                    settle(key, at: try await receipt.stored)
                } catch {
                    settle(key, at: nil)
                    showProblem(error.text)
                }
            }
        } catch {
            showProblem(error.text)
        }
    }

    /// An own change has its place in the order for good, or the relay refused it. What others wrote counts if it is later.
    private func settle(_ key: String, at offset: UInt64?) {
        // Its outcome is known when all of the board has arrived.
        guard !isReading else { return settled.append((key, offset ?? 0)) }
        guard let count = underWay[key] else { return }
        underWay[key] = count > 1 ? count - 1 : nil
        guard count == 1 else { return }
        // The board that was read includes this change, or somebody has replaced or removed it since.
        if let offset, offset <= max(clearedAt, readThrough) { strokes[key] = nil }
        if let message = arrived.removeValue(forKey: key), message.offset >= offset ?? 0 { apply(message) }
        show()
    }

    // MARK: - What others draw

    func relayClient(_ client: RelayClient, received message: Message) {
        apply(message)
        show()
    }

    func relayClient(_ client: RelayClient, received batch: BoardBatch) {
        guard batch.channel == channel else { return }
        for message in batch.messages { apply(message) }
        showProgress(batch.progress)
        show()
    }

    func relayClient(_ client: RelayClient, caughtUp channel: CaughtUpChannel) {
        guard channel.channel == self.channel else { return }
        showProgress(nil)
        guard isReading else { return }
        isReading = false
        readThrough = channel.head
        let settled = settled
        self.settled = []
        for (key, offset) in settled { settle(key, at: offset) }
    }

    func relayClient(_ client: RelayClient, cleared board: BoardCleared) {
        guard board.channel == channel else { return }
        clearedAt = board.offset
        forget()
    }

    /// After `reset` the board seen so far is void, and all of it follows.
    func relayClient(_ client: RelayClient, missed messages: MessagesMissed) {
        guard messages.channel == channel, case .reset = messages.extent else { return }
        clearedAt = 0
        isReading = true
        forget()
    }

    /// Own changes that are under way stay: they may be before this event or after it.
    private func forget() {
        strokes = strokes.filter { underWay[$0.key] != nil }
        arrived = [:]
        steps = []
        show()
    }

    private func apply(_ message: Message) {
        guard message.channel == channel, message.isRetained, let key = message.key else { return }
        guard underWay[key] == nil else { return arrived[key] = message }
        if message.isRemoval {
            strokes[key] = nil
        } else if message.customType == Self.customType {
            // A stroke that cannot be read is not drawn.
            strokes[key] = try? PKDrawing(data: Data(message.payload.bytes)).strokes.first
        }
    }

    /// Does nothing while the pen is down: a new drawing would break the line in progress.
    private func show() {
        guard !isDrawing else { return }
        collect()
        shown = strokes
        canvas.drawing = PKDrawing(
            strokes: strokes.sorted { left, right in
                (left.value.path.creationDate, left.key) < (right.value.path.creationDate, right.key)
            }.map(\.value))
        // PencilKit's undo would bring back the drawing as it was before others changed it.
        canvas.undoManager?.removeAllActions()
    }

    // MARK: - Pens

    /// Sends where the pen is, or `nil` when it is lifted: 8 bytes. A slow reader gets the newest place.
    func sendPen(_ place: CGPoint?) {
        guard let stream else { return }
        let numbers = place.map { [Float($0.x), Float($0.y)] } ?? []
        let bytes = numbers.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        // A refused packet does not matter: the next one is newer.
        try? stream.send(Payload(bytes), topic: "pen", slot: 1)
    }

    func relayClient(_ client: RelayClient, received packet: Packet) {
        guard packet.channel == channel, packet.topic == "pen" else { return }
        let bytes = packet.payload.bytes
        func number(at start: Int) -> CGFloat {
            CGFloat(Float(bitPattern: bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }))
        }
        showPen(packet.publisher, bytes.count == 8 ? CGPoint(x: number(at: 0), y: number(at: 4)) : nil)
    }

    /// Removes the pens of users who left.
    func relayClient(_ client: RelayClient, topicsChanged change: TopicsChange) {
        guard change.channel == channel, case .left = change.kind else { return }
        for publisher in change.publishers where publisher.topic == "pen" { showPen(publisher.user, nil) }
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
