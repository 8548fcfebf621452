import BoardFormat
import RelayClient
import RelayConsole
import RelayReplay
import RelayServer

/// The users who draw the lesson, over and over, each as a client of its own.
struct DemoClass: Sendable {
    private let lesson: DemoLesson
    private let pens: [ReplayPen]
    private let speed: Double

    /// Where the page goes by an address that names no board.
    static let channel = "board"

    /// Draws until the task is cancelled.
    ///
    /// - Parameter keys: the first person, who clears the board, logs in with the host key, the others with the join key.
    /// - Throws: `Failure`, when somebody's link ends for good.
    static func draw(_ lesson: DemoLesson, at address: RelayAddress, keys: AccessKeys, speed: Double) async throws {
        var clients: [WhiteboardClient] = []
        do {
            var pens: [ReplayPen] = []
            for person in lesson.people {
                var options = ClientOptions()
                options.credential = .key(clients.isEmpty ? keys.host : keys.join)
                options.secret = .inMemory
                options.description = "boardrelay demo"
                let client = try await WhiteboardClient.connect(to: address, as: person.user, options: options)
                clients.append(client)
                try await client.presence(of: .message(channel)).set(["name": person.name])
                pens.append(
                    try await ReplayPen.enter(client, as: person.user, channel: channel, plan: lesson.plan(person, round: 0, speed: speed)))
            }
            try await DemoClass(lesson: lesson, pens: pens, speed: speed).drawOn()
        } catch {
            for client in clients { await client.close() }
            if error is CancellationError { return }
            if let error = error as? RelayError { throw Failure(error) }
            throw error
        }
    }

    private func drawOn() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for pen in pens {
                group.addTask {
                    let reason = await pen.read()
                    try Task.checkCancellation()
                    throw Failure("\(pen.user): \(Printable.escaped(EventText.words(reason ?? .clientClosed)))")
                }
            }
            group.addTask {
                for round in 1... { try await draw(round: round) }
            }
            do {
                // Whoever is first has failed, or is cancelled.
                _ = try await group.next()
            } catch {
                group.cancelAll()
                for pen in pens { await pen.client.close() }
                throw error
            }
        }
    }

    private func draw(round: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (person, pen) in zip(lesson.people, pens) {
                let plan = try lesson.plan(person, round: round, speed: speed)
                group.addTask {
                    try await Task.sleep(for: person.begins / speed)
                    try await pen.drawing(plan).send()
                }
            }
            try await group.waitForAll()
        }
        try await Task.sleep(for: DemoLesson.pauseAtEnd / speed)
        // A moderator may have removed the board: then there is nothing to clear.
        _ = try? await pens[0].client.board(of: Self.channel).clear()
        try await Task.sleep(for: DemoLesson.pauseAfterClear / speed)
    }
}
