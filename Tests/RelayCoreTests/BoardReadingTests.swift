import RelayCore
import RelayPrimitives
import RelayTestKit
import RelayTesting
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

    private func ask(_ client: TestClient, _ board: Int) {
        let request = SubscribeRequest(
            id: client.nextRequest(), channel: name("board-\(board)"), features: ["messages"], since: .beginning)
        client.driver.send(.json(.subscribe, request), from: client.id)
    }

    private func begin(_ client: TestClient, _ board: Int) {
        ask(client, board)
        client.others += client.frames()
    }

    /// Whether all of a board has come.
    private func isDone(_ client: TestClient) -> Bool {
        client.others += client.frames()
        return client.takeOthers(.caughtUp).count == 1
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

    @Test("[HI2] behind 64 reads that are under way, who takes nothing, or has gone, keeps its place from nobody")
    func idle() {
        let driver = driver(boards: 1), readers = (0..<80).map { TestClient(driver, "reader-\($0)") }
        for reader in readers { begin(reader, 0) }
        #expect(driver.reads.count == 64)
        // In line they come first.
        driver.cut(readers[64].id)
        let still = readers[65..<70], others = readers[70...]
        for _ in 0..<4 {
            driver.readFiles(now: true)
            for reader in others { reader.others += reader.frames() }
        }
        #expect(others.allSatisfy { isDone($0) })
        driver.holdsFiles = false
        #expect(still.allSatisfy { isDone($0) })
    }

    // MARK: - Memory

    private let school = AddressKey.ipv4(0xC0A8_0109)
    private let home = AddressKey.ipv6(0x2001_0db8_0000_0007)

    /// Many readers, of whom each has asked for a block, and takes nothing any more.
    private func still(_ driver: HubDriver, _ count: Int) -> [TestClient] {
        let readers = (0..<count).map { TestClient(driver, "still-\($0)", from: school) }
        for reader in readers {
            ask(reader, 0)
            driver.take(reader.id, bytes: 1)
        }
        driver.readFiles(now: true)
        return readers
    }

    /// - Parameter bytesMax: of blocks. The least has room for 12 of one address.
    private func crowded(bytesMax: Int = 64 * 1024, keys: Int = 200) -> HubDriver {
        let driver = HubDriver.patient { $0.boardBlocksBytesMax = bytesMax }, writer = TestClient(driver, "writer")
        for key in 0..<keys { writer.retain("board-0", "key-\(key)", [1]) }
        _ = writer.frames()
        driver.holdsFiles = true
        return driver
    }

    @Test("[HI2] blocks on their way to readers of one address have their share, and leave others theirs")
    func blocks() {
        let driver = crowded(), readers = still(driver, 100)
        let held = driver.hub.census().blockMemoryBytes
        #expect((36 * 1024...52 * 1024).contains(held), "\(held) of 65,536: some more than a block is there for each of 12")
        driver.holdsFiles = false
        let anna = TestClient(driver, "anna", from: home)
        begin(anna, 0)
        #expect(isDone(anna))
        for _ in 0..<4 { for reader in readers { reader.others += reader.frames() } }
        #expect(readers.allSatisfy { isDone($0) } && driver.hub.census().blockMemoryBytes == 0)
    }

    @Test("[HI2] who takes nothing for 100 ms while others of its address wait has its block read again")
    func still() {
        let driver = crowded(), readers = still(driver, 100)
        driver.holdsFiles = false
        let ben = TestClient(driver, "ben", from: school)
        begin(ben, 0)
        #expect(!isDone(ben))
        driver.advance(.milliseconds(100))
        for _ in 0..<20 { ben.others += ben.frames() }
        #expect(isDone(ben))
        for _ in 0..<4 { for reader in readers { reader.others += reader.frames() } }
        #expect(readers.allSatisfy { isDone($0) } && driver.hub.census().blockMemoryBytes == 0)
    }

    @Test("[HI2] a reader so slow that its block is read again is given no part of a record twice, whatever offsets are free before it")
    func slow() {
        let driver = HubDriver.patient {
            $0.boardBlocksBytesMax = 2 * 1024 * 1024
            $0.limits.requestsPerSecond = 1_000_000
            $0.requestsBurst = 1_000_000
        }
        let writer = TestClient(driver, "writer")
        writer.retain("board-0", "a", [1])
        writer.retain("board-0", "b", [2])
        for part in 1...20 { writer.part("board-0", "k", UInt16(part), of: 20, [UInt8](repeating: 7, count: 30_000)) }
        // What stood before the record in parts is behind it now.
        writer.retain("board-0", "b", [1])
        _ = writer.frames()
        driver.holdsFiles = true
        let others = (0..<20).map { TestClient(driver, "other-\($0)", from: school) }, slow = TestClient(driver, "slow", from: home)
        for client in others + [slow] { ask(client, 0) }
        var parts: [UInt16] = [], isDone = false
        for _ in 0..<300 where !isDone {
            driver.readFiles(now: true)
            for client in others where client.frames().contains(where: { $0.type == FrameType.caughtUp.rawValue }) { ask(client, 0) }
            driver.take(slow.id, bytes: 20_000)
            let frames = driver.received(slow.id, all: false)
            for frame in frames where frame.type == FrameType.deliver.rawValue {
                frame.body.withUnsafeBytes { body in
                    let deliver = try! DeliverFrame(flags: frame.flags, body: body)
                    if deliver.parts > 1 { parts.append(deliver.part) }
                }
            }
            isDone = frames.contains { $0.type == FrameType.caughtUp.rawValue }
            for client in others + [slow] { driver.send(Frame(.ping), from: client.id) }
            driver.advance(.milliseconds(100))
        }
        #expect(isDone && parts == Array(1...20), "\(isDone) \(parts)")
    }

    // MARK: - The line

    private let street = AddressKey.ipv4(0xC0A8_0209)

    private func readers(_ driver: HubDriver, _ count: Int, _ name: String, from address: AddressKey) -> [TestClient] {
        (0..<count).map { TestClient(driver, "\(name)-\($0)", from: address) }
    }

    /// The disk answers, and there is a turn as of a shell whose sockets take everything, but one.
    ///
    /// - Returns: of the readers, those that have all of the board now.
    private func turn(_ driver: HubDriver, _ readers: [TestClient], blocked: TestClient? = nil) -> [TestClient] {
        driver.readFiles(now: true)
        driver.nextTurn { if $0 != blocked?.id { _ = driver.flush($0) } }
        return readers.filter { driver.received($0.id, all: false).contains { $0.type == FrameType.caughtUp.rawValue } }
    }

    @Test(
        "[HI2] who waits for a block is passed by nobody who comes later, of whatever address",
        arguments: [(12, 0), (20, 20)])
    func inLine(ofSchool: Int, ofStreet: Int) {
        let driver = crowded()
        let others = readers(driver, ofSchool, "other", from: school) + readers(driver, ofStreet, "passer", from: street)
        let last = TestClient(driver, "last", from: ofStreet == 0 ? school : home)
        driver.offers = false
        for reader in others + [last] { ask(reader, 0) }
        var turns = 0, isGiven = false
        while !isGiven, turns < 50 {
            turns += 1
            for reader in turn(driver, others) { ask(reader, 0) }
            isGiven = driver.received(last.id, all: false).contains { $0.type == FrameType.deliver.rawValue }
        }
        #expect(isGiven && turns <= 6, "\(isGiven) after \(turns) turns")
    }

    @Test("[HI2] who takes nothing when its turn comes keeps nobody waiting, and comes first once it takes something")
    func aside() {
        let driver = crowded(keys: 10), first = readers(driver, 12, "first", from: school)
        let late = TestClient(driver, "late", from: school), others = readers(driver, 100, "other", from: school)
        driver.offers = false
        for reader in first + [late] + others { ask(reader, 0) }
        #expect(turn(driver, first).isEmpty && driver.reads.count == 12)
        var done: [TestClient] = []
        for _ in 0..<3 { done += turn(driver, first + others, blocked: late) }
        #expect(done.count >= 24, "\(done.count) went on beside it")
        // Its socket takes bytes again, when there is no room.
        for _ in 0..<2 { driver.nextTurn { if $0 != late.id { _ = driver.flush($0) } } }
        #expect(driver.reads.count == 12)
        _ = driver.flush(late.id)
        #expect(driver.reads.count == 12)
        #expect(turn(driver, [late]).isEmpty)
        #expect(turn(driver, [late]).count == 1)
    }

    @Test("[HI2] behind 64 reads, two addresses take turns, however many of one are in line, and all are served")
    func rounds() {
        let driver = driver(boards: 1), first = readers(driver, 64, "first", from: street)
        let many = readers(driver, 150, "many", from: school), few = readers(driver, 40, "few", from: home)
        driver.offers = false
        for reader in first + many + few { ask(reader, 0) }
        #expect(turn(driver, first).isEmpty && driver.reads.count == 64)
        var done: [TestClient] = [], manyBesideFew = 0
        for _ in 0..<12 {
            done += turn(driver, many + few)
            if done.count(where: { $0.user.hasPrefix("few") }) < 40 { manyBesideFew = done.count { $0.user.hasPrefix("many") } }
        }
        #expect(done.count == 190 && manyBesideFew < 64, "\(done.count) are done; \(manyBesideFew) of the many before the last of the few")
    }

    @Test("[HI2] a block is charged until it has been read, even where nobody waits for it any more")
    func abandoned() {
        let driver = crowded(keys: 10)
        for round in 0..<20 {
            let reader = TestClient(driver, "reader-\(round)", from: school)
            begin(reader, 0)
            driver.cut(reader.id)
        }
        let held = driver.hub.census().blockMemoryBytes
        #expect(driver.reads.count == 12 && held == 48 * 1024, "\(driver.reads.count) reads, \(held) bytes")
        driver.readFiles(now: true)
        #expect(driver.hub.census().blockMemoryBytes == 0)
    }

    @Test("[HI2] behind 64 reads, and with memory to spare, a reader that takes nothing keeps its block")
    func kept() {
        let driver = crowded(bytesMax: 16 * 1024 * 1024), reader = still(driver, 1)[0]
        for client in readers(driver, 80, "other", from: home) { begin(client, 0) }
        let held = driver.hub.census().blockMemoryBytes
        driver.advance(.seconds(1))
        #expect(driver.reads.count == 64 && driver.hub.census().blockMemoryBytes == held)
        driver.holdsFiles = false
        #expect(isDone(reader))
    }

    @Test("[HI2] authors by the hundred are named again rather than remembered for each reader")
    func authors() {
        let driver = HubDriver.patient(), reader = TestClient(driver, "reader")
        for author in 0..<300 { TestClient(driver, "author-\(author)").retain("board-0", "key-\(author)", [1]) }
        begin(reader, 0)
        let named = Set(reader.others.filter { $0.type == FrameType.userNamed.rawValue }.map(\.body))
        #expect(named.count >= 300 && reader.others.count { $0.type == FrameType.deliver.rawValue } == 300)
        #expect(driver.hub.census().blockMemoryBytes == 0)
    }
}
