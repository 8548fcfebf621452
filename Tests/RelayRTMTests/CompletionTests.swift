import Foundation
import RelayRTM
import RelayServer
import Testing

/// Every call in its form with a completion handler.
@MainActor @Suite struct CompletionTests {
    /// A call's name for each answer, with its error if it has one.
    private var answers: [String] { book.answers }
    private let book = Book()

    @MainActor private final class Book { var answers: [String] = [] }

    private func note<Response>(_ call: String) -> RTMBlock<Response> {
        { [book] response, error in
            book.answers.append((response != nil) == (error == nil) ? error.map { "\(call) \($0.errorCode)" } ?? call : "\(call)?")
        }
    }

    /// A relay and a client that is logged in.
    private func scene() async throws -> (server: WhiteboardRelay, kit: RTMClientKit) {
        let server = try await relay()
        let kit = try RTMClientKit(config(server, "alice"), delegate: nil)
        kit.login(nil, completion: note("login"))
        try await eventually("login") { answers == ["login"] }
        book.answers = []
        return (server, kit)
    }

    @Test("each call of channels has a form with a completion handler, answered as the awaited one")
    func channelCalls() async throws {
        let (server, kit) = try await scene()
        let stream = try kit.createStreamChannel("lesson")
        kit.subscribe(channelName: "lesson", option: nil, completion: note("subscribe"))
        kit.publish(channelName: "lesson", message: "x", option: nil, completion: note("text"))
        kit.publish(channelName: "lesson", data: Data([1]), option: nil, completion: note("data"))
        stream.join(RTMJoinChannelOption(), completion: note("join"))
        try await eventually("the channels") { answers.count == 4 }
        stream.joinTopic("points", option: nil, completion: note("joinTopic"))
        stream.subscribeTopic("points", option: .only(["bob"]), completion: note("subscribeTopic"))
        stream.getSubscribedUserList("points", completion: note("getSubscribedUserList"))
        stream.unsubscribeTopic("points", option: .only(["carol"]), completion: note("unsubscribeTopic"))
        try await eventually("the topic") { answers.count == 8 }
        stream.publishTopicMessage(topic: "points", message: "x", option: nil, completion: note("packet of text"))
        stream.publishTopicMessage(topic: "points", data: Data([1]), option: nil, completion: note("packet of data"))
        stream.leaveTopic("points", completion: note("leaveTopic"))
        stream.leave(note("leave"))
        kit.unsubscribe("lesson", completion: note("unsubscribe"))
        kit.renewToken("", completion: note("renewToken"))
        stream.renewToken("x", completion: note("renewToken of a channel"))
        try await eventually("the end of the channels") { answers.count == 15 }
        #expect(
            Set(answers) == [
                "subscribe", "text", "data", "join", "joinTopic", "subscribeTopic", "getSubscribedUserList",
                "unsubscribeTopic channelTopicNotSubscribed",
                "packet of text", "packet of data", "leaveTopic", "leave", "unsubscribe", "renewToken invalidToken",
                "renewToken of a channel channelNotJoined",
            ])
        await server.stop()
    }

    @Test("each call of storage has a form with a completion handler, answered as the awaited one")
    func storageCalls() async throws {
        let (server, kit) = try await scene()
        let storage = kit.getStorage()!, data = metadata(["k": "v"])
        for (type, name) in [(RTMChannelType.message, "message"), (.stream, "stream")] {
            storage.setChannelMetadata(
                channelName: "lesson", channelType: type, data: data, options: nil, lock: nil, completion: note("set \(name)"))
            storage.updateChannelMetadata(
                channelName: "lesson", channelType: type, data: data, options: nil, lock: nil, completion: note("update \(name)"))
            storage.getChannelMetadata(channelName: "lesson", channelType: type, completion: note("get \(name)"))
            storage.removeChannelMetadata(
                channelName: "lesson", channelType: type, data: data, options: nil, lock: nil, completion: note("remove \(name)"))
        }
        storage.subscribeUserMetadata(userId: "alice", completion: note("subscribe user"))
        storage.setUserMetadata(userId: "alice", data: data, options: nil, completion: note("set user"))
        storage.updateUserMetadata(userId: "alice", data: data, options: nil, completion: note("update user"))
        storage.getUserMetadata(userId: "alice", completion: note("get user"))
        storage.removeUserMetadata(userId: "alice", data: data, options: nil, completion: note("remove user"))
        storage.unsubscribeUserMetadata(userId: "alice", completion: note("unsubscribe user"))
        try await eventually("storage") { answers.count == 14 }
        let ofChannels = ["message", "stream"].flatMap { kind in ["set", "update", "get", "remove"].map { "\($0) \(kind)" } }
        #expect(Set(answers) == Set(ofChannels + ["subscribe", "set", "update", "get", "remove", "unsubscribe"].map { "\($0) user" }))
        await server.stop()
    }

    @Test("each call of presence and locks has a form with a completion handler, answered as the awaited one")
    func presenceAndLockCalls() async throws {
        let (server, kit) = try await scene()
        let presence = kit.getPresence()!, locks = kit.getLock()!
        presence.setState(channelName: "lesson", channelType: .message, items: ["k": "v"], completion: note("setState"))
        presence.getState(channelName: "lesson", channelType: .message, userId: "alice", completion: note("getState"))
        presence.removeState(channelName: "lesson", channelType: .message, keys: [], completion: note("removeState"))
        presence.getOnlineUser(channelName: "lesson", channelType: .message, options: nil, completion: note("getOnlineUser"))
        presence.getUserChannels(userId: "alice", completion: note("getUserChannels"))
        locks.setLock(channelName: "lesson", channelType: .message, lockName: "pen", ttl: 10, completion: note("setLock"))
        locks.acquireLock(channelName: "lesson", channelType: .message, lockName: "pen", retry: false, completion: note("acquireLock"))
        locks.getLocks(channelName: "lesson", channelType: .message, completion: note("getLocks"))
        locks.revokeLock(channelName: "lesson", channelType: .message, lockName: "pen", userId: "alice", completion: note("revokeLock"))
        locks.releaseLock(channelName: "lesson", channelType: .message, lockName: "pen", completion: note("releaseLock"))
        locks.removeLock(channelName: "lesson", channelType: .message, lockName: "pen", completion: note("removeLock"))
        kit.logout(note("logout"))
        try await eventually("presence and locks") { answers.count == 12 }
        #expect(
            Set(answers) == [
                "setState", "getState", "removeState", "getOnlineUser", "getUserChannels", "setLock", "acquireLock", "getLocks",
                "revokeLock",
                "releaseLock lockNotAcquired", "removeLock", "logout",
            ])
        await server.stop()
    }

    @Test("a config takes the address that a relay shows, with its key")
    func address() throws {
        let config = try #require(RTMClientConfig(address: "http://192.168.1.5:7421/#key=abc", userId: "alice"))
        #expect(config.host == "192.168.1.5" && config.port == 7_421 && config.key == "abc" && config.userId == "alice")
        #expect(try #require(RTMClientConfig(address: "192.168.1.5", userId: "alice")).key == nil)
        #expect(RTMClientConfig(address: "ftp://192.168.1.5", userId: "alice") == nil)
    }
}
