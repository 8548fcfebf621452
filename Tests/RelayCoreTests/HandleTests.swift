@testable import RelayCore
import RelayTestKit
import RelayTesting
import RelayWire
import Testing

/// Numbers by which channels, devices and flows are named.
@Suite struct HandleTests {
    /// All that are left have been given out.
    private func useUp(_ ordinals: inout Ordinals) {
        while ordinals.nextRun.lowerBound > 1 { ordinals.beginRun(without: []) }
        while ordinals.handle() != nil {}
    }

    @Test("Behind the last handle they begin again, without 0 and without those that are in use")
    func again() {
        var ordinals = Ordinals()
        #expect(ordinals.handle() == 1)
        useUp(&ordinals)
        #expect(ordinals.nextRun == 1...65_535)
        ordinals.beginRun(without: [1, 2, 4])
        #expect((0..<3).map { _ in ordinals.handle() } == [3, 5, 6])
        while ordinals.handle() != nil {}
        #expect(ordinals.nextRun == 65_536...131_071)
    }

    @Test("[MS5] after 2³² handles a device gets one that names nothing else, neither a device nor a channel nor who wrote what is kept")
    func wrapped() {
        let driver = HubDriver.patient(), reader = TestClient(driver, "reader"), writer = TestClient(driver, "writer")
        reader.subscribe("board-0")
        writer.retain("board-0", "a", [1])
        reader.others += reader.frames()
        let board = ChannelID(kind: .message, channel: name("board-0"))
        let inUse = [reader.welcome!.handle, writer.welcome!.handle, driver.hub.handle(of: board)!]
        useUp(&driver.hub.ordinals)
        let later = TestClient(driver, "later")
        #expect(Set(inUse) == [1, 2, 3] && later.welcome!.handle == 4)
        later.retain("board-0", "b", [1])
        let named = reader.frames(.userNamed).map(\.body)
        #expect(named == [[0, 0, 0, 4] + Array("later".utf8)])
    }
}
