import Foundation
import RelayClient
import RelayCore
import RelayRTM
import RelayServer
import Testing

/// The errors that an app handles, by the numbers it knows.
@MainActor @Suite struct ErrorTests {
    @Test("before login, during a login, twice, after destroy, and without a relay")
    func logins() async throws {
        let server = try await relay()
        let kit = try RTMClientKit(config(server, "alice"), delegate: nil)
        let early = await kit.publish(channelName: "lesson", message: "x", option: nil)
        #expect(failure(early) == .notLogin && early.1?.operation == "publish" && early.1?.errorCode.rawValue == -10002)
        #expect(failure(await kit.logout()) == .notLogin)
        #expect(failure(await kit.getStorage()!.getUserMetadata(userId: "alice")) == .notLogin)
        succeeded(await kit.login(nil))
        #expect(failure(await kit.login(nil)) == .duplicateOperation)
        #expect(kit.destroy() == .ok)
        #expect(failure(await kit.login(nil)) == .instanceAlreadyReleased)
        #expect(throws: RTMErrorInfo.self) { try kit.createStreamChannel("lesson") }

        #expect(failure(try await RTMClientKit(config(server, "no/name"), delegate: nil).login(nil)) == .invalidUserId)
        #expect(failure(try await RTMClientKit(config("carol", port: nobodysPort), delegate: nil).login(nil)) == .notConnected)
        await server.stop()
    }

    @Test("a logout ends a login that is under way, whether or not it is answered first")
    func canceledLogin() async throws {
        let server = try await relay(), silent = try SilentPort()
        for port in [server.address.port, silent.port] {
            let kit = try RTMClientKit(config("bob", port: port), delegate: nil)
            var login: (RTMCommonResponse?, RTMErrorInfo?)?, logout: (RTMCommonResponse?, RTMErrorInfo?)?
            kit.login(nil) { login = ($0, $1) }
            kit.logout { logout = ($0, $1) }
            try await eventually("logged out") { logout != nil }
            succeeded(logout!)
            try await eventually("the login's answer") { login != nil }
            if port == silent.port || login!.1 != nil { #expect(failure(login!) == .loginCanceled) }
            #expect(failure(await kit.logout()) == .notLogin)
        }
        silent.close()
        await server.stop()
    }

    @Test("a task that is cancelled waits for no relay that is silent")
    func canceledConnect() async throws {
        let silent = try SilentPort()
        var options = ClientOptions()
        options.connectTimeout = .seconds(3_600)
        let connection = Task { [options] in
            try await WhiteboardClient.connect(to: RelayAddress(host: "127.0.0.1", port: silent.port), as: "bob", options: options)
        }
        connection.cancel()
        await #expect { try await connection.value } throws: { ($0 as? RelayError)?.code == .cancelled }
        silent.close()
    }

    @Test("channels and messages: bad names, not subscribed, too large, wrong type, receiver offline, what was not there to be given")
    func channels() async throws {
        let server = try await relay { $0.limits.subscribedChannelsMax = 1 }
        let (alice, _) = try await client(server, "alice")
        #expect(failure(await alice.subscribe(channelName: "no/name", option: nil)) == .invalidChannelName)
        #expect(failure(await alice.unsubscribe("lesson")) == .channelNotSubscribed)
        succeeded(await alice.subscribe(channelName: "lesson", option: nil))
        #expect(failure(await alice.subscribe(channelName: "another", option: nil)) == .channelInstanceExceedLimitation)
        let large = await alice.publish(channelName: "lesson", data: Data(count: 32_769), option: nil)
        #expect(failure(large) == .channelMessageLengthExceedLimitation && large.1?.relayError?.limit == 32_768)
        succeeded(await alice.publish(channelName: "lesson", data: Data(count: 32_768), option: nil))
        let stream = await alice.publish(channelName: "lesson", message: "x", option: .to(.stream))
        #expect(failure(stream) == .invalidChannelType && stream.1?.reason.contains("publishTopicMessage") == true)
        let longest = String(repeating: "t", count: 32)
        succeeded(await alice.publish(channelName: "lesson", message: "x", option: .to(.message, customType: longest)))
        #expect(
            failure(await alice.publish(channelName: "lesson", message: "x", option: .to(.message, customType: longest + "t")))
                == .channelInvalidCustomType)
        #expect(failure(await alice.publish(channelName: "bob", message: "x", option: .to(.user))) == .channelReceiverOffline)
        await server.stop()
    }

    @Test("stream channels: not joined, topic not joined, too many topics, packets too large or with a custom type")
    func streams() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let stream = try alice.createStreamChannel("lesson")
        #expect(stream.getChannelName() == "lesson")
        #expect(failure(await stream.joinTopic("points", option: nil)) == .channelNotJoined)
        #expect(failure(await stream.leave()) == .channelNotJoined)
        succeeded(await stream.join(RTMJoinChannelOption()))
        #expect(failure(await stream.publishTopicMessage(topic: "points", message: "x", option: nil)) == .channelTopicNotJoined)
        #expect(failure(await stream.joinTopic("no/name", option: nil)) == .channelInvalidTopicName)
        for number in 0..<8 { succeeded(await stream.joinTopic("topic-\(number)", option: nil)) }
        #expect(failure(await stream.joinTopic("topic-8", option: nil)) == .channelExceedTopicLimitation)
        #expect(failure(await stream.leaveTopic("topic-8")) == .channelTopicNotJoined)
        #expect(failure(await stream.unsubscribeTopic("topic-0", option: .only(["bob"]))) == .channelTopicNotSubscribed)
        #expect(
            failure(await stream.publishTopicMessage(topic: "topic-0", data: Data(count: 1_025), option: nil))
                == .channelMessageLengthExceedLimitation)
        let options = RTMTopicMessageOptions()
        options.customType = "point"
        #expect(failure(await stream.publishTopicMessage(topic: "topic-0", message: "x", option: options)) == .channelInvalidCustomType)
        await server.stop()
    }

    @Test("storage: missing items, sets too large, locks not held or not there")
    func storage() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let storage = try #require(alice.getStorage())
        let update = await storage.updateChannelMetadata(
            channelName: "lesson", channelType: .stream, data: metadata(["k": "v"]), options: nil, lock: nil)
        #expect(failure(update) == .storageInvalidMetadataItem && update.1?.operation == "updateChannelMetadata")
        let large = await storage.setUserMetadata(
            userId: "alice", data: metadata(["k": String(repeating: "x", count: 65_536)]), options: nil)
        #expect(
            failure(large) == .storageMetadataLengthOverflow && large.1?.operation == "setUserMetadata"
                && large.1?.relayError?.limit == 65_536)
        #expect(failure(await storage.unsubscribeUserMetadata(userId: "bob")) == .storageNotSubscribe)
        @MainActor func set(lock: String) async -> RTMErrorCode? {
            await storage.setChannelMetadata(
                channelName: "lesson", channelType: .message, data: metadata(["k": "v"]), options: nil, lock: lock
            ).1?.errorCode
        }
        #expect(await set(lock: "pen") == .storageInvalidLockName)
        let locks = try #require(alice.getLock())
        succeeded(await locks.setLock(channelName: "lesson", channelType: .message, lockName: "pen", ttl: 10))
        #expect(await set(lock: "pen") == .storageLockNotAcquired)
        succeeded(await locks.acquireLock(channelName: "lesson", channelType: .message, lockName: "pen", retry: false))
        #expect(await set(lock: "pen") == nil)
        for type in [RTMChannelType.none, .user] {
            #expect(failure(await storage.getChannelMetadata(channelName: "alice", channelType: type)) == .invalidChannelType)
            let written = await storage.setChannelMetadata(
                channelName: "alice", channelType: type, data: metadata(["k": "v"]), options: nil, lock: nil)
            #expect(failure(written) == .invalidChannelType)
        }
        await server.stop()
    }

    @Test("presence and locks: states too many or too large, quiet, locks not there or not held")
    func presenceAndLocks() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let presence = try #require(alice.getPresence()), locks = try #require(alice.getLock())
        @MainActor func set(_ states: [String: String]) async -> RTMErrorCode? {
            await presence.setState(channelName: "lesson", channelType: .message, items: states).1?.errorCode
        }
        #expect(await set(Dictionary(uniqueKeysWithValues: (0..<33).map { ("k\($0)", "v") })) == .presenceStateCountOverflow)
        #expect(await set(["k": String(repeating: "v", count: 2_048)]) == .presenceStateValueSizeOverflow)
        succeeded(await alice.subscribe(channelName: "lesson", option: .only([.message, .beQuiet])))
        #expect(await set(["k": "v"]) == .presenceNotWritable)
        #expect(failure(await presence.getOnlineUser(channelName: "alice", channelType: .user, options: nil)) == .invalidChannelType)
        #expect(
            failure(await locks.acquireLock(channelName: "lesson", channelType: .message, lockName: "pen", retry: false)) == .lockNotExist)
        succeeded(await locks.setLock(channelName: "lesson", channelType: .message, lockName: "pen", ttl: 10))
        #expect(failure(await locks.releaseLock(channelName: "lesson", channelType: .message, lockName: "pen")) == .lockNotAcquired)
        #expect(
            failure(await locks.setLock(channelName: "lesson", channelType: .message, lockName: "no/name", ttl: 10)) == .lockInvalidName)
        await server.stop()
    }

    @Test("a client without the right is told so, by a number of the relay's own")
    func rights() async throws {
        let server = try await relay(access: .keys(join: .reader))
        let reader = try RTMClientKit(config(server, "reader", key: try #require(server.keys).join), delegate: nil)
        succeeded(await reader.login("whatever"))
        let refused = await reader.publish(channelName: "lesson", message: "x", option: nil)
        #expect(failure(refused) == .notPermitted && refused.1?.relayError?.code == .notPermitted)
        #expect(failure(try await RTMClientKit(config(server, "bob", key: "nobody's"), delegate: nil).login(nil)) == .invalidToken)
        await server.stop()
    }
}
