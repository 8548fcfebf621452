import Foundation
import RelayClient
import RelayClientCore
import RelayCore
import RelayIO
import RelayJournal
import RelayStorage
@testable import RelayServer
import RelayWire
import Testing

/// A relay with a folder: what survives, what is told when the disk fails, what a change costs.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerStorageTests {
    @Test(
        "[SG4, MD2, LK3, LK5, SE6] after a restart all is there; revisions, fencing and start number go on; a lock stays its owner's for its ttl"
    )
    func restart() async throws {
        try await withTemporaryPath { path in
            let owners: [MetadataReference] = [.message("lesson"), .stream("lesson"), .user("bob")]
            var before: [MetadataContents] = []
            var fencing: UInt64 = 0
            var starts: [UInt32] = []
            var options = ClientOptions()
            options.device = .digits("00000000000000aa")
            try await withRelay(.folder(path)) { server in
                starts.append(await server.census().start)
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice", options: options)
                for owner in owners {
                    let metadata = try alice.metadata(of: owner)
                    try await metadata.set(["gone": "x", "title": "Herbst"])
                    let large = String(repeating: "v", count: 30_000)
                    try await metadata.set(["title": "é 🦆", "large": large], recordsUser: true, recordsTime: true)
                    try await metadata.remove(["gone"])
                    before.append(try await metadata.get())
                }
                try await alice.metadata(of: .message("emptied")).set(["k": "v"])
                try await alice.metadata(of: .message("emptied")).removeAll()
                let locks = try alice.locks(of: .stream("lesson"))
                for lock in ["chalk", "free", "pen", "removed"] { try await locks.lock(lock).make(ttl: .seconds(lock == "pen" ? 1 : 300)) }
                for lock in ["pen", "removed", "chalk"] { fencing = try await locks.lock(lock).acquire().fencing }
                try await locks.lock("removed").remove()
                await alice.close()
            }
            try await withRelay(.folder(path)) { server in
                starts.append(await server.census().start)
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                for (owner, contents) in zip(owners, before) { #expect(try await bob.metadata(of: owner).get() == contents) }
                #expect(try await bob.metadata(of: .message("emptied")).get().isEmpty(at: 2))
                #expect(try await bob.metadata(of: .stream("lesson")).set(["title": "x"], revisions: ["title": 2], majorRevision: 3) == 4)
                #expect(try await bob.metadata(of: .message("emptied")).set(["k": "v"]) == 3)

                let locks = try bob.locks(of: .stream("lesson"))
                let all = try await locks.all()
                #expect(all.map(\.lock) == ["chalk", "free", "pen"] && all.map(\.ttl) == [.seconds(300), .seconds(300), .seconds(1)])
                #expect(await refusal { try await locks.lock("chalk").acquire() }?.code == .lockHeld, "its ttl runs from the restart on")
                let free = try await locks.lock("free").acquire().fencing
                let pen = try await locks.lock("pen").acquire(wait: .seconds(60)).fencing
                #expect(free > fencing && pen > free, "free when the ttl of who does not come back is over")
                #expect(try await locks.all().map(\.owner) == ["alice", "bob", "bob"])
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice", options: options)
                try await alice.locks(of: .stream("lesson")).lock("chalk").release()
                await alice.close()
                await bob.close()
            }
            try await withRelay(.folder(path)) { server in starts.append(await server.census().start) }
            #expect(starts == Set(starts).sorted() && starts.count == 3)
        }
    }

    @Test("[SE6] the start number is greater than that of the relay that stored last, even if its clock was ahead")
    func startNumber() async throws {
        try await withTemporaryPath { path in
            let ahead = UInt32(clamping: SystemClock.wallMilliseconds() / 1000) + 100_000
            try await Self.store(start: ahead, path)
            let start = try await withRelay(.folder(path)) { await $0.census().start }
            #expect(start > ahead)
            #expect(try await withRelay(.folder(path)) { await $0.census().start } > start)
        }
    }

    @Test("[SE6] the start number outlives the changes that tell it: the anchor has it, too")
    func startNumberInAnchor() async throws {
        try await withTemporaryPath { path in
            let start = try await withRelay(.folder(path)) { await $0.census().start }
            let ahead = start + 100_000, writer = JournalWriter(path: path)
            #expect(try await writer.open().report.start == start)
            try await writer.note(start: ahead)
            await writer.close()
            #expect(try await withRelay(.folder(path)) { await $0.census().start } == ahead + 1)
        }
    }

    @Test("whoever starts a relay is told how much of its folder is read, until it serves")
    func progress() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let client = try await WhiteboardClient.connect(to: server.address, as: "alice")
                _ = try await client.send(.text(String(repeating: "x", count: 20_000)), to: "lesson", retainedAs: "key").stored
                await client.close()
            }
            let told = Mutex<[Int]>([])
            var options = WhiteboardRelay.Options(host: "127.0.0.1", port: 0, storage: .folder(path))
            options.didRead = { @Sendable bytes in told.withLock { $0.append(bytes) } }
            let server = try await WhiteboardRelay.start(options)
            let bytes = told.withLock(\.self)
            #expect(bytes == bytes.sorted() && bytes.last! > 20_000)
            let client = try await WhiteboardClient.connect(to: server.address, as: "alice")
            try await client.subscribe("lesson", since: .beginning)
            #expect(told.withLock(\.self) == bytes, "a board is read for who wants it")
            await client.close()
            await server.stop()
        }
    }

    @Test("[SE6] a relay's public id is that of its data folder; without one it is drawn at each start")
    func publicID() async throws {
        func id(_ storage: WhiteboardRelay.Storage) async throws -> String {
            try await withRelay(storage) { server in
                let client = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let id = try #require(client.relayID)
                await client.close()
                return id
            }
        }
        try await withTemporaryPath { path in
            let first = try await id(.folder(path))
            #expect(first.utf8.count == 32 && Set(first).count > 1)
            #expect(try await id(.folder(path)) == first)
            #expect(try await Set([first, id(.inMemory), id(.inMemory)]).count == 3)
        }
    }

    @Test("[SE6] a start number is the time, or the next one; a clock of any year leaves numbers for the starts to come")
    func startNumbers() {
        let now: UInt64 = 1_763_683_200_000
        #expect(WhiteboardRelay.startNumber(after: 0, wallMilliseconds: now) == 1_763_683_200)
        #expect(WhiteboardRelay.startNumber(after: 1_763_683_200, wallMilliseconds: now) == 1_763_683_201)
        for wrong in [4_294_967_295_000, .max] as [UInt64] {
            let start = WhiteboardRelay.startNumber(after: 1_763_683_200, wallMilliseconds: wrong)
            #expect(start == 0xF000_0000 && WhiteboardRelay.startNumber(after: start!, wallMilliseconds: now) == 0xF000_0001)
            #expect(WhiteboardRelay.startNumber(after: start!, wallMilliseconds: wrong) == 0xF000_0001)
        }
        #expect(WhiteboardRelay.startNumber(after: .max, wallMilliseconds: now) == nil)
    }

    @Test("a stored start number that none is greater than is why there is no relay, not a crash")
    func noStartNumber() async throws {
        try await withTemporaryPath { path in
            try await Self.store(start: .max, path)
            let error = await #expect(throws: RelayServerError.self) {
                try await WhiteboardRelay.start(.init(port: 0, storage: .folder(path)))
            }
            #expect(error?.text.contains("\(UInt32.max)") == true)
            // The folder is free again.
            try await Self.store(start: 1, path, sequence: 2)
            try await withRelay(.folder(path)) { #expect(await $0.census().start > 1) }
        }
    }

    @Test("[SG1] while a sync takes its time nothing is answered or shown, and reading goes on; all of it when it is done")
    func durableFirst() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            try await withRelay(.folder(path), permit: faults.permit) { server in
                let link = try RawLink(server.address)
                try link.login("alice")
                faults.hold(.sync)
                try link.send(raw: (UInt32(2)...9).flatMap { try Self.set($0, channel: "lesson", key: "key", "\($0)").bytes })
                try await eventually("a sync has begun") { faults.isHolding }
                try link.send(
                    .json(.getMetadata, GetMetadataRequest(id: 10, .channel(ChannelID(kind: .message, channel: try Name("lesson"))))))
                let frames = try link.frames(until: .metadataPage)
                #expect(frames.map(\.type) == [FrameType.metadataPage.rawValue])
                let page = try #require(frames.last).body.withUnsafeBytes {
                    try JSONBody.decode(MetadataPageHead.self, from: TextBody.read($0).0)
                }
                #expect(page.majorRevision == 0 && page.items.isEmpty)
                faults.letGo()
                for id in UInt32(2)...9 {
                    let answer = try #require(try link.frames(until: .answer).last)
                    #expect(try answer.body.withUnsafeBytes { try JSONBody.decode(MetadataAnswer.self, from: $0) }.id == id)
                }
            }
        }
    }

    @Test("[SG2] a disk that fails once: storageFailed and nothing shown, then changes are taken again without a restart")
    func recovery() async throws {
        try await withTemporaryPath { path in
            let faults = FolderFaults()
            try await withRelay(.folder(path), permit: faults.permit) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let lesson = try alice.metadata(of: .message("lesson"))
                try await lesson.set(["title": "kept"])
                faults.fail(.sync)
                let error = await refusal { try await lesson.set(["title": "lost", "other": "lost"]) }
                #expect(error?.code == .storageFailed && error?.text.contains("made to fail") == false)
                #expect(try await lesson.get().inOrder.map(\.value) == ["kept"])
                try await eventually("the journal works again") { await server.census().storageFailure == nil }
                #expect(try await lesson.set(["title": "again"], majorRevision: 1) == 2)
                await alice.close()
            }
            try await withRelay(.folder(path)) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let contents = try await alice.metadata(of: .message("lesson")).get()
                #expect(contents.inOrder.map(\.value) == ["again"] && contents.majorRevision == 2)
                await alice.close()
            }
        }
    }

    @Test(
        "a relay whose journal is gone or empty does not start beside files of boards, says so, and touches nothing",
        arguments: [true, false])
    func withoutJournal(isGone: Bool) async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                _ = try await alice.send(.text("x"), to: "lesson", retainedAs: "a").stored
                await alice.close()
            }
            func names(_ part: String) throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.contains(part) }.sorted()
            }
            let kept = path + "-kept"
            try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: kept) }
            let segments = try names("journal"), boards = try names("board-")
            #expect(segments.contains("journal.anchor") && segments.count >= 2 && boards.count == 1)
            // While the anchor is there, it is what names the file.
            let first = "\(path)/\(segments[0])"
            try FileManager.default.moveItem(atPath: first, toPath: "\(kept)/\(segments[0])")
            let refused = await #expect(throws: RelayServerError.self) { try await withRelay(.folder(path)) { _ in } }
            #expect(refused?.text.contains("\(segments[0]) of the journal is missing") == true)
            try FileManager.default.moveItem(atPath: "\(kept)/\(segments[0])", toPath: first)
            for name in segments {
                try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: "\(kept)/\(name)")
                if !isGone, name.hasSuffix(".log") { #expect(FileManager.default.createFile(atPath: "\(path)/\(name)", contents: nil)) }
            }
            let board = try Data(contentsOf: URL(filePath: "\(path)/\(boards[0])"))
            for _ in 0..<2 {
                let error = await #expect(throws: RelayServerError.self) { try await withRelay(.folder(path)) { _ in } }
                #expect(error?.text.contains("the journal is missing or empty, and \(boards[0]) has change ") == true)
            }
            #expect(try Data(contentsOf: URL(filePath: "\(path)/\(boards[0])")) == board)
            for name in segments {
                try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
                try FileManager.default.moveItem(atPath: "\(kept)/\(name)", toPath: "\(path)/\(name)")
            }
            try await withRelay(.folder(path)) { server in #expect(await server.census().boards == 1) }
        }
    }

    @Test("[SG2, BL3] while nothing can be written a board that nobody has used since the start is read all the same")
    func readingOn() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                for key in ["a", "b"] { _ = try await alice.send(.text(key), to: "lesson", retainedAs: key).stored }
                await alice.close()
            }
            let faults = FolderFaults()
            try await withRelay(.folder(path), permit: faults.permit) { server in
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                for operation in [StorageError.Operation.write, .sync, .create] { faults.fail(operation, times: .max) }
                #expect(await refusal { try await bob.metadata(of: .message("lesson")).set(["title": "lost"]) }?.code == .storageFailed)
                try await bob.subscribe("lesson", features: [.messages], since: .beginning)
                var keys: [String] = []
                for await event in bob.told {
                    if case .board(let batch) = event { keys += batch.messages.compactMap(\.key) }
                    if case .caughtUp = event { break }
                }
                #expect(keys == ["a", "b"])
                #expect(await server.census().storageFailure != nil, "nothing is shown if it works again meanwhile")
                await bob.close()
            }
        }
    }

    @Test("[BL7] boards may grow by half of what is free at the start, whatever they have; never above what is configured")
    func room() {
        let most = 4_000
        #expect(WhiteboardRelay.boardBytesTotalMax(configured: most, stored: 0, free: 3_000) == 1_500)
        #expect(WhiteboardRelay.boardBytesTotalMax(configured: most, stored: 1_500, free: 1_500) == 2_250, "what they have stays theirs")
        #expect(WhiteboardRelay.boardBytesTotalMax(configured: most, stored: 1_500, free: 0) == 1_500)
        #expect(WhiteboardRelay.boardBytesTotalMax(configured: most, stored: 0, free: 1_000_000) == most)
        #expect(WhiteboardRelay.boardBytesTotalMax(configured: 0, stored: 0, free: 1_000_000) == 0)
    }

    @Test("a disk that fails at the start is why there is no relay, and leaves the folder free")
    func failedStart() async throws {
        try await withTemporaryPath { path in
            for operation in [StorageError.Operation.list, .create, .write, .sync, .syncFolder] {
                let faults = FolderFaults()
                faults.fail(operation, times: .max)
                let error = await #expect(throws: RelayServerError.self) {
                    try await WhiteboardRelay.start(.init(port: 0, storage: .folder(path)), permit: faults.permit)
                }
                #expect(error?.text.contains("made to fail") == true, "\(operation)")
            }
            try await withRelay(.folder(path)) { #expect(await $0.census().storageFailure == nil) }
        }
    }

    @Test("[SG1] 64 sets in flight are covered by at most three fsyncs")
    func groupCommit() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let link = try RawLink(server.address)
                try link.login("alice")
                let before = try #require(await server.journalStatus())
                try link.send(raw: (UInt32(2)...65).flatMap { try Self.set($0, channel: "lesson", key: "key-\($0)", "value \($0)").bytes })
                for id in UInt32(2)...65 {
                    let answer = try #require(try link.frames(until: .answer).last)
                    #expect(
                        try answer.body.withUnsafeBytes { try JSONBody.decode(MetadataAnswer.self, from: $0) }
                            == MetadataAnswer(id: id, majorRevision: UInt64(id - 1)))
                }
                let after = try #require(await server.journalStatus())
                #expect(after.fsyncs - before.fsyncs <= 3 && after.records - before.records == 64, "\(after.fsyncs - before.fsyncs)")
            }
        }
    }

    @Test(
        "a folder that a relay is in is refused to a second one, with the pid; the first notices nothing; after it, or a start that failed, it is free"
    )
    func inUse() async throws {
        try await withTemporaryPath { path in
            let taken = try await withRelay(.folder(path)) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let error = await #expect(throws: RelayServerError.self) {
                    try await WhiteboardRelay.start(.init(port: 0, storage: .folder(path)))
                }
                #expect(
                    error?.text.contains("in use by pid \(getpid())") == true && error?.text.contains(path) == true, "\(error?.text ?? "")")
                #expect(try await alice.metadata(of: .message("lesson")).set(["k": "v"]) == 1)
                await alice.close()
                try await withTemporaryPath { other in
                    let port = server.address.port
                    await #expect(throws: RelayServerError.self) {
                        try await WhiteboardRelay.start(.init(port: port, storage: .folder(other)))
                    }
                    try await withRelay(.folder(other)) { #expect(await $0.census().metadataSets == 0) }
                }
                return server
            }
            #expect(await taken.journalStatus() == nil, "stopped")
            try await withRelay(.folder(path)) { #expect(await $0.census().metadataSets == 1) }
        }
    }

    @Test("[SG2] when the folder is removed, changes are refused with storageFailed and shown to nobody; reading and messages go on")
    func removedFolder() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path)) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                let lesson = try alice.metadata(of: .message("lesson")), locks = try alice.locks(of: .message("lesson"))
                try await lesson.set(["title": "Herbst"])
                try await locks.lock("pen").make()
                try await bob.subscribe("lesson", features: [.metadata, .messages])
                try FileManager.default.removeItem(atPath: path)
                for _ in 0..<2 {
                    let error = await refusal { try await lesson.set(["title": "lost"]) }
                    #expect(error?.code == .storageFailed && error?.code.name == "storageFailed")
                }
                #expect(await refusal { try await locks.lock("pen").acquire() }?.code == .storageFailed)
                #expect(await refusal { try await lesson.removeAll() }?.code == .storageFailed)
                let contents = try await lesson.get()
                #expect(contents.inOrder.map(\.value) == ["Herbst"] && contents.majorRevision == 1)
                #expect(try await locks.all().map(\.owner) == [nil])
                try alice.send(.text("still here"), to: "lesson")
                var told: [String] = []
                for await event in bob.told {
                    if case .metadata(let change) = event { told.append(change.items["title"]?.value ?? "") }
                    if case .message = event { break }
                }
                #expect(told == ["Herbst"])
                let census = await server.census()
                let status = try #require(await server.journalStatus())
                #expect(census.storageFailure != nil && census.storageFailure == status.failure && census.counters.storageFailures == 1)
                #expect(census.changesUnrevealed == 0 && census.changesUnjournaledBytes == 0)
                await alice.close()
                await bob.close()
            }
            try await withRelay(.folder(path)) { #expect(await $0.census().metadataSets == 0, "an empty folder") }
        }
    }

    @Test(
        "[SG3] of two sets in one write the second is busy when one byte may wait, with limit, size and when to come again; then it passes")
    func busy() async throws {
        try await withTemporaryPath { path in
            try await withRelay(.folder(path), { $0.unjournaledBytesMax = 1 }) { server in
                let link = try RawLink(server.address)
                try link.login("alice")
                for round in 0..<3 {
                    let id = UInt32(2 + 3 * round)
                    let pair = [
                        try Self.set(id, channel: "lesson", key: "a", "\(round)"), try Self.set(id + 1, channel: "lesson", key: "b", "x"),
                    ]
                    try link.send(raw: pair.flatMap(\.bytes))
                    let refused = try #require(try link.frames(until: .error).last)
                    let notice = try refused.body.withUnsafeBytes { try JSONBody.decode(ErrorBody.self, from: $0) }
                    #expect(notice.id == id + 1 && notice.name == "busy" && notice.limit == 1)
                    #expect(notice.actual ?? 0 > 1 && notice.retryAfterMs ?? 0 > 0)
                    _ = try link.frames(until: .answer)
                    try link.send(Self.set(id + 2, channel: "lesson", key: "c", "y"))
                    let answer = try #require(try link.frames(until: .answer).last)
                    #expect(
                        try answer.body.withUnsafeBytes { try JSONBody.decode(MetadataAnswer.self, from: $0) }.majorRevision
                            == UInt64(2 * round + 2))
                }
                #expect(await server.census().counters.refusals["busy"] == 3)
            }
        }
    }

    @Test("the data folder is the first of $STATE_DIRECTORY, else boardrelay/data among the user's application data")
    func defaultFolder() {
        func folder(_ state: String?, _ data: String = "/home/alice/.local/share") -> String {
            WhiteboardRelay.Storage.defaultFolder(stateDirectory: state, applicationData: data)
        }
        #expect(folder("/var/lib/boardrelay") == "/var/lib/boardrelay")
        #expect(folder("/var/lib/boardrelay:/var/lib/other") == "/var/lib/boardrelay")
        for unset in [nil, "", ":"] { #expect(folder(unset) == "/home/alice/.local/share/boardrelay/data") }
        #expect(folder(nil, "/home/alice/.local/share/") == "/home/alice/.local/share/boardrelay/data")
        #expect(
            ProcessInfo.processInfo.environment["STATE_DIRECTORY"] != nil
                || WhiteboardRelay.Storage.defaultFolder.hasSuffix("/boardrelay/data")
        )
    }

    /// As a relay does: "S" → version u8, start number u32.
    private static func store(start: UInt32, _ path: String, sequence: UInt64 = 1) async throws {
        let writer = JournalWriter(path: path)
        _ = try await writer.open()
        let value = [UInt8(1)] + (0..<4).map { UInt8(truncatingIfNeeded: start >> (24 - 8 * $0)) }
        writer.submit([JournalRecord(sequence: sequence, entries: [JournalEntry(key: Array("S".utf8), value: value)])])
        await writer.close()
    }

    private static func set(_ id: UInt32, channel: String, key: String, _ value: String) throws -> Frame {
        let request = WriteMetadataRequest(
            id: id, .channel(ChannelID(kind: .message, channel: try Name(channel))),
            items: [.init(key: try Name(key), bytes: value.utf8.count)])
        return Frame(.setMetadata, body: TextBody.encode(head: request, texts: [Array(value.utf8)]))
    }
}
