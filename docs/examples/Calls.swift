// docs/swift.md links to this file. Every call of the client library but those of a connection; `Sources/RelayClient/Handles` has their comments.
import RelayClient

/// Calls with `await` wait for the relay's answer. The others return at once; their receipts bring the answer.
enum Calls {
    static func all(_ client: WhiteboardClient, with bob: WhiteboardClient) async throws {
        try await messages(client)
        try await board(client)
        try await packets(client)
        try await people(client, with: bob)
        try await metadata(client)
        try await locks(client)
        try await moderate(client)
        try await device(client)
    }

    static func messages(_ client: WhiteboardClient) async throws {
        let lesson = try client.channel("lesson")
        // Also `.locks`; `quiet: true` hides this user; `from: .now` leaves out what is kept.
        try await lesson.open([.messages, .presence, .metadata], from: .board)
        // Does not come back to this client without `echo: true`; latecomers do not get it with `storeInHistory: false`.
        let receipt = try lesson.send("hello", customType: "chat", echo: false)
        print(receipt.id, try await receipt.accepted)
        // Returns when the client has all that was accepted before; a loop may still have to read it.
        try await lesson.upToDate()
        try await client.upToDate()
        // A page; `next` is where the following one begins.
        let page = try await lesson.history(from: nil, backwards: true, limit: 50)
        for message in page.messages { print(message.sender, message.payload.text ?? "bytes") }
        let another = try client.channel("another")
        try await another.open(call: CallOptions(timeout: .seconds(5), offline: .fail))
        print(client.openChannels.map(\.name))
        try await another.leave()
    }

    static func board(_ client: WhiteboardClient) async throws {
        let board = try client.channel("lesson").board
        _ = try await board.put("{}", key: "s1", customType: "stroke").stored
        // Up to 4,096 changes, all or none, at 64 for one message of the rate; `changeIndex` of an error tells which one was refused.
        let receipt = try board.batch { batch in
            batch.put("{}", key: "s3")
            batch.remove("s2")
        }
        _ = try await receipt.stored
        _ = try await board.remove("s1").stored
        for record in try await board.records().values { print(record.key, record.author) }
        try await board.clear()
        try await board.undoClear()
        for board in try await client.boards() { print(board.channel, board.records) }
    }

    static func packets(_ client: WhiteboardClient) async throws {
        let topic = try client.channel("lesson").topic("pen")
        // `lifetime` is 50 to 1,000 ms; also `priority` and `meta`, 256 bytes about the publisher.
        let pen = try await topic.startPublishing(lifetime: .milliseconds(300))
        // At most 1,024 bytes, without a receipt. A slow reader gets the newest of each slot.
        try pen.send([0, 10, 0, 20], slot: 1)
        print(pen.isOpen)
        try await pen.stop()
        // For readers of `events()`: all publishers, now and later; or `from: .only(["bob"])`, who need not be there yet.
        try await topic.follow()
        print(try await topic.followed().users)
        try await topic.unfollow()
        // On bad Wi-Fi: fewer packets; `ReaderLimits()` asks for all again.
        try await client.setReaderLimits(ReaderLimits(packetsPerSecond: 20))
    }

    static func people(_ client: WhiteboardClient, with bob: WhiteboardClient) async throws {
        let presence = try client.channel("lesson").presence
        try await presence.set(["name": "Alice", "hand": "up"])
        try await presence.remove(["hand"])
        print(try await presence.states(of: client.user ?? ""))
        // Pages of 100, `next` leads to the following one.
        let page = try await presence.users(after: nil, limit: 100)
        print(page.members, page.total)
        let person = try client.person("bob")
        print(try await person.channels())
        // To bob alone; the call returns when his app has acknowledged. Else `userOffline` or `unconfirmed`.
        let messages = bob.directMessages()
        let receipt = try person.send("psst")
        for try await message in messages {
            message.acknowledge()
            break
        }
        try await receipt.acknowledged()
    }

    static func metadata(_ client: WhiteboardClient) async throws {
        let title = try client.channel("lesson").metadata
        // Each write gives the new revision. With a condition it fails if another writer was faster.
        let seen = try await title.get().majorRevision
        _ = try await title.set(["title": "Autumn"], majorRevision: seen)
        _ = try await title.update(["title": "Winter"])
        _ = try await title.remove(["title"])
        _ = try await title.removeAll()
        // Of a user; changes come to `contents()`.
        let bob = try client.person("bob").metadata
        try await bob.follow()
        try await bob.unfollow()
    }

    static func locks(_ client: WhiteboardClient) async throws {
        let lesson = try client.channel("lesson"), page = try lesson.lock("page-1")
        try await page.make(ttl: .seconds(10))
        // The fencing number tells a former owner's late write from the owner's.
        try await page.with(wait: .seconds(5)) { hold in print(hold.fencing, hold.isHeld) }
        // Waits in line; a cancelled task leaves it.
        try await page.acquire(wait: .seconds(5))
        for lock in try await lesson.locks() { print(lock.lock, lock.owner ?? "nobody", lock.ownerDevice ?? "") }
        try await page.release()
        try await page.remove()
    }

    /// With the host key. docs/security.md says what each does.
    static func moderate(_ client: WhiteboardClient) async throws {
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
        // `import RelayMonitoring` to read its fields.
        print(try await moderation.status())
    }

    /// What somebody else must be there for, or loses something by. `all` leaves it out.
    static func harsh(_ client: WhiteboardClient) async throws {
        let lesson = try client.channel("lesson")
        try await lesson.board.delete()
        try await client.moderation.endSession(of: "bob", reason: "the lesson is over")
        // Readers of it throw `channelEnded`.
        try await client.moderation.endChannel("lesson", reason: nil)
        try await lesson.lock("page-1").revoke(from: "bob")
    }

    static func device(_ client: WhiteboardClient) async throws {
        print(client.user ?? "", client.device ?? "", client.relayID ?? "", client.link, client.unsent, client.roundTrip as Any)
        // Where the join code led with which this client came.
        print(client.invitation?.channel as Any)
        // What this user may do, everywhere and on a channel; how a channel is moderated.
        let lesson = try client.channel("lesson")
        print(client.access?.role as Any, lesson.rights as Any, lesson.modes, client.limits.messageBytesMax)
    }
}
