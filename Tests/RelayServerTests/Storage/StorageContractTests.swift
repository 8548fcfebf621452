import RelayClient
import RelayClientCore
import RelayCore
import RelayServer
import RelayWire
import Testing

/// What metadata and locks promise wherever they are kept: each test runs in memory and on disk.
@Suite(.timeLimit(.minutes(10))) struct StorageContractTests {
    static let owners: [MetadataReference] = [.message("lesson"), .stream("lesson"), .user("alice")]

    @Test(
        "[MD2, MD3, MD5, MD6, MD9] set, update, remove, removeAll and get; a refused condition changes nothing",
        arguments: Place.allCases, owners)
    func metadata(place: Place, owner: MetadataReference) async throws {
        try await place.withStorage { storage in
            try await withRelay(storage) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                let mine = try alice.metadata(of: owner), his = try bob.metadata(of: owner)
                #expect(try await mine.get().isEmpty(at: 0))
                #expect(try await mine.set(["title": "Herbst", "note": ""], revisions: ["title": 0], majorRevision: 0) == 1)
                #expect(try await his.update(["title": "é 🦆"], revisions: ["title": 1], recordsUser: true, recordsTime: true) == 2)
                #expect(try await his.set(["third": "3"], majorRevision: 2) == 3)
                let contents = try await mine.get()
                #expect(contents.majorRevision == 3 && contents.inOrder.map(\.key) == ["note", "third", "title"])
                #expect(contents.inOrder.map(\.revision) == [1, 3, 2] && contents.inOrder.map(\.value) == ["", "3", "é 🦆"])
                #expect(
                    contents.inOrder.map(\.author) == [nil, nil, "bob"]
                        && contents.inOrder.map { $0.wallMilliseconds != nil } == [false, false, true])

                let stale = await refusal { try await mine.set(["title": "x", "note": "x"], revisions: ["title": 1]) }
                #expect(stale?.code == .revisionMismatch && stale?.limit == 1 && stale?.actual == 2)
                let taken = await refusal { try await mine.set(["title": "x"], revisions: ["title": 0]) }
                #expect(taken?.code == .revisionMismatch && taken?.limit == 0 && taken?.actual == 2)
                let old = await refusal { try await mine.removeAll(majorRevision: 2) }
                #expect(old?.code == .revisionMismatch && old?.limit == 2 && old?.actual == 3)
                #expect(await refusal { try await mine.remove(["note"], revisions: ["note": 3]) }?.code == .revisionMismatch)
                #expect(await refusal { try await mine.update(["title": "x", "new": "x"]) }?.code == .itemNotFound)
                #expect(await refusal { try await mine.remove(["title", "new"]) }?.code == .itemNotFound)
                #expect(try await his.get() == contents)

                #expect(try await his.remove(["note", "third"], revisions: ["note": 1]) == 4)
                #expect(try await mine.get().items.map(\.key) == ["title"])
                #expect(try await mine.removeAll(majorRevision: 4) == 5)
                #expect(try await his.get().isEmpty(at: 5))
                #expect(try await his.set(["title": "again"], revisions: ["title": 0]) == 6)
                await alice.close()
                await bob.close()
            }
        }
    }

    @Test(
        "[MD4] 65,536 bytes of keys and values pass, 65,537 are refused with limit and size, and nothing changes",
        arguments: Place.allCases, owners)
    func sizes(place: Place, owner: MetadataReference) async throws {
        try await place.withStorage { storage in
            try await withRelay(storage) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let metadata = try alice.metadata(of: owner)
                // 2 keys of 1 byte; two-byte characters count as two.
                try await metadata.set(["a": String(repeating: "é", count: 16_384)])
                try await metadata.set(["b": String(repeating: "x", count: 65_536 - 2 - 32_768)])
                let full = try await metadata.get()
                #expect(full.inOrder.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } == 65_536)
                for refused in [["b": String(repeating: "x", count: 65_536 - 2 - 32_768 + 1)], ["c": ""]] {
                    let error = await refusal { try await metadata.set(refused) }
                    #expect(error?.code == .tooLarge && error?.limit == 65_536 && error?.actual == 65_537)
                }
                #expect(try await metadata.get() == full)
                #expect(try await metadata.remove(["a"]) == 3)
                #expect(try await metadata.set(["c": String(repeating: "y", count: 32_768)]) == 4, "room again, to the byte")
                #expect(await refusal { try await metadata.set(["d": ""]) }?.actual == 65_537)
                try await metadata.removeAll()
                #expect(try await metadata.set(["k": String(repeating: "z", count: 65_535)]) == 6)
                await alice.close()
            }
        }
    }

    @Test(
        "[MD7, MD8] everybody who subscribed, the author too, is told the set at first, then what changed and the set that it makes",
        arguments: Place.allCases)
    func events(place: Place) async throws {
        try await place.withStorage { storage in
            try await withRelay(storage) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                let lesson = try bob.metadata(of: .message("lesson")), points = try bob.metadata(of: .stream("points"))
                let profile = try bob.metadata(of: .user("bob"))
                try await lesson.set(["a": "1", "b": "1"])
                for client in [alice, bob] {
                    try await client.subscribe("lesson", features: [.metadata])
                    _ = try await client.join("points", features: [.metadata])
                    try await client.metadata(of: .user("bob")).follow()
                }
                try await lesson.set(["b": "2", "c": "2"], recordsUser: true)
                try await points.set(["pen": "red"])
                try await profile.set(["name": "Bob"])
                #expect(await refusal { try await lesson.set(["a": "3"], revisions: ["a": 7]) }?.code == .revisionMismatch)
                try await lesson.remove(["a"])
                try await profile.removeAll()
                for client in [alice, bob] {
                    let told = await changes(8, of: client)
                    #expect(told.map(\.isSnapshot) == [true, true, true, false, false, false, false, false])
                    #expect(told[0].items.mapValues(\.value) == ["a": "1", "b": "1"] && told[0].majorRevision == 1)
                    #expect(told[1].items.isEmpty && told[2].items.isEmpty && told[2].owner == .user("bob"))
                    #expect(told[3].written.map(\.key) == ["b", "c"] && told[3].written.map(\.author) == ["bob", "bob"])
                    #expect(told[3].items.mapValues(\.value) == ["a": "1", "b": "2", "c": "2"] && told[3].majorRevision == 2)
                    #expect(told[4].owner == .stream("points"))
                    #expect(told[4].items.mapValues(\.value) == ["pen": "red"])
                    #expect(told[5].items.mapValues(\.value) == ["name": "Bob"] && told[5].majorRevision == 1)
                    #expect(told[6].removed == ["a"] && told[6].written.isEmpty && told[6].items.mapValues(\.revision) == ["b": 2, "c": 2])
                    #expect(told[7].removed == ["name"] && told[7].items.isEmpty && told[7].majorRevision == 2)
                }
                try await alice.metadata(of: .user("bob")).unfollow()
                try await profile.set(["name": "Robert"])
                try await lesson.set(["last": ""])
                #expect(await changes(1, of: alice).map(\.majorRevision) == [4], "nothing of the user's in between")
                await alice.close()
                await bob.close()
            }
        }
    }

    @Test(
        "[LK2, LK3, LK4, LK6, LK7, LK8, LK9] locks: acquired, waited for in line, released, revoked, removed; fencing only grows; a set may rest on one",
        arguments: Place.allCases)
    func locks(place: Place) async throws {
        try await place.withStorage { storage in
            try await withRelay(storage) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                let alices = try alice.locks(of: .stream("lesson")), bobs = try bob.locks(of: .stream("lesson"))
                _ = try await bob.join("lesson", features: [.locks])
                #expect(await refusal { try await alices.lock("pen").acquire() }?.code == .lockNotFound)
                try await alices.lock("pen").make(ttl: .seconds(1))
                try await alices.lock("pen").make(ttl: .seconds(2))
                try await alices.lock("chalk").make()
                var fencing: [UInt64] = []
                for name in ["pen", "chalk", "pen"] { fencing.append(try await alices.lock(name).acquire().fencing) }
                #expect(await refusal { try await bobs.lock("pen").acquire() }?.code == .lockHeld)
                #expect(await refusal { try await bobs.lock("pen").acquire(wait: .milliseconds(20)) }?.code == .lockHeld)
                #expect(await refusal { try await bobs.lock("pen").release() }?.code == .lockNotHeld)
                #expect(await refusal { try await bobs.lock("pen").revoke(from: "bob") }?.code == .lockNotHeld)

                let board = try bob.metadata(of: .stream("lesson"))
                #expect(await refusal { try await board.set(["k": "v"], lock: "pen") }?.code == .lockNotHeld)
                #expect(try await alice.metadata(of: .stream("lesson")).set(["k": "v"], lock: "pen") == 1)

                // Bob stands in line when, once it was free, it is his.
                async let waited = bobs.lock("pen").acquire(wait: .seconds(60)).fencing
                while try await bobs.all().first(where: { $0.lock == "pen" })?.owner != "bob" {
                    try await alices.lock("pen").release()
                    if let mine = try? await alices.lock("pen").acquire() { fencing.append(mine.fencing) }
                }
                fencing.append(try await waited)
                try await alices.lock("pen").revoke(from: "bob")
                fencing.append(try await alices.lock("pen").acquire().fencing)
                #expect(fencing == Set(fencing).sorted())
                let all = try await bobs.all()
                #expect(all.map(\.owner) == ["alice", "alice"] && all.map(\.ttl) == [.seconds(10), .seconds(2)])
                try await bobs.lock("pen").remove()
                #expect(await refusal { try await alices.lock("pen").release() }?.code == .lockNotFound)
                #expect(try await alices.all().map(\.lock) == ["chalk"])
                var kinds: [LocksChange.Kind] = []
                var former: [String?] = []
                for await event in bob.told {
                    guard case .locks(let change) = event else { continue }
                    if kinds.last != change.kind || change.kind != .acquired { kinds.append(change.kind) }
                    if change.kind == .revoked || change.kind == .released { former.append(change.formerOwner) }
                    if change.kind == .removed { break }
                }
                #expect(Array(kinds.prefix(5)) == [.snapshot, .set, .set, .set, .acquired])
                #expect(Array(kinds.suffix(4)) == [.acquired, .revoked, .acquired, .removed])
                #expect(former.dropLast().allSatisfy { $0 == "alice" } && former.last == "bob")
                await alice.close()
                await bob.close()
            }
        }
    }

    @Test("[LK5, LK9] a lock outlives its owner's logout by its ttl, then it expires and who waits gets it", arguments: Place.allCases)
    func expiry(place: Place) async throws {
        try await place.withStorage { storage in
            try await withRelay(storage) { server in
                let alice = try await WhiteboardClient.connect(to: server.address, as: "alice")
                let bob = try await WhiteboardClient.connect(to: server.address, as: "bob")
                let alices = try alice.locks(of: .message("lesson")), bobs = try bob.locks(of: .message("lesson"))
                try await bob.subscribe("lesson", features: [.locks])
                try await alices.lock("pen").make(ttl: .seconds(1))
                let first = try await alices.lock("pen").acquire().fencing
                let leaving = ContinuousClock.now
                await alice.close()
                #expect(try await bobs.lock("pen").acquire(wait: .seconds(60)).fencing > first)
                #expect(ContinuousClock.now - leaving >= .milliseconds(990), "not before the ttl is over")
                var told: [LocksChange] = []
                for await event in bob.told {
                    if case .locks(let change) = event { told.append(change) }
                    if told.last?.locks.first?.owner == "bob" { break }
                }
                #expect(told.map(\.kind) == [.snapshot, .set, .acquired, .expired, .acquired] && told[3].formerOwner == "alice")
                await bob.close()
            }
        }
    }
}

/// The next changes of metadata that a client is told.
private func changes(_ count: Int, of client: WhiteboardClient) async -> [MetadataChange] {
    var changes: [MetadataChange] = []
    for await event in client.told {
        if case .metadata(let change) = event { changes.append(change) }
        if changes.count == count { break }
    }
    return changes
}
