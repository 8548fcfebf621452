import Foundation
import RelayClient
import RelayRTM
import RelayServer
import Testing

struct Drawing: Codable, Equatable {
    var id: String
    var points: [[Int]]
}

private struct LivePoint: Codable {
    var id: String
    var point: [Int]
}

/// A whiteboard as apps for hosted RTM have it: drawings as messages, points as packets, a copy of all in the channel's metadata.
@MainActor final class WhiteboardModel: @MainActor RTMClientDelegate {
    static let channel = "board"
    private static let points = "points"
    private(set) var drawings: [Drawing] = []
    /// Drawings that grow under somebody's pen.
    private(set) var growing: [String: [[Int]]] = [:]
    private(set) var users: [String] = []
    private let config: RTMClientConfig
    private var kit: RTMClientKit?
    private var stream: RTMStreamChannel?

    init(_ config: RTMClientConfig) { self.config = config }

    func enter() async throws {
        let kit = try RTMClientKit(config, delegate: self)
        self.kit = kit
        if let error = await kit.login("token").1 { throw error }
        let options = RTMSubscribeOptions()
        options.features = [.message, .presence]
        if let error = await kit.subscribe(channelName: Self.channel, option: options).1 { throw error }
        let stream = try kit.createStreamChannel(Self.channel)
        self.stream = stream
        if let error = await stream.join(RTMJoinChannelOption()).1 { throw error }
        let option = RTMJoinTopicOption()
        option.priority = .high
        if let error = await stream.joinTopic(Self.points, option: option).1 { throw error }
        if let error = await stream.subscribeTopic(Self.points, option: nil).1 { throw error }
        let (response, error) = await kit.getStorage()!.getChannelMetadata(channelName: Self.channel, channelType: .message)
        if let error { throw error }
        if let saved = response?.data?.getItems().first(where: { $0.key == "drawings" }) {
            drawings = try JSONDecoder().decode([Drawing].self, from: Data(saved.value.utf8))
        }
    }

    func draw(_ drawing: Drawing) async throws {
        for point in drawing.points { try await grow(drawing.id, to: point) }
        drawings.append(drawing)
        try await tell("draw", drawing)
    }

    func grow(_ id: String, to point: [Int]) async throws {
        let data = try JSONEncoder().encode(LivePoint(id: id, point: point))
        if let error = await stream?.publishTopicMessage(topic: Self.points, data: data, option: nil).1 { throw error }
    }

    func move(_ id: String, by offset: [Int]) async throws {
        guard let index = drawings.firstIndex(where: { $0.id == id }) else { return }
        drawings[index].points = drawings[index].points.map { [$0[0] + offset[0], $0[1] + offset[1]] }
        try await tell("draw", drawings[index])
    }

    func erase(_ id: String) async throws {
        drawings.removeAll { $0.id == id }
        try await tell("erase", Drawing(id: id, points: []))
    }

    func clear() async throws {
        drawings = []
        try await tell("clear", Drawing(id: "", points: []))
    }

    func save() async throws {
        let data = RTMMetadata()!, item = RTMMetadataItem()
        (item.key, item.value) = ("drawings", String(decoding: try JSONEncoder().encode(drawings), as: UTF8.self))
        data.setMetadataItem(item)
        let storage = kit!.getStorage()!
        let answer = await storage.setChannelMetadata(
            channelName: Self.channel, channelType: .message, data: data, options: RTMMetadataOptions(), lock: nil)
        if let error = answer.1 { throw error }
    }

    func leave() async {
        await stream?.leave()
        await kit?.unsubscribe(Self.channel)
        await kit?.logout()
        kit?.destroy()
        (kit, stream, drawings, growing, users) = (nil, nil, [], [:], [])
    }

    private func tell(_ what: String, _ drawing: Drawing) async throws {
        let options = RTMPublishOptions()
        options.customType = what
        let text = String(decoding: try JSONEncoder().encode(drawing), as: UTF8.self)
        if let error = await kit?.publish(channelName: Self.channel, message: text, option: options).1 { throw error }
    }

    func rtmKit(_ rtmKit: RTMClientKit, didReceiveMessageEvent event: RTMMessageEvent) {
        switch event.channelType {
        case .stream:
            guard event.channelTopic == Self.points, let data = event.message.rawData else { return }
            guard let point = try? JSONDecoder().decode(LivePoint.self, from: data) else { return }
            growing[point.id, default: []].append(point.point)
        case .message:
            guard let text = event.message.stringData, let drawing = try? JSONDecoder().decode(Drawing.self, from: Data(text.utf8)) else {
                return
            }
            growing[drawing.id] = nil
            if event.customType == "clear" { return drawings = [] }
            let index = drawings.firstIndex { $0.id == drawing.id }
            switch (event.customType, index) {
            case ("erase", let index?): drawings.remove(at: index)
            case ("draw", let index?): drawings[index] = drawing
            case ("draw", nil): drawings.append(drawing)
            default: break
            }
        case .user, .none: break
        }
    }

    func rtmKit(_ rtmKit: RTMClientKit, didReceivePresenceEvent event: RTMPresenceEvent) {
        guard event.channelType == .message else { return }
        switch event.type {
        case .snapshot: users = event.snapshot.map(\.userId)
        case .remoteJoinChannel: users.append(event.publisher!)
        case .remoteLeaveChannel, .remoteConnectionTimeout: users.removeAll { $0 == event.publisher }
        case .none, .interval, .remoteStateChanged, .errorOutOfService: break
        }
    }
}

@MainActor @Suite struct WhiteboardTests {
    static let house = Drawing(id: "house", points: [[0, 0], [0, 9], [9, 9]])
    static let sun = Drawing(id: "sun", points: [[20, 20], [21, 20]])
    static let tree = Drawing(id: "tree", points: [[30, 0], [30, 8]])

    @Test("a whiteboard in the shape of hosted RTM: draw, live points, move, erase, clear, save, leave, come back")
    func whiteboard() async throws {
        let server = try await relay()
        let alice = WhiteboardModel(config(server, "alice")), bob = WhiteboardModel(config(server, "bob")),
            carol = WhiteboardModel(config(server, "carol"))
        for model in [alice, bob, carol] { try await model.enter() }
        try await eventually("all see all") { alice.users.count == 3 && bob.users.count == 3 && carol.users == ["alice", "bob", "carol"] }

        // A line that grows is seen before it is done, and is replaced by the whole one.
        for point in Self.house.points { try await alice.grow("house", to: point) }
        try await eventually("it grows") { bob.growing["house"] == Self.house.points && carol.growing["house"] == Self.house.points }
        try await alice.draw(Self.house)
        try await bob.draw(Self.sun)
        try await eventually("both drawings everywhere") { [alice, bob, carol].allSatisfy { $0.drawings.count == 2 } }
        #expect(bob.growing["house"] == nil && alice.growing.isEmpty)

        try await bob.move("house", by: [1, 2])
        try await alice.erase("sun")
        try await eventually("moved and erased") { carol.drawings == [Drawing(id: "house", points: [[1, 2], [1, 11], [10, 11]])] }
        try await eventually("for all") { alice.drawings == carol.drawings && bob.drawings == carol.drawings }

        try await carol.draw(Self.tree)
        try await carol.save()
        let saved = carol.drawings
        await carol.leave()
        try await eventually("she has left") { alice.users == ["alice", "bob"] && bob.users.count == 2 }
        try await carol.enter()
        #expect(carol.drawings == saved && saved.map(\.id) == ["house", "tree"])
        try await eventually("she is back") { alice.users.count == 3 && alice.drawings == saved }

        try await alice.clear()
        try await alice.save()
        try await eventually("all is cleared") { bob.drawings.isEmpty && carol.drawings.isEmpty }
        for model in [alice, bob, carol] { await model.leave() }
        await server.stop()
    }

    @Test("the same whiteboard in the shape of WhiteboardClient: the board is kept by the relay, and nobody saves")
    func native() async throws {
        let server = try await relay()
        let alice = try await NativeWhiteboard(server, "alice"), bob = try await NativeWhiteboard(server, "bob")
        try await alice.draw(Self.house)
        try await bob.draw(Self.sun)
        try await bob.move("house", by: [1, 2])
        try await eventually("both") {
            [alice, bob].allSatisfy { $0.drawings["house"]?.points.first == [1, 2] && $0.drawings["sun"] == Self.sun }
        }
        try await eventually("each point of her line, live") { bob.seen == Self.house.points.count }
        try await alice.erase("sun")
        try await eventually("erased") { bob.drawings.keys.sorted() == ["house"] }
        await bob.leave()
        try await alice.draw(Self.tree)
        let back = try await NativeWhiteboard(server, "bob")
        try await eventually("what he missed is there") { back.drawings == alice.drawings && back.drawings.count == 2 }
        try await alice.clear()
        try await eventually("cleared") { back.drawings.isEmpty && alice.drawings.isEmpty }
        await alice.leave()
        await back.leave()
        await server.stop()
    }
}

/// The whiteboard as an app that begins here would have it.
@MainActor private final class NativeWhiteboard {
    private(set) var drawings: [String: Drawing] = [:]
    /// Points of others.
    private(set) var seen = 0
    private let client: WhiteboardClient
    private let board: Channel
    private let pen: TopicPublisher
    private var readers: [Task<Void, any Error>] = []

    init(_ server: WhiteboardRelay, _ user: String) async throws {
        client = try WhiteboardClient(Invitation(server.address), user: user)
        board = try client.channel("board")
        let points = try board.topic("points")
        let (pictures, packets) = (board.board.pictures(), points.packets())
        try await board.open()
        pen = try await points.startPublishing()
        readers = [
            Task { [weak self] in for await picture in pictures { self?.show(picture) } },
            Task { [weak self] in for try await case .packet in packets { self?.seen += 1 } },
        ]
        while try await !points.followed().all {}
    }

    private func show(_ picture: BoardPicture) {
        for key in picture.changed {
            drawings[key] = picture.records[key]?.payload.flatMap { try? JSONDecoder().decode(Drawing.self, from: Data($0.bytes)) }
        }
    }

    func draw(_ drawing: Drawing) async throws {
        for point in drawing.points { try pen.send(.bytes(point.map { UInt8($0) })) }
        try await keep(drawing)
    }

    func move(_ id: String, by offset: [Int]) async throws {
        // Others' drawings may not have come yet.
        try await eventually("there is \(id)") { self.drawings[id] != nil }
        var drawing = drawings[id]!
        drawing.points = drawing.points.map { [$0[0] + offset[0], $0[1] + offset[1]] }
        try await keep(drawing)
    }

    func erase(_ id: String) async throws { _ = try await board.board.remove(id).stored }
    func clear() async throws { try await board.board.clear() }

    func leave() async {
        await client.close()
        for reader in readers { reader.cancel() }
    }

    private func keep(_ drawing: Drawing) async throws {
        _ = try await board.board.put(Payload(json: drawing), key: drawing.id).stored
    }
}
