import BoardFormat
import PencilKit
import RelayClient
import SwiftUI
import WhiteboardModel

/// A board with its tools, the people at it and their pens.
struct BoardView: View {
    let drawing: SharedDrawing
    let leave: () -> Void
    private var board: BoardModel { drawing.board }

    var body: some View {
        NavigationStack {
            PencilCanvas(drawing: drawing)
                .ignoresSafeArea(edges: .bottom)
                .overlay { Pointers(drawing: drawing) }
                .overlay(alignment: .top) { notices }
                .toolbar {
                    ToolbarItem(placement: .topBarLeading) { Button("Leave", action: leave) }
                    ToolbarItemGroup(placement: .topBarTrailing) {
                        people
                        Button("Undo", systemImage: "arrow.uturn.backward") { drawing.undo() }.disabled(!drawing.canUndo)
                    }
                    ToolbarItemGroup(placement: .bottomBar) { tools }
                }
        }
    }

    @ViewBuilder private var tools: some View {
        ForEach(SharedDrawing.Tool.allCases) { tool in
            Button(tool.name, systemImage: tool.image) { drawing.tool = tool }
                .tint(Color(uiColor: tool.color))
                .opacity(drawing.tool == tool ? 1 : 0.4)
        }
    }

    private var people: some View {
        Menu {
            ForEach(board.people.values.sorted { $0.user < $1.user }, id: \.user) { Text($0.shownName) }
        } label: {
            Label("\(board.people.count)", systemImage: "person.2")
        }
    }

    /// One line for the link, one for what is not at the relay, one for the newest problem.
    private var notices: some View {
        VStack {
            switch board.link {
            case .connected: if let progress = board.progress { ProgressView("Reading the board", value: progress) }
            case .closed(let reason): Text("You are out: \(reason.description)").foregroundStyle(.red)
            case .idle, .connecting, .waiting: Text("No link to the relay. What you draw is sent when it is back.")
            }
            if board.unsent.messages + board.unsent.unstored > 0 {
                Text("\(board.unsent.messages + board.unsent.unstored) changes are not stored yet.")
            }
            if drawing.otherElements > 0 { Text("\(drawing.otherElements) texts or pictures are not shown here.") }
            if let words = board.problems.last.map({ plainWords($0.error) }) ?? drawing.problem {
                Button(words) {
                    board.dismissProblems()
                    drawing.problem = nil
                }
                .foregroundStyle(.red)
            }
        }
        .font(.footnote)
        .padding(8)
    }
}

/// PencilKit's canvas.
private struct PencilCanvas: UIViewRepresentable {
    let drawing: SharedDrawing

    func makeUIView(context: Context) -> PKCanvasView { drawing.canvas }
    func updateUIView(_ canvas: PKCanvasView, context: Context) { drawing.fit() }
}

/// Where others have their pens, above the canvas; touches go through.
private struct Pointers: View {
    let drawing: SharedDrawing

    var body: some View {
        GeometryReader { _ in
            ForEach(drawing.board.cursors.values.sorted { $0.publisher < $1.publisher }, id: \.publisher) { packet in
                if let place = Cursor(packet.payload)?.place {
                    Label(drawing.board.people[packet.publisher]?.shownName ?? packet.publisher, systemImage: "pencil.tip")
                        .font(.caption)
                        .position(drawing.onScreen(place))
                }
            }
        }
        .allowsHitTesting(false)
    }
}

extension Member {
    /// People see a name; a program without one is known by its id.
    var shownName: String { states["name"] ?? user }
}

/// A board from records alone: a preview has no relay.
struct BoardView_Previews: PreviewProvider {
    static var previews: some View {
        let line = Stroke(id: try! ElementID("s1"), z: 1, width: 400, points: [(100, 200), (300, 120), (500, 260)].map {
            BoardPoint(x: $0.0 * 100, y: $0.1 * 100)
        })
        let payload = Payload((try! line.record()).payload.bytes)
        let records = BoardRecords([BoardRecord(key: "s1", payload: payload, customType: BoardWords.stroke, author: "ann")])
        let board = BoardModel(records: records, people: ["ann": Member(user: "ann", states: ["name": "Ann"])])
        BoardView(drawing: SharedDrawing(board)) {}
    }
}
