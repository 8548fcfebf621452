import Foundation
import RelayClient
import RelayCore
import RelayRights
import RelayRTM
import RelayServer
import RelayTokens
import Testing

/// What a delegate is told, and how.
@MainActor @Suite struct EventTests {
    @Test("what is published keeps its order, awaited or not; handlers and delegate are called on the main actor")
    func order() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, told) = try await client(server, "bob")
        var answered: [Int] = []
        bob.subscribe(channelName: "lesson", option: nil) { response, error in
            MainActor.assertIsolated()
            #expect(response != nil && error == nil)
            for number in 0..<50 {
                alice.publish(channelName: "lesson", message: "\(number)", option: nil) { _, _ in answered.append(number) }
            }
        }
        try await eventually("all") { told.messages.count == 50 && answered.count == 50 }
        #expect(told.texts == (0..<50).map { "\($0)" } && answered.sorted() == Array(0..<50))

        // A call that is awaited does not overtake one before it that is not; nor does a packet.
        let hers = try alice.createStreamChannel("lesson"), his = try bob.createStreamChannel("lesson")
        succeeded(await hers.join(RTMJoinChannelOption()))
        succeeded(await hers.joinTopic("points", option: nil))
        succeeded(await his.join(RTMJoinChannelOption()))
        succeeded(await his.subscribeTopic("points", option: nil))
        told.messages = []
        alice.publish(channelName: "lesson", message: "first", option: nil) { _, _ in }
        hers.publishTopicMessage(topic: "points", message: "second", option: nil) { _, _ in }
        succeeded(await alice.publish(channelName: "lesson", message: "third", option: nil))
        try await eventually("the third") { told.texts.last == "third" }
        #expect(told.texts == ["first", "second", "third"])
        await server.stop()
    }

    @Test("login, another login of the same user and logout are told as link states and in the older form; delegates come and go")
    func links() async throws {
        let server = try await relay()
        let told = Recorder(), second = Recorder()
        let alice = try RTMClientKit(config(server, "alice"), delegate: told)
        alice.addDelegate(second)
        succeeded(await alice.login(nil))
        try await eventually("logged in") { told.links.count == 2 && second.links.count == 2 }
        #expect(told.links.map(\.currentState) == [.connecting, .connected] && told.links.map(\.previousState) == [.idle, .connecting])
        #expect(told.connections.map(\.state) == [.connecting, .connected])
        #expect(told.connections.map(\.reason) == [.changedConnecting, .changedLoginSuccess])
        alice.removeDelegate(second)
        let (other, tolds) = try await client(server, "alice")
        try await eventually("replaced") { told.links.count == 3 }
        #expect(told.links[2].currentState == .failed && told.connections[2] == (.failed, .changedSameUidLogin) && second.links.count == 2)
        #expect(failure(await alice.publish(channelName: "lesson", message: "x", option: nil)) == .notConnected)
        succeeded(await other.logout())
        try await eventually("logged out") { tolds.links.last?.currentState == .idle }
        #expect(tolds.connections.last! == (.disconnected, .changedLogout))
        // The one that was replaced may come back when its user wants it to.
        succeeded(await alice.login(nil))
        succeeded(await alice.publish(channelName: "lesson", message: "x", option: nil))
        await server.stop()
    }

    @Test("who goes without logging out is told as a timeout")
    func timeout() async throws {
        let server = try await relay()
        let (watcher, told) = try await client(server, "watcher")
        succeeded(await watcher.subscribe(channelName: "lesson", option: nil))
        let config = config(server, "alice")
        config.presenceTimeout = 5
        let alice = try RTMClientKit(config, delegate: nil)
        succeeded(await alice.login(nil))
        succeeded(await alice.subscribe(channelName: "lesson", option: nil))
        alice.relayClient?.breakOff()
        try await eventually("the timeout") { told.presence.last?.type == .remoteConnectionTimeout }
        #expect(
            told.presence.map(\.type) == [.snapshot, .remoteJoinChannel, .remoteConnectionTimeout]
                && told.presence.last?.publisher == "alice")
        await server.stop()
    }

    @Test("a kit that its app lets go of logs out: others are told that it left")
    func lettingGo() async throws {
        let server = try await relay()
        let (watcher, told) = try await client(server, "watcher")
        succeeded(await watcher.subscribe(channelName: "lesson", option: nil))
        @MainActor func comeAndGo() async throws {
            let config = config(server, "alice")
            config.presenceTimeout = 5
            let alice = try RTMClientKit(config, delegate: nil)
            succeeded(await alice.login(nil))
            succeeded(await alice.subscribe(channelName: "lesson", option: nil))
        }
        try await comeAndGo()
        try await eventually("the leave") { told.presence.last?.type == .remoteLeaveChannel }
        #expect(
            told.presence.map(\.type) == [.snapshot, .remoteJoinChannel, .remoteLeaveChannel]
                && told.presence.last?.publisher == "alice")
        await server.stop()
    }

    @Test("in a channel of many, who came, changed and left is told in intervals")
    func intervals() async throws {
        let server = try await relay {
            $0.presenceIntervalAbove = 3
            $0.presenceIntervalBelow = 1
            $0.presenceInterval = .milliseconds(20)
            $0.presenceFlapWindow = .zero
        }
        let (watcher, told) = try await client(server, "watcher")
        succeeded(await watcher.subscribe(channelName: "lesson", option: nil))
        var kits: [RTMClientKit] = []
        for number in 0..<6 {
            let (kit, _) = try await client(server, "user-\(number)")
            succeeded(await kit.subscribe(channelName: "lesson", option: .only(.message)))
            kits.append(kit)
        }
        // Who comes and goes within one interval is not told.
        try await eventually("both have come") {
            let came = told.presence.compactMap(\.interval).flatMap(\.joinUserList)
            return came.contains("user-4") && came.contains("user-5")
        }
        succeeded(await kits[5].getPresence()!.setState(channelName: "lesson", channelType: .message, items: ["tool": "pen"]))
        succeeded(await kits[4].unsubscribe("lesson"))
        try await eventually("intervals") {
            let intervals = told.presence.compactMap(\.interval)
            return intervals.contains { $0.leaveUserList == ["user-4"] }
                && intervals.contains { $0.userStateList.contains { $0.userId == "user-5" && $0.states == ["tool": "pen"] } }
        }
        #expect(told.presence.filter { $0.interval != nil }.allSatisfy { $0.type == .interval && $0.publisher == nil })
        let page = succeeded(await watcher.getPresence()!.getOnlineUser(channelName: "lesson", channelType: .message, options: nil))
        #expect(page?.totalOccupancy == 6 && page?.nextPage == nil)
        await server.stop()
    }

    @Test("getOnlineUser: pages of 100 and the total, states and users as far as they are wanted")
    func pages() async throws {
        let server = try await relay()
        var kits: [RTMClientKit] = []
        for number in 100..<205 {
            let kit = try RTMClientKit(config(server, "user-\(number)"), delegate: nil)
            succeeded(await kit.login(nil))
            succeeded(await kit.subscribe(channelName: "lesson", option: .only([])))
            kits.append(kit)
        }
        let presence = try #require(kits[0].getPresence())
        succeeded(await presence.setState(channelName: "lesson", channelType: .message, items: ["tool": "pen"]))
        let options = RTMGetOnlineUsersOptions()
        options.includeState = true
        let first = try #require(succeeded(await presence.getOnlineUser(channelName: "lesson", channelType: .message, options: options)))
        #expect(first.totalOccupancy == 105 && first.userStateList.count == 100 && first.userStateList[0].states == ["tool": "pen"])
        options.page = try #require(first.nextPage)
        options.includeState = false
        let second = try #require(succeeded(await presence.getOnlineUser(channelName: "lesson", channelType: .message, options: options)))
        #expect(second.userStateList.map(\.userId) == (200..<205).map { "user-\($0)" } && second.nextPage == nil)
        (options.page, options.includeUserId) = ("", false)
        let count = try #require(succeeded(await presence.getOnlineUser(channelName: "lesson", channelType: .message, options: options)))
        #expect(count.totalOccupancy == 105 && count.userStateList.isEmpty)
        await server.stop()
    }

    @Test("locks: set, acquired, in line, released, revoked and removed, with their events and fencing numbers")
    func locks() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, told) = try await client(server, "bob")
        succeeded(await bob.subscribe(channelName: "lesson", option: .only(.lock)))
        let (hers, his) = (try #require(alice.getLock()), try #require(bob.getLock()))
        succeeded(await hers.setLock(channelName: "lesson", channelType: .message, lockName: "pen", ttl: 20))
        succeeded(await hers.acquireLock(channelName: "lesson", channelType: .message, lockName: "pen", retry: false))
        #expect(
            failure(await his.acquireLock(channelName: "lesson", channelType: .message, lockName: "pen", retry: false))
                == .lockAcquireFailed)
        var waited = false
        his.acquireLock(channelName: "lesson", channelType: .message, lockName: "pen", retry: true) { response, _ in
            waited = response != nil
        }
        let locks = succeeded(await his.getLocks(channelName: "lesson", channelType: .message))
        #expect(locks?.lockDetailList.map(\.owner) == ["alice"] && locks?.lockDetailList.map(\.ttl) == [20])
        succeeded(await hers.releaseLock(channelName: "lesson", channelType: .message, lockName: "pen"))
        try await eventually("he has it") { waited }
        succeeded(await hers.revokeLock(channelName: "lesson", channelType: .message, lockName: "pen", userId: "bob"))
        succeeded(await hers.removeLock(channelName: "lesson", channelType: .message, lockName: "pen"))
        try await eventually("all events") { told.locks.last?.eventType == .lockRemoved }
        #expect(
            told.locks.map(\.eventType) == [.snapshot, .lockSet, .lockAcquired, .lockReleased, .lockAcquired, .lockReleased, .lockRemoved])
        #expect(
            told.locks[2].lockDetailList[0].fencing < told.locks[4].lockDetailList[0].fencing
                && told.locks[4].lockDetailList[0].owner == "bob")
        await server.stop()
    }

    @Test("since brings what was sent before; what hosted RTM has no word for comes as the relay's own event")
    func replay() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, told) = try await client(server, "bob")
        for number in 0..<3 { succeeded(await alice.publish(channelName: "lesson", message: "\(number)", option: nil)) }
        let options = RTMSubscribeOptions()
        options.since = .board
        succeeded(await bob.subscribe(channelName: "lesson", option: options))
        try await eventually("caught up") { told.relay.contains { if case .caughtUp = $0 { true } else { false } } }
        #expect(told.texts == ["0", "1", "2"])
        succeeded(await bob.unsubscribe("lesson"))
        succeeded(await alice.publish(channelName: "lesson", message: "3", option: nil))
        options.since = .position(try #require(told.messages[1].position))
        succeeded(await bob.subscribe(channelName: "lesson", option: options))
        try await eventually("the rest") { told.messages.count == 5 }
        #expect(told.texts == ["0", "1", "2", "2", "3"])
        await server.stop()
    }

    @Test("with a relay's key tokens are passed over; with signed tokens one is good for both kinds of channels, and is renewed when told")
    func credentials() async throws {
        let secret = try TokenSecret(bytes: [UInt8](repeating: 7, count: 32))
        @MainActor func token(_ user: String, seconds: Int64) throws -> String {
            let now = Int64(Date().timeIntervalSince1970)
            return try TokenMint.mint(
                TokenClaims(subject: try checkedName(user), expires: now + seconds, issuedAt: now, role: .editor), secret: secret)
        }
        let server = try await relay(access: .keys(tokens: TokenRules(secrets: [secret])))
        let key = try #require(server.keys).join
        let alice = try RTMClientKit(config(server, "alice", key: key), delegate: nil)
        succeeded(await alice.login("a token of the hosted service"))
        let stream = try alice.createStreamChannel("lesson"), option = RTMJoinChannelOption()
        option.token = "another one of it"
        succeeded(await stream.join(option))
        succeeded(await alice.renewToken("a third"))

        let told = Recorder()
        let bob = try RTMClientKit(config(server, "bob"), delegate: told)
        #expect(failure(await bob.login("no token")) == .invalidToken)
        #expect(failure(await bob.login(nil)) == .invalidToken)
        #expect(failure(await bob.login(try token("bob", seconds: -600))) == .tokenExpired)
        // The relay tells it 30 s before the end.
        succeeded(await bob.login(try token("bob", seconds: 32)))
        let his = try bob.createStreamChannel("lesson")
        succeeded(await his.join(RTMJoinChannelOption()))
        succeeded(await his.joinTopic("points", option: nil))
        succeeded(await bob.publish(channelName: "lesson", message: "x", option: nil))
        try await eventually("the token is over soon") { told.expiring == 1 }
        succeeded(await bob.renewToken(try token("bob", seconds: 3_600)))
        succeeded(await his.renewToken(try token("bob", seconds: 3_600)))
        await server.stop()
    }
}
