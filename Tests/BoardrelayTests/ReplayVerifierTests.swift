import Testing

@testable import boardrelay
@testable import RelayConsole
@testable import RelayReplay

/// A sender "a" that sent packet, packet, message, packet, packet, message; places 0…5.
struct Scene {
    var verifier = ReplayVerifier()
    static let lanes: [ReplayVerifier.Lane] = [.packet, .packet, .message, .packet, .packet, .message]

    init() { for (place, lane) in Self.lanes.enumerated() { verifier.sends(lane, from: "a", payload: Self.payload(place)) } }

    static func payload(_ place: Int) -> [UInt8] { [UInt8(place)] }

    mutating func packet(_ place: Int, sequence: UInt32, flow: UInt32 = 7) {
        verifier.receivedPacket(from: "a", flow: flow, sequence: sequence, payload: Self.payload(place))
    }

    mutating func message(_ place: Int, offset: UInt64) {
        verifier.receivedMessage(from: "a", offset: offset, payload: Self.payload(place))
    }

    /// Everything, as it was sent.
    mutating func all() {
        packet(0, sequence: 1)
        packet(1, sequence: 2)
        message(2, offset: 10)
        packet(3, sequence: 3)
        packet(4, sequence: 4)
        message(5, offset: 12)
    }

    mutating func violations() -> Set<ReplayVerifier.Violation> { Set(verifier.finish().violations.keys) }
}

@Suite("verifying a replay")
struct ReplayVerifierTests {
    @Test("records of a lesson may come in any number and order, for readers' boards judge them; what is no record of it may not")
    func records() {
        var verifier = ReplayVerifier()
        for payload: [UInt8] in [[1], [2], [1]] { verifier.sends(.message, from: "a", payload: payload, isOfBoard: true) }
        verifier.sends(.message, from: "a", payload: [9])
        for (index, payload) in ([[1], [9], [1], [1]] as [[UInt8]]).enumerated() {
            verifier.receivedMessage(from: "a", offset: UInt64(index + 1), payload: payload)
        }
        #expect(verifier.violations.isEmpty)
        verifier.receivedMessage(from: "a", offset: 9, payload: [3])
        let report = verifier.finish()
        #expect(Set(report.violations.keys) == [.unknownMessage] && report.messagesAccepted == 1 && report.messagesDelivered == 1)
    }

    @Test("a message that has the bytes of a record counts as delivered when it comes")
    func sameBytes() {
        var verifier = ReplayVerifier()
        verifier.sends(.message, from: "a", payload: [1], isOfBoard: true)
        verifier.sends(.message, from: "a", payload: [1])
        for offset in UInt64(1)...3 { verifier.receivedMessage(from: "a", offset: offset, payload: [1]) }
        let report = verifier.finish()
        #expect(report.isKept && report.messagesDelivered == 1, "\(report)")
    }

    @Test("a relay that keeps its word passes, and is counted")
    func kept() {
        var scene = Scene()
        scene.all()
        let report = scene.verifier.finish()
        #expect(report.isKept && report.examples.isEmpty)
        #expect(report.messagesAccepted == 2 && report.messagesDelivered == 2)
        #expect(report.packetsAccepted == 4 && report.packetsDelivered == 4 && report.packetsLost == 0)
    }

    @Test("packets that are reported lost or dropped are no violation")
    func toldLosses() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.verifier.lost(from: "a", flow: 7, first: 2, last: 2)
        scene.message(2, offset: 1)
        scene.packet(4, sequence: 3)
        scene.message(5, offset: 2)
        scene.verifier.dropped(1, from: "a")
        let report = scene.verifier.finish()
        #expect(report.isKept, "\(report)")
        #expect(report.packetsAccepted == 3 && report.packetsDelivered == 2 && report.packetsLost == 1)
    }

    @Test("a loss may be told before the packets around it")
    func earlyLoss() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.verifier.lost(from: "a", flow: 7, first: 2, last: 4)
        scene.message(2, offset: 1)
        scene.message(5, offset: 2)
        #expect(scene.violations().isEmpty)
    }

    @Test("refused messages and packets are not expected")
    func refused() {
        var scene = Scene()
        scene.verifier.refused(5, from: "a")
        scene.verifier.refused(4, from: "a")
        scene.packet(0, sequence: 1)
        scene.packet(1, sequence: 2)
        scene.message(2, offset: 1)
        scene.packet(3, sequence: 3)
        #expect(scene.violations().isEmpty)
    }

    @Test("others on the channel do not matter, several senders each have their own order")
    func others() {
        var scene = Scene()
        scene.verifier.sends(.message, from: "b", payload: Scene.payload(2))
        scene.verifier.receivedMessage(from: "stranger", offset: 1, payload: [9])
        scene.verifier.receivedPacket(from: "stranger", flow: 1, sequence: 9, payload: [9])
        scene.verifier.lost(from: "stranger", flow: 1, first: 1, last: nil)
        scene.packet(0, sequence: 1)
        scene.verifier.receivedMessage(from: "b", offset: 2, payload: Scene.payload(2))
        scene.packet(1, sequence: 2)
        scene.message(2, offset: 3)
        scene.packet(3, sequence: 3)
        scene.packet(4, sequence: 4)
        scene.message(5, offset: 4)
        #expect(scene.violations().isEmpty)
    }

    @Test("equal payloads are told apart by their order")
    func equalPayloads() {
        var verifier = ReplayVerifier()
        for _ in 0..<3 { verifier.sends(.message, from: "a", payload: [1]) }
        for offset in 1...3 { verifier.receivedMessage(from: "a", offset: UInt64(offset), payload: [1]) }
        #expect(verifier.finish().isKept)
        verifier.receivedMessage(from: "a", offset: 4, payload: [1])
        #expect(verifier.finish().violations == [.twice: 1])
    }

    @Test("a message that does not arrive")
    func missing() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.packet(1, sequence: 2)
        scene.packet(3, sequence: 3)
        scene.packet(4, sequence: 4)
        scene.message(5, offset: 12)
        #expect(scene.violations() == [.missingMessage])
    }

    @Test("a message or packet that arrives twice")
    func twice() {
        var scene = Scene()
        scene.all()
        scene.message(5, offset: 13)
        #expect(scene.violations() == [.twice])
        scene = Scene()
        scene.all()
        scene.packet(4, sequence: 4)
        #expect(scene.violations() == [.twice, .sequenceTwice, .sequenceOrder, .packetCount])
    }

    @Test("messages that change places, even when their offsets rise")
    func swapped() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.packet(1, sequence: 2)
        scene.message(5, offset: 10)
        scene.message(2, offset: 12)
        scene.verifier.lost(from: "a", flow: 7, first: 3, last: 4)
        #expect(scene.violations() == [.overtaken])
    }

    @Test("a packet ahead of the message before it, a message ahead of the packet before it")
    func overtaken() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.packet(1, sequence: 2)
        scene.packet(3, sequence: 3)
        scene.message(2, offset: 10)
        scene.packet(4, sequence: 4)
        scene.message(5, offset: 12)
        #expect(scene.violations() == [.overtaken])
        scene = Scene()
        scene.packet(0, sequence: 1)
        scene.message(2, offset: 10)
        scene.packet(1, sequence: 2)
        scene.packet(3, sequence: 3)
        scene.packet(4, sequence: 4)
        scene.message(5, offset: 12)
        #expect(scene.violations() == [.overtaken])
    }

    @Test("one changed byte")
    func changed() {
        var scene = Scene()
        scene.all()
        scene.verifier.receivedMessage(from: "a", offset: 13, payload: [2, 0])
        #expect(scene.violations() == [.unknownMessage])
        scene = Scene()
        scene.all()
        scene.verifier.receivedPacket(from: "a", flow: 7, sequence: 5, payload: [99])
        #expect(scene.violations() == [.unknownPacket, .packetCount])
    }

    @Test("a message of one lane's payload on the other lane")
    func wrongLane() {
        var scene = Scene()
        scene.all()
        scene.message(0, offset: 13)
        #expect(scene.violations() == [.unknownMessage])
    }

    @Test("offsets that do not rise")
    func offsets() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.packet(1, sequence: 2)
        scene.message(2, offset: 10)
        scene.packet(3, sequence: 3)
        scene.packet(4, sequence: 4)
        scene.message(5, offset: 10)
        #expect(scene.violations() == [.offsetOrder])
    }

    @Test("a refused message that arrives all the same")
    func refusedDelivered() {
        var scene = Scene()
        scene.verifier.refused(5, from: "a")
        scene.all()
        #expect(scene.violations() == [.refusedDelivered])
    }

    @Test("packets that vanish without a word, at the end or in the middle")
    func vanished() {
        var scene = Scene()
        scene.packet(0, sequence: 1)
        scene.packet(1, sequence: 2)
        scene.message(2, offset: 10)
        scene.packet(3, sequence: 3)
        scene.message(5, offset: 12)
        #expect(scene.violations() == [.packetCount])
        scene = Scene()
        scene.packet(0, sequence: 1)
        scene.message(2, offset: 10)
        scene.packet(3, sequence: 3)
        scene.packet(4, sequence: 4)
        scene.message(5, offset: 12)
        #expect(scene.violations() == [.packetCount])
    }

    @Test("a loss that is told twice, or of packets that came, or without an end")
    func falseLosses() {
        var scene = Scene()
        scene.all()
        scene.verifier.lost(from: "a", flow: 7, first: 2, last: 3)
        #expect(scene.violations() == [.sequenceTwice, .packetCount])
        scene = Scene()
        scene.all()
        scene.verifier.lost(from: "a", flow: 7, first: 5, last: nil)
        #expect(scene.violations() == [.lossUnknown])
        scene = Scene()
        scene.all()
        scene.verifier.lost(from: "a", flow: 7, first: 5, last: 6)
        #expect(scene.violations() == [.packetCount])
    }

    @Test("drops that were told but did not happen")
    func falseDrops() {
        var scene = Scene()
        scene.all()
        scene.verifier.dropped(1, from: "a")
        #expect(scene.violations() == [.packetCount])
    }

    @Test("missed messages and a wait that was given up")
    func gaveUp() {
        var scene = Scene()
        scene.all()
        scene.verifier.missedMessages()
        scene.verifier.gaveUp()
        #expect(scene.violations() == [.messagesMissed, .incomplete])
    }

    @Test("every kind of violation is shown to be caught in this file")
    func allKinds() {
        // A new kind needs a test above, and its name here.
        #expect(ReplayVerifier.Violation.allCases.count == 13)
    }

    @Test("sequences may come in any order and touch at any end")
    func sequenceSets() {
        var set = SequenceSet()
        for (first, last, isNew) in [
            (5, 5, true), (1, 3, true), (4, 4, true), (4, 9, false), (11, 12, true), (10, 10, true), (1, 20, false),
        ] as [(UInt32, UInt32, Bool)] {
            #expect(set.insert(first, last) == isNew, "\(first)…\(last)")
        }
        #expect(set.count == 20)
        var expected = SequenceSet()
        _ = expected.insert(1, 20)
        #expect(set == expected)
        _ = set.insert(.max, .max)
        #expect(set.count == 21)
    }

    @Test("a hundred thousand packets are verified in a moment")
    func large() {
        var verifier = ReplayVerifier()
        for number in 0..<100_000 {
            verifier.sends(.packet, from: "a", payload: withUnsafeBytes(of: number) { Array($0) })
        }
        for number in 0..<100_000 {
            verifier.receivedPacket(
                from: "a", flow: 1, sequence: UInt32(number + 1), payload: withUnsafeBytes(of: number) { Array($0) })
        }
        #expect(verifier.finish().isKept)
    }
}
