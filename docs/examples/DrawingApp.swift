// docs/client-interface.md links to this file. The pad and the functions draw… and show… are the app's.
import RelayClient

@MainActor func drawingApp(_ link: String) async throws {
    let client = try WhiteboardClient(Invitation(link), user: "alice-7f3a")
    let lesson = try client.channel("lesson"), points = try lesson.topic("points")
    let pictures = lesson.board.pictures(), packets = points.packets(), problems = client.problems()
    try await lesson.open()
    let pen = try await points.startPublishing(lifetime: .milliseconds(300))
    pad.onPoint = { point in try? pen.send(point) }
    pad.onStroke = { key, stroke in _ = try? lesson.board.put(stroke, key: key, customType: "stroke") }
    pad.onErase = { key in _ = try? lesson.board.remove(key) }
    try await withThrowingTaskGroup { group in
        group.addTask {
            for await picture in pictures { for key in picture.changed { await drawStroke(key, picture.records[key]?.payload) } }
        }
        group.addTask { for try await case .packet(let packet) in packets { await drawLive(packet.publisher, packet.payload) } }
        group.addTask { for try await problem in problems { await showError(problem.error) } }
        for try await _ in group {}
    }
}
