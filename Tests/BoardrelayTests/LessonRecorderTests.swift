import BoardFormat
import RelayClient
import RelayWire
import Testing

@testable import RelayClientCore
@testable import RelayReplay

@Suite("what a recorder writes")
struct LessonRecorderTests {
    static func message(
        _ offset: UInt64, _ key: String?, _ text: String = "{}", by user: String = "ada", channel: String = "lesson", retained: Bool = true
    ) -> Message {
        Message(
            channel: channel, sender: user, offset: offset, epoch: nil, wallMilliseconds: 0, customType: text.isEmpty ? nil : "stroke",
            key: key, isRetained: retained, payload: .text(text))
    }

    static func record(_ key: String) -> WhiteboardRecord { WhiteboardRecord(key: key, customType: "stroke", payload: .text("{}")) }
    static let caughtUp = ClientEvent.caughtUp(channel: "lesson", head: 9)

    /// One that has read an empty board 1 s after its start.
    static func live() -> LessonRecorder {
        var recorder = LessonRecorder("lesson")
        _ = recorder.note(caughtUp, at: .seconds(1), time: 5)
        return recorder
    }

    @Test("what stands is told at 0, in the order of offsets, once all of it has come; what is of another channel never")
    func start() {
        var recorder = LessonRecorder("lesson")
        let before: [ClientEvent] = [
            .board(
                BoardBatch(channel: "lesson", messages: [Self.message(1, "a"), Self.message(2, "b"), Self.message(3, "c")], progress: 0)),
            .message(Self.message(4, "b", "", by: "ben")), .message(Self.message(5, "a", by: "ben")),
            .message(Self.message(6, nil, retained: false)),
            .message(Self.message(7, "x", channel: "other")), .caughtUp(channel: "other", head: 9),
        ]
        for event in before { #expect(recorder.note(event, at: .zero, time: 1).isEmpty && !recorder.isLive) }
        #expect(
            recorder.note(Self.caughtUp, at: .seconds(3), time: 77) == [
                LessonEvent(at: 0, .begin(time: 77)), LessonEvent(at: 0, .record(Self.record("c"), by: "ada")),
                LessonEvent(at: 0, .record(Self.record("a"), by: "ben")),
            ])
        #expect(recorder.end(at: .seconds(4.5)) == [LessonEvent(at: 1_500, .end)])
    }

    @Test("a change set is one, and what comes alone is not; nothing that happens is at 0")
    func sets() {
        var recorder = Self.live()
        let set = BoardBatch(channel: "lesson", messages: [Self.message(1, "a"), Self.message(2, "b", "")], progress: 1)
        #expect(
            recorder.note(.board(set), at: .seconds(1), time: 0) == [
                LessonEvent(at: 1, .record(Self.record("a"), by: "ada"), more: true), LessonEvent(at: 1, .removal(key: "b", by: "ada")),
            ])
        #expect(
            recorder.note(.message(Self.message(3, nil, retained: false)), at: .seconds(1.25), time: 0)
                == [LessonEvent(at: 250, .message(.text("{}"), customType: "stroke", key: nil, by: "ada"))])
        let cleared = BoardCleared(channel: "lesson", offset: 4, user: "ben", wallMilliseconds: 0)
        #expect(recorder.note(.cleared(cleared), at: .seconds(1.1), time: 0) == [LessonEvent(at: 250, .clear(by: "ben"))], "time goes on")
    }

    @Test("a broken link is told once, and then how much was missed, as far as anybody knows")
    func broken() {
        var recorder = Self.live()
        let waiting = ClientEvent.link(.waiting(after: .zero, reason: RelayError(.heartbeatTimeout, "the relay has fallen silent")))
        #expect(recorder.note(waiting, at: .seconds(2), time: 0) == [LessonEvent(at: 1_000, .broken)])
        #expect(recorder.note(waiting, at: .seconds(3), time: 0).isEmpty)
        #expect(recorder.note(.link(.connected(resumed: false)), at: .seconds(4), time: 0).isEmpty)
        func lost(_ last: UInt32?, _ channel: String = "lesson") -> ClientEvent {
            let entry = PacketsLost.Entry(flow: 1, channel: channel, topic: "points", publisher: "ben", device: "d", first: 3, last: last)
            return .packetsLost(PacketsLost(reason: .linkBroken, entries: [entry]))
        }
        #expect(recorder.note(lost(9), at: .seconds(4), time: 0).map(\.kind) == [.missed(.packets, count: 7)])
        #expect(recorder.note(lost(nil), at: .seconds(4), time: 0).map(\.kind) == [.missed(.packets, count: nil)])
        #expect(recorder.note(lost(9, "other"), at: .seconds(4), time: 0).isEmpty)
        let range = MessagesMissed(channel: "lesson", epoch: nil, extent: .range(5...6))
        #expect(recorder.note(.messagesMissed(range), at: .seconds(4), time: 0).map(\.kind) == [.missed(.messages, count: 2)])
        let reset = MessagesMissed(channel: "lesson", epoch: nil, extent: .reset)
        #expect(recorder.note(.messagesMissed(reset), at: .seconds(4), time: 0).map(\.kind) == [.missed(.messages, count: nil), .reset])
        #expect(recorder.missed == 4)
        #expect(recorder.note(waiting, at: .seconds(5), time: 0) == [LessonEvent(at: 4_000, .broken)])
    }

    @Test("whoever publishes no more is told, also who went while the link was broken: all of them in order")
    func left() {
        var recorder = LessonRecorder("lesson")
        func topics(_ kind: TopicsChange.Kind, _ stays: (String, String)...) -> ClientEvent {
            .topics(
                TopicsChange(
                    channel: "lesson", kind: kind, publishers: stays.map { .init(topic: $0.0, user: $0.1, device: "d", meta: "") }))
        }
        _ = recorder.note(topics(.snapshot, ("points", "ada"), ("cursors", "ada"), ("chat", "ada")), at: .zero, time: 0)
        _ = recorder.note(Self.caughtUp, at: .zero, time: 0)
        _ = recorder.note(topics(.joined, ("points", "ben")), at: .seconds(1), time: 0)
        #expect(
            recorder.note(topics(.left, ("points", "ben"), ("chat", "ada")), at: .seconds(2), time: 0)
                == [LessonEvent(at: 2_000, .left(topic: "points", by: "ben", device: "d"))])
        #expect(
            recorder.note(topics(.snapshot, ("points", "ada")), at: .seconds(3), time: 0)
                == [LessonEvent(at: 3_000, .left(topic: "cursors", by: "ada", device: "d"))])
        let many = [("cursors", "ada"), ("cursors", "ben"), ("points", "ada"), ("points", "ben"), ("points", "ben2"), ("points", "eve")]
        for stay in many { _ = recorder.note(topics(.joined, stay), at: .seconds(4), time: 0) }
        #expect(
            recorder.note(topics(.snapshot), at: .seconds(5), time: 0).map(\.kind)
                == many.map { .left(topic: $0.0, by: $0.1, device: "d") }, "in an order of their own")
    }
}
