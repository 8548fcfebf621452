import Foundation
import RelayClient
import RelayRTM
import RelayServer
import Testing

/// What hosted RTM's objects have because they are `NSObject`s, and both shapes of what differs between 2.1 and 2.2.
@Suite("objects that apps fill, read and compare", .timeLimit(.minutes(5)))
@MainActor struct ObjectTests {
    @Test("an object that an app makes has properties to set, is equal to itself alone, and names its properties; a message is copied")
    func properties() throws {
        let message = RTMMessage()
        message.stringData = "hello"
        let event = RTMMessageEvent()
        (event.channelType, event.channelName, event.publisher, event.message) = (.message, "lesson", "anna", message)
        let other = RTMMessageEvent()
        #expect(event == event && event != other && Set([event, event, other]).count == 2 && RTMCommonResponse() != RTMCommonResponse())
        other.publisher = "ben"
        #expect(Set([event, other]).contains(other))
        let copied = try #require(message.copy() as? RTMMessage)
        copied.stringData = "bye"
        #expect(message.stringData == "hello")
        let text = event.description
        #expect(text.hasPrefix("RTMMessageEvent(") && text.contains("channelName: lesson") && text.contains("Optional(\"hello\")"))
        let item = RTMMetadataItem()
        (item.key, item.value) = ("title", "Ink")
        let metadata = try #require(RTMMetadata())
        metadata.setMetadataItem(item)
        #expect(metadata.getItems() == [item] && metadata.destroy() == 0)
        metadata.clear()
        #expect(metadata.getItems().isEmpty && metadata.majorRevision == -1)
    }

    @Test("states are a dictionary as in 2.2, which is read as a list of items is, and a list as in 2.1")
    func states() {
        let item = RTMStateItem()
        (item.key, item.value) = ("tool", "pen")
        let user = RTMUserState()
        user.stateItems = [item]
        #expect(user.states == ["tool": "pen"] && user.stateItems.map(\.value) == ["pen"])
        user.states["name"] = "Anna"
        #expect(user.states.first { $0.key == "name" }?.value == "Anna")
        var named: [String] = []
        for state in user.states { named.append("\(state.key) \(state.value)") }
        #expect(named.sorted() == ["name Anna", "tool pen"] && user.stateItems.map(\.key) == ["name", "tool"])
        let event = RTMPresenceEvent()
        event.states = user.states
        #expect(event.stateItems.map(\.key) == user.stateItems.map(\.key))
    }

    @Test("an error is an NSError with the number of its code, and a call's name and reason in its text")
    func errors() async throws {
        let kit = try RTMClientKit(config("anna", port: nobodysPort), delegate: nil)
        let error = try #require(await kit.publish(channelName: "lesson", message: "x", option: nil).1)
        #expect(error.code == -10002 && error.domain == "RelayRTM" && error.errorCode == .notLogin && error.operation == "publish")
        #expect(error.localizedDescription.contains("publish: not logged in") && error.description == error.localizedDescription)
        let thrown: any Error = error
        #expect((thrown as? RTMErrorInfo) === error && (thrown as NSError).code == -10002)
    }

    @Test("questions have their names in 2.1 and 2.2, and set states as a list")
    func names() async throws {
        let server = try await relay()
        let (kit, _) = try await client(server, "anna")
        succeeded(await kit.subscribe(channelName: "lesson", option: nil))
        let presence = try #require(kit.getPresence())
        let item = RTMStateItem()
        (item.key, item.value) = ("tool", "pen")
        succeeded(await presence.setState(channelName: "lesson", channelType: .message, items: [item]))
        let options = RTMPresenceOptions()
        options.includeState = true
        let now = succeeded(await presence.whoNow(channelName: "lesson", channelType: .message, options: options))
        #expect(now?.userStateList.map(\.states) == [["tool": "pen"]])
        let users = succeeded(await presence.getOnlineUser(channelName: "lesson", channelType: .message, options: options))
        #expect(users?.userStateList.map(\.states) == now?.userStateList.map(\.states))
        let place = succeeded(await presence.whereNow(userId: "anna"))
        let channels = succeeded(await presence.getUserChannels(userId: "anna"))
        #expect(place?.channels.map(\.channelName) == ["lesson"] && channels?.channels.map(\.channelName) == ["lesson"])
        await server.stop()
    }

    @Test("a secret in memory lasts as long as its kit: it logs in again, and nobody else does with its user id")
    func secret() async throws {
        let server = try await relay(access: .keys())
        let key = try #require(server.keys?.join)
        let kit = try RTMClientKit(config(server, "anna", key: key), delegate: nil)
        succeeded(await kit.login(nil))
        succeeded(await kit.logout())
        succeeded(await kit.login(nil))
        let other = try RTMClientKit(config(server, "anna", key: key), delegate: nil)
        let refused = await other.login(nil)
        #expect(failure(refused) == .loginRejected && refused.1?.relayError?.code == .userIDTaken)
        await server.stop()
    }

    @Test("metadata of another user is read by everybody, and written by moderators only")
    func others() async throws {
        let server = try await relay(access: .keys())
        let keys = try #require(server.keys)
        let editor = try RTMClientKit(config(server, "anna", key: keys.join), delegate: nil)
        let host = try RTMClientKit(config(server, "host", key: keys.host), delegate: nil)
        succeeded(await editor.login(nil))
        succeeded(await host.login(nil))
        let item = RTMMetadataItem(), metadata = try #require(RTMMetadata())
        (item.key, item.value) = ("class", "4b")
        metadata.items = [item]
        let refused = try #require(editor.getStorage())
        #expect(failure(await refused.setUserMetadata(userId: "host", data: metadata, options: nil)) == .notPermitted)
        succeeded(await host.getStorage()!.setUserMetadata(userId: "anna", data: metadata, options: nil))
        #expect(succeeded(await refused.getUserMetadata(userId: "anna"))?.data?.getItems().map(\.value) == ["4b"])
        succeeded(await refused.getUserMetadata(userId: "host"))
        await server.stop()
    }

    @Test("a board is read by a channel's handle: in a channel that the kit has subscribed it is refused, and the kit stays there")
    func board() async throws {
        let server = try await relay()
        let (kit, told) = try await client(server, "anna"), (other, _) = try await client(server, "ben")
        succeeded(await kit.subscribe(channelName: "lesson", option: nil))
        let board = try #require(kit.relayClient).channel("lesson").board
        await #expect { try await board.records() } throws: { ($0 as? RelayError)?.code == .badRequest }
        succeeded(await other.publish(channelName: "lesson", message: "still here", option: nil))
        try await eventually("the message") { told.texts == ["still here"] }
        // By its handle the channel tells the kit's delegate the same, and its board is read.
        let drawings = try #require(kit.relayClient).channel("drawings")
        try await drawings.open()
        succeeded(await other.publish(channelName: "drawings", message: "hello", option: nil))
        try await eventually("the other message") { told.texts == ["still here", "hello"] }
        #expect(try await drawings.board.records().isEmpty)
        await server.stop()
    }
}
