import Dispatch
import Foundation
import RelayClient
import RelayCore
import RelayRTM
import RelayServer
import Testing

/// Logins that fail, are cancelled or follow one another, and what belongs to which.
@MainActor @Suite struct LoginTests {
    /// Keeps the main actor busy until it is signalled.
    private static func busy(until done: DispatchSemaphore) { done.wait() }

    @Test("what came of an earlier login is not told after the next has begun; a logout is told when none has")
    func earlier() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice"), (bob, told) = try await client(server, "bob")
        succeeded(await bob.subscribe(channelName: "lesson", option: .only(.message)))
        try await eventually("logged in") { told.links.count == 2 }
        let done = DispatchSemaphore(value: 0)
        let calls = Task.detached { () -> [RTMErrorInfo] in
            defer { done.signal() }
            var answers = [await alice.publish(channelName: "lesson", message: "old", option: nil).1]
            // The answer comes behind the message, which waits for the main actor.
            answers.append(await bob.getPresence()!.getUserChannels(userId: "bob").1)
            answers.append(await bob.logout().1)
            answers.append(await bob.login(nil).1)
            answers.append(await bob.subscribe(channelName: "fence", option: nil).1)
            answers.append(await alice.publish(channelName: "fence", message: "new", option: nil).1)
            return answers.compactMap { $0 }
        }
        Self.busy(until: done)
        #expect(await calls.value.isEmpty)
        try await eventually("the fence") { !told.texts.isEmpty && told.texts.last == "new" }
        #expect(told.texts == ["new"] && told.links.map(\.currentState) == [.connecting, .connected, .connecting, .connected])
        succeeded(await bob.logout())
        try await eventually("logged out") { told.links.last?.currentState == .idle }
        await server.stop()
    }

    @Test("after destroy nothing is told")
    func destroyed() async throws {
        let server = try await relay()
        let (bob, told) = try await client(server, "bob")
        let (alice, hers) = try await client(server, "alice")
        succeeded(await alice.subscribe(channelName: "lesson", option: .only(.presence)))
        succeeded(await bob.subscribe(channelName: "lesson", option: nil))
        try await eventually("told") { !told.presence.isEmpty }
        let links = told.links.count
        bob.destroy()
        try await eventually("he has left") { hers.presence.last?.type == .remoteLeaveChannel }
        succeeded(await alice.getPresence()!.getUserChannels(userId: "bob"))
        #expect(told.links.count == links)
        await server.stop()
    }

    @Test("a login that fails is told from its beginning to its reason, also to who tries again at once")
    func failing() async throws {
        let server = try await relay(access: .keys())
        let told = Recorder()
        let kit = try RTMClientKit(config(server, "alice", key: "nobody's"), delegate: told)
        for _ in 0..<2 { #expect(failure(await kit.login(nil)) == .invalidToken) }
        try await eventually("both") { told.links.count == 4 }
        #expect(told.links.map(\.currentState) == [.connecting, .failed, .connecting, .failed])
        #expect(told.links[1].operation == .serverReject && told.links[1].reason != nil)
        #expect(told.connections.map(\.reason) == [.changedConnecting, .changedInvalidToken, .changedConnecting, .changedInvalidToken])
        await server.stop()
        let alone = Recorder()
        let lost = try RTMClientKit(config("alice", port: nobodysPort), delegate: alone)
        #expect(failure(await lost.login(nil)) == .notConnected)
        try await eventually("nobody there") { alone.links.count == 2 }
        #expect(alone.links[1].operation == .login && alone.connections[1] == (.failed, .changedInterrupted))
    }

    @Test("a stream channel of an earlier login counts as not joined, until it is joined again")
    func streams() async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let stream = try alice.createStreamChannel("lesson")
        succeeded(await stream.join(RTMJoinChannelOption()))
        succeeded(await stream.joinTopic("points", option: nil))
        succeeded(await alice.logout())
        #expect(failure(await stream.publishTopicMessage(topic: "points", message: "x", option: nil)) == .notLogin)
        succeeded(await alice.login(nil))
        #expect(failure(await stream.publishTopicMessage(topic: "points", message: "x", option: nil)) == .channelNotJoined)
        #expect(failure(await stream.joinTopic("points", option: nil)) == .channelNotJoined)
        #expect(failure(await stream.leave()) == .channelNotJoined)
        succeeded(await stream.join(RTMJoinChannelOption()))
        succeeded(await stream.joinTopic("points", option: nil))
        await server.stop()
    }

    @Test("who leaves or destroys a stream channel while joining it is not in it; who joins once more is", arguments: [false, true])
    func leftWhileJoining(destroys: Bool) async throws {
        let server = try await relay()
        let (alice, _) = try await client(server, "alice")
        let stream = try alice.createStreamChannel("lesson")
        var joined: [RTMErrorCode?] = []
        @MainActor func join() { stream.join(RTMJoinChannelOption()) { joined.append($1?.errorCode) } }
        @MainActor func leave() { if destroys { stream.destroy() } else { stream.leave { _, error in #expect(error == nil) } } }
        join()
        leave()
        try await eventually("the join is answered") { joined.count == 1 }
        // Unless its answer was there before the leave was asked for.
        #expect([nil, .channelJoinFailed].contains(joined[0]))
        #expect(succeeded(await alice.getPresence()!.getUserChannels(userId: "alice"))?.totalChannel == 0)
        joined = []
        join()
        leave()
        join()
        try await eventually("both are answered") { joined.count == 2 }
        #expect(Set(joined).isSubset(of: [nil, .channelJoinFailed]) && joined.contains(nil))
        succeeded(await stream.joinTopic("points", option: nil))
        #expect(succeeded(await alice.getPresence()!.getUserChannels(userId: "alice"))?.totalChannel == 1)
        await server.stop()
    }

    /// Takes itself away when it goes.
    private final class Leaving: RTMClientDelegate {
        let kit: RTMClientKit
        init(_ kit: RTMClientKit) { self.kit = kit }
        deinit { kit.removeDelegate(self) }
    }

    @Test("a delegate may be removed in its deinit, and one that has gone is in nobody's way")
    func leaving() async throws {
        let server = try await relay()
        let told = Recorder(), kit = try RTMClientKit(config(server, "alice"), delegate: nil)
        do { kit.addDelegate(Leaving(kit)) }
        do { kit.addDelegate(Recorder()) }
        for _ in 0..<2 { kit.addDelegate(told) }
        succeeded(await kit.login(nil))
        try await eventually("logged in") { told.links.count == 2 }
        kit.removeDelegate(told)
        succeeded(await kit.logout())
        #expect(told.links.map(\.currentState) == [.connecting, .connected])
        await server.stop()
    }

    @Test("[SE8] a user id is logged in once, as with hosted RTM: the newer login ends the other, on whatever device")
    func onlyDevice() async throws {
        let server = try await relay()
        let (first, told) = try await client(server, "alice")
        let (second, _) = try await client(server, "alice")
        try await eventually("the first is ended") { told.connections.last?.reason == .changedSameUidLogin }
        #expect(told.links.last?.currentState == .failed)
        #expect(failure(await first.publish(channelName: "lesson", message: "x", option: nil)) == .notConnected)
        succeeded(await second.logout())
        await server.stop()
    }

    @Test("[SE8] of a user on two devices, who came another way, a topic has one publisher until the last has left")
    func devices() async throws {
        let server = try await relay()
        let (alice, told) = try await client(server, "alice")
        let hers = try alice.createStreamChannel("lesson")
        succeeded(await hers.join(RTMJoinChannelOption()))
        succeeded(await hers.subscribeTopic("points", option: nil))
        let bobs = [
            try await WhiteboardClient.connect(to: server.address, as: "bob"),
            try await WhiteboardClient.connect(to: server.address, as: "bob"),
        ]
        let streams = [try await bobs[0].join("lesson"), try await bobs[1].join("lesson")]
        for stream in streams { try await stream.joinTopic("points") }
        let (carol, hers2) = try await client(server, "carol")
        let carols = try carol.createStreamChannel("lesson")
        succeeded(await carols.join(RTMJoinChannelOption()))
        try await eventually("her snapshot") { !hers2.topics.isEmpty }
        #expect(hers2.topics[0].topicInfos.map { $0.publishers.map(\.publisherUserId) } == [["bob"]])
        try await streams[0].leaveTopic("points")
        try streams[1].send(.text("still here"), topic: "points")
        try await eventually("a packet") { told.texts == ["still here"] }
        try await streams[1].leaveTopic("points")
        try await eventually("he has left") { told.topics.last?.type == .remoteLeaveTopic }
        #expect(told.topics.map(\.type) == [.snapshot, .remoteJoinTopic, .remoteLeaveTopic])
        for bob in bobs { await bob.close() }
        await server.stop()
    }
}
