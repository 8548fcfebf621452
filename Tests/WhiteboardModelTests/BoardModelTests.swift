import Observation
import RelayClient
import RelayServer
import Testing
import WhiteboardModel

/// What a view observes, with a relay in this process.
@Suite @MainActor struct BoardModelTests {
    private func client(_ relay: WhiteboardRelay, _ user: String) throws -> WhiteboardClient {
        var options = ClientOptions()
        options.secret = .inMemory
        return try WhiteboardClient(Invitation(relay.address), user: user, options: options)
    }

    private func model(_ relay: WhiteboardRelay, _ user: String) throws -> BoardModel {
        let client = try client(relay, user)
        return try BoardModel(client.channel("lesson"), cursors: "pointers")
    }

    /// Waits until something holds, each time that what it read has changed.
    private func until(_ isSo: @MainActor () -> Bool) async {
        while true {
            let (changes, changed) = AsyncStream.makeStream(of: Void.self)
            let holds = withObservationTracking(isSo) { changed.finish() }
            if holds { return }
            for await _ in changes {}
        }
    }

    @Test("a model has the board, the people, their pointers and the link; what has changed is observed")
    func follows() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let ann = try model(relay, "ann"), ben = try model(relay, "ben")
        #expect(ann.link == .idle && ann.records.isEmpty && !ann.isComplete)
        try await ann.open()
        try await ben.open()
        await until { ann.people.count == 2 && ben.people.count == 2 && ann.isComplete }
        try ann.put("0,0 10,20", key: "s1", customType: "stroke")
        await until { ann.records["s1"] != nil }
        await until { ben.records["s1"]?.payload?.text == "0,0 10,20" && ben.changed == ["s1"] }
        await until { ann.records["s1"]?.isPending == false && ann.unsent.unstored == 0 }
        while ben.cursors["ann"] == nil {
            ann.point(at: "5,5")
            await Task.yield()
        }
        #expect(ben.cursors["ann"]?.payload.text == "5,5" && ben.cursors["ann"]?.slot == 1 && ann.link.isConnected)
        try ben.remove("s1")
        // Another user's record takes a right that ben has on an open relay.
        await until { ann.records["s1"] == nil && ben.records.isEmpty }
        try await ann.leave()
        await until { ben.people.keys.sorted() == ["ben"] && ben.cursors.isEmpty }
        try await ben.leave()
        await relay.stop()
    }

    @Test("a model that its view lets go of is freed, and others see its user leave, not time out")
    func lettingGo() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let watcher = try client(relay, "watcher")
        let lesson = try watcher.channel("lesson")
        let events = lesson.events()
        try await lesson.open()
        weak var gone: BoardModel?
        func comeAndGo() async throws {
            let board = try model(relay, "ann")
            gone = board
            try await board.open()
            await until { board.people.count == 2 }
        }
        try await comeAndGo()
        for try await case .presence(let change) in events {
            if case .timedOut = change.kind { Issue.record("it timed out") }
            if case .left("ann") = change.kind { break }
        }
        #expect(gone == nil)
        await watcher.close()
        await relay.stop()
    }

    @Test("refusals are shown, the newest 20, until they are dismissed")
    func problems() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let ann = try client(relay, "ann")
        let board = try BoardModel(ann.channel("lesson"))
        for _ in 1...25 { try ann.person("nobody").send("?") }
        await until { board.problems.count == 20 }
        #expect(board.problems.allSatisfy { $0.error.code == .userOffline })
        board.dismissProblems()
        #expect(board.problems.isEmpty)
        await ann.close()
        await until { board.link == .closed(reason: .clientClosed) }
        await relay.stop()
    }

    @Test("what keeps a drawing of its own is called with all keys at first, then with those of every change, also where views see one")
    func onRecords() async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        let ann = try model(relay, "ann")
        try await ann.open()
        try ann.put("1,1", key: "s1")
        await until { ann.records["s1"]?.isPending == false }
        var drawn: [String: String] = [:], calls: [Set<String>] = []
        ann.onRecords = { [unowned ann] keys in
            calls.append(keys)
            for key in keys { drawn[key] = ann.records[key]?.payload?.text }
        }
        #expect(calls == [["s1"]] && drawn == ["s1": "1,1"])
        for place in 2...40 { try ann.put("\(place)", key: "s\(place)") }
        try ann.remove("s1")
        await until { ann.records["s1"] == nil && ann.unsent.unstored == 0 && !ann.records.contains { $0.isPending } }
        #expect(drawn == Dictionary(uniqueKeysWithValues: ann.records.map { ($0.key, $0.payload!.text!) }) && drawn.count == 39)
        try await ann.leave()
        await relay.stop()
    }

    @Test("a preview needs no relay")
    func preview() async throws {
        let board = BoardModel(
            records: BoardRecords([BoardRecord(key: "s1", payload: "x", author: "ann")]), people: ["ann": Member(user: "ann")])
        #expect(board.records.count == 1 && board.isComplete && board.link.isConnected && board.channel == nil)
        var keys: Set<String> = []
        board.onRecords = { keys = $0 }
        #expect(keys == ["s1"])
        try board.put("y", key: "s2")
        board.point(at: "1,1")
        try await board.open()
        #expect(board.records.count == 1)
    }
}
