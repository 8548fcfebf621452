import Foundation
import RelayClient
import RelayRTM
import RelayServer
import Testing

/// What apps for hosted RTM rely on, one test each.
@MainActor @Suite struct ReliedOnTests {
    @Test("message and stream channel of one name are two: members, messages and packets of one are none of the other")
    func twoKinds() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, told) = try await client(server, "bob")
        let stream = try bob.createStreamChannel("lesson")
        succeeded(await stream.join(RTMJoinChannelOption()))
        succeeded(await bob.subscribe(channelName: "fence", option: nil))
        succeeded(await alice.publish(channelName: "lesson", message: "not for bob", option: nil))
        succeeded(await alice.publish(channelName: "fence", message: "for bob", option: nil))
        try await eventually("the fence") { !told.messages.isEmpty }
        #expect(told.texts == ["for bob"])
        let presence = try #require(alice.getPresence())
        #expect(
            succeeded(await presence.getOnlineUser(channelName: "lesson", channelType: .stream, options: nil))?.userStateList.map(\.userId)
                == ["bob"])
        #expect(succeeded(await presence.getOnlineUser(channelName: "lesson", channelType: .message, options: nil))?.totalOccupancy == 0)
        let channels = succeeded(await presence.getUserChannels(userId: "bob"))
        #expect(channels?.totalChannel == 2 && channels?.channels.map(\.channelName) == ["fence", "lesson"])
        #expect(channels?.channels.map(\.channelType) == [.message, .stream])
        await server.stop()
    }

    @Test("features of the subscribe option say what is received, and beQuiet that one is not seen")
    func features() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let everything: [RTMSubscribeChannelFeature] = [[.message], [.presence], [.metadata], [.lock], [.message, .beQuiet], []]
        var tolds: [Recorder] = [], kits: [RTMClientKit] = []
        for (number, features) in everything.enumerated() {
            let (kit, told) = try await client(server, "reader-\(number)")
            succeeded(await kit.subscribe(channelName: "lesson", option: .only(features)))
            // What follows comes behind all that the lesson brings.
            succeeded(await kit.subscribe(channelName: "fence", option: .only(.message)))
            tolds.append(told)
            kits.append(kit)
        }
        succeeded(await alice.subscribe(channelName: "lesson", option: nil))
        succeeded(await alice.publish(channelName: "lesson", message: "hello", option: nil))
        succeeded(
            await alice.getStorage()!.setChannelMetadata(
                channelName: "lesson", channelType: .message, data: metadata(["k": "v"]), options: nil, lock: nil))
        succeeded(await alice.getLock()!.setLock(channelName: "lesson", channelType: .message, lockName: "pen", ttl: 10))
        succeeded(await alice.publish(channelName: "fence", message: "end", option: nil))
        for told in tolds { try await eventually("the fence") { told.texts.last == "end" } }
        #expect(tolds.map { $0.texts.contains("hello") } == [true, false, false, false, true, false])
        #expect(tolds.map { !$0.presence.isEmpty } == [false, true, false, false, false, false])
        #expect(tolds.map { !$0.storage.isEmpty } == [false, false, true, false, false, false])
        #expect(tolds.map { !$0.locks.isEmpty } == [false, false, false, true, false, false])
        let seen = succeeded(await alice.getPresence()!.getOnlineUser(channelName: "lesson", channelType: .message, options: nil))
        #expect(seen?.userStateList.map(\.userId) == ["alice", "reader-0", "reader-1", "reader-2", "reader-3", "reader-5"])
        await server.stop()
    }

    @Test("publishing needs no subscription; text comes as text, data as data, with custom type, publisher and time")
    func publishing() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, told) = try await client(server, "bob")
        succeeded(await bob.subscribe(channelName: "lesson", option: .only(.message)))
        succeeded(await alice.publish(channelName: "lesson", message: "é 🦆", option: .to(.message, customType: "chat")))
        succeeded(await alice.publish(channelName: "lesson", data: Data([0, 255, 7]), option: nil))
        try await eventually("both") { told.messages.count == 2 }
        let (text, data) = (told.messages[0], told.messages[1])
        #expect(text.channelType == .message && text.channelName == "lesson" && text.channelTopic.isEmpty && text.publisher == "alice")
        #expect(text.message.stringData == "é 🦆" && text.message.rawData == nil && text.customType == "chat" && text.timestamp > 0)
        #expect(data.message.rawData == Data([0, 255, 7]) && data.message.stringData == nil && data.customType == nil)
        await server.stop()
    }

    @Test("subscribeTopic without a list answers who publishes; an empty list, and one of more than 64, are errors that name nil")
    func lists() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, _) = try await client(server, "bob")
        let hers = try alice.createStreamChannel("lesson"), his = try bob.createStreamChannel("lesson")
        succeeded(await hers.join(RTMJoinChannelOption()))
        succeeded(await his.join(RTMJoinChannelOption()))
        #expect(succeeded(await hers.subscribeTopic("points", option: nil))?.succeedUsers == [])
        succeeded(await his.joinTopic("points", option: nil))
        #expect(succeeded(await hers.subscribeTopic("points", option: RTMTopicOption()))?.succeedUsers == ["bob"])
        let empty = await hers.subscribeTopic("points", option: .only([]))
        #expect(failure(empty) == .channelInvalidUserList && empty.1?.reason.contains("nil is everybody") == true)
        let many = await hers.subscribeTopic("points", option: .only((1...65).map { "user-\($0)" }))
        #expect(failure(many) == .channelExceedTopicUserLimitation && many.1?.reason.contains("at most 64 users, not 65") == true)
        await server.stop()
    }

    @Test("subscribeTopic with a list adds to it, takes users who are not there yet and one's own id; unsubscribeTopic takes from it")
    func topicLists() async throws {
        let server = try await relay()
        let (alice, told) = try await client(server, "alice")
        let hers = try alice.createStreamChannel("lesson")
        succeeded(await hers.join(RTMJoinChannelOption()))
        #expect(succeeded(await hers.subscribeTopic("points", option: .only(["bob"])))?.succeedUsers == ["bob"])
        let added = succeeded(await hers.subscribeTopic("points", option: .only(["alice", "carol", "no/name"])))
        #expect(added?.succeedUsers == ["alice", "carol"] && added?.failedUsers == ["no/name"])
        #expect(succeeded(await hers.getSubscribedUserList("points"))?.users == ["alice", "bob", "carol"])
        // It is done as far as it can be, and fails if nothing could.
        succeeded(await hers.unsubscribeTopic("points", option: .only(["carol", "nobody"])))
        #expect(failure(await hers.unsubscribeTopic("points", option: .only(["nobody"]))) == .channelTopicNotSubscribed)
        #expect(succeeded(await hers.getSubscribedUserList("points"))?.users == ["alice", "bob"])
        var streams: [RTMStreamChannel] = []
        for user in ["bob", "carol", "dave"] {
            let (kit, _) = try await client(server, user)
            let stream = try kit.createStreamChannel("lesson")
            succeeded(await stream.join(RTMJoinChannelOption()))
            succeeded(await stream.joinTopic("points", option: nil))
            streams.append(stream)
        }
        // Bob last: what the others sent would have come before it.
        for stream in streams.reversed() { succeeded(await stream.publishTopicMessage(topic: "points", message: "1,2", option: nil)) }
        try await eventually("a packet") { !told.messages.isEmpty }
        #expect(
            told.messages.map(\.publisher) == ["bob"] && told.messages[0].channelTopic == "points"
                && told.messages[0].channelType == .stream)
        await server.stop()
    }

    @Test("without a list all publishers of a topic are heard, those who come later as well")
    func everybody() async throws {
        let server = try await relay()
        let (alice, told) = try await client(server, "alice")
        let hers = try alice.createStreamChannel("lesson")
        succeeded(await hers.join(RTMJoinChannelOption()))
        succeeded(await hers.subscribeTopic("points", option: nil))
        var others: [RTMStreamChannel] = []
        for user in ["bob", "carol"] {
            let (kit, _) = try await client(server, user)
            let stream = try kit.createStreamChannel("lesson")
            succeeded(await stream.join(RTMJoinChannelOption()))
            succeeded(await stream.joinTopic("points", option: RTMJoinTopicOption()))
            succeeded(await stream.publishTopicMessage(topic: "points", data: Data([1]), option: nil))
            try await eventually("the packet of \(user)") { told.messages.last?.publisher == user }
            others.append(stream)
        }
        // Her own join is none of a remote user; each of the others is told with its topic.
        succeeded(await hers.joinTopic("points", option: nil))
        succeeded(await others[0].publishTopicMessage(topic: "points", data: Data([2]), option: nil))
        try await eventually("what comes behind her join") { told.messages.last?.message.rawData == Data([2]) }
        #expect(
            told.topics.map(\.type) == [.snapshot, .remoteJoinTopic, .remoteJoinTopic]
                && told.topics.map(\.publisher) == ["", "bob", "carol"])
        #expect(told.topics[1].topicInfos.map(\.topic) == ["points"])
        await server.stop()
    }

    @Test("one's own messages and packets do not come back; storage events reach their author, with the full set")
    func noEcho() async throws {
        let server = try await relay()
        let (alice, told) = try await client(server, "alice")
        succeeded(await alice.subscribe(channelName: "lesson", option: .only([.message, .metadata])))
        let stream = try alice.createStreamChannel("lesson")
        succeeded(await stream.join(RTMJoinChannelOption()))
        succeeded(await stream.joinTopic("points", option: nil))
        succeeded(await stream.subscribeTopic("points", option: .only(["alice"])))
        succeeded(await alice.publish(channelName: "lesson", message: "hello", option: nil))
        succeeded(await stream.publishTopicMessage(topic: "points", message: "1,2", option: nil))
        let storage = try #require(alice.getStorage())
        for (key, value) in [("title", "Herbst"), ("note", "n")] {
            succeeded(
                await storage.setChannelMetadata(
                    channelName: "lesson", channelType: .message, data: metadata([key: value]), options: nil, lock: nil))
        }
        succeeded(
            await storage.removeChannelMetadata(
                channelName: "lesson", channelType: .message, data: metadata(["note": ""]), options: nil, lock: nil))
        try await eventually("all storage events") { told.storage.count == 4 }
        #expect(told.messages.isEmpty)
        #expect(told.storage.map(\.eventType) == [.snapshot, .set, .set, .remove] && told.storage.allSatisfy { $0.target == "lesson" })
        #expect(told.storage.map { $0.data.getItems().map(\.key) } == [[], ["title"], ["note", "title"], ["title"]])
        #expect(
            told.storage.map(\.data.majorRevision) == [0, 1, 2, 3] && told.storage[3].storageType == .channel
                && told.storage[3].channelType == .message)
        await server.stop()
    }

    @Test("majorRevision: 0 is \"never written\", −1 any, a number must be the one found; an item's revision likewise")
    func revisions() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let storage = try #require(alice.getStorage())
        @MainActor func set(_ items: [String: String], major: Int64 = -1, item: Int64 = -1) async -> (RTMCommonResponse?, RTMErrorInfo?) {
            await storage.setChannelMetadata(
                channelName: "auction", channelType: .message, data: metadata(items, majorRevision: major, revision: item), options: nil,
                lock: nil)
        }
        #expect(succeeded(await storage.getChannelMetadata(channelName: "auction", channelType: .message))?.data?.majorRevision == 0)
        succeeded(await set(["bid": "1"], major: 0))
        #expect(failure(await set(["bid": "2"], major: 0)) == .storageOutdatedRevision)
        succeeded(await set(["bid": "3"], major: 1))
        succeeded(await set(["bid": "4"]))
        let refused = await set(["bid": "5"], major: 2)
        #expect(failure(refused) == .storageOutdatedRevision && refused.1?.relayError?.actual == 3)
        succeeded(await set(["other": "x"], item: 0))
        #expect(failure(await set(["other": "y"], item: 0)) == .storageOutdatedRevision)
        #expect(failure(await set(["other": "y"], major: -2)) == .storageInvalidRevision)
        let read = succeeded(await storage.getChannelMetadata(channelName: "auction", channelType: .message))?.data
        #expect(read?.getItems().map(\.value) == ["4", "x"] && read?.getItems().map(\.revision) == [3, 4] && read?.majorRevision == 4)
        // What was read is written back as it is, conditions and all.
        succeeded(
            await storage.updateChannelMetadata(
                channelName: "auction", channelType: .message, data: try #require(read), options: nil, lock: nil))
        await server.stop()
    }

    @Test("the presence snapshot includes oneself, with states set before subscribing; others get them with the join and behind it")
    func snapshot() async throws {
        let server = try await relay()
        let (alice, hers) = try await client(server, "alice"), (bob, his) = try await client(server, "bob")
        let presence = try #require(alice.getPresence())
        succeeded(await bob.subscribe(channelName: "lesson", option: nil))
        succeeded(await presence.setState(channelName: "lesson", channelType: .message, items: ["name": "Alice", "tool": "pen"]))
        succeeded(await alice.subscribe(channelName: "lesson", option: nil))
        try await eventually("both are told") { !hers.presence.isEmpty && his.presence.count == 3 }
        #expect(hers.presence[0].type == .snapshot && hers.presence[0].snapshot.map(\.userId) == ["alice", "bob"])
        #expect(hers.presence[0].snapshot[0].states == ["name": "Alice", "tool": "pen"])
        #expect(his.presence[0].snapshot.map(\.userId) == ["bob"])
        #expect(
            his.presence[1].type == .remoteJoinChannel && his.presence[1].publisher == "alice" && his.presence[1].states["name"] == "Alice")
        #expect(his.presence[2].type == .remoteStateChanged && his.presence[2].states == ["name": "Alice", "tool": "pen"])
        // A change is told with all states, as apps put it in place of what they had.
        succeeded(await presence.setState(channelName: "lesson", channelType: .message, items: ["tool": "eraser"]))
        succeeded(await presence.removeState(channelName: "lesson", channelType: .message, keys: ["name"]))
        try await eventually("both changes") { his.presence.count == 5 }
        #expect(his.presence[3].type == .remoteStateChanged && his.presence[3].states == ["name": "Alice", "tool": "eraser"])
        #expect(his.presence[4].states == ["tool": "eraser"])
        #expect(
            succeeded(await bob.getPresence()!.getState(channelName: "lesson", channelType: .message, userId: "alice"))?.state.states == [
                "tool": "eraser"
            ])
        succeeded(await alice.unsubscribe("lesson"))
        try await eventually("she has left") { his.presence.last?.type == .remoteLeaveChannel }
        await server.stop()
    }
}
