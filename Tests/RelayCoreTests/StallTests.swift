import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// A disk that stalls delays what waits for it, and nothing else.
@Suite struct StallTests {
    private let driver: HubDriver
    private let writer: TestClient
    private let readers: [TestClient]
    private let flow: UInt32

    init() {
        var configuration = Configuration()
        configuration.isJournaled = true
        configuration.metadataCallsPerSecond = 10_000
        configuration.metadataCallsBurst = 10_000
        configuration.limits.requestsPerSecond = 10_000
        configuration.requestsBurst = 10_000
        configuration.limits.messagesPerSecond = 10_000
        configuration.limits.packetsPerSecond = 10_000
        driver = HubDriver(configuration: configuration)
        driver.hub.restored(lastSequence: 0, at: driver.now)
        _ = driver.hub.takeEffects()
        writer = TestClient(driver, "writer")
        readers = ["reader-1", "reader-2", "reader-3"].map { [driver] in TestClient(driver, $0) }
        for client in [writer] + readers {
            client.subscribe("lesson", features: ["messages", "metadata", "locks"])
            client.join("lesson")
            client.subscribeTopic("lesson", "points")
        }
        flow = writer.joinTopic("lesson", "points")
        for client in [writer] + readers {
            _ = client.frames()
            client.others = []
        }
    }

    private func counts(_ client: TestClient) -> [FrameType: Int] {
        var counts: [FrameType: Int] = [:]
        for frame in client.frames() { counts[FrameType(rawValue: frame.type)!, default: 0] += 1 }
        return counts
    }

    @Test(
        "[SG1, DL1] while the disk stalls for 1 s and 400 changes wait for it, each message and packet goes out in the turn in which it was accepted"
    )
    func stall() throws {
        writer.setLock("lesson", "pen")
        var changes = 1
        for turn in 0..<100 {
            for _ in 0..<3 {
                writer.sendSet("lesson", [("board", String(repeating: "x", count: 1_000))])
                changes += 1
            }
            writer.sendAcquire("lesson", "pen")
            changes += 1
            writer.publish("lesson", [UInt8(turn)])
            writer.packet(flow, [UInt8(turn)])
            // No clock has moved, and the disk has said nothing.
            for reader in readers {
                let counts = counts(reader)
                #expect(counts[.deliver] == 1 && counts[.packet] == 1, "turn \(turn): \(counts)")
                #expect(counts[.metadata] == nil && counts[.locks] == nil, "turn \(turn): \(counts)")
            }
            let counts = counts(writer)
            #expect(counts[.accepted] == 1 && counts[.answer] == nil && counts[.metadata] == nil, "turn \(turn): \(counts)")
            // Those who ask are answered, too: with what is durable.
            #expect(writer.metadata("lesson") == MetadataPicture() && writer.locks("lesson").isEmpty)
            driver.advance(.milliseconds(10))
        }
        #expect(driver.unpersisted.count == changes)

        driver.persist()
        for reader in readers {
            let counts = counts(reader)
            #expect(counts[.metadata] == 300 && counts[.locks] == 101, "\(counts)")
        }
        #expect(counts(writer)[.answer] == changes)
    }

    @Test(
        "[SG1, DL1] a message sent behind a change that waits for the disk passes it, and one sent behind its answer comes behind its event"
    )
    func order() throws {
        writer.sendSet("lesson", [("a", "1")])
        writer.publish("lesson", [1])
        driver.persist()
        writer.publish("lesson", [2])
        for reader in readers {
            let types = reader.frames().compactMap { FrameType(rawValue: $0.type) }.filter { [.deliver, .metadata].contains($0) }
            #expect(types == [.deliver, .metadata, .deliver])
        }
    }
}
