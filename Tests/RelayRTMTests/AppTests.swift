import Foundation
import RelayRTM
import RelayServer
import Testing

/// Contacts: who is here with a state, and a profile that stays.
@MainActor private final class ContactsModel: @MainActor RTMClientDelegate {
    private(set) var users: [RTMUserState] = []
    private(set) var profiles: [String: [String: String]] = [:]
    private let user: String
    private let config: RTMClientConfig
    private var kit: RTMClientKit?

    init(_ server: WhiteboardRelay, _ user: String) {
        self.user = user
        config = RelayRTMTests.config(server, user)
    }

    var status: [String: String] { users.reduce(into: [:]) { $0[$1.userId] = $1.states["status"] } }

    func enter(name: String, status: String) async throws {
        let kit = try RTMClientKit(config, delegate: self)
        self.kit = kit
        succeeded(await kit.login(nil))
        try await setProfile(["name": name])
        try await set(status)
        succeeded(await kit.subscribe(channelName: "contacts", option: .only(.presence)))
    }

    func set(_ status: String) async throws {
        succeeded(
            await kit?.getPresence()?.setState(channelName: "contacts", channelType: .message, items: ["status": status]) ?? (nil, nil))
    }

    func setProfile(_ items: [String: String]) async throws {
        let options = RTMMetadataOptions()
        (options.recordTs, options.recordUserId) = (true, true)
        succeeded(await kit!.getStorage()!.setUserMetadata(userId: user, data: metadata(items), options: options))
    }

    func leave() async { await kit?.logout() }

    func rtmKit(_ rtmKit: RTMClientKit, didReceivePresenceEvent event: RTMPresenceEvent) {
        switch event.type {
        case .snapshot:
            users = event.snapshot
            users.forEach { watch($0.userId) }
        case .remoteJoinChannel where !users.contains { $0.userId == event.publisher }:
            let state = RTMUserState()
            (state.userId, state.states) = (event.publisher!, event.states)
            users.append(state)
            watch(state.userId)
        case .remoteLeaveChannel, .remoteConnectionTimeout: users.removeAll { $0.userId == event.publisher }
        case .remoteStateChanged: users.first { $0.userId == event.publisher }?.states = event.states
        case .remoteJoinChannel, .interval, .none, .errorOutOfService: break
        }
    }

    private func watch(_ user: String) { kit?.getStorage()?.subscribeUserMetadata(userId: user) { _, error in #expect(error == nil) } }

    func rtmKit(_ rtmKit: RTMClientKit, didReceiveStorageEvent event: RTMStorageEvent) {
        guard event.storageType == .user else { return }
        profiles[event.target] = event.data.getItems().reduce(into: [:]) { $0[$1.key] = $1.value }
    }
}

/// An auction: the bid is one item of the channel's metadata, written only over what was seen.
@MainActor private final class BiddingModel: @MainActor RTMClientDelegate {
    private(set) var bid = 0
    private(set) var bidder = ""
    private(set) var seen: [Int] = []
    private(set) var outdated = 0
    private var majorRevision: Int64 = 0
    private let kit: RTMClientKit
    private let user: String

    init(_ server: WhiteboardRelay, _ user: String) async throws {
        self.user = user
        kit = try RTMClientKit(config(server, user), delegate: nil)
        kit.addDelegate(self)
        succeeded(await kit.login(nil))
        succeeded(await kit.subscribe(channelName: "auction", option: .only(.metadata)))
    }

    /// Raises the bid by one, over whatever stands when it succeeds; its own storage event shows it.
    func raise() async throws {
        while true {
            let (mine, over) = (bid + 1, majorRevision)
            let data = metadata(["bid": "\(mine)", "bidder": user], majorRevision: over)
            let (_, error) = await kit.getStorage()!.setChannelMetadata(
                channelName: "auction", channelType: .message, data: data, options: nil, lock: nil)
            guard let error else { return try await eventually("my own event") { self.seen.contains(mine) } }
            try #require(error.errorCode == .storageOutdatedRevision)
            outdated += 1
            // Somebody was first: the event that says so is on its way, or has come meanwhile.
            try await eventually("the bid of another") { self.majorRevision > over }
        }
    }

    func rtmKit(_ rtmKit: RTMClientKit, didReceiveStorageEvent event: RTMStorageEvent) {
        majorRevision = event.data.majorRevision
        for item in event.data.getItems() {
            if item.key == "bid" { bid = Int(item.value)! }
            if item.key == "bidder" { bidder = item.value }
        }
        if event.eventType == .set { seen.append(bid) }
    }
}

/// A chat between two.
@MainActor private final class ChatModel: @MainActor RTMClientDelegate {
    enum Line: Equatable { case mine(String), theirs(String), unheard(String) }
    private(set) var lines: [Line] = []
    private let kit: RTMClientKit
    private let peer: String

    init(_ server: WhiteboardRelay, _ user: String, with peer: String) async throws {
        self.peer = peer
        kit = try RTMClientKit(config(server, user), delegate: nil)
        kit.addDelegate(self)
        succeeded(await kit.login(nil))
    }

    func send(_ text: String) async {
        let (_, error) = await kit.publish(channelName: peer, message: text, option: .to(.user, customType: "chat"))
        if let error { #expect(error.errorCode == .channelReceiverOffline) }
        lines.append(error == nil ? .mine(text) : .unheard(text))
    }

    func leave() async { await kit.logout() }

    func rtmKit(_ rtmKit: RTMClientKit, didReceiveMessageEvent event: RTMMessageEvent) {
        guard event.channelType == .user, event.publisher == peer, event.customType == "chat" else { return }
        lines.append(.theirs(event.message.stringData ?? ""))
    }
}

@MainActor @Suite struct AppTests {
    @Test("contacts: states with the snapshot and with each change, profiles in user metadata that outlive the session")
    func contacts() async throws {
        let server = try await relay()
        let alice = ContactsModel(server, "alice"), bob = ContactsModel(server, "bob")
        try await alice.enter(name: "Alice", status: "free")
        try await bob.enter(name: "Bob", status: "busy")
        for model in [alice, bob] {
            try await eventually("both are listed") { model.status == ["alice": "free", "bob": "busy"] }
            try await eventually("with profiles") { model.profiles == ["alice": ["name": "Alice"], "bob": ["name": "Bob"]] }
        }
        try await bob.set("away")
        try await bob.setProfile(["name": "Robert", "class": "4b"])
        try await eventually("the change") { alice.status["bob"] == "away" && alice.profiles["bob"] == ["class": "4b", "name": "Robert"] }
        #expect(alice.users.map(\.userId) == ["alice", "bob"])
        await bob.leave()
        try await eventually("he has gone") { alice.status == ["alice": "free"] }
        #expect(alice.profiles["bob"]?["name"] == "Robert")
        let (carol, _) = try await client(server, "carol")
        let kept = succeeded(await carol.getStorage()!.getUserMetadata(userId: "bob"))
        #expect(kept?.data?.getItems().map(\.value) == ["4b", "Robert"] && kept?.data?.getItems().map(\.authorUserId) == ["bob", "bob"])
        #expect(kept?.data?.getItems().allSatisfy { $0.updateTs > 0 } == true)
        await alice.leave()
        await server.stop()
    }

    @Test("bidding: three clients that raise 20 times each, over what they saw only, end at 60 and all see every bid once, in order")
    func bidding() async throws {
        let server = try await relay()
        var models: [BiddingModel] = []
        for user in ["alice", "bob", "carol"] { models.append(try await BiddingModel(server, user)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for model in models { group.addTask { for _ in 0..<20 { try await model.raise() } } }
            try await group.waitForAll()
        }
        for model in models {
            try await eventually("the last bid") { model.bid == 60 }
            #expect(model.seen == Array(1...60) && model.bidder == models[0].bidder)
        }
        await server.stop()
    }

    @Test("1:1 chat: who writes knows that it has come, or that the other is away")
    func chat() async throws {
        let server = try await relay()
        let alice = try await ChatModel(server, "alice", with: "bob")
        await alice.send("anybody?")
        let bob = try await ChatModel(server, "bob", with: "alice")
        await alice.send("hello")
        try await eventually("it has come") { bob.lines == [.theirs("hello")] }
        await bob.send("hello, Alice")
        try await eventually("the answer") { alice.lines == [.unheard("anybody?"), .mine("hello"), .theirs("hello, Alice")] }
        await bob.leave()
        await alice.send("bye")
        #expect(alice.lines.last == .unheard("bye"))
        await server.stop()
    }
}
