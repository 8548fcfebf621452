// docs/moving-from-twilio.md explains this class.
import RelayClient

@MainActor
final class DrawingRoom: RelayClientDelegate {
    var showPen: (_ user: String, Payload) -> Void = { _, _ in }
    /// A stroke by its key, above all others; `nil` when somebody removed it.
    var showStroke: (_ key: String, Payload?) -> Void = { _, _ in }
    /// The board is empty.
    var showEmpty: () -> Void = {}
    var showPeople: (PresenceChange) -> Void = { _ in }
    var showProblem: (RelayError) -> Void = { _ in }

    private let client: RelayClient
    private let room: String
    private let pen: StreamChannel

    /// Replaces `connect` with two tracks.
    init(_ room: String, at relay: Invitation, as user: String) async throws {
        self.room = room
        client = try await RelayClient.connect(to: relay, as: user)
        pen = try await client.join(room)
        // A track with maxPacketLifeTime 300, and the same track of everybody else.
        try await pen.joinTopic("pen", lifetime: .milliseconds(300))
        try await pen.subscribeTopic("pen")
    }

    /// Call it when the closures are set: they get the board as it is, then what others draw.
    func enter(name: String) async throws {
        client.delegate = self
        try await client.presence(of: .message(room)).setStates(["name": name])
        try await client.subscribe(room, since: .beginning)
    }

    /// With a slot, a slow reader may get only the newest place.
    func penMoved(_ point: String) throws { try pen.send(Payload(point), topic: "pen", slot: 1) }
    /// Shows the stroke at once. Its echo shows it again, in its place among those of others.
    func finished(_ stroke: [UInt8], key: String) async {
        showStroke(key, .bytes(stroke))
        do throws(RelayError) {
            _ = try await client.sendLarge(Payload(stroke), to: room, key: key, retain: true, echo: true).stored
        } catch {
            if error.code != .outcomeUnknown { showStroke(key, nil) }
            showProblem(error)
        }
    }

    func erased(key: String) async {
        do throws(RelayError) {
            _ = try await client.send(removing: key, from: room).accepted
            showStroke(key, nil)
        } catch { showProblem(error) }
    }

    func relayClient(_ client: RelayClient, received packet: Packet) { showPen(packet.publisher, packet.payload) }
    /// Gets the records of a board, too, because this class does not implement `received batch`.
    func relayClient(_ client: RelayClient, received message: Message) {
        if message.isRetained, let key = message.key { showStroke(key, message.isRemoval ? nil : message.payload) }
    }

    func relayClient(_ client: RelayClient, cleared board: BoardCleared) { showEmpty() }
    /// After `reset` the board seen so far is void, and all of it follows.
    func relayClient(_ client: RelayClient, missed messages: MessagesMissed) { if messages.extent == .reset { showEmpty() } }

    /// The stream channel of this name has its own list of users.
    func relayClient(_ client: RelayClient, presenceChanged change: PresenceChange) {
        if change.channel.kind == .message { showPeople(change) }
    }
}
