import RelayCore
import RelayTestKit
import RelayWire
import Testing

/// How much of the disk those who catch up may ask for.
@Suite struct BoardReadingTests {
    /// Boards with a record each, all of it in their files, and a disk that does not answer.
    private func driver(boards: Int) -> HubDriver {
        let driver = HubDriver.patient(), writer = TestClient(driver, "writer")
        for board in 0..<boards { writer.retain("board-\(board)", "a", [1]) }
        _ = writer.frames()
        driver.holdsFiles = true
        return driver
    }

    private func begin(_ client: TestClient, _ board: Int) {
        let request = SubscribeRequest(
            id: client.nextRequest(), channel: name("board-\(board)"), features: ["messages"], since: .beginning)
        client.driver.send(.json(.subscribe, request), from: client.id)
        client.others += client.frames()
    }

    @Test("[HI2] one read is under way for a connection, however many boards it wants and however often it begins anew")
    func one() {
        let driver = driver(boards: 3), reader = TestClient(driver, "reader")
        for _ in 0..<100 { for board in 0..<3 { begin(reader, board) } }
        #expect(driver.reads.count == 1)
        driver.holdsFiles = false
        reader.others += reader.frames()
        #expect(reader.takeOthers(.caughtUp).count == 3)
    }

    @Test("[HI2] 64 reads are under way at most; the others are asked for as these are answered, and everybody is given all of it")
    func all() {
        let driver = driver(boards: 1), readers = (0..<200).map { TestClient(driver, "reader-\($0)") }
        for reader in readers { begin(reader, 0) }
        #expect(driver.reads.count == 64)
        for _ in 0..<4 {
            driver.readFiles(now: true)
            for reader in readers { reader.others += reader.frames() }
        }
        #expect(readers.allSatisfy { $0.takeOthers(.caughtUp).count == 1 } && driver.reads.isEmpty)
    }

    @Test("[HI2] a connection that ended with a read under way takes no place for good")
    func ended() {
        let driver = driver(boards: 1)
        for round in 0..<100 {
            let reader = TestClient(driver, "reader-\(round)")
            begin(reader, 0)
            driver.cut(reader.id)
            driver.readFiles(now: true)
        }
        let reader = TestClient(driver, "reader")
        begin(reader, 0)
        #expect(driver.reads.count == 1)
    }
}
