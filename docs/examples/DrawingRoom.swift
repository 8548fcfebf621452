// docs/moving-from-twilio.md explains this class.
import RelayClient

@MainActor
final class DrawingRoom {
    var showPen: (_ user: String, Payload) -> Void = { _, _ in }
    /// A stroke by its key; `nil` when it is gone.
    var showStroke: (_ key: String, Payload?) -> Void = { _, _ in }
    var showPeople: (_ names: [String]) -> Void = { _ in }
    var showProblem: (RelayError) -> Void = { _ in }

    private let client: WhiteboardClient
    private let room: Channel
    private var pen: TopicPublisher?

    init(_ room: String, at relay: Invitation, as user: String) throws {
        client = try WhiteboardClient(relay, user: user)
        self.room = try client.channel(room)
    }

    /// Replaces `connect` with two tracks. It shows the board as it is, and what happens there, until its task ends.
    func enter(name: String) async throws {
        let topic = try room.topic("pen")
        let packets = topic.packets(), pictures = room.board.pictures(), people = room.presence.members(), problems = client.problems()
        try await room.open()
        try await room.presence.set(["name": name])
        // A track with maxPacketLifeTime 300.
        pen = try await topic.startPublishing(lifetime: .milliseconds(300))
        try await withThrowingTaskGroup { group in
            group.addTask { for try await case .packet(let packet) in packets { await self.show(packet) } }
            group.addTask { for await picture in pictures { await self.show(picture) } }
            group.addTask { for await members in people { await self.show(members) } }
            group.addTask { for try await problem in problems { await self.show(problem) } }
            for try await _ in group {}
        }
    }

    /// With a slot, a slow reader may get only the newest place.
    func penMoved(_ point: String) throws { try pen?.send(Payload(point), slot: 1) }
    /// Await `stored` of the receipt before you say "saved".
    @discardableResult
    func finished(_ stroke: [UInt8], key: String) throws -> StoredReceipt { try room.board.put(Payload(stroke), key: key) }
    @discardableResult
    func erased(key: String) throws -> StoredReceipt { try room.board.remove(key) }

    private func show(_ packet: Packet) { showPen(packet.publisher, packet.payload) }
    /// Own strokes are among them, and go again if the relay refuses them.
    private func show(_ picture: BoardPicture) { for key in picture.changed { showStroke(key, picture.records[key]?.payload) } }
    private func show(_ members: [String: Member]) { showPeople(members.map { $1.states["name"] ?? $0 }) }
    private func show(_ problem: Problem) { showProblem(problem.error) }
}
