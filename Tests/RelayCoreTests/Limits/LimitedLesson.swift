import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
import RelayWire

/// A lesson whose reader has said what it takes, beside one that has not.
final class LimitedLesson {
    let driver: HubDriver
    let reader: TestClient
    private let other: TestClient
    private var writers: [String: TestClient] = [:]

    /// What a reader got.
    struct Taken: Equatable, CustomStringConvertible {
        struct Packet: Equatable { var flow: UInt32, sequence: UInt32 }

        var all: [Packet] = []
        var lost: [ClosedRange<UInt32>] = []
        var reasons: [LostReason] = []
        var messages: [UInt8] = []

        var packets: [UInt32] { all.map(\.sequence) }

        init(packets: [UInt32] = [], lost: [ClosedRange<UInt32>] = [], reasons: [LostReason] = []) {
            all = packets.map { Packet(flow: 0, sequence: $0) }
            (self.lost, self.reasons) = (lost, reasons)
        }

        /// - Parameter flow: packets and ranges of this one alone; of all if `nil`.
        init(_ frames: [Frame], by flow: UInt32? = nil) throws {
            for frame in frames {
                try frame.body.withUnsafeBytes { body in
                    switch FrameType(rawValue: frame.type) {
                    case .packet?:
                        let packet = try PacketFrame(flags: frame.flags, body: body)
                        guard flow == nil || packet.flow == flow else { return }
                        all.append(Packet(flow: flow == nil ? packet.flow : 0, sequence: packet.sequence))
                    case .lost?:
                        let notice = try LostFrame(body: body)
                        reasons.append(LostReason(rawValue: notice.reason)!)
                        lost += notice.ranges.filter { flow == nil || $0.flow == flow }.map { $0.first...$0.last }
                    case .deliver?: messages.append(body.last!)
                    default: break
                    }
                }
            }
        }

        static func == (left: Self, right: Self) -> Bool {
            left.packets == right.packets && left.lost == right.lost && left.reasons == right.reasons && left.messages == right.messages
        }

        var description: String { "packets \(packets), lost \(lost) for \(reasons), messages \(messages)" }
    }

    struct Books {
        var sent = 0
        private(set) var received = 0
        private(set) var lost = 0

        mutating func add(_ taken: Taken) {
            received += taken.packets.count
            lost += taken.lost.reduce(0) { $0 + $1.count }
        }
    }

    init(_ limits: ReaderLimits, asWebSocket: Bool = false) {
        var configuration = Configuration()
        configuration.limits.packetsPerSecond = 1_000_000
        configuration.limits.messagesPerSecond = 1_000_000
        driver = HubDriver(configuration: configuration)
        reader = TestClient(driver, "reader", presenceTimeoutMs: 300_000, readerLimits: limits, asWebSocket: asWebSocket)
        other = TestClient(driver, "other-reader", presenceTimeoutMs: 300_000)
        for client in [reader, other] {
            client.subscribe("lesson", features: ["messages"])
            client.join("lesson", features: [])
            client.subscribeTopic("lesson", "points")
            client.others = []
        }
    }

    func client(_ user: String) -> TestClient {
        if let writer = writers[user] { return writer }
        let writer = TestClient(driver, user, presenceTimeoutMs: 300_000)
        writer.join("lesson", features: [])
        writers[user] = writer
        return writer
    }

    func flow(_ user: String, priority: TopicPriority? = nil) -> UInt32 {
        let flow = client(user).joinTopic("lesson", "points", priority: priority)
        owners[flow] = client(user)
        _ = reader.frames()
        _ = other.frames()
        return flow
    }

    private var owners: [UInt32: TestClient] = [:]

    func packet(_ flow: UInt32, slot: UInt32? = nil, bytes: Int = 1) {
        owners[flow]!.packet(flow, [UInt8](repeating: 0, count: bytes), slot: slot)
    }

    /// The reader changes its mind, and takes nothing meanwhile.
    func ask(_ limits: ReaderLimits) {
        driver.send(.json(.setReaderLimits, SetReaderLimitsRequest(id: reader.nextRequest(), limits: limits)), from: reader.id)
    }

    /// Bytes of packets that wait for the reader.
    var waitingBytes: Int { driver.hub.load(of: reader.id)?.packets ?? 0 }

    func pass(milliseconds: Int) { pass(.milliseconds(milliseconds)) }

    /// The reader's link takes what there is whenever the hub has something.
    func pass(_ duration: Duration) {
        let end = driver.now.instant + duration
        while let next = driver.hub.nextDeadline, next <= end {
            driver.advance(max(next, driver.now.instant) - driver.now.instant)
            driver.take(reader.id)
        }
        driver.advance(end - driver.now.instant)
        for client in [reader, other] + writers.values { driver.send(Frame(.pong), from: client.id) }
    }

    func taken(by flow: UInt32? = nil) throws -> Taken { try Taken(reader.frames(), by: flow) }

    /// Packets that the reader without limits got since.
    func others() throws -> Int { try Taken(other.frames()).packets.count }
}
