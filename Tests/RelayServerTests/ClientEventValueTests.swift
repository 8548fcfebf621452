import Foundation
import RelayClient
import Testing

/// Events as apps see them, and as their tests and previews make them: from outside of the package, without a relay.
@Suite struct ClientEventValueTests {
    @Test("a time of the relay is a date, to the millisecond, and one outside of what the wire has is its nearest")
    func dates() {
        let date = Date(timeIntervalSince1970: 1_764_259_200.123)
        var message = Message(channel: "lesson", sender: "ann", payload: "hello", date: date)
        #expect(abs(message.date.timeIntervalSince(date)) < 0.000_001)
        message.date = Date(timeIntervalSince1970: -5)
        #expect(message.date == Date(timeIntervalSince1970: 0))
        message.date = .distantFuture
        #expect(message.date == .distantFuture)
        #expect(DirectMessage(sender: "ann", payload: "hello", date: date).date == message.with(date).date)
        #expect(BoardCleared(channel: "lesson", offset: 2, user: "ann", date: date).date == message.with(date).date)
        #expect(MetadataItem(key: "title", value: "Autumn").date == nil)
        #expect(MetadataItem(key: "title", value: "Autumn", date: date).date == message.with(date).date)
    }
}

extension Message {
    fileprivate func with(_ date: Date) -> Message {
        var copy = self
        copy.date = date
        return copy
    }
}
