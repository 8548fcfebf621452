import RelayMonitoring
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

@testable import RelayCore

/// What the relay keeps of its last hour for the page that draws it.
@Suite struct LastHourTests {
    private func sums(messages: Int, sessions: Int = 0, lagging: Int = 0) -> StatusSample {
        var sum = StatusSample()
        (sum.messagesIn, sum.sessions, sum.lagging, sum.memoryBytes, sum.diskBytes) = (messages, sessions, lagging, messages * 10, messages)
        return sum
    }

    @Test("[AC16] a minute is six looks: what came in it, the most sessions and lagging ones, and memory and disk at its end")
    func minute() {
        var hour = LastHour()
        for (place, sessions) in [3, 9, 4, 4, 4, 4].enumerated() {
            #expect(hour.samples == [], "a minute that is not whole is not told")
            hour.note(sums(messages: 100 + place, sessions: sessions, lagging: place == 2 ? 2 : 0))
        }
        for place in 0..<6 { hour.note(sums(messages: 110 + place, sessions: 1)) }
        #expect(hour.samples.map(\.messagesIn) == [105, 10] && hour.samples.map(\.sessions) == [9, 1])
        #expect(hour.samples.map(\.lagging) == [2, 0])
        #expect(hour.samples.map(\.memoryBytes) == [1_050, 1_150] && hour.samples.map(\.diskBytes) == [105, 115])
    }

    @Test("[AC16] it keeps sixty minutes, however long the relay runs")
    func bound() {
        var hour = LastHour()
        for minute in 1...200 { for _ in 0..<6 { hour.note(sums(messages: minute * minute)) } }
        #expect(hour.samples.count == 60 && hour.samples.map(\.messagesIn) == (141...200).map { 2 * $0 - 1 })
    }

    @Test("[AC16, FR3] a moderator who asks is told it in place of the users, in one whole frame, whatever its numbers are")
    func answer() throws {
        let driver = HubDriver()
        let host = TestClient(driver, "host"), reader = TestClient(driver, "reader")
        for client in [host, reader] { client.subscribe("lesson", features: ["messages"]) }
        func told(hour: Bool? = true) throws -> StatusAnswer { try #require(host.answer(StatusAnswer.self, host.status(hour: hour))) }
        _ = reader.frames()
        for _ in 0..<3 { host.publish("lesson", [1]) }
        // It takes a little and no more.
        driver.take(reader.id, bytes: 10)
        driver.advance(.milliseconds(250))
        _ = host.frames()
        var measure = Measure()
        (measure.bytesIn, measure.bytesOut, measure.memoryBytes) = (700, 800, 9_000)
        for _ in 0..<6 { driver.hub.handle(.measured(measure), at: driver.now) }
        let first = try #require(told().hour?.first)
        #expect((first.sessions, first.lagging) == (2, 1) && (first.messagesIn, first.messagesOut) == (3, 3))
        #expect((first.bytesIn, first.bytesOut, first.memoryBytes, first.diskBytes) == (700, 800, 9_000, nil))
        #expect(try told().status.users == [] && told().status.addresses == [] && told().status.next == nil)
        #expect(try told(hour: nil).hour == nil && told(hour: false).status.users.count == 2)

        for minute in 1...60 {
            let most = Int(Limits.integerMax) / 60 * minute
            (measure.bytesIn, measure.bytesOut, measure.memoryBytes, measure.diskBytes) = (most, most, most, most)
            for _ in 0..<6 { driver.hub.handle(.measured(measure), at: driver.now) }
        }
        #expect(try told().hour?.count == 60)
    }
}
