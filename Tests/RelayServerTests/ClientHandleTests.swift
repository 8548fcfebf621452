import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayPrimitives
import Testing

@testable import RelayServer

/// The surface that apps use, with a relay in this process.
@Suite struct ClientHandleTests: HandleScene {
    // MARK: - Coming and going

    @Test("making a client does nothing; the first call connects; a name that is none is refused at once")
    func lazily() async throws {
        try await withRelay { relay in
            #expect(throws: RelayError.self) { try client(relay, "a*b") }
            let alice = try client(relay, "alice")
            #expect(throws: RelayError.self) { try alice.channel("a/b") }
            let lesson = try alice.channel("lesson")
            var states = alice.linkStates().makeAsyncIterator()
            #expect(await states.next() == .idle && alice.user == "alice" && alice.access == nil)
            let receipt = try lesson.send("hello")
            #expect(try await receipt.accepted == 1)
            #expect(alice.link.isConnected && alice.access != nil && alice.device?.utf8.count == 16)
            #expect(try lesson == alice.channel("lesson") && Set([lesson, try alice.channel("lesson")]).count == 1)
            await alice.close()
            #expect(await states.next() == .closed(reason: .clientClosed))
            #expect(await states.next() == nil)
            let late = await error { try await lesson.open() }
            #expect(late?.code == .clientClosed)
        }
    }

    @Test("connect throws when an attempt fails, and the client goes on trying: what was sent meanwhile arrives when the relay is there")
    func offlineStart() async throws {
        let port = try ClosedPort()
        var options = ClientOptions()
        options.secret = .inMemory
        let alice = try WhiteboardClient(Invitation(port.address), user: "alice", options: options)
        let lesson = try alice.channel("lesson")
        #expect(await error { try await alice.connect() }?.code == .connectFailed)
        let receipt = try lesson.board.put("kept", key: "a")
        var pictures = lesson.board.pictures().makeAsyncIterator()
        let picture = await pictures.next()
        #expect(picture?.records["a"]?.isPending == true, "it is shown before there is a relay")
        #expect(await error { _ = try await lesson.history(call: CallOptions(offline: .fail)) }?.code == .notConnected)
        let waiting = await error { try await lesson.open(call: CallOptions(timeout: .milliseconds(20))) }
        #expect(waiting?.code == .timedOut && waiting?.outcome == .nothingHappened)
        let relay = try await WhiteboardRelay.start(.init(port: port.number, hub: .unhurried()))
        alice.wakeUp()
        #expect(try await receipt.stored == 1)
        await alice.close()
        await relay.stop()
    }

    @Test("of several addresses the first at which the relay is meant counts; another relay is left again, and connect says so")
    func addresses() async throws {
        try await withRelay { relay in
            let dead = try ClosedPort()
            var options = ClientOptions()
            options.secret = .inMemory
            let invitation = Invitation(dead.address, or: [relay.address])
            try await WhiteboardClient.withClient(invitation, user: "alice", options: options) { client in
                try await client.connect()
                #expect(client.link.isConnected)
            }
            let probe = try WhiteboardClient(Invitation(relay.address), user: "bob", options: options)
            try await probe.connect()
            let id = try #require(probe.relayID)
            await probe.close()
            let other = try await WhiteboardRelay.start(.init(port: 0, hub: .unhurried()))
            let meant = Invitation(other.address, or: [relay.address], relayID: id)
            let client = try WhiteboardClient(meant, user: "alice", options: options)
            try await client.connect()
            #expect(client.relayID == id)
            await client.close()
            let stranger = try WhiteboardClient(Invitation(other.address, relayID: id), user: "alice", options: options)
            #expect(await error { try await stranger.connect() }?.code == .otherRelay)
            await stranger.close()
            await other.stop()
        }
    }

    @Test("[SE17] a client goes where a relay that stands by sends it, if it has that address, and else to the next one it has")
    func moved() async throws {
        try await withRelay { relay in
            var options = ClientOptions()
            options.secret = .inMemory
            for (told, isOwn) in [(relay.address, true), (RelayAddress(host: "192.0.2.7"), false)] {
                let second = try await WhiteboardRelay.start(
                    .init(port: 0), permit: { _ in }, as: .door(to: [], elsewhere: ["main": .unknown]))
                let door = try await WhiteboardRelay.start(
                    .init(port: 0), permit: { _ in }, as: .door(to: [], elsewhere: ["main": .at(told.description)]))
                let client = try WhiteboardClient(
                    Invitation(door.address, or: [second.address, relay.address]), user: "alice", options: options)
                try await client.connect()
                #expect(client.link.isConnected)
                #expect(await second.census().counters.closes["shuttingDown"] == (isOwn ? nil : 1))
                await client.close()
                let alone = try WhiteboardClient(Invitation(door.address), user: "alice", options: options)
                #expect(await error { try await alone.connect() }?.code == .moved, "this address is not its own")
                await alone.close()
                for door in [door, second] { await door.stop() }
            }
        }
    }

    @Test("a function may return a reader or a receipt alone: they keep the client, and when they go others see it leave")
    func lifetimes() async throws {
        try await withRelay { relay in
            let bob = try client(relay, "bob")
            let lesson = try bob.channel("lesson")
            let events = lesson.events()
            try await lesson.open()
            func reader() async throws -> Events<MessageEvent> {
                let channel = try client(relay, "alice").channel("lesson")
                let messages = channel.messages()
                try await channel.open(from: .now)
                return messages
            }
            var messages: Events<MessageEvent>? = try await reader()
            var iterator = messages?.makeAsyncIterator()
            try lesson.send("hello")
            guard case .message(let message)? = try await iterator?.next() else { return #expect(Bool(false), "the reader is dead") }
            #expect(message.payload.text == "hello")
            messages = nil
            iterator = nil
            var seen: [String] = []
            for try await event in events {
                guard case .presence(let change) = event else { continue }
                switch change.kind {
                case .joined(let member): seen.append("\(member.user) joined")
                case .left(let user): seen.append("\(user) left")
                case .timedOut(let user): seen.append("\(user) timed out")
                default: continue
                }
                if seen.count == 2 { break }
            }
            #expect(seen == ["alice joined", "alice left"])
            await bob.close()
        }
    }

    @Test("what was sent before the last reference goes still arrives")
    func lastWords() async throws {
        try await withRelay { relay in
            let bob = try client(relay, "bob")
            let lesson = try bob.channel("lesson")
            let messages = lesson.messages()
            try await lesson.open()
            func speak() throws {
                let channel = try client(relay, "alice").channel("lesson")
                for number in 1...20 { try channel.send("\(number)") }
            }
            try speak()
            var texts: [String] = []
            for try await case .message(let message) in messages {
                texts.append(message.payload.text ?? "")
                if texts.count == 20 { break }
            }
            #expect(texts == (1...20).map(String.init))
            await bob.close()
        }
    }

    // MARK: - Readers

    @Test("two readers get everything each; break, the task and leave end a loop without an error; later ones begin where they are made")
    func readers() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let bob = try client(relay, "bob")
            let lesson = try bob.channel("lesson")
            let first = lesson.messages()
            let second = lesson.messages()
            let cancelled = lesson.messages()
            try await lesson.open(from: .now)
            for number in 1...40 { _ = try await alice.channel("lesson").send("\(number)").accepted }
            func texts(_ events: Events<MessageEvent>, _ count: Int) async throws -> [String] {
                var found: [String] = []
                for try await case .message(let message) in events {
                    found.append(message.payload.text ?? "")
                    if found.count == count { break }
                }
                return found
            }
            async let ones = texts(first, 40)
            async let others = texts(second, 40)
            let all = (1...40).map(String.init)
            let both = try await [ones, others]
            #expect(both == [all, all])
            let late = lesson.messages()
            _ = try await alice.channel("lesson").send("late").accepted
            #expect(try await texts(late, 1) == ["late"])
            let task = Task { try await texts(cancelled, 1_000) }
            task.cancel()
            #expect(try await task.value.count <= 41)
            let rest = Task { try await texts(lesson.messages(), 1_000) }
            let again = lesson.messages()
            let waiting = Task { try await texts(again, 1_000) }
            try await lesson.leave()
            #expect(try await waiting.value == [])
            rest.cancel()
            _ = try await rest.value
            await alice.close()
            await bob.close()
        }
    }

    @Test("a client that nobody reads goes on: its calls are answered, others see it")
    func nobodyReads() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let bob = try client(relay, "bob")
            let lesson = try bob.channel("lesson")
            try await lesson.open()
            let text = Payload(String(repeating: "x", count: 30_000))
            for _ in 1...160 { _ = try await alice.channel("lesson").send(text).accepted }
            #expect(try await lesson.presence.users().members.map(\.user) == ["bob"])
            #expect(bob.link.isConnected)
            await alice.close()
            await bob.close()
        }
    }

    @Test("a board that comes faster than it is read waits in the relay, and comes whole")
    func holdsBack() async throws {
        try await withRelay { $0.limits.messagesPerSecond = 5_000 } _: { relay in
            let alice = try client(relay, "alice"), bob = try client(relay, "bob")
            let payload = Payload([UInt8](repeating: 1, count: 32_000))
            for half in 0..<2 {
                let receipt = try alice.channel("lesson").board.batch { batch in
                    for number in 0..<250 { batch.put(payload, key: "\(half)-\(number)") }
                }
                _ = try await receipt.stored
            }
            let lesson = try bob.channel("lesson")
            let events = lesson.events()
            try await lesson.open()
            // Nothing is read: answers do not come either, in the end.
            var isHeldBack = false
            while !isHeldBack {
                isHeldBack = await error { _ = try await bob.boards(call: CallOptions(timeout: .milliseconds(100))) }?.code == .timedOut
            }
            #expect(isHeldBack)
            var keys: Set<String> = []
            for try await event in events {
                if case .board(let batch) = event { keys.formUnion(batch.messages.compactMap(\.key)) }
                if case .caughtUp = event { break }
            }
            #expect(keys.count == 500)
            _ = try await bob.boards()
            await alice.close()
            await bob.close()
        }
    }

    // MARK: - Boards

    @Test("a board has own records at once, then stored; another client has the same; changes have own ones with their receipt")
    func boards() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let bob = try client(relay, "bob")
            let mine = try alice.channel("lesson")
            let theirs = try bob.channel("lesson")
            let changes = mine.board.changes()
            try await mine.open()
            let receipt = try mine.board.put("one", key: "a", customType: "stroke")
            let batch = try mine.board.batch { batch in
                batch.put("two", key: "b")
                batch.put("three", key: "c")
                batch.remove("a")
            }
            #expect(try await batch.stored == receipt.stored + 3)
            var told: [String] = []
            for try await change in changes {
                switch change {
                case .records(let records, _, let own):
                    let whose = own == receipt.id ? "first" : own == batch.id ? "batch" : "?"
                    told.append("\(whose) \(records.map { "\($0.key)=\($0.payload?.text ?? "-")" }.joined(separator: " "))")
                case .caughtUp: told.append("caught up")
                default: told.append("\(change)")
                }
                if told.count == 3 { break }
            }
            #expect(told == ["caught up", "first a=one", "batch b=two c=three a=-"])
            #expect(try await theirs.board.records().mapValues { $0.payload?.text } == ["b": "two", "c": "three"])
            #expect(try await theirs.presence.users().members.map(\.user) == ["alice"], "who reads a board is not seen")
            var pictures = theirs.board.pictures().makeAsyncIterator()
            #expect(await pictures.next()?.records.isEmpty == true, "it is not open")
            try await theirs.open()
            var picture = await pictures.next()
            while picture?.isComplete == false { picture = await pictures.next() }
            #expect(picture?.records.keys == ["b", "c"] && picture?.records["b"]?.author == "alice")
            try await mine.board.clear()
            while picture?.records.isEmpty == false { picture = await pictures.next() }
            #expect(picture?.changed == ["b", "c"])
            await alice.close()
            await bob.close()
        }
    }

    @Test("records() of a channel that is open from now is refused; leaving ends who waits")
    func records() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let lesson = try alice.channel("lesson")
            #expect(try await lesson.board.records() == [:])
            try await lesson.open(from: .now)
            #expect(await error { _ = try await lesson.board.records() }?.code == .badRequest)
            try await lesson.open(from: .board)
            #expect(try await lesson.board.records() == [:])
            await alice.close()
        }
    }

    // MARK: - Problems

    @Test("failures of receipts that nobody asked are problems, with what they are about; those that were asked are not")
    func problems() async throws {
        try await withRelay { relay in
            let alice = try client(relay, "alice")
            let lesson = try alice.channel("lesson")
            // A message to nobody fails.
            let nobody = try alice.person("nobody")
            func ask() async throws -> UInt64 {
                let receipt = try nobody.send("asked")
                #expect(await error { try await receipt.acknowledged() }?.code == .userOffline)
                return receipt.id
            }
            let asked = try await ask()
            try nobody.send("one")
            try nobody.send("two")
            _ = try await lesson.send("behind").accepted
            let first = alice.problems()
            var told: [String] = []
            for try await problem in first {
                #expect(problem.receipt != asked)
                told.append("\(problem.subject) \(problem.error.name) \(problem.omitted)")
                if told.count == 2 { break }
            }
            #expect(told == ["direct userOffline 0", "direct userOffline 0"])
            let second = alice.problems()
            try nobody.send("three")
            for try await problem in second {
                #expect(problem.error.code == .userOffline && problem.receipt != nil)
                break
            }
            await alice.close()
        }
    }
}
