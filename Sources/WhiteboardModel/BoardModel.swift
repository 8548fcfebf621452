public import Observation
public import RelayClient

/// A board and the people at it, for views that observe: SwiftUI redraws what has changed.
///
///     @State private var board = try! BoardModel(client.channel("lesson"), cursors: "pointers")
///
///     var body: some View {
///         Canvas { … for record in board.records.inOrder { … } }
///             .task { try? await board.open() }
///     }
///
/// It keeps its client as long as it is there itself. When it goes, its readers end; with the last of them the client logs out.
@available(macOS 14, iOS 17, *)
@MainActor @Observable public final class BoardModel {
    /// The board as it is shown, with own records on top that are not stored yet.
    public private(set) var records = BoardRecords()
    /// Keys of records that have changed with the last change of `records`.
    public private(set) var changed: Set<String> = []
    /// How much of the board has been read, 0…1; `nil` when it is not being read.
    public private(set) var progress: Double?
    /// Whether all that the relay keeps is among the records.
    public private(set) var isComplete = false
    /// The users at the board by id, oneself among them, with their states.
    public private(set) var people: [String: Member] = [:]
    /// The newest packet of each user who shows where its pointer is.
    public private(set) var cursors: [String: Packet] = [:]
    /// How the client stands with its relay.
    public private(set) var link = LinkState.idle
    /// What the whole client has waiting to be sent, as of the last change of `records`, `link` or `problems`, or the last `open`, `put` or
    /// `remove`.
    public private(set) var unsent = Unsent()
    /// Refusals that no call waited for, and failures of `put` and `remove`, of all channels of the client; the newest last, at most 20.
    /// `dismissProblems` takes them away. The model reads the client's earlier problems: a reader that begins later does not get them.
    public private(set) var problems: [Problem] = []

    /// The channel; `nil` of a preview.
    @ObservationIgnored public let channel: Channel?
    /// Called with the keys of each change of `records`; at first, when it is set, with all keys. A view may see several changes as one:
    /// what keeps a drawing of its own, as a PencilKit canvas does, hears of each one here.
    @ObservationIgnored public var onRecords: (@MainActor (Set<String>) -> Void)? { didSet { onRecords?(records.keys) } }
    @ObservationIgnored private let pointers: Topic?
    @ObservationIgnored private var loops: Loops?
    @ObservationIgnored private var pen: TopicPublisher?
    @ObservationIgnored private var isStarting = false

    private static let problemsMax = 20

    /// A model of a channel's board. Nothing is sent before `open`.
    ///
    /// - Parameter topic: of the packets that show pointers; `nil`: none.
    /// - Throws: `badName`.
    public init(_ channel: Channel, cursors topic: String? = nil) throws(RelayError) {
        self.channel = channel
        pointers = if let topic { try channel.topic(topic) } else { nil }
        follow(channel)
    }

    /// A preview, which has no relay.
    public init(records: BoardRecords, people: [String: Member] = [:], link: LinkState = .connected(resumed: false)) {
        (channel, pointers) = (nil, nil)
        (self.records, self.people, self.link) = (records, people, link)
        isComplete = true
    }

    /// Tasks that read, and end with the model.
    private final class Loops: Sendable {
        let tasks: [Task<Void, Never>]
        init(_ tasks: [Task<Void, Never>]) { self.tasks = tasks }
        deinit { for task in tasks { task.cancel() } }
    }

    // MARK: - Coming and going

    /// Comes to the board: it is read, and others see this user.
    ///
    /// - Throws: what `Channel.open` throws.
    public func open() async throws(RelayError) {
        try await channel?.open([.messages, .presence])
        update()
    }

    /// Leaves the board. What is shown stays; `open` on a new model comes back.
    ///
    /// - Throws: what `Channel.leave` throws.
    public func leave() async throws(RelayError) { try await channel?.leave() }

    // MARK: - Drawing

    /// Keeps a record; it is shown at once. A failure comes among `problems`.
    ///
    /// - Throws: what `Board.put` throws.
    public func put(_ payload: Payload, key: String, customType: String? = nil) throws(RelayError) {
        _ = try channel?.board.put(payload, key: key, customType: customType)
        update()
    }

    /// Removes the record of a key.
    ///
    /// - Throws: what `Board.remove` throws.
    public func remove(_ key: String) throws(RelayError) {
        _ = try channel?.board.remove(key)
        update()
    }

    /// Shows the others where this user's pointer is: a packet of at most 1,024 bytes (`limits.packetBytesMax`). Without a topic for
    /// cursors it does nothing. The first call only begins to publish. What cannot be sent is dropped untold: while that begins, during a
    /// freeze, and a payload that is too large.
    public func point(at payload: Payload) {
        guard let pointers else { return }
        if let pen, pen.isOpen {
            try? pen.send(payload, slot: 1)
        } else if !isStarting {
            isStarting = true
            Task { [weak self] in
                let pen = try? await pointers.startPublishing()
                self?.pen = pen
                self?.isStarting = false
            }
        }
    }

    /// Takes all problems away that are shown.
    public func dismissProblems() { problems = [] }

    // MARK: - What is told

    private func follow(_ channel: Channel) {
        let (pictures, members) = (channel.board.pictures(), channel.presence.members())
        let (links, told) = (channel.client.linkStates(), channel.client.problems())
        var tasks: [Task<Void, Never>] = [
            Task { [weak self] in for await picture in pictures { self?.show(picture) } },
            Task { [weak self] in for await people in members { self?.show(people) } },
            Task { [weak self] in for await link in links { self?.show(link) } },
            Task { [weak self] in
                do { for try await problem in told { self?.show(problem) } } catch {}
            },
        ]
        if let packets = pointers?.packets() {
            tasks.append(
                Task { [weak self] in
                    do { for try await case .packet(let packet) in packets { self?.cursors[packet.publisher] = packet } } catch {}
                })
        }
        loops = Loops(tasks)
    }

    private func show(_ picture: BoardPicture) {
        (records, changed) = (picture.records, picture.changed)
        if progress != picture.progress { progress = picture.progress }
        if isComplete != picture.isComplete { isComplete = picture.isComplete }
        update()
        onRecords?(changed)
    }

    private func show(_ people: [String: Member]) {
        self.people = people
        for user in cursors.keys where people[user] == nil { cursors[user] = nil }
    }

    private func show(_ link: LinkState) {
        self.link = link
        update()
    }

    private func show(_ problem: Problem) {
        problems = problems.suffix(Self.problemsMax - 1) + [problem]
        update()
    }

    private func update() {
        guard let now = channel?.client.unsent, now != unsent else { return }
        unsent = now
    }
}
