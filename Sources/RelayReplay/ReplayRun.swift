import BoardFormat
import RelayClient
import RelayConsole
import RelayIO

/// A replay from logging in to the verdict.
struct ReplayRun {
    let arguments: Arguments
    let channel: String
    let plans: [(user: String, plan: ReplayPlan)]
    let verifies: Bool
    let retains: Bool
    let store: ReplayStoreKind?

    /// How long the witness may be behind when all is sent and answered.
    static let patience = Duration.seconds(10)

    func run(file: String) async throws -> ReplaySummary {
        var clients: [WhiteboardClient] = []
        do {
            return try await run(file: file, &clients)
        } catch {
            // Nobody is left behind as one who is away.
            for client in clients { await client.close() }
            throw error
        }
    }

    /// - Parameter clients: those that are logged in, also when it fails.
    private func run(file: String, _ clients: inout [WhiteboardClient]) async throws -> ReplaySummary {
        let tally = Mutex(ReplayTally())
        var witness: (ReplayWitness, WhiteboardClient)?
        if verifies {
            let client = try await connect(arguments, as: plans[0].user + "-verify")
            clients.append(client)
            witness = (try await ReplayWitness.enter(client, channel: channel, plans: plans), client)
        }
        let audience = verifies && !keys.isEmpty ? try await self.audience() : nil
        var pens: [ReplayPen] = []
        for (user, plan) in plans {
            let client = try await connect(arguments, as: user)
            clients.append(client)
            pens.append(
                try await ReplayPen.enter(
                    client, as: user, channel: channel, plan: plan, tally: tally, verifier: witness?.0, retains: retains,
                    audience: audience,
                    store: store))
        }
        if plans[0].plan.isLesson { try await wantEmptyBoard(pens[0].client) }

        let boards = Mutex<ReplayBoards?>(nil)
        let begin = ContinuousClock.now
        let code = try await untilEnded(timeout: nil, closing: clients) { [pens] in
            // From here on Ctrl-C is looked out for.
            announce()
            let display = Task { await ReplayDisplay(strokes: strokes, unit: unit, planned: planned, tally: tally).run() }
            defer { display.cancel() }
            let watching = witness.map { witness in Task { await witness.0.watch() } }
            let reading = audience.map { audience in Task { try await audience.watch() } }
            do {
                try await draw(pens)
                if let audience, let reading {
                    let seen = try await audience.look(reading)
                    boards.withLock { $0 = seen }
                    if unit == "changes" { boards.withLock { $0?.unit = "records" } }
                }
            } catch {
                await audience?.close()
                throw error
            }
            if let witness, let watching {
                await witness.0.sendersAreDone()
                let patience = Task {
                    try await Task.sleep(for: Self.patience)
                    await witness.1.close()
                }
                await watching.value
                patience.cancel()
            }
            display.cancel()
            await display.value
            return .ok
        }
        guard code == .ok else { throw Failure("stopped", exitCode: code) }
        return ReplaySummary(
            file: file, channel: channel, users: plans.count, strokes: strokes, unit: unit, points: points,
            elapsed: ContinuousClock.now - begin, tally: tally.withLock { $0 }, verified: witness?.0.finish(),
            boards: boards.withLock { $0 })
    }

    /// A lesson clears, and replaces what has its keys: it must not meet what others drew.
    private func wantEmptyBoard(_ client: WhiteboardClient) async throws {
        let records: Int
        do {
            records = try await client.boards().first { $0.channel == channel }?.records ?? 0
        } catch {
            throw Failure(error)
        }
        guard records == 0 else {
            throw Failure("the board of \(channel) has \(Printable.count(records, "record")): a recorded lesson wants an empty one")
        }
    }

    /// The readers of the board. Nobody else sees them.
    private func audience() async throws -> ReplayAudience {
        let (arguments, channel, user) = (arguments, channel, plans[0].user)
        let keys = keys
        return try await ReplayAudience(strokes: plans.reduce(0) { $0 + $1.plan.messages }, patience: Self.patience) { moment in
            try await ReplayJoiner.enter(connect(arguments, as: "\(user)-\(moment.rawValue)"), moment, channel: channel, keys: keys)
        }
    }

    private func draw(_ pens: [ReplayPen]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for pen in pens { group.addTask { try await pen.draw() } }
            try await group.waitForAll()
        }
    }

    private var keys: Set<String> { plans.reduce(into: []) { $0.formUnion($1.plan.keys) } }
    private var unit: String { plans[0].plan.isLesson ? "changes" : "strokes" }
    private var strokes: Int { plans.reduce(0) { $0 + $1.plan.strokes } }
    private var points: Int { plans.reduce(0) { $0 + $1.plan.points } }
    private var planned: Duration { plans.map(\.plan.duration).max() ?? .zero }

    private func announce() {
        let who = plans.count == 1 ? plans[0].user : "\(plans.count) users"
        Console.note(
            "Drawing \(Printable.count(strokes)) \(unit) on \(channel) as \(who), planned \(Printable.time(planned))\(verifies ? ", verified" : "")\(retains ? ", kept" : "")\(store == nil ? "" : ", saved")."
        )
    }
}
