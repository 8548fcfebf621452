internal import RelayCore
import RelayPrimitives
internal import RelayWire
internal import RelayTesting

/// Many clients count in one item of metadata, each by compare-and-set: what it was shown plus one, if the item is still
/// at the revision that it saw. The disk is slow, stalls and fails, and the relay dies now and then. Nothing that was
/// answered is lost, and nothing is counted twice. [MD5, SG1]
///
/// With the counter each client writes an item of its own, the number of its try: by it, it finds out after a crash whether
/// a try that was never answered has happened.
package final class CounterSimulation {
    package let seed: UInt64
    private let triesEach: Int
    private var random: SplitMix64
    private var driver: HubDriver
    private var clients: [CountingClient] = []
    private var remaining: [CountingClient] = []
    private var start: UInt32 = 1_000
    private var isReadOnly = false
    /// Values that a successful try has written: each once, or an update was lost.
    private var counted: Set<Int> = []
    package private(set) var done = Tally()

    package struct Tally: Sendable, Equatable {
        package var tries = 0
        package var successes = 0
        package var mismatches = 0
        package var storageFailures = 0
        package var foundAfterCrash = 0
        package var lostInCrash = 0
        package var restarts = 0
        package init() {}
    }

    package init(seed: UInt64, clients count: Int = 30, triesEach: Int = 250) {
        self.seed = seed
        self.triesEach = triesEach
        random = SplitMix64(seed: seed)
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.metadataCallsPerSecond = 10_000_000
        configuration.metadataCallsBurst = 10_000_000
        configuration.limits.requestsPerSecond = 10_000_000
        configuration.requestsBurst = 10_000_000
        driver = HubDriver(configuration: configuration, start: start).restarted(start: start)
        clients = (0..<count).map { CountingClient("user-\($0)", isSubscribed: $0 % 10 != 0) }
        for client in clients { client.comeIn(driver) }
        remaining = clients
    }

    /// - Returns: whether anybody has tries left, or one that is not answered.
    /// - Throws: the first broken promise, with the seed.
    package func run(turns: Int) throws -> Bool {
        do {
            for _ in 0..<turns where !remaining.isEmpty {
                switch Int.random(in: 0..<1_000, using: &random) {
                case 0: fail()
                case 1: try restart()
                case 2..<11:
                    if isReadOnly {
                        driver.handle(.storageRecovered)
                        isReadOnly = false
                    }
                // A disk that stalls is one that is not asked for long enough.
                case 11..<200: if !isReadOnly { driver.persist(Int.random(in: 1...3, using: &random)) }
                default:
                    let index = Int.random(in: 0..<remaining.count, using: &random)
                    try turn(remaining[index])
                    if remaining[index].tries == triesEach, remaining[index].open == nil { remaining.remove(at: index) }
                }
            }
            return !remaining.isEmpty
        } catch let broken as BrokenPromise {
            throw BrokenPromise(
                "seed \(seed): \(broken.description)\nreplay: BOARDRELAY_COUNTER_SEED=\(seed) swift test --filter SimulationTests/counter")
        }
    }

    /// One client reads what came, and tries once more if it has been answered.
    private func turn(_ client: CountingClient) throws {
        try read(client)
        guard client.open == nil, client.tries < triesEach else { return }
        if !client.isSubscribed { client.ask() }
        client.tries += 1
        done.tries += 1
        client.open = (client.send(client.value + 1, revision: client.revision), client.value + 1)
        // Others are faster, or this one is: both happen.
        if random.chance(1, in: 2) { try read(client) }
    }

    private func read(_ client: CountingClient) throws {
        guard let outcome = try client.read(), let (_, value) = client.open else { return }
        client.open = nil
        switch outcome {
        case nil: try succeeded(client, value)
        case .revisionMismatch?: done.mismatches += 1
        case .storageFailed?: done.storageFailures += 1
        case let code?: throw BrokenPromise("\(client.name) was refused with \(code.name)")
        }
    }

    private func succeeded(_ client: CountingClient, _ value: Int) throws {
        done.successes += 1
        guard counted.insert(value).inserted else { throw BrokenPromise("[MD5] two tries have counted \(value): one of them is lost") }
    }

    private func fail() {
        guard !isReadOnly else { return }
        isReadOnly = true
        driver.failStorage()
    }

    /// Answers that nobody has read are gone; what is stored tells what they would have said.
    private func restart() throws {
        done.restarts += 1
        start += 1
        isReadOnly = false
        driver = driver.restarted(start: start)
        for client in clients { client.comeIn(driver) }
        for client in clients {
            guard let (_, value) = client.open else { continue }
            client.open = nil
            if client.stored == client.tries {
                done.foundAfterCrash += 1
                try succeeded(client, value)
            } else {
                done.lostInCrash += 1
            }
        }
    }

    /// - Returns: what the counter is at the end.
    /// - Throws: if that is not the number of successes.
    package func judge() throws -> Int {
        driver.persist()
        let final = clients[0].ask()
        guard final == done.successes, counted == Set(1..<(final + 1)) else {
            throw BrokenPromise("seed \(seed): [MD5, SG1] the counter is \(final) after \(done.successes) successes of \(done.tries) tries")
        }
        return final
    }
}

/// One that counts.
final class CountingClient {
    let name: String
    /// Others ask before they try.
    let isSubscribed: Bool
    private var client: TestClient?
    var tries = 0
    /// Request and value of a try that is not answered.
    var open: (id: UInt32, value: Int)?
    /// What it was shown last.
    private(set) var value = 0
    private(set) var revision: UInt64 = 0
    /// Its own last try that was stored, as found on coming in.
    private(set) var stored = 0

    init(_ name: String, isSubscribed: Bool) {
        self.name = name
        self.isSubscribed = isSubscribed
    }

    func comeIn(_ driver: HubDriver) {
        client = TestClient(driver, name, presenceTimeoutMs: 300_000)
        (value, revision) = (0, 0)
        if isSubscribed { client!.subscribe("lesson", features: ["metadata"]) }
        client!.others = []
        let picture = client!.metadata("lesson")!
        stored = picture.values["by-\(name)"].flatMap { Int($0) } ?? 0
        ask()
    }

    @discardableResult
    func ask() -> Int {
        // The counter is the last of the items.
        guard let picture = client!.metadata("lesson", after: "by-~") else { preconditionFailure("no page") }
        value = picture.values["count"].flatMap { Int($0) } ?? 0
        revision = picture.revisions["count"] ?? 0
        return value
    }

    func send(_ value: Int, revision: UInt64) -> UInt32 {
        client!.sendSet("lesson", [("count", "\(value)"), ("by-\(name)", "\(tries)")], revisions: ["count": revision])
    }

    /// - Returns: `nil` if its try was not answered; else why it was refused, `nil` if it was not.
    func read() throws -> ErrorCode?? {
        let frames = client!.others + client!.frames()
        client!.others = []
        var outcome: ErrorCode??
        for frame in frames {
            switch FrameType(rawValue: frame.type) {
            case .answer?:
                let answer = TestClient.decode(MetadataAnswer.self, frame.body)
                if answer.id == open?.id { outcome = .some(nil) }
            case .error?:
                let error = TestClient.decode(ErrorBody.self, frame.body)
                if error.id == open?.id { outcome = .some(error.code) }
            default: break
            }
        }
        // The newest event tells it all: each try writes the counter.
        if let newest = frames.last(where: { $0.type == FrameType.metadata.rawValue }) {
            let (head, values) = TestClient.text(MetadataEventHead.self, newest)
            guard let index = head.items.firstIndex(where: { $0.key.text == "count" }) else { return outcome }
            let shown = Int(String(decoding: values[index], as: UTF8.self)) ?? 0
            guard shown >= value, head.items[index].revision >= revision else {
                throw BrokenPromise("[SG1] \(name) was shown \(shown) after \(value)")
            }
            (value, revision) = (shown, head.items[index].revision)
        }
        return outcome
    }
}
