import Foundation
import RelayClient
import RelayWire
import Testing

/// The machine counts milliseconds, apps see dates.
@Suite struct ClientEventValueTests {
    private static let milliseconds: UInt64 = 1_764_259_200_123
    private static let date = Date(timeIntervalSince1970: 1_764_259_200.123)

    @Test("a time of the relay is a date, to the millisecond")
    func dates() {
        let dates = [
            Message(channel: "lesson", sender: "ann", offset: 1, wallMilliseconds: Self.milliseconds, payload: "hello").date,
            DirectMessage(sender: "ann", wallMilliseconds: Self.milliseconds, payload: "hello").date,
            BoardCleared(channel: "lesson", offset: 2, user: "ann", wallMilliseconds: Self.milliseconds).date,
            MetadataItem(key: "title", value: "Autumn", revision: 1, wallMilliseconds: Self.milliseconds).date,
            BanInfo(user: "eve", by: "host", wallMilliseconds: Self.milliseconds, endMilliseconds: nil).date,
            BoardInfo(channel: "lesson", records: 1, bytes: 1, changedMilliseconds: Self.milliseconds).changed,
        ]
        for case let date? in dates { #expect(abs(date.timeIntervalSince(Self.date)) < 0.000_001) }
        #expect(dates.allSatisfy { $0 != nil })
        #expect(MetadataItem(key: "title", value: "Autumn", revision: 1).date == nil)
    }

    @Test("an app makes records, at times that the wire has: what lies outside is the nearest")
    func records() {
        func record(_ date: Date?) -> BoardRecord { BoardRecord(key: "s1", payload: "0,0 10,20", author: "ann", date: date) }
        #expect(record(Self.date).wallMilliseconds == Self.milliseconds && record(nil).wallMilliseconds == nil)
        #expect(record(Date(timeIntervalSince1970: -5)).date == Date(timeIntervalSince1970: 0))
        #expect(record(.distantFuture).date == .distantFuture)
        #expect(BoardRecords([record(nil), record(Self.date)])["s1"]?.date == record(Self.date).date)
    }
}
