// docs/swift.md links to this file. Every call of the client library but those of a connection; `…/Sources/RelayClient` has their comments.
import RelayClient

/// Calls with `await` wait for the relay's answer. The others return at once; their receipts bring the answer.
enum Calls {
    static func all(_ client: RelayClient) async throws {
        try await messages(client)
        try await board(client)
        try await packets(client)
        try await people(client)
        try await metadata(client)
        try await locks(client)
        try await moderate(client)
        try await device(client)
    }

    static func messages(_ client: RelayClient) async throws {
        // Also `.locks`; `quiet: true` hides this user; without `since` what follows from now on.
        try await client.subscribe("lesson", features: [.messages, .presence, .metadata], since: .beginning)
        // Does not come back to this client without `echo: true`; latecomers do not get it with `storeInHistory: false`.
        let receipt = try client.send("hello", to: "lesson", customType: "chat", echo: false)
        print(try await receipt.value.offset)
        // To one user: the value comes when bob's app has the message. Else `userOffline` or `unconfirmed`.
        _ = try await client.send("psst", toUser: "bob").value
        // Returns when the client has got all that was accepted before, without a channel that of all; the loop or delegate may still
        // have to read it.
        try await client.barrier(in: "lesson")
        // A page; `next` is where the following one begins.
        let page = try await client.history(of: "lesson", from: nil, backwards: true, limit: 50)
        for message in page.messages { print(message.sender, message.payload.text ?? "bytes") }
        try await client.subscribe("another")
        try await client.unsubscribe("another")
    }

    static func board(_ client: RelayClient) async throws {
        _ = try await client.send("{}", to: "lesson", retainedAs: "s1").stored
        // Up to 8 MiB; also without a key and `retain`, as a large message.
        _ = try await client.sendLarge([0, 1, 2], to: "lesson", key: "s2", retain: true).stored
        // Up to 4,096 changes, all or none, at 64 for one message of the rate; `changeIndex` of an error tells which one was refused.
        let changes = [RecordChange(key: "s3", payload: "{}"), RecordChange(removing: "s2")]
        _ = try await client.send(changes: changes, to: "lesson").stored
        _ = try await client.send(removing: "s1", from: "lesson").stored
        _ = try await client.board(of: "lesson").clear()
        _ = try await client.board(of: "lesson").undoClear()
        for board in try await client.boards() { print(board.channel) }
    }

    static func packets(_ client: RelayClient) async throws {
        let stream = try await client.join("lesson", features: [.presence])
        // `lifetime` is 50 to 1,000 ms; also `qos`, `priority` and `meta`, 256 bytes about the publisher.
        try await stream.joinTopic("pen", lifetime: .milliseconds(300))
        // At most 1,024 bytes, without a receipt. A slow reader gets the newest of each slot.
        try stream.send([0, 10, 0, 20], topic: "pen", slot: 1)
        try await stream.leaveTopic("pen")
        // All publishers, now and later; or `users: .only(["bob"])`, who need not be there yet.
        _ = try await stream.subscribeTopic("pen", users: .all)
        print(try await stream.subscribedUsers("pen").users)
        _ = try await stream.unsubscribeTopic("pen")
        try await stream.leave()
        // On bad Wi-Fi: fewer packets; `ReaderLimits()` asks for all again.
        try await client.setReaderLimits(ReaderLimits(packetsPerSecond: 20))
    }

    static func people(_ client: RelayClient) async throws {
        // `.message("lesson")` and `.stream("lesson")` have lists of their own. Pages of 100, `next` leads to the following one.
        let presence = client.presence(of: .message("lesson"))
        try await presence.setStates(["name": "Alice", "hand": "up"])
        try await presence.removeStates(["hand"])
        print(try await presence.states(of: client.user))
        let page = try await presence.users(after: nil, limit: 100)
        print(page.members, page.total)
        print(try await client.channels(of: "bob"))
    }

    static func metadata(_ client: RelayClient) async throws {
        let title = try client.metadata(of: .message("lesson"))
        // Each write gives the new revision. With a condition it fails if another writer was faster.
        let seen = try await title.get().majorRevision
        _ = try await title.set(["title": "Autumn"], majorRevision: seen)
        _ = try await title.update(["title": "Winter"])
        _ = try await title.remove(["title"])
        _ = try await title.removeAll()
        // Of a user; changes come as events.
        let bob = try client.metadata(of: .user("bob"))
        try await bob.subscribe()
        try await bob.unsubscribe()
    }

    static func locks(_ client: RelayClient) async throws {
        let locks = try client.locks(of: .message("lesson"))
        try await locks.set("page-1", ttl: .seconds(10))
        // Waits in line; a cancelled task leaves it. The fencing number tells a former owner's late write from the owner's.
        let fencing = try await locks.acquire("page-1", wait: .seconds(5))
        print(fencing)
        try await locks.release("page-1")
        for lock in try await locks.all() { print(lock.lock, lock.owner ?? "nobody", lock.ownerDevice ?? "") }
        try await locks.remove("page-1")
    }

    /// With the host key. docs/security.md says what each does.
    static func moderate(_ client: RelayClient) async throws {
        let moderation = client.moderation
        try await moderation.freeze("lesson")
        try await moderation.unfreeze("lesson")
        try await moderation.openEditing("lesson")
        try await moderation.closeEditing("lesson")
        // `nil` gives back what the user's key or token allows.
        try await moderation.setRole(.reader, of: "eve")
        try await moderation.setRole(nil, of: "eve")
        try await moderation.ban("eve", for: .seconds(3600))
        print(try await moderation.bans())
        print(try await moderation.offerJoinCode(to: "lesson").code)
        try await moderation.withdrawJoinCode()
        try await moderation.unban("eve")
        print(try await moderation.removeRecords(of: "eve", from: "lesson"))
        try await moderation.forget(user: "eve", withRecords: true)
        print(try await moderation.status())
    }

    /// What somebody else must be there for, or loses something by. `all` leaves it out.
    static func harsh(_ client: RelayClient) async throws {
        try await client.removeBoard("lesson")
        try await client.moderation.endSession(of: "bob", reason: "the lesson is over")
        // Those in it get `refused` with `channelEnded`.
        try await client.moderation.endChannel("lesson", reason: nil)
        try await client.locks(of: .message("lesson")).revoke("page-1", from: "bob")
    }

    static func device(_ client: RelayClient) async throws {
        print(client.user, client.device, client.relayID ?? "", client.linkState, client.unsent, client.roundTrip as Any)
        // Where the join code led with which this client came.
        print(client.invitation?.channel as Any)
        // What this user may do, everywhere and on a channel; how a channel is moderated.
        print(client.access?.role as Any, client.access?.rights(on: "lesson") as Any, try client.modes(of: .message("lesson")))
    }
}
