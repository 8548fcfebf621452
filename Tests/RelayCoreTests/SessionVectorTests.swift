import Foundation
import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// The session of docs/protocol.md: what goes over two connections, byte for byte.
@Suite struct SessionVectorTests {
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs/vectors/session.txt")

    @Test("[FR1, SE6, CH4, MS3, MS4, ST9, ST10, DM3, SE12] the session in the document is what a relay answers, byte for byte")
    func session() throws {
        let lines = Self.play()
        if ProcessInfo.processInfo.environment["BOARDRELAY_WRITE_VECTORS"] != nil {
            try lines.joined(separator: "\n").appending("\n").write(to: Self.file, atomically: true, encoding: .utf8)
        }
        // What stands behind the hex is `SessionMeaningTests`' affair.
        let kept = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map { line in
            line.hasPrefix("#") ? String(line) : line.split(separator: " ").prefix(2).joined(separator: " ")
        }
        #expect(lines == kept)
    }

    /// Two clients, alice and bob. `A>` is what alice sends, `A<` what she gets.
    private static func play() -> [String] {
        let driver = HubDriver(start: 1_763_683_200)
        var lines = [
            "# A whole session: alice (A) and bob (B). > goes to the relay, < comes from it; each line is one frame in hex, and what it is.",
            "# The relay's start number is 1763683200; resume tokens and times are those of this run.",
        ]
        var links: [(name: String, id: ConnectionID)] = []
        func say(_ comment: String) { lines.append("# \(comment)") }
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
        func connect(_ name: String) { links.append((name, driver.open())) }
        func send(_ name: String, _ frame: Frame) {
            let link = links.first { $0.name == name }!
            lines.append("\(name)> \(hex(frame.bytes))")
            driver.send(frame, from: link.id)
            for link in links { for frame in driver.received(link.id) { lines.append("\(link.name)< \(hex(frame.bytes))") } }
        }
        func name(_ text: String) -> Name { try! Name(text) }

        say("alice connects and logs in: login, welcome")
        connect("A")
        send(
            "A",
            .json(
                .login, LoginRequest(
                    id: 1, capabilities: ["goOn"], user: name("alice"), secret: "000102030405060708090a0b0c0d0e0f",
                    instance: "00000000000000aa")))
        say("she subscribes the message channel: answer, presence snapshot")
        send("A", .json(.subscribe, SubscribeRequest(id: 2, channel: name("lesson"))))
        say("bob connects, logs in and subscribes: alice is told that he joined")
        connect("B")
        send("B", .json(.login, LoginRequest(id: 1, capabilities: ["goOn"], user: name("bob"), instance: "00000000000000bb")))
        send("B", .json(.subscribe, SubscribeRequest(id: 2, channel: name("lesson"))))
        say("alice publishes \"hi\" as text with custom type greeting: accepted; bob gets userNamed and deliver")
        send("A", .publish(number: 1, channel: "lesson", customType: "greeting", flags: .text, payload: Array("hi".utf8)))
        say("both join the stream channel: answer, presence snapshot, topics snapshot")
        send("A", .json(.join, JoinRequest(id: 3, channel: name("lesson"))))
        send("B", .json(.join, JoinRequest(id: 3, channel: name("lesson"))))
        say("bob listens to everybody in topic points; alice joins it: topics, flowOpened, answer")
        send("B", .json(.subscribeTopic, TopicUsersRequest(id: 4, channel: name("lesson"), topic: name("points"))))
        send("A", .json(.joinTopic, JoinTopicRequest(id: 4, channel: name("lesson"), topic: name("points"))))
        say("two packets on flow 5, the second with slot 1")
        send("A", .publishPacket(flow: 5, payload: [1, 2, 3]))
        send("A", .publishPacket(flow: 5, slot: 1, payload: [4]))
        say("a state: both get stateChanged")
        send("A", .json(.setStates, SetStatesRequest(id: 5, kind: .message, channel: name("lesson"), states: ["name": "Alice"])))
        say("a message from alice to bob, and his receipt: directDeliver, directReceived, confirmed")
        send("A", .direct(number: 2, user: "bob", payload: [9]))
        send("B", .directReceived(delivery: 1))
        say("a mistake: no such flow")
        send("B", .publishPacket(flow: 77, payload: []))
        say("ping and pong")
        send("B", Frame(.ping, body: [1, 2]))
        say("alice leaves the topic, then logs out: flowClosed and topics, leave, closing")
        send("A", .json(.leaveTopic, TopicRequest(id: 6, channel: name("lesson"), topic: name("points"))))
        send("A", .json(.logout, EmptyRequest(id: 7)))
        return lines
    }
}
